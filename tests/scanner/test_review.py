"""Review, evaluate, upgrade: what people have labelled is truth, and no value of it stands anywhere."""

import csv
import json
import os
import pty
import select
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import git, secret
from ran import evaluate

from gitleaks_eval import command
from gitleaks_eval.corpora.labels_file import LabelledFinding, read_labels

pytestmark = pytest.mark.usefixtures("own_environment")

USED, FIRST, SECOND = (secret("github-pat", seed) for seed in ("used", "first", "second"))
VALUES = (USED, FIRST, SECOND)
AUTHOR = "Ada Author"
PROMPT = b"q(uit): "
EXTENDS = "[extend]\nuseDefault = true\n"
WIDER = """\
[[rules]]
id = "github-pat"
regex = ".ghp_[A-Za-z0-9]{36}"

[[rules]]
id = "port"
regex = "port: [0-9]+"
"""
Drive = Callable[..., tuple[int, str]]


def commit(repository: Path, **files: str) -> None:
    for name, text in files.items():
        path = repository / name.replace("__", "/")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(repository, "add", "--all")
    git(repository, "-c", f"user.name={AUTHOR}", "-c", "user.email=ada@author.example", "commit", "-q", "-m", "change")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "billing"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    commit(
        path,
        deploy__values=f"replicas: 3\ntoken: {USED}\nport: 80\n",
        tests__fixtures=f"A = '{FIRST}'\n\n\n\n\n# see {USED[:20]}, and B\nB = '{SECOND}'\n",
    )
    commit(path, deploy__old=f"X=1\nTOKEN={USED}\n")
    return path


