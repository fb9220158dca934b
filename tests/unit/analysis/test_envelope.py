"""Analyses: both formats in one view, what is no analysis at all, and accessors that name what is malformed."""

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import FINDINGS, REMOVED, Edits, analysed, edited, envelope, finding, legacy

from gitleaks_eval.analysis.envelope import (
    Analysis,
    as_analysis,
    fingerprint,
    read_analysis,
)
from gitleaks_eval.core.errors import CheckFailed, EvaluationError

SHARED_EXAMPLE = {
    "metadata": ["tool_name", "tool_version", "run_id", "repo_id", "branch", "commit", "timestamp", "schema_version"],
    "data": ["tool", "tool_version", "total_secrets", "findings"],
}


def with_data(edits: Edits) -> Analysis:
    return analysed(edited(envelope(), {("data", *place): value for place, value in edits.items()}))


def with_directory(path: str, metrics: Mapping[str, object]) -> Analysis:
    return with_data({("directories",): {path: metrics}})


def failure_of(action: Callable[[], object]) -> str:
    with pytest.raises(CheckFailed) as failure:
        action()
    return str(failure.value)


def written(folder: Path, content: bytes) -> Path:
    path = folder / "analysis.json"
    path.write_bytes(content)
    return path


def test_both_formats_are_one_view() -> None:
    one, other = analysed(envelope()), analysed(legacy())
    assert one.results == other.results
    assert one.findings() == other.findings()


@pytest.mark.parametrize(
    ("document", "schema_version", "timestamp"),
    [
        ({"metadata": {"schema_version": "1", "timestamp": "t"}, "data": {}}, "1", "t"),
        ({"metadata": {"schema_version": "1"}, "data": {"schema_version": "2", "timestamp": "u"}}, "2", "u"),
        ({"metadata": {"generated_at": "g"}, "data": {}}, None, None),
        ({"schema_version": "0", "timestamp": "r", "data": {}}, None, None),
        ({"metadata": None, "data": {}}, None, None),
        ({"metadata": ["schema_version"], "data": {}}, None, None),
        ({"schema_version": "1", "generated_at": "g", "results": {}}, "1", "g"),
        ({"timestamp": "t", "results": {}}, None, None),
        ({"generated_at": "g", "results": {"timestamp": "u"}}, None, "u"),
        ({"metadata": {"timestamp": "t"}, "data": {"timestamp": None}}, None, None),
    ],
)
def test_version_and_timestamp_are_filled_in_from_outside(
    document: object, schema_version: str | None, timestamp: str | None
) -> None:
    results = analysed(document).results
    assert (results.get("schema_version"), results.get("timestamp")) == (schema_version, timestamp)


def test_nothing_else_is_filled_in() -> None:
    analysis = analysed({"metadata": {"tool_version": "8", "total_secrets": 3}, "data": {}})
    assert dict(analysis.results) == {}


def test_the_document_itself_is_not_changed() -> None:
    document = {"metadata": {"timestamp": "t"}, "data": {"findings": []}}
    before = json.dumps(document)
    analysed(document)
    assert json.dumps(document) == before


def test_an_envelope_wins_where_a_document_is_both() -> None:
    assert analysed({"data": {"tool": "d"}, "results": {"tool": "r"}}).results["tool"] == "d"
    assert analysed({"data": None, "results": {"tool": "r"}}).results["tool"] == "r"


@pytest.mark.parametrize("document", [[], None, True, 5, "text", [{"data": {}}]])
def test_what_is_no_object_is_no_analysis(document: object) -> None:
    with pytest.raises(EvaluationError, match=r"it: is .*, not an object"):
        as_analysis(document, "it")


