"""What is wrong with the configuration of a run, each with its file and line: for reports that stand beside code."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gitleaks_eval.checks.result import FAILED, CheckResult
from gitleaks_eval.config.chain import Configuration, parsed
from gitleaks_eval.config.lines import place_lines
from gitleaks_eval.config.tables import tables, value_of
from gitleaks_eval.core.text import few, numbered, shown_path
from gitleaks_eval.coverage.result import ACCEPTANCE, ENTRY, OWN_RULES, RULE, TEST, TOGETHER
from gitleaks_eval.reports.run.values import Run

ERROR, WARNING = "error", "warning"
IGNORED, HIDES_SECRETS = "CL-1", "CL-2"
# What is asked of a configuration, by the id that a problem of it has.
ASKED: Mapping[str, str] = {
    IGNORED: "Nothing in the configuration is ignored or refused.",
    HIDES_SECRETS: "No entry hides a secret that a scenario expects.",
    OWN_RULES: "The scanner's own rules find what they find without the configuration.",
    RULE: "Each rule of one's own fires.",
    TEST: "Each test of a rule passes.",
    ENTRY: "No entry hides more than it may, or than is accepted.",
    TOGETHER: "All entries together do not hide too much.",
    ACCEPTANCE: "Each acceptance is of an entry that is there.",
}
NAMED_AT_MOST = 3


class Spot(NamedTuple):
    """A line of a file; the file is relative to the top of the repository where it stands in it."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class ConfigurationProblem:
    """A problem: which of `ASKED` it is about, `error` or `warning`, what is wrong, and where (None: nowhere)."""

    asked: str
    level: str
    message: str
    spot: Spot | None


class _Places(NamedTuple):
    """The chain of files: each spot by `.gitleaks.toml [allowlist] paths[0]` and by the second half of that, too.

    Rules are by their id; `begin` is the first line of all.
    """

    by_title: Mapping[str, Spot]
    by_place: Mapping[str, Spot]
    by_file: Mapping[tuple[str, str], Spot]
    rules: Mapping[str, Spot]
    begin: Spot
    root: Path
    top: Path

    def named(self, name: str) -> Spot:
        """Return the spot that a test calls `my.toml:4` or `my.toml:4#2`; a flag of the scanner stands in no file."""
        file, _, line = name.rpartition(":")
        if not file or not line.partition("#")[0].isdecimal():
            return self.begin
        return Spot(shown_path(self.root / file, self.top), int(line.partition("#")[0]))


def configuration_problems(run: Run) -> list[ConfigurationProblem]:
    """The problems of a run, errors first, each as it stands in the files; none without a configuration of its own."""
    if run.configuration is None or not run.configuration.chain:
        return []
    places = _places(run.configuration, run.root)
    found = [
        *_of_lint(run, places),
        *(problem for result in run.surveys if (problem := _of_survey(result, places))),
        *_narrowed(run, places),
        *_not_accepted(run, places),
    ]
    return sorted(found, key=lambda one: one.level != ERROR)


def entry_lines(run: Run) -> dict[str, str]:
    """By each text that says which entry hides something, where the first that it names stands: `.gitleaks.toml:5`."""
    if run.configuration is None:
        return {}
    lines = {
        f"{shown} {where}": f"{shown}:{line}"
        for file in run.configuration.chain
        for shown in [shown_path(file.path, run.root)]
        for where, line in place_lines(file.content).items()
    }
    rows = (*run.coverage.places, *run.coverage.rules) if run.coverage else ()
    texts = dict.fromkeys([*run.hidden.values(), *(str(row["hidden_by"]) for row in rows if row["hidden_by"])])
    # Of a place or a rule it is `A and B`.
    first = {text: [_titles(text)[0], text.partition(" and ")[0]] for text in texts}
    return {text: lines[title] for text, titles in first.items() for title in titles if title in lines}


def _titles(text: str) -> list[str]:
    """Return the entries that a text names: `hidden by A and by B; ...`."""
    return text.removeprefix("hidden by ").partition("; ")[0].split(" and by ")


def _places(configuration: Configuration, root: Path) -> _Places:
    top = next((one for one in (root, *root.parents) if (one / ".git").exists()), root)
    by_title: dict[str, Spot] = {}
    by_place: dict[str, Spot] = {}
    by_file: dict[tuple[str, str], Spot] = {}
    rules: dict[str, Spot] = {}
    for file in reversed(configuration.chain):
        shown, title = shown_path(file.path, top), shown_path(file.path, root)
        lines = place_lines(file.content)
        spots = {where: Spot(shown, line) for where, line in lines.items()}
        by_place |= spots
        by_file |= {(file.path.name, where): spot for where, spot in spots.items()}
        by_title |= {f"{title} {where}": spot for where, spot in spots.items()}
        for address, rule in tables(parsed(file), "rules"):
            rules[str(value_of(rule, "id"))] = Spot(shown, lines.get(f"rules[{address[-1]}]", 1))
    return _Places(by_title, by_place, by_file, rules, Spot(shown_path(configuration.chain[0].path, top), 1), root, top)


