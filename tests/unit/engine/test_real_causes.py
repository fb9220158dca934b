"""What two findings say themselves of why they differ."""

from gitleaks_eval.engine.real.causes import stated
from gitleaks_eval.scoring.real_differences import LOST, RELABELLED, SEVERITY_CHANGED, Change, RealFinding

NAMES = ("8.18.4", "8.30.1")
ONE = RealFinding("c1", "a.env", "a", 3, "github-pat", "v1", "HIGH", in_head=True)


def test_a_severity_differs_because_one_of_two_is_taken_to_be_in_head() -> None:
    history = ONE._replace(severity="LOW", in_head=False)
    said = "the severity policy: in HEAD with {}, in history alone with {}"
    assert stated(Change(SEVERITY_CHANGED, ONE, history), NAMES) == said.format(*NAMES)
    assert stated(Change(SEVERITY_CHANGED, history, ONE), NAMES) == said.format(*reversed(NAMES))


def test_what_findings_do_not_say_is_not_made_up() -> None:
    assert not stated(Change(SEVERITY_CHANGED, ONE, ONE._replace(severity="LOW")), NAMES)
    assert not stated(Change(RELABELLED, ONE, ONE._replace(rule_id="another")), NAMES)
    assert not stated(Change(LOST, ONE, None), NAMES)
