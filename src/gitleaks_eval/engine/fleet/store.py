"""Comparisons of pairs that were made before, by the content that they are of: a folder that several runs may share.

Only what a report may hold is kept, and an entry is believed only while it says of itself what is asked for.
"""

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import gitleaks_eval
from gitleaks_eval.core.documents import LARGEST_JSON, DocumentError, parse_json, read_input, sha256_of
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.files import write_atomically
from gitleaks_eval.engine.fleet.unit import Compared, Job, Pair
from gitleaks_eval.engine.settings.candidates import Candidate
from gitleaks_eval.reports.fleet.repository_rows import read_comparison
from gitleaks_eval.repositories.listed import sha256_of_labels

# Another one where what an entry holds means something else.
FORMAT = 3
_TRUTHS = ("truth_lost", "truth_better")


class Files(Protocol):
    """Where entries are kept: files by name."""

    def read(self, name: str, /) -> bytes | None:
        """Return the content of a file; None where there is none that can be read."""

    def write(self, name: str, content: bytes, /) -> None:
        """Write a file whole or not at all.

        Raises:
            OSError: when it cannot be written.
        """


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of this machine, or one that several share; readable by its owner alone."""

    path: Path

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None where there is none that can be read."""
        try:
            return read_input(self.path / name, LARGEST_JSON)
        except OSError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """Write a file whole or not at all: another run that writes the same one leaves the same content."""
        write_atomically(self.path / name, content, 0o600)


class Nowhere:
    """No files at all: nothing is known, and nothing is kept."""

    def read(self, _name: str) -> bytes | None:
        """Nothing."""
        return None

    def write(self, _name: str, _content: bytes) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True)
class Store:
    """What is known of pairs; `asked` has what each pair is of, beside the state of a repository and its labels.

    A path may hold a secret that a third candidate reports: what is kept is shown only where it is masked by what all
    candidates of this run report.
    """

    files: Files
    asked: dict[Pair, list[Any]]

    def get(self, state: str, labels: Sequence[Path], pair: Pair) -> Compared | None:
        """Return what a pair differs in on a repository in this state; None where that is not known for certain."""
        key = self._key(state, labels, pair)
        content = self.files.read(_name(key))
        if not state or content is None:
            return None
        try:
            entry = parse_json(content)
            said = entry["compared"]
            if entry["key"] != key or entry["sha256"] != _sha256(said):
                return None
            if not self._candidates.keys() <= set(said["masked_by"]):
                return None
            read_comparison(said["document"])
            truths = [said[name] for name in _TRUTHS]
            if not all(isinstance(truth, int) if labels else truth is None for truth in truths):
                return None
            return Compared(pair, said["document"], "", *truths)
        except (DocumentError, LookupError, TypeError, ValueError, AttributeError):
            # Damaged: it is made again, and written over.
            return None

    def put(self, state: str, labels: Sequence[Path], compared: Compared, masked_by: Collection[str]) -> None:
        """Keep what a pair differs in, masked by what these candidates report; nothing where that is not known.

        Raises:
            OSError: when it cannot be written.
        """
        if not state or compared.document is None:
            return
        key = self._key(state, labels, compared.pair)
        masked = sorted(key for key, name in self._candidates.items() if name in masked_by)
        said = {
            "document": compared.document,
            "masked_by": masked,
            **{name: getattr(compared, name) for name in _TRUTHS},
        }
        content = json.dumps({"key": key, "sha256": _sha256(said), "compared": said}, ensure_ascii=True)
        self.files.write(_name(key), content.encode("ascii"))

    @property
    def _candidates(self) -> dict[str, str]:
        """What each candidate of the run is, and its name."""
        sides = (zip(pair, asked[-2:], strict=True) for pair, asked in self.asked.items())
        return {_sha256(side): name for both in sides for name, side in both}

    def _key(self, state: str, labels: Sequence[Path], pair: Pair) -> list[Any]:
        return [*self.asked[pair], state, [sha256_of_labels(path) for path in labels]]


def what_is_asked(job: Job, pairs: Sequence[Pair]) -> dict[Pair, list[Any]]:
    """Return all that a comparison depends on beside the repository, by pair.

    Raises:
        EvaluationError: when a candidate has no scanner.
    """
    settings = job.settings
    try:
        policy = sha256_of(settings.severity_policy)
    except OSError as error:
        raise InputError(f"ini gitleaks_severity_policy: {error.strerror or error}") from None
    sides = {candidate.name: _identity(job, candidate) for candidate in settings.candidates}
    tool = [FORMAT, gitleaks_eval.__version__, policy]
    return {pair: [*tool, *(sides[name] for name in pair)] for pair in pairs}


def _identity(job: Job, candidate: Candidate) -> list[Any]:
    """Return a candidate, and what it is called: causes name it, and the files of its configuration."""
    build = job.shared.benches[candidate.name].build
    if build is None or candidate.configuration is None:
        raise EvaluationError(f"{candidate.name}: there is no scanner")
    return [
        *(candidate.name, build.name, build.version, build.sha256),
        *(candidate.configuration.title(job.settings.root), candidate.configuration.sha256),
        *(candidate.decode_depth, candidate.mode, list(candidate.args), candidate.own_baseline),
    ]


def _name(key: Sequence[Any]) -> str:
    digest = _sha256(key)
    return f"{digest[:2]}/{digest}.json"


def _sha256(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
