"""A judge: data, a function that returns what it sees, and one that judges by numbers alone."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.resources import PACKAGE
from gitleaks_eval.core.text import printable
from gitleaks_eval.judges.material import SYNTHETIC, Material

PROMPTS = PACKAGE / "judges" / "prompts"
# What the node id of a judge's test has in front of the name of its case.
JUDGE_NODE = "/test_judges.py::test_judge["


@dataclass(frozen=True, slots=True)
class Opinion:
    """What numbers alone say: a score of 1 to 5, one for each sub-dimension, and the counts behind them.

    `share` is how much of the dimension is right, from 0 to 1: it orders what a cap makes alike.
    """

    score: int
    sub_scores: Mapping[str, int]
    reasoning: str
    confidence: float = 1.0
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Judge:
    """One dimension that an LLM scores from 1 to 5 ("LLM Judge Details" of the requirements).

    `weight` is its share of the LLM score, and `sub_dimensions` map names to their shares of the
    judge's own. The prompt is `<dimension>.md` in `prompts`. `evidence` returns the JSON values that the
    prompt shows, `heuristic` what numbers alone say, or None where there is nothing to judge. Without any
    reported finding a judge that `needs_findings` does not apply; in the real-world mode one that
    `needs_baseline` is unscored without the synthetic result.
    """

    dimension: str
    weight: float
    sub_dimensions: Mapping[str, float]
    evidence: Callable[[Material], Mapping[str, Any]]
    heuristic: Callable[[Material], Opinion | None]
    prompts: Path = PROMPTS
    needs_findings: bool = False
    needs_baseline: bool = False

    def __repr__(self) -> str:
        """Return a short text, because pytest shows fixtures in tracebacks."""
        return f"<Judge {self.dimension}>"


@dataclass(frozen=True, slots=True)
class Case:
    """One judge in one evaluation mode: one test."""

    judge: Judge
    mode: str

    def __hash__(self) -> int:
        """Hash its name: a judge holds what cannot be hashed."""
        return hash(self.name)

    @property
    def name(self) -> str:
        """Return the id of the test: the dimension, with the mode in front where it is not the synthetic one."""
        return self.judge.dimension if self.mode == SYNTHETIC else f"{self.mode}-{self.judge.dimension}"


def checked_judges(judges: Sequence[Judge]) -> tuple[Judge, ...]:
    """Return the judges of a run, looked at.

    Raises:
        InputError: when there is none, one holds a value of a wrong type, a name is taken twice or is no identifier,
            or weights do not sum to 1.
    """
    source = "pytest_gitleaks_eval_judges"
    names = [judge.dimension for judge in judges]
    if not judges:
        raise InputError(f"{source}: no judge is left; keep one, or leave --gitleaks-judges out")
    for judge in judges:
        if wrong := list(_wrong_types(judge)):
            raise InputError(f"{source}: the judge {printable(repr(judge.dimension))[:100]}: {'; '.join(wrong)}")
    for name in names:
        if not name.isidentifier():
            raise InputError(
                f"{source}: the dimension {printable(repr(name))[:100]} is no identifier; it names a file and a test"
            )
        if names.count(name) > 1:
            raise InputError(f"{source}: two judges have the dimension {name!r}; rename or remove one")
    _sum_to_one(f"{source}: the weights of the judges", {judge.dimension: judge.weight for judge in judges})
    for judge in judges:
        _sum_to_one(f"{source}: the sub-dimensions of {judge.dimension}", judge.sub_dimensions)
    return tuple(judges)


def _wrong_types(judge: Judge) -> Iterator[str]:
    """Yield what a user's judge holds that its types do not allow."""
    if not isinstance(judge.dimension, str):
        yield "the dimension is no text"
    if not _is_number(judge.weight):
        yield "the weight is no finite number"
    shares = judge.sub_dimensions
    if not (isinstance(shares, Mapping) and all(isinstance(name, str) for name in shares)):
        yield "sub_dimensions are no mapping of names to shares"
    elif not all(map(_is_number, shares.values())):
        yield "a share of sub_dimensions is no finite number"
    if not callable(judge.evidence) or not callable(judge.heuristic):
        yield "evidence and heuristic must be functions"
    if not isinstance(judge.prompts, Path):
        yield "prompts is no Path of a folder"


def _is_number(value: object) -> bool:
    # A bound that every finite share is far below, and that a NaN and an integer too large for a float are not.
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e9


def _sum_to_one(what: str, weights: Mapping[str, float]) -> None:
    listed = " + ".join(f"{name} {weight:g}" for name, weight in weights.items())
    if any(weight < 0 for weight in weights.values()) or abs(sum(weights.values()) - 1) > 1e-9:
        raise InputError(f"{what} must sum to 1 and none be negative: {listed} = {sum(weights.values()):g}")
