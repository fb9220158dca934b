"""What people are shown around a finding that they label."""

from pathlib import Path

from gitleaks_eval.corpora.labels_file import LabelledFinding
from gitleaks_eval.engine.review.recording import Looked
from gitleaks_eval.engine.review.reviewing import Context
from gitleaks_eval.scenarios.secrets import MASK

PHRASE = "correct-horse-battery"


def test_a_value_that_nobody_reports_any_more_is_masked_on_its_line_and_on_those_around_it() -> None:
    finding = LabelledFinding(1, "a.sh", 2, (1, 2), "phrase", "1" * 40, 1)
    context = Context(Looked(Path(), finding.commit, frozenset(), (), (), {}), {}, 1.0)
    lines = context._lines(finding, "", f"short words\nlogin={PHRASE}\nagain {PHRASE} here\n".encode())
    assert [one.text for one in lines] == ["short words", MASK, f"again {MASK} here", ""]
    assert [one.number for one in lines if one.is_reported] == [2]
