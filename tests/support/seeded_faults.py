"""Faults that are put into a scanner: a script around the real program, whose report it filters, or which it fails.

The script answers as the real program does, holds its rules as the program does, and runs this file for each scan.
This file is a program, too: it imports nothing but the standard library, because it is run once a scan.
"""

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

Finding = dict[str, Any]
LEAKS_FOUND = 42
FAILED = 1
BIG = 1 << 20


class Seen:
    """What a fault may look at: the report of the real scanner, and the repository it is about."""

    def __init__(self, findings: list[Finding], repository: str, config: str, state: Path) -> None:
        self.findings = findings
        self.repository = repository
        self.config = config
        self.state = state
        self._said: dict[tuple[str, ...], str] = {}

    def git(self, *arguments: str) -> str:
        """What git says of the repository; nothing where it fails. A finding after the other asks the same."""
        if arguments not in self._said:
            self._said[arguments] = self._ask(*arguments)
        return self._said[arguments]

    def _ask(self, *arguments: str) -> str:
        command = ["git", "-c", "core.quotepath=off", "-C", self.repository, *arguments]
        return subprocess.run(command, capture_output=True, check=False).stdout.decode("utf-8", "replace")

    @cached_property
    def parents(self) -> Mapping[str, tuple[str, ...]]:
        """Each commit, and its parents."""
        lines = (line.split() for line in self.git("rev-list", "--all", "--parents").splitlines())
        return {commit: tuple(parents) for commit, *parents in lines}

    @cached_property
    def files(self) -> frozenset[str]:
        """The files of HEAD."""
        return frozenset(self.git("ls-tree", "-r", "--name-only", "-z", "HEAD").split("\0"))

    def reachable(self, *revisions: str) -> frozenset[str]:
        """The commits that these lead to."""
        return frozenset(self.git("rev-list", *revisions).split())

    def only_from(self, *pattern: str) -> frozenset[str]:
        """The commits that nothing leads to but these refs."""
        others = self.reachable("--exclude=refs/tags/*", "--exclude=refs/stash", "--all")
        return self.reachable(*pattern) - others

    def lines(self, finding: Finding) -> list[str]:
        """The file that a finding is in, with the ends of its lines."""
        return self.contents.get(_file_of(finding), "").splitlines(keepends=True)

    @cached_property
    def contents(self) -> Mapping[tuple[str, str], str]:
        """The text of each file that a finding is in, by commit and path."""
        asked = sorted({_file_of(one) for one in self.findings if "\n" not in one["File"]})
        names = "".join(f"{commit}:{path}\n" for commit, path in asked).encode()
        command = ["git", "-C", self.repository, "cat-file", "--batch"]
        given = subprocess.run(command, input=names, capture_output=True, check=False).stdout
        found = {}
        for name in asked:
            head, _, given = given.partition(b"\n")
            if not head.endswith(b" missing"):
                size = int(head.rpartition(b" ")[2])
                found[name], given = given[:size].decode("utf-8", "replace"), given[size + 1 :]
        return found

    def offset(self, finding: Finding) -> int:
        """How many characters stand before a finding."""
        before = self.lines(finding)[: finding["StartLine"] - 1]
        return sum(map(len, before)) + int(finding["StartColumn"])

    def size(self, finding: Finding) -> int:
        """How many characters the file of a finding has."""
        return sum(map(len, self.lines(finding)))

    def count(self) -> int:
        """How many scans there were."""
        file = self.state / "scans"
        with file.open("ab") as opened:
            opened.write(b".")
        return int(file.stat().st_size)


@dataclass(frozen=True)
class Rules:
    """The configuration that a program holds: its text, one without what allows anything, and the ids of its rules."""

    text: str
    bare: str
    ids: tuple[str, ...]


Fault = Callable[[Seen], list[Finding]]
FAULTS: dict[str, Fault] = {}


def _without(is_lost: Callable[[Finding, Seen], bool]) -> Fault:
    return lambda seen: [one for one in seen.findings if not is_lost(one, seen)]


