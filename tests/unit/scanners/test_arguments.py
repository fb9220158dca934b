"""Flags that a user gives a candidate: which are passed on, and what they say of log and depth."""

import pytest

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.scanners.arguments import decode_depth, log_options, read_arguments


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("", ()),
        ("--max-archive-depth 2", ("--max-archive-depth", "2")),
        ('--log-opts="--all -m"', ("--log-opts=--all -m",)),
        ("--log-opts '-c HEAD'", ("--log-opts", "-c HEAD")),
        ("--ignore-gitleaks-allow --enable-rule=jwt", ("--ignore-gitleaks-allow", "--enable-rule=jwt")),
        ("-i ignored.txt", ("-i", "ignored.txt")),
    ],
)
def test_flags_are_split_as_a_shell_does(text: str, flags: tuple[str, ...]) -> None:
    assert read_arguments(text, "--gitleaks-args") == flags


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *((flag, flag.partition("=")[0].partition(" ")[0]) for flag in (
            "--source .", "-s .", "-s.", "--report-path=x", "-rx", "--report-format sarif", "-f json", "--exit-code 0",
            "--config=a", "-c a", "--redact", "--redact=100", "-b x", "--baseline-path x", "-l debug",
            "--log-level=error", "--verbose", "-v", "--no-git", "--staged", "--pre-commit", "--validation", "--help",
            "--max-archive-depth 2 --report-template x",
        )),
    ],
)  # fmt: skip
def test_flags_that_we_need_are_refused_by_name(text: str, name: str) -> None:
    with pytest.raises(InputError) as caught:
        read_arguments(text, "--gitleaks-args")
    shown = str(caught.value)
    assert shown.startswith(f"--gitleaks-args {text!r}: ")
    assert (name if "--report-template" not in text else "--report-template") in shown.partition(": ")[2]


@pytest.mark.parametrize(
    ("text", "mode", "problem"),
    [
        ('--log-opts "x', "git", "cannot be split"),
        ("extra", "git", "'extra' is no flag"),
        ("-- x", "git", "'--' is no flag"),
        ("--log-opts=-m", "staged", "which mode staged does not read"),
        ("--log-opts='--all --output=/tmp/x'", "git", "--output=/tmp/x"),
        ("--log-opts --ext-diff", "git", "--ext-diff"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, mode: str, problem: str) -> None:
    with pytest.raises(InputError, match=r".*") as caught:
        read_arguments(text, "args", mode)
    assert problem in str(caught.value)


def test_the_last_log_options_and_the_decode_depth_are_read() -> None:
    flags = ("--log-opts", "--all", "--log-opts=-m --all", "--max-decode-depth", "3")
    assert (log_options(flags), decode_depth(flags)) == ("-m --all", 3)
    assert (log_options(()), decode_depth(("--max-decode-depth=x",))) == (None, None)
