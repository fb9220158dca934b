"""What a run evaluates, by kind: one entry a kind of material, with the option that names some of it."""

from dataclasses import dataclass

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.options import Root, given, refuse_beside

OPTION = "--gitleaks-only"
SCENARIOS, CORPORA, REPOS = "scenarios", "corpora", "repos"
RULES, PLACES, ENTRIES, FORMS, FORMATS = "rules", "places", "entries", "forms", "formats"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of material: its name in `--gitleaks-only`, the option that names some, and whether some is shipped.

    What `surveys` is asked of the scanner and its configuration; what `is_extra` only where it is named.
    """

    name: str
    option: str | None = None
    ships: bool = False
    surveys: bool = False
    is_extra: bool = False


KINDS = (
    Kind(SCENARIOS, "scenarios", ships=True),
    Kind(RULES, ships=True, surveys=True),
    Kind(PLACES, ships=True, surveys=True),
    Kind(FORMATS, ships=True, surveys=True),
    Kind(ENTRIES, ships=True, surveys=True),
    Kind(FORMS, ships=True, surveys=True, is_extra=True),
    Kind(CORPORA, "corpus"),
    Kind(REPOS, "real_repo"),
)
ALL = tuple(kind.name for kind in KINDS)
SURVEYS = tuple(kind.name for kind in KINDS if kind.surveys)
DEFAULT = tuple(kind.name for kind in KINDS if not kind.is_extra)


def read_kinds(root: Root) -> tuple[str, ...]:
    """Return the names of the kinds that are evaluated, in the order of `KINDS`; of `DEFAULT`, unless some are named.

    Raises:
        InputError: when one is not known, when nothing of the named ones is there, or when something of another
            kind is named on the command line.
    """
    value = given(root, "only")
    if value is None:
        return DEFAULT
    named = [name.strip() for name in str(value.value).split(",")]
    if unknown := [name for name in named if name not in ALL]:
        raise InputError(f"{value.named_by} {value.value!r}: {unknown[0]!r} is not one of {', '.join(ALL)}")
    if FORMS in named:
        # Of a rule that is not asked nobody knows whether a form stops it, and some forms are places.
        named += [RULES, PLACES]
    kinds = [kind for kind in KINDS if kind.name in named]
    refuse_beside(
        root, OPTION, "is not evaluated", [kind.option for kind in KINDS if kind.option and kind not in kinds]
    )
    if not any(kind.ships or (kind.option and given(root, kind.option)) for kind in kinds):
        options = " or ".join(f"--gitleaks-{kind.option.replace('_', '-')}" for kind in kinds if kind.option)
        raise InputError(f"{value.named_by} {value.value!r}: there is none; name some with {options}")
    return tuple(kind.name for kind in kinds)
