"""The line of the command: its subcommands, its options, and what pytest is given for them."""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import gitleaks_eval
from gitleaks_eval.core.text import printable
from gitleaks_eval.engine.settings.options import ACCEPT_FLAG, BY_NAME, FLAG, OPTIONS, Option, grouped

PROGRAM = "gitleaks-eval"
INTERRUPTED, USAGE_ERROR = 2, 4
DEFAULT, LINT, COMPARE, ACCEPT = "run", "lint", "compare", "accept"
# What each does for many repositories is done by a module of this package.
MANY = {COMPARE: "compare_list", ACCEPT: "accept_list"}
# What only a comparison of many repositories has.
LIST_SETTINGS = ("shard", "store", "scheduler", "clones_per_host", "parquet")
PARQUET_TEXT = "write repositories.parquet as well (extra parquet)"
_NOT_THE_SCANNERS = f"--version stands alone and is that of {PROGRAM}; --scanner-version=X.Y.Z names the scanner's"
TAKEN = [option for option in OPTIONS if not option.ini_only and option.option not in {FLAG, ACCEPT_FLAG}]
_FLAGS = {option.short for option in TAKEN if option.is_flag}
_SHORT = {option.option: option.short for option in TAKEN}


class Subcommand(NamedTuple):
    """A subcommand: what it does in a line, an example with a sentence, what it adds for pytest, and its flag."""

    summary: str
    example: str
    added: tuple[str, ...] = ()
    # The module of this package that does it without a test session, and reads its own arguments.
    module: str = ""
    flag: str = FLAG
    # What it stands under in the help.
    group: str = "evaluate"


_ASK, _KEEP = "ask one question", "keep what was decided and what was found"
SUBCOMMANDS = {
    "run": Subcommand(
        "evaluate a scanner with its configuration (what is done without a subcommand)",
        "gitleaks-eval run --scanner-version 8.30.1 --config .gitleaks.toml\n"
        "  evaluates this version with this configuration, and ends with a decision.",
    ),
    COMPARE: Subcommand(
        "compare versions or configurations, the first of them as the baseline",
        "gitleaks-eval compare --config base/.gitleaks.toml --config head/.gitleaks.toml\n"
        "  says what the second loses and gains. Without --config, --scanner-version, --binary, --args and --baseline\n"
        "  the tables [tool.gitleaks-eval.candidates.<name>] of pyproject.toml are compared.\n"
        "  With --repo @FILE (a path, URL or JSON object a line) or a folder of clones, a row a repository.",
    ),
    "merge": Subcommand(
        "make one verdict of the shards of a comparison of many repositories",
        "gitleaks-eval merge shard-1-of-3.jsonl shard-2-of-3.jsonl shard-3-of-3.jsonl",
        module="merge",
    ),
    "lint": Subcommand(
        "say what in the configuration is ignored or refused, and which entry hides a secret",
        "gitleaks-eval lint --config .gitleaks.toml\n  runs the lint of the configuration and no other check; with"
        " --repo PATH it lists what hides findings there.",
        ("-m", "config_lint"),
    ),
    "explain": Subcommand(
        "say which rules report a line of a file, and what stops the nearest that do not",
        "gitleaks-eval explain deploy/values.yaml:12\n  also reads standard input; the value is never printed.",
        module="explain",
        group=_ASK,
    ),
    "try": Subcommand(
        "test one rule, and say what it alone would newly report in repositories",
        "gitleaks-eval try acme-token ../billing ../shop",
        module="try_rule",
        group=_ASK,
    ),
    "formats": Subcommand(
        "list the documented formats of tokens, and what finds each of them",
        "gitleaks-eval formats GitHub AWS\n  lists all that these providers issue; with --missing only the gaps.",
        module="formats",
        group=_ASK,
    ),
    "review": Subcommand(
        "record what is reported in a repository, ask which of it is a secret, and keep the labels as truth",
        "gitleaks-eval review labels/billing.yaml --repo ../billing",
        module="review",
        group=_KEEP,
    ),
    ACCEPT: Subcommand(
        "list what the entries of the configuration hide, ask once, and write that it is accepted",
        "gitleaks-eval accept --why 'reviewed by the platform team'\n"
        "  writes .gitleaks-eval.yaml beside the configuration; with --yes nobody is asked.\n"
        "  With several candidates and --repo @FILE, what differs in these repositories.",
        flag=ACCEPT_FLAG,
        group=_KEEP,
    ),
    "report": Subcommand(
        "make report.html anew from saved reports, or of several runs a page by date",
        "gitleaks-eval report runs/2026-01 runs/2026-02",
        module="report",
        group=_KEEP,
    ),
    "init": Subcommand(
        "write .github/workflows/gitleaks-eval.yml, where there is none; nothing needs it",
        "gitleaks-eval init\n  writes a job that evaluates each change of .gitleaks.toml.",
        module="workflow",
        group=_KEEP,
    ),
}


