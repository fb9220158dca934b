"""The transport: requests to the Messages API through the Anthropic SDK, all at once, under one deadline.

The only module that imports the SDK. No exception of the SDK leaves it: they carry the request, and with it the prompt
and the key.
"""

import json
import logging
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import anthropic
import anyio
from anyio.from_thread import start_blocking_portal

from gitleaks_eval.judges.model.message import Exchange
from gitleaks_eval.judges.model.models import Standing, standing, unknown

# Names of the SDK's own loggers and of the HTTP libraries that its versions use: at DEBUG they print whole requests.
LOGGERS = {"anthropic", "httpx", "httpx2", "httpcore", "httpcore2", "hpack", "h11", "h2"}
# The SDK waits half a second before the first of them, and eight before the last.
RETRIES = 5
PREFLIGHT_SECONDS = 10.0
OTHER_MODES = (
    "set ANTHROPIC_API_KEY, or use --gitleaks-judge-mode=heuristic, or --gitleaks-judge-mode=replay "
    "with recorded replies in --gitleaks-judge-store=DIR"
)
_NO_CONNECTION = "no connection to the Messages API: check the network, ANTHROPIC_BASE_URL and the proxy"
_REDIRECTED = "it redirects, and prompts go nowhere but to ANTHROPIC_BASE_URL: set that to the address meant"
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,80}")
# The attempts of a request that were refused, in its own task.
_refusals: ContextVar[list[Exchange]] = ContextVar("_refusals")
_ADVICE = {
    400: "the model may lack structured output: choose another with --gitleaks-judge-model",
    401: f"the credentials are refused: {OTHER_MODES}",
    403: f"the credentials may not use this: {OTHER_MODES}",
    404: "check --gitleaks-judge-model and ANTHROPIC_BASE_URL",
    413: "the prompt is too large",
    429: "the rate limit is reached: try later, or raise gitleaks_judge_timeout",
    529: "the service is overloaded: try later, or raise gitleaks_judge_timeout",
}


def exchange_all(
    bodies: Sequence[Mapping[str, Any]], model: str, timeout_seconds: float, trace_id: str, *, known: bool = False
) -> tuple[list[Exchange], list[str]]:
    """Send all requests at once; return the outcome of each, in order, and warnings about the model.

    The model is looked up first, within the same deadline, unless it is `known`; one that is retired or unknown gets
    no request.
    """
    with _silent(), start_blocking_portal("asyncio") as portal:
        # In a thread of its own: the caller may have an event loop already, and Ctrl-C ends the wait at once.
        results: tuple[list[Exchange], list[str]] = portal.call(
            _exchange_all, bodies, model, timeout_seconds, trace_id, known
        )
    return results


async def _exchange_all(
    bodies: Sequence[Mapping[str, Any]],
    model: str,
    timeout_seconds: float,
    trace_id: str,
    known: bool,  # noqa: FBT001 - the portal passes arguments by place
) -> tuple[list[Exchange], list[str]]:
    client = _client(trace_id)
    if isinstance(client, str):
        return _all_failed(bodies, client), []
    async with client:
        # The clock runs for the service, not for the import of the SDK's modules.
        _ = client.models, client.messages
        deadline = anyio.current_time() + timeout_seconds
        seconds = min(PREFLIGHT_SECONDS, timeout_seconds / 2)
        found = Standing(usable=True) if known else await _preflight(client, model, seconds)
        if not found.usable:
            return _all_failed(bodies, found.message), []
        exchanges = [Exchange()] * len(bodies)

        async def settle(index: int, body: Mapping[str, Any]) -> None:
            exchanges[index] = await _exchange(client, body, deadline)

        async with anyio.create_task_group() as group:
            for index, body in enumerate(bodies):
                group.start_soon(settle, index, body)
        return exchanges, [found.message] if found.message else []


def _all_failed(bodies: Sequence[Mapping[str, Any]], message: str) -> list[Exchange]:
    return [Exchange(kind="transport", message=message)] * len(bodies)


def _client(trace_id: str) -> anthropic.AsyncAnthropic | str:
    """Return the SDK's client with the credentials that it finds itself, or why there is none and what to do."""
    try:
        client = anthropic.AsyncAnthropic(
            # The deadline of all requests is ours, and ends each of them.
            timeout=None,
            max_retries=RETRIES,
            # Prompts are for the service that the user chose, and for no other that it names.
            http_client=anthropic.DefaultAsyncHttpxClient(
                follow_redirects=False, timeout=None, event_hooks={"response": [_note]}
            ),
            # Carries the trace id to spans and no content, whatever the environment says.
            open_telemetry={"conversation_id": trace_id, "propagation": False},
        )
    except anthropic.AnthropicError:
        return f"the credentials of the Anthropic profile cannot be loaded: {OTHER_MODES}"
    except Exception as error:  # noqa: BLE001 - its text may hold what the environment holds
        return (
            f"the Anthropic client cannot be made ({type(error).__name__}): "
            "check ANTHROPIC_BASE_URL, the proxy variables, and that anthropic is 2.11 or newer"
        )
    names = {name.lower() for name in client.default_headers}
    if client.credentials is None and not names & {"authorization", "x-api-key"}:
        return f"no Anthropic credentials: {OTHER_MODES}"
    return client


