"""What hooks leave for each other: stash keys, names of plugins, and the keys of a parallel worker's input."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from gitleaks_eval.checks.result import Identity
from gitleaks_eval.engine.session.session import Session

if TYPE_CHECKING:
    from gitleaks_eval.engine.judging.judging import Judging
    from gitleaks_eval.engine.judging.pairs import PairwiseJudge

ITEMS = "gitleaks_eval_evaluation"
WORKER_INPUT = "gitleaks_eval"
COLLECTED = "collected.json"

IDENTITY: pytest.StashKey[Identity] = pytest.StashKey()


@dataclass(frozen=True, slots=True)
class TakingPart:
    """What takes part in this process: checks, the judges of one candidate, the judge of pairs."""

    session: Session
    checks: bool
    judging: "Judging | None" = None
    pairwise: "PairwiseJudge | None" = None
