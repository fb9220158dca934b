"""The scanner binary under test: which one it is, and what this build can do."""

import mmap
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gitleaks_eval.core.documents import sha256_of
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.private_folder import private_folder
from gitleaks_eval.core.process import run_limited
from gitleaks_eval.core.text import printable
from gitleaks_eval.repositories.git import git_environment
from gitleaks_eval.scanners import GITLEAKS, SCANNERS, Adapter, Sources, scanner_of_help
from gitleaks_eval.scanners.install import installed_binary

PINNED_VERSION = "8.30.1"
PROBE_SECONDS = 20
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
    cannot decode; `ignores_allow` says whether it can be told not to obey comments that allow a secret, `validates`
    whether it can ask live services about what it finds. `copy` is the run's own copy of the binary at `path`, empty
    where that itself is run.
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
    copy: str = ""

    @property
    def adapter(self) -> Adapter:
        """What is known of all builds of this scanner."""
        return SCANNERS[self.name]

    @property
    def program(self) -> str:
        """What is run: the copy, else the binary itself."""
        return self.copy or self.path

    def changed(self) -> str | None:
        """Return why what has run may not be what was probed; None while it has the SHA-256 that it had then."""
        try:
            if sha256_of(Path(self.program)) == self.sha256:
                return None
            problem = f"its SHA-256 is no longer {self.sha256}"
        except OSError as error:
            problem = f"it cannot be read: {error.strerror or error}"
        return f"the scanner {self.path} was changed during the run ({problem}); run again"

    def depth(self, wanted: int | None) -> int | None:
        """Return the decode depth of a scan: the wanted one, else the default of this build.

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
    """Return the scanner that the user named by its path.

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


def find_scanner(choice: ScannerChoice, progress: Callable[[str], None], private: Path | None = None) -> ScannerBuild:
    """Find the scanner under test, installing it if need be, and probe it.

    In this order: the named binary, the named version (on PATH, else installed), `gitleaks` on PATH, the pinned
    version. A named one that fails is never replaced by the next. `private` is a folder of the run for its copy of
    the binary: what is swapped after the probe is never run.

    Raises:
        EvaluationError: when it cannot be had, is no scanner that is known, or not the version that was asked for.
    """
    if choice.binary:
        return probe(choice.binary, choice.named_by, private)
    if not choice.version and (on_path := binary_on_path()):
        return probe(on_path, "PATH", private)
    version, adapter = choice.version or PINNED_VERSION, SCANNERS[choice.scanner]
    path, how = _of_version(version, adapter, progress)
    build = probe(path, f"{choice.named_by or 'pinned'}, {how}", private)
    if (build.name, build.version) != (adapter.name, version):
        raise EvaluationError(
            f"{path} ({build.source}) is {build.name} {build.version}, not {choice.title}; "
            "remove it, or name another with --gitleaks-binary"
        )
    return build


def _of_version(version: str, adapter: Adapter, progress: Callable[[str], None]) -> tuple[Path, str]:
    if (on_path := binary_on_path(adapter)) and _proves(on_path, version, adapter):
        return on_path, "PATH"
    return installed_binary(version, progress, adapter)


def _proves(path: Path, version: str, adapter: Adapter) -> bool:
    """Whether a program is this version by what it states, or by Go's build information, and by neither is another.

    A script proves nothing: its hash is not that of the scanner behind it.
    """
    try:
        if _is_script(path):
            return False
        stated, built = _stated_version(path, str(path)), _built_version(path, adapter)
    except (EvaluationError, OSError):
        return False
    # A release is built from a tag; what else lay in that folder (`+dirty`) is not known to be of the program.
    built = built.partition("+")[0] if built and stated else built
    return {stated, built} - {None} == {version}


def binary_on_path(adapter: Adapter = GITLEAKS) -> Path | None:
    """Return the scanner that the user's shell would run."""
    found = shutil.which(adapter.name)
    return Path(found).absolute() if found else None


