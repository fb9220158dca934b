"""What makes a pytest function a check: a mark with its identity, and a way to say it does not apply."""

from typing import Any, NoReturn

import pytest

from gitleaks_eval.checks import CHECK_MARK

# pytest documents its class under this name only, which type checkers do not see as a class.
_Skipped: Any = pytest.skip.Exception

_MARKS_OF_PYTEST = {"skip", "skipif", "xfail", "parametrize", "usefixtures", "filterwarnings", "tryfirst", "trylast"}


class NotApplicable(_Skipped):  # type: ignore[misc]  # see above
    """The check has nothing to look at in this scenario ("auto-pass" in the requirements)."""


# How a check fails.
FAILURES: tuple[type[BaseException], ...] = (AssertionError, pytest.fail.Exception)
# Whatever else ends a test and not the run: it says nothing of what the check looks at.
OTHERS: tuple[type[BaseException], ...] = (Exception, pytest.skip.Exception, pytest.xfail.Exception, SystemExit)


def check(check_id: str, name: str, *, category: str) -> pytest.MarkDecorator:
    """Make a pytest function a check.

    Args:
        check_id: the id that reports show, such as `SA-10`.
        name: a short name for people.
        category: the dimension it is scored in; a new name is a new dimension.

    Raises:
        TypeError: when one of them is no text.
        ValueError: when one is empty, or the category has the name of a mark of pytest's own.
    """
    checked(check_id, name, category=category)
    mark: pytest.MarkDecorator = getattr(pytest.mark, CHECK_MARK)
    return mark(check_id, name, category=category)


def checked(check_id: object, name: object, *, category: object) -> tuple[str, str, str]:
    """The identity of a check, looked at.

    Raises:
        TypeError, ValueError: as `check`.
    """
    for what, value in (("id", check_id), ("name", name), ("category", category)):
        if not isinstance(value, str):
            raise TypeError(f"the {what} of a check is a text, not {value!r}")
        if not value.strip() or not value.isprintable():
            raise ValueError(f"the {what} of a check is empty or holds controls: {value!r}")
    if category_marker(str(category)) in _MARKS_OF_PYTEST:
        raise ValueError(f"the category {category!r} has the name of a mark of pytest's own; choose another")
    return str(check_id), str(name), str(category)


def not_applicable(reason: str) -> NoReturn:
    """End this check as not applicable: a pass in the documented score, absent from the applicable rate.

    Raises:
        NotApplicable: always.
    """
    __tracebackhide__ = True
    raise NotApplicable(reason)


def category_marker(category: str) -> str:
    """The marker that selects a category with `-m`: `Output Quality` is `output_quality`."""
    marker = "".join(char if char.isalnum() else "_" for char in category.lower()).strip("_")
    return marker or "other"
