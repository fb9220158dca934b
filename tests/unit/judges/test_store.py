"""The replay store: the same request finds its reply, another one does not, and a broken entry is an error."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.options import Root
from gitleaks_eval.judges.model.message import Message, request_body
from gitleaks_eval.judges.model.store import entry_path, key, load, save
from gitleaks_eval.judges.settings import HEURISTIC, LLM, REPLAY, read_judge_settings

MESSAGE = Message('{"score": 4}\n\u2028é', "claude-opus-5-5", "end_turn", 1200, None)
BODY = request_body("What about this?", "claude-opus-5-5", ["a", "b", "c"])


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    save(tmp_path / "new" / "store", "name", MESSAGE)
    assert load(tmp_path / "new" / "store", "name") == MESSAGE


def test_what_was_never_saved_is_a_miss(tmp_path: Path) -> None:
    save(tmp_path, "name", MESSAGE)
    assert load(tmp_path, "other") is None
    assert load(tmp_path / "nowhere", "name") is None


def test_an_entry_holds_text_usage_model_and_stop_reason_only(tmp_path: Path) -> None:
    save(tmp_path, "name", MESSAGE)
    entry = json.loads(entry_path(tmp_path, "name").read_text(encoding="ascii"))
    assert set(entry) == {"text", "usage", "model", "stop_reason"}
    assert [path.name for path in tmp_path.iterdir()] == ["name.json"]


def test_an_entry_is_the_same_file_each_time(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        save(tmp_path / folder, "name", MESSAGE)
    assert entry_path(tmp_path / "a", "name").read_bytes() == entry_path(tmp_path / "b", "name").read_bytes()


def test_the_key_is_the_hash_of_the_whole_body() -> None:
    assert len(key(BODY)) == 64
    others = [
        request_body("What about that?", "claude-opus-5-5", ["a", "b", "c"]),
        request_body("What about this?", "claude-opus-5", ["a", "b", "c"]),
        request_body("What about this?", "claude-opus-5-5", ["a", "b", "d"]),
        {**BODY, "max_tokens": 1024},
    ]
    assert len({key(body) for body in [BODY, *others]}) == 5


def test_the_order_of_keys_in_a_body_does_not_matter() -> None:
    assert key(dict(reversed(BODY.items()))) == key(BODY)


def test_a_prompt_with_half_a_character_has_a_key_and_can_be_sent() -> None:
    body = request_body("path \udce9", "claude-opus-5-5", [])
    assert key(body) == key(request_body("path \\udce9", "claude-opus-5-5", []))
    json.dumps(body, ensure_ascii=False).encode()


GOOD_ENTRY = {"text": "x", "usage": {"input_tokens": 1, "output_tokens": 1}, "model": "m", "stop_reason": "end_turn"}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        json.dumps(GOOD_ENTRY).encode()[:-1],
        json.dumps({**GOOD_ENTRY, "text": None}).encode(),
        json.dumps({**GOOD_ENTRY, "usage": None}).encode(),
        json.dumps({**GOOD_ENTRY, "model": 1}).encode(),
        json.dumps({**GOOD_ENTRY, "model": "<b>any text</b>"}).encode(),
        json.dumps({**GOOD_ENTRY, "stop_reason": "any text"}).encode(),
        json.dumps({**GOOD_ENTRY, "error": "x"}).encode(),
        json.dumps({**GOOD_ENTRY, "text": "a" * (1 << 20)}).encode(),
    ],
)
def test_a_broken_entry_is_an_error_that_names_the_file_and_not_a_miss(tmp_path: Path, content: bytes) -> None:
    entry_path(tmp_path, "name").write_bytes(content)
    with pytest.raises(EvaluationError) as caught:
        load(tmp_path, "name")
    assert str(entry_path(tmp_path, "name")) in str(caught.value)
    assert "--gitleaks-judge-mode=llm" in str(caught.value)


def test_a_folder_in_the_place_of_an_entry_is_a_broken_entry(tmp_path: Path) -> None:
    entry_path(tmp_path, "name").mkdir()
    with pytest.raises(EvaluationError, match=r"name\.json: cannot be read: Is a directory"):
        load(tmp_path, "name")


def test_nothing_is_left_of_an_entry_that_could_not_be_written(tmp_path: Path) -> None:
    entry_path(tmp_path, "name").mkdir()
    with pytest.raises(OSError, match="is a folder"):
        save(tmp_path, "name", MESSAGE)
    assert [path.name for path in tmp_path.iterdir()] == ["name.json"]


# Where it is.


def store_of(folder: Path, mode: str, named: str | None) -> Path:
    said: dict[str, Any] = {"gitleaks_judge_mode": mode, "gitleaks_judge_store": named}
    root = Root(folder, None, getini=lambda _: None, getoption=said.get, invocation=folder)
    return read_judge_settings(root, folder / "results").store


@pytest.mark.parametrize("mode", [LLM, HEURISTIC, REPLAY])
@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ("file", "{}/file: is no folder; name a folder"),
        ("file/below", "{}/file/below: cannot be looked into: Not a directory; name a folder"),
        ("closed", "{}/closed: may not be read; name a folder"),
        ("pipe", "{}/pipe: is no folder; name a folder"),
    ],
)
def test_a_store_that_cannot_be_one_is_an_input_error_in_every_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, named: str, problem: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "closed").mkdir()
    os.mkfifo(tmp_path / "pipe")
    # Who runs as root may read everything.
    monkeypatch.setattr(os, "access", lambda path, _: Path(path).name != "closed")
    with pytest.raises(InputError) as caught:
        store_of(tmp_path, mode, named)
    assert str(caught.value).startswith(f"--gitleaks-judge-store {problem.format(tmp_path)}")
    with pytest.raises(InputError) as caught:
        store_of(tmp_path, mode, "s3://user:word@bucket")
    assert str(caught.value) == "--gitleaks-judge-store: is an address; replies are kept in a folder: name one"


def test_a_store_need_not_be_there_yet_and_numbers_alone_need_none_by_default(tmp_path: Path) -> None:
    assert store_of(tmp_path, REPLAY, "new/store") == tmp_path / "new/store"
    (tmp_path / "results").mkdir()
    (tmp_path / "results/judge-store").touch()
    assert store_of(tmp_path, HEURISTIC, None) == tmp_path / "results/judge-store"
    for mode in (LLM, REPLAY):
        with pytest.raises(InputError, match=r"^--gitleaks-judge-store \(by default\) .*is no folder"):
            store_of(tmp_path, mode, None)
