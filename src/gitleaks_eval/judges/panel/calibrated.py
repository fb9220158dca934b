"""What is known of a model and a prompt: the calibration that the store keeps, and whether it passed."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gitleaks_eval.core.documents import DocumentError, parse_json, read_input
from gitleaks_eval.core.files import write_atomically
from gitleaks_eval.judges.judge import Judge
from gitleaks_eval.judges.model.message import SYSTEM
from gitleaks_eval.judges.prompt import load_template

LARGEST = 1 << 20
# What a judge must reach in each dimension: substantial agreement, which no constant comes near.
FAIL_UNDER = 0.6


def prompt_sha256(judge: Judge, folder: Path | None) -> str:
    """Return the SHA-256, in hex, of what a judge is told: its template and the system message."""
    return hashlib.sha256(f"{SYSTEM}\n{load_template(judge, folder).text}".encode()).hexdigest()


def calibration_path(store: Path, model: str) -> Path:
    """Return where the store keeps the calibration of a model (a full id)."""
    return store / f"calibration-{hashlib.sha256(model.encode()).hexdigest()[:16]}.json"


def keep_calibration(store: Path, model: str, fail_under: float, dimensions: Mapping[str, Any]) -> None:
    """Keep what a calibration of a model came to: by dimension its `prompt_sha256`, `kappa` and whether it `passes`.

    Raises:
        OSError: when it cannot be written.
    """
    document = {"model": model, "fail_under": fail_under, "dimensions": dimensions}
    write_atomically(calibration_path(store, model), (json.dumps(document, indent=2) + "\n").encode("ascii"))


def passing(store: Path, models: Iterable[str], prompts: Mapping[str, str]) -> tuple[frozenset[str], list[str]]:
    """Return the dimensions in which every model passed with these prompts (SHA-256 by dimension), and problems."""
    passed, problems = set(prompts), []
    for model in models:
        path = calibration_path(store, model)
        try:
            dimensions, asked = _dimensions(read_input(path, LARGEST), model)
            if asked < FAIL_UNDER:
                problems.append(f"the calibration of {model} asked for a kappa of {asked} only; {FAIL_UNDER} is usual")
        except (FileNotFoundError, NotADirectoryError):
            dimensions = {}
        except (OSError, DocumentError) as error:
            dimensions = {}
            reason = getattr(error, "strerror", None) or error
            problems.append(f"the calibration {path} is not read ({reason}); remove it and calibrate again")
        passed &= {
            name
            for name, known in dimensions.items()
            if known.get("passes") is True and known.get("prompt_sha256") == prompts.get(name)
        }
    return frozenset(passed), problems


def _dimensions(content: bytes, model: str) -> tuple[Mapping[str, Mapping[str, Any]], float]:
    """Return what a calibration says by dimension, and the kappa that it asked for."""
    document = parse_json(content)
    if not isinstance(document, dict) or document.get("model") != model:
        raise DocumentError("it is no calibration of this model")
    found, asked = document.get("dimensions"), document.get("fail_under")
    if not isinstance(found, dict) or not all(isinstance(dimension, dict) for dimension in found.values()):
        raise DocumentError("it has no dimensions")
    if not isinstance(asked, (int, float)):
        raise DocumentError("it does not say which kappa it asked for")
    return found, asked
