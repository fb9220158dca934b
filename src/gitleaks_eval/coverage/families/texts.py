"""Texts at paths, scanned with the configuration under test and with the scanner's own; what families share."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gitleaks_eval.config.chain import Configuration
from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig
from gitleaks_eval.coverage.configuration.entries import Entry
from gitleaks_eval.coverage.configuration.layers import layers_of
from gitleaks_eval.coverage.samples.group_testing import hidden_alone
from gitleaks_eval.coverage.samples.hidden_values import entries_about, ready_for
from gitleaks_eval.coverage.samples.repository import reported_by_sample
from gitleaks_eval.coverage.samples.samples import Sample
from gitleaks_eval.coverage.samples.scanner import Findings, SampleScanner
from gitleaks_eval.coverage.samples.silencing import kept_only

Reading = Callable[[Sequence[Sample], Findings], list[set[str]]]


@dataclass(frozen=True, slots=True)
class Asked:
    """By probe, the rules that report each of its texts: with the configuration under test, and with the scanner's own.

    `hidden_by` has the entries that each hide all texts of a probe which the scanner's own configuration reports.
    """

    found: Mapping[str, Sequence[set[str]]]
    bare: Mapping[str, Sequence[set[str]]]
    hidden_by: Mapping[str, tuple[Entry, ...]]


def ask(
    subject: EffectiveConfig,
    sample_scanner: SampleScanner,
    samples: Sequence[Sample],
    reading: Reading = reported_by_sample,
) -> Asked:
    """Plant the texts of probes in one repository, and scan it with both configurations.

    Args:
        subject: the configuration under test.
        sample_scanner: what builds and scans.
        samples: the texts; `rule_id` is the probe.
        reading: what the findings say of each text.

    Raises:
        EvaluationError: when a scan fails.
    """
    repository = sample_scanner.built(samples)

    def by_probe(findings: Findings) -> dict[str, list[set[str]]]:
        found: defaultdict[str, list[set[str]]] = defaultdict(list)
        for sample, ids in zip(samples, reading(samples, findings), strict=True):
            found[sample.rule_id].append(ids)
        return found

    found = by_probe(sample_scanner.under_test(repository))
    if not subject.configuration.chain:
        return Asked(found, found, {})
    bare = by_probe(sample_scanner.changed(repository, layers_of(Configuration((), ""), subject.builtin)))
    lost = {probe: set[str]().union(*ids) for probe, ids in bare.items() if any(ids) and not any(found[probe])}
    if not lost or not subject.entries:
        return Asked(found, bare, {})
    ready = ready_for(subject.entries)
    about = {
        probe: {
            entry
            for sample in samples
            if sample.rule_id == probe
            for rule_id in rule_ids
            for entry in entries_about(ready, sample.found, rule_id)
        }
        for probe, rule_ids in lost.items()
    }

    def hidden_with(kept: Sequence[Entry]) -> set[str]:
        layers = kept_only(subject, subject.entries, kept)
        # An entry of paths may hide the file that vouches for a scan, too.
        seen = by_probe(sample_scanner.changed(repository, layers, canary_may_hide=bool(kept)))
        return {probe for probe in lost if not any(seen[probe])}

    hidden_by = hidden_alone(subject.entries, about, hidden_with)
    return Asked(found, bare, {probe: tuple(entries) for probe, entries in hidden_by.items()})
