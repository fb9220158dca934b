"""What is offered to be accepted of a comparison."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml

from gitleaks_eval.config.eval_file import Approval, read_document
from gitleaks_eval.config.eval_file_edit import Line, with_acceptances
from gitleaks_eval.engine.acceptance import to_approve
from gitleaks_eval.engine.session import approvals as approving
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.scenarios.secrets import MASK
from gitleaks_eval.scoring.approvals import approved
from gitleaks_eval.scoring.real_differences import LOST, SUPPRESSED, Group, Real, RealComparison
from gitleaks_eval.scoring.surveyed import Moves


@pytest.mark.parametrize(("version", "is_offered"), [("8.26.0", True), ("8.30.1", False)])
def test_what_another_build_loses_is_offered_and_what_the_same_build_loses_is_a_regression(
    monkeypatch: pytest.MonkeyPatch, version: str, *, is_offered: bool
) -> None:
    candidates = [SimpleNamespace(name=name) for name in ("base", "head")]
    builds = {
        "base": SimpleNamespace(name="gitleaks", version="8.30.1"),
        "head": SimpleNamespace(name="gitleaks", version=version),
    }
    session = SimpleNamespace(settings=SimpleNamespace(candidates=candidates, baseline=None), build=builds.get)
    known = {
        "surveyed": SimpleNamespace(rows=list, forgiven=()),
        "survey_read": (),
        "silent_for": (),
        "moves": Moves(rules_lost=("alpha",)),
        "upgrades_of": (),
        "upgrade_item": (),
        "compared_repositories": SimpleNamespace(problems=(), to_review=list),
    }
    for name, value in known.items():
        monkeypatch.setattr(to_approve, name, lambda *_, value=value: value)
    told = [text for _, text in to_approve.lines_to_approve(cast("Session", session), {})]
    assert [("head against base: " in text, "alpha" in text) for text in told] == [(True, True)] * is_offered


@pytest.mark.parametrize(("cause", "findings"), [("hidden by x", None), (f"{SUPPRESSED}head", 3), (None, 3)])
def test_a_group_is_a_line_for_each_configuration_that_its_repositories_have_of_their_own(
    monkeypatch: pytest.MonkeyPatch, cause: str | None, findings: int | None
) -> None:
    """What no identity says anything of, suppressions and what is not known, is accepted up to its number."""
    monkeypatch.setattr(approving, "identity", lambda _session, name, own: f"{name} {own}".strip())
    session = SimpleNamespace(settings=SimpleNamespace(candidates=[SimpleNamespace(name="base")]))
    own = {"one": "x", "two": "y", "three": "x"}
    real = Real(tuple(RealComparison(name, "c", 0, (), own=("", sha256)) for name, sha256 in own.items()))
    group = Group(LOST, "rule", None, cause, tuple(own), 3, 3)
    listed = list(approving.group_items(cast("Session", session), "head", real, group, {"why": "seen"}))
    assert [part.repositories for part, _ in listed] == [("one", "three"), ("two",)]
    lines = [line for _, line in listed]
    assert [(one["repositories"], one["baseline"], one["candidate"]) for one in lines] == [
        (["one", "three"], "base", "head x"),
        (["two"], "base", "head y"),
    ]
    assert [one.get("findings") for one in lines] == [findings] * 2


@pytest.mark.parametrize(
    ("changed", "other"),
    [("rule_id", "rule-abc"), ("cause", "hidden by b paths"), ("repositories", ("shop-b",))],
)
def test_what_is_written_for_a_group_approves_nothing_that_it_would_fit_as_a_pattern(changed: str, other: Any) -> None:
    group = Group(LOST, "rule-[a-z]*", None, "hidden by [ab] *", ("shop-?",), 3, 3)
    pins = tuple(f"{name} sha256:{'0' * 32}" for name in ("base", "head"))
    pinned = dict(zip(("baseline", "candidate"), pins, strict=True))
    item = approving.group_item(group, pinned, {"why": "seen", "since": "2026-11-22"})
    text = with_acceptances("", [], [Line(approving.DIFFERENCES, item)])
    document = yaml.safe_load(text.replace("since: ", "since: !!str "))
    (approval,) = read_document(document, text, Path("x.yaml"), ()).approvals
    both = [group, replace(group, **{changed: other})]
    assert approved(both, [approval], lambda _: (pins[0], pins[1])) == {group: "seen"}


@pytest.mark.parametrize("rule", [MASK, f"generic{MASK}~3", "github-pat"])
def test_a_line_for_a_rule_that_was_masked_approves_no_other_rule(rule: str) -> None:
    """Earlier versions wrote the masked id as it was shown: read as a pattern, it fits each rule."""
    approval = Approval(MASK, None, ("shop",), "seen", "base", "head", findings=9)
    group = Group(LOST, rule, None, None, ("shop",), 1, 1)
    assert approved([group], [approval], lambda _: ("base", "head")) == {}


def test_an_approval_is_not_pinned_to_a_cause_that_was_not_searched() -> None:
    group = Group(LOST, "github-pat", None, "not searched: budget of 240 scans", ("shop",), 3, 3)
    item = approving.group_item(group, {"baseline": "a", "candidate": "b"}, {"why": "seen", "since": "2026-11-22"})
    assert (item["cause"], item["findings"]) == (None, 3)
