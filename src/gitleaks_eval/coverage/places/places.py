"""The usual places where a secret may stand, as data: paths, forms of text, and corners of git."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from gitleaks_eval.core.resources import data
from gitleaks_eval.scenarios.pattern import generate
from gitleaks_eval.scenarios.secrets import secret_kinds

PLACES_FILE = data("places.tsv")
PATH, FORM, GIT, PROJECT = "path", "form", "git", "project"
PLAIN = "form:plain"
# What a file of the path family holds, and one of git's.
STANDARD = '# settings\n{name} = "{value}"\n# end\n'
_GENERATED = "@"
_IN_FILES = frozenset(
    "evil_merge merge_conflict file_name staged rename_only symlink_target old_commit early_commit middle_commit"
    " later_commit other_author merged_branch".split()
)
# So many secrets stand in this form: whoever reports no more than a thousand loses some.
THOUSAND, MANY_SECRETS = "form:thousand", 1_050


@dataclass(frozen=True, slots=True)
class Place:
    """A usual place: its family (`path`, `form`, `git` or `project`) and its case.

    `file` is where the secret stands, relative to the repository; empty where git keeps it elsewhere. `content` is a
    text with `{name}` and `{value}`, or `@generator` where bytes are needed. A `large` one takes long to scan;
    a `dropped` one is never planted.
    """

    family: str
    case: str
    file: str
    content: str
    weight: str = ""

    @property
    def title(self) -> str:
        """`path:src/a.png`: what people, node ids and comparisons call it."""
        return f"{self.family}:{self.case}"

    @property
    def generator(self) -> str:
        """The name of what makes its bytes; empty where `content` is a text."""
        return self.content.removeprefix(_GENERATED) if self.content.startswith(_GENERATED) else ""

    @property
    def is_name(self) -> bool:
        """Whether the secret is the name of a file or of a branch: not every secret can be one."""
        return self.title in {"git:file_name", "git:branch_name"}

    @property
    def can_be_staged(self) -> bool:
        """Whether it is among the files of a working tree."""
        return self.family != GIT or self.case in _IN_FILES

    @property
    def is_large(self) -> bool:
        """Whether it is asked only where forms are."""
        return self.weight == "large"

    @property
    def is_dropped(self) -> bool:
        """Whether it takes so long that it is never asked."""
        return self.weight == "dropped"


@dataclass(frozen=True, slots=True)
class Planted:
    """A value to plant, and the identifier that stands before it; `more` are values that stand below it."""

    value: str
    name: str = "the_token"
    more: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Without the value."""
        return f"Planted(name={self.name!r})"


# What makes the secret of a place; it is given a seed, and other seeds have other values.
Maker = Callable[[str], Planted]


def github_pat(seed: str) -> Planted:
    """A personal access token of GitHub: what each place holds where nothing else is asked for."""
    return Planted(generate(secret_kinds()["github-pat"].pattern, seed))


def secret_of(place: Place, seed: str, maker: Maker = github_pat) -> Planted:
    """Make what is planted at a place: each has a value of its own, and the form of a thousand that many."""
    planted = maker(f"places\0{seed}\0{place.title}")
    if place.title != THOUSAND:
        return planted
    more = tuple(maker(f"places\0{seed}\0{place.title}\0{number}").value for number in range(1, MANY_SECRETS))
    return replace(planted, more=more)


@cache
def usual_places() -> tuple[Place, ...]:
    """All places, in the order of the data file."""
    lines = PLACES_FILE.read_text(encoding="utf-8").splitlines()
    return tuple(_place(*line.split("\t")) for line in lines if line and not line.startswith("#"))


def _place(family: str, case: str, file: str = "", content: str = "", weight: str = "") -> Place:
    if family in {PATH, PROJECT}:
        return Place(family, case, case, STANDARD)
    text = content if content.startswith(_GENERATED) else json.loads(content) if content else STANDARD
    return Place(family, case, file, text, weight)
