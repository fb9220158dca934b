"""Ask judges: send their questions, or look the replies up, and believe only what is an answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from gitleaks_eval.core.errors import EvaluationError, fault
from gitleaks_eval.judges import store
from gitleaks_eval.judges.answer import Answer, InvalidAnswer, parse_answer
from gitleaks_eval.judges.message import LARGEST_BODY, Exchange, Message, read_message, request_body
from gitleaks_eval.judges.models import resolve_model

Kind = Literal["transport", "timeout", "refusal", "truncated", "invalid", "budget", "replay_miss", "leak"]
Leaks = Callable[[str], bool]

_SOURCES: dict[str, Literal["live", "replay"]] = {"llm": "live", "replay": "replay"}
_COMPLETE = {"end_turn", "stop_sequence"}
_CUT_OFF = {"max_tokens", "model_context_window_exceeded"}


@dataclass(frozen=True, slots=True)
class Question:
    """What one judge asks. The prompt is not in the `repr`: tracebacks show those."""

    dimension: str
    prompt: str = field(repr=False)
    sub_dimensions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of a question: an answer, or else the kind of the failure and words for people.

    `duration_ms` is the time from the first attempt to the end of the last; `attempts` counts requests.
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


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """How judges are asked.

    `model` is a short name or a full id, `store` the folder of recorded replies, `timeout_seconds` the
    whole time a verdict may take, `max_calls` the number of questions that may be sent.
    """

    mode: Literal["llm", "replay"]
    model: str
    store: Path
    timeout_seconds: float
    max_calls: int
    trace_id: str


@dataclass(frozen=True, slots=True)
class Verdicts:
    """One reply a question, in their order, and what the user should know about the model or the store."""

    replies: tuple[Reply, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Failed:
    kind: Kind
    message: str


_LEAKING_PROMPT = _Failed("leak", "not sent: the prompt holds what may be part of a secret")
_LEAKING_REPLY = _Failed("leak", "not kept: the reply holds what may be part of a secret")
_REFUSED = _Failed(
    "refusal",
    "the model declined to answer; some models refuse security content: choose another with --gitleaks-judge-model",
)
_TRUNCATED = _Failed("truncated", "the reply was cut off before its end: choose another with --gitleaks-judge-model")
_TOO_LARGE = _Failed("invalid", "what came is larger than 1 MiB: check ANTHROPIC_BASE_URL and the proxy")
_NO_MESSAGE = _Failed("invalid", "what came is not a reply of the Messages API: check ANTHROPIC_BASE_URL and the proxy")
_NO_SDK = (
    "--gitleaks-judge-mode=llm needs the package anthropic: pip install 'gitleaks-eval[judges]', "
    "or use --gitleaks-judge-mode=heuristic, or --gitleaks-judge-mode=replay"
)


def ask(questions: Sequence[Question], options: ClientOptions, leaks: Leaks) -> Verdicts:
    """Put all questions at once, and wait for their verdicts.

    In mode `llm` each is sent to the Messages API, and a reply that is an answer is recorded in the
    store; in mode `replay` each is looked up there, and nothing is sent. `leaks` says whether a text
    holds what may be neither sent nor shown.

    What goes wrong with a question is the kind of its reply, never an exception and never a score.

    Raises:
        InputError: when `options.model` cannot be the name of a model.
        EvaluationError: for a fault of our own; it says where, and holds nothing of a prompt or reply.
    """
    stopped: BaseException
    try:
        return _ask(questions, options, leaks)
    except EvaluationError as error:
        stopped = error
    except Exception as error:  # noqa: BLE001 - its traceback could show prompts; only its place is kept
        stopped = EvaluationError(fault(error))
    except BaseException as error:  # noqa: BLE001 - Ctrl-C or a time limit of the run: raised again below
        stopped = error
    # Without the frames below this one, whose variables a traceback may show.
    stopped.__context__ = stopped.__cause__ = None
    raise stopped.with_traceback(None)


def _ask(questions: Sequence[Question], options: ClientOptions, leaks: Leaks) -> Verdicts:
    model = resolve_model(options.model)
    bodies = [request_body(question.prompt, model, question.sub_dimensions) for question in questions]
    replies = [Reply(question.dimension, None, None, "", _SOURCES[options.mode]) for question in questions]
    clear = []
    for index, question in enumerate(questions):
        # What must not be sent is not looked up either: a replay tells the same as the run that it repeats.
        if leaks(question.prompt):
            replies[index] = _failed(replies[index], _LEAKING_PROMPT)
        else:
            clear.append(index)
    if options.mode == "replay":
        for index in clear:
            replies[index] = _replayed(replies[index], questions[index], bodies[index], options.store, leaks)
        return Verdicts(tuple(replies))
    for index in clear[options.max_calls :]:
        replies[index] = _failed(replies[index], _over_budget(options.max_calls))
    sent = clear[: options.max_calls]
    exchanges, warnings = _exchanges([bodies[index] for index in sent], model, options)
    for index, exchange in zip(sent, exchanges, strict=True):
        replies[index], message = _received(replies[index], questions[index], exchange, leaks)
        if replies[index].answer and message:
            warnings += _kept(options.store, bodies[index], message)
    return Verdicts(tuple(replies), tuple(dict.fromkeys(warnings)))


def _failed(reply: Reply, failed: _Failed) -> Reply:
    return replace(reply, kind=failed.kind, message=failed.message)


def _over_budget(max_calls: int) -> _Failed:
    return _Failed("budget", f"not sent: gitleaks_judge_max_calls allows {max_calls} questions a run")


def _replayed(reply: Reply, question: Question, body: dict[str, Any], folder: Path, leaks: Leaks) -> Reply:
    name = store.key(body)
    try:
        message = store.load(folder, name)
    except EvaluationError as error:
        return _failed(reply, _Failed("invalid", str(error)))
    if message is None:
        return _failed(reply, _not_recorded(folder))
    judged = _judged(reply, question, message, leaks)
    if judged.kind is None:
        return judged
    return replace(judged, message=f"replay store: {store.entry_path(folder, name)}: {judged.message}")


def _not_recorded(folder: Path) -> _Failed:
    return _Failed(
        "replay_miss",
        f"no reply to this prompt and model is recorded in {folder}: record it with "
        f"--gitleaks-judge-mode=llm --gitleaks-judge-store={folder}",
    )


def _exchanges(
    bodies: Sequence[dict[str, Any]], model: str, options: ClientOptions
) -> tuple[list[Exchange], list[str]]:
    if not bodies:
        return [], []
    try:
        from gitleaks_eval.judges import live  # noqa: PLC0415 - two seconds that no other mode must pay
    except ImportError:
        return [Exchange(kind="transport", message=_NO_SDK)] * len(bodies), []
    return live.exchange_all(bodies, model, options.timeout_seconds, options.trace_id)


def _received(reply: Reply, question: Question, exchange: Exchange, leaks: Leaks) -> tuple[Reply, Message | None]:
    reply = replace(reply, attempts=exchange.attempts, duration_ms=exchange.duration_ms)
    if exchange.request_id and leaks(exchange.request_id):
        return _failed(reply, _LEAKING_REPLY), None
    reply = replace(reply, request_id=exchange.request_id)
    if exchange.body is None:
        named = f" (request {exchange.request_id})" if exchange.request_id else ""
        return replace(reply, kind=exchange.kind, message=exchange.message + named), None
    if len(exchange.body) > LARGEST_BODY:
        return _failed(reply, _TOO_LARGE), None
    message = read_message(exchange.body)
    if message is None:
        return _failed(reply, _NO_MESSAGE), None
    return _judged(reply, question, message, leaks), message


def _judged(reply: Reply, question: Question, message: Message, leaks: Leaks) -> Reply:
    """The reply with what `message` says, if it is an answer and may be shown."""
    # A server writes what it likes here, too.
    if leaks(message.model) or leaks(message.stop_reason):
        return _failed(replace(reply, request_id=None), _LEAKING_REPLY)
    reply = replace(
        reply,
        model=message.model,
        stop_reason=message.stop_reason,
        input_tokens=message.input_tokens,
        output_tokens=message.output_tokens,
    )
    outcome = _answer(message, question.sub_dimensions, leaks)
    return _failed(reply, outcome) if isinstance(outcome, _Failed) else replace(reply, answer=outcome)


def _answer(message: Message, sub_dimensions: Sequence[str], leaks: Leaks) -> Answer | _Failed:
    if message.stop_reason == "refusal":
        return _REFUSED
    if message.stop_reason in _CUT_OFF:
        return _TRUNCATED
    if message.stop_reason not in _COMPLETE:
        return _Failed("invalid", "the reply ended in a way that is no end of an answer")
    if leaks(message.text):
        return _LEAKING_REPLY
    try:
        answer = parse_answer(message.text, sub_dimensions)
    except InvalidAnswer as error:
        return _Failed("invalid", f"the reply is not an answer: {error}")
    # JSON can write any character as an escape: what is shown is looked at, too.
    shown = (answer.reasoning, *answer.evidence_cited, *answer.recommendations)
    return _LEAKING_REPLY if any(leaks(text) for text in shown) else answer


def _kept(folder: Path, body: dict[str, Any], message: Message) -> list[str]:
    """Record a reply; the warning when that is not possible, because a verdict is worth more than its record."""
    try:
        store.save(folder, store.key(body), message)
    except OSError as error:
        return [f"replay store: {folder}: replies cannot be recorded: {error.strerror or type(error).__name__}"]
    return []
