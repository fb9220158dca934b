"""Combinations of scanner, configuration and flags: none that loses more than a tenth of a company's secrets is green.

Add rows to bad_combinations.yaml. A run is of two scenarios, and of all rules, places and entries: where that is not
green, a whole run, which asks for more, is not green either. A green one has to name what loses so much.
"""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import bad_configurations
import pytest
import tomli_w
import yaml
from company import company, secrets
from corpus import shipped_scenarios
from programs import script
from ran import Ran, ended_in, run
from seeded_faults import Rules, faulty

from gitleaks_eval.coverage.configuration.builtin import builtin_document
from gitleaks_eval.scanners import SCANNERS
from gitleaks_eval.scanners.build import probe
from gitleaks_eval.scanners.install import installed_binary

pytestmark = pytest.mark.usefixtures("own_environment", "usual_kinds")

Row = Mapping[str, Any]
ROWS: Sequence[Row] = yaml.safe_load(Path(__file__).with_name("bad_combinations.yaml").read_text(encoding="utf-8"))
GREEN = ("STRONG_PASS", "PASS", "SAFE")
MUCH = 0.1
CONFIG = ".gitleaks.toml"
EXTENDS = "[extend]\nuseDefault = true\n"


def title(row: Row) -> str:
    """A row, short: what it is about, and what is bad in it."""
    said = " ".join(str(row[key]) for key in ("scanner", "fault", "made", "args", "config", "whole") if key in row)
    return f"{row['line']}: {' '.join(said.split())}{' accepted' * bool(row.get('accept'))}"


@dataclass(frozen=True)
class Ground:
    """The company's repository, the scanner's own rules, and how a version of a scanner is found."""

    folder: Path
    installed: Callable[[str], Path]

    @cached_property
    def repository(self) -> Path:
        return company(self.folder)

    @cached_property
    def document(self) -> Mapping[str, Any]:
        build = probe(self.installed("8.30.1"), "a test")
        return builtin_document(Path(build.path), build.sha256)

    @cached_property
    def rules(self) -> Rules:
        ids = sorted(str(rule["id"]) for rule in self.document["rules"])
        return Rules(tomli_w.dumps(self.document), "", tuple(ids))

    @cached_property
    def before(self) -> dict[str, frozenset[str]]:
        """What each scanner finds with nothing bad."""
        return {}

    def found(self, scanner: Path, config: str, args: Sequence[str]) -> frozenset[str]:
        """The values of the company that a scan reports."""
        report, path = self.folder / "report.json", self.folder / "scanned.toml"
        path.write_text(config, encoding="utf-8")
        options = ["--config", str(path), "--report-format", "json", "--report-path", str(report)]
        # `detect` is known to all versions, if hidden in the newer ones.
        source = ["detect", "--source", str(self.repository)]
        command = [str(scanner), *source, *options, "--exit-code", "42", "--no-banner", *args]
        report.unlink(missing_ok=True)
        done = subprocess.run(command, capture_output=True, check=False, cwd=self.folder)
        assert done.returncode in {0, 42}, done.stderr.decode()[-500:]
        reported = [str(one["Secret"]) for one in json.loads(report.read_bytes()) or []]
        return frozenset(value for value in secrets() if any(value[:-1] in text for text in reported))

    def found_before(self, version: str) -> frozenset[str]:
        """What this version finds with its own configuration."""
        if version not in self.before:
            self.before[version] = self.found(self.installed(version), EXTENDS, ())
        return self.before[version]

    def fingerprints(self) -> str:
        """A list that ignores what stands in every second path of the company."""
        report = self.folder / "all.json"
        command = [str(self.installed("8.30.1")), "git", str(self.repository), "--report-path", str(report)]
        subprocess.run([*command, "--exit-code", "0"], capture_output=True, check=True)
        found = json.loads(report.read_bytes())
        path = self.folder / "ignored.txt"
        path.write_text("".join(f"{one['Fingerprint']}\n" for one in found[::2]), encoding="utf-8")
        return str(path)


