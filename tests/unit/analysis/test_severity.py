"""The severity policy: a level by rule, one up in production, LOW for what is minor and only in history."""

import json
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.analysis.severity import LEVELS, load_policy
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.resources import shipped_data

POLICY: dict[str, Any] = {
    "default": "MEDIUM",
    "rules": {"CRITICAL": ["cloud"], "HIGH": ["chat"], "LOW": ["minor"]},
    "production_paths": ["prod/", ".env.production", "config/prod"],
}


def written(folder: Path, document: object) -> Path:
    path = folder / "policy.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("rule", "path", "level"),
    [
        ("cloud", "a.py", "CRITICAL"),
        ("chat", "a.py", "HIGH"),
        ("minor", "a.py", "LOW"),
        ("not-named", "a.py", "MEDIUM"),
        ("cloud", ".env.production", "CRITICAL"),
        ("chat", ".env.production", "CRITICAL"),
        ("not-named", ".env.production", "HIGH"),
        ("minor", ".env.production", "MEDIUM"),
    ],
)
def test_a_production_path_raises_the_level_of_the_rule_by_one(
    tmp_path: Path, rule: str, path: str, level: str
) -> None:
    assert load_policy(written(tmp_path, POLICY)).severity(rule, path, in_head=True) == level


@pytest.mark.parametrize(
    ("rule", "path", "level"),
    [
        ("cloud", "a.py", "CRITICAL"),
        ("chat", "a.py", "HIGH"),
        ("not-named", "a.py", "LOW"),
        ("minor", "a.py", "LOW"),
        ("not-named", "prod/a.py", "HIGH"),
        ("minor", "prod/a.py", "LOW"),
    ],
)
def test_what_is_minor_and_only_in_history_is_low(tmp_path: Path, rule: str, path: str, level: str) -> None:
    assert load_policy(written(tmp_path, POLICY)).severity(rule, path, in_head=False) == level


@pytest.mark.parametrize(
    ("path", "is_production"),
    [
        ("prod/a.py", True),
        ("deep/prod/a.py", True),
        ("nonprod/a.py", False),
        ("prod", False),
        ("prod.py", False),
        (".env.production", True),
        ("app/.env.production", True),
        (".env.production.local", True),
        ("my.env.production", False),
        ("config/prod.py", True),
        ("config/prod/a.py", True),
        ("config/prod-eu.yml", True),
        ("config/products.py", False),
        ("myconfig/prod.py", False),
    ],
)
def test_a_production_path_begins_and_ends_where_a_name_does(
    tmp_path: Path,
    path: str,
    is_production: bool,  # noqa: FBT001 - a column
) -> None:
    level = load_policy(written(tmp_path, POLICY)).severity("not-named", path, in_head=True)
    assert (level == "HIGH") is is_production


def test_characters_of_a_path_mean_themselves(tmp_path: Path) -> None:
    policy = load_policy(written(tmp_path, {**POLICY, "production_paths": ["a.b", "c+d/", "[x]"]}))
    assert [policy.severity("r", path, in_head=True) for path in ("a.b", "c+d/e", "[x]")] == ["HIGH"] * 3
    assert [policy.severity("r", path, in_head=True) for path in ("aXb", "ccd/e", "x")] == ["MEDIUM"] * 3


def test_a_policy_needs_no_production_paths(tmp_path: Path) -> None:
    for document in ({**POLICY, "production_paths": []}, {"default": "LOW", "rules": {}}):
        assert load_policy(written(tmp_path, document)).severity("r", "prod/a", in_head=True) in LEVELS


def test_the_shipped_policy_gives_the_severities_of_the_shipped_ground_truths() -> None:
    policy = load_policy()
    expected = 0
    for path in shipped_data("ground_truth").glob("*.json"):
        for finding in json.loads(path.read_text(encoding="utf-8"))["expected"]["findings"]:
            if level := finding.get("expected_severity"):
                expected += 1
                assert policy.severity(finding["rule_id"], finding["file_path"], in_head=True) == level
    assert expected == 10


@pytest.mark.parametrize("rule", ["generic-api-key", "jwt", "a-rule-of-tomorrow"])
def test_generic_rules_and_rules_that_are_not_named_are_medium(rule: str) -> None:
    assert load_policy().severity(rule, "a.py", in_head=True) == "MEDIUM"


@pytest.mark.parametrize(
    ("document", "place", "problem"),
    [
        ([], "/", "object"),
        ({"rules": {}}, "/", "'default' is a required property"),
        ({"default": "MEDIUM"}, "/", "'rules' is a required property"),
        ({"default": "medium", "rules": {}}, "/default", "is not one of"),
        ({"default": "LOW", "rules": {"URGENT": []}}, "/rules", "URGENT"),
        ({"default": "LOW", "rules": {"LOW": [1]}}, "/rules/LOW/0", "string"),
        ({"default": "LOW", "rules": {}, "extra": 1}, "/", "extra"),
        ({"default": "LOW", "rules": {}, "production_paths": [""]}, "/production_paths/0", ""),
        ({"default": "LOW", "rules": {}, "production_paths": ["a"] * 1001}, "/production_paths", "too long"),
    ],
)
def test_a_policy_that_breaks_its_schema_is_an_error_with_its_place(
    tmp_path: Path, document: object, place: str, problem: str
) -> None:
    path = written(tmp_path, document)
    with pytest.raises(InputError) as error:
        load_policy(path)
    assert f"severity policy {path}: {place}: " in str(error.value)
    assert problem in str(error.value)


def test_a_rule_with_two_levels_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the rule 'jwt' has two levels"):
        load_policy(written(tmp_path, {"default": "LOW", "rules": {"LOW": ["jwt"], "HIGH": ["jwt"]}}))


def test_a_rule_that_is_named_twice_at_one_level_is_none(tmp_path: Path) -> None:
    policy = load_policy(written(tmp_path, {"default": "LOW", "rules": {"HIGH": ["jwt", "jwt"]}}))
    assert policy.severity("jwt", "a", in_head=True) == "HIGH"


def test_a_policy_that_does_not_parse_is_an_error_with_line_and_column(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 2, column 3: not JSON"):
        load_policy(written(tmp_path, "{\n  nope}"))


def test_a_policy_that_is_missing_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"severity policy .*missing\.json: cannot be read: No such file"):
        load_policy(tmp_path / "missing.json")
