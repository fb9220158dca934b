"""What a project around the evaluation may do without making it greener than it is."""

import subprocess
import sys
from pathlib import Path

import pytest
from builders import SHIPPED, copied_package
from corpus import KEY, OWN_CHECK, TOKEN, analysed_corpus, outcomes, report, write_truth

from gitleaks_eval.core.resources import PACKAGE
from gitleaks_eval.plugin.folders import FOLDERS
from gitleaks_eval.reports.output.folder import MARKER

pytestmark = pytest.mark.usefixtures("own_environment")


@pytest.fixture
def options(pytester: pytest.Pytester) -> list[str]:
    """A run that needs no scanner."""
    return analysed_corpus(pytester.path / "corpus")


@pytest.mark.parametrize(
    "how",
    [
        "def test_own(evidence):\n    check_equal(evidence, 3, 3)",
        "def test_own(request):\n    check_equal(request.getfixturevalue('evidence'), 3, 3)",
        "@pytest.fixture\ndef mine(evidence):\n  check_equal(evidence, 3, 3)\n  assert 0\ndef test_own(mine):\n  1",
    ],
    ids=["asked-for", "asked-for-late", "asked-for-by-a-fixture-that-ends-the-check"],
)
def test_what_a_check_leaves_is_reported_however_it_asks_for_evidence(
    pytester: pytest.Pytester, options: list[str], how: str
) -> None:
    fixture, _, test = how.rpartition("def test_own")
    mark = "@check('OWN-1', 'Own', category='Own')"
    imports = "import pytest\nfrom gitleaks_eval import check, check_equal\n"
    plain = "@check('OWN-2', 'Leaves nothing', category='Own')\ndef test_plain():\n    pass\n"
    pytester.makepyfile(test_own=f"{imports}\n{fixture}\n{mark}\ndef test_own{test}\n\n{plain}")
    pytester.runpytest_subprocess("--gitleaks-eval", *options, "test_own.py")
    left = {result["check_id"]: (result["expected"], result["actual"]) for result in report(pytester)["results"]}
    assert left["OWN-1"] == (3, 3)
    assert left["OWN-2"] == (None, None)


@pytest.mark.usefixtures("python_of_its_own")
def test_the_import_machinery_is_as_it_was_when_tests_run(pytester: pytest.Pytester, options: list[str]) -> None:
    pytester.makepyfile(
        before="import sys\nthere, finders = sys.meta_path, list(sys.meta_path)\n",
        test_theirs="""
            import sys
            from before import there, finders
            def test_theirs():
                assert sys.meta_path is there
                assert sys.meta_path == finders
        """,
    )
    result = pytester.runpytest_subprocess("-pbefore", "--gitleaks-eval", *options, "test_theirs.py")
    assert "FAILED test_theirs" not in result.stdout.str()
    assert result.ret == 0


def test_beside_the_way_to_our_modules_nothing_is_looked_at(pytester: pytest.Pytester, options: list[str]) -> None:
    noting = """
        from pathlib import Path
        def pytest_collect_directory(path):
            with Path("looked-at").open("a") as file:
                file.write(f"{path}\\n")
    """
    pytester.makepyfile(noting=noting)
    pytester.mkdir("theirs").joinpath("test_theirs.py").write_text("def test_theirs(): pass", encoding="utf-8")
    result = pytester.runpytest_subprocess("-pnoting", "--gitleaks-eval", *options, "-v", ".")
    result.stdout.fnmatch_lines(["theirs/test_theirs.py::test_theirs PASSED*"])
    looked_at = {Path(line) for line in (pytester.path / "looked-at").read_text(encoding="utf-8").splitlines()}
    assert pytester.path / "theirs" in looked_at
    elsewhere = {path for path in looked_at if not path.is_relative_to(pytester.path)}
    assert elsewhere <= {*FOLDERS, PACKAGE, *PACKAGE.parents}