@dataclass(frozen=True)
class Combination:
    """A row, made real in a folder."""

    row: Row
    ground: Ground
    folder: Path

    @property
    def version(self) -> str:
        named = str(self.row.get("scanner", "8.30.1"))
        return "8.30.1" if named == "unreadable" else named

    @cached_property
    def scanner(self) -> Path:
        real = self.ground.installed(self.version)
        program = (
            faulty(self.folder / "scanner", self.row["fault"], real, self.ground.rules) if "fault" in self.row else real
        )
        if self.row.get("scanner") != "unreadable":
            return program
        return script(self.folder / "wrapped/gitleaks", f'#!/bin/sh\nexec "{program}" "$@"\n')

    @cached_property
    def config(self) -> str:
        if "made" in self.row:
            return str(getattr(bad_configurations, self.row["made"])(self.ground.document))
        if "whole" in self.row:
            return str(self.row["whole"])
        return EXTENDS + str(self.row.get("config", ""))

    @cached_property
    def args(self) -> str:
        text = str(self.row.get("args", ""))
        return text.replace("{ignored}", self.ground.fingerprints()) if "{ignored}" in text else text

    def lost(self) -> float:
        """The share of what the scanner finds with nothing bad that it does not find so."""
        before = self.ground.found_before(self.version)
        return len(before - self.ground.found(self.scanner, self.config, shlex.split(self.args))) / len(before)

    def evaluated(self, scenarios: str) -> Ran:
        """What a user is told."""
        if self.config != EXTENDS:
            (self.folder / CONFIG).write_text(self.config, encoding="utf-8")
        if self.row.get("accept"):
            line = ["gitleaks_eval", "accept", "--yes", "--why", "looked at", f"--scanner-binary={self.scanner}"]
            kept = {name: value for name, value in os.environ.items() if name != "CI"}
            ended_in(self.folder, line, kept)
        args = [f"--gitleaks-args={self.args}"] if self.args else []
        return run(self.folder, "-q", "--gitleaks-eval", f"--gitleaks-binary={self.scanner}", scenarios, *args)

    def is_named(self, section: str) -> bool:
        """Whether the first screen names what is bad, and a count of what it loses."""
        counted = re.compile(
            r"[1-9]\d* (allowlisted|accepted|switched off)|(hides?|silences?|loses?) [1-9]|leaves out findings"
        )
        named = [CONFIG] if self.args == "" else [flag.partition("=")[0] for flag in shlex.split(self.args)]
        return any(all(name in line for name in named) and counted.search(line) for line in section.splitlines())


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    def installed(version: str) -> Path:
        scanner, _, number = version.rpartition("@")
        return installed_binary(number, print, SCANNERS[scanner or "gitleaks"])[0]

    return Ground(tmp_path_factory.mktemp("ground"), installed)


@pytest.fixture(scope="module")
def scenarios(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two scenarios; the option that names them."""
    return shipped_scenarios(tmp_path_factory.mktemp("scenarios"), "mixed-secrets", "historical-secrets")


def section(ran: Ran) -> str:
    """What stands below our title."""
    _, _, text = ran.text.rpartition(" gitleaks-eval =")
    return text.partition("\n")[2]


@pytest.mark.parametrize("row", ROWS, ids=title)
def test_what_loses_more_than_a_tenth_is_not_green(row: Row, ground: Ground, scenarios: str, tmp_path: Path) -> None:
    combination = Combination(row, ground, tmp_path)
    lost = combination.lost()
    if lost <= MUCH:
        return
    ran = combination.evaluated(scenarios)
    if ran.status == 4:
        assert "ERROR: " in ran.text
        return
    said = section(ran)
    assert ran.status in {0, 1}, said
    assert said.startswith((*GREEN, "WEAK_PASS", "FAIL")), ran.text
    is_green = ran.status == 0 and said.startswith(GREEN)
    assert not is_green or combination.is_named(said), f"{lost:.0%} lost\n{said}"


def test_the_company_has_what_a_scanner_finds(ground: Ground) -> None:
    assert len(secrets()) == 215
    assert ground.found_before("8.30.1") == frozenset(secrets())


def test_rows_are_bad() -> None:
    assert len(ROWS) >= 80
