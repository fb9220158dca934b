"""Severity is ours, not the scanner's: a policy by rule, path and history, in a data file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gitleaks_eval.core.documents import LARGEST_TEXT, DocumentError, parse_json, read_input
from gitleaks_eval.core.errors import InputError, unreadable
from gitleaks_eval.core.resources import data
from gitleaks_eval.core.schema import schema_problems

SHIPPED_POLICY = data("severity_policy.json")
LEVELS = ("LOW", "MEDIUM", "HIGH", "CRITICAL")


@dataclass(frozen=True, slots=True)
class SeverityPolicy:
    """A base level by rule, one level up on a production path, LOW for what is minor and only in history."""

    default: str
    by_rule: Mapping[str, str]
    production: re.Pattern[str] | None

    def severity(self, rule_id: str, file_path: str, *, in_head: bool) -> str:
        """Return the severity of a finding: `CRITICAL`, `HIGH`, `MEDIUM` or `LOW`."""
        level = LEVELS.index(self.by_rule.get(rule_id, self.default))
        if self.production and self.production.search(file_path):
            level = min(level + 1, len(LEVELS) - 1)
        if not in_head and LEVELS[level] in {"MEDIUM", "LOW"}:
            return "LOW"
        return LEVELS[level]

    def reason(self, rule_id: str, file_path: str, *, in_head: bool) -> str:
        """Return what of the policy gives a finding its severity, in words."""
        level = self.by_rule.get(rule_id)
        said = [f"{rule_id} is {level}" if level else f"a rule that the policy does not name is {self.default}"]
        if self.production and self.production.search(file_path):
            said.append("a production path is one level up")
        if not in_head:
            said.append("what is minor and only in history is LOW")
        return "; ".join(said)


def load_policy(path: Path = SHIPPED_POLICY) -> SeverityPolicy:
    """Load a policy.

    Raises:
        InputError: when the file is missing, unreadable, no JSON, does not follow the schema, or gives a
            rule two levels.
    """
    try:
        return _policy_of(read_input(path, LARGEST_TEXT), path)
    except OSError as error:
        raise unreadable("severity policy", path, error) from None


# Each analysis asks for it, and to check it takes 5 ms.
@lru_cache(maxsize=4)
def _policy_of(content: bytes, path: Path) -> SeverityPolicy:
    try:
        document = parse_json(content)
    except DocumentError as error:
        raise InputError(f"severity policy {path}: {error}") from None
    if problems := schema_problems("severity_policy", document):
        raise InputError(*(f"severity policy {path}: {problem}" for problem in problems[:5]))
    by_rule: dict[str, str] = {}
    for level, rules in document["rules"].items():
        for rule in rules:
            if by_rule.setdefault(rule, level) != level:
                raise InputError(f"severity policy {path}: the rule {rule!r} has two levels")
    return SeverityPolicy(document["default"], by_rule, _at_boundaries(document.get("production_paths", [])))


def _at_boundaries(paths: list[str]) -> re.Pattern[str] | None:
    # `prod/` is not in `nonprod/`, and `config/prod` is not `config/products.py`.
    if not paths:
        return None
    ends = (re.escape(path) + ("" if path.endswith("/") else r"(?=$|[/._-])") for path in paths)
    return re.compile(rf"(?:^|/)(?:{'|'.join(ends)})")
