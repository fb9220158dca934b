"""Samples of a rule: texts that its own regex matches and that nothing else of the rule should stop.

A sample is a secret. It stands in a private repository and nowhere else; no text of an error or a report holds one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from gitleaks_eval.coverage.configuration.rules import Allowlist, Rule
from gitleaks_eval.coverage.samples.hidden_values import Foreseen, Found, foreseen
from gitleaks_eval.coverage.samples.paths import neutral_path, paths_matching
from gitleaks_eval.regex.analyse import can_hold, entropy, entropy_at_most, group_node, has_fixed_words, variety
from gitleaks_eval.regex.generate import OUTSIDE, Made, in_context, make, planted
from gitleaks_eval.regex.parse import BEGIN_TEXT, END_TEXT, Regex, RegexError, parse_regex

ATTEMPTS = 40
# So many of them take the first of each choice; the others vary in more than their characters.
PLAIN_ATTEMPTS = 8
# From this one on, values are longer from attempt to attempt where the rule asks for an entropy.
LONGER_FROM = 24
LONGER_EACH = 24
NO_REGEX = "it has neither regex nor path"
# So few bits are words, of which there are a few.
FIXED_BELOW = 6.0
KEY_GROUPS_AT_MOST = 2
PART_OF_OTHERS = "it is part of other rules and never reported by itself"
NO_PATH = "no path can be made that its `path` matches"


@dataclass(frozen=True, slots=True)
class Sample:
    """A text of one rule and the path at which it stands.

    `value` is the secret in it (empty for a rule of paths), `match` all that the regex matches; where it
    `is_alone` it has to be the whole file.
    """

    rule_id: str
    path: str
    text: str
    value: str
    match: str
    is_alone: bool = True

    def __repr__(self) -> str:
        """Without the value."""
        return f"<Sample of {self.rule_id} in {self.path}>"

    @property
    def found(self) -> Found:
        """What a scanner would find."""
        line = next((line for line in self.text.splitlines() if self.value in line), self.match)
        return Found(self.path, self.value, self.match, line)


class NotSampledError(ValueError):
    """No sample of a rule can be made; the text says why, as people read it."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What samples are made for: all rules in force, and the allowlists of all of them that they keep clear of."""

    rules: Mapping[str, Rule]
    allowlists: Sequence[Foreseen]
    seed: str

    def is_free(self, path: str) -> bool:
        """Whether no allowlist that is for all rules hides all that stands at a path."""
        return _is_free(path, self.allowlists)

    def clear_for(self, rule: Rule) -> list[Foreseen]:
        """The allowlists that a sample of this rule keeps clear of."""
        return [*self.allowlists, *foreseen(rule.allowlists)]


def bench(rules: Iterable[Rule], allowlists: Iterable[Allowlist], seed: str) -> Bench:
    """What samples of these rules are made with."""
    return Bench({rule.id: rule for rule in rules}, foreseen(allowlists), seed)


def samples_of(rule: Rule, on: Bench, names: Sequence[str], first: int = 0, *, varied: bool = False) -> list[Sample]:
    """Make samples of a rule.

    Args:
        rule: whose.
        on: what they are made with.
        names: a name for each, part of its path.
        first: the number of the first, so that further ones differ.
        varied: whether any of the choices of its regex are taken, and not the first of each.

    Raises:
        NotSampledError: when none can be made.
    """
    if not rule.regex and not rule.path:
        raise NotSampledError(NO_REGEX)
    if rule.skip_report:
        raise NotSampledError(PART_OF_OTHERS)
    clear = on.clear_for(rule)
    samples = []
    for number, name in enumerate(names, first):
        path = path_for(rule, name, clear)
        if not rule.regex:
            samples.append(Sample(rule.id, path, "sample\n", "", ""))
            continue
        sample = _sample_at(path, rule, on, clear, number, varied=varied)
        if sample is None:
            raise NotSampledError("no text can be made in which its regex, with its edges (`\\b`, `^`, `$`), matches")
        samples.append(_with_required(sample, rule, on, number))
    return samples


