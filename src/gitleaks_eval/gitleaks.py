"""The scanner binary under test: which one it is, and what this build can do."""

import hashlib
import mmap
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gitleaks_eval.errors import EvaluationError
from gitleaks_eval.escaping import printable
from gitleaks_eval.git import git_environment
from gitleaks_eval.install import installed_binary
from gitleaks_eval.process import run_limited

PINNED_VERSION = "8.30.1"
PROBE_SECONDS = 20
IGNORE_ALLOW = "--ignore-gitleaks-allow"
# Go stores module and version of a program as text in its build information, stripped or not.
_BUILD_INFORMATION = re.compile(rb"(?:mod|dep)\tgithub\.com/(?:zricethezav|gitleaks)/gitleaks/v8\tv(\d[\w.+-]*)[\t\n]")
_VERSION = re.compile(r"v?(\d+\.\d+\.\d+\S*)")


@dataclass(frozen=True, slots=True)
class ScannerChoice:
    """What the user named: a binary or a version (or neither), and the option or setting that did so."""

    binary: Path | None = None
    version: str | None = None
    named_by: str = ""


@dataclass(frozen=True, slots=True)
class ScannerBuild:
    """One scanner binary and what its own help says it can do.

    `command` is `git` or `detect`; `decode_depth` is its default, None where it cannot decode; `ignores_allow`
    is whether it can be told not to obey `gitleaks:allow` comments.
    """

    path: str
    name: str
    version: str
    source: str
    sha256: str
    command: str
    decode_depth: int | None
    ignores_allow: bool = False

    @property
    def title(self) -> str:
        """For the header: name, version, where it came from, and the start of its SHA-256."""
        return f"{self.name} {self.version} ({self.source}, sha256 {self.sha256[:8]})"


def find_scanner(choice: ScannerChoice, progress: Callable[[str], None]) -> ScannerBuild:
    """Find the scanner under test, installing it if need be, and probe it.

    In this order: the named binary, the named version, `gitleaks` on PATH, the pinned version. A named one
    that fails is never replaced by the next.

    Raises:
        EvaluationError: when it cannot be had, or is not Gitleaks.
    """
    if choice.binary:
        return probe(choice.binary, choice.named_by)
    if choice.version:
        path, how = installed_binary(choice.version, progress)
        return probe(path, f"{choice.named_by}, {how}")
    if on_path := binary_on_path():
        return probe(on_path, "PATH")
    path, how = installed_binary(PINNED_VERSION, progress)
    return probe(path, f"pinned, {how}")


def binary_on_path() -> Path | None:
    """The `gitleaks` that the user's shell would run."""
    found = shutil.which("gitleaks")
    return Path(found).absolute() if found else None


def probe(path: Path, source: str) -> ScannerBuild:
    """Ask a binary what it is and what it can do.

    Raises:
        EvaluationError: when it cannot be run, does not answer, or is not Gitleaks.
    """
    usage = _ask(path, "--help", source)
    commands = set(re.findall(r"^  ([a-z]+) ", usage, re.MULTILINE))
    command = next((name for name in ("git", "detect") if name in commands), None)
    if command is None or "--report-path" not in usage or "--exit-code" not in usage:
        raise EvaluationError(
            f"{path} ({source}) is not Gitleaks: its --help names no `git` or `detect` command with a report; "
            "name another with --gitleaks-binary"
        )
    decode = re.search(r"--max-decode-depth int.*", usage)
    default = re.search(r"\(default (\d+)\)", decode[0]) if decode else None
    digest = _sha256(path)
    return ScannerBuild(
        path=str(path),
        name="gitleaks",
        version=_version(path, source) or f"unknown (sha256 {digest[:12]})",
        source=source,
        sha256=digest,
        command=command,
        # A flag without a default in the help has Go's zero value.
        decode_depth=int(default[1]) if default else 0 if decode else None,
        ignores_allow=IGNORE_ALLOW in usage,
    )


def _version(path: Path, source: str) -> str | None:
    stated = _VERSION.fullmatch(_ask(path, "version", source).strip())
    if stated:
        return stated[1]
    # Distributions and a plain `go install` do not stamp the version; Go's build information has it anyway.
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return None
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            built = _BUILD_INFORMATION.search(content)
            return built[1].decode("ascii") if built else None


def _ask(path: Path, question: str, source: str) -> str:
    with tempfile.TemporaryDirectory(prefix="gitleaks-eval-") as folder:
        try:
            done = run_limited([str(path), question], Path(folder), git_environment(), PROBE_SECONDS)
        except EvaluationError as error:
            problem = str(error) if "cannot be run" in str(error) else f"asked for `{question}`, {error}"
        else:
            if done.status == 0:
                return done.stdout
            problem = f"answered `{question}` with exit code {done.status}"
    raise EvaluationError(f"{printable(str(path))} ({source}) {problem}; name a Gitleaks binary with --gitleaks-binary")


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
