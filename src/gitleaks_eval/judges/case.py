"""What is judged: one judge in one evaluation mode."""

from dataclasses import dataclass

from gitleaks_eval.judges.judge import Judge
from gitleaks_eval.judges.material import SYNTHETIC

# What the node id of a judge's test has in front of the name of its case.
JUDGE_NODE = "/test_judges.py::test_judge["


@dataclass(frozen=True, slots=True)
class Case:
    """One judge in one evaluation mode: one test."""

    judge: Judge
    mode: str

    def __hash__(self) -> int:
        """By its name: a judge holds what cannot be hashed."""
        return hash(self.name)

    @property
    def name(self) -> str:
        """The id of the test: the dimension, with the mode in front where it is not the synthetic one."""
        return self.judge.dimension if self.mode == SYNTHETIC else f"{self.mode}-{self.judge.dimension}"
