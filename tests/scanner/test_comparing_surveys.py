"""Comparisons of rules, places and entries, with real scanners: what is lost between two configurations or builds."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from corpus import shipped_scenarios
from ran import RESULTS, Ran, evaluate, run

from gitleaks_eval.coverage.configuration.builtin import builtin_document
from gitleaks_eval.scanners.build import probe

OLD, NEW = "8.18.4", "8.30.1"
RULES = "--gitleaks-only=rules"
AGAINST = "--gitleaks-baseline=base.json"
BESIDE = "--gitleaks-only=rules,places,entries"
ALL = "--gitleaks-only=scenarios,rules,places,entries"
TWO = (ALL, "--gitleaks-scenarios=two")
EXTENDS = "[extend]\nuseDefault = true\n"
KEPT = {"aws-access-token", "generic-api-key", "github-pat", "private-key", "slack-bot-token", "stripe-access-token"}
SOURCES = f"{EXTENDS}[allowlist]\npaths = ['(^|/)src/']\n"
OWN = "[[rules]]\nid = 'acme'\nregex = 'acme_{form}'\nkeywords = ['acme_']\n"
FOR_RULES = EXTENDS + "[[allowlists]]\ntargetRules = {rules}\npaths = ['(^|/)src/main/java/']\n"
TEAM = f"""{EXTENDS}disabledRules = ["generic-api-key"]
{OWN.format(form="[a-z0-9]{32}")}
[[allowlists]]
paths = ['(^|/)fixtures/', '\\.lock$']
[[allowlists]]
stopwords = ["example"]
"""


@pytest.fixture(scope="module", autouse=True)
def scanners(gitleaks: Callable[[str], Path]) -> None:
    """Installed once, outside the runs."""
    for version in (OLD, NEW):
        gitleaks(version)


def compared(folder: Path, *names: str, more: tuple[str, ...] = (), version: str = NEW) -> Ran:
    options = [f"--gitleaks-config={name}" for name in names]
    return evaluate(folder, f"--gitleaks-version={version}", *options, *more)


def section(ran: Ran) -> list[str]:
    """Our section of the terminal, without its title and pytest's last line."""
    lines = ran.text.splitlines()
    start = next(index for index, line in enumerate(lines) if " gitleaks-eval comparison " in line)
    return [line for line in lines[start + 1 :] if not re.match(r"^=+ .* =+$", line)]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, gitleaks: Callable[[str], Path]) -> Path:
    """A folder with configurations."""
    folder = tmp_path_factory.mktemp("project")
    build = probe(gitleaks(NEW), "a test")
    ids = [rule["id"] for rule in builtin_document(Path(build.path), build.sha256)["rules"]]
    off = [one for one in ids if one not in KEPT]
    paths = [
        r"(^|/)(src|lib|test|vendor|deploy/k8s|terraform)/",
        r"\.(ya?ml|tf|go|js|ts|java|properties|xml|sh|ipynb)$",
    ]
    contents = {
        "evil": f"{EXTENDS}disabledRules = {off}\n[[allowlists]]\npaths = {json.dumps(paths)}\n",
        "sources": SOURCES,
        "team": TEAM,
        "narrow": TEAM.replace("{32}", "{24}[0-9]{8}"),
        "wider": TEAM.replace("fixtures/", "(fixtures|docs)/"),
        "few": FOR_RULES.format(rules=["npm-access-token", "jwt"]),
        "others": FOR_RULES.format(rules=["npm-access-token", "gitlab-pat"]),
        "more": TEAM + OWN.format(form="[A-Z]{32}").replace("acme", "more"),
    }
    for name, content in contents.items():
        (folder / name).write_text(content, encoding="utf-8")
    shipped_scenarios(folder / "two", "mixed-secrets", "no-secrets")
    return folder


def test_a_configuration_that_switches_off_rules_and_allows_paths_is_a_regression_in_few_lines(project: Path) -> None:
    ran = compared(project, "builtin", "evil", more=(ALL,))
    assert (ran.status, ran.verdicts) == (1, {"evil": "REGRESSION"})
    lines = section(ran)
    assert len(lines) <= 20
    assert lines[4:7] == [
        r"WIDER  evil:5 path \.(ya?ml|tf|go|js|ts|java|properties|xml|sh|ipynb)$: hides 153 places",
        "WIDER  evil:5 path (^|/)(src|lib|test|vendor|deploy/k8s|terraform)/: hides 143 places",
        "WIDER  evil:3 disabledRules: switches off 216 rules",
    ]
    pair = ran.pairs["evil"]
    # Of some of the 216 another rule still finds the samples.
    assert 200 < len(pair["rules_lost"]) < 216
    formats = [name for name in pair["places_lost"] if name.startswith("format:")]
    assert (len(pair["places_lost"]) - len(formats), pair["rules_gained"], pair["places_gained"]) == (232, [], [])
    assert len(formats) > 50
    assert pair["entries_wider"] == ["evil:5", "evil:3"]
    by_place = {row["place"]: row["seen"] for row in ran.comparison["places"]}
    assert by_place["path:src/main.py"] == {"builtin": True, "evil": False}
    assert "| paths | src/main.py | seen | not seen |" in ran.markdown
    assert re.search(r"\| paths \| \d+ others \| seen \| seen \|", ran.markdown)


