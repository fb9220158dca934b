"""A candidate and the build that was found for it, as header and reports name them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gitleaks_eval.analysis.matched import MatchedScenario
from gitleaks_eval.config.chain import Configuration
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.text import printable
from gitleaks_eval.engine.settings.candidates import Candidate
from gitleaks_eval.scanners.arguments import decode_depth
from gitleaks_eval.scanners.build import ScannerBuild, binary_on_path, find_scanner


@dataclass(frozen=True, slots=True)
class UnderTest:
    """A candidate with its build, or why there is none."""

    candidate: Candidate
    build: ScannerBuild | None = None
    error: str | None = None

    def title(self, root: Path) -> str:
        """Scanner, version, where it came from, and the configuration under test and why it was chosen."""
        configuration = self.candidate.configuration
        scanner = self.build.title if self.build else f"NO SCANNER: {printable(str(self.error).splitlines()[0])}"
        options = map(printable, self.candidate.options)
        return " | ".join([scanner, configuration_title(configuration, root), *options])

    def changed(self) -> str | None:
        """Return why what has run may not be the build that is named; None while it is."""
        return self.build.changed() if self.build else None

    def fields(self, root: Path, subjects: Mapping[str, MatchedScenario]) -> dict[str, Any]:
        """Return the `scanner` of the reports; of existing analyses name and version are known, and nothing else."""
        configuration, build = self.candidate.configuration, self.build
        if configuration is None:
            name = _joined(subject.tool_name for subject in subjects.values())
            version = _joined(subject.tool_version for subject in subjects.values())
        else:
            name = build.name if build else self.candidate.scanner.scanner
            version = build.version if build else None
        depth = self.candidate.decode_depth
        depth = decode_depth(self.candidate.args) if depth is None else depth
        return {
            "name": name,
            "version": version,
            "source": build.source if build else None,
            "sha256": build.sha256 if build else None,
            "config": configuration.title(root) if configuration else None,
            "config_sha256": configuration.sha256 if configuration else None,
            "command": build.command if build else None,
            "decode_depth": depth if depth is not None else build.decode_depth if build else None,
            **({"mode": self.candidate.mode} if self.candidate.mode != "git" else {}),
            **({"args": list(self.candidate.args)} if self.candidate.args else {}),
        }


def configuration_title(configuration: Configuration | None, root: Path) -> str:
    """`config .gitleaks.toml > builtin (sha256 …, found in rootdir)`."""
    if configuration is None:
        return "config as in the analyses"
    return f"config {configuration.title(root)} (sha256 {configuration.sha256[:8]}, {configuration.why})"


def find_under_test(candidate: Candidate, progress: Callable[[str], None], private: Path | None) -> UnderTest:
    """Find the scanner of a candidate; a run that only collects has no `private` folder, and installs nothing."""
    choice = candidate.scanner
    if private is None and choice.binary is None and not (choice.version is None and binary_on_path()):
        return UnderTest(candidate, error=f"{choice.title} (not looked at while collecting)")
    try:
        build = find_scanner(choice, progress, private)
        if _is_script(build.program):
            build = replace(build, source=f"{build.source}, a script that says so")
        build.depth(candidate.decode_depth)
    except EvaluationError as error:
        return UnderTest(candidate, error=str(error))
    return UnderTest(candidate, build)


def _is_script(program: str) -> bool:
    """Return whether the version is a script's own word: what stands behind it nobody has looked at."""
    with Path(program).open("rb") as file:
        return file.read(2) == b"#!"


def _joined(names: Iterable[str | None]) -> str | None:
    return ", ".join(sorted({name for name in names if name})) or None
