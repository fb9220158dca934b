"""What is said of a rule that was tried alone."""

from gitleaks_eval.engine.review.trying import NewFile


def test_of_many_lines_and_previews_three_are_shown() -> None:
    one = NewFile("a.env", 1, (4,), ("acme_********",))
    assert one.said == "a.env  1 place (line 4)  acme_********"
    many = NewFile("b.env", 9, (1, 2, 3, 4), ("a***", "b***", "c***", "d***"))
    assert many.said == "b.env  9 places (lines 1, 2, 3, …)  a***, b***, c***, …"