def _beyond(most: int, of: Callable[[Finding], object] | None = None) -> Fault:
    def first(seen: Seen) -> list[Finding]:
        ordered = sorted(
            seen.findings, key=lambda one: (one["Commit"], one["File"], one["StartLine"], one["StartColumn"])
        )
        counts: Counter[object] = Counter()
        kept = []
        for one in ordered:
            group = of(one) if of else ""
            counts[group] += 1
            if counts[group] <= most:
                kept.append(one)
        return kept

    return first


def _changed(**of: Callable[[Finding], Any]) -> Fault:
    return lambda seen: [{**one, **{key: change(one) for key, change in of.items()}} for one in seen.findings]


def _none_where(applies: Callable[[Seen], bool]) -> Fault:
    return lambda seen: [] if applies(seen) else seen.findings


def _file_of(one: Finding) -> tuple[str, str]:
    return one["Commit"], one["File"]


def _rules(seen: Seen) -> list[str]:
    return seen.state.joinpath("rules").read_text(encoding="utf-8").split()


def _every_fifth_rule(seen: Seen) -> list[Finding]:
    lost = set(_rules(seen)[::5])
    return [one for one in seen.findings if one["RuleID"] not in lost]


def _at_random(share: float) -> Fault:
    def kept(seen: Seen) -> list[Finding]:
        rolls = random.Random(seen.count())  # noqa: S311 - a fault, and no secret
        return [one for one in seen.findings if rolls.random() >= share]

    return kept


def _crash(seen: Seen) -> list[Finding]:
    # It was used before: a run of fewer scans than twenty meets one that crashes, whichever that is.
    if (seen.count() + 15) % 20 == 0:
        sys.exit(FAILED)
    return seen.findings


def _crash_unneeded(seen: Seen) -> list[Finding]:
    # Rules that were read from the program, and one of ours: without this scan they are not believed, and nothing else.
    if "gitleaks-eval-canary" in seen.config and seen.count() == 1:
        sys.exit(FAILED)
    return seen.findings


def _once(seen: Seen) -> list[Finding]:
    return list({one["Secret"]: one for one in reversed(seen.findings)}.values())


def _first_in_line(seen: Seen) -> list[Finding]:
    return _beyond(1, lambda one: (*_file_of(one), one["StartLine"]))(seen)


def _last_line(one: Finding, seen: Seen) -> bool:
    return bool(one["EndLine"] >= len(seen.lines(one)))


def _unended(one: Finding, seen: Seen) -> bool:
    lines = seen.lines(one)
    return bool(lines) and one["EndLine"] >= len(lines) and not lines[-1].endswith("\n")


def _line(one: Finding, seen: Seen) -> str:
    lines = seen.lines(one)
    return lines[one["StartLine"] - 1] if len(lines) >= one["StartLine"] else ""


def _decoded(one: Finding, _: Seen) -> bool:
    return any(tag.startswith("decoded:") for tag in one["Tags"] or [])


def _depth(one: Finding) -> int:
    return str(one["File"]).count("/")


def _name(one: Finding) -> str:
    return str(one["File"]).rpartition("/")[2]


def _is_usual(one: Finding) -> bool:
    return one["RuleID"] in {
        *("slack-bot-token", "gitlab-pat", "npm-access-token", "sendgrid-api-token"),
        *("linear-api-key", "generic-api-key", "digitalocean-pat", "stripe-access-token"),
    }


def _is_renamed(one: Finding, seen: Seen) -> bool:
    return one["File"] in seen.git("log", "--all", "-M", "--diff-filter=R", "--name-status", "--format=").split()


