"""The only place that runs a scanner, and the judgement whether a scan counts."""

import json
import os
import re
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitleaks_eval.errors import EvaluationError
from gitleaks_eval.escaping import printable
from gitleaks_eval.git import Readable, git_environment
from gitleaks_eval.gitleaks import IGNORE_ALLOW, ScannerBuild
from gitleaks_eval.process import Finished, run_limited

# Exit code 1 means leaks or an error; with a code of our own for leaks, 1 is always an error.
LEAKS_FOUND = 42
_REQUIRED = {"RuleID": str, "File": str, "StartLine": int, "Secret": str, "Match": str, "Commit": str}
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_COMMITS = re.compile(r"\b(\d+) commits scanned")
_BYTES = re.compile(r"scanned ~(\d+) bytes")
_ERROR_LINE = re.compile(r" (FTL|ERR) |^panic:")
_LONG_WORD = re.compile(r"\S{16,}")
_GIT_FAILED = re.compile(r"partial scan|stderr is not empty|git error encountered|\[git\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Scan:
    """What the scanner reported: its findings as they are (with raw secrets), and how it says it read them.

    `commits` and `added_bytes` are None where the build does not report them.
    """

    findings: list[dict[str, Any]]
    duration_ms: float
    commits: int | None
    added_bytes: int | None

    def __repr__(self) -> str:
        """Without the findings: they hold raw secrets, and tracebacks show values."""
        return f"<Scan with {len(self.findings)} findings>"


@dataclass(frozen=True, slots=True)
class Scanner:
    """A build with the configuration under test; `scratch` is where each scan has a private folder."""

    build: ScannerBuild
    config: Path
    scratch: Path
    timeout_seconds: float
    stop: threading.Event

    def scan(self, repository: Path, *, obey_allow: bool = True) -> Scan:
        """Scan the whole history of a repository.

        Without `obey_allow`, comments that allow a secret hide nothing, where the build can be told so.

        Raises:
            EvaluationError: when the scan failed, or its report or exit code cannot be believed.
        """
        with _private_folder(self.scratch) as folder:
            report = folder / "report.json"
            done = run_limited(
                [*self._command(repository, report), *self._allow_options(obey_allow=obey_allow)],
                folder,
                {**git_environment(), "TMPDIR": str(folder), "XDG_CONFIG_HOME": str(folder)},
                self.timeout_seconds,
                self.stop,
            )
            findings = _read_report(report, done)
        log = _ANSI.sub("", done.stderr + done.stdout)
        if failed := _GIT_FAILED.search(log):
            raise EvaluationError(f"its log says that reading the repository failed ({failed[0]!r})")
        commits, added = _COMMITS.search(log), _BYTES.search(log)
        return Scan(findings, done.duration_ms, int(commits[1]) if commits else None, int(added[1]) if added else None)

    def _allow_options(self, *, obey_allow: bool) -> list[str]:
        return [IGNORE_ALLOW] if self.build.ignores_allow and not obey_allow else []

    def _command(self, repository: Path, report: Path) -> list[str]:
        source = [str(repository)] if self.build.command == "git" else ["--source", str(repository)]
        depth = self.build.decode_depth
        return [
            self.build.path,
            self.build.command,
            *source,
            "--config",
            str(self.config),
            "--report-format",
            "json",
            "--report-path",
            str(report),
            "--exit-code",
            str(LEAKS_FOUND),
            "--log-level",
            "info",
            "--no-banner",
            *(() if depth is None else ("--max-decode-depth", str(depth))),
        ]


def unread(scan: Scan, there: Readable) -> str | None:
    """Why the scan cannot have read what git says is there, or None when it has.

    Builds differ in what they count (upstream detect/git.go): a scan has to agree with one way of counting, whole.
    """
    if scan.commits is None and scan.added_bytes is None:
        return "it says neither how many commits nor how many bytes it read"
    ways = (
        (there.commits_with_text, there.added_bytes),
        (there.commits_with_changes, there.added_bytes_up_to_8_26),
        (there.commits_up_to_8_20, there.added_bytes_up_to_8_26),
    )
    least = [added for commits, added in ways if scan.commits in {commits, None}]
    if not least:
        numbers = " or ".join(map(str, sorted({commits for commits, _ in ways})))
        return f"it reports {scan.commits} commits scanned, and git has {numbers} to scan"
    if scan.added_bytes is not None and scan.added_bytes < min(least):
        return f"it reports {scan.added_bytes} bytes scanned, and git has {min(least)} to scan"
    return None


@contextmanager
def _private_folder(scratch: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="scan-", dir=scratch))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read_report(report: Path, done: Finished) -> list[dict[str, Any]]:
    if done.status not in {0, LEAKS_FOUND}:
        ended = f"exit code {done.status}" if done.status >= 0 else f"signal {-done.status}"
        raise EvaluationError(f"ended with {ended}{_last_words(done)}")
    try:
        # Opening a pipe would wait for ever, and a link could name any file.
        if not stat.S_ISREG(report.lstat().st_mode):
            raise EvaluationError("wrote a report that is no regular file")
        with report.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            findings = json.loads(file.read(), parse_constant=_no_number) if size else None
    except OSError:
        problem = "wrote no report"
    except (ValueError, RecursionError):
        problem = "wrote a report that is not JSON"
    else:
        # betterleaks writes `null` for no findings; an empty file is no report at all.
        findings = [] if findings is None and size else findings
        return _believable(findings, done)
    raise EvaluationError(f"ended with exit code {done.status} and {problem}")


def _no_number(name: str) -> None:
    # NaN and Infinity are Python's extension: no Gitleaks writes them.
    raise ValueError(name)


def _believable(findings: object, done: Finished) -> list[dict[str, Any]]:
    if not isinstance(findings, list):
        raise EvaluationError("wrote a report that is not a list of findings")
    for index, finding in enumerate(findings):
        if not isinstance(finding, dict) or not _has(finding, _REQUIRED):
            raise EvaluationError(
                f"wrote a report whose entry {index} is no finding of Gitleaks ({', '.join(_REQUIRED)})"
            )
    if bool(findings) != (done.status == LEAKS_FOUND):
        raise EvaluationError(
            f"reported {len(findings)} findings and ended with exit code {done.status}: they contradict each other"
        )
    return findings


def _has(finding: Mapping[str, Any], required: Mapping[str, type]) -> bool:
    return all(type(finding.get(name)) is kind for name, kind in required.items())


def _last_words(done: Finished) -> str:
    # Only the scanner's own error lines: anything else in its log may quote what it scanned.
    lines = [line.strip() for line in _ANSI.sub("", done.stderr).splitlines() if _ERROR_LINE.search(line)]
    # A long word may be a secret, of this run or of another; the sentence is enough.
    return f": {_LONG_WORD.sub('…', printable(lines[-1]))[:200]}" if lines else ""
