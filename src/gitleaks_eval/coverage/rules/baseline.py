"""One configuration against another: whose samples are lost, and what one version obeys that the other ignores."""

from collections.abc import Collection, Iterable, Iterator
from itertools import count, islice

from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig
from gitleaks_eval.coverage.configuration.entries import DISABLED, PATH, Entry
from gitleaks_eval.coverage.configuration.layers import without
from gitleaks_eval.coverage.configuration.rules import Dialect, Rule
from gitleaks_eval.coverage.samples.paths import word
from gitleaks_eval.coverage.samples.repository import found_by_sample
from gitleaks_eval.coverage.samples.samples import Bench, Sample, bench, samples_or_reason
from gitleaks_eval.coverage.samples.scanner import Findings, SampleScanner

SAMPLES = 5


def silent_rules(
    baseline: EffectiveConfig,
    candidate: EffectiveConfig,
    fires: Collection[str],
    sample_scanners: tuple[SampleScanner, SampleScanner],
    accepted: Collection[Entry] = (),
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The rules of the baseline whose samples the candidate no longer finds, under whatever id.

    Of these the second are those that it finds without its accepted entries.

    Args:
        baseline: whose samples.
        candidate: to whom they are shown; they stand where none of its entries allows the path, if there is such a
            place: what is hidden by path is told of places and entries.
        fires: the rules that fire for the baseline.
        sample_scanners: ask the scanner of the baseline, and that of the candidate.
        accepted: entries of the candidate.

    Raises:
        EvaluationError: when a scan fails.
    """
    before, after = sample_scanners
    rules = [rule for rule in baseline.effective.rules if rule.id in fires]
    paths = [one.allowlist for one in candidate.entries if one.kind == PATH and one.allowlist and not one.rule_ids]
    on = bench(baseline.effective.rules, [*baseline.effective.allowlists, *paths], baseline.seed)
    names = map(word, count())
    first = list(_made(rules, on, names, 1, 0))
    lost = _unseen(first, after.under_test(after.built(first)))
    more = [rule for rule in rules if rule.id in lost]
    if not more:
        return (), ()
    # One sample may be a matter of luck; and only what the baseline finds can be lost.
    samples = [one for one in first if one.rule_id in lost] + list(_made(more, on, names, SAMPLES - 1, 1))
    known = before.under_test(before.built(samples))
    seen = [one for one, ids in zip(samples, found_by_sample(samples, known), strict=True) if ids]
    repository = after.built(samples)
    silent = _unseen(seen, after.under_test(repository))
    if not (silent and accepted):
        return tuple(sorted(silent)), ()
    relieved = without(candidate.layers, [entry.spot for entry in accepted])
    still = silent & _unseen(seen, after.changed(repository, relieved))
    return tuple(sorted(still)), tuple(sorted(silent - still))


def obeyed_since(configuration: EffectiveConfig, before: Dialect) -> list[Entry]:
    """The user's entries that the version of this subject obeys and another ignores.

    An allowlist that both obey, each in its own way (`condition`), is none.
    """
    theirs = [entry.spot for entry in configuration.entries_read_by(before)]
    return [
        entry
        for entry in configuration.entries
        if not any(layer == entry.layer and _is_within(address, entry.address) for layer, address in theirs)
    ]


def in_common(entries: Iterable[Entry], other: EffectiveConfig, dialect: Dialect) -> list[Entry]:
    """Those of the entries that stand in another configuration as well, read by this dialect."""
    there = {(one.kind, one.text) for one in other.entries_read_by(dialect)}
    return [entry for entry in entries if (entry.kind, entry.text) in there]


def entries_titled(entries: Collection[Entry]) -> str:
    """`disabledRules and 1 [[allowlists]]`: what people wrote, counted."""
    tables = {(entry.layer, _table(entry)) for entry in entries if entry.kind != DISABLED}
    parts = ["disabledRules"] * any(entry.kind == DISABLED for entry in entries)
    names = sorted(str(name) for _, (name, *_) in tables)
    parts += [f"{names.count(name)} {name}" for name in dict.fromkeys(names)]
    return " and ".join(parts)


def _table(entry: Entry) -> tuple[object, ...]:
    """The name of the table that an entry stands in, and which it is."""
    steps = [step for step in entry.address[:2] if isinstance(step, str)]
    in_rule = str(entry.address[0]).lower() == "rules"
    name = next((str(step) for step in entry.address[1:] if isinstance(step, str)), "") if in_rule else steps[0]
    return (f"[[rules.{name}]]" if in_rule else f"[[{name}]]", *entry.address[: 4 if in_rule else 2])


def _is_within(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    length = min(len(one), len(other))
    return one[:length] == other[:length]


def _made(rules: Iterable[Rule], on: Bench, names: Iterator[str], how_many: int, first: int) -> Iterator[Sample]:
    for rule in rules:
        made = samples_or_reason(rule, on, list(islice(names, how_many)), first)
        # What has no sample (here) was told so when its own rules were asked.
        yield from () if isinstance(made, str) else made


def _unseen(samples: Collection[Sample], findings: Findings) -> set[str]:
    """The rules none of whose samples is found."""
    listed = list(samples)
    found = {one.rule_id for one, ids in zip(listed, found_by_sample(listed, findings), strict=True) if ids}
    return {one.rule_id for one in listed} - found
