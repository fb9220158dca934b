"""A scanner's report becomes an analysis: counts, files, directories, severity and masks, and no secret."""

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from builders import (
    AUTHOR,
    DESCRIPTION,
    FIRST,
    MESSAGE,
    SECOND,
    Json,
    expecting,
    outcomes_of,
    reported,
    secret,
    shuffled,
)

from gitleaks_eval.analysis.analyse import Provenance, analyse
from gitleaks_eval.analysis.envelope import as_analysis
from gitleaks_eval.analysis.severity import SeverityPolicy, load_policy
from gitleaks_eval.scenarios.secrets import MASK

PROVENANCE = Provenance(
    repository="good",
    branch="main",
    commit=SECOND,
    scanner_version="8.30.1",
    run_id="a run",
    timestamp="2026-01-01T00:00:00Z",
    scan_time_ms=21.67251,
    scan_attempts=1,
)
POLICY = SeverityPolicy("MEDIUM", {"github-pat": "HIGH"}, None)
KEY = secret("private-key", "analysis")
PAT, OTHER_PAT = secret("github-pat", "1"), secret("github-pat", "2")
GENERIC = secret("generic-api-key", "1")

REPORT = [
    reported(".env", 3, "github-pat", PAT),
    reported("config/aws.py", 4, "generic-api-key", GENERIC, Commit=SECOND, Date="2026-01-02T00:00:00Z"),
    reported("config/prod/server.key", 1, "private-key", KEY, Commit=SECOND, Date="2026-01-02T00:00:00Z"),
    reported("config/prod/server.key", 40, "private-key", KEY),
    reported("src/app/übung.py", 7, "github-pat", OTHER_PAT),
]
HEAD = [f"GITHUB_TOKEN={PAT}\n".encode(), f"x = '{GENERIC}'".encode(), f"{KEY}\n{KEY}\n".encode(), b"\xff\x00"]


def analysed(report: list[Json], *head: bytes, policy: SeverityPolicy = POLICY) -> Json:
    return analyse(report, head, policy, PROVENANCE)


def data_of(report: list[Json], *head: bytes, policy: SeverityPolicy = POLICY) -> Json:
    data: Json = analysed(report, *head, policy=policy)["data"]
    return data


def test_the_summary_counts_findings_values_files_and_commits() -> None:
    data = data_of(REPORT, *HEAD)
    assert {name: value for name, value in data.items() if not isinstance(value, (dict, list))} == {
        "tool": "gitleaks",
        "tool_version": "8.30.1",
        "total_secrets": 5,
        "unique_secrets": 4,
        "secrets_in_head": 4,
        "secrets_in_history": 1,
        "files_with_secrets": 4,
        "commits_with_secrets": 2,
        "scan_time_ms": 21.673,
        "scan_attempts": 1,
    }
    assert data["secrets_by_rule"] == {"generic-api-key": 1, "github-pat": 2, "private-key": 2}
    assert data["secrets_by_severity"] == {"HIGH": 1 + 1, "MEDIUM": 3}


def test_the_metadata_names_scanner_run_and_repository() -> None:
    metadata = analysed(REPORT)["metadata"]
    repo_id = metadata.pop("repo_id")
    assert metadata == {
        "tool_name": "gitleaks",
        "tool_version": "8.30.1",
        "scanner": "gitleaks",
        "run_id": "a run",
        "branch": "main",
        "commit": SECOND,
        "timestamp": "2026-01-01T00:00:00Z",
        "schema_version": "1.0.0",
    }
    assert repo_id == analysed([])["metadata"]["repo_id"]


def test_a_finding_has_the_fields_of_the_envelope_and_no_secret() -> None:
    (finding,) = data_of([REPORT[0]], *HEAD)["findings"]
    assert finding == {
        "file_path": ".env",
        "line_number": 3,
        "rule_id": "github-pat",
        "secret_type": "github-pat",
        "description": "github-pat found",
        "secret_preview": f"ghp_{MASK}",
        "entropy": 4.25,
        "commit_hash": FIRST,
        "commit_author": AUTHOR,
        "commit_date": "2026-01-01T00:00:00Z",
        "fingerprint": f"{FIRST}:.env:github-pat:3",
        "in_current_head": True,
        "severity": "HIGH",
    }


