"""The client of judges: looks replies up or sends questions, and believes only what is an answer."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gitleaks_eval.core.errors import EvaluationError, fault
from gitleaks_eval.judges.model import store
from gitleaks_eval.judges.model.answer import Answer, InvalidAnswer, answer_text, parse_answer
from gitleaks_eval.judges.model.message import LARGEST_BODY, MAX_TOKENS, Exchange, Message, read_message, request_body
from gitleaks_eval.judges.model.models import resolve_model
from gitleaks_eval.judges.model.question import ClientOptions, Kind, Leaks, Question, Reply, Verdicts, usage

_SOURCES: dict[str, Literal["live", "replay"]] = {"llm": "live", "replay": "replay"}
# What is left of the deadline must be worth a second question, in seconds.
LEAST_LEFT = 0.1
_COMPLETE = {"end_turn", "stop_sequence"}
_CUT_OFF = {"max_tokens", "model_context_window_exceeded"}
_AGAIN = """\
{}

## Again

This was asked before, and the reply could not be used: {}. Answer anew, and only as asked above."""
NO_SDK = (
    "--gitleaks-judges: the mode llm needs the package anthropic: pip install 'gitleaks-eval[judges]', "
    "or use --gitleaks-judge-mode=heuristic, or --gitleaks-judge-mode=replay"
)


class _Failed(NamedTuple):
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
_TOO_DEAR = _Failed("budget", "not sent: it could cost more than --gitleaks-judge-max-cost leaves")


def ask(questions: Sequence[Question], options: ClientOptions, leaks: Leaks) -> Verdicts:
    """Put all questions at once, and wait for their verdicts.

    Each is looked up in the store. In mode `llm` what is not there is sent to the Messages API, a reply that is no
    answer is asked for again once, with what was wrong, and one that is an answer is kept; in mode `replay` nothing is
    sent. `leaks` says whether a text holds what may be neither sent nor shown.

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
    blank = [_blank(question, model, options) for question in questions]
    replies = list(blank)
    unasked: dict[int, Question] = {}
    for index, question in enumerate(questions):
        # What must not be sent is not looked up either: a replay tells the same as the run that it repeats.
        if leaks(question.prompt):
            replies[index] = _failed(blank[index], _LEAKING_PROMPT)
        elif found := _looked_up(blank[index], question, options, leaks):
            replies[index] = found
        else:
            unasked[index] = question
    first, warnings = _put(unasked, blank, options, leaks)
    for index, reply in first.items():
        replies[index] = reply
    sent = [reply for reply in first.values() if reply.kind != "budget"]
    again = {
        index: replace(questions[index], prompt=_AGAIN.format(questions[index].prompt, reply.message))
        for index, reply in first.items()
        if reply.model and not reply.answer
    }
    within = replace(
        options,
        max_calls=options.max_calls - len(sent),
        max_cost=None if options.max_cost is None else options.max_cost - sum(reply.cost or 0 for reply in sent),
        timeout_seconds=options.timeout_seconds - max((first[index].duration_ms for index in again), default=0) / 1000,
    )
    second, more = _put(again, blank, within, leaks, known=True) if within.timeout_seconds >= LEAST_LEFT else ({}, [])
    second = {index: reply for index, reply in second.items() if reply.kind != "budget"}
    for index, reply in second.items():
        replies[index] = _both(first[index], reply)
    return Verdicts(tuple(replies), tuple(dict.fromkeys((*warnings, *more))), len(sent) + len(second))


def _blank(question: Question, model: str, options: ClientOptions) -> Reply:
    return Reply(
        question.dimension,
        None,
        None,
        "",
        _SOURCES[options.mode],
        model_requested=model,
        sample=question.sample,
        at=datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
        prompt_sha256=question.prompt_sha256,
        store_key=store.key(request_body(question.prompt, model, question.sub_dimensions), question.sample),
    )


def _failed(reply: Reply, why: _Failed) -> Reply:
    return replace(reply, kind=why.kind, message=why.message)


def _put(
    questions: Mapping[int, Question],
    blank: Sequence[Reply],
    options: ClientOptions,
    leaks: Leaks,
    *,
    known: bool = False,
) -> tuple[dict[int, Reply], list[str]]:
    """Send the questions that the budget allows, and keep their answers; return a reply to each, and warnings."""
    replies: dict[int, Reply] = {}
    bodies: dict[int, dict[str, Any]] = {}
    price, most = options.price, 0.0
    for index, question in questions.items():
        body = request_body(question.prompt, blank[index].model_requested, question.sub_dimensions)
        # No token is shorter than a byte.
        most += price.cost(len(json.dumps(body)), MAX_TOKENS) if price else 0
        if len(bodies) >= options.max_calls:
            over = f"not sent: gitleaks_judge_max_calls allows {options.max_calls} more questions"
            replies[index] = _failed(blank[index], _Failed("budget", over))
        elif options.max_cost is not None and (price is None or most > options.max_cost):
            replies[index] = _failed(blank[index], _TOO_DEAR)
        else:
            bodies[index] = body
    exchanges, warnings = _exchanges(list(bodies.values()), options, known=known)
    for index, exchange in zip(bodies, exchanges, strict=True):
        reply, message = _received(blank[index], questions[index], exchange, options, leaks)
        replies[index] = reply
        if message and reply.answer:
            warnings += _kept(options.store, reply, message)
    return replies, warnings


