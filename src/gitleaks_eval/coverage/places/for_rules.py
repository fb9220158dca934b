"""The usual places that entries of paths hide which are for certain rules: asked with secrets of these rules."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path

from gitleaks_eval.config.hiding import Entry as Hider
from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig
from gitleaks_eval.coverage.configuration.entries import Entry
from gitleaks_eval.coverage.configuration.rules import effective
from gitleaks_eval.coverage.places.hiding import Hidden
from gitleaks_eval.coverage.places.places import PATH, PROJECT, Place, usual_places
from gitleaks_eval.coverage.samples.group_testing import hidden_alone
from gitleaks_eval.coverage.samples.hidden_values import entries_about, ready_for
from gitleaks_eval.coverage.samples.repository import found_by_sample
from gitleaks_eval.coverage.samples.samples import Sample, bench, samples_or_reason
from gitleaks_eval.coverage.samples.scanner import SampleScanner
from gitleaks_eval.coverage.samples.silencing import kept_only
from gitleaks_eval.regex.analyse import matcher

# A usual place, and the rule whose sample stands there.
Item = tuple[Place, str]


def hidden_for_rules(subject: EffectiveConfig, sample_scanner: SampleScanner) -> Hidden:
    """Return what each of the user's entries of paths hides that is for certain rules; nothing where none is.

    Raises:
        EvaluationError: when a scan fails.
    """
    entries = [entry for entry in subject.entries if entry.rule_ids and entry.allowlist and entry.allowlist.paths]
    values = _samples(subject, {rule_id for entry in entries for rule_id in entry.rule_ids}) if entries else {}
    planted = {item: sample for entry in entries for item, sample in _at_places(entry, values)}
    if not planted:
        return Hidden({}, {}, is_whole=True)
    samples = list(planted.values())
    repository = sample_scanner.built(samples)

    def unseen(kept: Sequence[Entry]) -> set[Item]:
        findings = sample_scanner.changed(repository, kept_only(subject, subject.entries, kept))
        found = found_by_sample(samples, findings)
        return {item for item, ids in zip(planted, found, strict=True) if not ids}

    ready, never = ready_for(entries), unseen(())
    about = {
        item: entries_about(ready, sample.found, sample.rule_id)
        for item, sample in planted.items()
        if item not in never
    }
    by: dict[Hider, set[Place]] = {}
    for (place, _), hiding in hidden_alone(entries, about, unseen).items():
        for entry in hiding:
            hider = Hider(entry.file or Path(), entry.place, entry.layer, entry.address)
            by.setdefault(hider, set()).add(place)
    return Hidden({hider: frozenset(places) for hider, places in by.items()}, {}, is_whole=True)


def _samples(subject: EffectiveConfig, rule_ids: Collection[str]) -> dict[str, Sample]:
    """Return a sample of each of these rules that can stand in any file."""
    bare = effective(kept_only(subject, subject.entries, ()), subject.builtin, subject.dialect)
    on = bench(bare.rules, bare.allowlists, subject.seed)
    wanted = [rule for rule in bare.rules if rule.id in rule_ids and rule.regex and not rule.path]
    made = (samples_or_reason(rule, on, ["place"]) for rule in wanted)
    return {one[0].rule_id: one[0] for one in made if not isinstance(one, str) and not one[0].is_alone}


def _at_places(entry: Entry, samples: Mapping[str, Sample]) -> Iterator[tuple[Item, Sample]]:
    """Yield the usual places that an entry is about, each with a sample of one of its rules, in turn."""
    matchers = list(map(matcher, entry.allowlist.paths if entry.allowlist else ()))
    in_turn = cycle(samples[rule_id] for rule_id in entry.rule_ids if rule_id in samples)
    # What cannot be foreseen may be about any path.
    places = (
        place
        for place in usual_places()
        if place.family in {PATH, PROJECT} and any(not matches or matches(place.file) for matches in matchers)
    )
    for place, sample in zip(places, in_turn, strict=False):
        yield (place, sample.rule_id), replace(sample, path=place.file)
