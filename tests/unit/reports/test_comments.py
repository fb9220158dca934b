"""Comments and annotations: what a hostile name does to them, and which acceptances are news."""

from dataclasses import replace

import pytest
from evaluations import A, evaluated, matched

from gitleaks_eval.reports.comparison.compared import Compared
from gitleaks_eval.reports.pull_request.annotations import _annotation
from gitleaks_eval.reports.pull_request.comment import BYTES_AT_MOST, MARK, comparison_comment
from gitleaks_eval.reports.run.configuration_problems import ConfigurationProblem, Spot
from gitleaks_eval.scoring.comparison import compare
from gitleaks_eval.scoring.surveyed import Hiding, Surveyed

HOSTILE = "a,b:c%0A::error::x\n::set-output name=y::z\x1b[31m\u202e@octocat ##[error]<b>"
RULES, PLACES = {"jwt": True}, {"path:a.py": True}


def test_what_a_name_holds_ends_no_annotation_and_begins_none() -> None:
    line = _annotation(ConfigurationProblem("CL-1", "error", HOSTILE, Spot(HOSTILE, 3)))
    assert line.isprintable()
    assert line.startswith("::error file=a%2Cb%3Ac%250A%3A%3Aerror%3A%3Ax%0A")
    assert ",line=3,title=gitleaks-eval%3A CL-1::a,b:c%250A::error::x%0A" in line
    assert "##[" not in line


def test_an_annotation_of_a_file_outside_the_repository_names_no_file() -> None:
    line = _annotation(ConfigurationProblem("CL-1", "error", "x", Spot("/etc/gitleaks.toml", 3)))
    assert line == "::error title=gitleaks-eval%3A CL-1::x"


def comment(before: list[Hiding], after: list[Hiding]) -> str:
    sides = [
        replace(evaluated(name, {"one": matched([], [])}), surveyed=Surveyed(RULES, PLACES, entries))
        for name, entries in (("base", before), ("head", after))
    ]
    return comparison_comment(Compared(sides, [compare(sides[0], sides[1])])).decode()


def entry(status: str, places: int = 1, text: str = "^a/", line: int = 4) -> Hiding:
    return Hiding("path", text, f"my.toml:{line}", 1, places, status)


@pytest.mark.parametrize(
    ("before", "after", "is_news"),
    [
        ([], [entry("accepted")], True),
        ([entry("live")], [entry("accepted")], True),
        ([entry("accepted", 1)], [entry("accepted", 2)], True),
        ([entry("accepted", text="^b/")], [entry("accepted")], True),
        ([entry("accepted")], [entry("accepted", line=9)], False),
        ([entry("accepted", 2)], [entry("accepted", 1)], False),
    ],
)
def test_an_acceptance_is_news_unless_as_much_of_the_same_entry_was_accepted(
    before: list[Hiding], after: list[Hiding], *, is_news: bool
) -> None:
    text = comment(before, after)
    assert text.startswith(f"{MARK}\n## ")
    assert ("### New acceptances" in text) == is_news
    assert ("As before: 0 entries" in text) == is_news
    if is_news:
        assert text.index("### ") == text.index("### New acceptances")


def test_what_is_not_compared_is_said() -> None:
    sides = [evaluated(name, {"one": matched([], [])}) for name in ("base", "head")]
    text = comparison_comment(Compared(sides, [compare(sides[0], sides[1])])).decode()
    assert "Entries, rules and places are not compared" in text
    assert "As before" not in text


def test_the_worst_verdict_stands_first_of_many() -> None:
    sides = [evaluated(name, {"one": matched([A], [A])}) for name in ("base", "same")]
    sides.append(evaluated("worse", {"one": matched([A], [])}))
    text = comparison_comment(Compared(sides, [compare(sides[0], one) for one in sides[1:]])).decode()
    assert text.index("## REGRESSION: worse against base") < text.index("## SAFE: same against base")


@pytest.mark.slow
def test_a_comment_is_short_whatever_the_names_and_how_many() -> None:
    before = [entry("live", text=f"{HOSTILE}{number}{'x' * 5_000}") for number in range(500)]
    sides = [
        replace(
            evaluated(f"{name}{'y' * 3_000}", {"one": matched([], [])}),
            surveyed=Surveyed(RULES, PLACES, entries),
        )
        for name, entries in [("base", before), *[(f"head{number}", []) for number in range(60)]]
    ]
    text = comparison_comment(Compared(sides, [compare(sides[0], one) for one in sides[1:]]))
    assert len(text) <= BYTES_AT_MOST
    assert text.endswith(b"More is in report.html.\n")
    shown = text.decode()
    for bad in ("\x1b", "\u202e", " @octocat", "<b>", "\n::"):
        assert bad not in shown + comment(before, [])
    assert len(comment(before, [])) <= BYTES_AT_MOST
