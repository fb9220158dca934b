"""What makes a pytest function a check: a mark with its identity, and a way to say it does not apply."""

from collections.abc import Collection
from typing import Any, NoReturn

import pytest

from gitleaks_eval.checks import CHECK_MARK
from gitleaks_eval.checks.marked import About, checked

# pytest documents its class under this name only, which type checkers do not see as a class.
_Skipped: Any = pytest.skip.Exception


class NotApplicable(_Skipped):  # type: ignore[misc]  # see above
    """The check has nothing to look at in this scenario ("auto-pass" in the requirements)."""


# How a check fails.
FAILURES: tuple[type[BaseException], ...] = (AssertionError, pytest.fail.Exception)
# Whatever else ends a test and not the run: it says nothing of what the check looks at.
OTHERS: tuple[type[BaseException], ...] = (Exception, pytest.skip.Exception, pytest.xfail.Exception, SystemExit)


def check(  # noqa: PLR0913 - what a mark says, each under its name
    check_id: str,
    name: str,
    *,
    category: str,
    critical: bool = False,
    about: About | Collection[About] | None = None,
    caps: str | Collection[str] | None = None,
) -> pytest.MarkDecorator:
    """Make a pytest function a check.

    Args:
        check_id: the id that reports show, such as `SA-10`.
        name: a short name for people.
        category: the dimension it is scored in; a new name is a new dimension.
        critical: whether its failure means a missed, wrong or unexpected secret; reports list such failures first.
        about: what a comparison may explain its failure by: `findings` that differ, `speed` that varies, or both.
        caps: the dimensions of the judges that score at most 2 while it fails; of shipped checks only.

    Raises:
        TypeError: when one of them is of another type.
        ValueError: when a text is empty, `about` is not known, or the category has the name of a mark of pytest's own.
    """
    checked(check_id, name, category=category, critical=critical, about=about, caps=caps)
    mark: pytest.MarkDecorator = getattr(pytest.mark, CHECK_MARK)
    return mark(check_id, name, category=category, critical=critical, about=about, caps=caps)


def not_applicable(reason: str) -> NoReturn:
    """End this check as not applicable: a pass in the documented score, absent from the applicable rate.

    Raises:
        NotApplicable: always.
    """
    __tracebackhide__ = True
    raise NotApplicable(reason)
