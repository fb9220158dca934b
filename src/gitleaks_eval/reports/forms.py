"""In which forms each rule fires, as a table: rules by forms."""

from collections.abc import Iterator, Mapping

from gitleaks_eval.core.text import markdown
from gitleaks_eval.coverage.forms import FORMS
from gitleaks_eval.coverage.result import Coverage

_MARKS = {True: "x", False: "", None: "?"}


def forms_markdown(coverage: Coverage | None) -> Iterator[str]:
    """The section of the scorecard; nothing where forms were not asked for."""
    if coverage is None or not coverage.forms:
        return
    yield ""
    yield "## Rules by forms"
    yield ""
    yield from forms_table(coverage.forms)


def forms_table(forms: Mapping[str, Mapping[str, bool]]) -> Iterator[str]:
    """The table with a line of what it says; `forms` as `Coverage` has them."""
    yield "A sample of each rule that fires, written down in each form: `x` where it is found under the rule's own id,"
    yield "`?` where that could not be asked."
    yield ""
    yield f"| Rule | {' | '.join(FORMS)} |"
    yield f"|---|{'---|' * len(FORMS)}"
    counts = (str(sum(of_rule.get(form, False) for of_rule in forms.values())) for form in FORMS)
    yield f"| **{len(forms)} rules** | {' | '.join(counts)} |"
    for rule_id, of_rule in forms.items():
        yield f"| {markdown(rule_id)} | {' | '.join(_MARKS[of_rule.get(form)] for form in FORMS)} |"