def _exchanges(
    bodies: Sequence[dict[str, Any]], options: ClientOptions, *, known: bool
) -> tuple[list[Exchange], list[str]]:
    if not bodies:
        return [], []
    try:
        from gitleaks_eval.judges.model import transport  # noqa: PLC0415 - two seconds that no other mode must pay
    except ImportError:
        return [Exchange(kind="transport", message=NO_SDK)] * len(bodies), []
    model = resolve_model(options.model)
    return transport.exchange_all(bodies, model, options.timeout_seconds, options.trace_id, known=known)


def _both(first: Reply, second: Reply) -> Reply:
    """Return what asking twice came to: the second reply, but the first, which says more, where no second came."""
    came = second.model is not None
    used = [first, second] if came else [first]
    return replace(
        second if came else first,
        again=True,
        attempts=first.attempts + second.attempts,
        duration_ms=first.duration_ms + second.duration_ms,
        **usage(used),
    )


def _looked_up(reply: Reply, question: Question, options: ClientOptions, leaks: Leaks) -> Reply | None:
    """Return what the store says; None where it has nothing, and the model is to be asked."""
    name = reply.store_key
    try:
        message = store.load(options.store, name)
    except EvaluationError as error:
        return _failed(reply, _Failed("invalid", str(error)))
    if message is None:
        return _failed(reply, _not_recorded(options.store)) if options.mode == "replay" else None
    judged = _judged(replace(reply, source="replay"), question, message, options, leaks)
    if judged.kind is None:
        return judged
    return replace(judged, message=f"replay store: {store.entry_path(options.store, name)}: {judged.message}")


def _not_recorded(folder: Path) -> _Failed:
    if not folder.is_dir():
        return _Failed(
            "replay_miss",
            f"there is no store {folder}: name the folder that has the replies with --gitleaks-judge-store, "
            "or have them recorded there with --gitleaks-judge-mode=llm",
        )
    return _Failed(
        "replay_miss",
        f"no reply to this prompt and model is recorded in {folder}: record it with "
        f"--gitleaks-judge-mode=llm --gitleaks-judge-store={folder}",
    )


def _received(
    reply: Reply, question: Question, exchange: Exchange, options: ClientOptions, leaks: Leaks
) -> tuple[Reply, Message | None]:
    """Return what an exchange became, and the message in it, if a model sent one."""
    reply = replace(reply, attempts=exchange.attempts, duration_ms=exchange.duration_ms)
    shown = exchange.request_id or ""
    if leaks(shown) or question.cut(shown) != shown:
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
    return _judged(reply, question, message, options, leaks), message


def _judged(reply: Reply, question: Question, message: Message, options: ClientOptions, leaks: Leaks) -> Reply:
    """Return the reply with what `message` says, if it is an answer and may be shown."""
    # A server writes what it likes here, too.
    if any(leaks(text) or question.cut(text) != text for text in (message.model, message.stop_reason)):
        return _failed(replace(reply, request_id=None), _LEAKING_REPLY)
    tokens, price = (message.input_tokens, message.output_tokens), options.price
    reply = replace(
        reply,
        model=message.model,
        stop_reason=message.stop_reason,
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        # What was looked up costs nothing now; what it cost then is told.
        cost=price.cost(tokens[0], tokens[1]) if price and tokens[0] is not None and tokens[1] is not None else None,
    )
    outcome = _answer(message, question, leaks)
    return _failed(reply, outcome) if isinstance(outcome, _Failed) else replace(reply, answer=outcome)


def _answer(message: Message, question: Question, leaks: Leaks) -> Answer | _Failed:  # noqa: PLR0911 - a kind each
    if message.stop_reason == "refusal":
        return _REFUSED
    if message.stop_reason in _CUT_OFF:
        return _TRUNCATED
    if message.stop_reason not in _COMPLETE:
        return _Failed("invalid", "the reply ended in a way that is no end of an answer")
    if leaks(message.text):
        return _LEAKING_REPLY
    try:
        answer = parse_answer(message.text, question.sub_dimensions)
    except InvalidAnswer as error:
        return _Failed("invalid", f"the reply is not an answer: {error}")
    # JSON can write any character as an escape: what is shown is looked at, too.
    if any(map(leaks, chain([answer.reasoning], answer.evidence_cited, answer.recommendations))):
        return _LEAKING_REPLY
    return replace(
        answer,
        reasoning=question.cut(answer.reasoning),
        evidence_cited=tuple(map(question.cut, answer.evidence_cited)),
        recommendations=tuple(map(question.cut, answer.recommendations)),
    )


def _kept(folder: Path, reply: Reply, message: Message) -> list[str]:
    """Record a reply; return the warning when that fails, because a verdict is worth more than its record."""
    # The answer as it is shown: pieces of secrets are cut out of it.
    text = answer_text(reply.answer) if reply.answer else ""
    try:
        store.save(folder, reply.store_key, replace(message, text=text))
    except OSError as error:
        return [f"replay store: {folder}: replies cannot be recorded: {error.strerror or type(error).__name__}"]
    return []
