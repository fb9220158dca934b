"""The only place that runs a scanner, and the judgement whether a scan counts."""

import os
import re
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from gitleaks_eval.core.documents import LARGEST_JSON, DocumentError, parse_json
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.process import Finished, run_limited
from gitleaks_eval.core.text import numbered
from gitleaks_eval.repositories.cache import BuiltRepository
from gitleaks_eval.repositories.git import git_environment
from gitleaks_eval.repositories.head import write_head
from gitleaks_eval.repositories.log import LOG, LOG_WITH_OPTIONS, Readable, readable
from gitleaks_eval.repositories.staging import stage, staged_diff
from gitleaks_eval.scanners import IGNORE_FILES
from gitleaks_eval.scanners.arguments import log_options
from gitleaks_eval.scanners.build import ScannerBuild
from gitleaks_eval.scanners.crashes import count_scan, keep_crash
from gitleaks_eval.scanners.dates import moved
from gitleaks_eval.scanners.load_errors import Refused, load_error, words_of

# Exit code 1 means leaks or an error; with a code of our own for leaks, 1 is always an error.
LEAKS_FOUND = 42
_REQUIRED = {"RuleID": str, "File": str, "StartLine": int, "Secret": str, "Match": str, "Commit": str}
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_COMMITS = re.compile(r"\b(\d+) commits scanned")
_BYTES = re.compile(r"scanned ~(\d+) bytes")
_ERROR_LINE = re.compile(r" (?:FTL|ERR) |^panic:|^Error: ")
_NOT_LOADED, _NO_REGEX = "the configuration cannot be loaded", "a regex of the configuration does not compile"
_REFUSAL = re.compile(f"{_NOT_LOADED}|{_NO_REGEX}")
# What a scanner complains of; the first that fits is named. Its own words are shown of a configuration only, without
# values: they may quote a secret.
_KINDS_OF_ERROR = (
    (re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE), "no space left on the device"),
    (re.compile(r"out of memory|cannot allocate memory", re.IGNORECASE), "out of memory"),
    (re.compile(r"too many open files", re.IGNORECASE), "too many open files"),
    (re.compile(r"regexp: Compile|error parsing regexp"), _NO_REGEX),
    (re.compile(r"load .*config|parsing config", re.IGNORECASE), _NOT_LOADED),
    (re.compile(r"unknown (?:shorthand )?(?:flag|command)", re.IGNORECASE), "it does not know an option"),
    (re.compile(r"dubious ownership|not a git repository|stderr is not empty|\[git\]", re.IGNORECASE), "git failed"),
    (re.compile(r"permission denied", re.IGNORECASE), "permission denied"),
    (re.compile(r"no such file or directory", re.IGNORECASE), "a file is missing"),
    (re.compile(r"^panic:", re.MULTILINE), "it panicked"),
)
_GIT_FAILED = re.compile(r"partial scan|stderr is not empty|git error encountered|\[git\]", re.IGNORECASE)
# A scan of files goes on after an error, and may end well. Asked for archives, it complains of a file that is named as
# one and is none: that is nothing which it could have read.
_NO_ARCHIVE = r"could (?:not )?read compressed file |error generating file fragments error=\"?zip: not a valid zip file"
_FILES_FAILED = re.compile(rf" (?:FTL|ERR) (?!{_NO_ARCHIVE})|WRN skipping|partial scan")

# A second core does not make the scan of so few bytes faster.
SMALL_BYTES = 1 << 18
Mode = Literal["git", "dir", "staged"]


@dataclass(frozen=True, slots=True)
class Scan:
    """What the scanner reported: its findings as they are (with raw secrets), and how it says it read them.

    `commits` and `added_bytes` are None where the build does not report them. `files` is None for a scan of the
    history; for one of files it is how many there were that are not empty. `peak_kib` is the most memory that the
    scanner had, None where that is not known.
    """

    findings: list[dict[str, Any]]
    duration_ms: float
    commits: int | None
    added_bytes: int | None
    files: int | None = None
    peak_kib: int | None = None

    def __repr__(self) -> str:
        """Without the findings: they hold raw secrets, and tracebacks show values."""
        return f"<Scan with {len(self.findings)} findings>"


