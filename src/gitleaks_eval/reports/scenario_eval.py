"""`<scenario>_eval.json`: the results of one scenario, with the keys of the reference implementation."""

import json
from collections.abc import Iterator, Sequence

from gitleaks_eval.checks.result import NOT_APPLICABLE, PASSED, CheckResult
from gitleaks_eval.reports.evaluation_report import result_fields, with_long_lists


def scenario_eval(name: str, results: Sequence[CheckResult]) -> Iterator[bytes]:
    """In pieces, the report of a scenario; passed includes not applicable, failed includes errors."""
    passed = sum(result.outcome in {PASSED, NOT_APPLICABLE} for result in results)
    return with_long_lists(
        {
            "repository": name,
            "total_checks": len(results),
            "passed_checks": passed,
            "failed_checks": len(results) - passed,
            "pass_rate": passed / len(results) if results else 0.0,
        },
        {"results": (json.dumps(result_fields(result)) for result in results)},
    )
