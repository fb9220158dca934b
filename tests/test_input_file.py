"""What the user names may be a pipe or a device: it is refused at once, wherever it is named."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.configuration import choose_configuration
from gitleaks_eval.envelope import read_analysis
from gitleaks_eval.errors import EvaluationError, InputError
from gitleaks_eval.input_file import read_input
from gitleaks_eval.judges.prompt import load_template
from gitleaks_eval.judges.shipped import SHIPPED
from gitleaks_eval.real_repository import read_sources
from gitleaks_eval.recipe import load_recipe
from gitleaks_eval.scenario import load_scenario, read_json
from gitleaks_eval.severity import load_policy

NO_FILE = "cannot be read: it is a pipe, device or socket; name a file"


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A pipe that nobody writes to; opened the usual way, it would hang the test."""
    path = tmp_path / f"{SHIPPED[0].dimension}.md"
    os.mkfifo(path)
    return path


def configuration(path: Path) -> object:
    return choose_configuration((str(path), path.parent, "--gitleaks-config"), path.parent, path.parent)


def extended(path: Path) -> object:
    named = path.parent / "named.toml"
    named.write_text(f"[extend]\npath = '{path}'\n", encoding="utf-8")
    return configuration(named)


READERS: dict[str, Callable[[Path], Any]] = {
    "the configuration": configuration,
    "[extend] path of": extended,
    "--gitleaks-baseline": lambda path: read_json(path, "--gitleaks-baseline"),
    "the list": lambda path: read_sources([f"@{path}"], path.parent),
    "ground truth": lambda path: load_scenario(path, path.parent),
    "recipe": load_recipe,
    "severity policy": load_policy,
    "the prompt of the judge": lambda path: load_template(SHIPPED[0], path.parent),
}


@pytest.mark.parametrize(("what", "read"), READERS.items(), ids=READERS)
def test_a_pipe_is_refused_at_once_and_named(what: str, read: Callable[[Path], Any], pipe: Path) -> None:
    with pytest.raises(InputError) as error:
        read(pipe)
    assert what in str(error.value)
    assert f"{pipe}: {NO_FILE}" in str(error.value)


def test_a_pipe_instead_of_an_analysis_is_an_error_of_its_scenario(pipe: Path) -> None:
    with pytest.raises(EvaluationError, match=NO_FILE):
        read_analysis(pipe)


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_a_device_is_no_file(path: str) -> None:
    with pytest.raises(OSError, match="it is a pipe, device or socket"):
        read_input(Path(path))


def test_a_folder_is_refused_as_the_operating_system_does(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="Is a directory"):
        read_input(tmp_path)


def test_a_file_is_read_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"a\r\n\0b" * 100_000)
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_input(tmp_path / "link") == b"a\r\n\0b" * 100_000
