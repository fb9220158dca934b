"""What the mark of a check says, validated."""

from collections.abc import Collection
from typing import Literal, NamedTuple, get_args

About = Literal["findings", "speed"]
_MARKS_OF_PYTEST = {"skip", "skipif", "xfail", "parametrize", "usefixtures", "filterwarnings", "tryfirst", "trylast"}


class Marked(NamedTuple):
    """What the mark of a check says, as `check` takes it; `about` is in the order of `About`, `caps` as given."""

    check_id: str
    name: str
    category: str
    critical: bool
    about: tuple[str, ...]
    caps: tuple[str, ...] = ()


def checked(  # noqa: PLR0913 - what a mark says, each under its name
    check_id: object,
    name: object,
    *,
    category: object,
    critical: object = False,
    about: object = None,
    caps: object = None,
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
    return Marked(str(check_id), str(name), str(category), critical, _checked_about(about), _checked_caps(caps))


def category_marker(category: str) -> str:
    """Return the marker that selects a category with `-m`: `Output Quality` is `output_quality`."""
    marker = "".join(char if char.isalnum() else "_" for char in category.lower()).strip("_")
    return marker or "other"


def _checked_about(about: object) -> tuple[str, ...]:
    named = (about,) if isinstance(about, str) else about or ()
    if not isinstance(named, Collection):
        raise TypeError(f"`about` of a check is a text or several, not {about!r}")
    known: tuple[str, ...] = get_args(About)
    if unknown := [one for one in named if one not in known]:
        raise ValueError(f"`about` of a check is one of {', '.join(known)}, or both, not {unknown[0]!r}")
    return tuple(one for one in known if one in named)


def _checked_caps(caps: object) -> tuple[str, ...]:
    named = (caps,) if isinstance(caps, str) else caps or ()
    if not isinstance(named, Collection):
        raise TypeError(f"`caps` of a check is a text or several, not {caps!r}")
    if wrong := [one for one in named if not (isinstance(one, str) and one.isidentifier())]:
        raise ValueError(f"`caps` of a check names dimensions of judges, and {wrong[0]!r} cannot be one")
    return tuple(named)
