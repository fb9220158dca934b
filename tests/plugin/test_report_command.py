"""`gitleaks-eval report`: pages made anew of what a run has left, and nothing else written over."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from corpus import KEY, analysed_corpus, write_analysis
from ran import Ran, evaluate

from gitleaks_eval.command import main
from gitleaks_eval.core.resources import schema
from gitleaks_eval.reports.html.pages import GENERATOR

REPORT, PAGE = "evaluation_report.json", "report.html"


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run (`one`), and one with a comparison of a later run with it (`two`), which loses a secret."""
    folder = tmp_path_factory.mktemp("evaluated")
    (folder / "corpus").mkdir()
    options = analysed_corpus(folder / "corpus")
    first = evaluate(folder, *options, "--gitleaks-output=one", "--gitleaks-save-baseline=base.json")
    assert first.status == 0, first.text
    write_analysis(folder / "corpus/analyses", "leaky", [KEY])
    second = evaluate(folder, *options, "--gitleaks-output=two", "--gitleaks-baseline=base.json")
    assert second.status == 1, second.text
    return folder


@pytest.fixture
def there(evaluated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of them, in which the command is started."""
    shutil.copytree(evaluated, tmp_path / "there")
    monkeypatch.chdir(tmp_path / "there")
    return tmp_path / "there"


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["report", *arguments]) == 4
    shown = capsys.readouterr()
    assert shown.out == ""
    return shown.err


@pytest.mark.parametrize("name", ["one", "two"])
def test_the_page_that_a_run_has_left_is_made_again_byte_by_byte(there: Path, name: str) -> None:
    page = there / name / PAGE
    before = page.read_bytes()
    page.unlink()
    assert main(["report", name]) == 0
    assert page.read_bytes() == before
    assert not list(there.rglob(".writing-*"))


def test_the_run_that_follows_takes_the_page_for_its_own_though_it_says_something_else(there: Path) -> None:
    document = json.loads((there / "one" / REPORT).read_bytes())
    document["reasons"] = ["looked at"]
    (there / "one" / REPORT).write_text(json.dumps(document), encoding="utf-8")
    assert main(["report", "one"]) == 0
    assert b"looked at" in (there / "one" / PAGE).read_bytes()
    (there / "one" / REPORT).unlink()
    options = [f"--gitleaks-{kind}=corpus/{name}" for kind, name in (("scenarios", "truth"), ("analysis", "analyses"))]
    ran: Ran = evaluate(there, *options, "--gitleaks-output=one")
    assert ran.status == 1, ran.text
    assert b"looked at" not in (there / "one" / PAGE).read_bytes()


def test_several_folders_become_a_page_by_date_with_each_run_and_what_was_under_test(
    there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, when in (("one", "2026-03-01T00:00:00+00:00"), ("two", "2026-01-01T00:00:00+00:00")):
        document = json.loads((there / name / REPORT).read_bytes())
        (there / name / REPORT).write_text(json.dumps({**document, "generated_at": when}), encoding="utf-8")
    assert main(["report", "one", "two"]) == 0
    assert capsys.readouterr().out == "report: trend.html\n"
    page = (there / "trend.html").read_text(encoding="utf-8")
    earlier, later = page.index('row">2026-01-01 00:00</th>'), page.index('row">2026-03-01 00:00</th>')
    # The latest stands first.
    assert later < earlier < page.index('word FAIL">', earlier) < page.index("8.30.1", earlier)
    assert main(["report", "one", "two", "--output", "pages/all.html"]) == 0
    assert (there / "pages/all.html").read_text(encoding="utf-8") == page


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "line 1, column 2: not JSON"),
        ("[]", "/: a list where type 'object' is wanted"),
        ("{}", "'corpus_sha256' is a required property"),
        ("[" * 200 + "]" * 200, "more than 100 lists or objects in each other"),
    ],
)
@pytest.mark.parametrize("name", [REPORT, "comparison.json"])
def test_a_report_that_is_damaged_or_of_others_is_named_with_the_reason_and_nothing_is_written(
    there: Path, capsys: pytest.CaptureFixture[str], content: str, reason: str, name: str
) -> None:
    (there / "two" / name).write_text(content, encoding="utf-8")
    said = refused(capsys, "one", "two")
    assert f"two/{name}: " in said
    if name == REPORT:
        assert reason in said
    assert not (there / "trend.html").exists()


Damage = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda one: one["findings"].append(7), "/findings/2: is not an object"),
        (lambda one: one["findings"][1].pop("rule_id"), "/findings/1: 'rule_id' is missing"),
        (lambda one: one["findings"][0].update(status=["missed"]), "/findings/0/status: is of the wrong type"),
        (lambda one: one["results"][0].update(check_id={}), "/results/0/check_id: is of the wrong type"),
        (lambda one: one["results"][0].pop("outcome"), "/results/0: 'outcome' is missing"),
        (lambda one: one.update(results={}), "/results: "),
    ],
)
def test_a_row_that_is_damaged_is_named(
    there: Path, capsys: pytest.CaptureFixture[str], damage: Damage, reason: str
) -> None:
    document = json.loads((there / "one" / REPORT).read_bytes())
    damage(document)
    (there / "one" / REPORT).write_text(json.dumps(document), encoding="utf-8")
    assert reason in refused(capsys, "one")


def test_what_a_schema_does_not_ask_for_is_not_needed(there: Path) -> None:
    """Reports of another version of ours may lack it."""
    for name, file in (("report", REPORT), ("comparison", "comparison.json")):
        path = there / "two" / file
        path.write_text(json.dumps(_required(name, json.loads(path.read_bytes()))), encoding="utf-8")
    assert main(["report", "two"]) == 0
    (there / "two/comparison.json").unlink()
    assert main(["report", "two"]) == 0


def _required(name: str, document: dict[str, Any]) -> dict[str, Any]:
    root = json.loads(schema(name).read_bytes())

    def kept(value: Any, one: dict[str, Any]) -> Any:
        if "$ref" in one:
            return kept(value, root["$defs"][one["$ref"].rpartition("/")[2]])
        if isinstance(value, dict):
            known, required = one.get("properties", {}), one.get("required", ())
            names = [key for key in value if key in required or key not in known]
            return {key: kept(value[key], known.get(key, {})) for key in names}
        return [kept(item, one.get("items", {})) for item in value] if isinstance(value, list) else value

    found: dict[str, Any] = kept(document, root)
    return found


def test_nothing_is_written_over_but_a_page_of_ours(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = there / "mine.html"
    for content in ("<p>mine</p>", f"{'x' * 4096}{GENERATOR}"):
        mine.write_text(content, encoding="utf-8")
        assert "mine.html: is there, and is no page of gitleaks-eval" in refused(capsys, "one", "--output", "mine.html")
        assert mine.read_text(encoding="utf-8") == content
    (there / "folder").mkdir()
    assert "folder: is there" in refused(capsys, "one", "--output", "folder")
    target = there / "target.html"
    (there / "link.html").symlink_to(target)
    assert "link.html is a link" in refused(capsys, "one", "--output", "link.html")
    (there / "linked").symlink_to(there / "folder")
    assert "linked is a link" in refused(capsys, "one", "--output", "linked/page.html")
    assert not target.exists()
    assert not list((there / "folder").iterdir())
    shutil.copy(there / "two" / PAGE, mine)
    assert main(["report", "one", "--output", "mine.html"]) == 0
    assert mine.read_bytes() == (there / "one" / PAGE).read_bytes()


@pytest.mark.parametrize("folder", ["../one", "/etc", "a/../../one"])
def test_a_comparison_leads_to_no_folder_but_those_below_it(
    there: Path, capsys: pytest.CaptureFixture[str], folder: str
) -> None:
    path = there / "two/comparison.json"
    document = json.loads(path.read_bytes())
    document["candidates"][1]["folder"] = folder
    path.write_text(json.dumps(document), encoding="utf-8")
    assert f"names the folder '{folder}', which is not below it" in refused(capsys, "two")


@pytest.mark.usefixtures("there")
def test_a_folder_without_reports_and_a_line_without_a_folder_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "corpus/evaluation_report.json: does not exist" in refused(capsys, "corpus")
    with pytest.raises(SystemExit) as ended:
        main(["report"])
    assert ended.value.code == 4