@dataclass(frozen=True, slots=True)
class Scanner:
    """A build with the configuration under test; `scratch` is where each scan has a private folder.

    `decode_depth` overrides the default of the build. `mode` is what is scanned: `git`, the history, `dir`, the files
    of HEAD, or `staged`, the index (of a repository without one, HEAD) before the first commit. `args` are further
    flags, passed as given; in repositories that are `planted` dates in them count from the newest commit.
    """

    build: ScannerBuild
    config: Path
    scratch: Path
    timeout_seconds: float
    stop: threading.Event
    decode_depth: int | None = None
    mode: Mode = "git"
    args: tuple[str, ...] = ()
    planted: bool = False

    def scan(
        self, repository: Path, *, obey_allow: bool = True, ignore_lists: bool = False, cores: int | None = None
    ) -> Scan:
        """Scan the whole history of a repository, the files of its HEAD or its index; paths are relative to it.

        Without `obey_allow`, comments that allow a secret hide nothing, where the build can be told so. With
        `ignore_lists`, lists of findings to ignore are files as all others, where files are scanned, and obeyed.
        `cores` is how many it may use; None for all.

        Raises:
            EvaluationError: when the scan failed, its report or exit code cannot be believed, or the files
                cannot be written.
        """
        if self.planted and (args := moved(self.args, repository)) != self.args:
            dated = replace(self, args=args, planted=False)
            return dated.scan(repository, obey_allow=obey_allow, ignore_lists=ignore_lists, cores=cores)
        if self.mode == "staged":
            with _private_folder(self.scratch) as folder:
                stage(repository, folder / "staged")
                return self._scan(folder / "staged", _GIT_FAILED, obey_allow=obey_allow, cores=cores)
        if self.mode == "git":
            return self._scan(repository, _GIT_FAILED, obey_allow=obey_allow, cores=cores)
        with _private_folder(self.scratch) as tree:
            files = write_head(repository, tree, () if ignore_lists else IGNORE_FILES)
            return replace(self._scan(tree, _FILES_FAILED, obey_allow=obey_allow, cores=cores), files=files)

    def to_read(self, repository: BuiltRepository) -> Readable:
        """Return what git says is there to read in this mode, asked with the log options that the scanner is given.

        Raises:
            EvaluationError: when git refuses the options, or cannot read the repository.
        """
        command = self.log_command(repository)
        return repository.readable if command == LOG else readable(repository.path, self.timeout_seconds, command)

    def log_command(self, repository: BuiltRepository) -> Sequence[str]:
        """What git is asked for to know what there is to read in this mode, with the options that the scanner has."""
        if self.mode == "staged":
            return staged_diff(repository.path)
        options = log_options(moved(self.args, repository.path) if self.planted else self.args)
        return (*LOG_WITH_OPTIONS, *options.split(" ")) if self.mode == "git" and options is not None else LOG

    def _scan(self, source: Path, failure: re.Pattern[str], *, obey_allow: bool, cores: int | None) -> Scan:
        limit = {} if cores is None else {"GOMAXPROCS": str(cores)}
        count_scan(self.scratch)
        with _private_folder(self.scratch) as folder:
            report = folder / "report.json"
            done = run_limited(
                [*self._command(source, report), *self._allow_options(obey_allow=obey_allow)],
                folder,
                {**git_environment(), "TMPDIR": str(folder), "XDG_CONFIG_HOME": str(folder), **limit},
                self.timeout_seconds,
                self.stop,
                # Files are reported, and allowed by a configuration, under the path that is given.
                start_in=source if self.mode == "dir" else None,
                limited_by="--gitleaks-scan-timeout",
            )
            if how := _crash(done):
                keep_crash(self.scratch, how)
            findings = _read_report(report, done)
        log = _ANSI.sub("", done.stderr + done.stdout)
        if failed := failure.search(log):
            raise EvaluationError(f"its log says that reading the repository failed ({failed[0].strip()!r})")
        commits, added = _COMMITS.search(log), _BYTES.search(log)
        counted = [int(found[1]) if found else None for found in (commits, added)]
        return Scan(findings, done.duration_ms, counted[0], counted[1], peak_kib=done.peak_kib)

    def _allow_options(self, *, obey_allow: bool) -> list[str]:
        return [self.build.adapter.ignore_allow] if self.build.ignores_allow and not obey_allow else []

    def _command(self, source: Path, report: Path) -> list[str]:
        depth = self.build.depth(self.decode_depth)
        live_validation = self.build.adapter.live_validation
        return [
            self.build.program,
            *self._subcommand(source),
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
            # Never rely on the default: what is found must not leave the machine.
            *((f"{live_validation}=false",) if self.build.validates else ()),
            *self.args,
        ]

    def _subcommand(self, source: Path) -> list[str]:
        is_new = self.build.command == "git"
        if self.mode == "dir":
            return ["dir", "."] if is_new else ["detect", "--no-git", "--source", "."]
        if self.mode == "staged":
            return ["git", "--staged", str(source)] if is_new else ["protect", "--staged", "--source", str(source)]
        return ["git", str(source)] if is_new else ["detect", "--source", str(source)]


