"""The pairwise judge of a run that compares: its pairs, the values of both sides, and the verdicts."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.judges.pairwise.evidence import Compared as ComparedPair
from gitleaks_eval.judges.pairwise.panel import PAIRWISE, TEMPLATES, PairPanel, judge_pairs, unjudged
from gitleaks_eval.judges.panel.asking import left_after
from gitleaks_eval.judges.prompt import template_of
from gitleaks_eval.judges.settings import JudgeSettings
from gitleaks_eval.reports.comparison.compared import Compared
from gitleaks_eval.reports.run.values import Run, shown_name
from gitleaks_eval.scenarios.redaction import Values, values_of
from gitleaks_eval.scoring.comparison import Pair


def check_pairwise(settings: JudgeSettings) -> None:
    """Look whether the pairwise judge can be asked.

    Raises:
        InputError: when its prompt cannot be used.
    """
    template_of(PAIRWISE, TEMPLATES, settings.prompts)


@dataclass(frozen=True, slots=True)
class PairwiseJudge:
    """The pairwise judge as a run asks it."""

    settings: JudgeSettings

    def judged(self, session: Session, compared: Compared, runs: Mapping[str, Run]) -> Compared:
        """Return the comparison with what the judge says of each pair with the baseline; it decides nothing.

        `runs` are by the name of the candidate. What other judges of these runs have asked counts against the limits.
        """
        names = {shown_name(name, run): name for name, run in runs.items()}
        sides = {candidate.name: candidate for candidate in compared.candidates}
        pairs = [
            ComparedPair(pair, sides[pair.baseline], sides[pair.candidate], partial(compared.hidden_by, pair))
            for pair in compared.deciding
        ]

        def reported(pair: Pair) -> Values:
            """Return what both report; a saved report has no values, and shows what is masked."""
            benches = [session.workbench(names[name]) for name in (pair.baseline, pair.candidate) if name in names]
            return values_of(set[str]().union(*(bench.reported_values(session.subjects) for bench in benches)))

        bench = session.workbench()
        asked = [call for run in runs.values() if run.judged for call in run.judged.calls]
        panel = PairPanel(
            left_after(self.settings, asked), self.settings.trace_id or bench.run_id, bench.planted_values(), reported
        )
        try:
            verdicts, calls = judge_pairs(pairs, panel)
        except EvaluationError as error:
            verdicts, calls = unjudged(pairs, panel, error), []
        judged = {(of.pair.baseline, of.pair.candidate): verdict for of, verdict in zip(pairs, verdicts, strict=True)}
        return replace(compared, judged=judged, calls=(*asked, *calls) if self.settings.observability else ())
