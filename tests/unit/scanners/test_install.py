"""A Gitleaks is installed once, whole, verified, and says how it came."""

import io
import json
import os
import platform
import re
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from builders import GO_SWITCHES
from programs import is_gone, pid_in, script, sha256

from gitleaks_eval.core import progress
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.files import cache_folder
from gitleaks_eval.scanners import GITLEAKS, SCANNERS, checked_version, install
from gitleaks_eval.scanners.build import PINNED_VERSION
from gitleaks_eval.scanners.install import binary_path, installed_binary

VERSION = "8.18.4"
UNPINNED = "8.21.0"
NOWHERE = "http://127.0.0.1:9"
SCRIPT = b"#!/bin/sh\necho a gitleaks\n"
RELEASE, ON_PATH, PACKAGE = "release archive", "built with the Go on PATH", f"built with {install.GO_TOOLCHAIN}"
UNSTAMPED = "version is set by build process"

Route = bytes | Callable[[BaseHTTPRequestHandler], None]
Way = Callable[[install._Release, Path, install.Progress], Path]
Installer = Callable[[str], tuple[Path, str]]


@dataclass
class Releases:
    """A release host of our own: what it serves by path, and what it was asked for."""

    routes: dict[str, Route] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def publish(self, version: str, archive: Route, checksum: str | None = None) -> None:
        """Serve an archive and, when a checksum is given, the checksums file that names it."""
        name = _archive_name(version)
        self.routes[f"/v{version}/{name}"] = archive
        if checksum is not None:
            listing = f"{'0' * 64}  gitleaks_{version}_plan9_x64.tar.gz\n{checksum}  {name}\n"
            self.routes[f"/v{version}/gitleaks_{version}_checksums.txt"] = listing.encode()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_environment: None) -> Path:  # noqa: ARG001 - set up
    """Our folder in an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user cache"))
    return tmp_path / "user cache" / "gitleaks-eval"


@pytest.fixture
def said() -> list[str]:
    """What was shown while it installed."""
    return []


@pytest.fixture
def get(cache: Path, said: list[str]) -> Installer:  # noqa: ARG001 - set up
    return lambda version: installed_binary(version, said.append)


@pytest.fixture
def releases(monkeypatch: pytest.MonkeyPatch) -> Iterator[Releases]:
    """A local release host in the place of GitHub."""
    served = Releases()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append(self.path.rpartition("/")[2])
            answer = served.routes.get(self.path)
            if callable(answer):
                answer(self)
                return
            self.send_response(404 if answer is None else 200)
            self.send_header("Content-Length", str(len(answer or b"")))
            self.end_headers()
            self.wfile.write(answer or b"")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    monkeypatch.setattr(install, "RELEASES", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield served
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def release_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is built."""
    monkeypatch.setattr(install, "_from_go_on_path", _fails("no Go here"))
    monkeypatch.setattr(install, "_from_go_package", _fails("no package here"))


def _archive_name(version: str) -> str:
    return install._archive_name(install._Release(GITLEAKS, version))


def _fails(problem: str) -> Way:
    def way(*_: object) -> Path:
        raise install._CannotInstallError(problem)

    return way


def _makes(content: bytes) -> Way:
    def way(_: install._Release, scratch: Path, __: install.Progress) -> Path:
        made = scratch / "gitleaks"
        made.write_bytes(content)
        return made

    return way


def _use(monkeypatch: pytest.MonkeyPatch, release: Way, on_path: Way, package: Way) -> None:
    monkeypatch.setattr(install, "_from_release", release)
    monkeypatch.setattr(install, "_from_go_on_path", on_path)
    monkeypatch.setattr(install, "_from_go_package", package)


def _archive(content: bytes = SCRIPT, name: str = "gitleaks") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for member, data in (("README.md", b"read me"), (name, content)):
            info = tarfile.TarInfo(member)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def _archive_of_a_folder() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        info = tarfile.TarInfo("gitleaks")
        info.type = tarfile.DIRTYPE
        archive.addfile(info)
    return out.getvalue()


