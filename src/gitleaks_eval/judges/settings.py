"""The options and settings of the judges, read into one frozen value."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.options import Given, Root, given
from gitleaks_eval.judges.material import MODES
from gitleaks_eval.judges.models import resolve_model
from gitleaks_eval.judges.verdict import CAP_IT, EXCLUDE, FLAG

LLM, HEURISTIC, REPLAY = "llm", "heuristic", "replay"
AUTO = "auto"
DEFAULT_MODEL = "opus-4.5"
STORE = "judge-store"


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """How the judges judge: `mode` is `llm`, `heuristic` or `replay`, `evaluation_mode` what they judge.

    `model` is as the user named it; times are in seconds, `pass_score` is 1 to 5. `prompts` is a folder of
    own templates; `real_paths` shows paths of real repositories in prompts, which otherwise see their features.
    """

    mode: str = LLM
    model: str = DEFAULT_MODEL
    store: Path = Path(STORE)
    evaluation_mode: str = AUTO
    timeout_seconds: float = 120
    max_calls: int = 40
    low_confidence: str = FLAG
    pass_score: float = 3
    prompts: Path | None = None
    trace_id: str | None = None
    observability: bool = True
    real_paths: bool = False


def read_judge_settings(root: Root, output: Path) -> JudgeSettings:
    """Read them from the command line, else from the ini file, else the defaults; the store is below `output`.

    Raises:
        InputError: when a value is none of those that there are, or a folder is missing.
    """
    store = given(root, "judge_store")
    return JudgeSettings(
        mode=_one_of(given(root, "judge_mode"), (LLM, HEURISTIC, REPLAY), LLM),
        model=_model(given(root, "judge_model")),
        store=store.path() if store else output / STORE,
        evaluation_mode=_one_of(given(root, "evaluation_mode"), (AUTO, *MODES), AUTO),
        timeout_seconds=_number(given(root, "judge_timeout", ini_only=True), 120, "a number of seconds above zero"),
        max_calls=int(_number(given(root, "judge_max_calls", ini_only=True), 40, "a whole number above zero")),
        low_confidence=_one_of(given(root, "judge_low_confidence", ini_only=True), (FLAG, EXCLUDE, CAP_IT), FLAG),
        pass_score=_number(given(root, "judge_pass_score", ini_only=True), 3, "a score from 1 to 5", least=1, most=5),
        prompts=_folder(given(root, "judge_prompts", ini_only=True)),
        trace_id=_text(given(root, "judge_trace_id", ini_only=True)),
        observability=bool(root.getini("gitleaks_judge_observability")),
        real_paths=bool(root.getini("gitleaks_judge_real_paths")),
    )


def _one_of(value: Given | None, choices: Sequence[str], default: str) -> str:
    if value is None:
        return default
    if value.value not in choices:
        raise InputError(f"{value.named_by} {value.value!r}: there are {', '.join(choices)}")
    return str(value.value)


def _model(value: Given | None) -> str:
    name = str(value.value) if value else DEFAULT_MODEL
    resolve_model(name)
    return name


def _number(value: Given | None, default: float, what: str, *, least: float = 0, most: float = math.inf) -> float:
    if value is None:
        return default
    number = _as_number(value.value)
    if not (0 < number < math.inf and least <= number <= most):
        raise InputError(f"{value.named_by} {value.value!r}: not {what}")
    return number


def _as_number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _folder(value: Given | None) -> Path | None:
    if value is None:
        return None
    if not value.path().is_dir():
        raise InputError(f"{value.named_by} {value.path()}: is no folder; name one with <dimension>.md files")
    return value.path()


def _text(value: Given | None) -> str | None:
    if value is None:
        return None
    text = str(value.value)
    if not text.isprintable() or len(text) > 200:
        raise InputError(f"{value.named_by} {text!r}: not a short text without controls")
    return text
