"""What keeps secrets out of prompts: pieces of reported ones are cut out, one of a planted one stops a question."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gitleaks_eval.judges.prompt import Template
from gitleaks_eval.scenarios.traces import Traces


def cut(value: Any, traces: Traces) -> Any:
    """JSON values without pieces of what the scanner took for secrets."""
    if not traces.digests:
        return value
    if isinstance(value, str):
        return traces.cut_out_of(value)
    if isinstance(value, Mapping):
        return {traces.cut_out_of(str(key)): cut(item, traces) for key, item in value.items()}
    return [cut(item, traces) for item in value] if isinstance(value, Sequence) else value


def leaks(evidence: Mapping[str, object], template: Template, traces: Traces) -> bool:
    """Whether a value holds a piece of a secret that is not just text of the template."""
    found = [text for text in _texts(evidence) if traces.found_in(text)]
    return bool(found) and any(map(traces.without([template.text]).found_in, found))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _texts(item)