def _pin(monkeypatch: pytest.MonkeyPatch, folder: Path, version: str, digest: str) -> None:
    pinned = folder / "pinned.json"
    pinned.write_text(json.dumps({version: {_archive_name(version): digest}}), encoding="utf-8")
    monkeypatch.setattr(install, "CHECKSUMS_FILE", pinned)


def _assert_nothing_is_installed(version: str = VERSION) -> None:
    cache = binary_path(version).parents[1]
    assert not binary_path(version).exists()
    assert list(cache.glob("install-*")) == []
    assert [path.name for path in (cache / "bin").glob("*") if os.access(path, os.X_OK)] == []


# Which version.


@pytest.mark.parametrize("text", ["8.30.1", "v8.30.1"])
def test_a_version_is_written_with_or_without_v(text: str) -> None:
    assert checked_version(text, "--gitleaks-version") == "8.30.1"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "8",
        "8.30",
        "8.30.1.2",
        "7.6.1",
        "9.0.0",
        "vv8.30.1",
        "V8.30.1",
        "8.30.1-rc1",
        "8.30.x",
        " 8.30.1",
        "8.30.1\n",
        "8.30.1/../..",
        "8.-3.1",
        "latest",
        "8.3\N{ARABIC-INDIC DIGIT ZERO}.1",
    ],
)
def test_what_is_no_version_of_gitleaks_8_is_refused_by_the_name_of_its_option(text: str) -> None:
    with pytest.raises(InputError, match=r"^ini gitleaks_version .*: not a version of Gitleaks; write it as 8\.30\.1$"):
        checked_version(text, "ini gitleaks_version")


# Where it goes.


def test_the_cache_is_readable_by_the_user_alone_whatever_the_umask(cache: Path) -> None:
    before = os.umask(0o000)
    try:
        assert cache_folder() == cache
    finally:
        os.umask(before)
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700


def test_a_cache_that_others_could_read_is_closed(cache: Path) -> None:
    cache.mkdir(parents=True)
    cache.chmod(0o755)
    cache_folder()
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700


def test_a_cache_that_cannot_be_made_is_an_error_that_says_what_to_do(cache: Path) -> None:
    cache.parent.write_bytes(b"a file")
    with pytest.raises(EvaluationError, match=r"^the cache .* cannot be made: .*; set XDG_CACHE_HOME to a folder"):
        cache_folder()