def test_an_analysis_is_a_valid_envelope_that_passes_the_structural_checks() -> None:
    analysis = as_analysis(json.loads(json.dumps(analysed(REPORT, *HEAD))), "test")
    assert analysis.problems() == []
    outcomes = outcomes_of(expecting(), analysis)
    for check_id, outcome in outcomes.items():
        if check_id.startswith(("SC", "OQ", "IF", "EC", "RV")) or check_id in {"SD-5", "SD-6"}:
            assert outcome.name in {"passed", "not_applicable"}, check_id


def test_nothing_found_is_an_analysis_of_nothing() -> None:
    data = data_of([], *HEAD)
    assert {data[name] for name in data if name.endswith("secrets") or name.startswith("secrets_in")} == {0}
    assert (data["findings"], data["files"], data["secrets_by_rule"]) == ([], {}, {})
    assert data["directories"] == {
        ".": {
            "direct_secret_count": 0,
            "recursive_secret_count": 0,
            "rule_id_counts": {},
            "direct_file_count": 0,
            "recursive_file_count": 0,
        }
    }


@pytest.mark.parametrize("value", [PAT, GENERIC, KEY, OTHER_PAT], ids=["pat", "generic", "key", "other"])
def test_no_eight_characters_of_a_secret_beyond_its_prefix_are_left(value: str) -> None:
    text = json.dumps(analysed(REPORT, *HEAD), ensure_ascii=False)
    beyond = value.removeprefix("ghp_")
    for line in beyond.splitlines():
        assert not any(line[start : start + 8] in text for start in range(max(1, len(line) - 7)))


def test_a_secret_is_masked_in_paths_authors_dates_and_branches() -> None:
    report = [
        reported(f"keys/{PAT}/a.py", 1, "rule-1", PAT, Author=f"{PAT} <a@b.c>", Date=PAT),
        reported("plain.py", 1, "rule", PAT),
    ]
    document = analyse(report, HEAD, POLICY, replace(PROVENANCE, branch=f"fix/{PAT}"))
    text = json.dumps(document)
    assert not any(PAT[start : start + 8] in text for start in range(4, len(PAT) - 7))
    masked = f"ghp_{MASK}"
    assert document["data"]["findings"][0]["fingerprint"] == f"{FIRST}:keys/{masked}/a.py:rule-1:1"
    assert document["metadata"]["branch"] == f"fix/{masked}"
    assert list(document["data"]["directories"]) == [".", "keys", f"keys/{masked}"]


def test_files_that_are_named_by_their_secrets_stay_different_files() -> None:
    report = [reported(f"keys/{value}/{name}", 1, "r", value) for value in (PAT, OTHER_PAT) for name in "ab"]
    data = data_of(report)
    assert (data["files_with_secrets"], len(data["files"]), len(data["directories"])) == (4, 4, 3)


def test_severity_follows_what_the_path_and_the_rule_really_are() -> None:
    report = [reported(".env.production", 4, "generic-api-key", "production")]
    (finding,) = data_of(report, b"production", policy=load_policy())["findings"]
    assert (finding["severity"], MASK in finding["file_path"], finding["rule_id"]) == ("HIGH", True, "generic-api-key")


def test_descriptions_and_messages_of_the_report_are_not_carried_over() -> None:
    text = json.dumps(analysed(REPORT, *HEAD))
    assert MESSAGE not in text
    assert DESCRIPTION not in text


