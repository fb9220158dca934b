"""The client of the judges, with the real SDK against a real local server: each failure ends as its kind."""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, get_args

import pytest
from messages_server import (
    MODEL,
    REQUEST_ID,
    Behaviour,
    Handler,
    MessagesServer,
    Recorded,
    answer_to,
    dripping,
    dropped,
    failing,
    fenced,
    good,
    hanging,
    html,
    local_service,
    message,
    model_info,
    sent,
    serving,
    thinking_first,
    together,
    unknown_model,
)

from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.judges.model.answer import answer_schema
from gitleaks_eval.judges.model.client import ask
from gitleaks_eval.judges.model.message import LARGEST_BODY, SYSTEM
from gitleaks_eval.judges.model.models import model_aliases, resolve_model, standing
from gitleaks_eval.judges.model.prices import Price, load_prices
from gitleaks_eval.judges.model.question import ClientOptions, Kind, Question, Reply, Verdicts

messages_server = pytest.fixture(local_service)

SUB_DIMENSIONS = ("expected_found", "placement", "labels")
PROMPT = "Judge these 17 findings, said the prompt."
QUESTION = Question("detection_accuracy", PROMPT, SUB_DIMENSIONS)
FOUR = [
    Question(name, f"{PROMPT} {name}", SUB_DIMENSIONS) for name in ("accuracy", "positives", "coverage", "severity")
]
PATIENCE = 20.0
SHORT = 1.0
NOW = datetime(2026, 11, 21, tzinfo=timezone.utc)


@pytest.fixture
def options(tmp_path: Path) -> ClientOptions:
    return ClientOptions("llm", MODEL, tmp_path / "store", PATIENCE, 40, "trace-1")


def nothing_leaks(_: str) -> bool:
    return False


def reply_to(options: ClientOptions, leaks: Callable[[str], bool] = nothing_leaks) -> Reply:
    (reply,) = ask([QUESTION], options, leaks).replies
    # What holds for every reply: an answer or a kind, never both and never none.
    assert (reply.answer is None) == (reply.kind in get_args(Kind)) == bool(reply.message)
    assert options.store.exists() == (reply.answer is not None and reply.source == "live")
    assert PROMPT not in repr(reply)
    return reply


def test_a_good_reply_is_an_answer_with_what_it_cost(messages_server: MessagesServer, options: ClientOptions) -> None:
    reply = reply_to(options)
    assert reply.answer is not None
    assert (reply.answer.score, reply.answer.sub_scores) == (4, dict.fromkeys(SUB_DIMENSIONS, 4))
    assert (reply.dimension, reply.kind, reply.message, reply.source) == ("detection_accuracy", None, "", "live")
    assert (reply.model, reply.request_id, reply.stop_reason) == (MODEL, REQUEST_ID, "end_turn")
    assert (reply.input_tokens, reply.output_tokens, reply.attempts) == (1200, 345, 1)
    assert reply.duration_ms > 0
    assert len(messages_server.posts) == 1


def test_the_request_asks_for_structured_output_and_carries_no_trace_id(
    messages_server: MessagesServer, options: ClientOptions
) -> None:
    reply_to(options)
    lookup, post = messages_server.requests
    assert (lookup.method, lookup.path) == ("GET", f"/v1/models/{MODEL}")
    assert post.path == "/v1/messages"
    assert post.body == {
        "model": MODEL,
        "max_tokens": 8192,
        "system": SYSTEM,
        "messages": [{"role": "user", "content": PROMPT}],
        "output_config": {"format": {"type": "json_schema", "schema": answer_schema(SUB_DIMENSIONS)}},
    }
    assert "trace-1" not in json.dumps([post.headers, post.body])


