"""The options and settings of the judges, read into one frozen value."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.options import Given, Root, given
from gitleaks_eval.judges.material import MODES, REAL_WORLD
from gitleaks_eval.judges.model.models import resolve_model
from gitleaks_eval.judges.model.prices import Price, load_prices
from gitleaks_eval.judges.model.store import checked_store
from gitleaks_eval.judges.verdict import CAP_IT, EXCLUDE, FLAG

LLM, HEURISTIC, REPLAY = "llm", "heuristic", "replay"
AUTO = "auto"
DEFAULT_MODEL = "opus-4.5"
STORE = "judge-store"
ADVISORY, GATE = "advisory", "gate"
MOST_SAMPLES = 25
_HOW_OFTEN = f"a whole number from 1 to {MOST_SAMPLES}"


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """How the judges judge: `mode` is `llm`, `heuristic` or `replay`, `evaluation_mode` what they judge.

    `models` are as the user named them; each is asked `samples` times. Times are in seconds, `pass_score` is 1 to 5.
    `prices` are by full id, and `max_cost` is in US dollars. `real_world` says whether verdicts on real repositories
    decide (`gate`). `prompts` is a folder of own templates; `real_paths` shows paths of real repositories in prompts,
    which otherwise see their features.
    """

    mode: str = LLM
    models: tuple[str, ...] = (DEFAULT_MODEL,)
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
    samples: int = 1
    real_world: str = ADVISORY
    prices: Mapping[str, Price] = field(default_factory=dict)
    max_cost: float | None = None

    @property
    def model(self) -> str | None:
        """The names of the models that are asked, in one text; None where none is."""
        return None if self.mode == HEURISTIC else ", ".join(self.models)

    @property
    def prices_as_of(self) -> str | None:
        """The day of the oldest price of a model that is asked; None where no price is known."""
        priced = {price.as_of for name in self.models if (price := self.prices.get(resolve_model(name)))}
        return min(priced, default=None)

    def is_advisory(self, mode: str) -> bool:
        """Return whether verdicts of an evaluation mode leave the exit status alone."""
        return mode == REAL_WORLD and self.real_world == ADVISORY


def read_judge_settings(root: Root, output: Path) -> JudgeSettings:
    """Read them from the command line, else from the ini file, else the defaults; the store is below `output`.

    Raises:
        InputError: when a value is none of those that there are, or a folder is missing.
    """
    own = given(root, "judge_prices", ini_only=True)
    mode = _one_of(given(root, "judge_mode"), (LLM, HEURISTIC, REPLAY), LLM)
    models = _models(given(root, "judge_model"))
    prices = load_prices(own.path()) if own else load_prices()
    return JudgeSettings(
        mode=mode,
        models=models,
        samples=int(_number(given(root, "judge_samples"), 1, _HOW_OFTEN, least=1, most=MOST_SAMPLES, whole=True)),
        real_world=_one_of(given(root, "judge_real_world"), (ADVISORY, GATE), ADVISORY),
        prices=prices,
        max_cost=_max_cost(given(root, "judge_max_cost"), mode, models, prices),
        store=_store(given(root, "judge_store"), output / STORE, mode),
        evaluation_mode=_one_of(given(root, "evaluation_mode"), (AUTO, *MODES), AUTO),
        timeout_seconds=_number(given(root, "judge_timeout", ini_only=True), 120, "a number of seconds above zero"),
        max_calls=int(
            _number(given(root, "judge_max_calls", ini_only=True), 40, "a whole number above zero", whole=True)
        ),
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


def _store(value: Given | None, default: Path, mode: str) -> Path:
    if value is None:
        return default if mode == HEURISTIC else checked_store(default, "--gitleaks-judge-store (by default)")
    if "://" in value.value:
        # Such a text may hold a password.
        raise InputError(f"{value.named_by}: is an address; replies are kept in a folder: name one")
    return checked_store(value.path(), value.named_by)


def _models(value: Given | None) -> tuple[str, ...]:
    names = tuple(map(str, value.value)) if value else (DEFAULT_MODEL,)
    resolved = [resolve_model(name) for name in names]
    if value and len(set(resolved)) < len(resolved):
        raise InputError(f"{value.named_by} {' '.join(names)}: a model is named twice; each is asked once a sample")
    return names


def _max_cost(value: Given | None, mode: str, models: Sequence[str], prices: Mapping[str, Price]) -> float | None:
    if value is None:
        return None
    unpriced = [name for name in models if resolve_model(name) not in prices]
    if mode == LLM and unpriced:
        raise InputError(
            f"{value.named_by}: the price of {', '.join(unpriced)} is unknown, so nothing could be held to it; "
            "add it to a file of prices that ini gitleaks_judge_prices names, or choose another --gitleaks-judge-model"
        )
    return _number(value, 0, "an amount in US dollars above zero")


def _number(  # noqa: PLR0913 - its bounds, each under its name
    value: Given | None,
    default: float,
    what: str,
    *,
    least: float = 0,
    most: float = math.inf,
    whole: bool = False,
) -> float:
    if value is None:
        return default
    number = _as_number(value.value)
    if not (0 < number < math.inf and least <= number <= most) or (whole and number != int(number)):
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
