"""Each of the shipped checks: what fails it, what passes it, when it does not apply, and what it never does."""

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any

import pytest
from builders import (
    FILES,
    FINDINGS,
    PREVIEW,
    REMOVED,
    RULES,
    SHIPPED,
    UNMENTIONABLE,
    Edits,
    Json,
    Outcome,
    Place,
    analysed,
    edited,
    envelope,
    expected_of,
    expecting,
    finding,
    ground_truth,
    legacy,
    outcome_of,
    outcomes_of,
    shipped_checks,
)

from gitleaks_eval.scenarios.scenario import Expected

CATALOGUE = {
    "Accuracy": [f"SA-{number}" for number in range(1, 12)],
    "Detection": [f"SD-{number}" for number in range(1, 7)],
    "Coverage": [f"SC-{number}" for number in range(1, 9)],
    "Performance": [f"SP-{number}" for number in range(1, 5)],
    "Output Quality": ["OQ-1"],
    "Integration Fit": ["IF-1"],
    "Edge Cases": [f"EC-{number}" for number in range(1, 5)],
    "Rollup Validation": [f"RV-{number}" for number in range(1, 5)],
}
ALL_IDS = [check_id for ids in CATALOGUE.values() for check_id in ids]
NOT_APPLICABLE_TO_THE_GOOD_ONE = {"SD-4", "EC-1", "EC-3", "EC-4"}

# What turns the good analysis and its ground truth into those of a repository without any secret.
NOTHING_EXPECTED: Edits = {
    ("total_secrets",): 0,
    ("unique_secrets",): 0,
    ("secrets_in_head",): 0,
    ("secrets_in_history",): 0,
    ("files_with_secrets",): 0,
    ("commits_with_secrets",): 0,
    ("rule_ids",): [],
    ("files_with_secrets_list",): [],
    ("secrets_by_rule",): {},
    ("secrets_by_severity",): {},
    ("findings",): [],
}
NOTHING_FOUND: Edits = {
    **{("data", *place): value for place, value in NOTHING_EXPECTED.items() if place[0] in envelope()["data"]},
    ("data", "files"): {},
    ("data", "directories"): {},
}
DIRECTORY: Place = ("data", "directories", "config")


def nth(index: int, name: str) -> Place:
    return ("data", "findings", index, name)


@dataclass(frozen=True)
class Doctored:
    """Edits that make an analysis fail exactly `fails`, and what truth and analysis are before them."""

    check_id: str
    what: str
    edits: Edits
    fails: frozenset[str] = frozenset()
    truth: Edits = field(default_factory=dict)
    before: Edits = field(default_factory=dict)

    @property
    def repaired(self) -> Json:
        return edited(envelope(), self.before)

    @property
    def document(self) -> Json:
        return edited(self.repaired, self.edits)

    @property
    def expected(self) -> Expected:
        return expecting(self.truth)


def also(*check_ids: str) -> frozenset[str]:
    return frozenset(check_ids)