BY_LINE = f"{EXTENDS}[[allowlists]]\nregexTarget = 'line'\nregexes = ['password|const|export|Authorization']\n"
JUNK = "[[rules]]\nid = '{name}'\nregex = 'junk[0-9]{{8}}'\n"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (f"{EXTENDS}[[allowlists]]\npaths = ['^([^/]+/){{2,}}']\n", "places"),
        (BY_LINE, "lines, more than a quarter of aws-access-token"),
        (EXTENDS + "".join(JUNK.format(name=name) for name in sorted(KEPT)), "never fires"),
    ],
    ids=["places", "lines", "replaced"],
)
def test_candidates_that_are_unfit_alike_are_safe_and_each_is_named_with_its_reason(
    content: str, reason: str, tmp_path: Path
) -> None:
    for name in ("old", "new"):
        (tmp_path / name).write_text(f"{content}# {name}\n", encoding="utf-8")
    ran = compared(tmp_path, "old", "new", more=(BESIDE,))
    assert (ran.status, ran.verdicts) == (0, {"new": "SAFE"})
    named = [line for line in section(ran) if line.startswith("FAIL  ")]
    assert [line.split()[1] for line in named] == ["old:", "new:"]
    assert all(reason in line for line in named)


def test_a_narrowed_and_a_widened_entry_are_regressions_and_one_rule_more_is_none(project: Path) -> None:
    ran = compared(project, "team", "narrow", "wider", "more", more=(BESIDE,))
    assert (ran.status, ran.verdicts) == (1, {"narrow": "REGRESSION", "wider": "REGRESSION", "more": "SAFE"})
    pairs = ran.pairs
    # What a narrowed regex makes of itself fires; the samples of the baseline do not.
    assert (pairs["narrow"]["rules_lost"], pairs["narrow"]["entries_wider"]) == (["acme"], [])
    assert (pairs["wider"]["rules_lost"], pairs["wider"]["entries_wider"]) == ([], ["wider:10"])
    # One more rule makes no entry wider.
    assert (pairs["more"]["rules_gained"], pairs["more"]["entries_wider"]) == (["more"], [])


def test_an_allowlist_for_other_rules_than_before_is_a_regression(project: Path) -> None:
    ran = compared(project, "few", "others", more=(BESIDE,))
    assert (ran.status, ran.verdicts) == (1, {"others": "REGRESSION"})
    assert ran.pairs["others"]["entries_wider"] == ["others:5"]


def test_a_saved_baseline_knows_what_was_found_and_what_hid_and_one_allowed_folder_is_a_regression(
    project: Path,
) -> None:
    assert compared(project, "builtin", more=("--gitleaks-save-baseline=base.json", *TWO)).status == 0
    ran = compared(project, "sources", more=(AGAINST, *TWO))
    assert (ran.status, set(ran.verdicts.values())) == (1, {"REGRESSION"})
    assert len(ran.pairs[NEW]["places_lost"]) == 129
    again = compared(project, "builtin", more=(AGAINST, *TWO))
    assert (again.status, [pair["reasons"] for pair in again.pairs.values()]) == (0, [["nothing differs"]])