def samples_or_reason(
    rule: Rule, on: Bench, names: Sequence[str], first: int = 0, *, varied: bool = False
) -> list[Sample] | str:
    """Samples of a rule, one for each name, or why there are none."""
    try:
        return samples_of(rule, on, names, first, varied=varied)
    except NotSampledError as reason:
        return str(reason)


def path_for(rule: Rule, name: str, clear: Sequence[Foreseen]) -> str:
    """Where a sample of a rule stands: at a neutral path, or one that the rule asks for.

    Raises:
        NotSampledError: when the rule asks for a path that cannot be made.
    """
    if not rule.path:
        return neutral_path(name, lambda path: _is_free(path, clear))
    try:
        paths = list(islice(paths_matching(rule.path, name), 24))
    except RegexError as error:
        raise NotSampledError(f"its `path`: {error}") from None
    if not paths:
        raise NotSampledError(NO_PATH)
    return next((path for path in paths if _is_free(path, clear)), paths[0])


def _is_free(path: str, clear: Iterable[Foreseen]) -> bool:
    place = Found(path, "", "", "")
    return not any(one.paths and one.hides(place) for one in clear)


def makes(rule: Rule, seed: str, first: int = 0) -> Iterator[Made]:
    """Texts that the regex of a rule matches, one after the other, with one of its keywords in each where one can be.

    They begin with this attempt: after the plain ones, any choice is taken and not the first of each.

    Raises:
        NotSampledError: when its regex cannot be read or has no values.
    """
    tree, secret = _tree(rule), secret_of(rule)
    keywords: list[str] | None = None
    for attempt in range(first, ATTEMPTS):
        variant = max(0, attempt - PLAIN_ATTEMPTS)
        try:
            made: Made | None = make(tree, f"{seed}\0{attempt}", variant, secret, _longer(rule, attempt))
        except RegexError as error:
            raise NotSampledError(f"its regex: {error}") from None
        if made and rule.keywords and not holds_keyword(made.text, rule.keywords):
            if keywords is None:
                keywords = [word for word in rule.keywords if can_hold(tree.node, word)]
            # Where no value can hold one, the scanner will say what that means.
            made = _with_keyword(made, keywords, attempt, secret) if keywords else made
        if made:
            yield made


def _longer(rule: Rule, attempt: int) -> int:
    """How often what may be repeated is at least: no usual value had the entropy that the rule asks."""
    return LONGER_EACH * (attempt - LONGER_FROM + 1) if rule.entropy and attempt >= LONGER_FROM else 0


def as_sample(rule: Rule, made: Made, path: str) -> Sample | None:
    """What was made as a sample at a path; None where its edges cannot hold."""
    placed = in_context(made)
    if placed is None:
        return None
    made, before, after = placed
    start, end = made.group(secret_of(rule))
    # An identifier is where a keyword stands that the regex has no place for; one with words of its own is no such.
    is_labelled = (
        rule.keywords and not holds_keyword(made.text, rule.keywords) and not has_fixed_words(_tree(rule).node)
    )
    label = f"{rule.keywords[0]}=" if is_labelled and before != "\n" else ""
    is_alone = any(kind in {BEGIN_TEXT, END_TEXT} for kind, _ in made.edges)
    return Sample(rule.id, path, f"{label}{before}{made.text}{after}", made.text[start:end], made.text, is_alone)


def secret_of(rule: Rule) -> int:
    """Return the number of the group that holds the secret, as `Made.group` counts.

    In a rule of the user's it is not the group that the rule names where that holds fixed words, such as a key, and
    something else varies: people mean the latter, whatever the scanner reports.
    """
    if not rule.own or not rule.regex:
        return rule.secret_group
    try:
        tree = parse_regex(rule.regex)
    except RegexError:
        return rule.secret_group
    varies = {index: variety(group_node(tree, index)) for index in range(1, tree.groups + 1)}
    named = rule.secret_group or 1
    if varies.get(named, FIXED_BELOW) >= FIXED_BELOW:
        return rule.secret_group
    likeliest = max(varies, key=lambda index: varies[index])
    if varies[likeliest] >= FIXED_BELOW:
        return likeliest
    # Alternatives, each a group, say what kind of token it is: Gitleaks' own jwt-base64 has 34.
    is_outside = tree.groups <= KEY_GROUPS_AT_MOST and variety(tree.node) >= 4 * FIXED_BELOW
    return OUTSIDE if is_outside else rule.secret_group


