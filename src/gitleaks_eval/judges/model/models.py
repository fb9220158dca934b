"""The models that judge: their short names, and whether one can still be used."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import cache
from typing import Any

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.resources import data
from gitleaks_eval.core.text import printable
from gitleaks_eval.judges.model.message import MODEL_ID

MODELS_FILE = data("judge_models.json")
NOTICE = timedelta(days=60)
_OTHER = "choose another with --gitleaks-judge-model"


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a model can be used, and what its user should know about it ("" when nothing)."""

    usable: bool
    message: str = ""


@cache
def model_aliases() -> dict[str, str]:
    """Return the full id of each model by its short name."""
    aliases: dict[str, str] = json.loads(MODELS_FILE.read_text(encoding="utf-8"))
    return aliases


def resolve_model(name: str) -> str:
    """Return the full id of the model called `name`: what the short name stands for, else the name itself.

    Raises:
        InputError: when it cannot be the name of a model.
    """
    model = model_aliases().get(name, name)
    if not MODEL_ID.fullmatch(model):
        raise InputError(
            f"--gitleaks-judge-model: '{printable(name[:128])}' is no name of a model; "
            f"give a full id, or one of {', '.join(sorted(model_aliases()))}"
        )
    return model


def unknown(model: str) -> Standing:
    """Return the standing of a model that the service does not know."""
    return Standing(usable=False, message=f"model {model} is not known: {_OTHER}")


def standing(model: str, document: Any, now: datetime) -> Standing:
    """Return what the Models API says about the use of a model at `now`; `document` is its description.

    The lifecycle decides: a date that has passed on a model that is merely deprecated means that its
    retirement is overdue. Only where no lifecycle is given does the date stand for it.
    """
    if not isinstance(document, dict):
        return Standing(usable=True)
    lifecycle, date = document.get("lifecycle"), _date(document.get("retires_at"))
    overdue = date is not None and date <= now
    if lifecycle == "retired" or (overdue and lifecycle not in {"active", "deprecated"}):
        return Standing(usable=False, message=f"model {model} was retired{_on(date)}: {_OTHER}")
    if overdue:
        return Standing(usable=True, message=f"the retirement of model {model} was due{_on(date)}: {_OTHER}")
    if date is not None and date - now <= NOTICE:
        days = (date - now).days
        return Standing(usable=True, message=f"model {model} retires{_on(date)} (in {days} days): {_OTHER}")
    return Standing(usable=True)


def _date(value: Any) -> datetime | None:
    try:
        # Python 3.10 does not read the Z.
        date = datetime.fromisoformat(value.replace("Z", "+00:00"))
    except (AttributeError, TypeError, ValueError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=timezone.utc)


def _on(date: datetime | None) -> str:
    return f" on {date:%Y-%m-%d}" if date else ""
