"""What a verdict speaks for: rules, places and entries. What few runs ask for is loaded when it is asked."""

from typing import TYPE_CHECKING

from gitleaks_eval.core.later import modules_of

if TYPE_CHECKING:
    from gitleaks_eval.coverage import own_tests, subject

    __all__ = ["own_tests", "subject"]
else:
    __getattr__ = modules_of(__name__)