DOCTORED = [
    Doctored(
        "SA-1",
        "one too many, and the root says so too",
        {("data", "total_secrets"): 6, ("data", "directories", ".", "recursive_secret_count"): 6},
    ),
    Doctored("SA-2", "one too few", {("data", "unique_secrets"): 3}),
    Doctored("SA-3", "one too many", {("data", "secrets_in_head"): 5}),
    Doctored("SA-4", "one too many", {("data", "secrets_in_history"): 2}, also("SD-3")),
    Doctored("SA-5", "one too few", {("data", "files_with_secrets"): 3}),
    Doctored("SA-6", "one too many", {("data", "commits_with_secrets"): 3}),
    Doctored(
        "SA-7",
        "a rule found nothing",
        {("data", "secrets_by_rule", "github-pat"): REMOVED},
        truth={("secrets_by_rule",): REMOVED},
    ),
    Doctored("SA-8", "a file is not listed", {("data", "files", ".env"): REMOVED}),
    Doctored("SA-9", "a rule found fewer", {("data", "secrets_by_rule", "private-key"): 1}),
    Doctored("SA-9", "a rule found more", {("data", "secrets_by_rule", "github-pat"): 2}),
    Doctored("SA-10", "a line is another", {nth(0, "line_number"): 4}, also("SA-11")),
    Doctored("SA-10", "a rule is another", {nth(0, "rule_id"): "jwt"}, also("SA-11")),
    Doctored("SA-10", "a file is another", {nth(0, "file_path"): ".env.old"}, also("SA-11")),
    Doctored("SA-11", "a level too low", {nth(1, "severity"): "HIGH"}),
    Doctored("SA-11", "no severity", {nth(1, "severity"): REMOVED}),
    Doctored("SA-11", "severities are spelt in capitals", {nth(1, "severity"): "critical"}),
    Doctored(
        "SD-1",
        "one too few",
        {("data", "total_secrets"): 4, ("data", "directories", ".", "recursive_secret_count"): 4},
        also("SA-1"),
    ),
    Doctored("SD-2", "a rule that is not expected", {("data", "secrets_by_rule", "jwt"): 1}),
    Doctored("SD-3", "none in history", {("data", "secrets_in_history"): 0}, also("SA-4")),
    Doctored(
        "SD-4",
        "something in a clean repository",
        {("data", "total_secrets"): 1},
        also("SA-1"),
        truth=NOTHING_EXPECTED,
        before=NOTHING_FOUND,
    ),
    Doctored("SD-5", "below 0", {nth(2, "entropy"): -0.01}),
    Doctored("SD-5", "above 8", {nth(2, "entropy"): 8.01}),
    Doctored("SD-6", "nine characters and no mask", {nth(2, "secret_preview"): "ninechars"}),
    Doctored("SC-1", "missing", {("metadata", "schema_version"): REMOVED}, also("OQ-1")),
    Doctored("SC-1", "null", {("metadata", "schema_version"): None}),
    Doctored("SC-2", "missing", {("data", "tool_version"): REMOVED}, also("OQ-1")),
    Doctored("SC-2", "empty", {("data", "tool_version"): ""}),
    Doctored("SC-3", "missing", {("metadata", "timestamp"): REMOVED}, also("OQ-1")),
    Doctored("SC-3", "null", {("metadata", "timestamp"): None}),
    Doctored("SC-4", "no unique_secrets", {("data", "unique_secrets"): REMOVED}, also("SA-2")),
    Doctored("SC-5", "missing", {("data", "findings"): REMOVED}, also("SA-10", "SA-11", "OQ-1")),
    Doctored("SC-6", "missing", {("data", "files"): REMOVED}, also("SA-8")),
    Doctored("SC-7", "missing", {("data", "directories"): REMOVED}),
    *(
        Doctored("SC-8", f"no {name}", {nth(4, name): REMOVED}, others)
        for name, others in (
            ("file_path", also("SA-10", "SA-11")),
            ("line_number", also("SA-10", "SA-11")),
            ("rule_id", also("SA-10", "SA-11")),
            ("secret_type", also()),
            ("commit_hash", also()),
            ("fingerprint", also()),
        )
    ),
    Doctored(
        "SP-1",
        "just too slow",
        {("data", "scan_time_ms"): 100.01},
        truth={("thresholds",): {"max_scan_time_ms": 100}},
    ),
    Doctored(
        "SP-2",
        "just too slow",
        {("data", "scan_time_ms"): 200.01},
        truth={("thresholds",): {"max_ms_per_commit": 100}},
        before={("data", "scan_time_ms"): 200},
    ),
    Doctored(
        "SP-3",
        "just too slow",
        {("data", "scan_time_ms"): 500.01},
        truth={("thresholds",): {"max_ms_per_finding": 100}},
        before={("data", "scan_time_ms"): 500},
    ),
    Doctored(
        "SP-4",
        "one too many",
        {("data", "findings"): [*envelope()["data"]["findings"], finding("notes.txt", 1, "jwt")]},
        truth={("thresholds",): {"max_findings_for_test": 5}},
    ),
    Doctored("OQ-1", "another tool", {("metadata", "tool_name"): "betterleaks"}),
    Doctored("OQ-1", "another tool in data", {("data", "tool"): "betterleaks"}),
    *(
        Doctored("OQ-1", f"no {name}", {("metadata", name): REMOVED})
        for name in ("tool_name", "tool_version", "run_id", "repo_id", "branch", "commit")
    ),
    Doctored("OQ-1", "no tool in data", {("data", "tool"): REMOVED}),
    Doctored("IF-1", "absolute", {nth(0, "file_path"): "/repository/.env"}, also("SA-10", "SA-11")),
    Doctored(
        "EC-1",
        "something in an empty repository",
        {("data", "total_secrets"): 1},
        also("SA-1", "SD-4"),
        truth={**NOTHING_EXPECTED, ("is_empty_repo",): True},
        before=NOTHING_FOUND,
    ),
    Doctored(
        "EC-1",
        "no total",
        {("data", "total_secrets"): REMOVED},
        also("SC-4", "OQ-1"),
        truth={**NOTHING_EXPECTED, ("is_empty_repo",): True},
        before=NOTHING_FOUND,
    ),
    Doctored(
        "EC-1",
        "no findings",
        {("data", "findings"): REMOVED},
        also("SC-5", "OQ-1"),
        truth={**NOTHING_EXPECTED, ("is_empty_repo",): True},
        before=NOTHING_FOUND,
    ),
    Doctored("EC-2", "a lone surrogate", {nth(0, "file_path"): "\udce9.env"}, also("SA-10", "SA-11")),
    Doctored(
        "EC-3",
        "took no time",
        {("data", "scan_time_ms"): 0},
        truth={("has_large_files",): True},
    ),
    Doctored(
        "EC-3",
        "took as long as it must not",
        {("data", "scan_time_ms"): 90},
        truth={("has_large_files",): True, ("max_scan_time_ms",): 90},
        before={("data", "scan_time_ms"): 89.99},
    ),
    Doctored(
        "EC-4",
        "a finding in a picture",
        {nth(0, "file_path"): "docs/logo.png"},
        also("SA-10", "SA-11"),
        truth={("has_binary_files",): True},
    ),
    Doctored("RV-1", "a folder has fewer in all", {(*DIRECTORY, "direct_secret_count"): 4}),
    Doctored("RV-2", "a folder has fewer in all", {(*DIRECTORY, "recursive_file_count"): 0}),
    Doctored("RV-3", "a negative count", {(*DIRECTORY, "direct_file_count"): -1}),
    Doctored("RV-4", "the root lacks one", {("data", "directories", ".", "recursive_secret_count"): 4}),
]


def failing(outcomes: dict[str, Outcome]) -> set[str]:
    return {check_id for check_id, outcome in outcomes.items() if outcome.name == "failed"}


def name_of(check_id: str, edits: Edits, truth: Edits | None = None) -> str:
    """The outcome of one check for the good analysis and ground truth with these edits."""
    return outcome_of(check_id, expecting(truth), analysed(edited(envelope(), edits))).name


def test_the_catalogue_is_that_of_the_requirements() -> None:
    marks = {
        check_id: mark
        for check_id, function in shipped_checks().items()
        for mark in vars(function)["pytestmark"]
        if mark.args[:1] == (check_id,)
    }
    assert len(marks) == SHIPPED
    assert {
        category: sorted(
            (check_id for check_id, mark in marks.items() if mark.kwargs["category"] == category), key=ALL_IDS.index
        )
        for category in CATALOGUE
    } == CATALOGUE


@pytest.mark.parametrize("check_id", ALL_IDS)
def test_the_function_of_a_check_carries_its_id_so_that_k_selects_it(check_id: str) -> None:
    name = shipped_checks()[check_id].__name__
    assert name.startswith(f"test_{check_id.replace('-', '_')}_")