def test_the_trace_id_goes_to_spans_without_content_whatever_the_environment_says(
    messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gitleaks_eval.judges.model import transport  # noqa: PLC0415 - two seconds that other tests need not pay

    monkeypatch.setenv("ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE", "content")
    client = transport._client("trace-1")
    assert not isinstance(client, str)
    assert str(client.base_url).startswith(messages_server.url)
    assert client.open_telemetry.get("conversation_id") == "trace-1"
    assert client.open_telemetry["propagation"] is False
    assert client.open_telemetry["traces"]["content_mode"] == "metadata_only"


def test_a_thinking_block_may_come_first(messages_server: MessagesServer, options: ClientOptions) -> None:
    messages_server.always = thinking_first
    answer = reply_to(options).answer
    assert answer is not None
    assert answer.score == 4


def test_four_questions_are_in_flight_at_once_and_their_order_is_kept(
    messages_server: MessagesServer, options: ClientOptions
) -> None:
    messages_server.always = together(4)
    replies = ask(FOUR, options, nothing_leaks).replies
    assert [(reply.dimension, reply.kind) for reply in replies] == [(question.dimension, None) for question in FOUR]
    assert len(messages_server.posts) == 4
    assert len(messages_server.requests) == 5


def test_no_question_needs_no_request_and_no_key(
    messages_server: MessagesServer, options: ClientOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert ask([], options, nothing_leaks) == Verdicts(())
    assert messages_server.requests == []


# Failures, each with its kind, the attempts that are made, and a part of the message.

OVERLOADED = failing(529, "overloaded_error")
AT_ONCE: list[tuple[str, Behaviour, str, str]] = [
    ("refusal", sent(message("I cannot.", "refusal")), "refusal", "--gitleaks-judge-model"),
    ("truncated", sent(message('{"score": 4,', "max_tokens")), "truncated", "cut off"),
    ("whole-but-truncated", sent(message("{}", "model_context_window_exceeded")), "truncated", "cut off"),
    ("html", html, "invalid", "ANTHROPIC_BASE_URL"),
    ("other-shape", sent({"ok": True}), "invalid", "not a reply of the Messages API"),
    ("no-object", sent([1]), "invalid", "not a reply of the Messages API"),
    ("all-null", sent(dict.fromkeys(message(""))), "invalid", "not a reply of the Messages API"),
    ("no-text", sent(message("", content=[])), "invalid", "not an answer"),
    ("odd-blocks", sent(message("", content=[None, {"type": "text", "text": 4}])), "invalid", "not an answer"),
    ("paused", sent(message("{}", "pause_turn")), "invalid", "no end of an answer"),
    ("fenced", fenced, "invalid", "not one JSON document"),
    ("out-of-range", good(score=99), "invalid", "score is not an integer from 1 to 5"),
    ("incomplete", good(reasoning=None), "invalid", "lacks reasoning"),
    ("bad-request", failing(400, "invalid_request_error"), "transport", "HTTP 400"),
    ("no-such-path", failing(404, "not_found_error"), "transport", "HTTP 404"),
    ("key-refused", failing(401, "authentication_error"), "transport", "--gitleaks-judge-mode=heuristic"),
    ("too-large", failing(413, "request_too_large"), "transport", "the prompt is too large"),
]


@pytest.mark.parametrize(("behaviour", "kind", "part"), [one[1:] for one in AT_ONCE], ids=[one[0] for one in AT_ONCE])
def test_what_another_attempt_cannot_change_is_not_attempted_again(
    messages_server: MessagesServer, options: ClientOptions, behaviour: Behaviour, kind: str, part: str
) -> None:
    messages_server.always = behaviour
    reply = reply_to(options)
    assert reply.kind == kind
    assert part in reply.message
    # What a model has replied is asked for again once, with what was wrong; for the rest nobody is asked again.
    assert reply.attempts == len(messages_server.posts) == (2 if reply.again else 1)
    assert reply.again == (reply.stop_reason is not None)


PASSING: list[tuple[str, Behaviour]] = [
    ("rate-limit", failing(429, "rate_limit_error")),
    ("rate-limit-with-wait", failing(429, "rate_limit_error", retry_after="0.5")),
    ("rate-limit-with-milliseconds", failing(429, "rate_limit_error", retry_after_ms="500", retry_after="3600")),
    ("overloaded", OVERLOADED),
    ("server-error", failing(500)),
    ("bad-gateway", lambda handler, _: handler.respond(502, b"<html>", {"content-type": "text/html"})),
    ("dropped", dropped),
]


@pytest.mark.parametrize("behaviour", [one[1] for one in PASSING], ids=[one[0] for one in PASSING])
def test_what_passes_is_attempted_again(
    messages_server: MessagesServer, options: ClientOptions, behaviour: Behaviour
) -> None:
    messages_server.replies = [behaviour]
    reply = reply_to(options)
    assert reply.answer is not None
    assert reply.attempts == len(messages_server.posts) == 2


@pytest.mark.parametrize("behaviour", [one[1] for one in PASSING], ids=[one[0] for one in PASSING])
def test_what_does_not_pass_is_transport_after_the_last_attempt(
    messages_server: MessagesServer, options: ClientOptions, behaviour: Behaviour, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages_server.always = behaviour
    monkeypatch.setattr("gitleaks_eval.judges.model.transport.RETRIES", 1)
    reply = reply_to(options)
    assert (reply.kind, reply.attempts, len(messages_server.posts)) == ("transport", 2, 2)


@pytest.mark.parametrize("behaviour", [hanging, dripping])
def test_no_reply_at_all_before_the_deadline_is_timeout(
    messages_server: MessagesServer, options: ClientOptions, behaviour: Behaviour
) -> None:
    messages_server.always = behaviour
    reply = reply_to(replace(options, timeout_seconds=SHORT))
    assert (reply.kind, reply.attempts) == ("timeout", 1)
    assert "gitleaks_judge_timeout" in reply.message


def test_the_last_failure_is_the_one_that_counts(messages_server: MessagesServer, options: ClientOptions) -> None:
    messages_server.replies = [OVERLOADED, fenced]
    messages_server.always = fenced
    assert (reply := reply_to(options)).kind == "invalid"
    assert reply.attempts == 3


def test_a_proxy_of_the_environment_is_used(
    messages_server: MessagesServer, options: ClientOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("http_proxy", messages_server.url)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://judges.invalid")
    assert reply_to(options).kind is None
    assert messages_server.posts[0].path == "http://judges.invalid/v1/messages"


def test_where_nothing_listens_it_is_transport(
    messages_server: MessagesServer, options: ClientOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitleaks_eval.judges.model.transport.RETRIES", 0)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    reply = reply_to(replace(options, timeout_seconds=SHORT))
    assert reply.kind == "transport"
    assert "no connection" in reply.message
    assert messages_server.requests == []


def test_one_failure_leaves_the_other_answers_alone(messages_server: MessagesServer, options: ClientOptions) -> None:
    messages_server.replies = [failing(400)]
    replies = ask(FOUR, options, nothing_leaks).replies
    assert sorted(str(reply.kind) for reply in replies) == ["None", "None", "None", "transport"]
    assert len(list(options.store.iterdir())) == 3


# Budget, leaks, credentials.


def test_questions_beyond_the_budget_are_not_sent(messages_server: MessagesServer, options: ClientOptions) -> None:
    replies = ask(FOUR, replace(options, max_calls=2), nothing_leaks).replies
    assert [reply.kind for reply in replies] == [None, None, "budget", "budget"]
    assert "gitleaks_judge_max_calls" in replies[3].message
    assert len(messages_server.posts) == 2


def test_retries_do_not_count_against_the_budget(messages_server: MessagesServer, options: ClientOptions) -> None:
    messages_server.replies = [failing(529, retry_after_ms="1"), failing(529, retry_after_ms="1")]
    replies = ask(FOUR[:2], replace(options, max_calls=2), nothing_leaks).replies
    assert [reply.kind for reply in replies] == [None, None]
    assert len(messages_server.posts) == 4


def test_a_prompt_that_leaks_is_not_sent_and_not_counted(
    messages_server: MessagesServer, options: ClientOptions
) -> None:
    replies = ask(FOUR, replace(options, max_calls=3), lambda text: text.endswith("accuracy")).replies
    assert [reply.kind for reply in replies] == ["leak", None, None, None]
    assert len(messages_server.posts) == 3


@pytest.mark.parametrize("place", ["reasoning", "evidence_cited", "recommendations"])
@pytest.mark.parametrize("written", ["marker", r"m\u0061rker"])
def test_a_reply_that_leaks_is_neither_kept_nor_shown(
    messages_server: MessagesServer, options: ClientOptions, place: str, written: str
) -> None:
    def behave(handler: Handler, request: Recorded) -> None:
        members = {place: "a MARK" if place == "reasoning" else ["a MARK"]}
        answer = {**answer_to(request), **members}
        sent(message(json.dumps(answer).replace("MARK", written)))(handler, request)

    messages_server.always = behave
    reply = reply_to(options, lambda text: "marker" in text)
    assert reply.kind == "leak"
    assert "rker" not in repr(reply)


def odd_message(**members: object) -> Behaviour:
    return lambda handler, request: sent({**message(json.dumps(answer_to(request))), **members})(handler, request)


@pytest.mark.parametrize(
    "behaviour",
    [
        odd_message(model="a-marker"),
        odd_message(stop_reason="a_marker"),
        lambda handler, _: handler.respond(200, b"{}", {"request-id": "a-marker"}),
        failing(400, request_id="a-marker"),
        failing(401, request_id="a-marker"),
    ],
    ids=["model", "stop-reason", "request-id", "request-id-of-an-error", "request-id-of-a-refusal"],
)
def test_what_names_a_reply_is_guarded_like_its_text(
    messages_server: MessagesServer, options: ClientOptions, behaviour: Behaviour
) -> None:
    messages_server.always = behaviour
    reply = reply_to(options, lambda text: "marker" in text)
    assert reply.kind == "leak"
    assert (reply.model, reply.request_id, reply.stop_reason) == (None, None, None)
    assert "marker" not in repr(reply)
    assert len(messages_server.posts) == (2 if reply.again else 1)


def test_a_service_that_refuses_until_the_deadline_is_told_by_its_status(
    messages_server: MessagesServer, options: ClientOptions
) -> None:
    messages_server.always = failing(429, "rate_limit_error", retry_after="3600")
    reply = reply_to(replace(options, timeout_seconds=2.0))
    assert reply.kind == "transport"
    assert "HTTP 429" in reply.message
    assert reply.attempts >= 1


def test_the_id_of_a_refused_look_up_is_not_shown(messages_server: MessagesServer, options: ClientOptions) -> None:
    messages_server.model = failing(401, "authentication_error", request_id="a-marker")
    assert "marker" not in repr(reply_to(options))
    assert messages_server.posts == []


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirection_is_not_followed(messages_server: MessagesServer, options: ClientOptions, status: int) -> None:
    with serving() as elsewhere:
        for path in ("model", "always"):
            setattr(messages_server, path, failing(status, location=f"{elsewhere.url}/v1/messages"))
        reply = reply_to(options)
        assert elsewhere.requests == []
    assert (reply.kind, reply.attempts) == ("transport", 1)
    assert f"HTTP {status}" in reply.message
    assert "ANTHROPIC_BASE_URL" in reply.message


@pytest.mark.parametrize(("excess", "kind"), [(0, None), (1, "invalid")])
def test_a_reply_of_more_than_a_mebibyte_is_invalid(
    messages_server: MessagesServer, options: ClientOptions, excess: int, kind: str | None
) -> None:
    def behave(handler: Handler, request: Recorded) -> None:
        content = json.dumps(message(json.dumps(answer_to(request)))).encode()
        handler.respond(200, content.ljust(LARGEST_BODY + excess))

    messages_server.always = behave
    reply = reply_to(options)
    assert (reply.kind, reply.attempts) == (kind, 1)
    assert ("1 MiB" in reply.message) == bool(excess)


def test_a_reply_that_breaks_off_is_asked_for_again(messages_server: MessagesServer, options: ClientOptions) -> None:
    def broken_off(handler: Handler, _: Recorded) -> None:
        handler.send_response(200)
        handler.send_header("content-length", "1000")
        handler.end_headers()
        handler.wfile.write(b"{")
        handler.close_connection = True

    messages_server.replies = [broken_off]
    assert (reply := reply_to(options)).kind is None
    assert reply.attempts == 2


def test_a_leak_check_that_breaks_is_an_error_without_the_prompt(options: ClientOptions) -> None:
    def broken(text: str) -> bool:
        raise ValueError(text)

    fault = r"a fault of gitleaks-eval itself: ValueError at judges/model/client\.py:\d+"
    with pytest.raises(EvaluationError, match=fault) as caught:
        ask([QUESTION], options, broken)
    assert PROMPT not in "".join(
        traceback.TracebackException.from_exception(caught.value, capture_locals=True).format()
    )


def test_without_credentials_the_three_ways_are_named_in_one_message_for_all(
    messages_server: MessagesServer, options: ClientOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    replies, warnings = (done := ask(FOUR, options, nothing_leaks)).replies, done.warnings
    (said,) = {(reply.kind, reply.message) for reply in replies}
    assert (said[0], warnings) == ("transport", ())
    for way in ("credentials", "ANTHROPIC_API_KEY", "-judge-mode=heuristic", "-judge-mode=replay"):
        assert way in said[1]
    assert messages_server.requests == []


def test_a_token_is_a_credential_too(
    messages_server: MessagesServer, options: ClientOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", messages_server.key)
    assert reply_to(options).kind is None


def test_a_profile_that_cannot_be_loaded_is_not_passed_over(
    messages_server: MessagesServer, options: ClientOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_PROFILE", "nowhere")
    reply = reply_to(options)
    assert reply.kind == "transport"
    assert "credentials" in reply.message
    assert messages_server.requests == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("ANTHROPIC_API_KEY", "kéy\n"), ("ANTHROPIC_BASE_URL", "nonsense"), ("ANTHROPIC_BASE_URL", "http://[")],
)
def test_an_environment_that_cannot_work_is_transport_and_not_quoted(
    messages_server: MessagesServer, options: ClientOptions, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setattr("gitleaks_eval.judges.model.transport.RETRIES", 0)
    monkeypatch.setenv(name, value)
    reply = reply_to(options)
    assert reply.kind == "transport"
    assert value.strip() not in reply.message
    assert messages_server.requests == []


# The model.


def test_a_retired_model_gets_no_request(messages_server: MessagesServer, options: ClientOptions) -> None:
    messages_server.model = model_info(lifecycle="retired", retires_at="2026-01-05T00:00:00Z")
    replies = ask(FOUR, options, nothing_leaks).replies
    assert {reply.kind for reply in replies} == {"transport"}
    assert replies[0].message == f"model {MODEL} was retired on 2026-01-05: choose another with --gitleaks-judge-model"
    assert messages_server.posts == []


def test_an_unknown_model_gets_no_request(messages_server: MessagesServer, options: ClientOptions) -> None:
    messages_server.model = unknown_model
    reply = reply_to(options)
    assert reply.kind == "transport"
    assert reply.message == f"model {MODEL} is not known: choose another with --gitleaks-judge-model"
    assert messages_server.posts == []


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_at_the_look_up_gets_no_request(
    messages_server: MessagesServer, options: ClientOptions, status: int
) -> None:
    messages_server.model = failing(status, "authentication_error")
    reply = reply_to(options)
    assert reply.kind == "transport"
    assert "ANTHROPIC_API_KEY" in reply.message
    assert messages_server.posts == []


def test_a_model_that_retires_soon_is_a_warning(messages_server: MessagesServer, options: ClientOptions) -> None:
    soon = datetime.now(timezone.utc) + timedelta(days=30, hours=1)
    messages_server.model = model_info(lifecycle="deprecated", retires_at=soon.isoformat())
    verdicts = ask(FOUR, options, nothing_leaks)
    assert {reply.kind for reply in verdicts.replies} == {None}
    assert verdicts.warnings == (
        f"model {MODEL} retires on {soon:%Y-%m-%d} (in 30 days): choose another with --gitleaks-judge-model",
    )


@pytest.mark.parametrize(
    "behaviour",
    [html, dropped, hanging, failing(404), failing(529), failing(429), sent([None])],
    ids=["html", "dropped", "hanging", "404", "529", "429", "list"],
)
def test_a_look_up_that_is_not_decisive_does_not_stop_the_request(
    messages_server: MessagesServer, options: ClientOptions, behaviour: Behaviour
) -> None:
    messages_server.model = behaviour
    assert reply_to(replace(options, timeout_seconds=2.0)).kind is None
    assert len(messages_server.requests) == 2


def test_a_model_that_the_sdk_calls_deprecated_does_not_end_a_run_with_warnings_as_errors(
    messages_server: MessagesServer, options: ClientOptions
) -> None:
    assert reply_to(replace(options, model="claude-3-opus-20240229")).kind is None
    assert len(messages_server.posts) == 1


@pytest.mark.parametrize(
    ("document", "usable", "part"),
    [
        ({"lifecycle": "active", "retires_at": None}, True, ""),
        ({"lifecycle": "retired", "retires_at": None}, False, "was retired: choose"),
        ({"lifecycle": "deprecated", "retires_at": "2026-11-24T00:00:00Z"}, True, "retires on 2026-11-24 (in 3 days)"),
        ({"lifecycle": "deprecated", "retires_at": "2027-01-20"}, True, "(in 60 days)"),
        ({"lifecycle": "deprecated", "retires_at": "2027-01-21T00:00:00Z"}, True, ""),
        ({"lifecycle": "deprecated", "retires_at": "2026-11-20T00:00:00Z"}, True, "was due on 2026-11-20"),
        ({"retires_at": "2026-11-20T00:00:00Z"}, False, "was retired on 2026-11-20"),
        ({"lifecycle": 4, "retires_at": "soon"}, True, ""),
        (None, True, ""),
    ],
)
def test_the_lifecycle_of_a_model_decides_and_its_date_warns(document: object, *, usable: bool, part: str) -> None:
    found = standing(MODEL, document, NOW)
    assert found.usable is usable
    assert part in found.message
    assert bool(part) == bool(found.message)


def test_a_short_name_stands_for_an_id_and_any_full_id_is_taken() -> None:
    assert resolve_model("opus-4.5") == "claude-opus-4-5-20251101"
    assert resolve_model("claude-of-tomorrow-20300101") == "claude-of-tomorrow-20300101"


def test_each_short_name_stands_for_a_model_that_the_sdk_knows() -> None:
    from anthropic.types import ModelParam  # noqa: PLC0415 - two seconds that other tests need not pay

    known = set(get_args(get_args(ModelParam)[0]))
    assert set(model_aliases().values()) <= known


@pytest.mark.parametrize("name", ["", " ", "claude opus", "claude\n", "\x1b[2J", "-x", "a" * 129])
def test_what_cannot_be_a_model_is_an_input_error_that_names_the_option(options: ClientOptions, name: str) -> None:
    with pytest.raises(InputError, match="--gitleaks-judge-model") as caught:
        ask([QUESTION], replace(options, model=name), nothing_leaks)
    assert str(caught.value).isprintable()


# Replay.


def test_a_replay_gives_the_same_answers_without_a_request(
    messages_server: MessagesServer, options: ClientOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = ask(FOUR, options, nothing_leaks).replies
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    asked = len(messages_server.requests)
    replayed = ask(FOUR, replace(options, mode="replay", max_calls=0, trace_id="other"), nothing_leaks).replies
    assert len(messages_server.requests) == asked
    assert {reply.source for reply in replayed} == {"replay"}
    timeless = [replace(one, source="replay", attempts=0, duration_ms=0.0, request_id=None, at="") for one in live]
    assert [replace(one, at="") for one in replayed] == timeless


def test_another_prompt_or_model_is_a_miss_that_says_how_to_record(
    messages_server: MessagesServer, options: ClientOptions
) -> None:
    reply_to(options)
    replay = replace(options, mode="replay")
    misses = [
        *ask([replace(QUESTION, prompt="another")], replay, nothing_leaks).replies,
        *ask([QUESTION], replace(replay, model="claude-opus-5"), nothing_leaks).replies,
    ]
    for reply in misses:
        assert reply.kind == "replay_miss"
        assert f"--gitleaks-judge-mode=llm --gitleaks-judge-store={options.store}" in reply.message
    assert len(messages_server.posts) == 1


def test_a_replay_from_a_store_that_is_not_there_says_that_and_not_that_a_reply_is_missing(
    options: ClientOptions,
) -> None:
    replies = ask(FOUR, replace(options, mode="replay"), nothing_leaks).replies
    assert {reply.kind for reply in replies} == {"replay_miss"}
    message = (
        f"there is no store {options.store}: name the folder that has the replies with --gitleaks-judge-store, "
        "or have them recorded there with --gitleaks-judge-mode=llm"
    )
    assert {reply.message for reply in replies} == {message}
    assert not options.store.exists()


def test_what_is_recorded_was_paid_for_and_is_read_and_not_replaced(
    messages_server: MessagesServer, options: ClientOptions
) -> None:
    reply_to(options)
    before = {path.name: path.read_bytes() for path in options.store.iterdir()}
    messages_server.always = good(score=2)
    (again,) = ask([QUESTION], replace(options, max_calls=1), nothing_leaks).replies
    assert (again.source, again.answer and again.answer.score) == ("replay", 4)
    # Another sample of the same question is another one.
    (other,) = ask([replace(QUESTION, sample=1)], options, nothing_leaks).replies
    assert (other.source, other.answer and other.answer.score) == ("live", 2)
    assert len(messages_server.posts) == 2
    assert {name: (options.store / name).read_bytes() for name in before} == before


def test_a_reply_that_is_no_answer_is_asked_for_again_with_what_was_wrong(
    messages_server: MessagesServer, options: ClientOptions
) -> None:
    messages_server.replies = [good(score=99)]
    reply = reply_to(options)
    assert (reply.again, reply.attempts, reply.answer and reply.answer.score) == (True, 2, 4)
    first, second = (post.body["messages"][0]["content"] for post in messages_server.posts)
    assert second.startswith(first)
    assert "score is not an integer from 1 to 5" in second
    # Both were paid for, and the answer is found under what was asked first.
    assert (reply.input_tokens, reply.output_tokens) == (2400, 690)
    (replayed,) = ask([QUESTION], replace(options, mode="replay"), nothing_leaks).replies
    assert replayed.answer == reply.answer


@pytest.mark.parametrize(
    "change",
    # The first may cost 0.8192, and costs 0.0345: what is left is not enough for another.
    [{"max_calls": 1}, {"timeout_seconds": 0.6}, {"price": Price(0, 100, "2026-11-01"), "max_cost": 0.83}],
    ids=["calls", "deadline", "cost"],
)
def test_a_second_question_stays_within_the_calls_the_deadline_and_the_cost(
    messages_server: MessagesServer, options: ClientOptions, change: dict[str, Any]
) -> None:
    def slow(handler: Handler, request: Recorded) -> None:
        time.sleep(0.3)
        good(score=99)(handler, request)

    messages_server.replies = [slow]
    messages_server.always = hanging
    began = time.monotonic()
    reply = reply_to(replace(options, **change))
    assert reply.kind == "invalid"
    # Whoever waits for a second answer that never comes waits to the deadline.
    assert time.monotonic() - began < PATIENCE / 2


def test_a_question_that_cost_nothing_takes_nothing_from_the_limit_of_second_questions(
    messages_server: MessagesServer, options: ClientOptions
) -> None:
    messages_server.replies = [good(score=99)]
    # The longest answer costs 0.8192; what leaks is not sent.
    limited = replace(options, price=Price(0, 100, "2026-11-01"), max_cost=1.7)
    kept_back, reply = ask([FOUR[0], QUESTION], limited, lambda prompt: prompt == FOUR[0].prompt).replies
    assert kept_back.cost is None
    assert (reply.again, reply.answer and reply.answer.score) == (True, 4)


def test_pieces_of_what_a_scanner_reported_are_cut_out_of_what_is_shown_and_kept(
    messages_server: MessagesServer, options: ClientOptions
) -> None:
    messages_server.always = good(reasoning="It says marker, twice: marker.", evidence_cited=["a marker"])
    question = replace(QUESTION, cut=lambda text: text.replace("marker", "********"))
    (reply,) = ask([question], options, nothing_leaks).replies
    assert reply.answer is not None
    assert reply.answer.reasoning == "It says ********, twice: ********."
    assert reply.answer.evidence_cited == ("a ********",)
    assert "marker" not in next(options.store.iterdir()).read_text(encoding="utf-8")


def test_a_limit_of_costs_holds_before_the_first_question(
    messages_server: MessagesServer, options: ClientOptions
) -> None:
    price = Price(0, 100, "2026-11-01")
    # The longest answer costs 0.8192: two fit, a third does not.
    replies = ask(FOUR, replace(options, price=price, max_cost=2.0), nothing_leaks).replies
    assert [reply.kind for reply in replies] == [None, None, "budget", "budget"]
    assert [reply.cost for reply in replies] == [pytest.approx(0.0345)] * 2 + [None] * 2
    assert len(messages_server.posts) == 2
    unpriced = ask(FOUR[2:], replace(options, max_cost=2.0), nothing_leaks).replies
    assert {reply.kind for reply in unpriced} == {"budget"}


@pytest.mark.parametrize(
    "content",
    [
        b"[]",
        b"{",
        b'{"as_of": "today", "models": {}}',
        b'{"as_of": "2026-01-01", "models": {"a": {"input": -1, "output": 1}}}',
    ],
)
def test_a_file_of_prices_of_the_wrong_shape_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "prices.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"prices\.json"):
        load_prices(path)


def test_the_shipped_prices_have_a_day_and_are_of_known_models() -> None:
    prices = load_prices()
    assert prices
    assert set(prices) <= set(model_aliases().values())
    assert all(price.as_of for price in prices.values())


def test_a_pipe_in_the_place_of_a_record_keeps_nobody_waiting_and_is_not_written_over(
    messages_server: MessagesServer, options: ClientOptions
) -> None:
    (reply,) = ask([QUESTION], replace(options, mode="replay"), nothing_leaks).replies
    options.store.mkdir()
    path = options.store / f"{reply.store_key}.json"
    os.mkfifo(path)
    (found,) = ask([QUESTION], options, nothing_leaks).replies
    assert found.kind == "invalid"
    assert str(path) in found.message
    assert path.is_fifo()
    assert messages_server.posts == []


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda _: b"{", "is not what was recorded"),
        (lambda entry: json.dumps({**json.loads(entry), "text": "5 of 5"}).encode(), "not one JSON document"),
        (lambda entry: entry.replace(b"end_turn", b"max_tokens"), "cut off"),
    ],
    ids=["no-json", "no-answer", "truncated"],
)
def test_a_broken_record_is_an_error_that_names_its_file(
    messages_server: MessagesServer, options: ClientOptions, change: Callable[[bytes], bytes], part: str
) -> None:
    reply_to(options)
    (path,) = options.store.iterdir()
    path.write_bytes(change(path.read_bytes()))
    (replayed,) = ask([QUESTION], replace(options, mode="replay"), nothing_leaks).replies
    assert replayed.kind in {"invalid", "truncated"}
    assert str(path) in replayed.message
    assert part in replayed.message
    assert len(messages_server.posts) == 1


def test_a_record_that_leaks_now_is_not_shown(messages_server: MessagesServer, options: ClientOptions) -> None:
    reply_to(options)
    replay = replace(options, mode="replay")
    assert ask([QUESTION], replay, lambda text: "17 of 17" in text).replies[0].kind == "leak"
    assert ask([QUESTION], replay, lambda text: text == PROMPT).replies[0].kind == "leak"
    assert len(messages_server.posts) == 1


def test_a_store_that_cannot_be_written_is_a_warning_and_the_verdict_stands(
    messages_server: MessagesServer, options: ClientOptions, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    verdicts = ask(FOUR, replace(options, store=tmp_path / "file"), nothing_leaks)
    assert {reply.kind for reply in verdicts.replies} == {None}
    (warning,) = verdicts.warnings
    assert "cannot be recorded" in warning
    assert len(messages_server.posts) == 4


# What nobody may see, and how a run ends.

SCRIPT = """
import sys, logging
from pathlib import Path
from gitleaks_eval.judges.model.client import ask
from gitleaks_eval.judges.model.question import ClientOptions, Question
mode, model, store, *prompts = sys.argv[1:]
options = ClientOptions(mode, model, Path(store), 20.0, 40, "trace-1")
for prompt in prompts:
    question = Question("accuracy", prompt, ("expected_found", "placement", "labels"))
    for reply in ask([question], options, lambda text: False).replies:
        print(reply)
"""


def run(
    server: MessagesServer, options: ClientOptions, prompts: Sequence[str], tail: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", SCRIPT + tail, options.mode, options.model, str(options.store)]
    variables = {**os.environ, **server.environment(options.store / "none"), **environment}
    return subprocess.run([*command, *prompts], env=variables, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_neither_prompt_nor_key_nor_an_unbelieved_reply_is_logged(
    messages_server: MessagesServer, options: ClientOptions
) -> None:
    # By the last word of the prompt; one process asks all of them, because it takes two seconds to import the SDK.
    behaviours = {"good": good(), "bad": failing(400), "shape": sent({"ok": 1}), "range": good(score=99)}

    def prompt_of(request: Recorded) -> str:
        return str(request.body["messages"][0]["content"])

    def behave(handler: Handler, request: Recorded) -> None:
        behaviours[prompt_of(request).rpartition(" ")[2]](handler, request)

    messages_server.always = behave
    prompts = [f"{PROMPT} {name}" for name in behaviours]
    logs = "\nlogging.getLogger('anthropic').debug('the level is the same as before')"
    ended = run(messages_server, options, prompts, logs, ANTHROPIC_LOG="debug", PYTHONASYNCIODEBUG="1")
    assert ended.returncode == 0, ended.stderr
    attempts = Counter(prompt_of(request) for request in messages_server.posts)
    assert [attempts[prompt] in {1, 2} for prompt in prompts] == [True] * 4
    output = ended.stdout + ended.stderr
    # The SDK's set-up for its other users is left as it was.
    assert "the level is the same as before" in ended.stderr
    assert PROMPT not in output
    assert messages_server.key not in output
    assert "authorization" not in output.lower()
    replies = ended.stdout.splitlines()
    assert ["kind=None" in reply for reply in replies] == [True, False, False, False]
    assert ["The findings match" in reply for reply in replies] == [True, False, False, False]
    assert "The findings match" not in ended.stderr


def test_a_logger_of_the_users_own_level_is_silent_meanwhile_and_then_as_before(
    messages_server: MessagesServer, options: ClientOptions, caplog: pytest.LogCaptureFixture
) -> None:
    inner = logging.getLogger("anthropic._base_client")
    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, inner.name):
        reply_to(options)
        assert [record for record in caplog.records if not record.name.startswith("asyncio")] == []
        inner.debug("heard again")
    assert caplog.messages[-1] == "heard again"
    assert len(messages_server.posts) == 1


def test_replay_imports_neither_the_sdk_nor_what_it_builds_on(
    messages_server: MessagesServer, options: ClientOptions
) -> None:
    reply_to(options)
    names = "\nprint('imported', sorted({name.partition('.')[0] for name in sys.modules}))"
    ended = run(messages_server, replace(options, mode="replay"), [PROMPT], names, ANTHROPIC_API_KEY="")
    assert "score=4" in ended.stdout, ended.stderr
    imported = ended.stdout.partition("imported ")[2]
    assert "'gitleaks_eval'" in imported
    for name in ("anthropic", "pydantic", "anyio", "httpx", "httpx2", "asyncio"):
        assert f"'{name}'" not in imported
    assert len(messages_server.posts) == 1


def test_without_the_extra_the_way_to_install_it_is_named(
    messages_server: MessagesServer, options: ClientOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "gitleaks_eval.judges.model.transport", raising=False)
    monkeypatch.delattr("gitleaks_eval.judges.model.transport", raising=False)
    monkeypatch.setitem(sys.modules, "anthropic", None)
    reply = reply_to(options)
    assert reply.kind == "transport"
    assert "gitleaks-eval[judges]" in reply.message
    assert messages_server.requests == []


def test_ctrl_c_ends_the_wait_and_shows_no_prompt(messages_server: MessagesServer, options: ClientOptions) -> None:
    messages_server.always = hanging
    main = threading.get_ident()

    def interrupt() -> None:
        while not messages_server.posts:
            time.sleep(0.01)
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        ask([QUESTION], options, nothing_leaks)
    thread.join()
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert PROMPT not in shown
    assert messages_server.key not in shown
    assert not messages_server.closed.is_set()
