"""What all kinds of corpora share: their option, and how a truth becomes what is expected and what is tolerated."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gitleaks_eval.scenarios.places import Place
from gitleaks_eval.scenarios.scenario import UNBOUNDED, Corpus, Expected, ExpectedFinding, Thresholds

OPTION = "--gitleaks-corpus"
# What may be a secret: between two quotes, or behind what assigns it.
_VALUE = re.compile(r"""(?:(?<=")[^"]+(?=")|(?<=')[^']+(?=')|(?<=`)[^`]+(?=`)|(?<=[=:])[^"'`]+)""")


def expected_of(places: list[Place]) -> Expected:
    """Return what places say: which findings, and nothing of values, commits, severities or times."""
    rules = Counter(rule for _, _, rule in places)
    files = sorted({path for path, _, _ in places})
    return Expected(
        total_secrets=len(places),
        unique_secrets=None,
        secrets_in_head=None,
        secrets_in_history=None,
        files_with_secrets=len(files),
        commits_with_secrets=None,
        rule_ids=tuple(sorted(rules)),
        files_with_secrets_list=tuple(files),
        secrets_by_rule=dict(sorted(rules.items())),
        findings=tuple(ExpectedFinding(path, rule, line) for path, line, rule in places),
        thresholds=Thresholds(UNBOUNDED, UNBOUNDED, UNBOUNDED, UNBOUNDED),
    )


def in_one_commit(expected: Expected) -> Expected:
    """Return the same truth for a corpus that becomes one commit."""
    return replace(
        expected,
        secrets_in_head=expected.total_secrets,
        secrets_in_history=0,
        commits_with_secrets=min(1, expected.total_secrets),
    )


def without_tolerated(findings: Sequence[dict[str, Any]], corpus: Corpus) -> list[dict[str, Any]]:
    """The findings of a scanner's report but those that the labels call neither right nor wrong (`todoruleid`)."""
    return [
        finding
        for finding in findings
        if (place := (finding["File"], finding["StartLine"], finding["RuleID"])) not in corpus.tolerated
        and (finding["Commit"], *place) not in corpus.left_out
    ]


def words_of(line: bytes) -> set[str]:
    """Return what may be the secret of a labelled line: what stands in quotes or is assigned."""
    texts = _VALUE.findall(line.decode("utf-8", "replace"))
    return {found for text in texts for found in (text.strip(), *text.split())}
