"""Ask judges: look their replies up or send their questions, and believe only what is an answer."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any, Literal

from gitleaks_eval.core.errors import EvaluationError, fault
from gitleaks_eval.judges import store
from gitleaks_eval.judges.message import MAX_TOKENS, Exchange, request_body
from gitleaks_eval.judges.models import resolve_model
from gitleaks_eval.judges.prices import Price
from gitleaks_eval.judges.question import ClientOptions, Leaks, Question, Reply, Verdicts
from gitleaks_eval.judges.replies import LEAKING_PROMPT, TOO_DEAR, Failed, failed, kept, looked_up, received

_SOURCES: dict[str, Literal["live", "replay"]] = {"llm": "live", "replay": "replay"}
# What is left of the deadline must be worth a second question, in seconds.
LEAST_LEFT = 0.1


_AGAIN = """\
## Again

This was asked before, and the reply could not be used: {}. Answer anew, and only as asked above."""
_NO_SDK = (
    "--gitleaks-judge-mode=llm needs the package anthropic: pip install 'gitleaks-eval[judges]', "
    "or use --gitleaks-judge-mode=heuristic, or --gitleaks-judge-mode=replay"
)


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
    bodies = [request_body(question.prompt, model, question.sub_dimensions) for question in questions]
    replies = [_open(question, body, model, options) for question, body in zip(questions, bodies, strict=True)]
    unasked = []
    for index, question in enumerate(questions):
        # What must not be sent is not looked up either: a replay tells the same as the run that it repeats.
        if leaks(question.prompt):
            replies[index] = failed(replies[index], LEAKING_PROMPT)
        elif found := looked_up(replies[index], question, options, leaks):
            replies[index] = found
        else:
            unasked.append(index)
    sent, unaffordable = _within_budget(unasked, bodies, options)
    for index, why in unaffordable.items():
        replies[index] = failed(replies[index], why)
    exchanges, warnings = _exchanges([bodies[index] for index in sent], model, options)
    again = []
    for index, exchange in zip(sent, exchanges, strict=True):
        replies[index], message = received(replies[index], questions[index], exchange, leaks)
        if replies[index].answer and message:
            warnings += kept(options.store, replies[index], message)
        elif message:
            again.append(index)
    second, spent = _asked_again(again, questions, replies, options, leaks, len(sent))
    replies = [_with_cost(second.get(index, reply), options.price) for index, reply in enumerate(replies)]
    warnings += spent
    return Verdicts(tuple(replies), tuple(dict.fromkeys(warnings)), len(sent) + len(second))


def _open(question: Question, body: dict[str, Any], model: str, options: ClientOptions) -> Reply:
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
        store_key=store.key(body, question.sample),
    )


def _within_budget(
    unasked: Sequence[int], bodies: Sequence[dict[str, Any]], options: ClientOptions
) -> tuple[list[int], dict[int, Failed]]:
    """Which questions may be sent, and why the others may not: by their number, and by what they may cost at most."""
    sent: list[int] = []
    kept_back: dict[int, Failed] = {}
    most = 0.0
    for index in unasked:
        price = options.price
        # No token is shorter than a byte.
        most += price.cost(len(json.dumps(bodies[index])), MAX_TOKENS) if price else 0
        if len(sent) >= options.max_calls:
            kept_back[index] = _over_budget(options.max_calls)
        elif options.max_cost is not None and (price is None or most > options.max_cost):
            kept_back[index] = TOO_DEAR
        else:
            sent.append(index)
    return sent, kept_back


def _asked_again(  # noqa: PLR0913, PLR0917 - what a second question depends on
    again: Sequence[int],
    questions: Sequence[Question],
    replies: Sequence[Reply],
    options: ClientOptions,
    leaks: Leaks,
    sent: int,
) -> tuple[dict[int, Reply], list[str]]:
    """The replies to second questions, which say what was wrong: within the same deadline and the same budgets."""
    left = options.timeout_seconds - max((replies[index].duration_ms for index in again), default=0) / 1000
    model = resolve_model(options.model)
    bodies = {
        index: request_body(
            f"{questions[index].prompt}\n\n{_AGAIN.format(replies[index].message)}",
            model,
            questions[index].sub_dimensions,
        )
        for index in again
    }
    spent = sum(_with_cost(reply, options.price).cost or 0 for reply in replies)
    within = replace(
        options,
        max_calls=options.max_calls - sent,
        max_cost=None if options.max_cost is None else options.max_cost - spent,
        timeout_seconds=left,
    )
    asked = _within_budget(again, [bodies.get(index, {}) for index in range(len(questions))], within)[0]
    if not asked or left < LEAST_LEFT:
        return {}, []
    exchanges, warnings = _exchanges([bodies[index] for index in asked], model, within, known=True)
    second = {}
    for index, exchange in zip(asked, exchanges, strict=True):
        first = replies[index]
        blank = replace(first, answer=None, kind=None, message="", again=True)
        reply, message = received(blank, questions[index], exchange, leaks)
        if message is None:
            # The first reply says more than that the second did not come.
            reply = replace(first, again=True)
        elif reply.answer:
            warnings += kept(options.store, reply, message)
        second[index] = replace(
            reply,
            attempts=first.attempts + exchange.attempts,
            duration_ms=first.duration_ms + exchange.duration_ms,
            input_tokens=_sum(first.input_tokens, reply.input_tokens if message else 0),
            output_tokens=_sum(first.output_tokens, reply.output_tokens if message else 0),
        )
    return second, warnings


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _with_cost(reply: Reply, price: Price | None) -> Reply:
    """The reply with what it cost; what was looked up costs nothing now, and what it cost then is what is told."""
    if price is None or reply.input_tokens is None or reply.output_tokens is None:
        return reply
    return replace(reply, cost=price.cost(reply.input_tokens, reply.output_tokens))


def _over_budget(max_calls: int) -> Failed:
    return Failed("budget", f"not sent: gitleaks_judge_max_calls allows {max_calls} more questions")


def _exchanges(
    bodies: Sequence[dict[str, Any]], model: str, options: ClientOptions, *, known: bool = False
) -> tuple[list[Exchange], list[str]]:
    if not bodies:
        return [], []
    try:
        from gitleaks_eval.judges import transport  # noqa: PLC0415 - two seconds that no other mode must pay
    except ImportError:
        return [Exchange(kind="transport", message=_NO_SDK)] * len(bodies), []
    return transport.exchange_all(bodies, model, options.timeout_seconds, options.trace_id, known=known)
