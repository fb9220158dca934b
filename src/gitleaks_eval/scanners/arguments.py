"""Flags of the scanner that a user gives a candidate: passed as given, but for those that we need ourselves."""

import shlex
from collections.abc import Iterator, Sequence

from gitleaks_eval.core.errors import InputError

LOG_OPTIONS = "--log-opts"
DECODE_DEPTH = "--max-decode-depth"
# With short forms, which gitleaks and betterleaks have in common.
_OURS = {
    "--source": ("-s", "the scanner is given the repository of each scenario"),
    "--report-path": ("-r", "the report is what is evaluated"),
    "--report-format": ("-f", "the report is what is evaluated"),
    "--report-template": ("", "the report is what is evaluated"),
    "--exit-code": ("", "the exit code is what is evaluated"),
    "--config": ("-c", "name the configuration with --gitleaks-config, or as `config` of the candidate"),
    "--redact": ("", "findings are matched by their secrets, and every report masks them"),
    "--baseline-path": ("-b", "what it would leave out is not known here"),
    "--log-level": ("-l", "the log says what was read"),
    "--verbose": ("-v", "its output quotes secrets"),
    "--help": ("-h", "nothing would be scanned"),
    "--version": ("", "nothing would be scanned"),
    "--staged": ("", 'write mode = "staged" in the table of the candidate'),
    "--pre-commit": ("", 'write mode = "staged" in the table of the candidate'),
    "--no-git": ("", 'write mode = "dir" in the table of the candidate'),
    "--pipe": ("", "the scanner is given the repository of each scenario"),
    "--diagnostics": ("", "it changes nothing that is seen"),
    "--diagnostics-dir": ("", "it changes nothing that is seen"),
}
_SHORT = {short: name for name, (short, _) in _OURS.items() if short}
# What git would do then is no reading of the repository alone.
_NEVER_OF_GIT = ("--output", "--ext-diff", "--textconv", "--no-index")


def read_arguments(text: str, named_by: str, mode: str = "git") -> tuple[str, ...]:
    """Return the flags in a text, split as a shell does.

    Raises:
        InputError: when a quote is open, or a flag is one that we need, would call services, or fits no mode.
    """
    shown = f"{named_by} {text!r}"
    try:
        flags = tuple(shlex.split(text))
    except ValueError as error:
        raise InputError(f"{shown}: cannot be split as a shell does: {error}") from None
    for flag in _names(flags):
        name = _SHORT.get(flag[:2], flag) if not flag.startswith("--") else flag
        if name in _OURS:
            raise InputError(f"{shown}: {flag} is not passed on: {_OURS[name][1]}; leave it out")
        if name.startswith("--validat"):
            raise InputError(
                f"{shown}: {flag} is not passed on: what is found must not leave this machine; leave it out"
            )
        if not flag.startswith("-") or flag in {"-", "--"}:
            raise InputError(f"{shown}: {flag!r} is no flag; write the value of a flag behind it")
    _check_log_options(log_options(flags), shown, mode)
    return flags


def log_options(flags: Sequence[str]) -> str | None:
    """The log options in these flags, as the scanner takes them: of several the last; None where there are none."""
    return _value(flags, LOG_OPTIONS)


def decode_depth(flags: Sequence[str]) -> int | None:
    """Return the decode depth in these flags, None where it is not named, or no number."""
    value = _value(flags, DECODE_DEPTH)
    return int(value) if value and value.isdecimal() else None


def _check_log_options(options: str | None, shown: str, mode: str) -> None:
    if options is None:
        return
    if mode != "git":
        raise InputError(f"{shown}: {LOG_OPTIONS} is about the history, which mode {mode} does not read; leave it out")
    for word in options.split(" "):
        if word.partition("=")[0] in _NEVER_OF_GIT or word.startswith("--output"):
            raise InputError(
                f"{shown}: {LOG_OPTIONS} has {word}, which git could write or run something for; leave it out"
            )


def _names(flags: Sequence[str]) -> Iterator[str]:
    """The flags without their values: what follows a flag without `=` is taken for one unless it looks like a flag."""
    rest = iter(flags)
    may_be_value = False
    for word in rest:
        if may_be_value and not word.startswith("-"):
            may_be_value = False
            continue
        name, is_joined, _ = word.partition("=")
        yield name
        may_be_value = not is_joined
        if name == LOG_OPTIONS and not is_joined:
            # Its value looks like flags itself.
            next(rest, None)
            may_be_value = False


def _value(flags: Sequence[str], name: str) -> str | None:
    found = None
    for index, word in enumerate(flags):
        if word == name and index + 1 < len(flags):
            found = flags[index + 1]
        elif word.startswith(f"{name}="):
            found = word.partition("=")[2]
    return found