def cores_beside_others(added_bytes: int) -> int | None:
    """Return how many cores a scan of so many bytes may use beside other scans; None for all."""
    return 1 if added_bytes < SMALL_BYTES else None


def unread(scan: Scan, there: Readable) -> str | None:
    """Return why the scan cannot have read what git says is there, or None when it has.

    Builds differ in what they count (upstream detect/git.go): a scan has to agree with one way of counting, whole. Of
    a scan of files they tell the bytes or nothing, and which files a configuration allows or a build takes for
    binary is not known: only that something was read can be asked for.
    """
    if scan.files is not None:
        nothing_read = scan.files > 0 and scan.added_bytes == 0
        return f"it reports 0 bytes scanned, and there are {scan.files} files to scan" if nothing_read else None
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


def _crash(done: Finished) -> str:
    """Return how a scan ended that was neither finished nor refused: a refusal has a line of the log that says why."""
    if done.status < 0:
        return f"signal {-done.status}"
    said = _error_lines(done)
    if done.status in {0, LEAKS_FOUND} or (said and "panic:" not in said) or "regexp: Compile" in said:
        return ""
    return f"exit code {done.status}"


def _read_report(report: Path, done: Finished) -> list[dict[str, Any]]:
    if done.status not in {0, LEAKS_FOUND}:
        ended = f"exit code {done.status}" if done.status >= 0 else f"signal {-done.status}"
        kind = kind_of_error(done)
        if _REFUSAL.search(kind):
            raise Refused(f"ended with {ended}{kind}")
        raise EvaluationError(f"ended with {ended}{kind}")
    try:
        # Opening a pipe would wait for ever, and a link could name any file.
        if not stat.S_ISREG(report.lstat().st_mode):
            raise EvaluationError("wrote a report that is no regular file")
        with report.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            findings = parse_json(file.read(LARGEST_JSON)) if size else None
    except OSError:
        problem = "wrote no report"
    except DocumentError:
        # Its words quote a key, and a key may hold anything.
        problem = "wrote a report that is not JSON, or has a key twice"
    else:
        # betterleaks writes `null` for no findings; an empty file is no report at all.
        findings = [] if findings is None and size else findings
        return _believable(findings, done)
    raise EvaluationError(f"ended with exit code {done.status} and {problem}")


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
            f"reported {numbered(len(findings), 'finding')} and ended with exit code {done.status}: "
            "they contradict each other"
        )
    return findings


def _has(finding: Mapping[str, Any], required: Mapping[str, type]) -> bool:
    return all(type(finding.get(name)) is kind for name, kind in required.items())


def kind_of_error(done: Finished) -> str:
    """Return the kind of error that the scanner's log tells of, behind a colon; empty where it tells of none."""
    errors = _error_lines(done)
    kind = next((kind for pattern, kind in _KINDS_OF_ERROR if pattern.search(errors)), "an error of no known kind")
    said = words_of(load_error(errors)) if kind == _NOT_LOADED else ""
    return ": ".join(["", kind, *([said] if said else [])]) if errors else ""


def _error_lines(done: Finished) -> str:
    # Only the scanner's own error lines: anything else in its log may be what it scanned.
    return "\n".join(line for line in _ANSI.sub("", done.stderr).splitlines() if _ERROR_LINE.search(line))