def test_a_doctored_analysis_is_listed_for_each_check() -> None:
    assert {case.check_id for case in DOCTORED} == set(shipped_checks())


@pytest.mark.parametrize("document", [envelope(), legacy()], ids=["envelope", "legacy"])
def test_the_good_analysis_passes_every_check_that_applies(document: Json) -> None:
    outcomes = outcomes_of(expecting(), analysed(document))
    assert {check_id for check_id, outcome in outcomes.items() if outcome.name == "not_applicable"} == (
        NOT_APPLICABLE_TO_THE_GOOD_ONE
    )
    assert failing(outcomes) == set()


@pytest.mark.parametrize("case", DOCTORED, ids=lambda case: f"{case.check_id} {case.what}")
def test_a_doctored_analysis_fails_its_check_and_the_repaired_one_passes(case: Doctored) -> None:
    repaired = outcomes_of(case.expected, analysed(case.repaired))
    assert failing(repaired) == set()
    assert repaired[case.check_id].name == "passed"
    assert failing(outcomes_of(case.expected, analysed(case.document))) == {case.check_id, *case.fails}


@pytest.mark.parametrize("case", DOCTORED, ids=lambda case: f"{case.check_id} {case.what}")
def test_a_failing_check_says_what_it_expected_and_found_in_five_lines(case: Doctored) -> None:
    outcome = outcome_of(case.check_id, case.expected, analysed(case.document))
    lines = outcome.text.splitlines()
    assert len(lines) <= 5
    assert lines[0] == outcome.evidence.message
    assert [line.split(":")[0].strip() for line in lines[1:]] == ["expected", "actual"]


@pytest.mark.parametrize("case", DOCTORED, ids=lambda case: f"{case.check_id} {case.what}")
def test_evidence_is_json_and_mentions_no_preview_author_description_or_message(case: Doctored) -> None:
    for outcome in outcomes_of(case.expected, analysed(case.document)).values():
        assert_fit_to_travel(outcome)


@pytest.mark.parametrize(
    "case",
    [case for case in DOCTORED if (*case.edits,)[0][:1] != ("metadata",) and case.check_id != "OQ-1"],
    ids=lambda case: f"{case.check_id} {case.what}",
)
def test_the_legacy_format_fails_the_same_checks(case: Doctored) -> None:
    document = {**legacy(), "results": case.document["data"]}
    assert case.check_id in failing(outcomes_of(case.expected, analysed(document)))


# --- (c) boundaries


@pytest.mark.parametrize("name", ["total_secrets", "unique_secrets", "secrets_in_head", "files_with_secrets"])
def test_a_missing_count_reads_as_zero(name: str) -> None:
    check_id = {"total_secrets": "SA-1", "unique_secrets": "SA-2", "secrets_in_head": "SA-3"}.get(name, "SA-5")
    truth: Edits = {(name,): 0}
    assert name_of(check_id, {("data", name): REMOVED}, truth) == "passed"
    assert name_of(check_id, {("data", name): REMOVED}) == "failed"


@pytest.mark.parametrize("check_id", ["SA-4", "SD-3"])
def test_a_missing_history_count_reads_as_zero(check_id: str) -> None:
    edits: Edits = {("data", "secrets_in_history"): REMOVED}
    assert name_of(check_id, edits, {("secrets_in_history",): 0}) == "passed"
    assert name_of(check_id, edits) == "failed"


def test_a_missing_commit_count_reads_as_zero_for_sa_6_and_as_one_for_sp_2() -> None:
    edits: Edits = {("data", "commits_with_secrets"): REMOVED, ("data", "scan_time_ms"): 150}
    assert name_of("SA-6", edits, {("commits_with_secrets",): 0}) == "passed"
    assert name_of("SP-2", edits, {("thresholds",): {"max_ms_per_commit": 150}}) == "passed"
    assert name_of("SP-2", edits, {("thresholds",): {"max_ms_per_commit": 149}}) == "failed"


def test_a_missing_scan_time_reads_as_zero() -> None:
    edits: Edits = {("data", "scan_time_ms"): REMOVED}
    assert [name_of(check_id, edits) for check_id in ("SP-1", "SP-2", "SP-3")] == ["passed"] * 3
    assert name_of("EC-3", edits, {("has_large_files",): True}) == "failed"


def test_a_missing_map_or_list_reads_as_empty() -> None:
    assert name_of("SA-7", {("data", "secrets_by_rule"): REMOVED}) == "failed"
    assert name_of("SA-7", {("data", "secrets_by_rule"): REMOVED}, {("rule_ids",): []}) == "passed"
    assert name_of("SA-9", {("data", "secrets_by_rule"): REMOVED}, {("secrets_by_rule",): {}}) == "passed"
    assert name_of("SD-2", {("data", "secrets_by_rule"): REMOVED}) == "passed"
    for check_id in ("SD-5", "SD-6", "SC-8", "SP-4", "IF-1", "EC-2"):
        assert name_of(check_id, {("data", "findings"): REMOVED}) == "passed"


def test_a_rule_that_must_find_nothing_may_be_missing_from_the_counts() -> None:
    assert name_of("SA-9", {}, {("secrets_by_rule",): {**RULES, "jwt": 0}}) == "passed"


def test_a_rule_count_without_an_expectation_is_none_of_sa_9() -> None:
    assert name_of("SA-9", {("data", "secrets_by_rule", "jwt"): 3}) == "passed"


@pytest.mark.parametrize(
    ("entropy", "outcome"), [(0, "passed"), (8, "passed"), (8.0, "passed"), (REMOVED, "passed"), (-0.0, "passed")]
)
def test_entropy_bounds_are_inclusive_and_a_missing_entropy_is_zero(entropy: object, outcome: str) -> None:
    assert name_of("SD-5", {nth(0, "entropy"): entropy}) == outcome


@pytest.mark.parametrize("entropy", [None, "4.2", True, math.nan, math.inf, [], {}, math.nextafter(8, 9)])
def test_an_entropy_that_is_no_number_of_bits_fails(entropy: object) -> None:
    assert name_of("SD-5", {nth(0, "entropy"): entropy}) == "failed"


