"""What keeps a request within bounds where the SDK has none: name look-ups, and the bodies of replies."""

import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import httpx2

from gitleaks_eval.judges.message import LARGEST_BODY

# What is read of the body of an error, in bytes: the SDK itself would read it to its end.
LARGEST_ERROR = 1 << 16


class Daemons(ThreadPoolExecutor):
    """Threads that nobody waits for, as an event loop takes them."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run it in a thread that ends with the process."""
        future: Future[Any] = Future()

        def run() -> None:
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001 - it is for who asked
                with suppress(InvalidStateError):
                    future.set_exception(error)
            else:
                with suppress(InvalidStateError):
                    future.set_result(result)

        threading.Thread(target=run, daemon=True).start()
        return future


class _Bounded(httpx2.AsyncByteStream):
    """The body of a response, cut off after so many bytes."""

    def __init__(self, stream: httpx2.AsyncByteStream, at_most: int) -> None:
        self._stream = stream
        self._at_most = at_most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._at_most
        async for chunk in self._stream:
            yield chunk[:left]
            left -= len(chunk)
            if left <= 0:
                return

    async def aclose(self) -> None:
        """Close the body itself."""
        await self._stream.aclose()


async def bound(response: httpx2.Response) -> None:
    """Let nobody read more of a response than anyone looks at."""
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream, LARGEST_BODY + 1 if response.is_success else LARGEST_ERROR)
