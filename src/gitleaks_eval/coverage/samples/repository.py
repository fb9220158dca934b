"""Samples become a repository, and the findings of a scan are given back to the samples."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from gitleaks_eval.analysis.matching import alias_of
from gitleaks_eval.core.text import printable
from gitleaks_eval.coverage.configuration.rules import Rule
from gitleaks_eval.coverage.samples.forms import ways_to_write
from gitleaks_eval.coverage.samples.samples import Sample
from gitleaks_eval.repositories.cache import BuiltRepository, build_into
from gitleaks_eval.scenarios.pattern import generate
from gitleaks_eval.scenarios.recipe import Commit, Part, Recipe

SOURCE = "the samples of rules"
SHOWN_AT_MOST = 60
# A shorter part of a secret may stand in it by chance.
PART_AT_LEAST = 16
CANARY_RULE = "gitleaks-eval-canary"
CANARY_PATH = "quartz/canary/aviary.txt"
# So many commits lie below the samples: a scanner may look at a short history as at no other.
EARLIER, LOG = 30, b"quartz/log"
CANARY_PATTERN = "cnry[0-9]{3}[a-km-z][2-9]{3}[b-df-hj-km-np-tv-z]{20}"


def canary_rule() -> dict[str, Any]:
    """A rule of ours that finds the canary and nothing else."""
    return {"id": CANARY_RULE, "description": "vouches for the scan", "regex": f"\\b({CANARY_PATTERN})\\b"}


def canary_value(seed: str) -> str:
    """What stands in the canary file."""
    return generate(CANARY_PATTERN, f"canary\0{seed}")


def build_samples(folder: Path, samples: Iterable[Sample], seed: str) -> BuiltRepository:
    """Build a repository with each sample at its path, and the canary.

    Raises:
        EvaluationError: when the folder cannot be written.
    """
    return build_into(folder, samples_recipe(samples, seed), SOURCE)


def samples_recipe(samples: Iterable[Sample], seed: str) -> Recipe:
    """The repository of samples; those of one path stand below each other.

    A file whose name others need for a folder stands in the history alone.
    """
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for sample in samples:
        texts[sample.path].append(sample.text)
    texts[CANARY_PATH] = [canary_value(seed) + "\n"]
    # As bytes: a text could hold what is taken for a placeholder.
    files = {path.encode(): (Part(data=_joined(parts).encode()),) for path, parts in texts.items()}
    folders = {above for path in texts for above in _folders(path)}
    early = {path: parts for path, parts in files.items() if path.decode() in folders}
    late = {path: parts for path, parts in files.items() if path not in early}
    before = [_commit({LOG: (Part(text=f"{number}\n"),)}) for number in range(EARLIER)]
    commits = [*before, _commit(early)] if early else before
    return Recipe({}, (*commits, replace(_commit(late), delete=tuple(early))))


def found_by_sample(samples: Sequence[Sample], findings: Iterable[Mapping[str, Any]]) -> list[set[str]]:
    """For each sample the ids of the rules that report a secret which holds the planted one."""
    return _by_sample(samples, findings, _holds)


def reported_by_sample(samples: Sequence[Sample], findings: Iterable[Mapping[str, Any]]) -> list[set[str]]:
    """For each sample the ids of the rules that report the planted secret, or a long part of it.

    Some rules of the scanner's own report a token by its prefix.
    """

    def is_of(sample: Sample, finding: Mapping[str, Any], is_alone: bool) -> bool:  # noqa: FBT001 - as `_is_of`
        return _holds(sample, finding, is_alone) or _cuts(sample, finding)

    return _by_sample(samples, findings, is_of)


def fired_by_sample(samples: Sequence[Sample], findings: Iterable[Mapping[str, Any]]) -> list[set[str]]:
    """For each sample the ids of the rules that report anything in it."""
    return _by_sample(samples, findings, _is_of)


def _by_sample(
    samples: Sequence[Sample],
    findings: Iterable[Mapping[str, Any]],
    is_of: Callable[[Sample, Mapping[str, Any], bool], bool],
) -> list[set[str]]:
    at_path: defaultdict[str, list[int]] = defaultdict(list)
    for index, sample in enumerate(samples):
        at_path[sample.path].append(index)
    found: list[set[str]] = [set() for _ in samples]
    for finding in findings:
        here = at_path.get(str(finding["File"]).replace("\\", "/"), [])
        for index in here:
            if is_of(samples[index], finding, len(here) == 1):
                found[index].add(str(finding["RuleID"]))
    return found


def reported_instead(samples: Sequence[Sample], findings: Iterable[Mapping[str, Any]]) -> list[set[str]]:
    """Return for each sample what its own rule reports as the secret where that does not hold the planted one."""
    by_path: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for finding in findings:
        by_path[str(finding["File"]).replace("\\", "/")].append(finding)
    instead = []
    for sample in samples:
        own = [one for one in by_path[sample.path] if is_same(sample.rule_id, str(one["RuleID"]))]
        is_found = not sample.value or any(_holds(sample, one, True) for one in own)
        instead.append(set() if is_found else {str(one["Secret"]) for one in own if one["Secret"]})
    return instead


def instead_text(rule: Rule, sample: Sample, secrets: Iterable[str]) -> str:
    """Return `reports acme_db_password, not its value`; only words that the regex spells out are shown."""
    fixed = [
        secret for secret in sorted(secrets) if secret.lower() in rule.regex.lower() and secret not in sample.value
    ]
    return f"reports {printable(fixed[0][:SHOWN_AT_MOST]) if fixed else 'something else'}, not its value"


def is_same(rule_id: str, other: str) -> bool:
    """Whether two ids name the same rule, one of them perhaps as it was called in another version."""
    return rule_id == other or alias_of(rule_id, other)


def sees_canary(findings: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the rule of ours found the file of ours."""
    return any(finding["RuleID"] == CANARY_RULE and finding["File"] == CANARY_PATH for finding in findings)


def _holds(sample: Sample, finding: Mapping[str, Any], _is_alone: bool) -> bool:  # noqa: FBT001 - as `_is_of`
    """Whether what is reported as the secret holds the planted one; `--redact` hides no more than that."""
    secret = str(finding["Secret"])
    if not sample.value:
        return not secret
    return sample.value in secret or any(one in secret for one in ways_to_write(sample.value))


def _cuts(sample: Sample, finding: Mapping[str, Any]) -> bool:
    secret = str(finding["Secret"])
    return len(secret) >= PART_AT_LEAST and secret in sample.value


def _is_of(sample: Sample, finding: Mapping[str, Any], is_alone: bool) -> bool:  # noqa: FBT001 - one of two
    secret, match = str(finding["Secret"]), str(finding["Match"])
    if is_alone or not sample.value:
        return is_alone or not secret
    return bool(secret) and (sample.value in match or secret in sample.match or sample.value in secret)


def _joined(parts: Sequence[str]) -> str:
    return "".join(
        part if part.endswith("\n") or index == len(parts) - 1 else part + "\n" for index, part in enumerate(parts)
    )


def _commit(write: Mapping[bytes, tuple[Part, ...]]) -> Commit:
    return Commit(
        message="Add settings",
        author="Sample <sample@example.com>",
        date=datetime(2026, 1, 1, tzinfo=timezone.utc),
        write=write,
    )


def _folders(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]
