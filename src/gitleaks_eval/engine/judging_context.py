"""What judges are told beside the analyses: kept in the report, so that judges alone put the same questions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gitleaks_eval.core.documents import read_json
from gitleaks_eval.engine.missed import Hidden
from gitleaks_eval.reports.report import REPORT


@dataclass(frozen=True, slots=True)
class Context:
    """The descriptions of rules by id, what hides what is missed, and what the survey says (see `Material`)."""

    descriptions: Mapping[str, str] = field(default_factory=dict)
    hidden: Hidden = field(default_factory=dict)
    coverage: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """The `judge_context` of evaluation_report.json."""
        return {
            "descriptions": dict(self.descriptions),
            "hidden": [[name, *place, text] for (name, place), text in self.hidden.items()],
            "coverage": self.coverage,
        }


def saved_context(folder: Path) -> Context:
    """What the last full run with judges told them, from its report in `folder`; nothing where it had none.

    Raises:
        InputError: when the report cannot be read.
    """
    # It follows its schema: it was looked at when the run began.
    said = read_json(folder / REPORT, "the report").get("judge_context")
    if said is None:
        return Context()
    hidden = {(name, (path, line, rule)): text for name, path, line, rule, text in said["hidden"]}
    return Context(said["descriptions"], hidden, said["coverage"])
