"""What README and docs/ show is what happens, and what they say of the project is true."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from builders import IN_CORE
from shown import CONSOLE, PAGES, ROOT, Block, blocks, commands, links, problems_of

from gitleaks_eval.analysis.envelope import SCHEMA_VERSION
from gitleaks_eval.checks.catalogue import as_markdown, catalogue
from gitleaks_eval.core.resources import PACKAGE
from gitleaks_eval.coverage.families.formats import formats
from gitleaks_eval.coverage.places.places import usual_places
from gitleaks_eval.engine.settings.options import OPTIONS
from gitleaks_eval.plugin.folders import LINT
from gitleaks_eval.reports.comparison.compared import COMPARISON_SCHEMA_VERSION
from gitleaks_eval.reports.output.report import COMPARISONS, REPORTS
from gitleaks_eval.reports.run.evaluation_report import REPORT_SCHEMA_VERSION
from gitleaks_eval.scenarios import catalogue as scenarios
from gitleaks_eval.scenarios.scenario import Thresholds
from gitleaks_eval.scoring.evaluated import LINT_CHECKS
from gitleaks_eval.scoring.saved import SUPPORTED_SCHEMA
from gitleaks_eval.scoring.scorecard import THRESHOLDS

pytestmark = pytest.mark.usefixtures("own_environment")

BLOCKS = {page.relative_to(ROOT).as_posix(): list(blocks(page)) for page in PAGES}
RUN = [name for name, shown in BLOCKS.items() if any(block.is_run for block in shown)]
# Console blocks that no test runs, each with its reason.
NOT_RUN = {
    "README.md": [
        "installs from the network; .ci/run runs this line",
        "installs from the network; .ci/run runs this line",
    ],
    "docs/betterleaks.md": ["scans for a minute; tests/scanner/test_comparing.py compares the same builds"],
    "docs/in-a-pull-request.md": ["needs Docker and the network"],
    "docs/review.md": ["it asks at a terminal; tests/scanner/test_review.py answers"],
    "docs/tutorial.md": ["installs from the network; .ci/run runs the same for the README"],
}
# Links of the README are whole, since a package index shows it, too: to the files of our main branch.
HERE = re.compile(r"^https://(github\.com|raw\.githubusercontent\.com)/gitleaks-eval/gitleaks-eval/(blob/)?main/")


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def of_language(name: str, language: str) -> list[Block]:
    return [block for block in BLOCKS[name] if block.language == language]


def with_note(note: str) -> Iterator[tuple[str, Block]]:
    return ((name, block) for name, shown in BLOCKS.items() for block in shown if block.note == note)


@pytest.mark.parametrize("name", RUN)
def test_what_a_page_shows_is_what_happens(name: str, tmp_path: Path) -> None:
    assert not (problems := problems_of(ROOT / name, tmp_path / "work")), "\n".join(problems)


def test_each_console_block_is_run_or_says_why_not() -> None:
    left_out: dict[str, list[str]] = {}
    for name, block in with_note("not run"):
        left_out.setdefault(name, []).append(block.noted)
    assert left_out == NOT_RUN
    consoles = [block for shown in BLOCKS.values() for block in shown if block.language == CONSOLE]
    assert {block.note for block in consoles} <= {"", "not run", "run in"}
    assert all(any(commands(block)) for block in consoles)


def test_what_another_page_runs_stands_there() -> None:
    for name, block in with_note("run in"):
        there = {command for other in BLOCKS[block.noted] if other.is_run for command in commands(other)}
        shown = set(commands(block))
        known = there if any(command.output for command in shown) else {one._replace(output="") for one in there}
        assert shown <= known, f"{name}:{block.line}: {block.noted} runs something else"


def test_a_reader_sees_the_name_of_each_file_before_its_content() -> None:
    for name, block in with_note("file"):
        above = "\n".join(page(name).splitlines()[: block.line - 1])
        said = f"`{block.noted}`" in above or block.text.startswith(f"# {block.noted}\n")
        assert said, f"{name}:{block.line}: {block.noted}"


def test_no_command_hides_in_a_block_that_is_not_run() -> None:
    for name, shown in BLOCKS.items():
        for block in shown:
            assert block.language, f"{name}:{block.line}: a block without a language"
            if block.language != CONSOLE and not block.language.startswith("{"):
                assert not re.search(r"^\$ ", block.text, re.MULTILINE), f"{name}:{block.line}"


def test_each_link_to_a_file_of_the_project_leads_to_one() -> None:
    found = [(one, HERE.sub(f"{ROOT}/", target)) for one in PAGES for target in links(one)]
    files = [(one, target) for one, target in found if not re.match(r"[a-z]+:|#", target)]
    assert files
    assert [
        f"{one.name}: {target}" for one, target in files if not (one.parent / target.partition("#")[0]).exists()
    ] == []


def test_what_a_package_index_shows_of_the_readme_has_no_link_that_leads_nowhere_there() -> None:
    found = list(links(ROOT / "README.md"))
    assert [target for target in found if not target.startswith("https://")] == []
    # A page about a picture is none.
    assert [target for target in found if target.endswith(".png") and "/raw.githubusercontent.com/" not in target] == []


@pytest.mark.parametrize(("language", "read"), [("yaml", yaml.safe_load_all), ("json", json.loads)])
def test_blocks_of_data_are_well_formed(language: str, read: object) -> None:
    assert callable(read)
    found = [block for shown in BLOCKS.values() for block in shown if block.language == language]
    assert found
    for block in found:
        list(read(block.text))


def test_a_page_that_shows_something_else_is_noticed(tmp_path: Path) -> None:
    shown = tmp_path / "page.md"
    console = "```console\n$ echo one; exit 3\ntwo\n$ echo $?\n3\n$ cat a/b\nx...z\n```\n"
    file = "<!-- file: a/b -->\n```text\nxyz\n```\n"
    shown.write_text(console + file, encoding="utf-8")
    wrong, missing, status = problems_of(shown, tmp_path / "work")
    assert "Expected:\n    two\nGot:\n    one" in wrong
    assert "cat: a/b: No such file" in missing
    assert "`cat a/b` ended with 1, and no `$ echo $?` shows it" in status
    shown.write_text(file + console.replace("two", "o..."), encoding="utf-8")
    assert problems_of(shown, tmp_path / "again") == []


def test_what_is_generated_is_as_it_is_made() -> None:
    assert page("docs/checks.md") == as_markdown(), "run: python -m gitleaks_eval.checks > docs/checks.md"
    assert page("docs/scenarios.md") == scenarios.as_markdown(), (
        "run: python -m gitleaks_eval.scenarios.catalogue > docs/scenarios.md"
    )


def test_each_count_of_checks_in_the_docs_is_that_of_the_catalogue() -> None:
    names = [*BLOCKS, "ARCHITECTURE.md", "CONTRIBUTING.md"]
    said = [int(count) for name in names for count in re.findall(r"(?<!of )\b(\d+) checks\b", page(name))]
    assert said
    assert set(said) == {len(catalogue())} == {len({entry.check_id for entry in catalogue()})}


def test_the_first_run_of_the_tutorial_collects_checks_lint_rules_places_and_formats() -> None:
    text = page("docs/tutorial.md")
    rules = int(re.findall(r"tested: (\d+) of \1 rules", text)[0])
    places = sum(not place.is_large and not place.is_dropped for place in usual_places())
    assert f"collected {IN_CORE + len(catalogue(LINT)) + rules + places + len(formats())} items" in text


def test_the_tests_of_the_configuration_are_those_that_a_comparison_knows() -> None:
    assert tuple(entry.check_id for entry in catalogue(LINT)) == LINT_CHECKS


def test_thresholds_in_the_docs_are_those_of_the_code() -> None:
    text = page("docs/decisions.md")
    for name, least in THRESHOLDS:
        assert f"| {name} | {least} |" in text
    truths = [json.loads(path.read_bytes())["expected"] for path in (ROOT / "ground_truth").glob("*.json")]
    for check, name in {"SP-1": "scan_time_ms", "SP-2": "ms_per_commit", "SP-3": "ms_per_finding"}.items():
        of_none = getattr(Thresholds(), f"max_{name}")
        (of_core,) = {truth["thresholds"].get(f"max_{name}", of_none) for truth in truths}
        row = next(line for line in text.splitlines() if line.startswith(f"| {check},"))
        assert row.endswith(f"| {of_core:,} ms | {of_none:,} ms |")


def test_each_report_each_schema_and_each_option_is_named() -> None:
    for name in [*(one.name for one in REPORTS), *(one.name for one in COMPARISONS)]:
        assert f"`{name.format('<scenario>')}`" in page("docs/reports.md")
    for schema in (PACKAGE / "schemas").iterdir():
        assert f"schemas/{schema.name})" in page("docs/reports.md")
    for document, version in {
        "evaluation_report.json": REPORT_SCHEMA_VERSION,
        "comparison.json": COMPARISON_SCHEMA_VERSION,
        "a saved baseline": SUPPORTED_SCHEMA,
        "analysis/<scenario>.json": SCHEMA_VERSION,
    }.items():
        row = next(line for line in page("docs/reports.md").splitlines() if document in line and "schema.json" in line)
        assert row.endswith(f"`schema_version` {version} |")
    assert all(one.setting in page("docs/options.md") or one.option in page("docs/options.md") for one in OPTIONS)


def test_the_readme_is_one_page_and_its_two_lines_are_what_ci_runs() -> None:
    assert len(page("README.md").splitlines()) <= 150
    script = page(".ci/run").splitlines()
    users, developers = (block.text.removeprefix("$ ").strip() for block in of_language("README.md", CONSOLE)[:2])
    assert users in map(str.strip, script)
    # Lint and types stand between its halves.
    install, run = developers.split(" && ")
    assert install in script
    assert run in script[script.index(install) :]


def test_the_job_for_ci_is_what_init_writes_and_shows_no_file_that_a_branch_may_have_left() -> None:
    job = of_language("docs/in-a-pull-request.md", "yaml")[0].text
    assert job == (PACKAGE / "data/workflow.yml").read_text(encoding="utf-8")
    steps = yaml.safe_load(job)["jobs"]["evaluate"]["steps"]
    (line,) = (step["run"] for step in steps if step.get("run", "").startswith("gitleaks-eval "))
    assert '--output="$RUNNER_TEMP/gitleaks-eval"' in line
    assert steps[-1]["with"]["path"] == "${{ runner.temp }}/gitleaks-eval"
    assert "GITHUB_STEP_SUMMARY" in page("docs/in-a-pull-request.md")


@pytest.mark.parametrize(
    ("word", "title"),
    {
        "moved": "Moved",
        "relabelled": "Relabelled",
        "envelope": "Envelope",
        "caldera": "Caldera",
        "canary": "Canary",
        "guarded": "Guarded decision",
        "documented": "Documented decision",
    }.items(),
)
def test_a_word_of_ours_is_explained_or_linked_on_each_page_that_uses_it(word: str, title: str) -> None:
    assert f"\n## {title}\n" in page("docs/glossary.md")
    for name in BLOCKS.keys() - {"docs/glossary.md"}:
        text = re.sub(r"^```.*?^```|HEAD has moved", "", page(name), flags=re.MULTILINE | re.DOTALL).lower()
        explained = re.search(rf"\*\*{word}|^\| {word}|^## .*{word}|\[[^\]]*{word}[^\]]*\]\(", text, re.MULTILINE)
        assert explained or not re.search(rf"\b{word}", text), name
