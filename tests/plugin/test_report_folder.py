"""The output folder: what is not ours, or was changed, is neither removed nor replaced, also behind links."""

import json
import os
import threading
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from corpus import KEY, analysed_corpus, report

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.reports.folder import MANIFEST, ReportFolder, is_any, is_partial, is_report

RESULTS = "gitleaks-eval-results"
CARD = "scorecard.md"


def folder_of(root: Path, *reads: Path, name: str = RESULTS) -> ReportFolder:
    return ReportFolder(root / name, root, reads)


def publish(folder: ReportFolder, *names: str, removes: Callable[[str], bool] = is_any, text: str = "ours") -> None:
    folder.publish([(name, [text.encode()]) for name in names], removes)


def files(folder: Path) -> set[str]:
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    return found - {MANIFEST, ".gitignore"}


def manifest(folder: Path, **listed: str | bytes) -> None:
    """A manifest that lists these files, by the content that they have to have."""
    digests = {name: sha256(c).hexdigest() if isinstance(c, bytes) else c for name, c in listed.items()}
    folder.mkdir(exist_ok=True)
    (folder / MANIFEST).write_text(json.dumps({"files": digests}), encoding="utf-8")


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
    assert {path.name for path in ours.path.iterdir()} == {".gitignore"}


def test_what_was_changed_or_added_stays(ours: ReportFolder) -> None:
    (ours.path / "8.16.0/scorecard.md").write_text("ours, with my notes", encoding="utf-8")
    (ours.path / "8.16.0/notes.md").write_text("mine", encoding="utf-8")
    (ours.path / "model_eval.json").write_text("mine", encoding="utf-8")
    acts: list[Callable[[], None]] = [lambda: ours.forget(is_any), lambda: publish(ours, CARD)]
    for act in acts:
        act()
        assert files(ours.path) - {CARD} == {"8.16.0/scorecard.md", "8.16.0/notes.md", "model_eval.json"}
    assert (ours.path / "8.16.0/scorecard.md").read_text(encoding="utf-8") == "ours, with my notes"


def pipe(path: Path) -> None:
    os.mkfifo(path)


def write(path: Path) -> None:
    path.write_text("theirs", encoding="utf-8")


def huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


@pytest.mark.parametrize("make", [write, Path.mkdir, pipe], ids=["file", "folder", "pipe"])
@pytest.mark.parametrize("name", [CARD, "analysis/mine.json", "8.16.0/scorecard.md"])
def test_what_is_in_the_way_of_a_report_is_named_and_left(
    tmp_path: Path, make: Callable[[Path], object], name: str
) -> None:
    path = tmp_path / RESULTS / name
    path.parent.mkdir(parents=True)
    make(path)
    before = path.lstat()
    folder = folder_of(tmp_path)
    folder.forget(is_any)
    with pytest.raises(InputError, match=f"{name}: is in the way of a report.*move it away, or name another folder"):
        folder.refuse_foreign(["evaluation_report.json", name])
    with pytest.raises(InputError, match=f"{name}: is in the way of a report"):
        publish(folder, "evaluation_report.json", name)
    assert files(folder.path) == ({name} if make is not Path.mkdir else set())
    assert os.path.samestat(before, path.lstat())