@pytest.mark.parametrize("preview", ["", "8letters", "*", "nine char*", REMOVED])
def test_a_preview_that_is_masked_short_or_missing_passes(preview: object) -> None:
    assert name_of("SD-6", {nth(0, "secret_preview"): preview}) == "passed"


@pytest.mark.parametrize("preview", ["nine char", None, 12345678, ["*"], {"*": "*"}])
def test_a_preview_that_is_long_and_unmasked_or_no_text_fails(preview: object) -> None:
    assert name_of("SD-6", {nth(0, "secret_preview"): preview}) == "failed"


def test_the_evidence_of_unmasked_previews_names_the_first_three_files_and_their_count() -> None:
    edits = {nth(index, "secret_preview"): "unmasked preview" for index in range(5)}
    outcome = outcome_of("SD-6", expecting(), analysed(edited(envelope(), edits)))
    assert outcome.evidence.actual == {"count": 5, "first": [finding[0] for finding in FINDINGS[:3]]}
    assert "unmasked" not in json.dumps(outcome.evidence.actual)


@pytest.mark.parametrize("name", ["file_path", "line_number", "rule_id", "secret_type", "commit_hash", "fingerprint"])
def test_a_null_field_of_a_finding_is_missing(name: str) -> None:
    outcome = outcome_of("SC-8", expecting(), analysed(edited(envelope(), {nth(3, name): None})))
    assert outcome.name == "failed"
    assert outcome.evidence.actual == {"count": 1, "first": [{"index": 3, "missing": [name]}]}


@pytest.mark.parametrize("value", [0, "", False])
def test_a_field_of_a_finding_that_is_there_but_falsy_is_present(value: object) -> None:
    assert name_of("SC-8", {nth(3, "secret_type"): value}) == "passed"


@pytest.mark.parametrize("name", ["findings", "files", "directories"])
def test_a_part_that_is_null_is_present_all_the_same(name: str) -> None:
    check_id = {"findings": "SC-5", "files": "SC-6", "directories": "SC-7"}[name]
    assert name_of(check_id, {("data", name): None}) == "passed"


@pytest.mark.parametrize("version", [None, "", 8, ["8"], True])
def test_a_tool_version_must_be_a_text_that_is_not_empty(version: object) -> None:
    assert name_of("SC-2", {("data", "tool_version"): version}) == "failed"


def test_the_tool_version_is_that_of_data_and_not_of_metadata() -> None:
    assert name_of("SC-2", {("data", "tool_version"): REMOVED}) == "failed"


@pytest.mark.parametrize(("check_id", "name"), [("SC-1", "schema_version"), ("SC-3", "timestamp")])
def test_metadata_fills_in_what_data_lacks_and_data_wins(check_id: str, name: str) -> None:
    def actual(edits: Edits) -> tuple[str, object]:
        outcome = outcome_of(check_id, expecting(), analysed(edited(envelope(), edits)))
        return outcome.name, outcome.evidence.actual

    assert actual({("metadata", name): "outer"}) == ("passed", "outer")
    assert actual({("metadata", name): "outer", ("data", name): "inner"}) == ("passed", "inner")
    assert actual({("metadata", name): REMOVED, ("data", name): "inner"}) == ("passed", "inner")
    assert actual({("data", name): None}) == ("failed", None)


@pytest.mark.parametrize(
    ("check_id", "outer", "inner"),
    [("SC-1", "schema_version", "schema_version"), ("SC-3", "generated_at", "timestamp")],
)
def test_the_root_of_the_legacy_format_fills_in_version_and_timestamp(check_id: str, outer: str, inner: str) -> None:
    def actual(edits: Edits) -> tuple[str, object]:
        outcome = outcome_of(check_id, expecting(), analysed(edited(legacy(), edits)))
        return outcome.name, outcome.evidence.actual

    assert actual({(outer,): "outer"}) == ("passed", "outer")
    assert actual({(outer,): "outer", ("results", inner): "inner"}) == ("passed", "inner")
    assert actual({(outer,): REMOVED}) == ("failed", None)


@pytest.mark.parametrize("name", ["schema_version", "generated_at", "repo_name", "repo_path"])
def test_a_legacy_document_without_a_root_field_is_invalid(name: str) -> None:
    outcome = outcome_of("OQ-1", expecting(), analysed(edited(legacy(), {(name,): REMOVED})))
    assert outcome.name == "failed"
    assert f"/: '{name}' is a required property" in outcome.text


@pytest.mark.parametrize("name", ["tool", "tool_version", "total_secrets", "findings"])
def test_a_legacy_document_without_a_results_field_is_invalid(name: str) -> None:
    outcome = outcome_of("OQ-1", expecting(), analysed(edited(legacy(), {("results", name): REMOVED})))
    assert outcome.name == "failed"
    assert f"/results: '{name}' is a required property" in outcome.text


@pytest.mark.parametrize("total", ["5", 5.5, True, None, [], math.nan])
def test_a_total_that_is_no_integer_is_no_valid_envelope(total: object) -> None:
    assert name_of("OQ-1", {("data", "total_secrets"): total}) == "failed"


def test_the_evidence_of_an_invalid_envelope_is_the_first_five_violations_and_their_count() -> None:
    outcome = outcome_of("OQ-1", expecting(), analysed(edited(envelope(), {("metadata",): {}})))
    assert outcome.evidence.actual["count"] == 8
    assert len(outcome.evidence.actual["first"]) == 5


