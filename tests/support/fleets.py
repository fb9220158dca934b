"""Rows of many repositories without any scanner, and small repositories that a scanner finds something in."""

from pathlib import Path

from builders import git, secret

from gitleaks_eval.scoring.fleet import PairRow, RepositoryRow
from gitleaks_eval.scoring.real_differences import LOST, Other, RealComparison, RealDifference

PAIR = ("base", "head")
CAUSE = "hidden by head.toml [allowlist] paths[0]"


def difference(
    kind: str = LOST,
    rule: str = "github-pat",
    cause: str | None = CAUSE,
    *,
    in_head: bool = True,
    count: int = 1,
    line: int = 3,
) -> RealDifference:
    others = tuple(Other("c1", "b.env", number) for number in range(1, count))
    return RealDifference(kind, "c1", "a.env", line, rule, None, in_head, cause, count, others=others)


def comparison(name: str, *differences: RealDifference, same: int = 2) -> RealComparison:
    return RealComparison(name, "c1", same, differences, (1.0, 2.0), (1024, None))


def row(number: int, *differences: RealDifference, problem: str = "", truth_lost: int | None = None) -> RepositoryRow:
    name = f"repo{number}"
    real = None if problem else comparison(name, *differences)
    better = None if truth_lost is None else 0
    return RepositoryRow(number, name, f"/{name}", (PairRow(*PAIR, real, problem, truth_lost, better),))


def small_repositories(folder: Path, count: int) -> list[str]:
    """Repositories of one or two commits, and the planted values: some stand in history alone, none in the sixth."""
    values: list[str] = []
    for number in range(count):
        path = folder / f"repo{number:02}"
        path.mkdir(parents=True)
        git(path, "init", "-q", "-b", "main")
        files = {"a.env": secret("github-pat", f"many {number}") if number != 5 else "nothing"}
        if number % 3 == 1:
            files["slack.env"] = secret("slack-bot-token", f"many {number}")
        if number == 3:
            files["deploy/prod.env"] = secret("github-pat", f"many deployed {number}")
        for name, value in files.items():
            (path / name).parent.mkdir(exist_ok=True)
            (path / name).write_text(f"X={value}\n", encoding="ascii")
        values += [value for value in files.values() if value != "nothing"]
        git(path, "add", ".")
        git(path, "commit", "-q", "-m", "one")
        if number % 4 == 0:
            git(path, "rm", "-q", "slack.env" if "slack.env" in files else "a.env")
            git(path, "commit", "-q", "--allow-empty", "-m", "two")
    return values
