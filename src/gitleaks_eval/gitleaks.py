"""The scanner binary under test: which one it is, and what this build can do."""

import hashlib
import mmap
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gitleaks_eval.errors import EvaluationError, InputError
from gitleaks_eval.escaping import printable
from gitleaks_eval.git import git_environment
from gitleaks_eval.private_folder import private_folder
from gitleaks_eval.process import run_limited
from gitleaks_eval.scanners import GITLEAKS, SCANNERS, Adapter, scanner_of_help

PINNED_VERSION = "8.30.1"
PROBE_SECONDS = 20
IGNORE_ALLOW = "--ignore-gitleaks-allow"
_VERSION = re.compile(r"v?(\d+\.\d+\.\d+\S*)")


@dataclass(frozen=True, slots=True)
class ScannerChoice:
    """What the user named: a binary or a version (or neither), and the option or setting that did so.

    `scanner` says whose version it is; a binary says itself which scanner it is.
    """

    binary: Path | None = None
    version: str | None = None
    named_by: str = ""
    scanner: str = GITLEAKS.name

    @property
    def title(self) -> str:
        """The scanner and its version, as far as they are known before a build is looked at."""
        return f"{self.scanner} {self.version or PINNED_VERSION}"


@dataclass(frozen=True, slots=True)
class ScannerBuild:
    """One scanner binary and what its own help says it can do.

    `name` is that of its adapter; `command` is `git` or `detect`; `decode_depth` is its default, None where it
    cannot decode; `ignores_allow` says whether it can be told not to obey `gitleaks:allow` comments, `validates`
    whether it can ask live services about what it finds.
    """

    path: str
    name: str
    version: str
    source: str
    sha256: str
    command: str
    decode_depth: int | None
    ignores_allow: bool = False
    validates: bool = False

    def depth(self, wanted: int | None) -> int | None:
        """The decode depth of a scan: the wanted one, else the default of this build.

        Raises:
            EvaluationError: when one is wanted and this build cannot decode.
        """
        if wanted is not None and self.decode_depth is None:
            raise EvaluationError(
                f"{self.name} {self.version} cannot decode, so it has no decode depth {wanted}; "
                "leave decode_depth out, or take a newer version"
            )
        return self.decode_depth if wanted is None else wanted

    @property
    def title(self) -> str:
        """For the header: name, version, where it came from, and the start of its SHA-256."""
        return f"{self.name} {self.version} ({self.source}, sha256 {self.sha256[:8]})"


def named_binary(path: Path, named_by: str) -> Path:
    """The scanner that the user named by its path.

    Raises:
        InputError: when there is none that can be run.
    """
    if not path.exists():
        raise InputError(f"{named_by} {path}: does not exist; name its path, or leave it out for PATH")
    if not path.is_file():
        raise InputError(f"{named_by} {path}: is not a file; name the gitleaks binary itself")
    if shutil.which(path) is None:
        raise InputError(f"{named_by} {path}: is not executable; try chmod +x")
    return path


def find_scanner(choice: ScannerChoice, progress: Callable[[str], None]) -> ScannerBuild:
    """Find the scanner under test, installing it if need be, and probe it.

    In this order: the named binary, the named version, `gitleaks` on PATH, the pinned version. A named one
    that fails is never replaced by the next.

    Raises:
        EvaluationError: when it cannot be had, or is no scanner that is known.
    """
    if choice.binary:
        return probe(choice.binary, choice.named_by)
    from gitleaks_eval.install import installed_binary  # noqa: PLC0415 - it loads what downloads need

    if choice.version:
        path, how = installed_binary(choice.version, progress, SCANNERS[choice.scanner])
        return probe(path, f"{choice.named_by}, {how}")
    if on_path := binary_on_path():
        return probe(on_path, "PATH")
    path, how = installed_binary(PINNED_VERSION, progress, GITLEAKS)
    return probe(path, f"pinned, {how}")


def binary_on_path() -> Path | None:
    """The `gitleaks` that the user's shell would run."""
    found = shutil.which("gitleaks")
    return Path(found).absolute() if found else None


def probe(path: Path, source: str) -> ScannerBuild:
    """Ask a binary which scanner it is and what it can do.

    Raises:
        EvaluationError: when it cannot be run, does not answer, or is no scanner that is known.
    """
    usage = _ask(path, "--help", source)
    commands = set(re.findall(r"^  ([a-z]+) ", usage, re.MULTILINE))
    command = next((name for name in ("git", "detect") if name in commands), None)
    adapter = scanner_of_help(usage)
    if adapter is None or command is None or "--report-path" not in usage or "--exit-code" not in usage:
        titles = " or ".join(known.title for known in SCANNERS.values())
        raise EvaluationError(
            f"{path} ({source}) is not {titles}: its --help names no such program with a `git` or `detect` command "
            "and a report; name another with --gitleaks-binary"
        )
    decode = re.search(r"--max-decode-depth int.*", usage)
    default = re.search(r"\(default (\d+)\)", decode[0]) if decode else None
    digest = _sha256(path)
    return ScannerBuild(
        path=str(path),
        name=adapter.name,
        version=_version(path, source, adapter) or f"unknown (sha256 {digest[:12]})",
        source=source,
        sha256=digest,
        command=command,
        # A flag without a default in the help has Go's zero value.
        decode_depth=int(default[1]) if default else 0 if decode else None,
        ignores_allow=IGNORE_ALLOW in usage,
        validates=adapter.live_validation is not None and f" {adapter.live_validation} " in usage,
    )


def _version(path: Path, source: str, adapter: Adapter) -> str | None:
    stated = _VERSION.fullmatch(_ask(path, "version", source).strip())
    if stated:
        return stated[1]
    # Distributions and a plain `go install` do not stamp the version; Go's build information has it anyway.
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return None
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            built = adapter.build_information.search(content)
            return built[1].decode("ascii") if built else None


def _ask(path: Path, question: str, source: str) -> str:
    with private_folder() as folder:
        try:
            done = run_limited([str(path), question], folder, git_environment(), PROBE_SECONDS)
        except EvaluationError as error:
            problem = str(error) if "cannot be run" in str(error) else f"asked for `{question}`, {error}"
        else:
            if done.status == 0:
                return done.stdout
            problem = f"answered `{question}` with exit code {done.status}"
    raise EvaluationError(f"{printable(str(path))} ({source}) {problem}; name a scanner with --gitleaks-binary")


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