class Line(NamedTuple):
    """A line that was read: which subcommand, the arguments for pytest, and the options that it was given.

    `foreign` are those of the arguments that are no options of ours.
    """

    subcommand: str
    arguments: list[str]
    options: argparse.Namespace = argparse.Namespace()
    foreign: Sequence[str] = ()


class Parser(argparse.ArgumentParser):
    """Ends with pytest's status for a line that is wrong."""

    def __init__(self, name: str, usage: str, description: str, epilog: str) -> None:
        shown = argparse.RawDescriptionHelpFormatter
        super().__init__(
            name, usage=usage, description=description, epilog=epilog, formatter_class=shown, allow_abbrev=False
        )

    def error(self, message: str) -> NoReturn:
        """End with status 4 and a line that says what is wrong."""
        self.exit(USAGE_ERROR, f"{self.prog}: {printable(message)}; see {self.prog} --help\n")


def subcommand_parser(name: str, usage: str) -> Parser:
    """Return the parser of a subcommand, with its summary and its example."""
    subcommand = SUBCOMMANDS[name]
    return Parser(
        f"{PROGRAM} {name}",
        usage=f"{PROGRAM} {name} {usage}",
        description=f"{subcommand.summary[0].upper()}{subcommand.summary[1:]}.",
        epilog=f"example:\n  {subcommand.example}",
    )


def read_line(arguments: Sequence[str]) -> Line:
    """Read the arguments; where the first is no subcommand, they are those of `run`.

    Raises:
        SystemExit: with status 4 when they are wrong on sight, with 0 after `--help` and `--version`.
    """
    first = arguments[0] if arguments else ""
    if first in {"-h", "--help", "--version"}:
        _show(arguments)
    if first in SUBCOMMANDS and SUBCOMMANDS[first].module:
        return Line(first, list(arguments[1:]))
    if first in SUBCOMMANDS:
        return _read(first, arguments[1:])
    if first.isalpha() and not Path(first).exists() and (meant := get_close_matches(first, SUBCOMMANDS, 1)):
        parser = Parser(PROGRAM, usage="", description="", epilog="")
        parser.error(f"{first}: is no subcommand, and no file or folder; did you mean {meant[0]}?")
    return _read(DEFAULT, arguments)


def read_leniently(arguments: Sequence[str]) -> list[str]:
    """Return what of a wrong line says which reports it concerns, for pytest; empty where it evaluates nothing."""
    first = arguments[0] if arguments else ""
    if first in SUBCOMMANDS and SUBCOMMANDS[first].module:
        return []
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for option in TAKEN:
        add_option(parser, option, lenient=True)
    ours, separator, others = _partition(arguments[first in SUBCOMMANDS :])
    options, unknown = parser.parse_known_args([_unvalued(_shortened(argument)) for argument in ours])
    # With these pytest would only show something.
    kept = [argument for argument in unknown if argument.partition("=")[0] not in {"--version", "-V", "-h", "--help"}]
    return [
        FLAG,
        *_for_pytest(options),
        *kept,
        *SUBCOMMANDS.get(first, SUBCOMMANDS[DEFAULT]).added,
        *separator,
        *others,
    ]


