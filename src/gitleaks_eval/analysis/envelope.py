"""The two formats of an analysis, the Caldera envelope and the legacy one: read, validate, look into.

Every accessor of `Analysis` takes a malformed value for what it is: the check that asked fails with a
message that says where the value stands; no check crashes.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gitleaks_eval.core.documents import DocumentError, parse_json, read_input
from gitleaks_eval.core.errors import CheckFailed, EvaluationError, unreadable
from gitleaks_eval.core.schema import schema_problems

TOOL = "gitleaks"
SCHEMA_VERSION = "1.0.0"

_KINDS = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}


@dataclass(frozen=True, slots=True)
class Analysis:
    """One analysed repository: the whole document, and its results in one view for both formats.

    `results` is the envelope's `data` (its `metadata` fills in `schema_version` and `timestamp`), or the
    legacy format's `results` (the root fills them in; `generated_at` is the timestamp).
    """

    document: Mapping[str, Any]
    results: Mapping[str, Any]
    # What was made of the findings, by name: they may be 200,000, and nine checks ask.
    _known: dict[str, Any] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        """Short, because pytest shows fixtures in tracebacks and a document may have 100 MB."""
        return f"<Analysis with {len(self.results)} result fields>"

    def count(self, name: str, default: float = 0) -> float:
        """Return a number of the summary: a count, or `scan_time_ms` in milliseconds; missing reads as `default`.

        Raises:
            CheckFailed: when it is there and is not a finite number of zero or more.
        """
        return _number(self.results.get(name, default), name)

    def findings(self) -> list[Mapping[str, Any]]:
        """Return the findings, in the order of the report; a missing list is empty.

        Raises:
            CheckFailed: when it is no list, or holds something that is no object.
        """
        if "findings" not in self._known:
            findings = self.results.get("findings", [])
            if not isinstance(findings, list):
                raise CheckFailed(f"findings is {_kind(findings)}, not a list")
            if wrong := _first_other(findings, dict):
                raise CheckFailed(f"findings[{wrong[0]}] is {_kind(wrong[1])}, not an object")
            self._known["findings"] = findings
        known: list[Mapping[str, Any]] = self._known["findings"]
        return known

    def fingerprints(self) -> list[str]:
        """`file:rule:line` of each finding, in the order of the findings.

        Raises:
            CheckFailed: as `findings`.
        """
        if "fingerprints" not in self._known:
            self._known["fingerprints"] = list(map(fingerprint, self.findings()))
        known: list[str] = self._known["fingerprints"]
        return known

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return a map of the results (`secrets_by_rule`, `files`, `directories`); a missing one is empty.

        Raises:
            CheckFailed: when it is there and is no object.
        """
        value = self.results.get(name, {})
        if not isinstance(value, dict):
            raise CheckFailed(f"{name} is {_kind(value)}, not an object")
        return value

    def rule_counts(self) -> dict[str, float]:
        """Return findings by rule id, from `secrets_by_rule`.

        Raises:
            CheckFailed: when a count is malformed.
        """
        return {
            rule: _number(count, f"secrets_by_rule[{rule!r}]")
            for rule, count in self.mapping("secrets_by_rule").items()
        }

    def directories(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the directories with their metrics.

        Raises:
            CheckFailed: when one of them is no object.
        """
        for path, metrics in self.mapping("directories").items():
            if not isinstance(metrics, dict):
                raise CheckFailed(f"directories[{path!r}] is {_kind(metrics)}, not an object")
            yield path, metrics

    def directory_counts(self, *names: str) -> dict[str, dict[str, float]]:
        """These counts of each directory, which may be negative (RV-3 looks for that); missing reads as 0.

        Raises:
            CheckFailed: when a directory is no object, or a count no finite number.
        """
        return {
            path: {name: _directory_count(path, metrics, name) for name in names}
            for path, metrics in self.directories()
        }

    def problems(self) -> list[str]:
        """Return what the document lacks to be a valid envelope or legacy document (OQ-1), in a stable order."""
        name = "envelope" if isinstance(self.document.get("data"), dict) else "legacy_analysis"
        return schema_problems(name, self.document)

    def paths(self) -> list[str]:
        """Return the file path of each finding that has one.

        Raises:
            CheckFailed: when a path is there and is no string.
        """
        paths = [finding.get("file_path", "") for finding in self.findings()]
        if wrong := _first_other(paths, str):
            raise CheckFailed(f"findings[{wrong[0]}].file_path is {_kind(wrong[1])}, not a string")
        return list(filter(None, paths))


def fingerprint(finding: Mapping[str, Any]) -> str:
    """`file:rule:line`, the identity of a finding in the requirements (SA-10)."""
    return f"{finding.get('file_path')}:{finding.get('rule_id')}:{finding.get('line_number')}"


def read_analysis(path: Path) -> Analysis:
    """Read an analysis from a file.

    Raises:
        EvaluationError: when it cannot be read, is no JSON, no object, or has neither `data` nor `results`.
    """
    try:
        document = parse_json(read_input(path), any_number=True)
    except OSError as error:
        raise unreadable("analysis", path, error) from None
    except DocumentError as error:
        raise EvaluationError(f"analysis {path}: {error}") from None
    return as_analysis(document, f"analysis {path}")


def as_analysis(document: object, source: str) -> Analysis:
    """Look at a parsed document as an analysis; `source` names it in errors.

    Raises:
        EvaluationError: when it is no object, or neither its `data` nor its `results` is one.
    """
    if not isinstance(document, dict):
        raise EvaluationError(f"{source}: is {_kind(document)}, not an object")
    data, results = document.get("data"), document.get("results")
    if isinstance(data, dict):
        metadata = document.get("metadata")
        return Analysis(document, _filled_in(data, metadata, "timestamp"))
    if isinstance(results, dict):
        return Analysis(document, _filled_in(results, document, "generated_at"))
    raise EvaluationError(f"{source}: neither `data` (Caldera envelope) nor `results` (legacy format) is an object")


def _filled_in(results: dict[str, Any], outer: object, timestamp: str) -> Mapping[str, Any]:
    filled = dict(results)
    if isinstance(outer, dict):
        for name, source in (("schema_version", "schema_version"), ("timestamp", timestamp)):
            if source in outer:
                filled.setdefault(name, outer[source])
    return filled


def _directory_count(path: str, metrics: Mapping[str, Any], name: str) -> float:
    value = metrics.get(name, 0)
    if not _is_number(value):
        raise CheckFailed(f"directories[{path!r}].{name} is {_kind(value)}, not a number")
    return float(value) if isinstance(value, float) else int(value)


def _first_other(values: list[Any], kind: type) -> tuple[int, Any] | None:
    """Return the first of values from JSON that is of another type, with its index."""
    if set(map(type, values)) <= {kind}:
        return None
    return next((index, value) for index, value in enumerate(values) if type(value) is not kind)


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    # An integer that no float holds would end in an OverflowError wherever it is divided.
    return abs(value) <= sys.float_info.max


def _number(value: Any, name: str) -> float:
    if not _is_number(value):
        raise CheckFailed(f"{name} is {_kind(value)}, not a number")
    if value < 0:
        raise CheckFailed(f"{name} is negative: {value}")
    return value  # type: ignore[no-any-return]  # checked to be a number just above


def _kind(value: object) -> str:
    return _KINDS.get(type(value)) or f"the number {_shown(value)}"


def _shown(number: object) -> str:
    text = str(number)
    return text if len(text) <= 40 else f"{text[:20]}… ({len(text)} digits)"
