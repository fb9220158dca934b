"""Questions put to each model, within the limits of a run; no value of a secret goes along.

Reported values are cut out of evidence, and a planted one stops a question.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from gitleaks_eval.judges.model.client import ask
from gitleaks_eval.judges.model.models import resolve_model
from gitleaks_eval.judges.model.question import ClientOptions, Question, Reply
from gitleaks_eval.judges.settings import LLM, JudgeSettings
from gitleaks_eval.judges.verdict import Call
from gitleaks_eval.scenarios.redaction import Values

Of = TypeVar("Of")


@dataclass(frozen=True, slots=True)
class Replies(Generic[Of]):
    """The replies to each question, by what it is about, and what the user should know."""

    by_question: Mapping[Of, list[Reply]]
    warnings: list[str]


def put(questions: Mapping[Of, Question], settings: JudgeSettings, trace_id: str, planted: Values) -> Replies[Of]:
    """Put each question to each model, as often as samples are wanted.

    No reply is kept or shown with a value of `planted`.
    """
    samples = range(settings.samples)
    asked = [(key, replace(question, sample=number)) for key, question in questions.items() for number in samples]
    replies: dict[Of, list[Reply]] = {key: [] for key in questions}
    warnings: list[str] = []
    calls, cost = settings.max_calls, settings.max_cost
    for name in settings.models if asked else ():
        model = resolve_model(name)
        options = ClientOptions(
            mode="llm" if settings.mode == LLM else "replay",
            model=model,
            store=settings.store,
            timeout_seconds=settings.timeout_seconds,
            max_calls=calls,
            trace_id=trace_id,
            price=settings.prices.get(model),
            max_cost=cost,
        )
        done = ask([question for _, question in asked], options, planted.found_in)
        warnings += done.warnings
        calls -= done.sent
        if cost is not None:
            cost -= sum(reply.cost or 0 for reply in done.replies if reply.source == "live")
        for (key, _), reply in zip(asked, done.replies, strict=True):
            replies[key].append(reply)
    return Replies(replies, warnings)


def left_after(settings: JudgeSettings, calls: Sequence[Call]) -> JudgeSettings:
    """Return the settings with what these calls have left of their limits."""
    live = [call for call in calls if call.source == "live"]
    sent = sum(bool(call.attempts) + call.asked_again for call in live)
    cost = settings.max_cost
    if cost is not None:
        cost = max(0.0, cost - sum(call.cost or 0 for call in live))
    return replace(settings, max_calls=max(0, settings.max_calls - sent), max_cost=cost)


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