@pytest.mark.parametrize(
    ("check_id", "name", "document", "at", "above"),
    [
        ("SP-1", "max_scan_time_ms", {("data", "scan_time_ms"): 300}, 300, 299.5),
        ("SP-2", "max_ms_per_commit", {("data", "scan_time_ms"): 300}, 150, 149.5),
        ("SP-3", "max_ms_per_finding", {("data", "scan_time_ms"): 300}, 60, 59.5),
        ("SP-4", "max_findings_for_test", {}, 5, 4),
    ],
)
def test_a_threshold_is_inclusive(check_id: str, name: str, document: Edits, at: float, above: float) -> None:
    assert name_of(check_id, document, {("thresholds",): {name: at}}) == "passed"
    assert name_of(check_id, document, {("thresholds",): {name: above}}) == "failed"


@pytest.mark.parametrize(
    ("check_id", "default", "edits"),
    [
        ("SP-1", 10_000, {("data", "scan_time_ms"): 10_000}),
        ("SP-2", 1_000, {("data", "scan_time_ms"): 2_000}),
        ("SP-3", 500, {("data", "scan_time_ms"): 2_500}),
        ("SP-4", 100, {("data", "findings"): [finding("a", line, "jwt") for line in range(100)]}),
    ],
)
def test_a_threshold_that_is_not_given_has_the_documented_default(check_id: str, default: int, edits: Edits) -> None:
    outcome = outcome_of(check_id, expecting({("thresholds",): REMOVED}), analysed(edited(envelope(), edits)))
    assert (outcome.name, outcome.evidence.expected) == ("passed", default)
    beyond = {place: value * 2 for place, value in edits.items()}
    assert name_of(check_id, beyond, {("thresholds",): REMOVED}) == "failed"


def test_each_threshold_is_looked_up_by_itself() -> None:
    document = edited(
        ground_truth(),
        {
            ("expected", "thresholds"): {"max_scan_time_ms": 1},
            ("thresholds",): {"max_scan_time_ms": 2, "max_ms_per_commit": 3},
        },
    )
    outcomes = outcomes_of(expected_of(document), analysed(envelope()))
    assert [outcomes[f"SP-{number}"].evidence.expected for number in range(1, 5)] == [1, 3, 500, 100]


@pytest.mark.parametrize(
    ("time", "outcome"),
    [(0, "failed"), (0.001, "passed"), (59_999.999, "passed"), (60_000, "failed"), (-1, "failed")],
)
def test_large_files_take_less_than_a_minute_and_more_than_nothing(time: float, outcome: str) -> None:
    assert name_of("EC-3", {("data", "scan_time_ms"): time}, {("has_large_files",): True}) == outcome


def test_the_time_for_large_files_is_not_taken_from_the_thresholds() -> None:
    truth: Edits = {("has_large_files",): True, ("thresholds",): {"max_scan_time_ms": 10}}
    assert name_of("EC-3", {("data", "scan_time_ms"): 50_000}, truth) == "passed"
    assert name_of("EC-3", {("data", "scan_time_ms"): 50_000}, {**truth, ("max_scan_time_ms",): 50_000}) == "failed"


@pytest.mark.parametrize(
    "extension", ".exe .dll .so .dylib .bin .png .jpg .gif .pdf .zip .tar .gz .PNG .Tar.GZ .eXe".split()
)
def test_a_finding_in_a_file_that_ends_like_a_binary_fails_whatever_the_case(extension: str) -> None:
    assert name_of("EC-4", {nth(0, "file_path"): f"a/b{extension}"}, {("has_binary_files",): True}) == "failed"


@pytest.mark.parametrize("path", ["a.png/b.txt", "png", "a.pngx", "a.exe.txt", "agz", ""])
def test_a_path_that_only_holds_such_an_ending_passes(path: str) -> None:
    assert name_of("EC-4", {nth(0, "file_path"): path}, {("has_binary_files",): True}) == "passed"


@pytest.mark.parametrize("path", ["übung/日本語 🔑.py", "a b", 'a"b', "a\nb", "", REMOVED])
def test_a_path_that_utf_8_can_write_passes(path: object) -> None:
    assert name_of("EC-2", {nth(0, "file_path"): path}) == "passed"


@pytest.mark.parametrize("path", ["\udc80", "a/\ud800/b", None, 5, ["a"], {"a": "b"}])
def test_a_path_that_utf_8_cannot_write_fails(path: object) -> None:
    assert name_of("EC-2", {nth(0, "file_path"): path}) == "failed"


@pytest.mark.parametrize("path", ["/etc/hosts", "//a", "/"])
def test_an_absolute_path_fails(path: str) -> None:
    outcome = outcome_of("IF-1", expecting(), analysed(edited(envelope(), {nth(0, "file_path"): path})))
    assert outcome.name == "failed"
    assert outcome.evidence.actual == {"absolute": 1, "findings": 5}


@pytest.mark.parametrize("path", ["./a", "../a", "a:/b", "~", ""])
def test_a_relative_path_passes(path: str) -> None:
    assert name_of("IF-1", {nth(0, "file_path"): path}) == "passed"


@pytest.mark.parametrize(
    ("check_id", "truth", "edits", "reason"),
    [
        ("SA-8", {("files_with_secrets_list",): []}, {}, "No specific files expected"),
        ("SA-8", {("files_with_secrets_list",): REMOVED}, {}, "No specific files expected"),
        ("SA-10", {("findings",): []}, {}, "No specific findings expected"),
        ("SA-10", {("findings",): REMOVED}, {}, "No specific findings expected"),
        ("SA-11", {("findings",): []}, {}, ""),
        ("SA-11", {("findings",): [{"file_path": ".env", "rule_id": "github-pat", "line_number": 3}]}, {}, ""),
        (
            "SA-11",
            {("findings", 0): {"file_path": "a", "rule_id": "b", "line_number": 3, "expected_severity": None}}
            | {("findings", index, "expected_severity"): REMOVED for index in range(1, 5)},
            {},
            "",
        ),
        ("SD-2", {("rule_ids",): []}, {("data", "secrets_by_rule", "jwt"): 1}, ""),
        ("SD-2", {("rule_ids",): REMOVED}, {("data", "secrets_by_rule", "jwt"): 1}, ""),
        ("SD-4", {}, {}, "N/A - repo expected to have secrets"),
        ("SP-2", {}, {("data", "commits_with_secrets"): 0}, "N/A - no commits with secrets"),
        ("SP-3", {}, {("data", "total_secrets"): 0}, "N/A - no secrets found"),
        ("SP-3", {}, {("data", "total_secrets"): REMOVED}, "N/A - no secrets found"),
        ("EC-1", {}, {}, "N/A"),
        ("EC-1", {("is_empty_repo",): False}, {}, "N/A"),
        ("EC-3", {("has_large_files",): None}, {}, "N/A"),
        ("EC-4", {("has_binary_files",): False}, {nth(0, "file_path"): "a.png"}, "N/A"),
        *(
            (check_id, {}, {("data", "directories"): value}, "N/A - no directory metrics present")
            for check_id in ("RV-1", "RV-2", "RV-3", "RV-4")
            for value in ({}, REMOVED)
        ),
    ],
)
def test_a_check_with_nothing_to_look_at_is_not_applicable(
    check_id: str, truth: Edits, edits: Edits, reason: str
) -> None:
    outcome = outcome_of(check_id, expecting(truth), analysed(edited(envelope(), edits)))
    assert outcome.name == "not_applicable"
    assert outcome.text.startswith(reason)


