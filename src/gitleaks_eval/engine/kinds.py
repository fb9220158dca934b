"""What a run evaluates, by kind: one entry a kind of material, with the option that names some of it."""

from dataclasses import dataclass

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.options import Root, given, refuse_beside

OPTION = "--gitleaks-only"
SCENARIOS, CORPORA, REPOS = "scenarios", "corpora", "repos"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of material: its name in `--gitleaks-only`, the option that names some, and whether some is shipped."""

    name: str
    option: str
    ships: bool = False


KINDS = (Kind(SCENARIOS, "scenarios", ships=True), Kind(CORPORA, "corpus"), Kind(REPOS, "real_repo"))
ALL = tuple(kind.name for kind in KINDS)


def read_kinds(root: Root) -> tuple[str, ...]:
    """The names of the kinds that are evaluated, in the order of `KINDS`; all of them, unless some are named.

    Raises:
        InputError: when one is not known, when nothing of the named ones is there, or when something of another
            kind is named on the command line.
    """
    value = given(root, "only")
    if value is None:
        return ALL
    named = [name.strip() for name in str(value.value).split(",")]
    if unknown := [name for name in named if name not in ALL]:
        raise InputError(f"{value.named_by} {value.value!r}: {unknown[0]!r} is not one of {', '.join(ALL)}")
    kinds = [kind for kind in KINDS if kind.name in named]
    refuse_beside(root, OPTION, "is not evaluated", [kind.option for kind in KINDS if kind not in kinds])
    if not any(kind.ships or given(root, kind.option) for kind in kinds):
        options = " or ".join(f"--gitleaks-{kind.option.replace('_', '-')}" for kind in kinds)
        raise InputError(f"{value.named_by} {value.value!r}: there is none; name some with {options}")
    return tuple(kind.name for kind in kinds)
