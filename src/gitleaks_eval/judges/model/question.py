"""What is asked of a model, how, and what became of it, as values."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from gitleaks_eval.judges.model.answer import Answer
from gitleaks_eval.judges.model.prices import Price

Kind = Literal["transport", "timeout", "refusal", "truncated", "invalid", "budget", "replay_miss", "leak"]
Leaks = Callable[[str], bool]
Cut = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Question:
    """What one judge asks. The prompt is not in the `repr`: tracebacks show those.

    `sample` is the number of the question among those of the same prompt, from 0 on. `cut` masks, in what is shown of
    the reply, pieces of what may be secrets.
    """

    dimension: str
    prompt: str = field(repr=False)
    sub_dimensions: tuple[str, ...]
    sample: int = 0
    cut: Cut = field(default=str, repr=False)

    @property
    def prompt_sha256(self) -> str:
        """The SHA-256 of the prompt, in hex."""
        return hashlib.sha256(self.prompt.encode("utf-8", "backslashreplace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of a question: an answer, or else the kind of the failure and words for people.

    `duration_ms` is the time from the first attempt to the end of the last; `attempts` counts requests. `at` is when it
    was asked (ISO 8601, UTC), `store_key` its name in the store; `again` says that a first reply was no answer.
    """

    dimension: str
    answer: Answer | None
    kind: Kind | None
    message: str
    source: Literal["live", "replay"]
    attempts: int = 0
    duration_ms: float = 0.0
    model: str | None = None
    request_id: str | None = None
    stop_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    model_requested: str = ""
    sample: int = 0
    at: str = ""
    prompt_sha256: str = ""
    store_key: str = ""
    again: bool = False
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """How judges are asked.

    `model` is a short name or a full id, `store` the folder of recorded replies, `timeout_seconds` the
    whole time a verdict may take, `max_calls` the number of questions that may be sent, `max_cost` what they may
    cost at most, in US dollars, at this `price`.
    """

    mode: Literal["llm", "replay"]
    model: str
    store: Path
    timeout_seconds: float
    max_calls: int
    trace_id: str
    price: Price | None = None
    max_cost: float | None = None


@dataclass(frozen=True, slots=True)
class Verdicts:
    """One reply a question, in their order, and what the user should know about the model or the store.

    `sent` is how many questions were sent, second ones included.
    """

    replies: tuple[Reply, ...]
    warnings: tuple[str, ...] = ()
    sent: int = 0


def usage(replies: Sequence[Reply]) -> dict[str, Any]:
    """Return the tokens and the cost of all replies; None, unknown, where a part is unknown or there is no reply."""
    parts = {name: [getattr(reply, name) for reply in replies] for name in ("input_tokens", "output_tokens", "cost")}
    return {name: None if None in values or not values else sum(values) for name, values in parts.items()}