def test_checks_that_are_not_applicable_do_not_look_at_the_analysis() -> None:
    broken = analysed({"data": {"findings": None, "files": None, "total_secrets": None}})
    truth = expecting({("findings",): [], ("files_with_secrets_list",): []})
    for check_id in ("SA-8", "SA-10", "SA-11", "SD-4", "EC-1", "EC-3", "EC-4"):
        assert outcome_of(check_id, truth, broken).name == "not_applicable"


def test_more_files_and_findings_than_expected_are_not_the_matter_of_sa_8_and_sa_10() -> None:
    more = envelope()
    more["data"]["findings"].append(finding("new.py", 1, "jwt"))
    more["data"]["files"]["new.py"] = {}
    outcomes = outcomes_of(expecting(), analysed(more))
    assert outcomes["SA-8"].name == outcomes["SA-10"].name == "passed"


def test_a_missing_finding_is_named_with_its_place() -> None:
    outcome = outcome_of("SA-10", expecting(), analysed(edited(envelope(), {("data", "findings", 0): REMOVED})))
    assert outcome.text.splitlines()[0] == "missing .env:3"
    assert outcome.evidence.expected["count"] == 5
    assert outcome.evidence.actual["count"] == 4


@pytest.mark.parametrize(
    ("spread", "told"),
    [([7000, 9000.5], " (fastest of repeated scans: 7000 to 9000 ms)"), ("x", ""), ([1], ""), (None, "")],
)
def test_a_check_of_times_says_how_far_repeated_scans_are_apart(spread: object, told: str) -> None:
    slow: Edits = {("data", "scan_time_ms"): 7000, ("data", "scan_time_spread_ms"): spread}
    truth: Edits = {("thresholds", "max_scan_time_ms"): 5000}
    outcome = outcome_of("SP-1", expecting(truth), analysed(edited(envelope(), slow)))
    assert outcome.text.splitlines()[0] == f"scan time in ms{told}: at most 5000, found 7000"


def test_a_finding_that_is_not_found_is_a_mismatch_of_severities_that_says_so() -> None:
    edits: Edits = {("data", "findings", 1): REMOVED, nth(2, "severity"): "LOW"}
    outcome = outcome_of("SA-11", expecting(), analysed(edited(envelope(), edits)))
    assert outcome.name == "failed"
    missing = expecting().findings[1]
    not_found, wrong = outcome.text.splitlines()[0].split("; ")
    assert not_found == f"{missing.file_path}:{missing.line_number} not found"
    assert re.fullmatch(r"\S+:\d+ is not (?:CRITICAL|HIGH|MEDIUM)", wrong)


@pytest.mark.parametrize(("wrong", "more"), [(3, ""), (4, "; and 1 more")])
def test_three_mismatches_are_named_and_more_are_counted(wrong: int, more: str) -> None:
    edits: Edits = {nth(index, "severity"): "LOW" for index in range(wrong)}
    line = outcome_of("SA-11", expecting(), analysed(edited(envelope(), edits))).text.splitlines()[0]
    assert line.count(" is not ") == 3
    assert line.endswith(more) if more else "more" not in line


def test_severities_of_which_none_was_found_are_not_right() -> None:
    assert name_of("SA-11", {("data", "findings"): []}) == "failed"
    assert name_of("SA-11", {("data", "findings"): [finding("new.py", 1, "jwt", "HIGH")]}) == "failed"


def test_only_findings_with_an_expected_severity_are_compared() -> None:
    truth: Edits = {("findings", 1, "expected_severity"): REMOVED}
    assert name_of("SA-11", {nth(1, "severity"): "LOW"}, truth) == "passed"
    assert name_of("SA-11", {nth(0, "severity"): "LOW"}, truth) == "failed"


def test_two_findings_at_one_place_may_have_two_severities() -> None:
    twice = {"file_path": ".env", "rule_id": "jwt", "line_number": 9}
    truth: Edits = {("findings",): [{**twice, "expected_severity": level} for level in ("HIGH", "LOW")]}

    def found(*levels: str) -> Edits:
        return {("data", "findings"): [finding(".env", 9, "jwt", level) for level in levels]}

    assert name_of("SA-11", found("LOW", "HIGH"), truth) == "passed"
    assert name_of("SA-11", found("HIGH", "HIGH"), truth) == "failed"
    outcome = outcome_of("SA-11", expecting(truth), analysed(edited(envelope(), found("HIGH"))))
    assert outcome.text.splitlines()[0] == ".env:9 not found"


@pytest.mark.parametrize("severity", ["", "VERY HIGH", "CRITICAL ", None, 3, True, ["CRITICAL", "LOW"], {"a": "b"}])
def test_a_severity_that_is_none_of_the_levels_is_wrong(severity: object) -> None:
    assert name_of("SA-11", {nth(1, "severity"): severity}) == "failed"


