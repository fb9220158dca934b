"""The wire: requests to the Messages API through the Anthropic SDK, all at once, each under one deadline.

The only module that imports the SDK. Nothing that goes wrong here leaves as an exception of the SDK:
those carry the request, and with it the prompt and the key.
"""

import asyncio
import json
import logging
import math
import random
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any

import anthropic
import anyio
from anyio.from_thread import start_blocking_portal

from gitleaks_eval.judges.bounds import Daemons, bound
from gitleaks_eval.judges.message import LARGEST_BODY, Exchange
from gitleaks_eval.judges.models import Standing, standing, unknown

# Names of the SDK's own loggers and of the HTTP libraries that its versions use: at DEBUG they print whole requests.
LOGGERS = {"anthropic", "httpx", "httpx2", "httpcore", "httpcore2", "hpack", "h11", "h2"}
FIRST_WAIT, LONGEST_WAIT, SHORTEST_WAIT = 0.5, 8.0, 0.25
# A service that cannot be reached at all is given about fifteen seconds of it.
DROPPED_AT_MOST = 6
PREFLIGHT_SECONDS = 10.0
OTHER_MODES = (
    "set ANTHROPIC_API_KEY, or use --gitleaks-judge-mode=heuristic, or --gitleaks-judge-mode=replay "
    "with recorded replies in --gitleaks-judge-store=DIR"
)
_NO_CONNECTION = "no connection to the Messages API: check the network, ANTHROPIC_BASE_URL and the proxy"
_REDIRECTED = "it redirects, and prompts go nowhere but to ANTHROPIC_BASE_URL: set that to the address meant"
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,80}")
_ADVICE = {
    400: "the model may lack structured output: choose another with --gitleaks-judge-model",
    401: f"the credentials are refused: {OTHER_MODES}",
    403: f"the credentials may not use this: {OTHER_MODES}",
    404: "check --gitleaks-judge-model and ANTHROPIC_BASE_URL",
    413: "the prompt is too large",
    429: "the rate limit is reached: try later, or raise gitleaks_judge_timeout",
    529: "the service is overloaded: try later, or raise gitleaks_judge_timeout",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """An attempt without a usable reply; `status` is None when the connection failed."""

    status: int | None
    message: str
    request_id: str | None = None
    wait: float | None = None

    @property
    def passing(self) -> bool:
        """Whether another attempt may succeed."""
        return self.status is None or self.status == 429 or self.status >= 500


def exchange_all(
    bodies: Sequence[Mapping[str, Any]], model: str, timeout_seconds: float, trace_id: str, *, known: bool = False
) -> tuple[list[Exchange], list[str]]:
    """Send all requests at once; what became of each, in order, and warnings about the model.

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
    # A name server that never answers would hold the end of this loop up, and then that of the process.
    asyncio.get_running_loop().set_default_executor(Daemons())
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
    """The SDK's client with the credentials that it finds itself, or why there is none and what to do."""
    try:
        client = anthropic.AsyncAnthropic(
            # One deadline, ours: the SDK's time limit is per read, and its retries sleep as long as they are told to.
            timeout=None,
            max_retries=0,
            # What a prompt shows is for the service that the user chose, and for none that this one names.
            http_client=anthropic.DefaultAsyncHttpxClient(
                follow_redirects=False, timeout=None, event_hooks={"response": [bound]}
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
    """What the service says about the model; whatever is not decisive is left to the real request."""
    with anyio.move_on_after(seconds):
        try:
            reply = await client.models.with_raw_response.retrieve(model)
            return standing(model, json.loads(reply.http_response.content), datetime.now(timezone.utc))
        except anthropic.APIStatusError as error:
            if error.status_code in {401, 403}:
                return Standing(usable=False, message=_status_failure(error).message)
            if error.status_code == 404 and error.type == "not_found_error" and model in str(error.api_message):
                return unknown(model)
        except Exception:  # noqa: BLE001, S110 - not decisive: the request itself will show what is wrong
            pass
    return Standing(usable=True)


async def _exchange(client: anthropic.AsyncAnthropic, body: Mapping[str, Any], deadline: float) -> Exchange:
    """Send one request, again where that may help, and give up at once where waiting would take too long."""
    start = anyio.current_time()
    failures: list[Failure] = []
    attempts = 0
    exchange: Exchange | None = None
    with anyio.CancelScope(deadline=deadline):
        while exchange is None:
            attempts += 1
            outcome = await _attempt(client, body)
            if isinstance(outcome, Exchange):
                exchange = outcome
                break
            failures.append(outcome)
            wait = _wait(outcome, attempts)
            exchange = _given_up(failures, wait, deadline - anyio.current_time())
            if exchange is None:
                await anyio.sleep(wait)
    duration_ms = (anyio.current_time() - start) * 1000
    return replace(exchange or _overdue(failures), attempts=attempts, duration_ms=duration_ms)


def _given_up(failures: Sequence[Failure], wait: float, left: float) -> Exchange | None:
    """The end of a request that another attempt cannot save, or None when it is worth another attempt."""
    last = failures[-1]
    reason = ""
    if last.passing:
        if wait >= left:
            reason = f"; the wait before another attempt ({_seconds(wait)}) is longer than what is left of the deadline"
        elif len(failures) >= DROPPED_AT_MOST and all(failure.status is None for failure in failures):
            reason = f"; {len(failures)} attempts"
        else:
            return None
    return Exchange(kind="transport", message=last.message + reason, request_id=last.request_id)


def _overdue(failures: Sequence[Failure]) -> Exchange:
    """The end of a request at its deadline: `timeout` only where the service never replied at all."""
    replied = [failure for failure in failures if failure.status is not None]
    if replied:
        last = replied[-1]
        message = f"{last.message}; then no reply before the deadline"
        return Exchange(kind="transport", message=message, request_id=last.request_id)
    return Exchange(
        kind="timeout",
        message="no reply from the Messages API before the deadline: try later, or raise gitleaks_judge_timeout",
    )


def _seconds(wait: float) -> str:
    return f"{wait:.3g} s" if wait < 1e6 else "more than a week"


async def _attempt(client: anthropic.AsyncAnthropic, body: Mapping[str, Any]) -> Exchange | Failure:
    try:
        async with client.messages.with_streaming_response.create(**body) as reply:
            return await _read(reply.http_response)
    except anthropic.APIStatusError as error:
        return _status_failure(error)
    except anthropic.APIConnectionError:
        return Failure(None, _NO_CONNECTION)
    except anthropic.AnthropicError:
        # A status that no retry follows: the service was never asked.
        return Failure(400, f"the Anthropic credentials cannot be used: {OTHER_MODES}")
    except Exception as error:  # noqa: BLE001 - its text may hold the prompt or the key
        return Failure(400, f"the request cannot be sent ({type(error).__name__}): check the ANTHROPIC_* variables")


async def _read(response: Any) -> Exchange | Failure:
    """The body of a 200, no more of it than anyone looks at."""
    content = bytearray()
    try:
        async for chunk in response.aiter_bytes():
            content += chunk
            if len(content) > LARGEST_BODY:
                break
    except Exception:  # noqa: BLE001 - errors of the HTTP library, whose name depends on the SDK's version
        return Failure(None, _NO_CONNECTION)
    return Exchange(body=bytes(content), request_id=_request_id(response.headers))


def _status_failure(error: anthropic.APIStatusError) -> Failure:
    headers, status = error.response.headers, error.status_code
    request_id = _request_id(headers)
    other = (
        "the service failed: try later" if status >= 500 else _REDIRECTED if status < 400 else "the request is refused"
    )
    advice = _ADVICE.get(status, other)
    return Failure(
        status,
        f"HTTP {status} from the Messages API: {advice}",
        request_id,
        retry_after(headers, datetime.now(timezone.utc)),
    )


def _request_id(headers: Mapping[str, str]) -> str | None:
    value = headers.get("request-id") or ""
    return value if _REQUEST_ID.fullmatch(value) else None


def _wait(failure: Failure, attempts: int) -> float:
    if failure.wait is not None:
        return max(failure.wait, SHORTEST_WAIT)
    # Four judges that failed together must not come back together.
    return min(FIRST_WAIT * 2.0 ** min(attempts - 1, 30), LONGEST_WAIT) * random.uniform(0.75, 1)  # noqa: S311 - jitter


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """The seconds that a reply asks to wait (`retry-after-ms`, else `retry-after`: seconds or a date), or None."""
    milliseconds = _positive(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _positive(value)
    if seconds is not None or value is None:
        return seconds
    try:
        date = parsedate_to_datetime(value)
    except (TypeError, ValueError, OverflowError):
        return None
    date = date if date.tzinfo else date.replace(tzinfo=timezone.utc)
    return max((date - now).total_seconds(), 0.0)


def _positive(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return None if math.isnan(number) else max(number, 0.0)


@contextmanager
def _silent() -> Iterator[None]:
    """Nothing of a request is logged or warned about meanwhile, whatever ANTHROPIC_LOG says."""
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