@pytest.fixture
def told(
    tmp_path: Path, gitleaks: Callable[[str], Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str]]:
    """Run a review where no terminal is; its status, and what it said, which holds no value and no author."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    binary = gitleaks("8.30.1")

    def run(*arguments: object, config: str = EXTENDS, name: str = "review") -> tuple[int, str]:
        (tmp_path / "own.toml").write_text(config, encoding="utf-8")
        options = [f"--binary={binary}", *["--config=own.toml"] * bool(config)]
        status = command.main([name, *options, *map(str, arguments)])
        text = "".join(capsys.readouterr())
        assert_nothing_is_told(text)
        return status, text

    return run


def assert_nothing_is_told(text: str) -> None:
    # Whole values are masked; half of one, in a comment, is not.
    text = text.replace(USED[:20], "")
    for value in VALUES:
        pieces = {value[start : start + 8] for start in range(4, len(value) - 7)}
        assert not [piece for piece in pieces if piece in text]
    assert AUTHOR not in text
    assert "ada@" not in text


def rows(path: Path) -> list[tuple[Any, ...]]:
    labels = read_labels(path).labels
    assert labels
    assert_nothing_is_told(path.read_text(encoding="utf-8"))
    return [(one.path, one.line, one.secret, one.label, one.stale) for one in labels.findings]


RECORDED = [
    ("deploy/old", 2, 1, "unreviewed", False),
    ("deploy/values", 2, 1, "unreviewed", False),
    ("tests/fixtures", 1, 2, "unreviewed", False),
    ("tests/fixtures", 7, 3, "unreviewed", False),
]


def test_a_record_has_a_finding_a_line_and_labels_none(told: Drive, repository: Path, tmp_path: Path) -> None:
    path = tmp_path / "labels/billing.yaml"
    status, text = told(path, "--repo", repository)
    assert status == 0
    assert "4 findings: 4 unreviewed, 4 new" in text
    found = rows(path)
    numbers = {one[2] for one in found}
    assert [(one[0], one[1], *one[3:]) for one in found] == [(one[0], one[1], *one[3:]) for one in RECORDED]
    assert len(numbers) == 3
    assert found[0][2] == found[1][2]
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert document["commit"] == git(repository, "rev-parse", "HEAD").decode().strip()
    assert document["repository"] == os.path.relpath(repository, path.parent)
    assert set(document["findings"][0]) == {"id", "path", "line", "columns", "rule", "commit", "secret", "label"}
    before = path.read_bytes()
    assert told(path, "--repo", repository)[0] == 0
    assert path.read_bytes() == before


def test_a_later_record_adds_what_is_new_marks_what_is_gone_and_keeps_every_label(
    told: Drive, repository: Path, tmp_path: Path
) -> None:
    moved, path = tmp_path / "moved", tmp_path / "labels.yaml"
    shutil.copytree(repository, moved)
    told(path, "--repo", moved)
    ids = {one.path: one.id for one in read_labels(path).labels.findings}  # type: ignore[union-attr]  # it was written
    told(path, "--set", f"{ids['deploy/old']}=true", "--set", f"{ids['deploy/values']}=false", "--why", "known")
    git(moved, "reset", "-q", "--hard", "HEAD~1")
    commit(moved, late=f"again = '{USED}'\n")
    status, text = told(path, "--repo", moved, "--check")
    assert (status, text.splitlines()[-1]) == (1, "3 unreviewed")
    assert len(rows(path)) == 4, "nothing is written where it is only checked"
    status, text = told(path, "--repo", moved)
    assert "5 findings: 1 false, 3 unreviewed, 1 stale, 1 new (1 more than before)" in text
    found = {one[0]: one[3:] for one in rows(path)}
    assert found["deploy/old"] == ("true", True)
    assert found["deploy/values"] == ("false", False)
    assert found["late"] == ("unreviewed", False)
    secrets = {one[0]: one[2] for one in rows(path)}
    assert secrets["late"] == secrets["deploy/values"]


def test_what_is_no_longer_reported_keeps_its_label_while_its_commit_is_there(
    told: Drive, repository: Path, tmp_path: Path
) -> None:
    """Marked as gone, a secret that an upgrade loses would be expected no more, and the upgrade be safe."""
    path = tmp_path / "labels.yaml"
    told(path, "--repo", repository)
    before = rows(path)
    status, text = told(path, "--repo", repository, config="[[rules]]\nid = 'x'\nregex = 'zzzz[0-9]{9}'\n")
    assert status == 0
    assert "4 findings: 4 unreviewed, 4 no longer reported" in text
    assert rows(path) == before
    assert len(before) == 4


def test_several_candidates_make_one_pool_in_which_what_two_report_stands_once(
    told: Drive, repository: Path, tmp_path: Path
) -> None:
    path = tmp_path / "labels.yaml"
    (tmp_path / "wider.toml").write_text(WIDER, encoding="utf-8")
    assert told(path, "--repo", repository, "--config=wider.toml")[0] == 0
    assert [(one[0], one[1]) for one in rows(path)] == sorted([*(one[:2] for one in RECORDED), ("deploy/values", 3)])
    labels = read_labels(path).labels
    assert labels
    assert labels.pool == ("own.toml, gitleaks 8.30.1", "wider.toml, gitleaks 8.30.1")


def test_in_ci_it_never_writes_and_says_how_many_are_unreviewed(
    told: Drive, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "labels.yaml"
    monkeypatch.setenv("CI", "true")
    status, text = told(path, "--repo", repository)
    assert (status, path.exists()) == (4, False)
    assert "CI is set" in text
    status, text = told(path, "--repo", repository, "--check")
    assert (status, text.splitlines()[-1], path.exists()) == (1, "4 unreviewed", False)


def test_a_table_goes_out_and_comes_back_and_no_cell_is_a_formula(
    told: Drive, repository: Path, tmp_path: Path
) -> None:
    path, table = tmp_path / "labels.yaml", tmp_path / "table.csv"
    told(path, "--repo", repository)
    why = '=HYPERLINK("x")\n"quoted"'
    assert told(path, "--set", "1=true", "--why", why)[0] == 0
    assert told(path, "--csv-out", table)[0] == 0
    with table.open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    assert_nothing_is_told(table.read_text(encoding="utf-8"))
    assert next(row["why"] for row in read if row["id"] == "1") == f"'{why}"
    for row in read:
        row["label"] = "false" if row["id"] == "2" else row["label"]
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, read[0])
        writer.writeheader()
        writer.writerows(read)
    status, text = told(path, "--csv-in", table)
    assert (status, text) == (0, "1 label changed, 2 unreviewed\n")
    labels = {one.id: one for one in read_labels(path).labels.findings}  # type: ignore[union-attr]  # it was written
    assert (labels[1].label, labels[1].why, labels[2].label) == ("true", why, "false")
    table.write_text(table.read_text(encoding="utf-8").replace("deploy/old", "deploy/other"), encoding="utf-8")
    status, text = told(path, "--csv-in", table)
    assert status == 4
    assert "table.csv:3: the path is not that of finding" in text


BROKEN: list[tuple[Callable[[str], str], str]] = [
    (lambda text: text[: text.index("findings:")], ":6: there is no `findings:`"),
    (lambda text: text[:-20], ":10: the last line has no end: it is truncated"),
    (lambda text: text.replace("label: unreviewed", "label: maybe", 1), ":7: label: 'maybe' is not one of"),
    (lambda text: text.replace("label: unreviewed", "label: true", 1), ":7: its label is true, and nobody says"),
    (lambda text: text + text.splitlines()[-1] + "\n", ":11: the id 4 stands in line 10, too"),
    (lambda text: text + text.splitlines()[-1].replace("id: 4", "id: 9") + "\n", ":11: this finding stands in line 10"),
    (lambda text: text.replace("\nfindings:", "\nvalue: x\nfindings:"), ":6: value: the key 'value' is not known"),
    (lambda text: text.replace('commit: "0', 'commit: "x', 1), ":4: commit: 'x000"),
]


@pytest.mark.parametrize(("damage", "said"), BROKEN)
def test_a_file_that_is_damaged_is_refused_with_its_line_and_left_as_it_is(
    told: Drive, tmp_path: Path, *, damage: Callable[[str], str], said: str
) -> None:
    path = tmp_path / "labels.yaml"
    found = [LabelledFinding(number, f"p{number}", 1, (1, 2), "r", "0" * 40, number) for number in (1, 2, 3, 4)]
    write(path, found)
    path.write_text(damage(path.read_text(encoding="utf-8")), encoding="utf-8")
    before = path.read_bytes()
    status, text = told(path, "--set", "1=true", "--why", "because")
    assert status == 4
    assert f"{path}" in text
    assert said in text
    assert path.read_bytes() == before


def write(path: Path, findings: Sequence[LabelledFinding], repository: str = "./x") -> None:
    from gitleaks_eval.corpora.labels_file import LabelsFile, as_text  # noqa: PLC0415 - beside its one use

    path.write_text(as_text(LabelsFile(repository, "0" * 40, (), tuple(findings))), encoding="utf-8")


def test_labels_of_another_repository_are_refused(told: Drive, repository: Path, tmp_path: Path) -> None:
    path = tmp_path / "labels.yaml"
    write(path, [LabelledFinding(1, "p", 1, (1, 2), "r", "1" * 40, 1)])
    status, text = told(path, "--repo", repository)
    assert status == 4
    assert "these are labels of another repository" in text


# --- Through a pseudo-terminal


def drive(keys: str, folder: Path, *arguments: object) -> tuple[int, str]:
    """Answer each prompt with the next key, as a person would; the status, and all that was on the screen."""
    pid, screen = pty.fork()
    if not pid:
        os.chdir(folder)
        environment = {name: value for name, value in os.environ.items() if name != "CI"}
        line = [sys.executable, "-c", "import sys; from gitleaks_eval.command import main; sys.exit(main())", "review"]
        os.execve(sys.executable, [*line, *map(str, arguments)], environment)  # noqa: S606 - a program of ours, on a terminal
    shown, answered = b"", 0
    while select.select([screen], [], [], 60)[0]:
        try:
            shown += os.read(screen, 4096)
        except OSError:
            break
        if shown.count(PROMPT) > answered and answered < len(keys):
            os.write(screen, keys[answered].encode())
            answered += 1
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()


def test_review_then_evaluate_then_upgrade(gitleaks: Callable[[str], Path], repository: Path, tmp_path: Path) -> None:
    path = tmp_path / "labels/billing.yaml"
    review = (path, "--repo", repository, "--binary", gitleaks("8.30.1"))
    status, text = drive("tq", tmp_path, *review)
    assert status == 0
    assert_nothing_is_told(text)
    assert "secret 1, in 2 places" in text
    assert "2 unreviewed; " in text
    assert [one[3] for one in rows(path)] == ["true", "true", "unreviewed", "unreviewed"]
    # It resumes where it ended; one by one, undone, shown only when asked to, and said again.
    status, text = drive("oruft", tmp_path, *review)
    assert status == 0
    assert "one by one" in text
    assert FIRST in text
    assert "nothing to undo in this session" in text
    assert [one[3] for one in rows(path)] == ["true", "true", "false", "true"]
    labels = read_labels(path).labels
    assert labels
    assert all(one.reviewer and one.date for one in labels.findings)

    (tmp_path / "now.toml").write_text(EXTENDS, encoding="utf-8")
    (tmp_path / "next.toml").write_text(f"{EXTENDS}[[allowlists]]\npaths = ['^deploy/v']\n", encoding="utf-8")
    run = ("--gitleaks-only=corpora", f"--gitleaks-corpus=labels:{path}", "--gitleaks-version=8.30.1")
    alone = evaluate(tmp_path, *run, "--gitleaks-config=now.toml")
    assert "pool of all that any candidate reported (gitleaks 8.30.1)" in alone.text
    assert alone.line("corpus  billing  precision").endswith("3 found, 0 not, 1 wrong, 0 unlabelled")
    ran = evaluate(tmp_path, *run, "--gitleaks-config=now.toml", "--gitleaks-config=next.toml")
    assert ran.status == 1
    assert ran.verdicts == {"next.toml": "REGRESSION"}
    assert "LOST  billing  deploy/values:2  github-pat" in ran.text
    assert "R n/a (n=3), F1" in ran.line("corpus  billing  now.toml")
    for text in (ran.text, ran.markdown):
        assert "recall is relative to the pool of all that any candidate reported (gitleaks 8.30.1)" in text
    # Used by itself where the repository is compared.
    both = ("--gitleaks-config=now.toml", "--gitleaks-config=next.toml")
    compared = evaluate(tmp_path, "--gitleaks-only=repos", *run[2:], *both, f"--gitleaks-real-repo={repository}")
    assert compared.verdicts == {"next.toml": "REGRESSION"}
    assert "1 lost in billing-labels" in compared.line("REGRESSION")
    assert_nothing_is_told(ran.text + alone.text + ran.markdown + compared.text + compared.markdown)


def test_a_decoy_that_is_no_longer_reported_is_no_loss_and_does_not_stand_for_a_secret_that_is(
    told: Drive, tmp_path: Path
) -> None:
    path, near = tmp_path / "billing.yaml", tmp_path / "near"
    near.mkdir()
    git(near, "init", "-q", "-b", "main")
    commit(near, a=f"one = '{FIRST}'\ntwo = '{SECOND}'\n", b=f"three = '{USED}'\n")
    told(path, "--repo", near)
    told(path, "--set", "1=true", "--set", "2=false", "--set", "3=false", "--why", "seen")
    (tmp_path / "now.toml").write_text(EXTENDS, encoding="utf-8")
    less, lost = tmp_path / "less.toml", tmp_path / "lost.toml"
    less.write_text(f"{EXTENDS}[[allowlists]]\npaths = ['^b$']\n", encoding="utf-8")
    lost.write_text(f"{EXTENDS}[[allowlists]]\nregexTarget = 'line'\nregexes = ['^one']\n", encoding="utf-8")
    ran = evaluate(
        tmp_path,
        *("--gitleaks-only=corpora", f"--gitleaks-corpus=labels:{path}", "--gitleaks-version=8.30.1"),
        *("--gitleaks-config=now.toml", "--gitleaks-config=less.toml", "--gitleaks-config=lost.toml"),
    )
    assert ran.verdicts == {"less.toml": "SAFE", "lost.toml": "REGRESSION"}
    assert "1 gone in billing" in ran.line("SAFE")
    assert "LOST  billing  a:1  github-pat" in ran.text
    assert_nothing_is_told(ran.text)


# --- Suppressions


def test_suppressions_that_are_dead_stale_or_wide_are_listed_and_fail_only_when_strict(
    told: Drive, tmp_path: Path
) -> None:
    allow = "gitleaks:" + "allow"
    path = tmp_path / "source"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    commit(path, a=f"one = '{FIRST}', two = '{SECOND}' # {allow}\n", b=f"x = '{USED}'\n", c=f"nothing # {allow}\n")
    commit(path, **{".gitleaksignore": f"{'0' * 40}:b:github-pat:1\nb:github-pat:1\nb:github-pat:9\n"})
    status, text = told("--repo", path, name="lint", config="")
    listed = [" ".join(line.split()[:3]) for line in text.splitlines() if line.startswith("  ")]
    assert status == 0
    assert "5 suppressions, 4 dead, stale, wide or renamed" in text
    assert listed == [
        "stale ignore-entry .gitleaksignore:1",
        "notice ignore-entry .gitleaksignore:2",
        "dead ignore-entry .gitleaksignore:3",
        "wide allow-comment a:1",
        "dead allow-comment c:1",
    ]
    assert told("--repo", path, "--strict", name="lint", config="")[0] == 1
    commit(path, **{"known.json": json.dumps([{"RuleID": "github-pat", "File": "b", "Commit": "0" * 40}])})
    text = told("--repo", path, "--own-baseline=known.json", name="lint", config="")[1]
    assert "6 suppressions, 5 dead, stale, wide or renamed" in text
    assert "  stale   baseline-entry  known.json:1  hides 0 findings, matched by place: its value is redacted" in text
    status, text = told("--repo", path, "--own-baseline=none.json", name="lint", config="")
    assert (status, "baseline none.json: is no file of HEAD" in text) == (1, True)
    labels = tmp_path / "labels/source.yaml"
    assert told(labels, "--repo", path)[0] == 0
    ids = [one.id for one in read_labels(labels).labels.findings if one.path == "b"]  # type: ignore[union-attr]  # it was written
    assert told(labels, "--set", f"{ids[0]}=true", "--why", "used")[0] == 0
    assert "wide    ignore-entry  .gitleaksignore:2" in told("--repo", path, name="lint", config="")[1]


def test_two_reviews_at_once_lose_nothing(told: Drive, repository: Path, tmp_path: Path) -> None:
    from gitleaks_eval.core.errors import InputError  # noqa: PLC0415 - beside its one use
    from gitleaks_eval.corpora.labels_file import Answer, write_labels  # noqa: PLC0415 - the same

    path = tmp_path / "labels.yaml"
    told(path, "--repo", repository)
    mine = read_labels(path)
    told(path, "--set", "1=true", "--why", "theirs")
    assert mine.labels
    with pytest.raises(InputError, match="somebody else has changed it meanwhile"):
        write_labels(mine, mine.labels.answered({2}, Answer("false", "me", "2026-01-01", "")))
    assert [one[3] for one in rows(path)].count("true") == 1