def test_the_root_is_the_dot_or_else_the_shortest_path() -> None:
    directories = {"config/a": {"recursive_secret_count": 3}, "config": {"recursive_secret_count": 5}}
    assert name_of("RV-4", {("data", "directories"): directories}) == "passed"
    with_dot = {"c": {"recursive_secret_count": 5}, ".": {"recursive_secret_count": 3}}
    assert name_of("RV-4", {("data", "directories"): with_dot}) == "failed"


def test_a_missing_directory_count_reads_as_zero() -> None:
    edits: Edits = {("data", "directories"): {".": {}}, ("data", "total_secrets"): 0}
    assert [name_of(f"RV-{number}", edits) for number in range(1, 5)] == ["passed"] * 4


def test_the_evidence_of_a_rollup_names_the_first_three_directories_and_their_count() -> None:
    directories = {f"d{number}": {"direct_secret_count": 1} for number in range(5)}
    analysis = analysed(edited(envelope(), {("data", "directories"): directories}))
    outcome = outcome_of("RV-1", expecting(), analysis)
    assert outcome.evidence.actual["count"] == 5
    assert [entry["path"] for entry in outcome.evidence.actual["first"]] == ["d0", "d1", "d2"]


def test_lists_of_the_accuracy_checks_are_sorted_and_hold_a_thousand_at_most() -> None:
    many = [finding("a.py", line, "jwt") for line in range(1500, 0, -1)]
    outcome = outcome_of("SA-10", expecting(), analysed(edited(envelope(), {("data", "findings"): many})))
    actual = outcome.evidence.actual
    assert (actual["count"], len(actual["items"])) == (1500, 1000)
    assert actual["items"] == sorted(actual["items"])


# --- (d) malformed analyses

# As deep as the JSON reader of every Python takes.
DEEP = json.loads("[" * 600 + "]" * 600)
BAD_VALUES: dict[str, Any] = {
    "removed": REMOVED,
    "null": None,
    "true": True,
    "false": False,
    "negative": -1,
    "nan": math.nan,
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "huge": 10**400,
    "hugely negative": -(10**400),
    "tiny": 5e-324,
    "fraction": 0.5,
    "text": "text",
    "empty text": "",
    "surrogate": "\udce9\ud800",
    "controls": "a\nb\r\n\x1b[31m\u2028c\nd\ne\nf",
    "number as text": "5",
    "list": [1, "a", None],
    "nested lists": [[[]], [[[{}]]]],
    "list of objects": [{}, {"a": [math.nan]}],
    "empty list": [],
    "empty object": {},
    "object": {"\udce9": {"a": [None]}, "": -1, "a\nb": "c"},
}


def places(value: object, at: Place = ()) -> list[Place]:
    """Each place of a document; of lists and of maps whose keys are data, the first entry stands for all."""
    found = [at] if at else []
    if isinstance(value, list):
        return found + (places(value[0], (*at, 0)) if value else [])
    if isinstance(value, dict):
        some = list(value)[:1] if at and at[-1] in {"files", "directories", "secrets_by_rule"} else list(value)
        return found + [place for key in some for place in places(value[key], (*at, key))]
    return found


def shown(place: Place) -> str:
    return "/".join(map(str, place))


def assert_fit_to_travel(outcome: Outcome) -> None:
    assert len(outcome.text.splitlines()) <= 5
    evidence = outcome.evidence
    text = json.dumps([evidence.message, evidence.expected, evidence.actual], allow_nan=False, ensure_ascii=False)
    text.encode("utf-8")
    outcome.text.encode("utf-8")
    for unmentionable in UNMENTIONABLE:
        assert unmentionable not in text
        assert unmentionable not in outcome.text


TRUTHS = {
    "ordinary": expecting(),
    "conditional": expecting(
        {
            **NOTHING_EXPECTED,
            ("is_empty_repo",): True,
            ("has_large_files",): True,
            ("has_binary_files",): True,
        }
    ),
}
OUTERMOST = {("data",), ("results",)}


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("place", [place for place in places(envelope()) if place not in OUTERMOST], ids=shown)
def test_no_malformed_envelope_crashes_a_check(place: Place, truth: str) -> None:
    for value in BAD_VALUES.values():
        outcomes = outcomes_of(TRUTHS[truth], analysed(edited(envelope(), {place: value})))
        for outcome in outcomes.values():
            assert_fit_to_travel(outcome)


@pytest.mark.parametrize(
    "place", [place for place in places(legacy()) if place[0] != "results" or len(place) == 2], ids=shown
)
def test_no_malformed_legacy_document_crashes_a_check(place: Place) -> None:
    for value in BAD_VALUES.values():
        if place in OUTERMOST and not isinstance(value, dict):
            continue
        for outcome in outcomes_of(TRUTHS["ordinary"], analysed(edited(legacy(), {place: value}))).values():
            assert_fit_to_travel(outcome)


@pytest.mark.parametrize("place", [place for place in places(envelope()) if place not in OUTERMOST], ids=shown)
def test_no_deeply_nested_value_crashes_a_check(place: Place) -> None:
    for outcome in outcomes_of(TRUTHS["ordinary"], analysed(_with_value(envelope(), place, DEEP))).values():
        assert_fit_to_travel(outcome)


def _with_value(document: Json, place: Place, value: object) -> Json:
    target: Any = document
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = value
    return document


NOT_COUNTS = ["null", "true", "false", "negative", "nan", "infinity", "huge", "text", "number as text", "list"]


