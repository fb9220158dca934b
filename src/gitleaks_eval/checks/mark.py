"""What makes a pytest function a check: a mark with its identity, and a way to say it does not apply."""

from collections.abc import Collection
from typing import Any, Literal, NamedTuple, NoReturn, get_args

import pytest

About = Literal["findings", "speed"]

# pytest documents its class under this name only, which type checkers do not see as a class.
_Skipped: Any = pytest.skip.Exception

_MARKS_OF_PYTEST = {"skip", "skipif", "xfail", "parametrize", "usefixtures", "filterwarnings", "tryfirst", "trylast"}
CHECK_MARK = "gitleaks_check"


class NotApplicable(_Skipped):  # type: ignore[misc]  # see above
    """The check has nothing to look at in this scenario ("auto-pass" in the requirements)."""


class Marked(NamedTuple):
    """What the mark of a check says, as `check` takes it; `about` is in the order of `About`."""

    check_id: str
    name: str
    category: str
    critical: bool
    about: tuple[str, ...]


def check(
    check_id: str,
    name: str,
    *,
    category: str,
    critical: bool = False,
    about: About | Collection[About] | None = None,
) -> pytest.MarkDecorator:
    """Make a pytest function a check.

    Args:
        check_id: the id that reports show, such as `SA-10`.
        name: a short name for people.
        category: the dimension it is scored in; a new name is a new dimension.
        critical: whether its failure means a missed, wrong or unexpected secret; reports list such failures first.
        about: what a comparison may explain its failure by: `findings` that differ, `speed` that varies, or both.

    Raises:
        TypeError: when one of them is of another type.
        ValueError: when a text is empty, `about` is not known, or the category has the name of a mark of pytest's own.
    """
    checked(check_id, name, category=category, critical=critical, about=about)
    mark: pytest.MarkDecorator = getattr(pytest.mark, CHECK_MARK)
    return mark(check_id, name, category=category, critical=critical, about=about)


def checked(
    check_id: object, name: object, *, category: object, critical: object = False, about: object = None
) -> Marked:
    """Validate what the mark of a check says.

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
    if not isinstance(critical, bool):
        raise TypeError(f"`critical` of a check is True or False, not {critical!r}")
    return Marked(str(check_id), str(name), str(category), critical, _checked_about(about))


def _checked_about(about: object) -> tuple[str, ...]:
    named = (about,) if isinstance(about, str) else about or ()
    if not isinstance(named, Collection):
        raise TypeError(f"`about` of a check is a text or several, not {about!r}")
    known: tuple[str, ...] = get_args(About)
    if unknown := [one for one in named if one not in known]:
        raise ValueError(f"`about` of a check is one of {', '.join(known)}, or both, not {unknown[0]!r}")
    return tuple(one for one in known if one in named)


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
