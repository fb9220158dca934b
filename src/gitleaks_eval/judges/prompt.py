"""The prompt of a judge: its template with four placeholders, and what goes into them."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitleaks_eval.core.documents import read_input
from gitleaks_eval.core.errors import InputError, unreadable
from gitleaks_eval.core.text import json_value
from gitleaks_eval.judges.judge import Judge
from gitleaks_eval.judges.material import REAL_WORLD, Material

PLACEHOLDERS = ("evidence", "evaluation_mode", "interpretation_guidance", "synthetic_baseline")
_PLACEHOLDER = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_MARKUP = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})

_SYNTHETIC_GUIDANCE = """\
These repositories were built with planted secrets: what is expected is known exactly. Judge strictly against it. A
missed secret is a real regression, an unexpected finding is a real false positive."""
_REAL_WORLD_GUIDANCE = """\
These are real repositories: nobody knows what they hold. No finding at all may be right. Use the synthetic result as
context: it says what this scanner with this configuration finds where the truth is known. Judge whether what was
reported is plausible, well-formed and actionable, and lower your confidence where the evidence cannot tell."""


@dataclass(frozen=True, slots=True)
class Template:
    """The text of a prompt with its placeholders, and the file that it came from."""

    text: str
    path: Path

    def filled_in(self, values: Mapping[str, str]) -> str:
        """Return the prompt; a placeholder inside a value stays text."""
        return _PLACEHOLDER.sub(lambda found: values[found[1].strip()], self.text)


def load_template(judge: Judge, folder: Path | None = None) -> Template:
    """Return the template of a judge: `<dimension>.md` in the user's folder if it is there, else the judge's own.

    Raises:
        InputError: when it cannot be read, has an unknown placeholder, or does not show the evidence.
    """
    return template_of(judge.dimension, judge.prompts, folder)


def template_of(dimension: str, shipped: Path, folder: Path | None) -> Template:
    """Return the template of a dimension in the user's folder, else in `shipped`; raises as `load_template`."""
    own = folder / f"{dimension}.md" if folder else None
    path = own if own and own.exists() else shipped / f"{dimension}.md"
    try:
        text = read_input(path).decode("utf-8")
    except FileNotFoundError:
        there = f", and there is none in {folder}" if folder else ""
        raise InputError(
            f"the judge {dimension} has no prompt: write {dimension}.md, with {{{{ evidence }}}} in it, "
            f"into the folder that ini gitleaks_judge_prompts names{there}"
        ) from None
    except OSError as error:
        raise unreadable(f"the prompt of the judge {dimension}", path, error) from None
    except ValueError:
        raise InputError(f"the prompt {path}: is not UTF-8") from None
    names = [name.strip() for name in _PLACEHOLDER.findall(text)]
    known = ", ".join(f"{{{{ {name} }}}}" for name in PLACEHOLDERS)
    for name in names:
        if name not in PLACEHOLDERS:
            raise InputError(f"the prompt {path}: the placeholder {{{{ {name} }}}} is not known; there are {known}")
    if "evidence" not in names:
        raise InputError(f"the prompt {path}: has no {{{{ evidence }}}}, so the judge would see nothing; add it")
    return Template(text, path)


def render(template: Template, evidence: Mapping[str, Any], material: Material) -> str:
    """Return the prompt for this material, the same to the byte for the same material."""
    baseline = "none: this is it" if material.mode != REAL_WORLD else "none"
    return template.filled_in(
        {
            "evidence": as_data(evidence),
            "evaluation_mode": material.mode,
            "interpretation_guidance": _REAL_WORLD_GUIDANCE if material.mode == REAL_WORLD else _SYNTHETIC_GUIDANCE,
            "synthetic_baseline": as_data(material.baseline) if material.baseline else baseline,
        }
    )


def as_data(values: Mapping[str, Any]) -> str:
    """Return JSON that cannot end the element it stands in: no tag, no control, no bidirectional text, ASCII only."""
    return json.dumps(json_value(values), indent=1, sort_keys=True, ensure_ascii=True).translate(_MARKUP)