def test_a_cache_that_cannot_be_written_is_an_error_and_no_crash(
    cache: Path, get: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _use(monkeypatch, _makes(SCRIPT), _fails(""), _fails(""))
    cache.mkdir(parents=True)
    (cache / "bin").write_bytes(b"a file")
    with pytest.raises(EvaluationError, match=re.escape(str(cache))):
        get(VERSION)


@pytest.mark.usefixtures("cache")
def test_an_installed_version_is_used_as_it_is(
    cache: Path, get: Installer, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def way(release: install._Release, scratch: Path, progress: install.Progress) -> Path:
        calls.append(release.version)
        return _makes(SCRIPT)(release, scratch, progress)

    _use(monkeypatch, way, _fails(""), _fails(""))
    first = get(VERSION)
    shown = list(said)
    assert first == get(VERSION) == (cache / "bin" / f"gitleaks-{VERSION}", RELEASE)
    assert calls == [VERSION]
    assert said == shown == [f"gitleaks-eval: gitleaks {VERSION} installed ({RELEASE})"]
    get(UNPINNED)
    assert calls == [VERSION, UNPINNED]


def test_an_installed_binary_can_be_run_and_nothing_else_stays(
    cache: Path, get: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _use(monkeypatch, _makes(SCRIPT), _fails(""), _fails(""))
    binary, _ = get(VERSION)
    assert subprocess.run([binary], capture_output=True, check=True).stdout == b"a gitleaks\n"
    assert {path.name for path in cache.rglob("*")} <= {
        "bin",
        binary.name,
        f"{binary.name}.lock",
        "gitleaks-8.18.4.source",
        "gitleaks-8.18.4.sha256",
    }


@pytest.mark.parametrize("kind", ["another program", "cut off", "a pipe for the hash", "no hash"])
def test_what_is_not_as_it_was_installed_is_installed_anew_with_a_word(
    get: Installer, said: list[str], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    _use(monkeypatch, _makes(SCRIPT), _fails(""), _fails(""))
    binary, _ = get(VERSION)
    recorded = binary.with_name(f"{binary.name}.sha256")
    assert recorded.read_text(encoding="ascii") == f"{sha256(SCRIPT)}  {binary.name}\n"
    if kind in {"another program", "cut off"}:
        binary.write_bytes(SCRIPT[:5] if kind == "cut off" else b"#!/bin/sh\n")
    else:
        recorded.unlink()
        if kind == "a pipe for the hash":
            os.mkfifo(recorded)
    said.clear()
    assert get(VERSION)[0].read_bytes() == SCRIPT
    assert said[0] == f"gitleaks-eval: {binary} is not what was installed; installing gitleaks {VERSION} anew"
    said.clear()
    assert (get(VERSION)[0], said) == (binary, [])


# Offline.


def test_offline_nothing_is_installed_and_the_error_says_what_to_do(
    get: Installer, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITLEAKS_EVAL_OFFLINE", "1")
    _use(monkeypatch, _makes(SCRIPT), _makes(SCRIPT), _makes(SCRIPT))
    with pytest.raises(EvaluationError, match=r"8\.18\.4 is not installed and GITLEAKS_EVAL_OFFLINE forbids") as error:
        get(VERSION)
    assert "--gitleaks-binary" in str(error.value)
    assert said == []
    _assert_nothing_is_installed()


def test_offline_what_is_installed_already_is_used(get: Installer, monkeypatch: pytest.MonkeyPatch) -> None:
    _use(monkeypatch, _makes(SCRIPT), _fails(""), _fails(""))
    installed = get(VERSION)
    monkeypatch.setenv("GITLEAKS_EVAL_OFFLINE", "1")
    assert get(VERSION) == installed


def test_offline_what_is_not_as_it_was_installed_is_an_error(get: Installer, monkeypatch: pytest.MonkeyPatch) -> None:
    _use(monkeypatch, _makes(SCRIPT), _fails(""), _fails(""))
    binary, _ = get(VERSION)
    binary.write_bytes(b"#!/bin/sh\n")
    monkeypatch.setenv("GITLEAKS_EVAL_OFFLINE", "1")
    with pytest.raises(EvaluationError, match=rf"^{binary} is not what was installed and GITLEAKS_EVAL_OFFLINE forb"):
        get(VERSION)


@pytest.mark.parametrize("value", ["", "0"])
def test_offline_is_off_when_it_is_empty_or_0(get: Installer, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("GITLEAKS_EVAL_OFFLINE", value)
    _use(monkeypatch, _makes(SCRIPT), _fails(""), _fails(""))
    assert get(VERSION)[0].is_file()


# The order of the ways.


@pytest.mark.parametrize(
    ("working", "how"),
    [
        ((True, True, True), RELEASE),
        ((False, True, True), ON_PATH),
        ((False, False, True), PACKAGE),
    ],
    ids=["release", "Go on PATH", "Go package"],
)
def test_the_first_way_that_works_is_taken_and_named(
    get: Installer, monkeypatch: pytest.MonkeyPatch, working: tuple[bool, ...], how: str
) -> None:
    contents = (b"from release", b"from Go on PATH", b"from Go package")
    ways = [_makes(content) if works else _fails("not today") for content, works in zip(contents, working, strict=True)]
    _use(monkeypatch, *ways)
    binary, origin = get(VERSION)
    assert origin == how
    assert binary.read_bytes() == contents[working.index(True)]


def test_when_no_way_works_the_error_lists_what_was_tried_in_order_and_nothing_stays(
    get: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _use(monkeypatch, _fails("the host is away"), _fails("no Go"), _fails("no package"))
    with pytest.raises(EvaluationError) as error:
        get(VERSION)
    assert str(error.value).splitlines() == [
        f"gitleaks {VERSION} could not be installed; tried",
        f"  {RELEASE}: the host is away",
        f"  {ON_PATH}: no Go",
        f"  {PACKAGE}: no package",
        "name a binary with --gitleaks-binary",
    ]
    _assert_nothing_is_installed()


def test_the_real_ways_say_why_they_fail(get: Installer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setattr(install, "RELEASES", NOWHERE)
    with pytest.raises(EvaluationError) as error:
        get(VERSION)
    _, release, on_path, package, _ = str(error.value).splitlines()
    assert re.fullmatch(rf"  {RELEASE}: {NOWHERE}/v8\.18\.4/gitleaks_8\.18\.4_\w+\.\S+: .*[Cc]onnection.*", release)
    assert on_path == f"  {ON_PATH}: there is no `go` on PATH"
    assert package.startswith(f"  {PACKAGE}: {install.GO_TOOLCHAIN}: ")
    _assert_nothing_is_installed()


# The release archive.


def test_releases_come_from_upstream_over_https() -> None:
    releases = install._Release(GITLEAKS, "8.30.1"), install._Release(SCANNERS["betterleaks"], "1.4.0")
    assert [release.url for release in releases] == [
        "https://github.com/gitleaks/gitleaks/releases/download/v8.30.1",
        "https://github.com/betterleaks/betterleaks/releases/download/v1.4.0",
    ]


def test_the_checksums_of_the_pinned_version_are_pinned_for_every_platform() -> None:
    pinned = json.loads(install.CHECKSUMS_FILE.read_text(encoding="utf-8"))
    assert set(pinned[PINNED_VERSION]) == {
        f"gitleaks_{PINNED_VERSION}_{end}"
        for end in (
            "darwin_arm64.tar.gz",
            "darwin_x64.tar.gz",
            "linux_arm64.tar.gz",
            "linux_x64.tar.gz",
            "windows_x64.zip",
        )
    }
    digests = [digest for archives in pinned.values() for digest in archives.values()]
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in digests)
    assert len(set(digests)) == len(digests)


@pytest.mark.parametrize(
    ("system", "machine", "name"),
    [
        ("Linux", "x86_64", "gitleaks_8.18.4_linux_x64.tar.gz"),
        ("Linux", "aarch64", "gitleaks_8.18.4_linux_arm64.tar.gz"),
        ("Darwin", "arm64", "gitleaks_8.18.4_darwin_arm64.tar.gz"),
        ("Darwin", "x86_64", "gitleaks_8.18.4_darwin_x64.tar.gz"),
        ("Windows", "AMD64", "gitleaks_8.18.4_windows_x64.zip"),
    ],
)
def test_an_archive_is_named_for_system_and_processor(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str, name: str
) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert _archive_name(VERSION) == name


@pytest.mark.parametrize(("system", "machine"), [("Plan9", "x86_64"), ("Linux", "sparc"), ("", "")])
def test_where_there_is_no_release_the_next_way_is_tried(
    get: Installer, monkeypatch: pytest.MonkeyPatch, system: str, machine: str
) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(install, "_from_go_on_path", _makes(SCRIPT))
    assert get(VERSION)[1] == ON_PATH


@pytest.mark.usefixtures("release_only")
def test_a_release_with_a_pinned_checksum_is_installed_and_its_checksums_file_is_not_asked_for(
    get: Installer, releases: Releases, said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = _archive()
    # What the host says of its own files does not count where we know better.
    releases.publish(VERSION, archive, "0" * 64)
    _pin(monkeypatch, tmp_path, VERSION, sha256(archive))
    binary, how = get(VERSION)
    assert (binary.read_bytes(), how) == (SCRIPT, RELEASE)
    assert os.access(binary, os.X_OK)
    assert releases.asked == [_archive_name(VERSION)]
    assert said[0] == f"gitleaks-eval: downloading {install.RELEASES}/v{VERSION}/{_archive_name(VERSION)}"


@pytest.mark.usefixtures("release_only")
def test_a_release_that_is_not_the_pinned_one_is_refused_even_if_its_host_vouches_for_it(
    get: Installer, releases: Releases
) -> None:
    archive = _archive()
    releases.publish(VERSION, archive, sha256(archive))
    with pytest.raises(
        EvaluationError, match=rf"{RELEASE}: .* has SHA-256 {sha256(archive)}, not [0-9a-f]{{64}}: not the"
    ):
        get(VERSION)
    _assert_nothing_is_installed()


@pytest.mark.usefixtures("release_only")
def test_a_version_that_is_not_pinned_is_verified_by_the_checksums_file_of_its_release(
    get: Installer, releases: Releases
) -> None:
    archive = _archive()
    releases.publish(UNPINNED, archive, sha256(archive))
    binary, how = get(UNPINNED)
    assert (binary.read_bytes(), how) == (SCRIPT, RELEASE)
    assert f"gitleaks_{UNPINNED}_checksums.txt" in releases.asked


@pytest.mark.usefixtures("release_only")
def test_a_release_of_betterleaks_is_verified_by_the_checksums_file_of_its_own_name(
    cache: Path, said: list[str], releases: Releases
) -> None:
    archive = _archive(name="betterleaks")
    name = install._archive_name(install._Release(SCANNERS["betterleaks"], "1.4.0"))
    releases.routes[f"/v1.4.0/{name}"] = archive
    releases.routes["/v1.4.0/checksums.txt"] = f"{sha256(archive)}  {name}\n".encode()
    binary, how = installed_binary("1.4.0", said.append, SCANNERS["betterleaks"])
    assert (binary, how) == (cache / "bin" / "betterleaks-1.4.0", RELEASE)
    assert binary.read_bytes() == SCRIPT
    assert name.startswith("betterleaks_1.4.0_")
    assert said[-1] == f"gitleaks-eval: betterleaks 1.4.0 installed ({RELEASE})"


@pytest.mark.usefixtures("release_only")
@pytest.mark.parametrize(
    ("checksum", "problem"),
    [
        ("1" * 64, f"not {'1' * 64}: not the released file"),
        (None, "checksums.txt: "),
        ("", "not the released file|does not name"),
    ],
    ids=["wrong", "no file", "empty"],
)
def test_a_version_whose_checksum_is_wrong_or_unknown_is_refused(
    get: Installer, releases: Releases, checksum: str | None, problem: str
) -> None:
    releases.publish(UNPINNED, _archive(), checksum)
    with pytest.raises(EvaluationError, match=problem):
        get(UNPINNED)
    _assert_nothing_is_installed(UNPINNED)


@pytest.mark.usefixtures("release_only")
def test_a_checksums_file_that_does_not_name_the_archive_is_an_error(get: Installer, releases: Releases) -> None:
    releases.publish(UNPINNED, _archive())
    other = f"{sha256(_archive())}  another_{_archive_name(UNPINNED)}\n"
    releases.routes[f"/v{UNPINNED}/gitleaks_{UNPINNED}_checksums.txt"] = other.encode()
    with pytest.raises(EvaluationError, match=f"the checksums file of {UNPINNED} does not name "):
        get(UNPINNED)


@pytest.mark.usefixtures("release_only", "releases")
def test_an_archive_that_is_missing_is_an_error_that_names_its_address(get: Installer) -> None:
    with pytest.raises(EvaluationError, match=rf"http://127\.0\.0\.1:\d+/v{VERSION}/{_archive_name(VERSION)}: "):
        get(VERSION)


def _cut_off(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    handler.wfile.write(_archive())


def _no_http(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"garbage\r\n\r\n")


def _silence(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


def _slow(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(1)
    handler.close_connection = True


@pytest.mark.usefixtures("release_only")
@pytest.mark.parametrize("answer", [_cut_off, _no_http, _silence, _slow])
def test_a_download_that_breaks_is_a_way_that_failed_and_no_crash(
    get: Installer, releases: Releases, monkeypatch: pytest.MonkeyPatch, answer: Route
) -> None:
    monkeypatch.setattr(install, "DOWNLOAD_SECONDS", 0.5)
    releases.publish(VERSION, answer)
    with pytest.raises(EvaluationError, match=rf"{RELEASE}: {install.RELEASES}/v{VERSION}/"):
        get(VERSION)
    _assert_nothing_is_installed()


GARBAGE = {
    "text": lambda: b"<html>not found</html>",
    "nothing": lambda: b"",
    "cut off": lambda: _archive(os.urandom(100_000))[:60_000],
    "damaged": lambda: _archive()[:20] + b"\xff" * 40 + _archive()[60:],
    "no gitleaks in it": lambda: _archive(name="betterleaks"),
    "gitleaks is a folder": _archive_of_a_folder,
}


@pytest.mark.usefixtures("release_only")
@pytest.mark.parametrize("kind", GARBAGE)
def test_an_archive_that_holds_no_gitleaks_is_a_way_that_failed_and_no_crash(
    get: Installer, releases: Releases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    archive = GARBAGE[kind]()
    releases.publish(VERSION, archive)
    _pin(monkeypatch, tmp_path, VERSION, sha256(archive))
    with pytest.raises(EvaluationError, match=rf"{RELEASE}: gitleaks_\S+ holds no gitleaks"):
        get(VERSION)
    _assert_nothing_is_installed()


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The archives of another system, which are zip files."""
    monkeypatch.setattr(platform, "system", lambda: "Windows")
    monkeypatch.setattr(platform, "machine", lambda: "AMD64")


def _zip(content: bytes, name: str = "gitleaks.exe") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.md", "read me")
        archive.writestr(name, content)
    return out.getvalue()


@pytest.mark.usefixtures("release_only", "windows")
def test_a_zip_archive_is_unpacked(
    get: Installer, releases: Releases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = _zip(SCRIPT)
    releases.publish(VERSION, archive)
    _pin(monkeypatch, tmp_path, VERSION, sha256(archive))
    assert get(VERSION)[0].read_bytes() == SCRIPT


@pytest.mark.usefixtures("release_only", "windows")
@pytest.mark.parametrize("kind", ["text", "cut off", "damaged", "no gitleaks in it"])
def test_a_zip_archive_that_holds_no_gitleaks_is_a_way_that_failed_and_no_crash(
    get: Installer, releases: Releases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    good = _zip(os.urandom(1000) * 20)
    middle = len(good) // 2
    archive = {
        "text": b"<html>not found</html>",
        "cut off": good[:middle],
        "damaged": good[: middle - 200] + b"\xff" * 400 + good[middle + 200 :],
        "no gitleaks in it": _zip(SCRIPT, "betterleaks.exe"),
    }[kind]
    releases.publish(VERSION, archive)
    _pin(monkeypatch, tmp_path, VERSION, sha256(archive))
    with pytest.raises(EvaluationError, match=rf"{RELEASE}: gitleaks_\S+ holds no gitleaks"):
        get(VERSION)
    _assert_nothing_is_installed()


# Interrupted, and two at once.


def _interrupted_way(_: install._Release, scratch: Path, __: install.Progress) -> Path:
    (scratch / "gitleaks").write_bytes(SCRIPT[:10])
    (scratch / "gitleaks").chmod(0o755)
    raise KeyboardInterrupt


@pytest.mark.parametrize("place", ["while making", "before the rename", "at the rename", "system exit"])
def test_an_interrupted_install_leaves_nothing_that_looks_installed_and_the_next_one_works(
    get: Installer, cache: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise SystemExit if place == "system exit" else KeyboardInterrupt

    with monkeypatch.context() as patch:
        _use(patch, _interrupted_way if place == "while making" else _makes(SCRIPT), _makes(b""), _makes(b""))
        if place in {"before the rename", "system exit"}:
            patch.setattr(Path, "chmod", interrupt)
            cache.mkdir(mode=0o700, parents=True)
            patch.setattr(install, "cache_folder", lambda: cache)
        if place == "at the rename":
            patch.setattr(Path, "replace", interrupt)
        with pytest.raises((KeyboardInterrupt, SystemExit)):
            get(VERSION)
        _assert_nothing_is_installed()
    _use(monkeypatch, _fails(""), _makes(SCRIPT), _fails(""))
    binary, how = get(VERSION)
    assert (binary.read_bytes(), how) == (SCRIPT, ON_PATH)


# A job in the background starts with interrupts ignored.
INTERRUPTIBLE = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
IN_ANOTHER_PROCESS = """
import sys, time
from pathlib import Path
from gitleaks_eval.scanners import install

def no_release(*_):
    raise install._CannotInstallError("not today")

def way(release, scratch, progress):
    with open(sys.argv[1], "a") as calls:
        calls.write("called\\n")
    time.sleep(1)
    made = scratch / "gitleaks"
    made.write_bytes(b"#!/bin/sh\\n" * 1000)
    return made

install._from_release = no_release
{replace}
print(*install.installed_binary("8.18.4", lambda _: None), sep="|")
"""


@pytest.mark.usefixtures("cache")
def test_two_processes_at_once_install_once(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    code = IN_ANOTHER_PROCESS.format(replace="install._from_go_on_path = way")
    command = [sys.executable, "-c", code, str(calls)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    answers = [process.communicate(timeout=60)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    assert set(answers) == {f"{binary_path(VERSION)}|{ON_PATH}\n"}
    assert calls.read_text(encoding="ascii") == "called\n"


@pytest.mark.usefixtures("cache")
def test_a_build_is_killed_with_its_children_when_the_user_interrupts_it(tmp_path: Path) -> None:
    script(
        tmp_path / "bin" / "go", f"#!/bin/sh\ncd '{tmp_path}'\necho $$ >go.pid\nsleep 300 & echo $! >child.pid\nwait\n"
    )
    command = [sys.executable, "-c", IN_ANOTHER_PROCESS.format(replace=INTERRUPTIBLE), "unused"]
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            pids = [pid_in(tmp_path / "go.pid"), pid_in(tmp_path / "child.pid")]
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert "KeyboardInterrupt" in err
    assert [is_gone(pid) for pid in pids] == [True, True]
    _assert_nothing_is_installed()


# A build with Go.


@pytest.fixture
def fake_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Put a script in the place of Go, with no release and no package beside it."""

    def make(text: str) -> None:
        script(tmp_path / "bin" / "go", f"#!/bin/sh\n{text}")
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
        monkeypatch.setattr(install, "RELEASES", NOWHERE)
        monkeypatch.setattr(install, "_from_go_package", _fails("no package here"))

    return make


def test_a_build_that_fails_is_quoted_with_its_last_lines(get: Installer, fake_go: Callable[[str], None]) -> None:
    fake_go("for word in one two three four; do echo $word >&2; done\nexit 3\n")
    with pytest.raises(EvaluationError, match=f"{ON_PATH}: exit code 3: two / three / four\n"):
        get(VERSION)
    _assert_nothing_is_installed()


def test_a_go_that_cannot_be_run_is_a_way_that_failed(get: Installer, fake_go: Callable[[str], None]) -> None:
    fake_go("")
    Path(shutil.which("go") or "").write_bytes(b"\0\1\2\3")
    with pytest.raises(EvaluationError, match=f"{ON_PATH}: .*/go cannot be run: Exec format error\n"):
        get(VERSION)


def test_a_build_that_says_it_worked_and_made_nothing_is_no_crash(
    get: Installer, fake_go: Callable[[str], None]
) -> None:
    fake_go("exit 0\n")
    with pytest.raises(EvaluationError):
        get(VERSION)
    _assert_nothing_is_installed()


def test_a_build_that_takes_too_long_is_killed_with_its_children(
    get: Installer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_go: Callable[[str], None]
) -> None:
    monkeypatch.setattr(install, "BUILD_SECONDS", 1)
    fake_go(f"sleep 300 & echo $! >'{tmp_path}/child.pid'\nwait\n")
    with pytest.raises(EvaluationError, match=f"{ON_PATH}: .*/go took longer than 1 s and was stopped\n"):
        get(VERSION)
    assert is_gone(pid_in(tmp_path / "child.pid"))
    _assert_nothing_is_installed()


def test_progress_is_shown_while_it_builds(get: Installer, said: list[str], fake_go: Callable[[str], None]) -> None:
    fake_go('while [ "$1" != -o ]; do shift; done; echo "#!/bin/sh" >"$2"\n')
    get(VERSION)
    assert [text.split(" ")[1] for text in said] == ["downloading", "failed:", "building", "gitleaks"]
    assert f"building gitleaks {VERSION}" in said[2]
    assert said[3] == f"gitleaks-eval: gitleaks {VERSION} installed ({ON_PATH})"


def test_a_way_that_fails_says_why_before_the_next_is_tried(
    get: Installer, releases: Releases, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install, "_from_go_on_path", _makes(SCRIPT))
    get(VERSION)
    assert releases.asked == [_archive_name(VERSION)]
    url = f"{install.RELEASES}/v{VERSION}/{_archive_name(VERSION)}"
    assert said[1] == f"gitleaks-eval: failed: {RELEASE}: {url}: HTTP status 404 Not Found"


@pytest.mark.usefixtures("cache")
def test_a_long_build_says_again_and_again_what_is_running(
    said: list[str], monkeypatch: pytest.MonkeyPatch, fake_go: Callable[[str], None], tmp_path: Path
) -> None:
    monkeypatch.setattr(progress, "SECONDS", 0.02)
    ready = tmp_path / "ready"
    # It ends when it was told twice that it is still running.
    fake_go(
        f"while [ ! -e '{ready}' ]; do sleep 0.02; done\n"
        'while [ "$1" != -o ]; do shift; done; echo "#!/bin/sh" >"$2"\n'
    )

    def tell(text: str) -> None:
        said.append(text)
        if sum("still" in one for one in said) == 2:
            ready.touch()

    installed_binary(VERSION, tell)
    still = [text for text in said if "still" in text]
    assert len(still) >= 2
    assert all(
        re.fullmatch(rf"gitleaks-eval: still building gitleaks {VERSION} with Go after \d+ s", one) for one in still
    )


@pytest.mark.parametrize("name", GO_SWITCHES)
def test_no_variable_switches_gos_checksum_database_off(name: str) -> None:
    made = install._with_checksum_database({"HOME": "/home", name: GO_SWITCHES[name]})
    assert made == {**install._with_checksum_database({"HOME": "/home"})}
    assert made["HOME"] == "/home"
    assert made["GOSUMDB"] == "sum.golang.org"
    assert GO_SWITCHES[name] not in made[name].split()


def test_a_checksum_database_of_the_users_choice_is_kept() -> None:
    assert install._with_checksum_database({"GOSUMDB": "sum.golang.google.cn"})["GOSUMDB"] == "sum.golang.google.cn"
