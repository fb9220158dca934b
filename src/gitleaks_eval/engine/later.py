"""What a session needs of comparisons, surveys and tests of rules, loaded where there are any."""

from typing import TYPE_CHECKING

from gitleaks_eval.core.later import loaded_later

if TYPE_CHECKING:
    from gitleaks_eval.coverage import own_tests, subject
    from gitleaks_eval.engine import comparing, obeying

    __all__ = ["comparing", "obeying", "own_tests", "subject"]
else:
    __getattr__ = loaded_later(
        "gitleaks_eval.coverage.own_tests",
        "gitleaks_eval.coverage.subject",
        "gitleaks_eval.engine.comparing",
        "gitleaks_eval.engine.obeying",
    )
