"""What the scanner itself refuses or warns of in a configuration, asked of it."""

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import tomli_w

from gitleaks_eval.config.chain import ConfigFile, Configuration, copy_configuration, parsed
from gitleaks_eval.config.lint import Problem
from gitleaks_eval.config.tables import FILTERS, Address, Table, allowlists, items, named, place, tables, value_of
from gitleaks_eval.core.process import Finished, run_limited
from gitleaks_eval.repositories.git import git_environment
from gitleaks_eval.scanners.build import ScannerBuild
from gitleaks_eval.scanners.expressions import ask_expressions, complaints, warned
from gitleaks_eval.scanners.load_errors import NO_REGEX, REFUSES, load_error, refusal
from gitleaks_eval.scanners.scan import kind_of_error

BROKEN_AT_MOST = 10
ASK_SECONDS = 30
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_REGEX_ERROR = re.compile(r"error parsing regexp: ([^:`]*)(?:: `([^`]{1,8})`)?")
_NO_SUCH_RULE = re.compile(r"WRN Disabled rule doesn't exist in extended config\. .*rule-id=(.*)")
_NAMED_RULE = re.compile(r"\brule(?:[ _-]?id)?[ =:]+[\"']?([\w.-]+)", re.IGNORECASE)


def ask_scanner(build: ScannerBuild, configuration: Configuration, scratch: Path) -> list[Problem]:
    """Have the scanner load the configuration, and say what it refuses (a regex, with its place) or warns of.

    Args:
        build: the scanner under test.
        configuration: the chain of files.
        scratch: a private folder, in which everything that is written is removed again.

    Raises:
        EvaluationError: when the scanner cannot be run or does not end.
    """
    if not configuration.chain:
        return []
    done = _loaded(build, configuration, scratch)
    log = _ANSI.sub("", done.stderr + done.stdout)
    if _REGEX_ERROR.search(log):
        return _broken_regexes(build, configuration, scratch)
    if done.status:
        if said := load_error(log):
            return [refusal(configuration, said)]
        kind = kind_of_error(done).removeprefix(": ") or f"exit code {done.status}"
        return [Problem(configuration.chain[0].path, "", f"{REFUSES}{kind}")]
    missing = {rule.strip() for rule in _NO_SUCH_RULE.findall(log)}
    return [
        *(
            Problem(file.path, place((*address, *below)), "no rule has this id, so none is disabled")
            for file in configuration.chain
            for address, extend in tables(parsed(file), "extend")
            for below, rule in items(extend, "disabledrules")
            if rule in missing
        ),
        *(_warning(configuration, said) for said in complaints(log)),
        *ask_expressions(build, configuration, scratch),
    ]


def _warning(configuration: Configuration, said: str) -> Problem:
    """Return what the scanner says, at the rule or the expression that it names, else at the first file."""
    named_rule = _NAMED_RULE.search(said)
    rule_id = named_rule[1] if named_rule else None
    path, where = configuration.chain[0].path, ""
    for file in configuration.chain:
        document = parsed(file)
        rules = [address for address, rule in tables(document, "rules") if value_of(rule, "id") == rule_id]
        tops = [(found[0],) for name in FILTERS if re.search(rf"\b{name}\b", said) and (found := named(document, name))]
        if addresses := [*(rules if rule_id else ()), *tops]:
            path, where = file.path, place(addresses[0])
            break
    return Problem(path, where, warned(said, rule_id))


def first_broken(regexes: Sequence[str], error_of: Callable[[Sequence[str]], str | None]) -> tuple[int, str] | None:
    """Return the index of the first regex that does not compile, and why; None when all do.

    `error_of` says of some regexes why one of them does not compile.
    """
    reason = error_of(regexes)
    if reason is None:
        return None
    good, bad = 0, len(regexes)
    while bad - good > 1:
        middle = (good + bad) // 2
        if error := error_of(regexes[good:middle]):
            bad, reason = middle, error
        else:
            good = middle
    return good, error_of(regexes[good:bad]) or reason


def _regexes(document: Table) -> Iterator[tuple[Address, str]]:
    for address, rule in tables(document, "rules"):
        for name in ("regex", "path"):
            yield from (((*address, *below), text) for below, text in items(rule, name))
    for address, allowlist in allowlists(document):
        for name in ("paths", "regexes"):
            yield from (((*address, *below), text) for below, text in items(allowlist, name))


def _loaded(build: ScannerBuild, configuration: Configuration, scratch: Path) -> Finished:
    """Have the scanner load a configuration, and scan an empty folder with it."""
    with tempfile.TemporaryDirectory(prefix="lint-", dir=scratch) as name:
        folder = Path(name)
        (folder / "empty").mkdir()
        (folder / "config").mkdir()
        config = copy_configuration(configuration, folder / "config")
        source = ["dir", "empty"] if build.command == "git" else ["detect", "--no-git", "--source", "empty"]
        return run_limited(
            [build.program, *source, "--config", str(config), "--log-level", "warn", "--no-banner"],
            folder,
            {**git_environment(), "TMPDIR": str(folder), "XDG_CONFIG_HOME": str(folder)},
            ASK_SECONDS,
        )


def _broken_regexes(build: ScannerBuild, configuration: Configuration, scratch: Path) -> list[Problem]:
    def error_of(regexes: Sequence[str]) -> str | None:
        rules = [{"id": f"rule-{index}", "regex": regex} for index, regex in enumerate(regexes)]
        content = tomli_w.dumps({"rules": rules}).encode()
        alone = ConfigFile(configuration.chain[0].path, content, extends_default=False)
        done = _loaded(build, Configuration((alone,), configuration.why), scratch)
        error = _REGEX_ERROR.search(_ANSI.sub("", done.stderr + done.stdout))
        return f"{error[1].strip()} {error[2] or ''}".strip() if error else None

    all_of_them = [
        (file.path, place(address), text)
        for file in configuration.chain
        for address, text in _regexes(parsed(file))
        if isinstance(text, str) and text
    ]
    problems: list[Problem] = []
    while len(problems) < BROKEN_AT_MOST:
        broken = first_broken([text for _, _, text in all_of_them], error_of) if all_of_them else None
        if broken is None:
            break
        index, reason = broken
        path, where, _ = all_of_them[index]
        problems.append(Problem(path, where, f"{NO_REGEX}{reason}"))
        all_of_them = all_of_them[index + 1 :]
    return problems
