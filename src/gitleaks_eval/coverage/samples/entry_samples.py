"""The witness of an entry: samples of rules with a path or a value that the entry is about."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, islice

from gitleaks_eval.coverage.configuration.entries import ALL, COMMIT, DISABLED, FILTER, OVERRIDE, PATH, Entry
from gitleaks_eval.coverage.configuration.rules import Rule
from gitleaks_eval.coverage.samples.hidden_values import Foreseen, foreseen
from gitleaks_eval.coverage.samples.paths import neutral_path, paths_matching, word
from gitleaks_eval.coverage.samples.samples import (
    Bench,
    NotSampledError,
    Sample,
    as_sample,
    holds_keyword,
    makes,
    path_for,
    problems_of,
    samples_or_reason,
    secret_of,
)
from gitleaks_eval.regex.analyse import can_hold, group_node, matcher
from gitleaks_eval.regex.generate import Made, make, planted, replaced
from gitleaks_eval.regex.parse import BEGIN_TEXT, END_TEXT, RegexError, parse_regex

# Each in a file of its own: where many share one, each regex of the scanner reads all of them.
VALUE_SAMPLES_AT_MOST = 1_500
VALUE_SAMPLES_AT_LEAST = 2
MANY = 100
SHARED_PATHS_AT_MOST = 12
REPRESENTATIVES = 3
OVERRIDE_SAMPLES = 9
MADE_OF_EACH = 3
PATHS_TRIED = 24
VARIANTS = 4


@dataclass(frozen=True, slots=True)
class Witness:
    """The samples that an entry is about; `why` says why there are none."""

    entry: Entry
    samples: tuple[Sample, ...] = ()
    why: str = ""


@dataclass(slots=True)
class Witnesses:
    """Makes the witnesses of entries: `rules` are those in force when no entry is.

    `bench` keeps clear of what is in force then; `neutral` of the paths of all entries as well.
    """

    rules: Sequence[Rule]
    bench: Bench
    neutral: Bench
    of_each: int
    at_paths: int = REPRESENTATIVES
    names: Iterator[str] = field(default_factory=lambda: map(word, count(1_000)))
    made: dict[str, list[Made]] = field(default_factory=dict)
    clear: dict[str, list[Foreseen]] = field(default_factory=dict)

    def of(self, entry: Entry) -> Witness:
        """The witness of an entry."""
        if entry.kind == COMMIT or (entry.kind == ALL and entry.allowlist and entry.allowlist.commits):
            return Witness(entry, why="a commit cannot be forged")
        if entry.kind == FILTER:
            return Witness(entry, why="what an expression is true of cannot be made")
        if entry.kind in {DISABLED, OVERRIDE}:
            samples = self._of_rules(entry)
            return Witness(entry, samples, "" if samples else "no sample of these rules can be made")
        try:
            samples = tuple(self._of_allowlist(entry))
        except (RegexError, NotSampledError) as error:
            return Witness(entry, why=str(error))
        return Witness(entry, samples, "" if samples else "no sample of a rule can be made that it is about")

    def ordinary(self) -> list[Sample]:
        """A usual sample of each rule, where nothing but what is for all values hides it."""
        made = (samples_or_reason(rule, self.neutral, [next(self.names)]) for rule in self.rules)
        return [sample for samples in made if not isinstance(samples, str) for sample in samples]

    def _of_rules(self, entry: Entry) -> tuple[Sample, ...]:
        how_many = OVERRIDE_SAMPLES if entry.kind == OVERRIDE else 1
        made = (
            samples_or_reason(rule, self.neutral, list(islice(self.names, how_many)))
            for rule in self.rules
            if rule.id in entry.rule_ids
        )
        return tuple(sample for samples in made if not isinstance(samples, str) for sample in samples)

    def _of_allowlist(self, entry: Entry) -> Iterator[Sample]:
        allowlist = entry.allowlist
        if allowlist is None:
            return
        [ready] = foreseen([allowlist])
        # Where something cannot be foreseen, the scanner alone says whether the entry is about the sample.
        name = next(self.names)
        at_most = min(self.of_each, SHARED_PATHS_AT_MOST) if allowlist.paths else self.of_each
        left = at_most = self.at_paths if entry.kind == PATH else at_most
        paths = self._paths(allowlist.paths, name)
        regexes = [parse_regex(regex) for regex in allowlist.regexes[:VARIANTS]]
        wanted = [make(regex, self.bench.seed, variant) for regex in regexes for variant in range(VARIANTS)]
        for rule in self._rules_for(entry, name):
            if not left:
                return
            # Each stands at another path: the scanner's own configuration may hide some of them.
            turned = paths[(at_most - left) * len(paths) // at_most :] + paths if paths else []
            path = self._path(rule, name if paths else next(self.names), turned, allowlist.paths)
            holding = self._holding(entry, rule, path, wanted) if path else iter(())
            about = (one for one in holding if not ready.is_certain or ready.hides(one.found))
            sample = self._likeliest(about, rule) if allowlist.stopwords else next(about, None)
            if sample:
                left -= 1
                yield sample

    def _likeliest(self, samples: Iterator[Sample], rule: Rule) -> Sample | None:
        """Return the first sample that nothing foreseen stops, else the first."""
        first = None
        for sample in samples:
            if not problems_of(sample, rule, self._clear(rule)):
                return sample
            first = first or sample
        return first

    def _rules_for(self, entry: Entry, name: str) -> list[Rule]:
        """The rules that an entry is for: the user's own first, the others from a place that depends on the name."""
        rules = [rule for rule in self.rules if not entry.rule_ids or rule.id in entry.rule_ids]
        own = [rule for rule in rules if rule.own and entry.kind != PATH]
        others = [rule for rule in rules if rule not in own] if own else rules
        start = sum(map(ord, name)) % len(others) if others and entry.kind != PATH else 0
        return [*own, *others[start:], *others[:start]]

    def _paths(self, regexes: Sequence[str], name: str) -> list[str]:
        """Paths that an entry is about: first those that nothing else hides."""
        if not regexes:
            return []
        made = [path for regex in regexes[:2] for path in islice(paths_matching(regex, name), PATHS_TRIED)]
        if not made:
            raise NotSampledError("no path can be made that it matches")
        # One in a folder of its own is in the way of no other.
        apart = [path for path in made if path.startswith(f"{name}/")] or made
        return sorted(apart, key=lambda path: not self.bench.is_free(path))

    def _path(self, rule: Rule, name: str, paths: Sequence[str], regexes: Sequence[str]) -> str | None:
        if not regexes:
            return path_for(rule, name, self._clear(rule)) if rule.path else neutral_path(name, self.neutral.is_free)
        if not rule.path:
            return paths[0]
        asked = matcher(rule.path)
        both = next((path for path in paths if asked and asked(path)), None)
        if both or not asked:
            return both
        wanted = [found for regex in regexes if (found := matcher(regex))]
        others = islice(paths_matching(rule.path, name), PATHS_TRIED)
        return next((path for path in others if any(one(path) for one in wanted)), None)

    def _clear(self, rule: Rule) -> list[Foreseen]:
        if rule.id not in self.clear:
            self.clear[rule.id] = self.bench.clear_for(rule)
        return self.clear[rule.id]

    def _holding(self, entry: Entry, rule: Rule, path: str, wanted: Sequence[Made]) -> Iterator[Sample]:
        """Samples of a rule that hold what the entry is about."""
        allowlist = entry.allowlist
        if not rule.regex or rule.skip_report or rule.required or allowlist is None:
            return
        for made in self._made_for(rule, allowlist.stopwords[:VARIANTS]):
            for value in _values(made, rule, entry, wanted):
                sample = as_sample(rule, value, path)
                if sample and (not rule.keywords or holds_keyword(sample.text, rule.keywords)):
                    yield from (
                        _on_line(sample, wanted) if allowlist.regexes and allowlist.target == "line" else [sample]
                    )

    def _made_for(self, rule: Rule, stopwords: Sequence[str]) -> Iterator[Made]:
        """Yield values of a rule; of one whose secret can hold a stop word, all that are made."""
        yield from self._made(rule)
        try:
            secret = group_node(parse_regex(rule.regex), secret_of(rule) or 1)
            if any(can_hold(secret, stopword) for stopword in stopwords):
                yield from makes(rule, self.bench.seed)
        except (RegexError, NotSampledError):
            return

    def _made(self, rule: Rule) -> list[Made]:
        if rule.id not in self.made:
            self.made[rule.id] = list(islice(self._clear_makes(rule), MADE_OF_EACH))
        return self.made[rule.id]

    def _clear_makes(self, rule: Rule) -> Iterator[Made]:
        try:
            for made in makes(rule, self.bench.seed):
                sample = as_sample(rule, made, "")
                if sample and not problems_of(sample, rule, self._clear(rule)):
                    yield made
        except NotSampledError:
            return