FAULTS |= {
    # Where in a file.
    "drops what stands beyond line 12": _without(lambda one, _: one["StartLine"] > 12),
    "drops what stands beyond line 50": _without(lambda one, _: one["StartLine"] > 50),
    "drops what stands beyond line 500": _without(lambda one, _: one["StartLine"] > 500),
    "drops what stands beyond column 200": _without(lambda one, _: one["StartColumn"] > 200),
    "drops what stands beyond 20 kB of a file": _without(lambda one, seen: seen.offset(one) > 20_000),
    "drops what stands beyond 100 kB of a file": _without(lambda one, seen: seen.offset(one) > 100_000),
    "drops what stands in files of more than 1 MB": _without(lambda one, seen: seen.size(one) > BIG),
    "drops what stands in the first line": _without(lambda one, _: one["StartLine"] == 1),
    "drops what stands in the last line": _without(_last_line),
    "drops what stands in a last line without an end": _without(_unended),
    "drops what stands in lines that end with CR LF": _without(lambda one, seen: _line(one, seen).endswith("\r\n")),
    "drops what stands in indented lines": _without(lambda one, seen: _line(one, seen)[:1].isspace()),
    "drops what spans lines": _without(lambda one, _: one["EndLine"] > one["StartLine"]),
    "drops what is decoded": _without(_decoded),
    # How many.
    "drops what is beyond the third of a file": _beyond(3, _file_of),
    "drops what is beyond the first of a line": _first_in_line,
    "drops what is beyond the hundredth of a scan": _beyond(100),
    "drops what is beyond the thousandth of a scan": _beyond(1_000),
    "drops what it has reported already": _once,
    # Which commit.
    "drops what is in a commit that is no root": _without(lambda one, seen: bool(seen.parents.get(one["Commit"]))),
    "drops what came in by a merge": _without(
        lambda one, seen: one["Commit"] in seen.reachable("HEAD") - seen.reachable("--first-parent", "HEAD")
    ),
    "drops what is in commits before 2025": _without(lambda one, _: one["Date"] < "2025"),
    "drops what is in commits after 2025": _without(lambda one, _: one["Date"] >= "2026"),
    "drops what others than example.com committed": _without(lambda one, _: not one["Email"].endswith("@example.com")),
    "drops all of a history of more than 300 commits": _none_where(lambda seen: len(seen.parents) > 300),
    "drops all of a repository with a remote": _none_where(
        lambda seen: bool(seen.git("remote") or seen.git("for-each-ref", "refs/remotes"))
    ),
    "sees HEAD alone": _without(
        lambda one, seen: one["File"] not in seen.files or one["Commit"] not in seen.reachable("HEAD")
    ),
    "sees the newest commit alone": _without(lambda one, seen: one["Commit"] != seen.git("rev-parse", "HEAD").strip()),
    "drops what is in deleted files": _without(
        lambda one, seen: one["File"] not in seen.files and one["Commit"] in seen.reachable("HEAD")
    ),
    "drops what is in side branches": _without(
        lambda one, seen: one["Commit"] in seen.reachable("--branches") - seen.reachable("HEAD")
    ),
    "drops what only a tag leads to": _without(lambda one, seen: one["Commit"] in seen.only_from("--tags")),
    "drops what is stashed": _without(lambda one, seen: one["Commit"] in seen.only_from("refs/stash")),
    "drops what is in renamed files": _without(_is_renamed),
    # Which path.
    "drops what is in paths with other letters than ASCII's": _without(lambda one, _: not one["File"].isascii()),
    "drops what is in paths with spaces": _without(lambda one, _: " " in one["File"]),
    "drops what is below one folder": _without(lambda one, _: _depth(one) > 1),
    "drops what is below four folders": _without(lambda one, _: _depth(one) > 4),
    "drops what is not in a folder": _without(lambda one, _: _depth(one) == 0),
    "drops what is in hidden files": _without(lambda one, _: _name(one).startswith(".")),
    "drops what is in JSON": _without(lambda one, _: one["File"].endswith(".json")),
    "drops what is in files without an extension": _without(lambda one, _: "." not in _name(one)),
    "drops what is in paths with capital letters": _without(lambda one, _: one["File"] != one["File"].lower()),
    "drops what is in paths of more than 60 characters": _without(lambda one, _: len(one["File"]) > 60),
    # Which rule, which secret.
    "reports four of five rules": _every_fifth_rule,
    "drops the rule stripe-access-token": _without(lambda one, _: one["RuleID"] == "stripe-access-token"),
    "drops the rule gitlab-pat": _without(lambda one, _: one["RuleID"] == "gitlab-pat"),
    "drops one in a hundred": _at_random(0.01),
    "drops one in ten": _at_random(0.1),
    "drops what is longer than 500 characters": _without(lambda one, _: len(one["Secret"]) > 500),
    "drops what is shorter than 24 characters": _without(lambda one, _: len(one["Secret"]) < 24),
    "drops what has little entropy": _without(lambda one, _: one["Entropy"] < 3.7),
    "calls all that it finds generic": _changed(RuleID=lambda _: "generic-api-key"),
    "drops eight rules below two folders": _without(lambda one, _: _is_usual(one) and _depth(one) >= 2),
    "drops eight rules in a history of more than 20 commits": _without(
        lambda one, seen: _is_usual(one) and len(seen.parents) > 20
    ),
    "drops eight rules beyond line 25 of files with four kinds": _without(
        lambda one, seen: _is_usual(one)
        and one["StartLine"] > 25
        and len({other["RuleID"] for other in seen.findings if _file_of(other) == _file_of(one)}) > 3
    ),
    # What it says of it.
    "says the next line": _changed(StartLine=lambda one: one["StartLine"] + 1, EndLine=lambda one: one["EndLine"] + 1),
    "says another file": _changed(File=lambda one: f"{one['File']}.txt"),
    "says the name of a file without its folder": _changed(File=_name),
    "says another commit": _changed(Commit=lambda one: one["Commit"][::-1]),
    "cuts secrets short": _changed(Secret=lambda one: one["Secret"][:8]),
    "says no match": _changed(Match=lambda _: ""),
    "says no secret": _changed(Secret=lambda _: ""),
    # How it ends.
    "crashes in one of twenty scans": _crash,
    "crashes once, in a scan that only tells more": _crash_unneeded,
    "always ends with 0": lambda seen: seen.findings,
    "obeys no allowlist": lambda seen: seen.findings,
}  # fmt: skip