async def _preflight(client: anthropic.AsyncAnthropic, model: str, seconds: float) -> Standing:
    """Return what the service says about the model; the real request shows what is not decisive here."""
    with anyio.move_on_after(seconds):
        try:
            reply = await client.with_options(max_retries=0).models.with_raw_response.retrieve(model)
            return standing(model, json.loads(reply.http_response.content), datetime.now(timezone.utc))
        except anthropic.APIStatusError as error:
            if error.status_code in {401, 403}:
                return Standing(usable=False, message=_refused(error.response).message)
            if error.status_code == 404 and error.type == "not_found_error" and model in str(error.api_message):
                return unknown(model)
        except Exception:  # noqa: BLE001, S110 - not decisive: the request itself will show what is wrong
            pass
    return Standing(usable=True)


async def _exchange(client: anthropic.AsyncAnthropic, body: Mapping[str, Any], deadline: float) -> Exchange:
    """Send one request; the SDK sends it again where that may help."""
    start = anyio.current_time()
    exchange = Exchange(
        kind="timeout",
        message="no reply from the Messages API before the deadline: try later, or raise gitleaks_judge_timeout",
        attempts=1,
    )
    _refusals.set([])
    with anyio.CancelScope(deadline=deadline):
        exchange = await _settled(client, body)
    if exchange.kind == "timeout" and (refusals := _refusals.get()):
        message = f"{refusals[-1].message}; no other reply before the deadline"
        exchange = replace(refusals[-1], message=message, attempts=len(refusals))
    return replace(exchange, duration_ms=(anyio.current_time() - start) * 1000)


async def _settled(client: anthropic.AsyncAnthropic, body: Mapping[str, Any]) -> Exchange:
    try:
        reply = await client.messages.with_raw_response.create(**body)
    except anthropic.APIStatusError as error:
        return replace(_refused(error.response), attempts=_attempts(error))
    except anthropic.APIConnectionError as error:
        return Exchange(kind="transport", message=_NO_CONNECTION, attempts=_attempts(error))
    except anthropic.AnthropicError:
        message = f"the Anthropic credentials cannot be used: {OTHER_MODES}"
    except Exception as error:  # noqa: BLE001 - its text may hold the prompt or the key
        message = f"the request cannot be sent ({type(error).__name__}): check the ANTHROPIC_* variables"
    else:
        response = reply.http_response
        return Exchange(response.content, attempts=reply.retries_taken + 1, request_id=_request_id(response.headers))
    return Exchange(kind="transport", message=message, attempts=1)


async def _note(response: Any) -> None:
    if not response.is_success:
        _refusals.get([]).append(_refused(response))


def _refused(response: Any) -> Exchange:
    status = response.status_code
    other = (
        "the service failed: try later" if status >= 500 else _REDIRECTED if status < 400 else "the request is refused"
    )
    return Exchange(
        kind="transport",
        message=f"HTTP {status} from the Messages API: {_ADVICE.get(status, other)}",
        request_id=_request_id(response.headers),
    )


def _attempts(error: anthropic.APIError) -> int:
    # The SDK counts its retries in this header of the request.
    return int(error.request.headers.get("x-stainless-retry-count", "0")) + 1


def _request_id(headers: Mapping[str, str]) -> str | None:
    value = headers.get("request-id") or ""
    return value if _REQUEST_ID.fullmatch(value) else None


@contextmanager
def _silent() -> Iterator[None]:
    """Log and warn about nothing of a request meanwhile, whatever ANTHROPIC_LOG says."""
    known = [
        logger
        for name, logger in logging.root.manager.loggerDict.items()
        if name.partition(".")[0] in LOGGERS and isinstance(logger, logging.Logger)
    ]
    loggers = {*known, *(logging.getLogger(name) for name in LOGGERS)}
    before = [(logger, logger.disabled, logger.level) for logger in loggers]
    with warnings.catch_warnings():
        # The SDK warns about deprecated models; the preflight does so, too, and a run with -W error must not end there.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            for logger in loggers:
                logger.disabled = True
                # A logger made meanwhile takes its level from these.
                logger.setLevel(logging.CRITICAL + 1)
            yield
        finally:
            for logger, disabled, level in before:
                logger.disabled = disabled
                logger.setLevel(level)
