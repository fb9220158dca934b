"""LLM judges: what equality cannot decide, scored by rubric."""
