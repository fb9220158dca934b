"""Usual places of real projects, what entries hide of them, and builds that see less than the version they state."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import tomli_w
from corpus import report

from gitleaks_eval.core.schema import schema_problems
from gitleaks_eval.coverage.configuration.builtin import builtin_document
from gitleaks_eval.scanners.build import probe

pytestmark = pytest.mark.usefixtures("own_environment", "usual_kinds")

ONLY = "--gitleaks-only=places,entries"
# A program around the real one that reports nothing at paths that begin as these do.
FILTER = """\
import json, subprocess, sys
if sys.argv[1:] == ["version"] and {version!r}:
    sys.exit(print({version!r}))
ended = subprocess.run([{real!r}, *sys.argv[1:]]).returncode
if "--report-path" in sys.argv:
    path = sys.argv[sys.argv.index("--report-path") + 1]
    kept = [one for one in json.load(open(path)) or [] if not one["File"].startswith({dropped!r})]
    json.dump(kept, open(path, "w"))
sys.exit(ended)
"""

Blinded = Callable[[str, str], Path]


@pytest.fixture
def blinded(pytester: pytest.Pytester, gitleaks: Callable[[str], Path]) -> Blinded:
    """Make a build that holds the rules of 8.30.1, and reports nothing at some paths."""

    def made(dropped: str, version: str) -> Path:
        real = gitleaks("8.30.1")
        folder = pytester.mkdir("blinded")
        code = FILTER.format(real=str(real), dropped=dropped, version=version)
        (folder / "filter.py").write_text(code, encoding="utf-8")
        build = probe(real, "a test")
        rules = tomli_w.dumps(builtin_document(Path(build.path), build.sha256))
        program = folder / "gitleaks"
        start = f'#!/bin/sh\nexec {sys.executable} -ISB {folder / "filter.py"} "$@"\n'
        program.write_bytes(start.encode() + b"\0" + rules.encode() + b"\0")
        program.chmod(0o755)
        return program

    return made


def run(pytester: pytest.Pytester, binary: Path, *options: str, path: str = "") -> pytest.RunResult:
    if path:
        content = f"[extend]\nuseDefault = true\n[allowlist]\npaths = ['''{path}''']\n"
        (pytester.path / ".gitleaks.toml").write_text(content, encoding="utf-8")
    return pytester.runpytest_subprocess("--gitleaks-eval", "-q", f"--gitleaks-binary={binary}", ONLY, *options)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (r"^([^/]+/){2,}", "silences 217 of 222 rules and hides 153 of 378 places"),
        (r"^(services|apps|packages)/", "hides 47 of 174 project places"),
    ],
)
def test_an_entry_that_hides_more_than_a_quarter_of_a_family_of_places_fails(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path], path: str, said: str
) -> None:
    result = run(pytester, gitleaks("8.30.1"), path=path)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["FAIL *", f"FAILED  entry  .gitleaks.toml:4 *: {said}"])


def test_each_entry_that_hides_less_is_named_with_its_count_the_one_that_hides_most_first(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path]
) -> None:
    result = run(pytester, gitleaks("8.30.1"), path=r"^kustomize/''', '''src/main/java/''', '''(libs|charts)/")
    assert result.ret == 0
    hiding = [line for line in result.outlines if line.startswith("HIDES")]
    assert [line.rsplit(": ", 1) for line in hiding] == [
        ["HIDES  .gitleaks.toml:4#2 [allowlist] paths[1] src/main/java/", "hides 15 of 378 places"],
        ["HIDES  .gitleaks.toml:4#3 [allowlist] paths[2] (libs|charts)/", "hides 8 of 378 places"],
        [
            "HIDES  .gitleaks.toml:4 [allowlist] paths[0] ^kustomize/",
            "hides no usual place; silences 222 rules where it matches",
        ],
    ]
    result.stdout.fnmatch_lines(["PASS *"])


def configured(pytester: pytest.Pytester, allowlist: str) -> None:
    content = f"[extend]\nuseDefault = true\n[[allowlists]]\n{allowlist}\n"
    (pytester.path / ".gitleaks.toml").write_text(content, encoding="utf-8")


def test_an_entry_of_paths_for_certain_rules_is_asked_with_their_secrets(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path]
) -> None:
    configured(pytester, "targetRules = ['npm-access-token', 'jwt']\npaths = ['^ansible/', 'src/main/java/']")
    result = run(pytester, gitleaks("8.30.1"))
    hiding = [line for line in result.outlines if line.startswith("HIDES")]
    assert hiding == [
        (
            "HIDES  .gitleaks.toml:5#2 allowlists[0].paths[1] src/main/java/: "
            "hides 15 of 378 places and silences 2 of 2 rules where it matches"
        ),
        (
            "HIDES  .gitleaks.toml:5 allowlists[0].paths[0] ^ansible/: "
            "hides 7 of 378 places and silences 2 of 2 rules where it matches"
        ),
    ]
    document = report(pytester)
    assert schema_problems("report", document) == []
    assert [row["for_rules"] for row in document["coverage"]["entries"]] == [["jwt", "npm-access-token"]] * 2


def test_commits_of_an_allowlist_are_named_in_a_single_line(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path]
) -> None:
    configured(pytester, f"commits = {[f'{number:040x}' for number in range(9)]}")
    result = run(pytester, gitleaks("8.30.1"))
    hiding = [line for line in result.outlines if line.startswith("HIDES")]
    assert hiding == [
        "HIDES  .gitleaks.toml:4 commits: leaves out findings of 9 commits; what stands in them is not measured"
    ]


def test_a_build_that_does_not_see_what_its_version_sees_fails_with_the_places(
    pytester: pytest.Pytester, blinded: Blinded
) -> None:
    result = run(pytester, blinded("services/", "8.30.1"))
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["FAIL *", "tested: * not seen, which gitleaks 8.30.1 sees: project:services/*; 59 more are never scanned *"]
    )
    result.stdout.fnmatch_lines(["FAILED * project:services/auth/settings.toml: not seen, gitleaks 8.30.1 sees it*"])
    document = report(pytester)
    assert schema_problems("report", document) == []
    missing = [row for row in document["coverage"]["places"] if row["status"] == "missing"]
    assert {(row["family"], row["case"].split("/")[0]) for row in missing} == {("project", "services")}


def test_a_build_of_an_unknown_version_that_sees_less_than_the_nearest_is_weak_until_that_is_accepted(
    pytester: pytest.Pytester, blinded: Blinded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    program = blinded("services/search/", "8.99.0")
    result = run(pytester, program)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["WEAK_PASS *", "next: look at 2 places that this build does not see; * `gitleaks-eval accept`"]
    )
    result.stdout.fnmatch_lines(["WEAK  2 places that gitleaks 8.30.1, the nearest known build, sees *"])
    assert run(pytester, program, "--gitleaks-accept", "--gitleaks-yes").ret == 0
    accepted = (pytester.path / ".gitleaks-eval.yaml").read_text(encoding="utf-8")
    assert accepted.count("entry: 'unseen place project:services/search/") == len(["deploy.sh", "values.yaml"])
    assert "entry: 'unseen place project:services/search/deploy.sh of gitleaks 8.99.0'" in accepted
    result = run(pytester, program)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["PASS *"])
    result.stdout.no_fnmatch_line("WEAK*")


def test_what_is_accepted_of_a_build_covers_no_other_places_than_those_it_names(
    pytester: pytest.Pytester, blinded: Blinded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    assert run(pytester, blinded("services/search/", "8.99.0"), "--gitleaks-accept", "--gitleaks-yes").ret == 0
    # As many places of the same family.
    code = pytester.path / "blinded" / "filter.py"
    code.write_text(code.read_text(encoding="utf-8").replace("services/search/", "services/billing/"), encoding="utf-8")
    result = run(pytester, pytester.path / "blinded" / "gitleaks")
    result.stdout.fnmatch_lines(
        ["WEAK_PASS *", "WEAK  * that gitleaks 8.30.1, the nearest known build, sees * project:services/billing/*"]
    )


@pytest.mark.parametrize("dropped", ["places/line_", "places/middle_commit", "services/"])
def test_a_build_is_held_to_its_version_with_rules_of_the_users_alone_too(
    pytester: pytest.Pytester, blinded: Blinded, dropped: str
) -> None:
    content = "[[rules]]\nid = 'acme'\nregex = 'acme_[a-z0-9]{32}'\nkeywords = ['acme_']\n"
    (pytester.path / ".gitleaks.toml").write_text(content, encoding="utf-8")
    result = run(pytester, blinded(dropped, "8.30.1"))
    result.stdout.fnmatch_lines(["FAIL *", "tested: * not seen, which gitleaks 8.30.1 sees: *"])
    result.stdout.fnmatch_lines(["FAILED  * place*  not seen, gitleaks 8.30.1 sees it"])


def test_a_build_that_decodes_less_is_held_to_what_its_version_sees_without_decoding(
    pytester: pytest.Pytester, blinded: Blinded
) -> None:
    program = blinded("places/line_", "8.30.1")
    tables = [
        f"[tool.gitleaks-eval.candidates.{name}]\nbinary = '{program}'\ndecode_depth = 0\nbaseline = {first}\n"
        for name, first in (("before", "true"), ("after", "false"))
    ]
    (pytester.path / "pyproject.toml").write_text("\n".join(tables), encoding="utf-8")
    pytester.runpytest_subprocess("--gitleaks-eval", "-q", "--gitleaks-compare", ONLY)
    document = json.loads((pytester.path / "gitleaks-eval-results/before/evaluation_report.json").read_bytes())
    missing = {row["case"] for row in document["coverage"]["places"] if row["status"] == "missing"}
    assert missing == {"line_20", "line_60", "line_600"}
