"""Scenarios: ground truths that load, and each mistake in one named with its place."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import REMOVED, Edits, edited, ground_truth, scenario_of

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.resources import shipped_data
from gitleaks_eval.scenarios.scenario import (
    Expected,
    ExpectedFinding,
    Thresholds,
    load_scenario,
    load_scenarios,
    scenario_folders,
)

REQUIRED = [
    "total_secrets",
    "unique_secrets",
    "secrets_in_head",
    "secrets_in_history",
    "files_with_secrets",
    "commits_with_secrets",
]
CORE = (
    "api-keys aws-credentials cloud-mixed database-creds historical-secrets mixed-secrets no-secrets private-keys "
    "synthetic"
).split()
LEAST: dict[str, Any] = {"expected": dict.fromkeys(REQUIRED, 0)}


def loaded(folder: Path, edits: Edits | None = None) -> Expected:
    return scenario_of(edited(ground_truth(), edits or {}), folder).expected


def truth_in(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / f"{name}.json").write_text(json.dumps(LEAST), encoding="utf-8")
    return folder


def problem_of(action: Callable[[], object]) -> str:
    with pytest.raises(InputError) as error:
        action()
    return str(error.value)


# --- what ships


def test_the_core_suite_is_the_nine_scenarios_of_the_requirements_sorted_by_name() -> None:
    assert [scenario.name for scenario in load_scenarios(["core"], Path("/nowhere"))] == CORE


@pytest.mark.parametrize("suite", ["core", "edge"])
def test_each_shipped_scenario_has_a_recipe(suite: str) -> None:
    assert all(scenario.recipe.is_file() for scenario in load_scenarios([suite], Path("/nowhere")))


def test_the_core_suite_has_the_totals_of_the_requirements() -> None:
    scenarios = load_scenarios(["core"], Path("/nowhere"))
    expected = [scenario.expected for scenario in scenarios]
    assert sum(one.total_secrets for one in expected) == 17
    assert [scenario.name for scenario in scenarios if scenario.expected.secrets_in_history] == ["historical-secrets"]
    assert len({rule for one in expected for rule in one.rule_ids}) == 6
    assert [scenario.name for scenario in scenarios if not scenario.expected.total_secrets] == [
        "no-secrets",
        "synthetic",
    ]
    assert [
        scenario.name for scenario in scenarios if any(one.expected_severity for one in scenario.expected.findings)
    ] == ["cloud-mixed", "database-creds", "private-keys"]


@pytest.mark.parametrize("suite", ["core", "edge"])
def test_each_shipped_ground_truth_agrees_with_itself(suite: str) -> None:
    for scenario in load_scenarios([suite], Path("/nowhere")):
        expected = scenario.expected
        assert len(expected.findings) == expected.total_secrets
        places = (expected.secrets_in_head, expected.secrets_in_history)
        assert None not in places
        assert sum(count or 0 for count in places) == expected.total_secrets
        assert {finding.file_path for finding in expected.findings} == set(expected.files_with_secrets_list)
        assert len(expected.files_with_secrets_list) == expected.files_with_secrets
        assert {finding.rule_id for finding in expected.findings} == set(expected.rule_ids)
        assert sum(expected.secrets_by_rule.values()) == expected.total_secrets
        assert set(expected.secrets_by_rule) == set(expected.rule_ids)


# --- one ground truth


def test_a_whole_ground_truth_becomes_a_value(tmp_path: Path) -> None:
    scenario = scenario_of({**ground_truth(), "description": "what it is"}, tmp_path, "some name")
    assert (scenario.name, scenario.description) == ("some name", "what it is")
    assert (scenario.ground_truth, scenario.recipe) == (tmp_path / "some name.json", tmp_path / "some name.yaml")
    assert scenario.analysis is None
    expected = scenario.expected
    assert (expected.total_secrets, expected.unique_secrets, expected.commits_with_secrets) == (5, 4, 2)
    assert expected.findings[0] == ExpectedFinding(".env", "github-pat", 3, "HIGH")
    assert expected.findings[0].fingerprint == ".env:github-pat:3"
    assert expected.thresholds == Thresholds(5000, 1000, 500, 100)


def test_the_name_is_that_of_the_file_and_not_that_in_it(tmp_path: Path) -> None:
    assert scenario_of({**ground_truth(), "scenario": "another"}, tmp_path, "mine").name == "mine"


def test_only_the_six_counts_are_required(tmp_path: Path) -> None:
    assert scenario_of(LEAST, tmp_path).expected == Expected(0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    "name",
    ["secrets_by_severity", "secrets_by_rule", "findings", "rule_ids", "files_with_secrets_list"],
)
def test_a_list_or_map_may_be_left_out(name: str, tmp_path: Path) -> None:
    assert not getattr(loaded(tmp_path, {("expected", name): REMOVED}), name)


@pytest.mark.parametrize("name", ["is_empty_repo", "has_large_files", "has_binary_files"])
def test_a_flag_that_is_left_out_is_false(name: str, tmp_path: Path) -> None:
    assert getattr(loaded(tmp_path), name) is False


@pytest.mark.parametrize("name", ["secrets_by_severity", "is_empty_repo", "has_large_files", "has_binary_files"])
def test_an_optional_key_may_be_null(name: str, tmp_path: Path) -> None:
    assert not getattr(loaded(tmp_path, {("expected", name): None}), name)


def test_the_severity_of_a_finding_is_optional_and_may_be_null(tmp_path: Path) -> None:
    edits: Edits = {
        ("expected", "findings", 0, "expected_severity"): REMOVED,
        ("expected", "findings", 1, "expected_severity"): None,
    }
    assert [finding.expected_severity for finding in loaded(tmp_path, edits).findings[:3]] == [None, None, "CRITICAL"]


@pytest.mark.parametrize(
    "place",
    [
        ("extra",),
        ("expected", "extra"),
        ("expected", "findings", 0, "extra"),
        ("expected", "thresholds", "max_memory_mb"),
        ("thresholds", "extra"),
    ],
)
def test_extra_keys_are_allowed(place: tuple[str | int, ...], tmp_path: Path) -> None:
    assert loaded(tmp_path, {place: {"any": ["thing"]}}) == loaded(tmp_path)


@pytest.mark.parametrize("name", ["is_empty_repo", "has_large_files", "has_binary_files"])
def test_a_flag_is_read(name: str, tmp_path: Path) -> None:
    assert getattr(loaded(tmp_path, {("expected", name): True}), name) is True


@pytest.mark.parametrize(
    ("inner", "outer", "thresholds"),
    [
        (REMOVED, REMOVED, Thresholds(10_000, 1_000, 500, 100)),
        ({}, REMOVED, Thresholds(10_000, 1_000, 500, 100)),
        ({"max_scan_time_ms": 1}, REMOVED, Thresholds(1, 1_000, 500, 100)),
        (REMOVED, {"max_scan_time_ms": 2, "max_ms_per_commit": 3}, Thresholds(2, 3, 500, 100)),
        (
            {"max_scan_time_ms": 1, "max_ms_per_finding": 0.5},
            {"max_scan_time_ms": 2, "max_ms_per_commit": 3, "max_findings_for_test": 4},
            Thresholds(1, 3, 0.5, 4),
        ),
    ],
)
def test_each_threshold_falls_back_by_itself(inner: Any, outer: Any, thresholds: Thresholds, tmp_path: Path) -> None:
    document = edited(ground_truth(), {("expected", "thresholds"): inner})
    if outer is not REMOVED:
        document["thresholds"] = outer
    assert scenario_of(document, tmp_path).expected.thresholds == thresholds


def test_the_time_of_large_files_is_a_key_of_its_own(tmp_path: Path) -> None:
    assert loaded(tmp_path).max_scan_time_ms == 60_000
    assert loaded(tmp_path, {("expected", "max_scan_time_ms"): 5}).max_scan_time_ms == 5
    assert loaded(tmp_path, {("expected", "max_scan_time_ms"): 5}).thresholds.max_scan_time_ms == 5000


@pytest.mark.parametrize("name", REQUIRED)
def test_a_missing_count_is_an_error_with_its_place(name: str, tmp_path: Path) -> None:
    problem = problem_of(lambda: loaded(tmp_path, {("expected", name): REMOVED}))
    assert problem == f"ground truth {tmp_path}/good.json: /expected: '{name}' is a required property"


@pytest.mark.parametrize(
    ("place", "value", "pointer"),
    [
        (("expected",), REMOVED, "/"),
        (("expected",), [], "/expected"),
        (("expected", "total_secrets"), "5", "/expected/total_secrets"),
        (("expected", "total_secrets"), -1, "/expected/total_secrets"),
        (("expected", "total_secrets"), 1.5, "/expected/total_secrets"),
        (("expected", "total_secrets"), True, "/expected/total_secrets"),
        (("expected", "total_secrets"), None, "/expected/total_secrets"),
        (("expected", "rule_ids"), "jwt", "/expected/rule_ids"),
        (("expected", "rule_ids"), [1], "/expected/rule_ids/0"),
        (("expected", "files_with_secrets_list"), {}, "/expected/files_with_secrets_list"),
        (("expected", "secrets_by_rule", "a/b~c"), "1", "/expected/secrets_by_rule/a~1b~0c"),
        (("expected", "secrets_by_severity", "URGENT"), 1, "/expected/secrets_by_severity"),
        (("expected", "findings"), {}, "/expected/findings"),
        (("expected", "findings", 1), "x", "/expected/findings/1"),
        (("expected", "findings", 1, "file_path"), REMOVED, "/expected/findings/1"),
        (("expected", "findings", 1, "rule_id"), REMOVED, "/expected/findings/1"),
        (("expected", "findings", 1, "line_number"), REMOVED, "/expected/findings/1"),
        (("expected", "findings", 1, "line_number"), "3", "/expected/findings/1/line_number"),
        (("expected", "findings", 1, "expected_severity"), "high", "/expected/findings/1/expected_severity"),
        (("expected", "is_empty_repo"), "yes", "/expected/is_empty_repo"),
        (("expected", "max_scan_time_ms"), -1, "/expected/max_scan_time_ms"),
        (("expected", "thresholds"), [], "/expected/thresholds"),
        (("expected", "thresholds", "max_scan_time_ms"), "1", "/expected/thresholds/max_scan_time_ms"),
        (("expected", "thresholds", "max_ms_per_commit"), None, "/expected/thresholds/max_ms_per_commit"),
        (("thresholds",), {"max_ms_per_finding": -1}, "/thresholds/max_ms_per_finding"),
        (("description",), 5, "/description"),
    ],
)
def test_a_violation_of_the_schema_is_an_error_with_its_json_pointer(
    place: tuple[str | int, ...], value: Any, pointer: str, tmp_path: Path
) -> None:
    problem = problem_of(lambda: loaded(tmp_path, {place: value}))
    assert problem.startswith(f"ground truth {tmp_path}/good.json: {pointer}: ")


@pytest.mark.parametrize("document", [[], None, "text", 5])
def test_a_ground_truth_that_is_no_object_is_an_error(document: object, tmp_path: Path) -> None:
    assert "/: " in problem_of(lambda: scenario_of(document, tmp_path))


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b'{"a": 1,\n  "b": }', "line 2, column 8: not JSON"),
        (b"", "line 1, column 1: not JSON"),
        (b"\xff", "not JSON that can be read"),
        (b"[" * 100_000, "not JSON that can be read"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not JSON that can be read"),
    ],
    ids=["syntax", "empty", "not-utf-8", "too-deep", "huge-number"],
)
def test_a_ground_truth_that_does_not_parse_is_an_error(content: bytes, what: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    problem = problem_of(lambda: load_scenario(path, tmp_path))
    assert problem.startswith(f"ground truth {path}: ")
    assert what in problem


def test_a_bound_that_is_no_number_is_an_error_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "bound.json"
    text = json.dumps(edited(LEAST, {("expected", "thresholds"): {"max_scan_time_ms": 1.5}})).replace("1.5", "NaN")
    path.write_text(text, encoding="utf-8")
    assert f"ground truth {path}: " in problem_of(lambda: load_scenario(path, tmp_path))


@pytest.mark.parametrize("name", ["a[b]", "a]", "a\nb", "a\\b", "a\x1b[31mb"])
def test_a_name_that_breaks_test_ids_is_an_error(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(LEAST), encoding="utf-8")
    assert "rename it" in problem_of(lambda: load_scenario(path, tmp_path))


@pytest.mark.parametrize("name", ["übung", "a b", "a.b", "a-b_c", "日本"])
def test_any_other_name_is_taken(name: str, tmp_path: Path) -> None:
    assert scenario_of(LEAST, tmp_path, name).name == name


def test_a_ground_truth_that_is_missing_is_an_error_with_its_name(tmp_path: Path) -> None:
    problem = problem_of(lambda: load_scenario(tmp_path / "nope.json", tmp_path))
    assert problem == f"ground truth {tmp_path}/nope.json: cannot be read: No such file or directory"


def test_a_ground_truth_of_the_wrong_shape_shows_five_problems_at_most(tmp_path: Path) -> None:
    problem = problem_of(lambda: scenario_of({"expected": {}}, tmp_path))
    assert len(problem.splitlines()) == 5


def test_a_scenario_and_what_it_expects_are_short_in_tracebacks(tmp_path: Path) -> None:
    scenario = scenario_of(ground_truth(), tmp_path)
    assert repr(scenario) == "<Scenario good>"
    assert repr(scenario.expected) == "<Expected 5 secrets>"


# --- folders


def test_a_folder_holds_both_kinds_in_folders_of_their_own_or_side_by_side(tmp_path: Path) -> None:
    truth_in(tmp_path / "apart" / "ground_truth", "one")
    truth_in(tmp_path / "beside", "two")
    one, two = load_scenarios(["apart", "beside"], tmp_path)
    assert (one.name, one.recipe) == ("one", tmp_path / "apart" / "synthetic_repos" / "one.yaml")
    assert (two.name, two.recipe) == ("two", tmp_path / "beside" / "two.yaml")


def test_a_folder_is_relative_to_the_base_or_absolute_or_below_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth_in(tmp_path / "mine", "one")
    monkeypatch.setenv("HOME", str(tmp_path))
    for source, base in (("mine", tmp_path), (str(tmp_path / "mine"), Path("/nowhere")), ("~/mine", Path("/nowhere"))):
        assert [scenario.name for scenario in load_scenarios([source], base)] == ["one"]


def test_scenarios_of_several_sources_are_sorted_by_name(tmp_path: Path) -> None:
    truth_in(tmp_path / "a", "z", "b")
    truth_in(tmp_path / "b", "y", "a")
    assert [scenario.name for scenario in load_scenarios(["a", "b"], tmp_path)] == ["a", "b", "y", "z"]


def test_a_source_that_is_named_twice_is_loaded_once(tmp_path: Path) -> None:
    truth_in(tmp_path / "a", "one")
    assert len(load_scenarios(["a", "a"], tmp_path)) == 1


def test_two_scenarios_of_one_name_are_an_error_that_names_both_files(tmp_path: Path) -> None:
    truth_in(tmp_path / "a", "same")
    truth_in(tmp_path / "b", "same")
    problem = problem_of(lambda: load_scenarios(["a", "b"], tmp_path))
    assert "two scenarios are named 'same'" in problem
    assert f"{tmp_path}/a/same.json" in problem
    assert f"{tmp_path}/b/same.json" in problem


def test_the_problems_of_all_ground_truths_are_told_at_once(tmp_path: Path) -> None:
    folder = truth_in(tmp_path / "a", "good")
    for name in ("bad", "worse"):
        (folder / f"{name}.json").write_text("{}", encoding="utf-8")
    problem = problem_of(lambda: load_scenarios(["a"], tmp_path))
    assert [line.split(":")[0] for line in problem.splitlines()] == [
        f"ground truth {folder}/bad.json",
        f"ground truth {folder}/worse.json",
    ]


def test_a_folder_that_does_not_exist_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    problem = problem_of(lambda: load_scenarios(["nope"], tmp_path))
    assert problem == (
        f"--gitleaks-scenarios {tmp_path}/nope: does not exist; name `core`, `edge` or a folder of scenarios"
    )


def test_a_file_where_a_folder_should_be_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "is not a folder" in problem_of(lambda: load_scenarios(["file"], tmp_path))


def test_a_folder_without_a_ground_truth_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "no ground truth (<scenario>.json) in" in problem_of(lambda: load_scenarios(["empty"], tmp_path))


def test_no_source_is_an_error() -> None:
    assert "no scenario given" in problem_of(lambda: load_scenarios([], Path()))


def test_a_folder_that_must_not_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    truth_in(tmp_path / "a", "one")
    # Not by chmod: root may read everything.
    monkeypatch.setattr(Path, "iterdir", refuse)
    assert "cannot be read: Permission denied" in problem_of(lambda: load_scenarios(["a"], tmp_path))


def test_a_recipe_may_be_missing_for_it_is_an_error_of_its_scenario_only(tmp_path: Path) -> None:
    truth_in(tmp_path / "a", "one")
    (scenario,) = load_scenarios(["a"], tmp_path)
    assert not scenario.recipe.exists()


def test_an_analysis_stands_in_the_folder_of_analyses_under_the_name_of_its_scenario(tmp_path: Path) -> None:
    truth_in(tmp_path / "a", "one")
    (scenario,) = load_scenarios(["a"], tmp_path, tmp_path / "analyses")
    assert scenario.analysis == tmp_path / "analyses" / "one.json"


def test_other_files_beside_the_ground_truths_are_left_alone(tmp_path: Path) -> None:
    folder = truth_in(tmp_path / "a", "one")
    for name in ("README.md", "one.yaml", "two.json.bak", ".hidden"):
        (folder / name).write_text("no ground truth", encoding="utf-8")
    assert [scenario.name for scenario in load_scenarios(["a"], tmp_path)] == ["one"]


def test_the_suites_are_named_before_folders_of_the_same_name(tmp_path: Path) -> None:
    truth_in(tmp_path / "core", "mine")
    assert [scenario.name for scenario in load_scenarios(["core"], tmp_path)] == CORE
    assert [scenario.name for scenario in load_scenarios(["./core"], tmp_path)] == ["mine"]


def test_the_edge_suite_stands_below_the_core_and_is_no_part_of_it() -> None:
    core, edge = scenario_folders("core", Path()), scenario_folders("edge", Path())
    assert edge == tuple(folder / "edge" for folder in core)
    assert core[0] == shipped_data("ground_truth")
