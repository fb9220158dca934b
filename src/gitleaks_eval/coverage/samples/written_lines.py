"""Ten forms of lines in which secrets stand: what an allowlist silences that looks at more than the secret."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, islice

from gitleaks_eval.coverage.configuration.entries import Entry
from gitleaks_eval.coverage.configuration.rules import Rule
from gitleaks_eval.coverage.samples.forms import NAME, written
from gitleaks_eval.coverage.samples.paths import neutral_path
from gitleaks_eval.coverage.samples.samples import Bench, Sample, samples_or_reason

LINES: Mapping[str, Callable[[str, str], str]] = {
    "assignment": lambda name, value: f'{name} = "{value}"',
    "export": lambda name, value: f'export {name.upper()}="{value}"',
    "JSON": lambda name, value: f'{{"id": 7, "{name}": "{value}", "retries": 3}}',
    "YAML": lambda name, value: f"{name}: {value}",
    "header": lambda name, value: f"Authorization: Bearer {value}",  # noqa: ARG005 - it has a name of its own
    "URL": lambda name, value: f"https://api.example.com/v1?{name}={value}&page=2",
    "call": lambda name, value: f'connect({name}="{value}")',
    "constant": lambda name, value: f'const {name} = "{value}";',
    "comment": lambda name, value: f"// {name}: {value}",
    "indented": lambda name, value: f'    {name} = "{value}"',
}
NAMES = ("password", "token", "api_key", "secret", "auth", "access_key", "client_secret", "credentials", "db_password")
# With the name of a service before each: `gitlab_token`.
KINDS = ("token", "api_key", "secret", "token", "key", "access_token", "bot_token", "token", "auth")
# Of the scanner's own rules those of usual kinds of tokens, by the ids of all versions.
USUAL = frozenset(
    "aws-access-token github-pat gitlab-pat slack-bot-token stripe-access-token gcp-api-key npm-access-token "
    "sendgrid-api-token digitalocean-pat shopify-access-token pypi-upload-token huggingface-access-token".split()
)
# For each rule and kind of names how many of its lines an entry silences, and how many there are.
Lines = tuple[tuple[str, int, int], ...]


def looks_at_lines(entry: Entry) -> bool:
    """Whether an entry is about more than the secret."""
    said = entry.allowlist
    return said is not None and bool(said.regexes) and said.target in {"line", "match"}


def line_samples(rules: Sequence[Rule], on: Bench) -> Iterator[list[Sample]]:
    """Yield a sample of each usual rule, and of each of the user's, in each form: a list for each kind of names."""
    asked = [rule for rule in rules if (rule.own or rule.id in USUAL) and rule.regex and not rule.path]
    numbers = count()
    for rule in asked:
        made = samples_or_reason(rule, on, ["lines"])
        if isinstance(made, str) or made[0].is_alone:
            continue
        text = written(made[0].text, made[0].match, made[0].value)
        if "\n" not in text.value:
            for names in _names(rule) if text.name == NAME else [(text.name,)]:
                yield list(_in_each_form(made[0], text.value, names, numbers, on))


def _in_each_form(
    sample: Sample, value: str, names: Sequence[str], numbers: Iterator[int], on: Bench
) -> Iterator[Sample]:
    for (form, line), number in zip(LINES.items(), numbers, strict=False):
        path = neutral_path(f"lines{number}", on.is_free)
        yield replace(sample, path=path, text=f"# {form}\n{line(names[number % len(names)], value)}\n")


def _names(rule: Rule) -> tuple[Sequence[str], Sequence[str]]:
    """Return the usual names, and those of the rule's own service, such as `gitlab_token`."""
    service = re.split(r"\W", rule.id)[0].lower()
    return NAMES, [f"{service}_{kind}" for kind in KINDS]


def silenced_lines(
    entries: Sequence[Entry],
    samples: Sequence[Sequence[Sample]],
    found_with: Callable[[Sequence[Entry]], Sequence[Collection[str]]],
) -> dict[Entry, Lines]:
    """Return which lines each entry silences by itself, counted against those that are found without any.

    Args:
        entries: those that look at lines.
        samples: what `line_samples` has made.
        found_with: scans with these entries in force alone, and returns for each sample of all lists the rules that
            report it.
    """
    before = found_with(())

    def counted(some: Sequence[Entry]) -> Iterator[tuple[Entry, Lines]]:
        now = found_with(some)
        if len(some) > 1 and any(was and not is_found for was, is_found in zip(before, now, strict=True)):
            yield from counted(some[: len(some) // 2])
            yield from counted(some[len(some) // 2 :])
        else:
            # What several entries together do not silence, none of them does.
            lines = tuple(_lines(samples, before, now))
            yield from ((entry, lines) for entry in some)

    return dict(counted(entries)) if entries else {}


def _lines(
    samples: Sequence[Sequence[Sample]], before: Sequence[Collection[str]], now: Sequence[Collection[str]]
) -> Iterator[tuple[str, int, int]]:
    """Yield for each list its rule, how many of its lines are silenced, and how many there are."""
    asked = zip(before, now, strict=True)
    for listed in samples:
        found = [is_found for was, is_found in islice(asked, len(listed)) if was]
        if found:
            yield listed[0].rule_id, sum(not is_found for is_found in found), len(found)
