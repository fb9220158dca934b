"""A real local HTTP server that speaks the Messages API, and misbehaves as it is told.

A test module has it as a fixture with `messages_server = pytest.fixture(local_service)`.
"""

import contextlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

REQUEST_ID = "req_local"
MODEL = "claude-opus-5-5"


@dataclass(frozen=True)
class Recorded:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    api: ClassVar["MessagesServer"]

    def do_POST(self) -> None:
        request = self.recorded(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.api.next_behaviour()(self, request)

    def do_GET(self) -> None:
        self.api.model(self, self.recorded(None))

    def recorded(self, body: Any) -> Recorded:
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Recorded(self.command, self.path, headers, body)
        with self.api.lock:
            self.api.requests.append(request)
        return request

    def respond(self, status: int, content: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", "request-id": REQUEST_ID, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the parameter's name upstream
        pass


Behaviour = Callable[[Handler, Recorded], None]


def answer_to(request: Recorded, score: int = 4) -> dict[str, Any]:
    """An answer with the sub-scores that the schema of the request asks for."""
    schema = request.body["output_config"]["format"]["schema"]
    return {
        "score": score,
        "confidence": 0.9,
        "reasoning": "The findings match.",
        "evidence_cited": ["17 of 17 expected"],
        "recommendations": [],
        "sub_scores": dict.fromkeys(schema["properties"]["sub_scores"]["properties"], score),
    }


def message(text: str, stop_reason: str = "end_turn", **members: object) -> dict[str, Any]:
    return {
        "id": "msg_local",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [{"type": "text", "text": text}],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 1200, "output_tokens": 345},
        **members,
    }


def sent(document: object) -> Behaviour:
    """A 200 with this JSON document."""
    return lambda handler, _: handler.respond(200, json.dumps(document).encode())


def good(**changes: object) -> Behaviour:
    """An answer, with members changed; None leaves one out."""

    def behave(handler: Handler, request: Recorded) -> None:
        members = {name: value for name, value in {**answer_to(request), **changes}.items() if value is not None}
        sent(message(json.dumps(members)))(handler, request)

    return behave


def thinking_first(handler: Handler, request: Recorded) -> None:
    thinking = {"type": "thinking", "thinking": '{"score": 1}', "signature": "none"}
    text = {"type": "text", "text": json.dumps(answer_to(request))}
    sent(message("", content=[thinking, text]))(handler, request)


def fenced(handler: Handler, request: Recorded) -> None:
    sent(message(f"```json\n{json.dumps(answer_to(request))}\n```"))(handler, request)


def html(handler: Handler, _: Recorded) -> None:
    handler.respond(200, b"<!doctype html><title>Welcome</title>", {"content-type": "text/html"})


def failing(status: int, error_type: str = "api_error", text: str = "no", **headers: str) -> Behaviour:
    """An error of the API; underscores in the names of headers become hyphens."""
    content = json.dumps({"type": "error", "error": {"type": error_type, "message": text}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler, _: handler.respond(status, content, named)


def dropped(handler: Handler, _: Recorded) -> None:
    handler.close_connection = True


def dripping(handler: Handler, _: Recorded) -> None:
    """A good start, then a byte at a time: no single read takes long."""
    handler.send_response(200)
    handler.send_header("content-length", "100000")
    handler.end_headers()
    handler.close_connection = True
    with contextlib.suppress(OSError):
        while not handler.api.closed.is_set():
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)


def hanging(handler: Handler, _: Recorded) -> None:
    handler.close_connection = True
    handler.api.closed.wait(30)


def together(count: int) -> Behaviour:
    """Good answers, but none before `count` requests are there."""
    barrier = threading.Barrier(count)

    def behave(handler: Handler, request: Recorded) -> None:
        try:
            barrier.wait(timeout=20)
        except threading.BrokenBarrierError:
            failing(400)(handler, request)
        else:
            good()(handler, request)

    return behave


def model_info(**members: object) -> Behaviour:
    """What the Models API says about the model that is asked for."""
    described = {"id": MODEL, "type": "model", "display_name": "Local", "created_at": "2025-01-01T00:00:00Z"}
    return sent({**described, "lifecycle": "active", "retires_at": None, **members})


def unknown_model(handler: Handler, request: Recorded) -> None:
    name = request.path.rpartition("/")[2].partition("?")[0]
    failing(404, "not_found_error", f"model: {name}")(handler, request)


@dataclass
class MessagesServer:
    """What the server is told to do, and what it was asked."""

    url: str = ""
    replies: list[Behaviour] = field(default_factory=list)
    always: Behaviour = field(default_factory=good)
    model: Behaviour = field(default_factory=model_info)
    requests: list[Recorded] = field(default_factory=list, repr=False)
    lock: threading.Lock = field(default_factory=threading.Lock)
    closed: threading.Event = field(default_factory=threading.Event)
    key: str = field(default_factory=lambda: f"key-{secrets.token_hex(16)}", repr=False)

    @property
    def posts(self) -> list[Recorded]:
        return [request for request in self.requests if request.method == "POST"]

    def next_behaviour(self) -> Behaviour:
        """The first of `replies` that is left, else what it does `always`."""
        with self.lock:
            return self.replies.pop(0) if self.replies else self.always

    def environment(self, home: Path) -> dict[str, str]:
        """The variables that lead the SDK here, and to nothing of this machine."""
        return {
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": self.key,
            "ANTHROPIC_CONFIG_DIR": str(home),
            # Or a proxy of this machine would be asked for the local server.
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        }


@contextlib.contextmanager
def serving() -> Iterator[MessagesServer]:
    """The server, while it runs."""
    api = MessagesServer()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"api": api}))
    server.daemon_threads = True
    # A dropped client is part of the plan, and no reason to print a traceback.
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield api
    finally:
        api.closed.set()
        server.shutdown()
        thread.join()
        server.server_close()


def local_service(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MessagesServer]:
    """A server that the SDK in this process uses, with good answers unless told otherwise."""
    with serving() as api:
        for name in ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_LOG"):
            monkeypatch.delenv(name, raising=False)
        for name, value in api.environment(tmp_path / "no-profiles").items():
            monkeypatch.setenv(name, value)
        yield api