@pytest.mark.parametrize("bad", [name for name in NOT_COUNTS if name != "huge"])
@pytest.mark.parametrize(
    ("check_id", "name"),
    [
        ("SA-1", "total_secrets"),
        ("SA-2", "unique_secrets"),
        ("SA-3", "secrets_in_head"),
        ("SA-4", "secrets_in_history"),
        ("SA-5", "files_with_secrets"),
        ("SA-6", "commits_with_secrets"),
        ("SD-1", "total_secrets"),
        ("SD-3", "secrets_in_history"),
        ("SP-1", "scan_time_ms"),
        ("SP-2", "scan_time_ms"),
        ("SP-2", "commits_with_secrets"),
        ("SP-3", "scan_time_ms"),
        ("SP-3", "total_secrets"),
        ("RV-4", "total_secrets"),
    ],
)
def test_a_malformed_count_fails_each_check_that_reads_it_and_is_named(check_id: str, name: str, bad: str) -> None:
    analysis = analysed(edited(envelope(), {("data", name): BAD_VALUES[bad]}))
    outcome = outcome_of(check_id, expecting(), analysis)
    assert outcome.name == "failed"
    assert name in outcome.text


@pytest.mark.parametrize("bad", ["null", "true", "nan", "infinity", "text", "list", "object"])
@pytest.mark.parametrize("check_id", ["RV-1", "RV-2", "RV-3", "RV-4"])
@pytest.mark.parametrize("name", ["direct_file_count", "recursive_secret_count"])
def test_a_malformed_directory_count_fails_the_rollup_checks(check_id: str, name: str, bad: str) -> None:
    outcome = outcome_of(check_id, expecting(), analysed(edited(envelope(), {(*DIRECTORY, name): BAD_VALUES[bad]})))
    assert outcome.name == "failed"
    assert "directories['config']" in outcome.text


@pytest.mark.parametrize("bad", ["null", "true", "nan", "text", "list", "object", "negative"])
def test_a_malformed_rule_count_fails_the_rule_counts(bad: str) -> None:
    edits: Edits = {("data", "secrets_by_rule", "github-pat"): BAD_VALUES[bad]}
    outcome = outcome_of("SA-9", expecting(), analysed(edited(envelope(), edits)))
    assert outcome.name == "failed"
    assert "github-pat" in outcome.text


@pytest.mark.parametrize("bad", ["null", "true", "text", "list", "fraction"])
@pytest.mark.parametrize(
    ("name", "check_ids"),
    [
        ("findings", ["SA-10", "SA-11", "SD-5", "SD-6", "SC-8", "SP-4", "OQ-1", "IF-1", "EC-2"]),
        ("secrets_by_rule", ["SA-7", "SA-9", "SD-2"]),
        ("files", ["SA-8"]),
        ("directories", ["RV-1", "RV-2", "RV-3", "RV-4"]),
    ],
)
def test_a_part_of_the_wrong_type_fails_each_check_that_reads_it(name: str, check_ids: list[str], bad: str) -> None:
    analysis = analysed(edited(envelope(), {("data", name): BAD_VALUES[bad]}))
    if name == "findings" and bad == "list":
        check_ids = [check_id for check_id in check_ids if check_id != "OQ-1"]
    for check_id in check_ids:
        outcome = outcome_of(check_id, expecting(), analysis)
        assert outcome.name == "failed", check_id
        assert name in outcome.text


@pytest.mark.parametrize("bad", ["null", "true", "text", "list", "negative"])
def test_a_directory_that_is_no_object_fails_the_rollup_checks(bad: str) -> None:
    analysis = analysed(edited(envelope(), {DIRECTORY: BAD_VALUES[bad]}))
    assert {outcome_of(f"RV-{number}", expecting(), analysis).name for number in range(1, 5)} == {"failed"}


@pytest.mark.parametrize("path", [None, 5, ["a"], {"a": 1}])
def test_a_path_that_is_no_text_fails_the_checks_of_paths(path: object) -> None:
    analysis = analysed(edited(envelope(), {nth(2, "file_path"): path}))
    truth = expecting({("has_binary_files",): True})
    for check_id in ("IF-1", "EC-2", "EC-4"):
        assert outcome_of(check_id, truth, analysis).name == "failed"


@pytest.mark.parametrize("name", ["secret_preview", "commit_author", "description", "commit_message"])
@pytest.mark.parametrize("place", [("data", "findings"), ("data", "total_secrets"), ("metadata",), ("data", "tool")])
def test_violations_of_the_schema_do_not_quote_a_finding(place: Place, name: str) -> None:
    misplaced = [finding(*FINDINGS[0])[name]]
    by_fingerprint = {"1": {name: misplaced[0]}}
    value = by_fingerprint if place != ("metadata",) else misplaced
    outcome = outcome_of("OQ-1", expecting(), analysed(edited(envelope(), {place: value})))
    assert outcome.name == "failed"
    assert_fit_to_travel(outcome)


@pytest.mark.parametrize("name", ["secret_preview", "commit_author", "description", "commit_message"])
def test_findings_without_an_identity_are_not_quoted(name: str) -> None:
    nameless = {
        "data": {"findings": [{name: PREVIEW, "entropy": 9}, {name: PREVIEW, "secret_preview": "unmasked one"}]}
    }
    for outcome in outcomes_of(expecting(), analysed(nameless)).values():
        assert_fit_to_travel(outcome)
        assert "unmasked one" not in json.dumps(outcome.evidence.actual)


def test_an_empty_analysis_is_judged_by_all_checks() -> None:
    outcomes = outcomes_of(expecting(), analysed({"data": {}}))
    assert set(outcomes) == set(ALL_IDS)
    assert failing(outcomes) >= {"SA-1", "SA-10", "SC-1", "SC-2", "SC-3", "SC-4", "SC-5", "SC-6", "SC-7", "OQ-1"}


def test_a_thousand_rule_ids_and_files_make_no_long_text() -> None:
    truth: Edits = {
        ("rule_ids",): [f"rule-{number}" for number in range(1000)],
        ("files_with_secrets_list",): [*FILES, *(f"file-{number}" for number in range(1000))],
    }
    for check_id in ("SA-7", "SA-8"):
        outcome = outcome_of(check_id, expecting(truth), analysed(envelope()))
        assert outcome.name == "failed"
        assert len(outcome.text) < 1000
