"""A small runner of the shell steps of a composite action: what GitHub does with them, as far as that is said."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

_EXPRESSION = re.compile(r"\$\{\{ ([\w.-]+) \}\}")


class Job:
    """A job in a folder: what its steps are given, what each ended with, and what they said."""

    def __init__(self, action: Path, folder: Path, values: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self.action: dict[str, Any] = yaml.safe_load(action.read_text(encoding="utf-8"))
        given = {f"inputs.{name}": str(one.get("default", "")) for name, one in self.action["inputs"].items()}
        self.values = {**given, "runner.temp": str(folder), **values}
        self.statuses: dict[str, int] = {}
        self.text = ""
        self._environment = environment
        self._output = folder / "outputs"

    def run(self, *skipped: str) -> None:
        """Run the shell steps in order, but those that are skipped; after a failure only those that say so."""
        for step in self.action["runs"]["steps"]:
            failed = any(self.statuses.values())
            if "run" in step and step["name"] not in skipped and (not failed or "!cancelled()" in step.get("if", "")):
                self.statuses[step["name"]] = self._run(step)

    def _run(self, step: Mapping[str, Any]) -> int:
        assert step["shell"] == "bash"
        # What a pull request names must not become a part of the script.
        assert "${{" not in step["run"]
        self._output.write_text("", encoding="utf-8")
        named = {name: self._value(text) for name, text in step.get("env", {}).items()}
        environment = {**self._environment, **named, "GITHUB_OUTPUT": str(self._output)}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        ended = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, cwd=os.sep)
        self.text += ended.stdout + ended.stderr
        for line in self._output.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition("=")
            self.values[f"steps.{step['id']}.outputs.{name}"] = value
        return ended.returncode

    def _value(self, text: str) -> str:
        return _EXPRESSION.sub(lambda match: self.values.get(match[1], ""), text)