def _values(made: Made, rule: Rule, entry: Entry, wanted: Sequence[Made]) -> Iterator[Made]:
    """What was made, with a value in it that the entry is about; `wanted` are values of its regexes."""
    allowlist = entry.allowlist
    if allowlist is None or (not allowlist.regexes and not allowlist.stopwords) or allowlist.target == "line":
        yield made
        return
    secret = made.group(secret_of(rule))
    for stopword in allowlist.stopwords[:VARIANTS]:
        if changed := planted(made, stopword, secret, len(stopword), fold=True):
            yield changed
    part = (0, len(made.text)) if allowlist.target == "match" else secret
    for value in wanted:
        yield from _with_value(made, rule, value, part)


def _with_value(made: Made, rule: Rule, wanted: Made, part: tuple[int, int]) -> Iterator[Made]:
    """What was made with a value written over some of a part, then instead of some of it, then instead of all of it."""
    start, end = part
    length = len(wanted.text)
    begins, ends = (BEGIN_TEXT, 0) in wanted.edges, (END_TEXT, length) in wanted.edges
    if 0 < length <= end - start and not (begins and ends and length < end - start):
        room = (end - length, end) if ends else (start, start + length) if begins else part
        if changed := planted(made, wanted.text, room, length, fold=False):
            yield changed
        first = room[0]
        if _matches(rule, other := replaced(made, wanted.text, (first, first + length))):
            yield other
    if wanted.text and _matches(rule, other := replaced(made, wanted.text, part)):
        yield other


def _matches(rule: Rule, made: Made) -> bool:
    asked = matcher(rule.regex)
    return asked is not None and asked(made.text)


def _on_line(sample: Sample, wanted: Sequence[Made]) -> Iterator[Sample]:
    """The sample with words beside it on its line that the entry is about."""
    if sample.is_alone or "\n" in sample.text.strip("\n"):
        return
    line = sample.text.strip("\n")
    yield sample
    for words in (made.text for made in wanted):
        if words and "\n" not in words:
            yield replace(sample, text=f"{words} {line}\n")
            yield replace(sample, text=f"{line} {words}\n")