def test_a_file_where_a_folder_is_needed_is_in_the_way(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    folder.make()
    write(folder.path / "analysis")
    with pytest.raises(InputError, match="is in the way"):
        publish(folder, CARD, "analysis/a.json")
    assert files(folder.path) == {"analysis"}


def test_a_changed_report_is_not_replaced(ours: ReportFolder) -> None:
    write(ours.path / CARD)
    with pytest.raises(InputError, match="not, or no more, as gitleaks-eval wrote it"):
        publish(ours, CARD)
    assert (ours.path / CARD).read_text(encoding="utf-8") == "theirs"


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


def test_a_run_that_writes_nothing_leaves_no_trace_in_other_peoples_folder(tmp_path: Path) -> None:
    write(tmp_path / "README.md")
    folder_of(tmp_path, name=".").forget(is_any)
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


def test_other_peoples_gitignore_stays_and_their_folder_gets_none(tmp_path: Path) -> None:
    for name, there in (("with", ".gitignore"), ("without", "README.md")):
        (tmp_path / name).mkdir()
        write(tmp_path / name / there)
        folder = folder_of(tmp_path, name=name)
        folder.forget(is_any)
        publish(folder, CARD)
        assert {path.name for path in folder.path.iterdir()} == {there, MANIFEST, CARD}
        assert (folder.path / there).read_text(encoding="utf-8") == "theirs"


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


def test_a_run_that_was_killed_while_it_wrote_is_no_obstacle(
    ours: ReportFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace, times = Path.replace, iter(range(9))

    def killed(self: Path, target: Path) -> Path:
        # The manifest, and one of two reports.
        if next(times) == 2:
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        publish(ours, CARD, "scorecard.json", text="new")
    monkeypatch.undo()
    publish(ours, CARD, "scorecard.json", text="newer")
    assert files(ours.path) == {CARD, "scorecard.json"}


def test_runs_that_write_at_once_leave_the_reports_of_one(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    folder.forget(is_any)
    names = [[f"{number}_{each}_eval.json" for each in range(20)] for number in range(4)]
    threads = [threading.Thread(target=publish, args=(folder, *some)) for some in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert files(folder.path) in [set(some) for some in names]
    folder.forget(is_any)
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
    for names in ([], [CARD, "app.json", "analysis/app.json"]):
        # A manifest, there or behind the link, makes no difference.
        for place in {tmp_path / output, tmp_path / "docs"} if names else ():
            if place.is_dir():
                manifest(place, **dict.fromkeys(names, b"theirs"))
        before = {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}
        folder = folder_of(tmp_path, name=output)
        acts: list[Callable[[], None]] = [lambda: folder.forget(is_any), lambda: publish(folder, CARD)]  # noqa: B023 - called at once
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


# --- manifests


@pytest.mark.parametrize(
    "name",
    ["../config/scorecard.md", "/etc/scorecard.md", "a/../scorecard.md", "./scorecard.md", "a//scorecard.md", "",
     ".", "..", "app.json", "config/app.json", "index.md", "scorecard.md/", "a\0/scorecard.md", "analysis/app.txt"],
)  # fmt: skip
def test_a_manifest_names_only_reports(name: str) -> None:
    assert not is_report(name)


@pytest.mark.parametrize(
    "name", [CARD, "a/b/comparison.json", "8.30.1/analysis/x y.json", "x/leaky_eval.json", "judges.jsonl"]
)
def test_these_are_reports(name: str) -> None:
    assert is_report(name)


def test_a_manifest_that_lists_other_peoples_files_removes_none(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    results = tmp_path / RESULTS
    results.mkdir()
    for path in (tmp_path / "config/scorecard.md", results / "index.md", results / CARD):
        write(path)
    listed: dict[str, str | bytes] = dict.fromkeys(
        ["../config/scorecard.md", "index.md", str(tmp_path / "config/scorecard.md")], b"theirs"
    )
    manifest(results, **listed, **{CARD: b"not this"})
    folder_of(tmp_path).forget(is_any)
    assert files(tmp_path) == {
        f"{RESULTS}/index.md",
        f"{RESULTS}/{CARD}",
        "config/scorecard.md",
    }


BROKEN: dict[str, bytes] = {
    "empty": b"",
    "a list": b"[]",
    "no files": b"{}",
    "files as a list": b'{"files": []}',
    "a number as hash": b'{"files": {"scorecard.md": 1}}',
    "deep": b"[" * 100_000,
    "not UTF-8": b"\xff\xfe\xfd",
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_broken_manifest_is_an_error_with_its_place_and_stays(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / RESULTS / MANIFEST
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"{MANIFEST}: is no list of the files that gitleaks-eval wrote"):
        folder_of(tmp_path).forget(is_any)
    assert path.read_bytes() == content


def test_a_pipe_or_a_huge_file_is_no_manifest(tmp_path: Path) -> None:
    for name, make in (("pipe", pipe), ("huge", huge)):
        (tmp_path / name).mkdir()
        make(tmp_path / name / MANIFEST)
        with pytest.raises(InputError, match="is no list of the files"):
            folder_of(tmp_path, name=name).forget(is_any)


def test_a_listed_file_that_became_a_pipe_or_huge_is_not_read(ours: ReportFolder) -> None:
    (ours.path / CARD).unlink()
    pipe(ours.path / CARD)
    huge(ours.path / "8.16.0/scorecard.md")
    ours.forget(is_any)
    assert files(ours.path) == {CARD, "8.16.0/scorecard.md"}


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
        "--gitleaks-output=docs": "ERROR: *docs/scorecard.md: is in the way of a report*",
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
    listed = {f"analysis/{name}": content[name] for name in content}
    manifest(project.path / RESULTS, **listed)
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


def test_reports_of_a_version_without_a_manifest_are_named_and_left(project: pytest.Pytester) -> None:
    (project.path / RESULTS / MANIFEST).unlink()
    before = files(project.path / RESULTS)
    result = project.runpytest_subprocess("--gitleaks-eval")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *evaluation_report.json (and scorecard.json, *): is in the way of a report*"])
    assert files(project.path / RESULTS) == before


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
