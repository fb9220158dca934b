"""Tests that users write of their rules: what each line plants, and what its finds say of it.

The secrets are made from the patterns at run time. They stand in a private repository and nowhere else.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice

from gitleaks_eval.config.eval_file import FINDS, IGNORES, PLACEHOLDER, Beside, RuleTest, refuse
from gitleaks_eval.core.text import few
from gitleaks_eval.coverage.configuration.rules import Rule
from gitleaks_eval.coverage.result import FAILS, NOT_APPLICABLE, PASSES, Verdict
from gitleaks_eval.coverage.samples.forms import FORMS, NAME, Written, render
from gitleaks_eval.coverage.samples.paths import is_path, neutral_path, word
from gitleaks_eval.coverage.samples.repository import (
    fired_by_sample,
    found_by_sample,
    instead_text,
    is_same,
    reported_instead,
)
from gitleaks_eval.coverage.samples.samples import (
    Bench,
    NotSampledError,
    Sample,
    as_sample,
    makes,
    path_for,
    problems_of,
    secret_of,
)
from gitleaks_eval.coverage.samples.scanner import Findings
from gitleaks_eval.regex.analyse import entropy, matcher
from gitleaks_eval.regex.charsets import holds, size
from gitleaks_eval.regex.generate import Made, in_context, make
from gitleaks_eval.regex.parse import Chars, RegexError, parse_regex

# How people call a form that has a longer name.
SHORT = {"base64": "base64-line", "hex": "hex-encoded", "url": "url-encoded", "text": "raw"}
USUAL_FORM = "env"
ATTEMPTS = 24
NO_NEAR_MISS = "no value can be made that just misses the rule"


@dataclass(frozen=True, slots=True)
class Planted:
    """A test and what it plants, each sample with what people call it; `problem` says why there is nothing.

    `rule` is the one in force.
    """

    test: RuleTest
    samples: tuple[tuple[str, Sample], ...] = ()
    problem: str = ""
    rule: Rule | None = None


def check_tests(beside: Beside) -> None:
    """Refuse tests of which nothing can be planted.

    Raises:
        InputError: for the first of them, with its line and column.
    """
    for test in beside.tests:
        if unknown := next((form for form in test.forms if SHORT.get(form, form) not in FORMS), None):
            known = ", ".join(sorted({*FORMS, *SHORT}))
            refuse(beside.path, test.spot, f"`in`: {unknown[:40]!r} is no form; there are {known}")
        if test.at and not is_path(test.at):
            refuse(beside.path, test.spot, "`at`: no file of git can have this path")
        if test.pattern:
            try:
                made = in_context(make(parse_regex(test.pattern), "0"))
            except RegexError as error:
                refuse(beside.path, test.spot, f"`pattern`: {error}")
            else:
                if made is None:
                    refuse(beside.path, test.spot, "`pattern`: no value can be made in which its edges hold")


def planted_by(tests: Sequence[RuleTest], rules: Mapping[str, Rule], on: Bench) -> list[Planted]:
    """What each test plants, with the rules that are in force."""
    names = map(word, count(50_000))
    planted = []
    for test in tests:
        rule = rules.get(test.rule_id)
        if rule is None:
            planted.append(Planted(test, problem="the rule is not in force: it is switched off"))
            continue
        try:
            samples = tuple(_samples(test, rule, on, names))
        except NotSampledError as error:
            planted.append(Planted(test, problem=str(error)))
            continue
        planted.append(Planted(test, samples, "" if samples else NO_NEAR_MISS, rule))
    return planted


def judged(planted: Sequence[Planted], findings: Findings) -> list[Verdict]:
    """What the finds of the one scan say of each test."""
    samples = [sample for one in planted for _, sample in one.samples]
    found = iter(found_by_sample(samples, findings))
    fired = iter(fired_by_sample(samples, findings))
    instead = iter(reported_instead(samples, findings))
    verdicts = []
    for one in planted:
        count_of = len(one.samples)
        holding, anything = list(islice(found, count_of)), list(islice(fired, count_of))
        said = _instead(one, islice(instead, count_of))
        verdicts.append(_verdict(one, anything if one.test.kind == IGNORES else holding, said))
    return verdicts


def _instead(planted: Planted, reported: Iterable[set[str]]) -> str:
    """What the rule reports that is not the planted secret."""
    said = (
        instead_text(planted.rule, sample, secrets)
        for (_, sample), secrets in zip(planted.samples, reported, strict=True)
        if secrets and planted.rule
    )
    return next(said, "")


def _verdict(planted: Planted, found: Sequence[set[str]], reports: str = "") -> Verdict:
    test = planted.test
    if planted.problem:
        inapplicable = test.kind == IGNORES and test.is_near_miss
        return Verdict(NOT_APPLICABLE if inapplicable else FAILS, planted.problem)
    fires = [any(is_same(test.rule_id, other) for other in ids) for ids in found]
    if test.kind == IGNORES:
        firing = [any(ids) if test.by_any else own for ids, own in zip(found, fires, strict=True)]
        where = [name for (name, _), fired in zip(planted.samples, firing, strict=True) if fired]
        ids = sorted({other for ids, fired in zip(found, firing, strict=True) if fired for other in ids})
        return Verdict(FAILS, f"{few(ids)} fires on {few(where)}") if where else Verdict(PASSES)
    silent = [name for (name, _), fired in zip(planted.samples, fires, strict=True) if not fired]
    if test.kind == FINDS:
        others = sorted({other for ids, own in zip(found, fires, strict=True) if not own for other in ids})
        instead = f"; {reports}" if reports else f"; {few(others)} fires there" if others else ""
        return Verdict(FAILS, f"not found in {few(silent)}{instead}") if silent else Verdict(PASSES)
    if silent:
        return Verdict(PASSES, f"still to do: not found in {few(silent)}")
    return Verdict(FAILS, "it is found now: move the line to `finds`")


def _samples(test: RuleTest, rule: Rule, on: Bench, names: Iterator[str]) -> Iterator[tuple[str, Sample]]:
    clear = on.clear_for(rule)

    def path() -> str:
        return test.at or path_for(rule, next(names), clear)

    if test.kind == IGNORES and not test.is_near_miss:
        yield "the text", Sample(rule.id, path(), f"{test.text}\n", test.text, test.text)
    elif test.kind == IGNORES:
        for name, text, value in _near_misses(rule, on):
            yield name, Sample(rule.id, path(), text, value, value)
    elif test.text:
        value = _value(test, rule, on, path())
        yield "the text", Sample(rule.id, path(), test.text.replace(PLACEHOLDER, value) + "\n", value, value)
    else:
        for form in test.forms or (USUAL_FORM,):
            value = _value(test, rule, on, at := path())
            text = render(SHORT.get(form, form), Written(NAME, value, value)).decode()
            yield form, Sample(rule.id, at, text, value, value)


def _value(test: RuleTest, rule: Rule, on: Bench, path: str) -> str:
    """A value of the pattern that nothing foreseen stops, the first one if there is none."""
    clear = on.clear_for(rule)
    tree = parse_regex(test.pattern)
    values = []
    for attempt in range(ATTEMPTS):
        placed = in_context(make(tree, f"{on.seed}\0{test.name}\0{attempt}", max(0, attempt - ATTEMPTS // 2)))
        if placed is None:
            continue
        text = placed[0].text
        values.append(text)
        if not problems_of(Sample(rule.id, path, f"{text}\n", text, text), rule, clear):
            return text
    if not values:
        raise NotSampledError("no value of the pattern can be made")
    return values[0]


def _near_misses(rule: Rule, on: Bench) -> Iterator[tuple[str, str, str]]:
    """Texts that just miss a rule: what is wrong with each, the text, and the value in it."""
    asked = matcher(rule.regex) if rule.regex else None
    made = next((one for one in makes(rule, on.seed) if as_sample(rule, one, "x")), None) if asked else None
    sample = as_sample(rule, made, "x") if made else None
    if asked is None or made is None or sample is None:
        return
    start, end = made.group(secret_of(rule))
    # What a value of a higher entropy would be is found.
    for name, changed in (
        ("one character short", made.text[: end - 1] + made.text[end:]),
        ("wrong prefix", _other(made.text[:1]) + made.text[1:]),
    ):
        text = sample.text.replace(made.text, changed)
        if changed.strip() and not asked(text):
            yield name, text, changed.strip()
    dull = _dull(made, start, end)
    if 0 < entropy(dull[start:end]) <= rule.entropy or (rule.entropy and len(set(dull[start:end])) == 1):
        yield "low entropy", sample.text.replace(made.text, dull), dull


def _other(character: str) -> str:
    return "q" if character.lower() != "q" else "z"


def _dull(made: Made, start: int, end: int) -> str:
    """The same text with one character wherever it may stand in the secret."""
    usual = next((one for one in "a0A" if sum(holds(slot.ranges, one) for slot in made.slots[start:end]) > 1), "")
    if not usual:
        return made.text
    dulled = [
        usual if start <= place < end and holds(slot.ranges, usual) and not _is_fixed(slot) else now
        for place, (slot, now) in enumerate(zip(made.slots, made.text, strict=True))
    ]
    return replace(made, text="".join(dulled)).text


def _is_fixed(slot: Chars) -> bool:
    return size(slot.ranges) == 1


def neutral_file(name: str, on: Bench) -> str:
    """A path for a whole file that is planted."""
    return neutral_path(name, on.is_free)
