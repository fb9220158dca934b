"""LLM judges: they look at what equality cannot decide. What the author of a judge imports is here."""

from gitleaks_eval.judges.judge import Judge, Opinion
from gitleaks_eval.judges.material import Facts, Material

__all__ = ["Facts", "Judge", "Material", "Opinion"]
