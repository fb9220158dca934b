"""Writes in which forms the built-in rules fire: `python -m gitleaks_eval.engine.forms > docs/forms.md`."""

import sys

from gitleaks_eval.engine.run import evaluate
from gitleaks_eval.engine.settings import Settings
from gitleaks_eval.reports.forms import forms_table
from gitleaks_eval.scanners.build import PINNED_VERSION

if __name__ == "__main__":
    run = evaluate(Settings.of(version=PINNED_VERSION, config="builtin", only="forms"))
    title = f"# In which forms the rules of Gitleaks {run.scanner['version']} fire"
    made_by = "Made by `python -m gitleaks_eval.engine.forms > docs/forms.md`."
    if run.coverage is None or not run.coverage.forms:
        sys.exit(f"nothing is known of forms: {'; '.join(run.reasons)}")
    sys.stdout.write("\n".join([title, "", made_by, "", *forms_table(run.coverage.forms), ""]))
