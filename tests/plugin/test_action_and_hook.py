"""The action, the hook and the image: their lines are run, as far as that needs no service."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from builders import git
from corpus import shipped_scenarios
from ran import ended_in
from workflow_steps import Job

from gitleaks_eval.command.line import read_line
from gitleaks_eval.reports.output.report import CODE_QUALITY
from gitleaks_eval.reports.pull_request.comment import MARK
from gitleaks_eval.scanners.build import PINNED_VERSION

pytestmark = pytest.mark.usefixtures("own_environment")

ROOT = Path(__file__).parents[2]
RULES = "[extend]\nuseDefault = true\n"
EXPORTED = {".gitattributes": "*.toml export-ignore\n"}
GH = """#!/bin/sh
printf '%s\\n' "$*" >> "$GH_LOG"
case "$*" in
  *--paginate*) cat "$GH_LOG.known" ;;
  *) for last; do :; done; cat "${last#body=@}" > "$GH_LOG.body" ;;
esac
"""


class PullRequest:
    """A pull request: a base branch, a checkout of the head, and a stand-in for the client of GitHub."""

    def __init__(self, folder: Path, scenarios: str) -> None:
        self.folder, self.head, self.scenarios = folder, folder / "head", scenarios
        self.base = ""
        for name, text in (("gitleaks-eval", f'#!/bin/sh\nexec {sys.executable} -m gitleaks_eval "$@"\n'), ("gh", GH)):
            program = folder / "bin" / name
            program.parent.mkdir(exist_ok=True)
            program.write_text(text, encoding="utf-8")
            program.chmod(0o755)
        self.log = folder / "gh.log"
        (folder / "gh.log.known").touch()

    def commit(self, files: dict[str, str]) -> None:
        """The base branch, and a checkout of it without any other commit."""
        origin = self.folder / "origin"
        origin.mkdir()
        git(origin, "init", "--quiet", "--initial-branch=main")
        for name, content in files.items():
            (origin / name).write_text(content, encoding="utf-8")
        git(origin, "add", ".")
        git(origin, "commit", "--quiet", "--allow-empty", "--message=base")
        self.base = git(origin, "rev-parse", "HEAD").decode().strip()
        git(self.folder, "clone", "--quiet", str(origin), str(self.head))

    def evaluated(self, base: str | None = None, **inputs: str) -> Job:
        """The job, after its steps."""
        temp = self.folder / "temp"
        temp.mkdir(exist_ok=True)
        values = {
            "github.event.pull_request.base.sha": self.base if base is None else base,
            "github.event.pull_request.number": "7",
            "github.repository": "acme/shop",
            "github.workspace": str(self.head),
            "inputs.arguments": f"--only=scenarios {self.scenarios}",
            **{f"inputs.{name}": value for name, value in inputs.items()},
        }
        environment = {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "GH_LOG": str(self.log)}
        job = Job(ROOT / "action.yml", temp, values, environment)
        job.run("Install")
        return job

    @property
    def body(self) -> str:
        """The comment."""
        return (self.folder / "gh.log.body").read_text(encoding="utf-8")


@pytest.fixture
def pull_request(tmp_path: Path, gitleaks: Callable[[str], Path]) -> PullRequest:
    gitleaks(PINNED_VERSION)
    return PullRequest(tmp_path, shipped_scenarios(tmp_path / "corpus", "private-keys"))


def test_the_action_compares_with_the_base_branch_also_what_is_extended_and_comments_once(
    pull_request: PullRequest,
) -> None:
    pull_request.commit({".gitleaks.toml": "[extend]\npath = 'team.toml'\n", "team.toml": RULES, **EXPORTED})
    head = pull_request.head
    # Neither is obeyed: it is the pull request's.
    (head / "conftest.py").write_text("import os\nos._exit(0)\n", encoding="utf-8")
    (head / "pytest.ini").write_text("[pytest]\naddopts = --co\n", encoding="utf-8")
    (head / "team.toml").write_text(f"{RULES}[allowlist]\npaths = ['key']\n", encoding="utf-8")
    job = pull_request.evaluated()
    assert job.statuses["End as the evaluation did"] == 1, job.text
    document = json.loads((pull_request.folder / "temp/gitleaks-eval/results/comparison.json").read_bytes())
    assert [pair["verdict"] for pair in document["pairs"]] == ["REGRESSION"]
    assert document["candidates"][0]["config"].endswith("base/team.toml > builtin")
    assert pull_request.body.startswith(f"{MARK}\n## REGRESSION: ")
    assert "--method POST repos/acme/shop/issues/7/comments" in pull_request.log.read_text(encoding="utf-8")
    (pull_request.folder / "gh.log.known").write_text("41\n42\n", encoding="utf-8")
    (head / "team.toml").write_text("broken", encoding="utf-8")
    again = pull_request.evaluated()
    assert again.statuses["End as the evaluation did"] == 4, again.text
    # No verdict of an earlier push stays.
    assert "## INCOMPLETE: there is no verdict (status 4)" in pull_request.body
    assert "--method PATCH repos/acme/shop/issues/comments/41" in pull_request.log.read_text(encoding="utf-8")


def test_a_configuration_that_is_new_is_compared_with_the_scanners_own(pull_request: PullRequest) -> None:
    pull_request.commit({})
    (pull_request.head / ".gitleaks.toml").write_text(RULES, encoding="utf-8")
    job = pull_request.evaluated()
    assert job.statuses["End as the evaluation did"] == 0, job.text
    assert pull_request.body.startswith(f"{MARK}\n## SAFE: ")
    assert "against builtin" in pull_request.body


def test_an_argument_of_a_workflow_is_no_line_of_the_shell(pull_request: PullRequest) -> None:
    pull_request.commit({".gitleaks.toml": RULES})
    job = pull_request.evaluated(base="", arguments="--only=$(touch${IFS}/tmp/x);false `id` *")
    assert job.statuses["End as the evaluation did"] == 4, job.text
    assert "$(touch${IFS}/tmp/x);false" in job.text


def test_on_a_fork_nobody_comments() -> None:
    steps = {step.get("name"): step for step in yaml.safe_load((ROOT / "action.yml").read_bytes())["runs"]["steps"]}
    assert "github.event.pull_request.head.repo.full_name == github.repository" in steps["Comment"]["if"]
    assert steps["Install"]["run"] == 'python -m pip install --quiet "$ACTION"'


def hook() -> dict[str, object]:
    (one,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_bytes())
    assert isinstance(one, dict)
    return one


def test_the_hook_looks_at_configurations_and_what_stands_beside_them() -> None:
    files = re.compile(str(hook()["files"]))
    for name in (
        ".gitleaks.toml",
        "a/gitleaks.toml",
        ".betterleaks.toml",
        ".gitleaks-eval.yaml",
        "a/betterleaks-eval.yaml",
    ):
        assert files.search(name), name
    for name in ("gitleaks.md", "a.toml", "gitleaks.toml/x", "eval.yaml"):
        assert not files.search(name), name


def test_the_hook_lints_and_tests_rules_and_fails_for_each(tmp_path: Path, gitleaks: Callable[[str], Path]) -> None:
    gitleaks(PINNED_VERSION)
    program, *arguments = shlex.split(str(hook()["entry"]))
    assert program == "gitleaks-eval"
    assert read_line(arguments).subcommand == "run"
    own = "[[rules]]\nid = 'acme'\nregex = '''acme_[a-z0-9]{32}'''\nkeywords = ['acme_']\n"
    beside = "rules:\n  acme:\n    finds:\n      - { pattern: '%s_[a-z0-9]{32}', in: [yaml] }\n"
    states = [(RULES + own, beside % "acme", 0), (RULES + own, beside % "other", 1), (f"titel = 1\n{RULES}", "", 1)]
    # What `gitleaks-eval lint` fails.
    states.append((f"{RULES}[[allowlists]]\npaths = ['^deploy/']\n", "", 1))
    for config, tests, status in states:
        (tmp_path / ".gitleaks.toml").write_text(config, encoding="utf-8")
        (tmp_path / ".gitleaks-eval.yaml").write_text(tests, encoding="utf-8")
        line = ("gitleaks_eval", *arguments, f"--scanner-version={PINNED_VERSION}")
        ended = ended_in(tmp_path, line, os.environ)
        assert ended.returncode == status, ended.stdout + ended.stderr


def instructions() -> list[tuple[str, str]]:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines if not line.startswith("#"))]


def test_the_image_has_a_scanner_of_a_user_that_is_not_root(gitleaks: Callable[[str], Path]) -> None:
    found = instructions()
    names = [name for name, _ in found]
    assert set(names) <= {"FROM", "RUN", "COPY", "USER", "ENV", "WORKDIR", "ENTRYPOINT"}
    user = names.index("USER")
    assert [rest for name, rest in found if name == "USER"] == ["10001"]
    assert any("--uid 10001" in rest for _, rest in found[:user])
    (installs,) = (rest for name, rest in found[user:] if name == "RUN")
    program, *arguments = shlex.split(installs)
    assert program == "python"
    ended = subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True)
    assert PINNED_VERSION in installs
    assert gitleaks(PINNED_VERSION).exists()
    assert ended.stderr == ""
    assert json.loads(found[-1][1]) == ["gitleaks-eval"]


@pytest.mark.parametrize("given", [[], ["lint"], ["explain", "--help"], ["compare"], ["--output=/tmp/results"]])
def test_the_image_takes_each_line_as_the_command_does(given: list[str]) -> None:
    program, *before = json.loads(instructions()[-1][1])
    assert program == "gitleaks-eval"
    line = read_line([*before, *given])
    assert line.subcommand == (given[0] if given and not given[0].startswith("-") else "run")


def test_the_image_writes_no_cache_into_the_folder_that_is_mounted() -> None:
    (environment,) = (shlex.split(rest) for name, rest in instructions() if name == "ENV")
    assert "PYTEST_ADDOPTS=-p no:cacheprovider" in environment


def test_the_how_to_names_what_there_is() -> None:
    text = (ROOT / "docs/in-a-pull-request.md").read_text(encoding="utf-8")
    _job, github, gitlab, hooks = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", text, re.DOTALL))
    inputs = yaml.safe_load((ROOT / "action.yml").read_bytes())["inputs"]
    (step,) = (one for one in github["jobs"]["evaluate"]["steps"] if "gitleaks-eval" in one["uses"])
    assert step["with"].keys() <= inputs.keys()
    assert inputs["scanner-version"]["default"] == PINNED_VERSION
    assert (
        read_line(["compare", "--config=a", "--config=b", *step["with"]["arguments"].split()]).subcommand == "compare"
    )
    # In YAML 1.1 `on` is a truth.
    paths = github[True]["pull_request"]["paths"]
    assert {".gitleaks.toml", ".gitleaksignore", ".gitleaks-eval.yaml"} < set(paths)
    for line in gitlab["evaluate"]["script"][1:]:
        assert read_line(shlex.split(line)[1:]).subcommand == "run"
    assert gitlab["evaluate"]["artifacts"]["reports"]["codequality"] == f"gitleaks-eval-results/{CODE_QUALITY}"
    assert hooks["repos"][0]["hooks"] == [{"id": hook()["id"]}]
