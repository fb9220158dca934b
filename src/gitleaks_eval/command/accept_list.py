"""`gitleaks-eval accept` with many repositories: what differs in them that nobody has approved is approved."""

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence

from gitleaks_eval.command.asking import say, told
from gitleaks_eval.command.line import INTERRUPTED
from gitleaks_eval.command.list_run import (
    ALLOWED,
    count_all,
    list_settings,
    listed_in,
    refuse_others,
    root_of,
    where,
)
from gitleaks_eval.config.eval_file_edit import Line
from gitleaks_eval.engine.acceptance.accepting import accept_lines, asked_at_terminal, refuse_ci
from gitleaks_eval.engine.fleet.run import Counted, laid_out
from gitleaks_eval.engine.session.approvals import DIFFERENCES, MASKED_RULE, group_item, is_masked
from gitleaks_eval.reports.comparison.real_differences import group_text
from gitleaks_eval.reports.fleet.repository_rows import Spool

NAME = "accept"


def run(options: argparse.Namespace, foreign: Sequence[str]) -> int:
    """Approve groups of differences: 0 when it is written or there is nothing to write, 1 when it was declined.

    What the store knows is not compared again. What entries of a configuration hide is not asked here.
    """
    return told(NAME, lambda: _accepted(options, foreign))


def _accepted(options: argparse.Namespace, foreign: Sequence[str]) -> int:
    refuse_others(options, foreign, (ALLOWED - {"fail_on"}) | {"why", "yes"})
    refuse_ci()
    asked = asked_at_terminal(options.gitleaks_why or "", asks=not options.gitleaks_yes)
    place = where(options)
    settings = list_settings(root_of(options))
    listed = listed_in(settings)
    with laid_out(settings, listed, say) as laid, tempfile.TemporaryFile(dir=laid.folder) as file:
        counted = Counted(laid.question, Spool(file))
        if not count_all(laid, listed.listed, place, counted):
            return INTERRUPTED
        lines = list(_to_approve(counted, asked.said()))
    return accept_lines(lines, settings.root, asked)


def _to_approve(counted: Counted, said: Mapping[str, str]) -> Iterator[Line]:
    """Yield what nobody has approved, as lines; each is shown, and so is what could not be compared."""
    for judged in counted.judged():
        tally, identities = judged.tally, counted.question.identities
        title = f"{tally.candidate} against {tally.baseline}"
        if tally.unfinished:
            say(f"{title}: {len(tally.unfinished)} of {tally.total} repositories could not be compared")
        pinned = {"baseline": identities[tally.baseline], "candidate": identities[tally.candidate]}
        for group in judged.groups:
            if group in judged.approved:
                continue
            if is_masked(group):
                say(f"{title}: {group_text(group)}: {MASKED_RULE}")
            else:
                say(f"{title}: {group_text(group)}")
                yield Line(DIFFERENCES, group_item(group, pinned, said))
