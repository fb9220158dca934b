"""The file beside a configuration: what is read, where what is wrong stands, and what an acceptance leaves alone."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from gitleaks_eval.config.chain import ConfigFile, Configuration
from gitleaks_eval.config.eval_file import Approval, Upgrade, files_beside
from gitleaks_eval.config.eval_file_edit import Line, Offer, with_acceptances
from gitleaks_eval.core.errors import InputError

NAME = ".gitleaks-eval.yaml"
ITEM = "{ entry: a, hides: { places: 0, rules: 0 }, why: b, since: 2026-01-01 }"
OFFER = Offer("it's ^x/", {"places": 1, "rules": 2, "path": 1}, 2, "gitleaks 8.30.1", "known: since #1", "2026-11-22")


def beside(folder: Path, text: str, config: str = ".gitleaks.toml", name: str = NAME) -> Configuration:
    (folder / name).write_text(text, encoding="utf-8")
    return Configuration((ConfigFile(folder / config, b"", extends_default=True),), "test")


def accepted(text: str) -> list[dict[str, object]]:
    items: list[dict[str, object]] = yaml.load(text, Loader=yaml.BaseLoader)["accept"]  # noqa: S506 - plain texts
    return items


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# mine\n",
        "rules: {}",
        "accept: []   # none yet\n",
        "accept:\n",
        f"accept:\n- {ITEM}  # mine\n# after\nrules: {{}}\n",
        "accept:\n    - entry: a\n      hides: {places: 0, rules: 0}\n      why: b\n      since: 2026-01-01\n# mine\n",
        f"# mine\r\naccept:\r\n  - {ITEM}\r\n",
    ],
)
def test_a_line_is_added_and_what_is_there_stays(text: str) -> None:
    changed = with_acceptances(text, [OFFER])
    assert accepted(changed)[-1] == {
        "entry": OFFER.entry,
        "hides": {"places": "1", "rules": "2", "path": "1", "probes": "2", "scanner": "gitleaks 8.30.1"},
        "why": OFFER.why,
        "since": OFFER.since,
    }
    assert [line for line in text.splitlines() if "mine" in line and line not in changed] == []
    assert ("\r\n" in text) == ("\r\n" in changed)
    again = with_acceptances(
        changed, [replace(OFFER, hides={"places": 7, "rules": 0, "git": 7}, why="other", since="2027-01-01")]
    )
    assert len(accepted(again)) == len(accepted(changed))
    assert accepted(again)[-1]["hides"] == {
        "places": "7",
        "rules": "0",
        "git": "7",
        "probes": "2",
        "scanner": "gitleaks 8.30.1",
    }


@pytest.mark.parametrize("hides", ["{ places: 0, rules: 0 }", "\n      places: 0\n      rules: 0"])
def test_an_acceptance_of_the_old_form_is_read_and_brought_up_to_date(tmp_path: Path, hides: str) -> None:
    text = f'accept:\n  - entry: "{OFFER.entry}"\n    hides: {hides}\n    why: b  # mine\n    since: 2026-01-01\n'
    (found,) = files_beside(beside(tmp_path, text))
    assert [(one.hides, one.probes, one.scanner) for one in found.accepts] == [((("places", 0), ("rules", 0)), 1, "")]
    changed = with_acceptances(text, [OFFER])
    assert "# mine" in changed
    (found,) = files_beside(beside(tmp_path, changed))
    assert [(dict(one.hides), one.probes, one.scanner) for one in found.accepts] == [
        (OFFER.hides, OFFER.probes, OFFER.scanner)
    ]


def test_a_list_in_one_line_is_refused_with_the_line_to_add() -> None:
    text = f"accept: [{ITEM}]\n"
    with pytest.raises(InputError, match="add by hand") as error:
        with_acceptances(text, [OFFER])
    assert OFFER.as_line() in str(error.value).replace("\\\\", "\\")


@pytest.mark.parametrize(
    ("config", "name"),
    [("betterleaks.toml", "betterleaks-eval.yaml"), (".betterleaks.toml", ".betterleaks-eval.yaml"), ("my.toml", NAME)],
)
def test_the_file_has_the_name_that_belongs_to_the_configuration(tmp_path: Path, config: str, name: str) -> None:
    [found] = files_beside(beside(tmp_path, "rules: {}\n", config, name))
    assert (found.path, found.layers) == (tmp_path / name, (0,))


def test_a_configuration_that_is_no_file_has_nothing_beside_it() -> None:
    configuration = Configuration((ConfigFile(Path("GITLEAKS_CONFIG_TOML"), b"", extends_default=True),), "test")
    assert files_beside(configuration) == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("accpt: []\n", ":1:1: the key 'accpt' is not known; there are rules, accept"),
        ("accept:\n  - { entry: a, why: b, since: 2026-01-01 }\n", ":2:5: 'hides' is a required property"),
        ("accept:\n  - { entry: a, hides: { places: -1, rules: 0 }, why: b, since: 2026-01-01 }\n", ":2:"),
        ("accept:\n  - { entry: a, hides: { places: 1, rules: 0 }, why: b, since: soon }\n", ":2:"),
        ("a: &a [1]\nb: *a\n", "is not known"),
        ("- 1\n", ":1:1: "),
        ("{" * 200, "more than 100"),
        ("rules: !!python/name:os.system {}\n", "tag"),
    ],
)
def test_what_is_wrong_has_a_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        files_beside(beside(tmp_path, text))
    assert NAME in str(error.value)
    assert said in str(error.value)


PINNED = {"baseline": f"gitleaks 1 sha256:{'0' * 32}", "candidate": f"gitleaks 2 sha256:{'1' * 32}"}
SAID = {"why": "it's known: [x]", "since": "2026-11-22"}
DIFFERS = {"kind": "lost", "rule": "a", "cause": "hidden by x paths[0] ((?i)\\.png$)", "repositories": ["shop"]}
LINES = [
    Line("differences", {**DIFFERS, **PINNED, **SAID}),
    Line("differences", {**DIFFERS, "cause": None, "findings": 3, **PINNED, **SAID}),
    Line("upgrades", {"rules": ["a"], "places": ["path:x, y", "git:note"], **PINNED, **SAID}),
]


@pytest.mark.parametrize(
    "text", ["", f"accept:\n  - {ITEM}\n", "differences: []\n", f"# mine\nupgrades:\nrules: {{}}\naccept:\n- {ITEM}"]
)
def test_what_is_accepted_of_comparisons_is_written_and_read_again(tmp_path: Path, text: str) -> None:
    changed = with_acceptances(text, [OFFER], LINES)
    (read,) = files_beside(beside(tmp_path, changed))
    known, unknown = read.approvals
    pinned = (PINNED["baseline"], PINNED["candidate"])
    assert known == Approval("a", str(DIFFERS["cause"]), ("shop",), SAID["why"], *pinned, kind="lost")
    assert (unknown.cause, unknown.findings) == (None, 3)
    assert read.upgrades == (Upgrade(*pinned, ("a",), ("path:x, y", "git:note"), SAID["why"]),)
    assert read.accepts[-1].entry == OFFER.entry
    # A line is added to what is there, and nothing else is written.
    (again,) = files_beside(beside(tmp_path, with_acceptances(changed, [], LINES[:1])))
    assert len(again.approvals) == 3
    assert (len(again.accepts), again.upgrades) == (len(read.accepts), read.upgrades)


@pytest.mark.parametrize(
    ("key", "item", "said"),
    [
        ("differences", {**DIFFERS, "cause": None, **PINNED, **SAID}, "say how many `findings` are approved"),
        ("differences", {**DIFFERS, **PINNED, **SAID, "rules": "a"}, "the key 'rules' is not known"),
        ("differences", {**DIFFERS, **SAID}, "'baseline'"),
        ("upgrades", {"rules": ["a"], **PINNED, "candidate": "any", **SAID}, "'any'"),
    ],
)
def test_an_approval_that_is_pinned_to_nothing_or_of_no_known_cause_is_refused(
    tmp_path: Path, key: str, item: dict[str, object], said: str
) -> None:
    text = f"{key}:\n  {Line(key, item).as_line()}\n"
    with pytest.raises(InputError, match=r"gitleaks-eval\.yaml:2:") as error:
        files_beside(beside(tmp_path, text))
    assert said in str(error.value)


HOSTILE = {
    "depth": "rules: " + "[" * 5_000,
    "size": "# " + "x" * (10 << 20),
    "no text": "accept: \0",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_is_refused_at_once_and_by_name(tmp_path: Path, text: str) -> None:
    started = time.process_time()
    with pytest.raises(InputError) as error:
        files_beside(beside(tmp_path, text))
    assert NAME in str(error.value)
    assert len(str(error.value)) < 1_000
    assert time.process_time() - started < 5


def test_tests_of_a_rule_are_read_in_their_order_and_each_as_what_it_asks(tmp_path: Path) -> None:
    lines = ["rules:", "  a:", "    finds:", "      - { pattern: x }", "    ignores:", "      - { text: y }"]
    text = "\n".join([*lines, "      - near-miss", "      - { near-miss: true, why: z }", ""])
    [found] = files_beside(beside(tmp_path, text))
    assert [(one.kind, one.number, one.is_near_miss) for one in found.tests] == [
        ("finds", 1, False),
        ("ignores", 1, False),
        ("ignores", 2, True),
        ("ignores", 3, True),
    ]
    assert [one.spot.line for one in found.tests] == [4, 6, 7, 8]
