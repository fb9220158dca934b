"""`.gitleaks-eval.yaml` beside a configuration: tests of its own rules, what is accepted of it, and of comparisons."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitleaks_eval.config.chain import Configuration
from gitleaks_eval.config.names import NAME, OTHERS
from gitleaks_eval.core.documents import DocumentError, read_input
from gitleaks_eval.core.errors import InputError, unreadable
from gitleaks_eval.core.schema import schema_violations
from gitleaks_eval.core.text import printable
from gitleaks_eval.core.yaml_documents import Spot, Spots, parse_yaml, yaml_spots

LARGEST = 1 << 20
FINDS, IGNORES, TODO = "finds", "ignores", "todo"
PLACEHOLDER = "{{secret}}"
# What an acceptance says of the rules of a build of an unknown version, before the build.
SILENT = "silent rules of "
# What one says of a usual place that such a build does not see, before the place and the build.
UNSEEN = "unseen place "
# Of what an acceptance hides: all places, all rules, and what that was measured with.
PLACES, RULES, PROBES, SCANNER = "places", "rules", "probes", "scanner"
# The version of the probes before acceptances said which.
FIRST_PROBES = 1


@dataclass(frozen=True, slots=True)
class RuleTest:
    """One line of `rules`: what a rule finds, ignores, or is to find one day (`kind`), and where that is said.

    `pattern` is the regex of the secret, planted in each of `forms`, or in `text` instead of `{{secret}}`; `at` is the
    path of the file, empty for any. Of what is ignored, `is_near_miss` asks for values that just miss the rule, else
    `text` is ignored; `by_any` asks all rules and not this one alone.
    """

    rule_id: str
    kind: str
    number: int
    spot: Spot
    pattern: str = ""
    forms: tuple[str, ...] = ()
    text: str = ""
    at: str = ""
    why: str = ""
    is_near_miss: bool = False
    by_any: bool = False

    @property
    def name(self) -> str:
        """What its test is called: `acme-token[finds-1]`."""
        return printable(f"{self.rule_id}[{self.kind}-{self.number}]")


@dataclass(frozen=True, slots=True)
class Acceptance:
    """An entry that is accepted, with how much it may hide, and the line that says so.

    `hides` has a number for `places`, `rules` and each family that something is hidden of; `probes` is the version of
    what it was measured on, and `scanner` who was asked (empty where the file is from before that was written down).
    `layers` are the files of the chain beside which it stands, by their numbers.
    """

    entry: str
    hides: tuple[tuple[str, int], ...]
    probes: int
    scanner: str
    why: str
    since: str
    path: Path
    line: int
    number: int
    layers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Approval:
    """What people have approved: differences of a rule with a cause, in real repositories, between two candidates.

    `rule`, `cause` and each of `repositories` are patterns (`*`, `?`, `[…]`); a `cause` of None stands for one that is
    not proven. Of a difference that is relabelled `rule` is the baseline's. An empty `kind` is any. `baseline` and
    `candidate` are the identities that it is pinned to. More than so many `findings` are not approved (None: any).
    """

    rule: str
    cause: str | None
    repositories: tuple[str, ...]
    reason: str
    baseline: str
    candidate: str
    kind: str = ""
    findings: int | None = None


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What people have accepted that the build of one candidate no longer finds: rules, and titles of usual places.

    `baseline` and `candidate` are the identities that it is pinned to.
    """

    baseline: str
    candidate: str
    rules: tuple[str, ...]
    places: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Beside:
    """A file of tests and acceptances, and the files of the chain that it belongs to, by their numbers."""

    path: Path
    layers: tuple[int, ...]
    tests: tuple[RuleTest, ...] = ()
    accepts: tuple[Acceptance, ...] = ()
    approvals: tuple[Approval, ...] = ()
    upgrades: tuple[Upgrade, ...] = ()


def is_of_build(entry: str) -> bool:
    """Whether an acceptance is about a build, and not about a configuration."""
    return entry.startswith((SILENT, UNSEEN))


def place_beside(path: Path) -> Path | None:
    """Where the file of tests and acceptances of a configuration stands; None for one that is no file."""
    return path.parent / OTHERS.get(path.name, NAME) if path.is_absolute() else None


def files_beside(configuration: Configuration | None) -> tuple[Beside, ...]:
    """What stands beside each file of a configuration, in the order of the chain.

    Raises:
        InputError: when one cannot be read, or something in it is wrong; it names line and column.
    """
    places: dict[Path, list[int]] = {}
    for index, file in enumerate(configuration.chain if configuration else ()):
        if place := place_beside(file.path):
            places.setdefault(place, []).append(index)
    return tuple(file for path, layers in places.items() for file in file_at(path, tuple(layers)))


def file_at(path: Path, layers: tuple[int, ...] = ()) -> Iterator[Beside]:
    """The file at a path, if there is one.

    Raises:
        InputError: as `files_beside`.
    """
    if path.exists() or path.is_symlink():
        yield _read(path, layers)