@pytest.fixture(params=[".venv", "tools"])
def own_package(request: pytest.FixtureRequest, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Our package in the project's own environment, or in a folder that pytest is told to leave out."""
    pytester.makeini("[pytest]\nnorecursedirs = tools\n")
    packages = pytester.path / request.param / "lib/python3/site-packages"
    # Where a project's own environment stands, and is one: pytest goes into none.
    package = copied_package(packages)
    (pytester.path / request.param / "pyvenv.cfg").touch()
    for folder in (pytester.path, packages, packages / "theirs", package, package.parents[2]):
        folder.mkdir(exist_ok=True)
        (folder / "test_theirs.py").write_text("def test_theirs(): pass", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(packages))
    return package


@pytest.mark.parametrize(
    "arguments",
    [["--gitleaks-eval", "."], ["-n2", "--gitleaks-eval", "."], ["-o", "addopts=--gitleaks-eval"]],
    ids=["named", "parallel", "addopts"],
)
def test_from_the_projects_own_environment_the_checks_are_collected_and_nothing_else_of_it(
    pytester: pytest.Pytester, own_package: Path, options: list[str], arguments: list[str]
) -> None:
    assert own_package.is_dir()
    result = pytester.runpytest_subprocess(*arguments, *options)
    assert (result.ret, sum(result.parseoutcomes().values())) == (0, 2 * SHIPPED + 1)


@pytest.mark.parametrize(
    ("arguments", "checks"),
    [
        (["-o", "addopts=--gitleaks-eval", "."], 0),
        (["-o", "addopts=--gitleaks-eval", ".", "test_theirs.py::test_theirs"], 0),
        (["--gitleaks-eval", ".", "gitleaks_eval/checks/test_rollup.py"], 2 * 4),
    ],
    ids=["addopts-and-a-folder", "addopts-and-a-test", "one-module"],
)
def test_from_the_projects_own_environment_no_check_is_collected_that_nobody_asks_for(
    pytester: pytest.Pytester, own_package: Path, options: list[str], arguments: list[str], checks: int
) -> None:
    named = [one.replace("gitleaks_eval/", f"{own_package}/") if "/" in one else one for one in arguments]
    result = pytester.runpytest_subprocess(*named, *options)
    assert (result.ret, sum(result.parseoutcomes().values())) == (0, checks + 1)
    assert not (pytester.path / "gitleaks-eval-results/scorecard.md").exists()


def test_other_peoples_folder_stays_as_it_is(pytester: pytest.Pytester, options: list[str]) -> None:
    theirs = {".gitignore": "node_modules/\n", "analysis/production.json": "{}", "model_eval.json": "{}"}
    folder = pytester.mkdir("theirs")
    for name, content in theirs.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "--gitleaks-output=theirs")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--gitleaks-output *theirs: the folder holds .gitignore, *; remove it, or *"])
    assert {name: (folder / name).read_text(encoding="utf-8") for name in theirs} == theirs
    assert {path.name for path in folder.iterdir()} == {".gitignore", "analysis", "model_eval.json"}


def test_when_one_report_cannot_be_written_none_is(pytester: pytest.Pytester, options: list[str]) -> None:
    folder = pytester.path / "gitleaks-eval-results"
    pytester.makepyfile(test_own=f"def test_own():\n    __import__('os').mkdir({str(folder / 'scorecard.md')!r})\n")
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "-q", "test_own.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["ERROR *scorecard.md is a folder; name another folder with --gitleaks-output"])
    assert {path.name for path in folder.iterdir()} == {".gitignore", MARKER, "scorecard.md"}


@pytest.mark.parametrize("parallel", [[], ["-n2"]], ids=["serial", "parallel"])
def test_a_failing_sub_test_fails_its_check(pytester: pytest.Pytester, options: list[str], parallel: list[str]) -> None:
    pytester.makepyfile(
        test_own="""
        from gitleaks_eval import check
        @check("ACME-1", "Sub-tests", category="House Rules")
        def test_in_parts(subtests):
            with subtests.test("a"):
                assert 0
        """
    )
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, *parallel, "test_own.py")
    assert result.ret == 1
    assert outcomes(report(pytester))["ACME-1[None]"] == "failed"


def test_a_users_fixtures_do_not_stand_in_for_ours_in_the_shipped_checks(
    pytester: pytest.Pytester, options: list[str]
) -> None:
    names = ("analysis", "evidence", "expected", "scenario")
    pytester.makeconftest(
        "import pytest\n" + "".join(f"@pytest.fixture\ndef {name}():\n    return None\n" for name in names)
    )
    assert pytester.runpytest_subprocess("--gitleaks-eval", *options).ret == 0
    assert report(pytester)["summary"]["total_checks"] == 78


@pytest.mark.parametrize("setting", ["python_files = *_spec.py", "python_functions = should_*", "python_classes = No"])
def test_a_projects_naming_rules_do_not_hide_the_shipped_checks(
    pytester: pytest.Pytester, options: list[str], setting: str
) -> None:
    pytester.makeini(f"[pytest]\n{setting}\n")
    assert pytester.runpytest_subprocess("--gitleaks-eval", *options).ret == 0
    assert report(pytester)["summary"]["total_checks"] == 78