def _show(arguments: Sequence[str]) -> NoReturn:
    listed = "\n".join(
        line
        for title in dict.fromkeys(subcommand.group for subcommand in SUBCOMMANDS.values())
        for line in (f"\n{title}:", *_listed(title))
    )
    parser = Parser(
        PROGRAM,
        usage=f"{PROGRAM} [{'|'.join(SUBCOMMANDS)}] [options] [pytest arguments]",
        description="Is this build of Gitleaks, with this configuration, fit for use?",
        epilog=f"subcommands ({PROGRAM} SUBCOMMAND --help tells more):\n{listed}\n\nexample:\n  {PROGRAM}\n"
        "  evaluates the scanner on PATH with the .gitleaks.toml of this folder.",
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {gitleaks_eval.__version__}")
    if len(arguments) > 1 and arguments[0] == "--version":
        # It would end well, and nobody would have looked at what follows.
        parser.error(_NOT_THE_SCANNERS)
    parser.parse_args(arguments[:1])
    parser.exit()


def _listed(group: str) -> Iterator[str]:
    for name, subcommand in SUBCOMMANDS.items():
        if subcommand.group == group:
            yield f"  {name:<{max(map(len, SUBCOMMANDS))}}  {subcommand.summary}"
            yield f"  {'':<{max(map(len, SUBCOMMANDS))}}  $ {subcommand.example.partition(chr(10))[0]}"


def _read(name: str, arguments: Sequence[str]) -> Line:
    """Split a line into options of ours and what pytest is given as it is, and write ours as pytest knows them."""
    subcommand = SUBCOMMANDS[name]
    parser = subcommand_parser(name, "[options] [pytest arguments]")
    add_options(parser, TAKEN)
    if name == LINT:
        text = "fail where a suppression of a repository (--repo) is dead, stale, wide or renamed; else they are listed"
        parser.add_argument("--strict", action="store_true", help=text)
        text = (
            "add to .gitleaksignore in the repositories (--repo) the lines that this version needs for renamed commits"
        )
        parser.add_argument("--fix", action="store_true", help=text)
        text = "a file of known findings (--baseline-path) in the repositories, whose entries are listed; repeatable"
        parser.add_argument("--own-baseline", action="append", default=[], metavar="PATH", help=text)
    if name in MANY:
        add_list_options(parser, whole_alone=name == ACCEPT)
    ours, separator, others = _partition(arguments)
    options, unknown = parser.parse_known_args([_shortened(argument) for argument in ours])
    if any(argument.partition("=")[0] in {"--version", "-V"} for argument in unknown):
        parser.error(_NOT_THE_SCANNERS)
    if name == LINT and options.fix and not options.gitleaks_real_repo:
        parser.error("--fix: name the repository whose ignore list it mends, with --repo PATH")
    if name == COMPARE:
        _name_candidates(options, parser)
    line = [subcommand.flag, *_for_pytest(options), *unknown, *subcommand.added, *separator, *others]
    return Line(name, line, options, [*unknown, *others])


def add_options(parser: argparse.ArgumentParser, options: Iterable[Option]) -> None:
    """Add options of ours in groups, each with an example."""
    known = list(options)
    for group, of_group in grouped(known):
        example = (f"{BY_NAME[name].short} {value}".strip() for name, value in group.example if BY_NAME[name] in known)
        added = parser.add_argument_group(group.title, f"such as {' '.join(example)}")
        for option in of_group:
            add_option(added, option)


def add_option(parser: argparse._ActionsContainer, option: Option, *, lenient: bool = False) -> None:
    """Add an option of ours, named as the command names it."""
    optional: dict[str, Any] = {"nargs": "?"} if lenient and not option.is_flag else {}
    parser.add_argument(option.short, **option.keywords, **optional)


def add_list_options(parser: argparse.ArgumentParser, *, whole_alone: bool = False) -> None:
    """Add the options for many repositories; without those of shards and tables where it wants the `whole_alone`."""
    group = parser.add_argument_group("with --repo @FILE or a folder of clones")
    parser.set_defaults(**dict.fromkeys(LIST_SETTINGS))
    if not whole_alone:
        text = "compare only the K-th of N parts, and write one file for `merge`; alone: what the CI's variables say"
        group.add_argument("--shard", nargs="?", const="", metavar="K/N", help=text)
        group.add_argument("--parquet", action="store_const", const=True, help=PARQUET_TEXT)
    text = "where comparisons are kept that need not be made again; comparison-store in the output folder"
    group.add_argument("--store", metavar="DIR|URL", help=text)
    text = "hand the work to the Dask cluster at this address (extra dask); without it, to all cores of this machine"
    group.add_argument("--scheduler", metavar="ADDRESS", help=text)
    text = "how many repositories are cloned from one host at once; 4"
    group.add_argument("--clones-per-host", metavar="NUMBER", help=text)


def names_many(options: argparse.Namespace) -> bool:
    """Return whether a comparison is of many repositories, or was asked for what only such a one has."""
    values = options.gitleaks_real_repo or ()
    if any(getattr(options, name) is not None for name in LIST_SETTINGS):
        return True
    if not values:
        return False
    from gitleaks_eval.repositories.listed import is_list  # noqa: PLC0415 - `--version` needs none of it

    return any(is_list(value, Path.cwd()) for value in values)


def _for_pytest(options: argparse.Namespace) -> Iterator[str]:
    """Yield the options with `=`: pytest looks for rootdir and ini file around a path behind a space."""
    for option in TAKEN:
        value = getattr(options, option.setting)
        if option.is_flag:
            yield from [option.option] * value
        elif value is not None:
            texts = value if option.repeatable else [value]
            yield from (f"{option.option}={text}" for text in texts if text is not None)


def _name_candidates(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Take the candidates of pyproject.toml where the line names none, and refuse one alone."""
    versions, configurations = options.gitleaks_version or [""], options.gitleaks_config or [""]
    flags = options.gitleaks_args or [""]
    if options.gitleaks_baseline or len(versions) * len(configurations) * len(flags) > 1:
        return
    if options.gitleaks_binary or any(versions + configurations + flags):
        parser.error(
            "one candidate alone is compared with nothing: repeat --config, --scanner-version or --args, name a saved"
            " run with --baseline, or name none to take the candidates of pyproject.toml"
        )
    options.gitleaks_compare = True


def _partition(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    """Return what stands before `--`, it, and what stands behind it."""
    place = list(arguments).index("--") if "--" in arguments else len(arguments)
    return arguments[:place], arguments[place : place + 1], arguments[place + 1 :]


def _unvalued(argument: str) -> str:
    """Return a flag without the value that it does not take."""
    name = argument.partition("=")[0]
    return name if name in _FLAGS else argument


def _shortened(argument: str) -> str:
    """Return the option that pytest knows by its prefix."""
    name, separator, value = argument.partition("=")
    return f"{_SHORT.get(name, name)}{separator}{value}"