def _read(path: Path, layers: tuple[int, ...]) -> Beside:
    try:
        content = read_input(path, LARGEST)
        document = parse_yaml(content)
        text = content.decode("utf-8")
    except OSError as error:
        raise unreadable("the tests and acceptances", path, error) from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: it is no UTF-8; save it as UTF-8") from None
    except DocumentError as error:
        raise InputError(f"{path}: {error}") from None
    return read_document(document, text, path, layers)


def read_document(document: Any, text: str, path: Path, layers: tuple[int, ...]) -> Beside:
    """The tests and acceptances of a document.

    Raises:
        InputError: when something in it is wrong; it names line and column.
    """
    if document is None:
        return Beside(path, layers)
    spots = yaml_spots(text)
    for address, problem in sorted(
        schema_violations("eval_file", document), key=lambda violation: len(violation[0]), reverse=True
    ):
        refuse(path, _spot(spots, address), problem)
    tests = tuple(_tests(document.get("rules") or {}, spots, path))
    listed = enumerate(document.get("accept") or ())
    accepts = tuple(_acceptance(number, item, spots, path, layers) for number, item in listed)
    approvals = tuple(
        _approval(index, item, spots, path) for index, item in enumerate(document.get("differences") or ())
    )
    upgrades = tuple(map(_upgrade, document.get("upgrades") or ()))
    return Beside(path, layers, tests, accepts, approvals, upgrades)


def refuse(path: Path, spot: Spot | None, problem: str) -> None:
    """Say what is wrong with a file, and where.

    Raises:
        InputError: always.
    """
    raise InputError(f"{path}:{spot or '1:1'}: {problem}")


def _spot(spots: Spots, address: Sequence[str | int]) -> Spot | None:
    return next((spots[tuple(address[:end])] for end in range(len(address), -1, -1) if address[:end] in spots), None)


def _tests(rules: Mapping[str, Any], spots: Spots, path: Path) -> Iterator[RuleTest]:
    for rule_id, kinds in rules.items():
        for kind, listed in kinds.items():
            for index, item in enumerate(listed):
                address = ("rules", rule_id, kind, index)
                test = _test(rule_id, kind, index + 1, spots[address], item)
                if problem := _problem(test, item):
                    refuse(path, test.spot, problem)
                yield test


def _test(rule_id: str, kind: str, number: int, spot: Spot, item: Any) -> RuleTest:
    if item == "near-miss":
        return RuleTest(rule_id, kind, number, spot, is_near_miss=True)
    return RuleTest(
        *(rule_id, kind, number, spot),
        pattern=item.get("pattern", ""),
        forms=tuple(item.get("in", ())),
        text=item.get("text", ""),
        at=item.get("at", ""),
        why=item.get("why", ""),
        is_near_miss=item.get("near-miss", False),
        by_any=item.get("by") == "any",
    )


def _problem(test: RuleTest, item: Any) -> str:
    if test.kind == IGNORES:
        if bool(test.text) == test.is_near_miss:
            return "write either `text` or `near-miss: true`"
        return f"{PLACEHOLDER} is for what is found; write the text as it is" if PLACEHOLDER in test.text else ""
    if "in" in item and test.text:
        return "`in` beside `text`: keep one"
    if test.text and PLACEHOLDER not in test.text:
        return f"the text has no {PLACEHOLDER}, where the secret is written at run time"
    return ""


def _acceptance(number: int, item: Mapping[str, Any], spots: Spots, path: Path, layers: tuple[int, ...]) -> Acceptance:
    hides = item["hides"]
    return Acceptance(
        entry=item["entry"],
        hides=tuple((name, count) for name, count in hides.items() if name not in {PROBES, SCANNER}),
        probes=hides.get(PROBES, FIRST_PROBES),
        scanner=hides.get(SCANNER, ""),
        why=item["why"],
        since=item["since"],
        path=path,
        line=spots["accept", number].line,
        number=number,
        layers=layers,
    )


def _approval(index: int, item: Mapping[str, Any], spots: Spots, path: Path) -> Approval:
    if item["cause"] is None and "findings" not in item:
        refuse(path, spots["differences", index], "without a proven cause say how many `findings` are approved")
    return Approval(
        rule=item["rule"],
        cause=item["cause"],
        repositories=tuple(item["repositories"]),
        reason=item["why"],
        baseline=item["baseline"],
        candidate=item["candidate"],
        kind=item.get("kind", ""),
        findings=item.get("findings"),
    )


def _upgrade(item: Mapping[str, Any]) -> Upgrade:
    return Upgrade(
        baseline=item["baseline"],
        candidate=item["candidate"],
        rules=tuple(item.get("rules", ())),
        places=tuple(item.get("places", ())),
        why=item["why"],
    )
