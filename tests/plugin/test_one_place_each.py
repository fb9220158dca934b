"""Each thing that can be added is added in one place, and then works: here one of each is."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import copied_package, git
from corpus import KEY, TOKEN, analysed_corpus, report, write_analysis

pytestmark = pytest.mark.usefixtures("own_environment")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package that every process of the test imports in place of the installed one."""
    copy = copied_package(tmp_path / "site")
    monkeypatch.setenv("PYTHONPATH", str(copy.parent))
    return copy


CHECK = """
from gitleaks_eval import check, check_at_most

@check("ACME-1", "At most two findings", category="House Rules", {more})
def test_ACME_1_findings(analysis, evidence):
    check_at_most(evidence, 2, len(analysis.findings()), what="findings")
"""


@pytest.mark.parametrize("parallel", [[], ["-n2"]], ids=["serial", "parallel"])
@pytest.mark.parametrize(
    ("about", "failures", "verdict"),
    [('"findings"', 0, "REVIEW"), ('["speed"]', 0, "REVIEW"), ("None", 1, "REGRESSION")],
)
def test_what_the_mark_of_a_check_says_is_all_that_a_comparison_and_a_scorecard_ask(
    pytester: pytest.Pytester, about: str, failures: int, verdict: str, parallel: list[str]
) -> None:
    (pytester.path / "test_house.py").write_text(CHECK.format(more=f"critical=True, about={about}"), encoding="utf-8")
    options = ["--gitleaks-eval", "test_house.py", *analysed_corpus(pytester.path / "corpus"), *parallel]
    assert pytester.runpytest_subprocess(*options, "--gitleaks-save-baseline=base.json").ret == 0
    write_analysis(pytester.path / "corpus/analyses", "leaky", [KEY, TOKEN, ("new.env", "github-pat", 1)])
    compared = ["--gitleaks-baseline=base.json", "--gitleaks-fail-on=regression"]
    result = pytester.runpytest_subprocess(*options, *compared)
    assert (result.ret, result.parseoutcomes().get("failed", 0)) == (failures, failures)
    result.stdout.fnmatch_lines([f"{verdict}  *"])
    card = json.loads((pytester.path / "gitleaks-eval-results/scorecard.json").read_text(encoding="utf-8"))
    assert "ACME-1" in {one["check_id"] for one in card["critical_failures"]}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("critical=1", "`critical` of a check is True or False, not 1"),
        ('about="size"', "`about` of a check is one of findings, speed, or both, not 'size'"),
        ("about=1", "`about` of a check is a text or several, not 1"),
    ],
)
def test_a_mark_that_says_what_nobody_knows_is_refused(pytester: pytest.Pytester, said: str, message: str) -> None:
    check = CHECK.format(more=said).replace("@check(", "@pytest.mark.gitleaks_check(")
    (pytester.path / "test_house.py").write_text(f"import pytest\n{check}", encoding="utf-8")
    result = pytester.runpytest_subprocess("--gitleaks-eval", "test_house.py", *analysed_corpus(Path("corpus")))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{message}; write @check(id, name, category=...)*".replace("[", "[[]")])


JUDGE = """
from gitleaks_eval.judges.dimensions.bands import found_band
from gitleaks_eval.judges.judge import Judge, Opinion

def _opinion(material):
    return Opinion(found_band(len(material.facts), 17), {"scenarios": 5}, f"{len(material.facts)} of 17")

JUDGE = Judge(
    dimension="completeness",
    weight=0.0,
    sub_dimensions={"scenarios": 1.0},
    evidence=lambda material: {"scenarios": len(material.facts)},
    heuristic=_opinion,
)
"""


def test_a_shipped_judge_is_a_module_and_a_prompt_and_is_not_calibrated_before_faults_have_labels_for_it(
    pytester: pytest.Pytester, package: Path
) -> None:
    (package / "judges/dimensions/completeness.py").write_text(JUDGE, encoding="utf-8")
    (package / "judges/prompts/completeness.md").write_text("{{ evidence }}", encoding="utf-8")
    command = ["-m", "gitleaks_eval.judges.calibrate", "--mode=heuristic", "--output=result.json"]
    ended = subprocess.run([sys.executable, *command], check=False, cwd=pytester.path)
    assert ended.returncode == 1
    result = json.loads((pytester.path / "result.json").read_text(encoding="utf-8"))
    # It says 5 of everything, which is what an unlabelled fault gives: no agreement that is worth a name.
    assert {name: one["passes"] for name, one in result["judges"].items()} == {
        "completeness": False,
        **dict.fromkeys(("detection_accuracy", "false_positive", "secret_coverage", "severity_classification"), True),
    }
    options = ["--gitleaks-judges", "--gitleaks-judge-mode=heuristic", *analysed_corpus(pytester.path / "corpus")]
    ran = pytester.runpytest_subprocess("--gitleaks-eval", "-v", *options)
    ran.stdout.fnmatch_lines(["*test_judge[[]completeness] *"])


def test_a_report_is_one_value_that_is_written_removed_and_not_written_over(
    pytester: pytest.Pytester, package: Path
) -> None:
    module = package / "reports/output/report.py"
    source = module.read_text(encoding="utf-8")
    entry = '    Report("names.txt", lambda run, _: ["\\n".join(sorted(run.by_scenario)).encode()]),\n'
    first = "    Report(REPORT, "
    assert source.count(first) == 1
    module.write_text(source.replace(first, entry + first), encoding="utf-8")
    options = ["--gitleaks-eval", *analysed_corpus(pytester.path / "corpus")]
    report = pytester.path / "gitleaks-eval-results/names.txt"
    assert pytester.runpytest_subprocess(*options).ret == 0
    assert report.read_text(encoding="utf-8") == "clean\nleaky"
    # A run that ends before it writes leaves none of yesterday.
    assert pytester.runpytest_subprocess(*options, "--gitleaks-scan-timeout=x").ret == pytest.ExitCode.USAGE_ERROR
    assert not report.exists()
    shutil.rmtree(report.parent)
    report.parent.mkdir()
    report.write_text("mine", encoding="utf-8")
    result = pytester.runpytest_subprocess(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*the folder holds names.txt, and gitleaks-eval did not make it*"])
    assert report.read_text(encoding="utf-8") == "mine"
    program = "from gitleaks_eval.engine.settings.candidates import _folders; print(_folders(['names.txt']))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "['names.txt-2']"


SCANNER = """
import re
from gitleaks_eval.config.keys import ConfigKeys
from gitleaks_eval.scanners.adapter import Adapter, Sources

ADAPTER = Adapter(
    name="otherleaks",
    title="Otherleaks",
    version_form=re.compile(r"3\\\\.[0-9]+\\\\.[0-9]+"),
    example_version="3.1.0",
    repository="other/otherleaks",
    checksums="checksums.txt",
    module="example.org/otherleaks",
    other_modules=(),
    version_stamps=(),
    live_validation=None,
    sources=Sources(("OTHERLEAKS_CONFIG",), (), (".otherleaks.toml",)),
    contents_since=(3, 0, 0),
    ignore_files=(".otherleaksignore",),
    allow_comments=("otherleaks:allow",),
    ignore_allow="--ignore-gitleaks-allow",
    short_fingerprints_since=(3, 0, 0),
    own_commits_since=(3, 0, 0),
    config_keys=ConfigKeys(
        scanner="otherleaks",
        checked_against=("3.1.0",),
        kinds={
            "top": {"3.0.0": "extend otherMinVersion"},
            "extend": {"3.0.0": "useDefault"},
            **dict.fromkeys(("rule", "required", "component", "rule allowlist", "global allowlist"), {}),
        },
        minimum="otherMinVersion",
    ),
)
"""
# Gitleaks under another name: it says so in its help, and states another version.
STAND_IN = """#!/bin/sh
case "$1" in
  --help) "{binary}" --help | sed 's/  gitleaks \\[command\\]/  otherleaks [command]/' ;;
  version) echo 3.1.0 ;;
  *) exec "{binary}" "$@" ;;
esac
"""


def test_a_scanner_is_one_file_that_says_all_that_is_its_own(
    pytester: pytest.Pytester, package: Path, gitleaks: Callable[[str], Path]
) -> None:
    (package / "scanners/adapters/otherleaks.py").write_text(SCANNER, encoding="utf-8")
    program = pytester.path / "bin/otherleaks"
    program.parent.mkdir()
    program.write_text(STAND_IN.format(binary=gitleaks("8.30.1")), encoding="utf-8")
    program.chmod(0o755)
    config = pytester.path / ".otherleaks.toml"
    config.write_text("[extend]\nuseDefault = true\n", encoding="utf-8")
    repository = pytester.mkdir("theirs")
    git(repository, "init", "--quiet", "--initial-branch=main")
    for name, content in {".otherleaksignore": "a:b:1\n", "a.txt": "x  # otherleaks:allow\n"}.items():
        (repository / name).write_text(content, encoding="utf-8")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--message=theirs")
    options = ["--gitleaks-eval", f"--gitleaks-binary={program}", "--gitleaks-real-repo=theirs"]
    result = pytester.runpytest_subprocess(*options)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "gitleaks-eval: otherleaks 3.1.0 (*) | config .otherleaks.toml > builtin (*found in rootdir)*",
            "STRONG_PASS  17 of 17 expected secrets found, 0 unexpected*",
        ]
    )
    (real,) = report(pytester)["real_world"]["repositories"]
    assert {(one["kind"], one["file_path"]) for one in real["suppressions"]} == {
        ("ignore-entry", ".otherleaksignore"),
        ("allow-comment", "a.txt"),
    }
    config.write_text("otherMinVersion = '3.2.0'\ntitle = 'x'\n[extend]\nuseDefault = true\n", encoding="utf-8")
    result = pytester.runpytest_subprocess("--gitleaks-eval", f"--gitleaks-binary={program}", "-m", "config_lint")
    result.stdout.fnmatch_lines(
        [
            "*otherMinVersion: the file is written for 3.2.0 or newer, and the scanner is older*",
            "*title: otherleaks has no such key and ignores it*",
        ],
        consecutive=False,
    )