def _of_lint(run: Run, places: _Places) -> Iterator[ConfigurationProblem]:
    for result in run.lint:
        if result.outcome == FAILED:
            keys = [str(key) for key in json.loads(result.actual)]
            told = [line.strip() for line in result.message.splitlines()]
            yield from _ignored(keys, told, places) if result.check_id == IGNORED else _hides(run, keys, places)


def _ignored(keys: list[str], told: list[str], places: _Places) -> Iterator[ConfigurationProblem]:
    """One a key, which begins with its place: `rules[3].keywrods: ...`; what is told begins with the name of a file."""
    for index, key in enumerate(keys):
        name = told[index].removesuffix(key).strip() if index < len(told) and told[index].endswith(key) else ""
        in_file = {where: spot for (file, where), spot in places.by_file.items() if file == name}
        known = in_file or places.by_place
        # A key that is quoted may hold a colon itself.
        ends = [end for end, char in enumerate(key) if char == ":"]
        spot = next((known[key[:end]] for end in ends if key[:end] in known), None)
        spot = spot or next((Spot(one.file, 1) for one in in_file.values()), places.begin)
        yield ConfigurationProblem(IGNORED, ERROR, key, spot)


def _hides(run: Run, keys: list[str], places: _Places) -> Iterator[ConfigurationProblem]:
    """Yield a problem for each entry, with the secrets that it hides: `scenario path:line (rule)`."""
    said = {f"{name} {path}:{line} ({rule_id})": text for (name, (path, line, rule_id)), text in run.hidden.items()}
    by_entry: defaultdict[str, list[str]] = defaultdict(list)
    for key in keys:
        by_entry[said.get(key, "")].append(key)
    for text, secrets in by_entry.items():
        spot = next((places.by_title[title] for title in _titles(text) if title in places.by_title), places.begin)
        hidden = f"{numbered(len(secrets), 'expected secret')}: {few(secrets, NAMED_AT_MOST)}"
        yield ConfigurationProblem(HIDES_SECRETS, ERROR, f"{text or 'hidden'}: {hidden}", spot)


def _of_survey(result: CheckResult, places: _Places) -> ConfigurationProblem | None:
    """Return a failed test of a rule or an entry; places are counted by the entries that hide them."""
    if result.outcome != FAILED or result.check_id not in ASKED:
        return None
    return ConfigurationProblem(result.check_id, ERROR, result.message, _spot(result, places))


def _narrowed(run: Run, places: _Places) -> Iterator[ConfigurationProblem]:
    """Yield a rule of the configuration that finds less than with the baseline, where no test of it fails already."""
    failed = {result.name for result in run.surveys if result.outcome == FAILED and result.check_id == RULE}
    for rule_id, baseline in run.narrowed.items():
        if rule_id in places.rules and rule_id not in failed:
            message = f"{rule_id}: does not find all that it finds with {baseline}"
            yield ConfigurationProblem(RULE, ERROR, message, places.rules[rule_id])


def count_hidden(run: Run) -> Counter[str]:
    """Count the expected secrets that each entry hides, by where it stands: `.gitleaks.toml:5`."""
    lines = entry_lines(run)
    return Counter(lines[text] for text in run.hidden.values() if text in lines)


def _spot(result: CheckResult, places: _Places) -> Spot:
    kind, name = result.check_id, result.name
    if kind in {ENTRY, ACCEPTANCE}:
        return places.named(name)
    if kind == TEST:
        # `.gitleaks-eval.yaml:6 acme-token[finds-1]`
        file, _, rest = name.rpartition(":")
        return places.named(f"{file}:{rest.partition(' ')[0]}")
    return places.rules.get(name, places.begin) if kind == RULE else places.begin


def _not_accepted(run: Run, places: _Places) -> Iterator[ConfigurationProblem]:
    """Yield what hides something, and fails for nothing but that nobody has accepted it."""
    if run.coverage is None:
        return
    failed = {result.name for result in run.surveys if result.outcome == FAILED and result.check_id == ENTRY}
    hides = set(run.coverage.hides)
    for offer in run.coverage.offers:
        name, said = offer["name"], f"{offer['name']} {offer['said']}"
        if said in hides and name not in failed:
            advice = "gitleaks-eval accept accepts it"
            yield ConfigurationProblem(ENTRY, WARNING, f"{said}; {advice}", places.named(name))