@pytest.mark.parametrize(
    ("value", "head", "in_head"),
    [
        ("value-x", [b"a value-x b"], True),
        ("value-x", [b"value-", b"x"], False),
        ("value-x", [b"VALUE-X"], False),
        ("value-x", [], False),
        ("value-x", [b"", b"\x00\xffvalue-x\x00"], True),
        ("two\nlines", [b"two\nlines\n"], True),
        ("two\nlines", [b"two\r\nlines\n"], False),
        ("schlüssel", ["schlüssel".encode()], True),
        ("schlüssel", ["schlüssel".encode("latin-1")], False),
        ("byte\udce9", [b"byte\xe9"], True),
    ],
)
def test_a_secret_is_in_head_if_its_value_stands_in_a_file_of_head(
    value: str,
    head: list[bytes],
    in_head: bool,  # noqa: FBT001 - a column
) -> None:
    data = data_of([reported("gone.py", 1, "r", value)], *head)
    assert data["findings"][0]["in_current_head"] is in_head
    assert (data["secrets_in_head"], data["secrets_in_history"]) == ((1, 0) if in_head else (0, 1))


def test_a_secret_of_a_renamed_file_is_in_head_under_its_old_name() -> None:
    finding = data_of([reported("old.py", 1, "r", PAT)], f"moved: {PAT}".encode())["findings"][0]
    assert (finding["file_path"], finding["in_current_head"]) == ("old.py", True)


def test_one_value_at_two_places_is_two_findings_and_one_secret() -> None:
    data = data_of([reported("a", 1, "r", PAT), reported("b", 9, "s", PAT)], PAT.encode())
    assert (data["total_secrets"], data["unique_secrets"], data["secrets_in_head"]) == (2, 1, 2)


def test_findings_are_never_dropped_or_merged() -> None:
    twins = [reported("a", 1, "r", PAT)] * 3 + [reported("a", 1, "s", PAT), reported("a", 1, "r", PAT, Commit=SECOND)]
    data = data_of(twins)
    assert (data["total_secrets"], len(data["findings"]), data["unique_secrets"]) == (5, 5, 1)
    assert data["files"]["a"]["secret_count"] == 5
    assert data["directories"]["."]["direct_secret_count"] == 5


def test_findings_are_sorted_by_file_line_and_rule() -> None:
    places = [("b", 1, "r"), ("a", 10, "r"), ("a", 9, "z"), ("a", 9, "b"), ("a/b", 1, "r"), ("B", 1, "r")]
    findings = data_of([reported(*place, PAT) for place in places])["findings"]
    shown = [(finding["file_path"], finding["line_number"], finding["rule_id"]) for finding in findings]
    assert shown == sorted(places)


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_the_report_and_of_head_does_not_matter(seed: int) -> None:
    report = [*REPORT, *REPORT[:2], reported(".env", 3, "github-pat", OTHER_PAT), reported(".env", 3, "jwt", PAT)]
    usual = json.dumps(analysed(report, *HEAD))
    assert json.dumps(analysed(list(shuffled(report, seed)), *shuffled(HEAD, seed))) == usual


def test_a_file_names_its_rules_and_its_first_and_last_commit_by_date() -> None:
    report = [
        reported("a", 1, "z", PAT, Commit="9" * 40, Date="2026-01-02T00:00:00Z"),
        reported("a", 2, "r", PAT, Commit="5" * 40, Date="2026-01-03T00:00:00Z"),
        reported("a", 3, "r", PAT, Commit="7" * 40, Date="2025-12-31T00:00:00Z"),
        reported("b", 1, "r", PAT, Commit="1" * 40),
    ]
    files = data_of(report)["files"]
    assert files["a"] == {
        "file_path": "a",
        "secret_count": 3,
        "rule_ids": ["r", "z"],
        "earliest_commit": "7" * 40,
        "latest_commit": "5" * 40,
    }
    assert list(files) == ["a", "b"]
    assert files["b"]["earliest_commit"] == files["b"]["latest_commit"] == "1" * 40


def test_directories_count_direct_and_recursive_secrets_and_files() -> None:
    directories = data_of(REPORT, *HEAD)["directories"]

    def counts(path: str) -> tuple[int, ...]:
        names = ("direct_secret_count", "recursive_secret_count", "direct_file_count", "recursive_file_count")
        return tuple(directories[path][name] for name in names)

    assert list(directories) == [".", "config", "config/prod", "src", "src/app"]
    assert counts(".") == (1, 5, 1, 4)
    assert counts("config") == (1, 3, 1, 2)
    assert counts("config/prod") == (2, 2, 1, 1)
    assert counts("src") == (0, 1, 0, 1)
    assert counts("src/app") == (1, 1, 1, 1)
    assert directories["."]["rule_id_counts"] == {"generic-api-key": 1, "github-pat": 2, "private-key": 2}
    assert directories["config"]["rule_id_counts"] == {"generic-api-key": 1, "private-key": 2}


