"""Read replies: those that a service sent, and those that the store has. Only what is an answer is believed."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.judges import store
from gitleaks_eval.judges.answer import Answer, InvalidAnswer, answer_text, parse_answer
from gitleaks_eval.judges.message import LARGEST_BODY, Exchange, Message, read_message
from gitleaks_eval.judges.question import ClientOptions, Kind, Leaks, Question, Reply

_COMPLETE = {"end_turn", "stop_sequence"}
_CUT_OFF = {"max_tokens", "model_context_window_exceeded"}


@dataclass(frozen=True, slots=True)
class Failed:
    """Why there is no answer."""

    kind: Kind
    message: str


LEAKING_PROMPT = Failed("leak", "not sent: the prompt holds what may be part of a secret")
_LEAKING_REPLY = Failed("leak", "not kept: the reply holds what may be part of a secret")
_REFUSED = Failed(
    "refusal",
    "the model declined to answer; some models refuse security content: choose another with --gitleaks-judge-model",
)
_TRUNCATED = Failed("truncated", "the reply was cut off before its end: choose another with --gitleaks-judge-model")
_TOO_LARGE = Failed("invalid", "what came is larger than 1 MiB: check ANTHROPIC_BASE_URL and the proxy")
_NO_MESSAGE = Failed("invalid", "what came is not a reply of the Messages API: check ANTHROPIC_BASE_URL and the proxy")
TOO_DEAR = Failed("budget", "not sent: it could cost more than --gitleaks-judge-max-cost leaves")


def failed(reply: Reply, why: Failed) -> Reply:
    """The reply as one without an answer."""
    return replace(reply, kind=why.kind, message=why.message)


def looked_up(reply: Reply, question: Question, options: ClientOptions, leaks: Leaks) -> Reply | None:
    """What the store says; None where it has nothing, and the model is to be asked."""
    name = reply.store_key
    try:
        message = store.load(options.store, name)
    except EvaluationError as error:
        return failed(reply, Failed("invalid", str(error)))
    if message is None:
        return failed(reply, _not_recorded(options.store)) if options.mode == "replay" else None
    judged = _judged(replace(reply, source="replay"), question, message, leaks)
    if judged.kind is None:
        return judged
    return replace(judged, message=f"replay store: {store.entry_path(options.store, name)}: {judged.message}")


def _not_recorded(folder: Path) -> Failed:
    if not folder.is_dir():
        return Failed(
            "replay_miss",
            f"there is no store {folder}: name the folder that has the replies with --gitleaks-judge-store, "
            "or have them recorded there with --gitleaks-judge-mode=llm",
        )
    return Failed(
        "replay_miss",
        f"no reply to this prompt and model is recorded in {folder}: record it with "
        f"--gitleaks-judge-mode=llm --gitleaks-judge-store={folder}",
    )


def received(reply: Reply, question: Question, exchange: Exchange, leaks: Leaks) -> tuple[Reply, Message | None]:
    """What an exchange became, and the message in it, if a model sent one."""
    reply = replace(reply, attempts=exchange.attempts, duration_ms=exchange.duration_ms)
    shown = exchange.request_id or ""
    if leaks(shown) or question.cut(shown) != shown:
        return failed(reply, _LEAKING_REPLY), None
    reply = replace(reply, request_id=exchange.request_id)
    if exchange.body is None:
        named = f" (request {exchange.request_id})" if exchange.request_id else ""
        return replace(reply, kind=exchange.kind, message=exchange.message + named), None
    if len(exchange.body) > LARGEST_BODY:
        return failed(reply, _TOO_LARGE), None
    message = read_message(exchange.body)
    if message is None:
        return failed(reply, _NO_MESSAGE), None
    return _judged(reply, question, message, leaks), message


def _judged(reply: Reply, question: Question, message: Message, leaks: Leaks) -> Reply:
    """The reply with what `message` says, if it is an answer and may be shown."""
    # A server writes what it likes here, too.
    if any(leaks(text) or question.cut(text) != text for text in (message.model, message.stop_reason)):
        return failed(replace(reply, request_id=None), _LEAKING_REPLY)
    reply = replace(
        reply,
        model=message.model,
        stop_reason=message.stop_reason,
        input_tokens=message.input_tokens,
        output_tokens=message.output_tokens,
    )
    outcome = _answer(message, question, leaks)
    return failed(reply, outcome) if isinstance(outcome, Failed) else replace(reply, answer=outcome)


def _answer(message: Message, question: Question, leaks: Leaks) -> Answer | Failed:  # noqa: PLR0911 - a kind each
    if message.stop_reason == "refusal":
        return _REFUSED
    if message.stop_reason in _CUT_OFF:
        return _TRUNCATED
    if message.stop_reason not in _COMPLETE:
        return Failed("invalid", "the reply ended in a way that is no end of an answer")
    if leaks(message.text):
        return _LEAKING_REPLY
    try:
        answer = parse_answer(message.text, question.sub_dimensions)
    except InvalidAnswer as error:
        return Failed("invalid", f"the reply is not an answer: {error}")
    # JSON can write any character as an escape: what is shown is looked at, too.
    if any(map(leaks, _texts(answer))):
        return _LEAKING_REPLY
    return replace(
        answer,
        reasoning=question.cut(answer.reasoning),
        evidence_cited=tuple(map(question.cut, answer.evidence_cited)),
        recommendations=tuple(map(question.cut, answer.recommendations)),
    )


def _texts(answer: Answer) -> Iterator[str]:
    yield answer.reasoning
    yield from answer.evidence_cited
    yield from answer.recommendations


def kept(folder: Path, reply: Reply, message: Message) -> list[str]:
    """Record a reply; the warning when that is not possible, because a verdict is worth more than its record."""
    # The answer as it is shown: pieces of secrets are cut out of it.
    text = answer_text(reply.answer) if reply.answer else ""
    try:
        store.save(folder, reply.store_key, replace(message, text=text))
    except OSError as error:
        return [f"replay store: {folder}: replies cannot be recorded: {error.strerror or type(error).__name__}"]
    return []
