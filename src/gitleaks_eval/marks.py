"""What makes a pytest function a check: a mark with its identity, and a way to say it does not apply."""

from typing import Any, NoReturn

import pytest

# pytest documents its class under this name only, which type checkers do not see as a class.
_Skipped: Any = pytest.skip.Exception

CHECK_MARK = "gitleaks_check"


class NotApplicable(_Skipped):  # type: ignore[misc]  # see above
    """The check has nothing to look at in this scenario ("auto-pass" in the requirements)."""


def check(check_id: str, name: str, *, category: str) -> pytest.MarkDecorator:
    """Make a pytest function a check.

    Args:
        check_id: the id that reports show, such as `SA-10`.
        name: a short name for people.
        category: the dimension it is scored in; a new name is a new dimension.
    """
    mark: pytest.MarkDecorator = getattr(pytest.mark, CHECK_MARK)
    return mark(check_id, name, category=category)


def not_applicable(reason: str) -> NoReturn:
    """End this check as not applicable: a pass in the documented score, absent from the applicable rate.

    Raises:
        NotApplicable: always.
    """
    __tracebackhide__ = True
    raise NotApplicable(reason)


def category_marker(category: str) -> str:
    """The marker that selects a category with `-m`: `Output Quality` is `output_quality`."""
    return "".join(char if char.isalnum() else "_" for char in category.lower())