def test_what_a_build_loses_against_a_saved_baseline_is_accepted_for_these_two(
    tmp_path: Path,
) -> None:
    base = tmp_path / "base.json"

    def verdict(*options: str) -> str:
        ran = evaluate(tmp_path, f"--gitleaks-version={NEW}", "--gitleaks-config=builtin", RULES, *options)
        found: str = ran.pairs[NEW]["verdict"] if base.exists() and AGAINST in options else ""
        return found

    def changed(gone: str, **scanner: str) -> None:
        saved = json.loads(base.read_text(encoding="utf-8"))
        saved["scanner"].update(scanner)
        saved["coverage"]["rules"]["fires"].append(gone)
        base.write_text(json.dumps(saved), encoding="utf-8")

    verdict("--gitleaks-save-baseline=base.json")
    changed("zz-gone", version=OLD)
    assert verdict(AGAINST) == "REVIEW"
    accepted = run(
        tmp_path, "--gitleaks-accept", "--gitleaks-yes", f"--gitleaks-version={NEW}", "--gitleaks-config=builtin",
        AGAINST, CI="",
    )  # fmt: skip
    assert accepted.line("8.30.1 against base.json: 1 rule that 8.30.1 does not find (zz-gone)")
    assert verdict(AGAINST) == "SAFE"
    # Of a baseline of another configuration nobody has said anything.
    changed("zz-gone", config_sha256="0" * 64)
    assert verdict(AGAINST) == "REVIEW"


def test_an_upgrade_says_what_it_starts_to_obey_and_what_that_loses_is_to_review(project: Path) -> None:
    ran = compared(project, "team", version=OLD, more=(f"--gitleaks-version={NEW}", *TWO, "-rx"))
    assert (ran.status, ran.verdicts) == (0, {NEW: "REVIEW"})
    pair = ran.pairs[NEW]
    assert pair["reasons"][0] == f"{NEW} starts to obey disabledRules and 2 [[allowlists]], which {OLD} ignores"
    assert {(one["rule_id"], one["hidden_by"]) for one in pair["lost"]} == {
        ("generic-api-key", "hidden by team [extend] disabledRules[0]")
    }
    skipped = next(reason for reason in pair["reasons"] if " paths that " in reason)
    assert re.fullmatch(rf"\d+ paths that {NEW} skips: .*, .*, .*, …", skipped)
    assert f"[{NEW}-mixed-secrets] - to review" in ran.text
    assert len(section(ran)) <= 20


def test_a_step_back_says_what_is_no_longer_obeyed(project: Path) -> None:
    back = compared(project, "team", version=NEW, more=(f"--gitleaks-version={OLD}", BESIDE))
    assert (back.status, back.verdicts) == (1, {OLD: "REGRESSION"})
    assert back.pairs[OLD]["reasons"][0] == f"{OLD} ignores disabledRules and 2 [[allowlists]], which {NEW} obeys"


TABLES = """
[tool.gitleaks-eval.candidates.ci]
version = "8.30.1"
config = "builtin"
baseline = true
[tool.gitleaks-eval.candidates.hook]
version = "8.30.1"
config = "builtin"
mode = "staged"
[tool.gitleaks-eval.candidates.merges]
version = "8.30.1"
config = "builtin"
args = '--log-opts="--all -m"'
[tool.gitleaks-eval.candidates.main]
version = "8.30.1"
config = "builtin"
args = '--log-opts=-m --max-archive-depth 2'
[tool.gitleaks-eval.candidates.flat]
version = "8.30.1"
config = "builtin"
decode_depth = 0
"""


def test_modes_and_flags_are_compared_as_in_production(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(TABLES, encoding="utf-8")
    some = shipped_scenarios(tmp_path / "some", "historical-secrets", "mixed-secrets", "no-secrets")
    ran = evaluate(tmp_path, "--gitleaks-compare", ALL, some)
    pairs = ran.pairs
    assert ran.verdicts == {"hook": "REGRESSION", "merges": "SAFE", "main": "REGRESSION", "flat": "REGRESSION"}
    # A hook sees what a merge adds and what is staged; what stands in history alone is lost with the one scenario.
    assert [(one["scenario"], one["rule_id"]) for one in pairs["hook"]["lost"]] == [
        ("historical-secrets", "aws-access-token")
    ]
    assert pairs["hook"]["places_gained"] == ["git:evil_merge", "git:merge_conflict", "git:staged"]
    assert "cannot be staged" in (tmp_path / RESULTS / "hook/scorecard.md").read_text(encoding="utf-8")
    assert pairs["merges"]["places_gained"] == ["git:evil_merge", "git:merge_conflict"]
    # With log options `--all` is no longer the scanner's own.
    assert len(pairs["main"]["places_lost"]) == 7
    assert {"form:gzip", "form:zip"} <= set(pairs["main"]["places_gained"])
    assert {"form:base64", "form:hex", "form:percent"} <= set(pairs["flat"]["places_lost"])
    scanners = {name: ran.json(f"{name}/evaluation_report.json")["scanner"] for name in ("hook", "main", "ci")}
    assert scanners["hook"]["mode"] == "staged"
    assert scanners["main"]["args"] == ["--log-opts=-m", "--max-archive-depth", "2"]
    assert not {"args", "mode"} & scanners["ci"].keys()
