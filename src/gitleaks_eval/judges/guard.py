"""The guard that keeps values out of prompts: reported ones are cut out, a planted one stops a question."""

from collections.abc import Mapping, Sequence
from typing import Any

from gitleaks_eval.scenarios.redaction import Values


def cut(value: Any, values: Values) -> Any:
    """Return JSON values with a mask in place of each of these values."""
    if isinstance(value, str):
        return values.cut_out_of(value)
    if isinstance(value, Mapping):
        return {values.cut_out_of(str(key)): cut(item, values) for key, item in value.items()}
    return [cut(item, values) for item in value] if isinstance(value, Sequence) else value


def leaks(evidence: Any, values: Values) -> bool:
    """Return whether one of these values stands in a text of JSON values."""
    if isinstance(evidence, str):
        return values.found_in(evidence)
    if isinstance(evidence, Mapping):
        return any(values.found_in(str(key)) or leaks(item, values) for key, item in evidence.items())
    return isinstance(evidence, Sequence) and any(leaks(item, values) for item in evidence)
