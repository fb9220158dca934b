"""The output folder: what is not ours, or was changed, is neither removed nor replaced, also behind links."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from corpus import KEY, analysed_corpus, report

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.reports.output.folder import FORMER_MARKER, MARKER, ReportFolder, is_any, is_partial, streamed
from gitleaks_eval.reports.output.report import report_named

RESULTS = "gitleaks-eval-results"
CARD = "scorecard.md"


def folder_of(root: Path, *reads: Path, name: str = RESULTS) -> ReportFolder:
    return ReportFolder(root / name, root, reads)


def publish(folder: ReportFolder, *names: str, removes: Callable[[str], bool] = is_any, text: str = "ours") -> None:
    folder.publish([(name, [text.encode()]) for name in names], removes)


def files(folder: Path) -> set[str]:
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    return found - {MARKER, ".gitignore"}


@pytest.fixture
def ours(tmp_path: Path) -> ReportFolder:
    """A folder with two reports of ours."""
    folder = folder_of(tmp_path)
    folder.forget(is_any)
    publish(folder, CARD, "8.16.0/scorecard.md", "8.16.0/analysis/a.json", "partial/scorecard.md")
    return folder


# --- what is ours


def test_a_new_run_removes_what_earlier_ones_wrote_and_the_folders_that_are_empty_then(ours: ReportFolder) -> None:
    ours.forget(is_partial)
    assert files(ours.path) == {CARD, "8.16.0/scorecard.md", "8.16.0/analysis/a.json"}
    ours.forget(is_any)
    assert {path.name for path in ours.path.iterdir()} == {".gitignore", MARKER}


def test_a_folder_of_an_earlier_checkout_is_ours(ours: ReportFolder) -> None:
    (ours.path / MARKER).rename(ours.path / FORMER_MARKER)
    ours.forget(is_any)
    assert {path.name for path in ours.path.iterdir()} == {".gitignore", MARKER}


def test_what_has_no_name_of_a_report_stays(ours: ReportFolder) -> None:
    for name in ("8.16.0/notes.md", "deploy.json"):
        (ours.path / name).write_text("mine", encoding="utf-8")
    acts: list[Callable[[], None]] = [lambda: ours.forget(is_any), lambda: publish(ours, CARD)]
    for act in acts:
        act()
        assert files(ours.path) - {CARD} == {"8.16.0/notes.md", "deploy.json"}


def write(path: Path) -> None:
    path.write_text("theirs", encoding="utf-8")


@pytest.mark.parametrize("make", [write, Path.mkdir, os.mkfifo], ids=["file", "folder", "pipe"])
def test_a_folder_of_somebody_else_is_named_and_left(tmp_path: Path, make: Callable[[Path], object]) -> None:
    theirs = tmp_path / RESULTS / CARD
    theirs.parent.mkdir()
    make(theirs)
    folder = folder_of(tmp_path)
    acts: list[Callable[[], None]] = [lambda: folder.forget(is_any), folder.make, lambda: publish(folder, CARD)]
    for act in acts:
        with pytest.raises(InputError, match=f"holds {CARD}, and gitleaks-eval did not make it; remove it, or"):
            act()
    assert list(folder.path.iterdir()) == [theirs]


def test_a_folder_with_nothing_but_what_the_run_reads_may_be_written_to(tmp_path: Path) -> None:
    shard = tmp_path / RESULTS / "shard-1-of-2.jsonl"
    shard.parent.mkdir()
    write(shard)
    folder = folder_of(tmp_path, shard)
    folder.forget(is_any)
    publish(folder, CARD)
    assert files(folder.path) == {shard.name, CARD}


def test_a_file_where_a_folder_is_needed_is_an_error(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    folder.make()
    write(folder.path / "analysis")
    with pytest.raises(OSError, match="analysis"):
        publish(folder, CARD, "analysis/a.json")
    assert files(folder.path) == {"analysis"}


def test_a_hard_link_of_a_report_keeps_its_content(ours: ReportFolder, tmp_path: Path) -> None:
    kept = tmp_path / "kept.md"
    kept.hardlink_to(ours.path / CARD)
    publish(ours, CARD, text="new")
    assert (kept.read_text(encoding="utf-8"), (ours.path / CARD).read_text(encoding="utf-8")) == ("ours", "new")


def test_what_the_run_reads_is_neither_removed_nor_replaced(ours: ReportFolder, tmp_path: Path) -> None:
    link = tmp_path / "baseline.json"
    link.symlink_to(ours.path / "8.16.0/scorecard.md")
    reading = folder_of(tmp_path, link, ours.path / "8.16.0/analysis")
    reading.forget(is_any)
    assert files(ours.path) == {"8.16.0/scorecard.md", "8.16.0/analysis/a.json"}
    with pytest.raises(InputError, match="this run would write over it; keep a copy elsewhere"):
        publish(reading, "8.16.0/scorecard.md")
    publish(reading, CARD)
    assert files(ours.path) == {CARD, "8.16.0/scorecard.md", "8.16.0/analysis/a.json"}
    ours.forget(is_any)
    assert files(ours.path) == set()


def test_when_the_disk_fails_nothing_is_replaced(ours: ReportFolder) -> None:
    def failing() -> Any:
        yield b"half"
        raise OSError(28, "No space left on device")

    before = files(ours.path)
    with pytest.raises(OSError, match="No space"):
        ours.publish([(CARD, [b"new"]), ("new/scorecard.md", failing())], is_any)
    assert files(ours.path) == before
    assert (ours.path / CARD).read_text(encoding="utf-8") == "ours"
    assert not (ours.path / "new").exists()


def test_rows_can_be_read_as_soon_as_they_are_there_and_nothing_stays(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    folder.make()
    path = folder.path / "repositories.jsonl.partial"
    write(path)
    with streamed(folder, "repositories.jsonl") as add:
        for line in (b"one\n", b"two\n"):
            add(line)
            assert path.read_bytes().endswith(line)
    assert files(folder.path) == set()


# --- links


def commit_links(root: Path, how: str) -> tuple[str, Path]:
    """A link as a branch may bring it along: the output to name, and the link."""
    (root / "docs/analysis").mkdir(parents=True)
    output = {"above": "a/b/out", "inside": RESULTS, "deep": RESULTS, "file": RESULTS}.get(how, RESULTS)
    link = root / {
        "above": "a",
        "inside": f"{RESULTS}/analysis",
        "deep": f"{RESULTS}/x/y",
        "file": f"{RESULTS}/{CARD}",
    }.get(how, RESULTS)
    link.parent.mkdir(parents=True, exist_ok=True)
    targets = {"file": root / "docs/app.json", "dangling": root / "nowhere"}
    link.symlink_to(targets.get(how, root / "docs"))
    return output, link


@pytest.mark.parametrize("how", ["itself", "dangling", "above", "inside", "deep", "file"])
def test_an_output_that_is_or_holds_or_lies_behind_a_link_is_refused(tmp_path: Path, how: str) -> None:
    output, link = commit_links(tmp_path, how)
    write(tmp_path / "docs/app.json")
    write(tmp_path / "docs/analysis/app.json")
    for place in {tmp_path / output, tmp_path / "docs"}:
        if place.is_dir():
            # A marker, there or behind the link, makes no difference.
            write(place / MARKER)
    before = {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}
    folder = folder_of(tmp_path, name=output)
    acts: list[Callable[[], None]] = [lambda: folder.forget(is_any), lambda: publish(folder, CARD)]
    for act in acts:
        with pytest.raises(InputError, match=f"{link} is a link, and nothing is written or removed behind one"):
            act()
    assert {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_a_root_that_lies_behind_a_link_is_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "root").symlink_to("real")
    folder = folder_of(tmp_path / "root")
    folder.forget(is_any)
    publish(folder, CARD)
    assert files(tmp_path / "real" / RESULTS) == {CARD}


# --- names


@pytest.mark.parametrize("name", ["app.json", "config/app.json", "index.md", "scorecard.md/", "analysis/app.txt"])
def test_these_are_no_reports(name: str) -> None:
    assert report_named(name) is None


@pytest.mark.parametrize(
    "name", [CARD, "a/b/comparison.json", "8.30.1/analysis/x y.json", "x/leaky_eval.json", "judges.jsonl"]
)
def test_these_are_reports(name: str) -> None:
    assert report_named(name)


# --- whole runs


@pytest.fixture
def project(pytester: pytest.Pytester, own_environment: None) -> pytest.Pytester:  # noqa: ARG001 - only set up
    """A project with a small corpus that was evaluated today, and the options of another run of it."""
    pytester.makeini("[pytest]\ngitleaks_scenarios = corpus/truth\ngitleaks_analysis = corpus/analyses\n")
    analysed_corpus(pytester.path / "corpus")
    assert pytester.runpytest_subprocess("--gitleaks-eval", "-q").ret == 0
    return pytester


USAGE_ERRORS = {
    "an option": ["--gitleaks-scan-timeout=soon"],
    "a file that is not there": ["--gitleaks-baseline=none.json"],
    "scenarios": ["--gitleaks-scenarios=none"],
    "judges": ["--gitleaks-judges", "--gitleaks-judge-mode=none"],
    "of pytest": ["--gitleaks-typo"],
}


@pytest.mark.parametrize("options", USAGE_ERRORS.values(), ids=USAGE_ERRORS)
def test_a_usage_error_leaves_no_decision_of_yesterday(project: pytest.Pytester, options: list[str]) -> None:
    assert project.runpytest_subprocess("--gitleaks-eval", *options).ret == pytest.ExitCode.USAGE_ERROR
    assert files(project.path / RESULTS) == set()


def test_what_addopts_select_lets_no_decision_of_yesterday_stand(project: pytest.Pytester) -> None:
    (project.path / "pytest.ini").write_text("[pytest]\naddopts = -m 'not slow'\nmarkers = slow\n", encoding="utf-8")
    assert project.runpytest_subprocess("--gitleaks-eval", "--gitleaks-baseline=none.json").ret == 4
    assert files(project.path / RESULTS) == set()


@pytest.mark.parametrize("listed", [False, True], ids=["a path", "a list"])
def test_a_path_behind_a_space_that_is_misread_leaves_no_decision_of_yesterday(
    project: pytest.Pytester, *, listed: bool
) -> None:
    other = project.mkdir("other")
    (other / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (other / "reports.json").write_text(f"{other}\n", encoding="utf-8")
    value = f"@{other / 'reports.json'}" if listed else str(other / "reports.json")
    result = project.runpytest_subprocess("--gitleaks-eval", "--gitleaks-real-repo", value)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*; write"])
    assert files(project.path / RESULTS) == set()


@pytest.mark.parametrize("option", ["-v", "-n1", "--gitleaks-output=out"])
def test_a_conftest_that_is_broken_leaves_no_decision_of_yesterday(project: pytest.Pytester, option: str) -> None:
    project.runpytest_subprocess("--gitleaks-eval", option)
    project.makeconftest("1 / 0")
    assert project.runpytest_subprocess("--gitleaks-eval", option).ret == pytest.ExitCode.USAGE_ERROR
    assert files(project.path / ("out" if "out" in option else RESULTS)) == set()


def test_a_crash_leaves_no_decision_of_yesterday(project: pytest.Pytester) -> None:
    project.makepyfile(test_own="def test_own():\n    import os\n    os.kill(os.getpid(), 9)\n")
    project.runpytest_subprocess("--gitleaks-eval", "test_own.py", "-p", "no:randomly")
    assert files(project.path / RESULTS) == set()


def test_what_only_shows_or_runs_a_part_leaves_the_full_reports(project: pytest.Pytester) -> None:
    before = report(project)
    for option in ("--co", "--markers", "--help", "--version", "--fixtures", "-knone", "-kSA_1_"):
        project.runpytest_subprocess("-q", "--gitleaks-eval", option)
        assert report(project) == before
    assert (project.path / RESULTS / "partial/scorecard.md").exists()
    project.runpytest_subprocess("-q", "--gitleaks-eval", "-k", "none")
    assert not (project.path / RESULTS / "partial").exists()


def test_a_full_run_removes_what_a_part_left(project: pytest.Pytester) -> None:
    project.runpytest_subprocess("-q", "--gitleaks-eval", "-k", "SA_1_")
    project.runpytest_subprocess("-q", "--gitleaks-eval")
    assert not (project.path / RESULTS / "partial").exists()


@pytest.mark.parametrize("option", ["--gitleaks-output=", "--gitleaks-output=docs", "--gitleaks-output=docs/../link"])
def test_an_output_that_cannot_be_is_refused_before_any_test(project: pytest.Pytester, option: str) -> None:
    (project.path / "docs").mkdir()
    write(project.path / "docs" / CARD)
    (project.path / "link").symlink_to("docs")
    result = project.runpytest_subprocess("--gitleaks-eval", option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    lines = {
        "--gitleaks-output=": "ERROR: --gitleaks-output: is empty; name a folder for the reports",
        "--gitleaks-output=docs": "ERROR: --gitleaks-output *docs: the folder holds scorecard.md, and *",
        "--gitleaks-output=docs/../link": "ERROR: --gitleaks-output *link is a link*",
    }
    result.stderr.fnmatch_lines([lines[option]])
    assert (project.path / "docs" / CARD).read_text(encoding="utf-8") == "theirs"
    assert not (project.path / CARD).exists()


def test_a_baseline_named_through_a_link_into_the_output_stays(project: pytest.Pytester) -> None:
    saved = project.path / RESULTS / "evaluation_report.json"
    notes = saved.with_name("notes.md")
    write(notes)
    content = saved.read_bytes()
    (project.path / "baseline.json").symlink_to(saved)
    analysed_corpus(project.path / "corpus", missing=[KEY])
    for _ in range(2):
        assert project.runpytest_subprocess("--gitleaks-eval", "--gitleaks-baseline=baseline.json").ret == 1
        assert (saved.read_bytes(), notes.read_text(encoding="utf-8")) == (content, "theirs")
        assert report(project, f"{RESULTS}/8.30.1")["summary"]["findings"]["missed"] == 1
        assert not (project.path / RESULTS / CARD).exists()


def test_analyses_that_are_read_in_the_output_stay(project: pytest.Pytester) -> None:
    analyses = project.path / RESULTS / "analysis"
    (project.path / "corpus/analyses").rename(analyses)
    content = {path.name: path.read_bytes() for path in analyses.iterdir()}
    for name in (
        "scorecard.md",
        "scorecard.json",
        "report.html",
        "configuration.sarif",
        "code-quality.json",
        "comment.md",
        "evaluation_report.json",
        "leaky_eval.json",
        "clean_eval.json",
    ):
        (project.path / RESULTS / name).unlink()
    assert project.runpytest_subprocess("--gitleaks-eval", f"--gitleaks-analysis={RESULTS}/analysis").ret == 0
    assert {path.name: path.read_bytes() for path in analyses.iterdir()} == content


# --- what others are told


def test_a_run_that_ended_early_says_so_at_the_top_of_its_scorecard(project: pytest.Pytester) -> None:
    analysed_corpus(project.path / "corpus", missing=[KEY])
    card = project.path / RESULTS / CARD
    project.runpytest_subprocess("--gitleaks-eval", "-x")
    assert card.read_text(encoding="utf-8").splitlines()[2] == "**INCOMPLETE: FAIL**"
    project.runpytest_subprocess("--gitleaks-eval", "--lf")
    assert card.read_text(encoding="utf-8").splitlines()[2] == "**INCOMPLETE: FAIL**"
    part = (card.parent / "partial" / CARD).read_text(encoding="utf-8")
    assert part.splitlines()[2].startswith("**PARTIAL: no decision")
    project.runpytest_subprocess("--gitleaks-eval")
    assert card.read_text(encoding="utf-8").splitlines()[2] == "**FAIL**"


def test_the_summary_of_a_job_has_what_this_run_wrote_and_nothing_else(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = project.path / "summary.md"
    write(summary)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    for option, status in (("--gitleaks-scan-timeout=soon", 4), ("-k none", 4), ("--co", 0)):
        assert project.runpytest_subprocess("--gitleaks-eval", *option.split()).ret == status
        assert summary.read_text(encoding="utf-8") == "theirs"
    for option, folder in (("-n2", ""), ("-kSA_1_", "partial")):
        write(summary)
        project.runpytest_subprocess("--gitleaks-eval", option)
        card = (project.path / RESULTS / folder / CARD).read_text(encoding="utf-8")
        assert summary.read_text(encoding="utf-8") == f"theirs{card}"
