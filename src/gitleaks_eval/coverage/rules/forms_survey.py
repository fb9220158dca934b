"""In which forms each rule fires: a sample of it is written down in all of them, in one repository."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import count

from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig
from gitleaks_eval.coverage.samples.forms import FORMS, render, written
from gitleaks_eval.coverage.samples.paths import word
from gitleaks_eval.coverage.samples.repository import fired_by_sample, is_same
from gitleaks_eval.coverage.samples.samples import Sample, bench, path_for
from gitleaks_eval.coverage.samples.scanner import SampleScanner


def ask_forms(
    subject: EffectiveConfig, sample_scanner: SampleScanner, shown: Mapping[str, Sample]
) -> dict[str, dict[str, bool]]:
    """Ask the scanner in which forms each rule fires, with the configuration under test.

    Args:
        subject: whose rules.
        sample_scanner: what scans.
        shown: a sample of each rule that fires at all; others are not asked.

    Returns:
        By rule and form whether it fires under its own id or an alias. A form is left out where the rule wants a
        path of which there is only one.

    Raises:
        EvaluationError: when a scan fails: then nothing is known of any rule.
    """
    on = bench(subject.effective.rules, subject.effective.allowlists, subject.seed)
    names = map(word, count())
    asked: dict[str, tuple[str, Sample]] = {}
    for rule in subject.effective.rules:
        if sample := shown.get(rule.id):
            one, clear = written(sample.text, sample.match, sample.value), on.clear_for(rule)
            for form in FORMS:
                path = path_for(rule, next(names), clear)
                text = render(form, one).decode()
                asked.setdefault(path, (form, replace(sample, path=path, text=text)))
    samples = [sample for _, sample in asked.values()]
    if not samples:
        return {}
    found = fired_by_sample(samples, sample_scanner.under_test(sample_scanner.built(samples)))
    fires: dict[str, dict[str, bool]] = {}
    for (form, sample), ids in zip(asked.values(), found, strict=True):
        fires.setdefault(sample.rule_id, {})[form] = any(is_same(sample.rule_id, one) for one in ids)
    return fires