def holds_keyword(text: str, keywords: Iterable[str]) -> bool:
    """Whether a text holds one of the keywords, as scanners look for them: without regard to case."""
    lowered = text.lower()
    return any(word.lower() in lowered for word in keywords)


def best(candidates: Iterable[Sample], rule: Rule, clear: Sequence[Foreseen]) -> Iterator[Sample]:
    """The samples that nothing foreseen stops, then the one that the least stops."""
    fallback: tuple[int, Sample] | None = None
    for sample in candidates:
        problems = problems_of(sample, rule, clear)
        if not problems:
            yield sample
        elif fallback is None or problems < fallback[0]:
            fallback = problems, sample
    if fallback:
        yield fallback[1]


def reason_for_silence(rule: Rule) -> str:
    """Why a rule can never fire, where that can be shown from its regex; empty where it cannot."""
    try:
        tree = _tree(rule) if rule.regex else None
    except NotSampledError:
        return ""
    if tree is None:
        return ""
    words = [word for word in rule.keywords if word]
    if words and not any(can_hold(tree.node, word) for word in words):
        return f"keyword: no value of its regex can hold {_listed(words)}"
    groups = [rule.secret_group] if rule.secret_group else range(tree.groups + 1)
    limit = max(entropy_at_most(group_node(tree, index)) for index in groups)
    if 0 < rule.entropy >= limit:
        return f"entropy: no value of its regex can be above {rule.entropy:g} (at most {limit:.2f})"
    return ""


def _sample_at(  # noqa: PLR0913 - what a sample is made of, each under its name
    path: str, rule: Rule, on: Bench, clear: Sequence[Foreseen], number: int, *, varied: bool = False
) -> Sample | None:
    made = makes(rule, f"{on.seed}\0{number}", PLAIN_ATTEMPTS + 1 if varied else 0)
    return next(best(filter(None, (as_sample(rule, one, path) for one in made)), rule, clear), None)


def _tree(rule: Rule) -> Regex:
    try:
        return parse_regex(rule.regex)
    except RegexError as error:
        raise NotSampledError(f"its regex: {error}") from None


def _listed(words: Sequence[str]) -> str:
    shown = ", ".join(f"`{word[:40]}`" for word in words[:3])
    return shown if len(words) <= 3 else f"{shown} or one of {len(words) - 3} more"


def _with_keyword(made: Made, keywords: Sequence[str], attempt: int, group: int) -> Made | None:
    start, end = made.group(group)
    places = ((0, start), (end, len(made.text)), (0, len(made.text)))
    for first, last in places:
        for word in keywords:
            changed = planted(made, word, (first, last), attempt, fold=True)
            if changed:
                return changed
    return None


def problems_of(sample: Sample, rule: Rule, clear: Sequence[Foreseen]) -> int:
    """How much of what is foreseen stops a sample; 0 when nothing does."""
    problems = 4 * (entropy(sample.value) <= rule.entropy)
    problems += 2 * any(one.hides(sample.found) for one in clear)
    # Rules of the name "generic" want a digit up to 8.18.
    problems += rule.id.startswith("generic") and not any(one.isdigit() for one in sample.value)
    return problems


def too_plain(samples: Iterable[Sample], rule: Rule) -> str:
    """Why it says nothing of a rule that none of these is found: no value is above its entropy; else empty."""
    if rule.entropy and all(entropy(sample.value) <= rule.entropy for sample in samples):
        return f"no value of its regex was made whose entropy is above {rule.entropy:g}"
    return ""


def _with_required(sample: Sample, rule: Rule, on: Bench, number: int) -> Sample:
    """The sample with values of the rules that this one wants to see near it."""
    lines = sample.text
    for rule_id in rule.required:
        other = on.rules.get(rule_id)
        if other is None or not other.regex:
            continue
        beside = _sample_at(sample.path, other, on, on.clear_for(other), number)
        if beside:
            lines = lines if lines.endswith("\n") else lines + "\n"
            lines += beside.text
    return replace(sample, text=lines)
