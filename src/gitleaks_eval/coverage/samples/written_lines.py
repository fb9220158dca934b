"""Ten forms of lines in which secrets stand: what an allowlist silences that looks at more than the secret."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

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
# For each rule how many of its lines an entry silences, and how many there are.
Lines = tuple[tuple[str, int, int], ...]


def looks_at_lines(entry: Entry) -> bool:
    """Whether an entry is about more than the secret."""
    said = entry.allowlist
    return said is not None and bool(said.regexes) and said.target in {"line", "match"}


def line_samples(rules: Sequence[Rule], on: Bench) -> Iterator[Sample]:
    """Yield a sample of each usual rule, and of each of the user's, in each form."""
    asked = [rule for rule in rules if (rule.own or rule.id in USUAL) and rule.regex and not rule.path]
    number = 0
    for rule in asked:
        made = samples_or_reason(rule, on, ["lines"])
        if isinstance(made, str) or made[0].is_alone:
            continue
        one = written(made[0].text, made[0].match, made[0].value)
        if "\n" in one.value:
            continue
        names = _names(rule)
        for form, line in LINES.items():
            name = names[number % len(names)] if one.name == NAME else one.name
            path = neutral_path(f"lines{number}", on.is_free)
            yield replace(made[0], path=path, text=f"# {form}\n{line(name, one.value)}\n")
            number += 1


def _names(rule: Rule) -> Sequence[str]:
    """Return the usual names in turn with those of the rule's own service, such as `gitlab_token`."""
    service = re.split(r"\W", rule.id)[0].lower()
    return [named for usual, kind in zip(NAMES, KINDS, strict=True) for named in (usual, f"{service}_{kind}")]


def silenced_lines(
    entries: Sequence[Entry],
    samples: Sequence[Sample],
    found_with: Callable[[Sequence[Entry]], Sequence[Collection[str]]],
) -> dict[Entry, Lines]:
    """Return which lines each entry silences by itself, counted against those that are found without any.

    Args:
        entries: those that look at lines.
        samples: what `line_samples` has made.
        found_with: scans with these entries in force alone, and returns for each sample the rules that report it.
    """
    before = found_with(())

    def counted(some: Sequence[Entry]) -> Iterator[tuple[Entry, Lines]]:
        now = found_with(some)
        if len(some) > 1 and any(was and not is_found for was, is_found in zip(before, now, strict=True)):
            yield from counted(some[: len(some) // 2])
            yield from counted(some[len(some) // 2 :])
        else:
            # What several entries together do not silence, none of them does.
            lines = _lines(samples, before, now)
            yield from ((entry, lines) for entry in some)

    return dict(counted(entries)) if entries else {}


def _lines(samples: Sequence[Sample], before: Sequence[Collection[str]], now: Sequence[Collection[str]]) -> Lines:
    counts: dict[str, list[int]] = {}
    for sample, was, is_found in zip(samples, before, now, strict=True):
        if was:
            count = counts.setdefault(sample.rule_id, [0, 0])
            count[0] += not is_found
            count[1] += 1
    return tuple((rule_id, gone, of) for rule_id, (gone, of) in counts.items())