@pytest.mark.parametrize(
    "document", [{}, {"data": []}, {"data": None}, {"results": "x"}, {"data": 1, "results": [1]}, {"metadata": {}}]
)
def test_a_document_with_neither_data_nor_results_is_no_analysis(document: object) -> None:
    with pytest.raises(EvaluationError, match=r"it: neither `data` .* nor `results` .* is an object"):
        as_analysis(document, "it")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "line 1, column 1: not JSON"),
        (b'{"data":\n {,}}', "line 2, column 3: not JSON"),
        (b"not json", "not JSON"),
        (b"\xff\xfe\x00garbage", "not JSON"),
        (b'{"data": "\xe9"}', "not JSON"),
        (b"[" * 100_000, "not JSON that can be read"),
        (b"[]", "is a list, not an object"),
        (b"null", "is null, not an object"),
        (b"{}", "neither `data`"),
    ],
    ids=["empty", "syntax", "text", "garbage", "latin", "deep", "list", "null", "object"],
)
def test_a_file_that_is_no_analysis_is_an_error_with_its_name(content: bytes, what: str, tmp_path: Path) -> None:
    path = written(tmp_path, content)
    with pytest.raises(EvaluationError) as error:
        read_analysis(path)
    assert str(error.value).startswith(f"analysis {path}: ")
    assert what in str(error.value)


def test_a_file_that_is_missing_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=r"analysis .*nope\.json: cannot be read: No such file"):
        read_analysis(tmp_path / "nope.json")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_file_may_have_any_encoding_that_json_allows(encoding: str, tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps(envelope(), ensure_ascii=False).encode(encoding))
    assert read_analysis(path).findings() == envelope()["data"]["findings"]


def test_a_file_may_hold_nan_infinity_and_lone_surrogates(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"data": {"a": NaN, "b": -Infinity, "c": "\\udce9"}}')
    results = read_analysis(path).results
    assert math.isnan(results["a"])
    assert (results["b"], results["c"]) == (-math.inf, "\udce9")


# --- accessors


@pytest.mark.parametrize("value", [0, 5, 5.5, 0.0, 10**15])
def test_a_count_is_a_number_of_zero_or_more(value: float) -> None:
    assert with_data({("total_secrets",): value}).count("total_secrets") == value


def test_a_missing_count_is_zero_or_the_given_default() -> None:
    analysis = with_data({("total_secrets",): REMOVED})
    assert analysis.count("total_secrets") == 0
    assert analysis.count("total_secrets", default=1) == 1


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "total_secrets is null, not a number"),
        (True, "total_secrets is a boolean, not a number"),
        ("5", "total_secrets is a string, not a number"),
        ([5], "total_secrets is a list, not a number"),
        ({}, "total_secrets is an object, not a number"),
        (math.nan, "total_secrets is the number nan, not a number"),
        (math.inf, "total_secrets is the number inf, not a number"),
        (-1, "total_secrets is negative: -1"),
    ],
)
def test_a_malformed_count_fails_with_its_name_and_kind(value: object, shown: str) -> None:
    assert failure_of(lambda: with_data({("total_secrets",): value}).count("total_secrets", default=1)) == shown


@pytest.mark.parametrize("value", [10**400, -(10**400)], ids=["huge", "hugely negative"])
def test_a_number_that_no_float_holds_is_judged_and_does_not_crash(value: int) -> None:
    analysis = with_data({("total_secrets",): value})
    assert "total_secrets" in failure_of(lambda: analysis.count("total_secrets"))
    assert "a'].n" in failure_of(lambda: with_directory("a", {"n": value}).directory_counts("n"))


def test_findings_keep_their_order_and_may_be_missing() -> None:
    assert [found["file_path"] for found in analysed(envelope()).findings()] == [values[0] for values in FINDINGS]
    assert with_data({("findings",): REMOVED}).findings() == []


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "findings is null, not a list"),
        ({}, "findings is an object, not a list"),
        ("x", "findings is a string, not a list"),
        ([{}, None], "findings[1] is null, not an object"),
        ([[]], "findings[0] is a list, not an object"),
        ([7], "findings[0] is the number 7, not an object"),
    ],
)
def test_malformed_findings_fail_with_their_place_and_kind(value: object, shown: str) -> None:
    assert failure_of(with_data({("findings",): value}).findings) == shown


@pytest.mark.parametrize("name", ["files", "directories", "secrets_by_rule"])
def test_a_map_may_be_missing_and_nothing_else(name: str) -> None:
    assert with_data({(name,): REMOVED}).mapping(name) == {}
    for value, kind in ((None, "null"), ([], "a list"), (1, "the number 1")):
        assert failure_of(lambda value=value: with_data({(name,): value}).mapping(name)) == (  # type: ignore[misc]
            f"{name} is {kind}, not an object"
        )


