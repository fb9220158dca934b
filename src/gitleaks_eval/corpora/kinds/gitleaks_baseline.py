"""A report of Gitleaks that somebody has accepted (`--baseline-path`): nothing in it is to be reported again."""

from pathlib import Path

from gitleaks_eval.corpora.kind import CorpusKind
from gitleaks_eval.corpora.kinds.report import report_findings
from gitleaks_eval.corpora.labels import FALSE, Label, beside, labelled_corpus
from gitleaks_eval.scenarios.places import Window
from gitleaks_eval.scenarios.scenario import Corpus, Expected

NAME = "gitleaks-baseline"


def gitleaks_baseline(path: Path) -> tuple[Corpus, Expected]:
    """Read a report: each finding is a decoy, at its file, line and rule, in whichever commit.

    Raises:
        InputError: when it is no JSON report of Gitleaks.
    """
    labels = [
        Label(
            Window(finding["File"], finding["StartLine"], finding["StartLine"], finding["RuleID"]),
            FALSE,
            f"{path.name}: entry {index}",
        )
        for index, finding in enumerate(report_findings(path))
    ]
    return labelled_corpus(NAME, beside(path), labels, about_history=True)


KIND = CorpusKind(
    NAME, "FILE.json in the repository that it is about", "what must be found: it says what must not", gitleaks_baseline
)