def configuration_sources(choice: ScannerChoice) -> Sources:
    """Where the scanner that will be found looks for its configuration; a binary is asked, by its help."""
    binary = choice.binary or (None if choice.version else binary_on_path())
    if binary is None:
        return SCANNERS[choice.scanner].sources_of(choice.version or PINNED_VERSION)
    try:
        usage = _ask(binary, "--help", str(binary))
    except EvaluationError:
        # The run will say what is wrong with it.
        usage = ""
    return (scanner_of_help(usage) or GITLEAKS).sources_by_help(usage)


def probe(path: Path, source: str, private: Path | None = None) -> ScannerBuild:
    """Ask a binary which scanner it is and what it can do; with `private`, a copy of it in that folder.

    Raises:
        EvaluationError: when it cannot be run or copied, does not answer, or is no scanner that is known.
    """
    shown = f"{printable(str(path))} ({source})"
    try:
        copy = _private_copy(path, private / "scanner") if private else None
        program = copy or path
        digest = sha256_of(program)
    except OSError as error:
        raise EvaluationError(f"{shown} cannot be read: {error.strerror or error}") from None
    usage = _ask(program, "--help", shown)
    commands = set(re.findall(r"^  ([a-z]+) ", usage, re.MULTILINE))
    command = next((name for name in ("git", "detect") if name in commands), None)
    adapter = scanner_of_help(usage)
    if adapter is None or command is None or "--report-path" not in usage or "--exit-code" not in usage:
        titles = " or ".join(known.title for known in SCANNERS.values())
        raise EvaluationError(
            f"{shown} is not {titles}: its --help names no such program with a `git` or `detect` command "
            "and a report; name another with --gitleaks-binary"
        )
    decode = re.search(r"--max-decode-depth int.*", usage)
    default = re.search(r"\(default (\d+)\)", decode[0]) if decode else None
    version = _stated_version(program, shown) or _built_version(program, adapter)
    return ScannerBuild(
        path=str(path),
        name=adapter.name,
        version=version or f"unknown (sha256 {digest[:12]})",
        source=source,
        sha256=digest,
        command=command,
        # A flag without a default in the help has Go's zero value.
        decode_depth=int(default[1]) if default else 0 if decode else None,
        ignores_allow=adapter.ignore_allow in usage,
        validates=adapter.live_validation is not None and f" {adapter.live_validation} " in usage,
        copy=str(copy) if copy else "",
    )


def _private_copy(path: Path, folder: Path) -> Path | None:
    """Return a copy of a binary that nobody else changes, or None where a copy would not be run as the binary is."""
    # A script may look for its program beside itself.
    if _is_script(path):
        return None
    # The name stays: there are programs that go by it.
    copy = folder / path.name
    try:
        folder.mkdir(mode=0o700)
        shutil.copyfile(path, copy)
        copy.chmod(0o500)
    except OSError as error:
        raise EvaluationError(
            f"{path} cannot be copied to {copy}: {error.strerror or error}; set TMPDIR to a folder with room"
        ) from None
    # Not where no program may be run, as in many a /tmp.
    return copy if os.access(copy, os.X_OK) else None


def _is_script(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"#!"


def _stated_version(path: Path, shown: str) -> str | None:
    stated = _VERSION.fullmatch(_ask(path, "version", shown).strip())
    return stated[1] if stated else None


def _built_version(path: Path, adapter: Adapter) -> str | None:
    """Return the version in Go's build information: distributions and a plain `go install` state none."""
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return None
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            built = adapter.build_information.search(content)
            return built[1].decode("ascii") if built else None


def _ask(path: Path, question: str, shown: str) -> str:
    with private_folder() as folder:
        try:
            done = run_limited([str(path), question], folder, git_environment(), PROBE_SECONDS)
        except EvaluationError as error:
            problem = str(error) if "cannot be run" in str(error) else f"asked for `{question}`, {error}"
        else:
            if done.status == 0:
                return done.stdout
            problem = f"answered `{question}` with exit code {done.status}"
    raise EvaluationError(f"{shown} {problem}; name a scanner with --gitleaks-binary")
