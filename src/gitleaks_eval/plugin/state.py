"""What hooks leave for each other: stash keys, names of plugins, and the keys of a parallel worker's input."""

import pytest

from gitleaks_eval.checks.result import Identity

ITEMS = "gitleaks_eval_evaluation"
WORKER_INPUT = "gitleaks_eval"
COLLECTED = "collected.json"

IDENTITY: pytest.StashKey[Identity] = pytest.StashKey()