@pytest.mark.parametrize("seed", range(10))
def test_the_rollup_holds_for_any_tree(seed: int) -> None:
    names = shuffled([f"{a}/{b}/{c}" for a in "ab" for b in "cd" for c in "ef"] + list("xyz") + ["a/x", "b/c"], seed)
    report = [reported(path, line, "r", PAT) for path in names[: 4 + seed] for line in range(1, 2 + seed % 3)]
    data = data_of(report)
    directories = data["directories"]
    for path, counts in directories.items():
        below = [other for name, other in directories.items() if path != name and _parent(name) == path]
        for kind in ("secret", "file"):
            total = counts[f"direct_{kind}_count"] + sum(other[f"recursive_{kind}_count"] for other in below)
            assert counts[f"recursive_{kind}_count"] == total
    assert directories["."]["recursive_secret_count"] == data["total_secrets"] == len(report)
    assert directories["."]["recursive_file_count"] == data["files_with_secrets"]


def _parent(path: str) -> str | None:
    if path == ".":
        return None
    return path.rpartition("/")[0] or "."


@pytest.mark.parametrize("path", ["with space/a b", "new\nline/x", "quo\"te/'", "ü/\ufffd", "a.b/...", "-/--help"])
def test_odd_paths_are_kept_as_they_are(path: str) -> None:
    data = data_of([reported(path, 1, "r", PAT)])
    assert list(data["files"]) == [path]
    assert set(data["directories"]) == {".", path.rpartition("/")[0]}


def test_a_finding_that_names_no_file_stands_in_the_root() -> None:
    data = data_of([reported("", 1, "r", PAT), reported("a", 1, "r", PAT)])
    assert data["total_secrets"] == 2
    assert data["directories"]["."]["recursive_secret_count"] == 2


@pytest.mark.parametrize(("others", "entropy"), [({"Entropy": None}, 0), ({"Entropy": 3.14159265}, 3.1416)])
def test_a_missing_entropy_is_zero(others: dict[str, Any], entropy: float) -> None:
    assert data_of([reported("a", 1, "r", PAT, **others)])["findings"][0]["entropy"] == entropy


def test_keys_that_a_report_need_not_have_may_be_missing() -> None:
    least = {name: REPORT[0][name] for name in ("RuleID", "File", "StartLine", "Secret", "Match", "Commit")}
    (finding,) = data_of([least])["findings"]
    assert (finding["commit_author"], finding["commit_date"], finding["entropy"]) == ("", "", 0)


def test_severities_follow_the_policy_by_rule_path_and_history() -> None:
    report = [
        reported(".aws/credentials", 2, "aws-access-token", PAT),
        reported(".env.production", 4, "slack-bot-token", PAT),
        reported(".env.production", 10, "generic-api-key", PAT),
        reported("config/gcp_key.json", 4, "generic-api-key", PAT),
        reported("config/gcp_key.json", 5, "private-key", PAT),
        reported("old.py", 5, "generic-api-key", OTHER_PAT),
    ]
    findings = data_of(report, PAT.encode(), policy=load_policy())["findings"]
    assert [finding["severity"] for finding in findings] == ["CRITICAL", "CRITICAL", "HIGH", "MEDIUM", "HIGH", "LOW"]


@pytest.mark.slow
def test_a_large_report_is_analysed_whole() -> None:
    report = [reported(f"d{n % 50}/f{n % 500}.py", n, f"r{n % 9}", f"value {n % 2000}") for n in range(20_000)]
    data = data_of(report, "\n".join(f"value {n}" for n in range(1000)).encode())
    assert (data["total_secrets"], data["unique_secrets"], data["files_with_secrets"]) == (20_000, 2000, 500)
    assert Counter(finding["in_current_head"] for finding in data["findings"])[True] >= 10_000
