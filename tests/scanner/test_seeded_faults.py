"""Seeded faults of a scanner: whoever runs one must not be told that it is fit for use.

A run asks for the places first: what is red in a part is red in the whole. What is green there is asked for all rules
and places, and for three scenarios.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
import tomli_w
from corpus import shipped_scenarios
from ran import Ran, run
from seeded_faults import FAULTS, Rules, faulty

from gitleaks_eval.coverage.configuration.builtin import builtin_document
from gitleaks_eval.scanners.build import probe

pytestmark = pytest.mark.usefixtures("own_environment", "usual_kinds")

GREEN = ("STRONG_PASS", "PASS", "SAFE")
# Faults that a run does not notice, and why.
UNNOTICED = {
    "drops what stands in files of more than 1 MB": "such places are asked with the forms alone: a scan takes seconds",
    "obeys no allowlist": "it loses nothing, and nothing is planted where the scanner's own allowlists only hide noise",
}

Evaluate = Callable[..., Ran]


@pytest.fixture(scope="module")
def rules(gitleaks: Callable[[str], Path]) -> Rules:
    """The rules that Gitleaks 8.30.1 holds."""
    build = probe(gitleaks("8.30.1"), "a test")
    document = builtin_document(Path(build.path), build.sha256)
    tables = [{key: value for key, value in rule.items() if key != "allowlists"} for rule in document["rules"]]
    ids = sorted(str(rule["id"]) for rule in tables)
    return Rules(tomli_w.dumps(document), tomli_w.dumps({"rules": tables}), tuple(ids))


@pytest.fixture(scope="module")
def evaluate(gitleaks: Callable[[str], Path], rules: Rules, tmp_path_factory: pytest.TempPathFactory) -> Evaluate:
    """Evaluate a scanner with a fault."""
    names = ("mixed-secrets", "historical-secrets", "private-keys")
    scenarios = shipped_scenarios(tmp_path_factory.mktemp("scenarios"), *names)

    def evaluated(fault: str, *options: str) -> Ran:
        folder = tmp_path_factory.mktemp("fault")
        scanner = faulty(folder / "scanner", fault, gitleaks("8.30.1"), rules)
        return run(folder, "-q", "--gitleaks-eval", f"--gitleaks-binary={scanner}", *(options or [scenarios]))

    return evaluated


def headline(ran: Ran) -> str:
    """The line of the decision."""
    lines = ran.text.splitlines()
    title = next(number for number, line in enumerate(lines) if line.startswith("=") and " gitleaks-eval " in line)
    return lines[title + 1]


def is_green(ran: Ran) -> bool:
    """Whether CI would go on, and whoever looks believe that all is well."""
    # What a run refuses says nothing of a fault.
    assert headline(ran).startswith((*GREEN, "WEAK_PASS", "FAIL")), ran.text
    assert ran.status in {0, 1}
    return ran.status == 0 and headline(ran).startswith(GREEN)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_scanner_with_a_fault_is_not_green(fault: str, evaluate: Evaluate) -> None:
    ran = evaluate(fault, "--gitleaks-only=places")
    if is_green(ran):
        ran = evaluate(fault)
    assert is_green(ran) == (fault in UNNOTICED), "\n".join(ran.text.splitlines()[-8:])


def test_a_script_without_a_fault_is_as_green_as_the_scanner(evaluate: Evaluate) -> None:
    ran = evaluate("")
    assert headline(ran).startswith("STRONG_PASS")
    assert ran.status == 0


def test_a_scan_that_crashed_is_named_though_no_result_needed_it(evaluate: Evaluate) -> None:
    ran = evaluate("crashes once, in a scan that only tells more")
    assert headline(ran).startswith("WEAK_PASS")
    assert ran.line("CRASHED").startswith("CRASHED  1 of ")
    assert ran.json()["crashed"] in ran.line("CRASHED")


def test_few_faults_are_not_noticed() -> None:
    assert set(UNNOTICED) <= set(FAULTS)
    assert len(UNNOTICED) <= 6
    assert len(FAULTS) - len(UNNOTICED) >= 50
