"""Which flags may make a scanner look at less, and the flags without them."""

from pathlib import Path

import pytest

from gitleaks_eval.repositories.git import run_git
from gitleaks_eval.scanners.dates import moved
from gitleaks_eval.scanners.limits import limits, timeout_of, with_limits


@pytest.mark.parametrize(
    ("args", "texts"),
    [
        (["--log-opts=--no-merges"], ["--log-opts=--no-merges"]),
        (["--log-opts", "--all  --no-merges"], ["--log-opts=--all", "--log-opts=--no-merges"]),
        (["--log-opts=-n 200 --author bot"], ["--log-opts=-n 200", "--log-opts=--author bot"]),
        (["--log-opts=main ^old --first-parent"], ["--log-opts=--first-parent", "--log-opts=main ^old"]),
        (["--log-opts=--all -- . :(exclude)services"], ["--log-opts=--all", "--log-opts=-- . :(exclude)services"]),
        (["--log-opts=--all", "--log-opts=-Sx"], ["--log-opts=-Sx"]),
        (["-i", "ignored"], ["-i=ignored"]),
        (["--max-target-megabytes", "1", "--enable-rule=a"], ["--max-target-megabytes=1", "--enable-rule=a"]),
        (["--max-decode-depth=0", "--nobody-knows-it"], ["--max-decode-depth=0", "--nobody-knows-it"]),
        (["--no-color", "--ignore-gitleaks-allow", "--match-context", "10L", "--timeout", "9"], []),
        ([], []),
    ],
)
def test_each_flag_that_may_look_at_less_is_a_limit_in_its_own_words(args: list[str], texts: list[str]) -> None:
    assert [limit.text for limit in limits(args)] == texts


def test_the_flags_without_a_limit_are_the_others() -> None:
    args = ["--no-color", "--log-opts=--all -Sx -- src docs", "-i", "ignored", "--timeout=9"]
    all_, pickaxe, paths, ignoring = limits(args)
    assert with_limits(args, ()) == ("--no-color", "--timeout=9")
    assert with_limits(args, [pickaxe]) == ("--no-color", "--timeout=9", "--log-opts=-Sx")
    assert with_limits(args, [ignoring]) == ("--no-color", "-i", "ignored", "--timeout=9")
    kept = ("--no-color", "--timeout=9", "--log-opts=--all -- src docs")
    assert with_limits(args, [all_, paths]) == kept


def test_a_time_limit_of_the_scanner_is_told_apart() -> None:
    assert timeout_of(["--no-color", "--timeout", "9"]) == "--timeout=9"
    assert not timeout_of(["--no-color"])


def test_a_date_is_as_far_from_the_newest_commit_as_it_is_from_today(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "--quiet")
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    run_git(tmp_path, *identity, "commit", "--quiet", "--allow-empty", "--message=one")
    newest = int(run_git(tmp_path, "log", "-1", "--format=%ct"))
    [flag] = moved(["--log-opts=--since=2.days.ago -Sx"], tmp_path)
    name, _, rest = flag.removeprefix("--log-opts=").partition("=")
    seconds, _, more = rest.partition(" ")
    assert (name, more) == ("--max-age", "-Sx")
    assert abs(newest - 2 * 86_400 - int(seconds)) < 60
    assert moved(["--log-opts=--since-nothing", "--no-color"], tmp_path) == ("--log-opts=--since-nothing", "--no-color")
