"""The replay store: a folder with one file a reply, named by the hash of what was asked and the sample's number."""

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gitleaks_eval.core.documents import DocumentError, parse_json, read_input
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.files import write_atomically
from gitleaks_eval.judges.model.message import MODEL_ID, STOP_REASON, Message, tokens

LARGEST = 1 << 20


def checked_store(path: Path, named_by: str) -> Path:
    """Return the folder of a store, which need not be there yet; `named_by` is the option that names it.

    Raises:
        InputError: when it is something else, or cannot be looked into.
    """
    advice = "name a folder for replies, or one that has them"
    try:
        is_folder = stat.S_ISDIR(path.stat().st_mode)
    except FileNotFoundError:
        return path
    except OSError as error:
        raise InputError(f"{named_by} {path}: cannot be looked into: {error.strerror}; {advice}") from None
    if not is_folder:
        raise InputError(f"{named_by} {path}: is no folder; {advice}")
    if not os.access(path, os.R_OK | os.X_OK):
        raise InputError(f"{named_by} {path}: may not be read; {advice}, or give yourself the right to read it")
    return path


def key(body: Mapping[str, Any], sample: int = 0) -> str:
    """Return the name of a request in the store: SHA-256, in hex, of its body and sample as canonical JSON."""
    canonical = json.dumps([body, sample], sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def entry_path(folder: Path, name: str) -> Path:
    """Return where the reply to the request `name` stands."""
    return folder / f"{name}.json"


def save(folder: Path, name: str, message: Message) -> None:
    """Keep a reply, whole or not at all; one that is there was paid for, and is never written over.

    Raises:
        OSError: when the folder or the file cannot be written.
    """
    entry = {
        "model": message.model,
        "stop_reason": message.stop_reason,
        "text": message.text,
        "usage": {"input_tokens": message.input_tokens, "output_tokens": message.output_tokens},
    }
    if not entry_path(folder, name).is_file():
        write_atomically(entry_path(folder, name), (json.dumps(entry, indent=2) + "\n").encode("ascii"))


def load(folder: Path, name: str) -> Message | None:
    """Return the reply to the request `name`, or None when it was never recorded.

    Raises:
        EvaluationError: when there is an entry and it is broken.
    """
    path = entry_path(folder, name)
    try:
        content = read_input(path, LARGEST)
    except (FileNotFoundError, NotADirectoryError):
        # Where the store itself is no folder, that nothing can be kept is told.
        return None
    except OSError as error:
        raise _broken(path, f"cannot be read: {error.strerror or type(error).__name__}") from None
    message = _message(content)
    if message is None:
        raise _broken(path, "is not what was recorded")
    return message


def _broken(path: Path, problem: str) -> EvaluationError:
    return EvaluationError(f"replay store: {path}: {problem}; move it away, and --gitleaks-judge-mode=llm asks anew")


def _message(content: bytes) -> Message | None:
    try:
        entry = parse_json(content)
    except DocumentError:
        return None
    if not isinstance(entry, dict) or set(entry) != {"model", "stop_reason", "text", "usage"}:
        return None
    texts, usage = (entry["text"], entry["model"], entry["stop_reason"]), entry["usage"]
    if not all(isinstance(text, str) for text in texts) or not isinstance(usage, dict):
        return None
    if not MODEL_ID.fullmatch(entry["model"]) or not STOP_REASON.fullmatch(entry["stop_reason"]):
        return None
    return Message(*texts, tokens(usage.get("input_tokens")), tokens(usage.get("output_tokens")))
