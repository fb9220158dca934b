"""The scanner's own rules: what is lost of them, what the build lacks, and what of it is accepted."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gitleaks_eval.config.chain import ConfigFile, Configuration
from gitleaks_eval.config.eval_file import Acceptance
from gitleaks_eval.coverage.configuration import known
from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig
from gitleaks_eval.coverage.configuration.entries import OVERRIDE
from gitleaks_eval.coverage.configuration.layers import layers_of
from gitleaks_eval.coverage.configuration.rules import Dialect, effective
from gitleaks_eval.coverage.rules.firing import Firing, OffRule, RuleResult
from gitleaks_eval.coverage.rules.replaced import Replaced, acceptable, displaced
from gitleaks_eval.coverage.rules.standing import Standing, is_asked, standing_of

ROOT = Path("/c")
IDS = [f"r{number}" for number in range(8)]
BUILTIN = {"rules": [{"id": name, "regex": f"{name}_[a-z]{{9}}"} for name in IDS]}
EXTENDS = "[extend]\nuseDefault = true\n"
FEW = "[[rules]]\nid = 'mine'\nregex = 'mine_[a-z]{9}'\n"


@pytest.fixture(autouse=True)
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """One build was measured: it fires all of its eight rules."""
    monkeypatch.setattr(known, "measured", lambda _: {"gitleaks 8.30.1": frozenset(IDS)})


def subject(content: str = EXTENDS, *, version: str = "8.30.1", lacks: Sequence[str] = ()) -> EffectiveConfig:
    builtin = {"rules": [rule for rule in BUILTIN["rules"] if rule["id"] not in lacks]}
    files = (ConfigFile(ROOT / "my.toml", content.encode(), extends_default=content.startswith(EXTENDS)),)
    configuration = Configuration(files if content else (), "a test")
    layers = layers_of(configuration, builtin)
    dialect = Dialect("gitleaks", version)
    return EffectiveConfig(configuration, layers, effective(layers, builtin, dialect), builtin, "", dialect, "0")


def firing(*, replaced: Sequence[Replaced] = (), off: Sequence[OffRule] = (), silent: Sequence[str] = ()) -> Firing:
    rules = [RuleResult(name, own=False, samples=5, found=0, status="never_fires") for name in silent]
    return Firing(tuple(rules), tuple(off), replaced=tuple(replaced))


def lost(*names: str, in_force: bool = True) -> list[Replaced]:
    return [Replaced(name, in_force, 8, 5) for name in names]


def judged(asked: EffectiveConfig, fired: Firing, accepted: Mapping[str, int] | None = None) -> Standing:
    texts = {
        text: Acceptance(
            text, (("places", 0), ("rules", rules)), 1, "", "why", "2026-01-01", ROOT / "x.yaml", 1, 0, (0,)
        )
        for text, rules in (accepted or {}).items()
    }
    return standing_of(asked, fired, (), texts, ROOT)


def test_a_rule_is_lost_with_more_than_a_quarter_of_its_samples_or_where_it_is_not_in_force() -> None:
    assert [Replaced("r", True, 8, found).is_lost for found in (8, 6, 5, 0)] == [False, False, True, True]
    assert Replaced("r", in_force=False, samples=2, found=0, reported_as="other").is_lost


def test_changed_rules_are_told_from_absent_ones_and_what_an_entry_switches_off_is_neither() -> None:
    tuned = displaced(subject(f"{EXTENDS}disabledRules = ['r7']\n[[rules]]\nid = 'r0'\nentropy = 7.5\n"))
    assert ([rule.id for rule in tuned.changed], tuned.absent) == (["r0"], ())
    copied = displaced(subject("[[rules]]\nid = 'r0'\nregex = 'r0_[a-z]{9}'\n[[rules]]\nid = 'r1'\nregex = 'junk'\n"))
    assert [rule.id for rule in copied.changed] == ["r1"]
    assert [rule.id for rule in copied.absent] == IDS[2:]
    assert displaced(subject("")) == displaced(subject())


def test_up_to_a_quarter_may_be_replaced_and_each_is_named() -> None:
    few = judged(subject(), firing(replaced=lost("r0", "r1")))
    assert few.fails == ""
    assert few.sentence == ", 6 of 8 as the scanner's own"
    assert few.replaced[0] == "r0: replaced, does not find what gitleaks 8.30.1's own rule finds"
    many = judged(subject(), firing(replaced=lost("r0", "r1", "r2")))
    assert many.fails.startswith("my.toml does not find what 3 of gitleaks 8.30.1's 8 own rules find: 3 are replaced;")
    assert "`gitleaks-eval accept`" in many.fails


def test_rules_that_are_absent_count_and_what_an_entry_switches_off_counts_once() -> None:
    asked = subject(f"{EXTENDS}disabledRules = ['r6', 'r7']\n")
    [entry] = asked.entries
    off = [OffRule("r6", entry), OffRule("r7", entry)]
    assert judged(asked, firing(off=off)).fails == ""
    together = judged(asked, firing(off=off, replaced=lost("r0")))
    assert "1 are replaced, 2 are switched off" in together.fails
    assert together.sentence == ", 5 of 6 as the scanner's own"
    gone = judged(subject(FEW), firing(replaced=lost(*IDS, in_force=False), off=[OffRule(one, None) for one in IDS]))
    assert "8 are not in force" in gone.fails
    assert gone.replaced == []


def test_one_acceptance_is_for_all_rules_that_no_entry_replaces_and_for_no_more_of_them() -> None:
    asked, fired = subject(FEW), firing(replaced=lost(*IDS, in_force=False))
    assert list(acceptable(asked)) == ["rules of gitleaks"]
    [offer] = judged(asked, fired).offers
    assert (offer["entry"], offer["name"]) == ("rules of gitleaks", "my.toml:1")
    assert (offer["hides"]["rules"], offer["accepted"]) == (8, False)
    accepted = judged(asked, fired, {"rules of gitleaks": 8})
    assert (accepted.fails, accepted.lost) == ("", frozenset())
    assert accepted.sentence == ", 0 of 8 as the scanner's own, accepted"
    grown = judged(asked, fired, {"rules of gitleaks": 7})
    assert grown.fails
    assert grown.offers[0]["said"].endswith(", 7 are accepted")


def test_what_an_accepted_entry_replaces_is_not_lost() -> None:
    asked = subject(EXTENDS + "".join(f"[[rules]]\nid = '{name}'\nregex = 'junk'\n" for name in IDS))
    fired = firing(replaced=lost(*IDS))
    assert judged(asked, fired).fails
    assert judged(asked, fired).offers == ()
    overrides = [one for one in asked.entries if one.kind == OVERRIDE]
    assert standing_of(asked, fired, overrides, {}, ROOT).fails == ""


def test_a_build_that_states_a_known_version_fails_for_what_it_lacks_and_nothing_of_it_can_be_accepted() -> None:
    silent = judged(subject(""), firing(silent=["r0"]))
    assert silent.lacks == {"r0"}
    assert silent.never_fires("r0") == "r0: never fires, gitleaks 8.30.1 finds it"
    assert (silent.weak, silent.offers) == ((), ())
    absent = subject("", lacks=["r0", "r1"])
    assert is_asked(absent)
    assert judged(absent, firing()).fails == "gitleaks 8.30.1 finds 2 rules that this build does not: r0, r1"


def test_a_build_of_another_version_that_fires_less_is_weak_until_that_is_accepted() -> None:
    newer = subject("", version="8.31.0")
    weak = judged(newer, firing(silent=["r0", "r1"]))
    assert weak.weak == ("2 rules of gitleaks 8.30.1, the nearest known build, never fire with this one: r0, r1",)
    assert weak.fails == ""
    [offer] = weak.offers
    assert (offer["entry"], offer["hides"]["rules"]) == ("silent rules of gitleaks 8.31.0", 2)
    assert judged(newer, firing(silent=["r0", "r1"]), {"silent rules of gitleaks 8.31.0": 2}).weak == ()
    assert judged(newer, firing(silent=["r0", "r1"]), {"silent rules of gitleaks 8.31.0": 1}).weak
    assert judged(newer, firing()).weak == ()
