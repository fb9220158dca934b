"""Labels of others against a real scanner: one run with a corpus of each kind."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import git, reported, secret
from corpus_shapes import written
from ran import Ran, evaluate

TOKEN, OTHER = secret("github-pat", "one"), secret("github-pat", "two")
LINES = f"a = 1\ntoken = {TOKEN}\nother = {OTHER}\n"
AUDIT = [{"line_number": 2, "is_secret": True}, {"line_number": 3, "is_secret": False}]
META = "FilePath,LineStart,LineEnd,GroundTruth\ndata/f.py,1,2,T\ndata/f.py,3,3,F\n"
CORPORA: dict[str, tuple[dict[str, Any], str]] = {
    "creddata": ({"meta/a.csv": META, "data/f.py": LINES}, ""),
    "counts": ({"counted.csv": "f.py,2\ng.py,1\n", "f.py": LINES, "g.py": "nothing\n"}, "counted.csv"),
    "folders": ({"valid/f.py": LINES, "invalid/f.py": LINES}, ""),
    "detect-secrets": ({"audited.json": {"results": {"f.py": AUDIT}}, "f.py": LINES}, "audited.json"),
    "gitleaks-baseline": ({"f.py": LINES}, "accepted.json"),
    "leaktk": ({"leaks.yaml": f"- {{file: f.py, secret: {TOKEN}}}\n", "leaks/f.py": LINES}, "leaks.yaml"),
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, gitleaks: Callable[[str], Path]) -> Ran:
    """A run with all of them."""
    folder = tmp_path_factory.mktemp("kinds")
    for kind, (files, _) in CORPORA.items():
        written(folder / kind, files)
    history = folder / "gitleaks-baseline"
    written(history, {"accepted.json": [reported("f.py", 2, "github-pat", TOKEN)]})
    git(history, "init", "-q")
    git(history, "add", "f.py")
    git(history, "commit", "-qm", "x")
    git(history, "rm", "-q", "f.py")
    git(history, "commit", "-qm", "y")
    specs = [f"--gitleaks-corpus={kind}:{kind}/{name}" for kind, (_, name) in CORPORA.items()]
    (folder / "run").mkdir()
    return evaluate(
        folder, f"--gitleaks-binary={gitleaks('8.30.1')}", "--gitleaks-only=corpora", *specs, "-p", "no:cacheprovider"
    )


@pytest.mark.parametrize(
    ("name", "fates"),
    [
        ("creddata", {"exact": 1, "wrong": 1, "unlabelled": 0, "missed": 0}),
        ("counted", {"exact": 2, "wrong": 0, "unlabelled": 0, "missed": 1}),
        ("folders", {"exact": 1, "wrong": 2, "unlabelled": 1, "missed": 0}),
        ("audited", {"exact": 1, "wrong": 1, "unlabelled": 0, "missed": 0}),
        ("accepted", {"exact": 0, "wrong": 1, "unlabelled": 1, "missed": 0}),
        ("leaks", {"exact": 1, "wrong": 0, "unlabelled": 1, "missed": 0}),
    ],
)
def test_labels_say_what_is_right_what_is_wrong_and_what_nobody_knows(
    ran: Ran, name: str, fates: dict[str, int]
) -> None:
    rows = [row for row in ran.json()["findings"] if row["scenario"] == name]
    unexpected = [row for row in rows if row["status"] == "unexpected"]
    assert fates == {
        "exact": sum(row["status"] == "exact" for row in rows),
        "wrong": sum(row.get("labelled", True) for row in unexpected),
        "unlabelled": sum(not row.get("labelled", True) for row in unexpected),
        "missed": sum(row["status"] == "missed" for row in rows),
    }


def test_a_miss_without_a_line_names_its_file(ran: Ran) -> None:
    assert ran.line("MISSED  counted").startswith("MISSED  counted  g.py  (any rule)")


def test_no_secret_of_a_corpus_is_in_any_output(ran: Ran) -> None:
    files = [path for path in (ran.folder / "gitleaks-eval-results").rglob("*") if path.is_file()]
    assert files
    said = ran.text.encode() + b"".join(path.read_bytes() for path in files)
    assert TOKEN.encode() not in said
    assert OTHER.encode() not in said