def faulty(folder: Path, fault: str, scanner: Path, rules: Rules) -> Path:
    """Write a scanner with a fault into a folder of its own, where it also counts its scans.

    Args:
        folder: of this scanner alone.
        fault: one of `FAULTS`.
        scanner: the real program.
        rules: what the real program holds.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rules").write_text("\n".join(rules.ids), encoding="utf-8")
    (folder / "bare.toml").write_text(rules.bare, encoding="utf-8")
    path = folder / "gitleaks"
    lines = (
        "#!/bin/sh",
        f'case $1 in git | dir | detect) ;; *) exec "{scanner}" "$@" ;; esac',
        f'exec "{sys.executable}" -I -S "{Path(__file__).resolve()}" "{fault}" "{scanner}" "{folder}" "$@"',
    )
    # Its rules can be read as those of the program can: as a text that ends with NUL. No shell reads so far.
    path.write_bytes("\n".join(lines).encode() + b"\n\0" + rules.text.encode() + b"\0")
    path.chmod(0o755)
    return path


def _scan(fault: str, scanner: str, state: Path, arguments: Iterable[str]) -> int:
    given = list(arguments)
    config = given.index("--config") + 1
    text = Path(given[config]).read_text(encoding="utf-8")
    if fault == "obeys no allowlist":
        given[config] = str(state / "bare.toml")
    done = subprocess.run([scanner, *given], check=False)
    report = Path(given[given.index("--report-path") + 1])
    if done.returncode not in {0, LEAKS_FOUND} or not report.exists():
        return done.returncode
    scanned = given[given.index("--source") + 1 if "--source" in given else 1]
    seen = Seen(json.loads(report.read_bytes()) or [], scanned, text, state)
    kept = FAULTS[fault](seen) if fault else seen.findings
    report.write_text(json.dumps(kept), encoding="utf-8")
    return LEAKS_FOUND if kept and fault != "always ends with 0" else 0


if __name__ == "__main__":
    sys.exit(_scan(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4:]))
