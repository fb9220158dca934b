"""Files of a branch under review: what they hold reaches no terminal as a command, and ends in one clear error."""

import json
import os
from pathlib import Path

import pytest
from corpus import KEY, analysed_corpus, write_analysis, write_truth

pytestmark = pytest.mark.usefixtures("own_environment")
COMMAND = "::error title=x::injected"


def commands(result: pytest.RunResult) -> list[str]:
    """The lines that GitHub would take for workflow commands."""
    lines = "\n".join([*result.outlines, *result.errlines]).splitlines()
    return [line for line in lines if line.lstrip().startswith("::") or "##[" in line]


def test_a_line_end_in_a_configuration_begins_no_line_of_the_terminal(pytester: pytest.Pytester) -> None:
    pytester.makefile(".toml", **{".gitleaks": f'[extend]\npath = "nope\\n{COMMAND}"\n'})
    result = pytester.runpytest_subprocess("--gitleaks-eval")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*nope?n{COMMAND} does not exist"])
    assert commands(result) == []


def test_a_file_name_with_a_line_end_begins_no_line_of_the_header(pytester: pytest.Pytester) -> None:
    Path(pytester.path, f"a\n{COMMAND}.toml").write_text("[extend]\nuseDefault = true\n", encoding="utf-8")
    result = pytester.runpytest_subprocess(
        "--gitleaks-eval", f"--gitleaks-config=a\n{COMMAND}.toml", "--co", "-k", "OQ-1"
    )
    result.stdout.fnmatch_lines([f"gitleaks-eval: *config a?n{COMMAND}.toml > builtin*"])
    assert commands(result) == []


def test_each_mistake_of_a_ground_truth_is_one_line(pytester: pytest.Pytester) -> None:
    truths = pytester.mkdir("truths")
    (truths / "first.json").write_text(json.dumps({"expected": {"total_secrets": f"\n{COMMAND}"}}), encoding="utf-8")
    (truths / "second.json").write_text("{", encoding="utf-8")
    result = pytester.runpytest_subprocess("--gitleaks-eval", "--gitleaks-scenarios=truths")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    shown = [line for line in result.errlines if "ground truth " in line]
    assert len(shown) > 2
    assert commands(result) == []


@pytest.mark.parametrize(
    "options", [[], ["-q"], ["-vv", "-rA", "--gitleaks-findings"]], ids=["plain", "quiet", "talkative"]
)
def test_a_finding_of_an_analysis_begins_no_line_of_the_terminal(pytester: pytest.Pytester, options: list[str]) -> None:
    hostile = (f"a\n{COMMAND}", f"{COMMAND}##[error]", 1)
    named = analysed_corpus(pytester.path / "corpus")
    write_truth(pytester.path / "corpus" / "truth", "leaky", [KEY, hostile])
    write_analysis(pytester.path / "corpus" / "analyses", "leaky", [(f"{COMMAND}.py", "x", 2)])
    result = pytester.runpytest_subprocess("--gitleaks-eval", *named, *options)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert commands(result) == []
    card = Path("gitleaks-eval-results", "scorecard.md").read_text(encoding="utf-8")
    assert not any(line.lstrip().startswith("::") for line in card.splitlines())


@pytest.mark.parametrize(
    "option",
    [
        "--gitleaks-output={}",
        "--gitleaks-config={}",
        "--gitleaks-config=builtin,{}",
        "--gitleaks-scenarios={}",
        "--gitleaks-corpus=report:{}",
        "--gitleaks-analysis={}",
        "--gitleaks-binary={}",
        "--gitleaks-baseline={}",
        "--gitleaks-real-repo={}",
        "--gitleaks-real-repo=@{}",
    ],
)
def test_a_path_that_nothing_can_have_ends_the_run_in_one_line(pytester: pytest.Pytester, option: str) -> None:
    result = pytester.runpytest_inprocess("--gitleaks-eval", option.format("x" * 300))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {option.partition('=')[0]}*File name too long*"])


@pytest.mark.parametrize("path", [r"a\u0000b", "x" * 100_000], ids=["nul", "long"])
def test_an_extended_path_that_nothing_can_have_ends_the_run_in_one_line(pytester: pytest.Pytester, path: str) -> None:
    pytester.makefile(".toml", **{".gitleaks": f'[extend]\npath = "{path}"\n'})
    result = pytester.runpytest_inprocess("--gitleaks-eval")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: found in rootdir: [[]extend] path of *gitleaks.toml: *; name another one"])


def test_parallel_workers_in_a_folder_whose_name_is_no_utf_8_are_refused_in_one_line(pytester: pytest.Pytester) -> None:
    folder = Path(os.fsdecode(os.fsencode(pytester.path) + b"/caf\xe9"))
    folder.mkdir()
    os.chdir(folder)
    options = analysed_corpus(Path("corpus"))
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "-n", "2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: -n: *caf?udce9 is no UTF-8, and pytest-xdist takes nothing else; *leave -n out"]
    )