def test_a_malformed_rule_count_fails_with_its_rule() -> None:
    analysis = with_data({("secrets_by_rule", "a'\nb"): "1"})
    assert failure_of(analysis.rule_counts) == 'secrets_by_rule["a\'\\nb"] is a string, not a number'


def test_a_directory_that_is_no_object_fails_with_its_path() -> None:
    analysis = with_data({("directories",): {".": {}, "a": 3}})
    assert failure_of(lambda: list(analysis.directories())) == "directories['a'] is the number 3, not an object"


@pytest.mark.parametrize("value", [0, -1, 2.5])
def test_a_directory_count_may_be_negative(value: float) -> None:
    assert with_directory(".", {"n": value}).directory_counts("n") == {".": {"n": value}}


def test_a_directory_count_may_be_missing() -> None:
    assert with_directory(".", {}).directory_counts("n") == {".": {"n": 0}}


@pytest.mark.parametrize("value", [None, True, "1", math.nan, []])
def test_a_malformed_directory_count_fails_with_its_place(value: object) -> None:
    assert failure_of(lambda: with_directory("a", {"n": value}).directory_counts("n")).startswith(
        "directories['a'].n is "
    )


def test_paths_are_those_of_the_findings_that_have_one() -> None:
    analysis = with_data({("findings",): [{"file_path": "a"}, {}, {"file_path": ""}, {"file_path": "b"}]})
    assert analysis.paths() == ["a", "b"]


def test_a_path_that_is_no_text_fails_with_its_place() -> None:
    analysis = with_data({("findings",): [{"file_path": "a"}, {"file_path": None}]})
    assert failure_of(analysis.paths) == "findings[1].file_path is null, not a string"


def test_a_fingerprint_is_file_rule_and_line() -> None:
    assert fingerprint(finding("a/b.py", 3, "jwt")) == "a/b.py:jwt:3"


def test_an_analysis_is_short_in_tracebacks() -> None:
    assert len(repr(analysed(envelope()))) < 60


# --- the two schemas


@pytest.mark.parametrize("document", [envelope(), legacy()], ids=["envelope", "legacy"])
def test_a_good_document_has_no_problems(document: dict[str, Any]) -> None:
    assert analysed(document).problems() == []


@pytest.mark.parametrize(("part", "name"), [(part, name) for part, names in SHARED_EXAMPLE.items() for name in names])
def test_a_missing_field_of_an_envelope_is_a_problem_with_its_place(part: str, name: str) -> None:
    problems = analysed(edited(envelope(), {(part, name): REMOVED})).problems()
    assert problems == [f"/{part}: '{name}' is a required property"]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("metadata", "tool_name"), "Gitleaks"),
        (("data", "tool"), None),
        (("data", "total_secrets"), "5"),
        (("data", "total_secrets"), True),
        (("data", "findings"), {}),
        (("metadata",), []),
    ],
)
def test_a_wrong_value_of_an_envelope_is_a_problem_with_its_place(place: tuple[str, ...], value: object) -> None:
    (problem,) = analysed(edited(envelope(), {place: value})).problems()
    assert problem.startswith(f"/{'/'.join(place)}: ")


def test_an_envelope_without_metadata_is_invalid_and_more_keys_are_valid() -> None:
    assert analysed(edited(envelope(), {("metadata",): REMOVED})).problems() != []
    more: Edits = {("more",): 1, ("metadata", "more"): 1, ("data", "more"): 1}
    assert analysed(edited(envelope(), more)).problems() == []


@pytest.mark.parametrize("value", ["x" * 10_000_000, ["x" * 1000] * 1000], ids=["text", "list"])
def test_a_problem_is_short_whatever_it_is_about(value: object) -> None:
    (problem,) = analysed(edited(envelope(), {("data", "total_secrets"): value})).problems()
    assert len(problem) < 400


def test_the_problems_are_in_a_stable_order() -> None:
    document: dict[str, Any] = {"metadata": {}, "data": {}}
    assert analysed(document).problems() == sorted(analysed(document).problems())