@pytest.mark.parametrize("arguments", [["test_own.py"], ["--gitleaks-eval", "test_own.py"]], ids=["named", "flag"])
def test_a_conftest_may_load_the_plugin(
    pytester: pytest.Pytester, options: list[str], arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest("pytest_plugins = ['gitleaks_eval.plugin']")
    pytester.makepyfile(test_own=OWN_CHECK)
    result = pytester.runpytest_subprocess(*options, *arguments)
    assert result.ret == 0
    result.assert_outcomes(passed=2)


def test_showing_something_overwrites_no_report(pytester: pytest.Pytester, options: list[str]) -> None:
    pytester.runpytest_subprocess("--gitleaks-eval", *options)
    before = report(pytester)
    for showing in ("--fixtures", "--setup-plan", "--cache-show"):
        pytester.runpytest_subprocess("--gitleaks-eval", *options, showing)
        assert report(pytester) == before, showing


def test_a_file_that_cannot_be_collected_makes_the_run_incomplete(
    pytester: pytest.Pytester, options: list[str]
) -> None:
    pytester.makepyfile(test_broken="raise RuntimeError")
    arguments = ["--continue-on-collection-errors", "test_broken.py"]
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, *arguments)
    assert result.ret == 1
    assert report(pytester)["incomplete"]
    assert report(pytester)["summary"]["guarded_decision"] == "FAIL"
    result.stdout.fnmatch_lines(["INCOMPLETE  test_broken.py could not be collected"])


MARKS = {
    "no name": ("pytest.mark.gitleaks_check('X')", "*test_own.py::test_own: *missing*"),
    "no text": ("check(5, 'n', category='y')", "*the id of a check is a text, not 5"),
    "empty": ("check('X', 'n', category='')", "*the category of a check is empty*"),
    "a mark of pytest's": ("check('X', 'n', category='skip')", "*'skip' has the name of a mark of pytest's own*"),
}


@pytest.mark.parametrize(("mark", "message"), MARKS.values(), ids=MARKS)
def test_a_malformed_mark_is_named_with_its_file(
    pytester: pytest.Pytester, options: list[str], mark: str, message: str
) -> None:
    pytester.makepyfile(
        test_own=f"import pytest\nfrom gitleaks_eval import check\n@{mark}\ndef test_own():\n    pass\n"
    )
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "test_own.py")
    assert result.ret in {pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERRUPTED}
    assert any(part in "\n".join(result.outlines + result.errlines) for part in [message.strip("*").split("*")[0]])


@pytest.mark.parametrize("code", ["@mark\nclass TestOwn:\n    def test_own(self, analysis):\n        pass\n",
                                  "pytestmark = mark\ndef test_own(analysis):\n    pass\n"])  # fmt: skip
def test_an_inert_run_leaves_checks_alone_that_are_marked_from_above(pytester: pytest.Pytester, code: str) -> None:
    start = "from gitleaks_eval import check\nmark = check('X', 'n', category='y')\n"
    pytester.makepyfile(test_own=start + code)
    result = pytester.runpytest_subprocess()
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["gitleaks-eval: * checks were left alone; add --gitleaks-eval to run them"])


def test_a_list_of_findings_that_is_shorter_than_the_total_is_completed_by_count(
    pytester: pytest.Pytester, options: list[str]
) -> None:
    listed = [{"file_path": KEY[0], "rule_id": KEY[1], "line_number": KEY[2]}]
    truth = pytester.path / "corpus/truth"
    for total, counts in ((2, (2, 0, 0)), (3, (2, 1, 0)), (1, (1, 0, 1))):
        write_truth(truth, "leaky", [KEY, TOKEN], findings=listed, total_secrets=total)
        pytester.runpytest_subprocess("--gitleaks-eval", *options)
        found = report(pytester)["summary"]["findings"]
        assert (found["detected"], found["missed"], found["unexpected"]) == counts
        assert found["expected"] == total


def test_runs_that_share_a_cache_do_not_take_repositories_from_each_other(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, gitleaks: object
) -> None:
    assert callable(gitleaks)
    binary: Path = gitleaks("8.30.1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(pytester.path / "cache"))
    command = [sys.executable, "-m", "pytest", "-q", "--gitleaks-eval", f"--gitleaks-binary={binary}"]
    runs = [subprocess.Popen([*command, f"--gitleaks-output=out{number}"], cwd=pytester.path) for number in range(3)]
    assert [run.wait(timeout=120) for run in runs] == [0, 0, 0]
