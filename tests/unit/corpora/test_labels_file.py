"""A file of labels: what is written is read again, a finding a line, and it is one that any reader of YAML takes."""

from pathlib import Path
from time import perf_counter

import pytest
import yaml

from gitleaks_eval.analysis.metrics import Counts, corpus_rate_texts
from gitleaks_eval.corpora.kinds.labels import files_about, own_labels
from gitleaks_eval.corpora.labels_file import (
    Answer,
    LabelledFinding,
    LabelsFile,
    as_text,
    in_order,
    read_labels,
)
from gitleaks_eval.repositories.sources import real_repositories

FIRST, SECOND = "1" * 40, "2" * 40
ODD = (
    "a",
    "ü/ö",
    "a b: [c] {d} # e",
    "it's",
    '"quoted"',
    "\\back",
    "new\nline",
    "\t\x7f\x85\u2028\ufeff",
    "😀",
    "'",
    "-",
    "=1+1",
    "\ud7ff\ue000",
)


def finding(
    number: int, label: str = "unreviewed", line: int = 1, commit: str = FIRST, column: int = 1
) -> LabelledFinding:
    one = LabelledFinding(number, "a", line, (column, column + 1), "rule", commit, number)
    return one if label == "unreviewed" else one.answered(Answer(label, "me", "2026-01-01", "why"))


def written(folder: Path, *findings: LabelledFinding) -> Path:
    path = folder / "x.yaml"
    (folder / "x").mkdir(exist_ok=True)
    path.write_text(
        as_text(LabelsFile("./x", FIRST, ("one", "two"), in_order(findings))), encoding="utf-8", newline="\n"
    )
    return path


def test_what_is_written_is_read_again_whatever_its_texts_hold(tmp_path: Path) -> None:
    findings = [
        LabelledFinding(
            number, text, number, (1, 2), text, FIRST, 1, "false", number % 2 == 0, text, "2026-01-01", text
        )
        for number, text in enumerate(ODD, 1)
    ]
    labels = LabelsFile("../a b", FIRST, ODD, in_order(findings))
    path = tmp_path / "x.yaml"
    path.write_text(as_text(labels), encoding="utf-8", newline="\n")
    assert read_labels(path).labels == labels
    rows = yaml.safe_load(path.read_text(encoding="utf-8"))["findings"]
    assert [(row["path"], row["why"]) for row in rows] == [(one.path, one.why) for one in labels.findings]
    assert len(as_text(labels).splitlines()) == 6 + len(ODD)


def test_half_of_a_pair_of_surrogates_which_no_yaml_holds_is_shown_as_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(as_text(LabelsFile("./x", FIRST, ("\ud800", "\udfff"), ())), encoding="utf-8", newline="\n")
    read = read_labels(path).labels
    assert read
    assert read.pool == ("\ufffd", "\ufffd")


@pytest.mark.slow
def test_a_hundred_thousand_lines_are_read_in_a_few_seconds(tmp_path: Path) -> None:
    path = written(tmp_path, *(finding(number, line=number) for number in range(1, 100_001)))
    start = perf_counter()
    labels = read_labels(path).labels
    assert labels
    assert len(labels.findings) == 100_000
    assert perf_counter() - start < 10


@pytest.mark.parametrize(
    ("findings", "expected", "clean", "left_out"),
    [
        ([finding(1, "true"), finding(2, "false", 3)], [1], {3}, set()),
        (
            [finding(1, "true"), finding(2, "unreviewed", 3), finding(3, "skipped", 4)],
            [1],
            set(),
            {(FIRST, 3), (FIRST, 4)},
        ),
        # In two commits, or twice on a line: a report of one must not stand for the other.
        ([finding(1, "true"), finding(2, "false", commit=SECOND)], [1], set(), {(SECOND, 1)}),
        ([finding(1, "true"), finding(2, "false", column=9)], [], set(), {(FIRST, 1)}),
        ([finding(1, "true"), finding(2, "true", commit=SECOND)], [1, 1], set(), set()),
    ],
)
def test_true_is_expected_false_is_a_decoy_and_all_else_is_left_out(
    tmp_path: Path,
    *,
    findings: list[LabelledFinding],
    expected: list[int],
    clean: set[int],
    left_out: set[tuple[str, int]],
) -> None:
    corpus, truth = own_labels(written(tmp_path, *findings))
    assert [one.line_number for one in truth.findings] == expected
    assert {line for _, line, _ in corpus.clean.exact} == clean
    assert {(commit, line) for commit, _, line, _ in corpus.left_out} == left_out
    assert "pool of all that any candidate reported (one, two)" in corpus.how


def test_recall_of_few_labels_is_withheld_and_rates_have_intervals() -> None:
    few, many = corpus_rate_texts(Counts(19, 1, 0)), corpus_rate_texts(Counts(19, 1, 1))
    assert (few["recall"], few["f1"]) == ("n/a (n=19)", "n/a (n=20)")
    assert few["precision"] == "0.95 (0.76 to 0.99)"
    assert many["recall"] == "0.95 (0.76 to 0.99)"


def test_labels_are_about_their_repository_however_it_is_named(tmp_path: Path) -> None:
    """Labels that are passed over let a true secret be lost without a word."""
    there = tmp_path / "sources" / "billing"
    (there / ".git").mkdir(parents=True)
    (tmp_path / "link").symlink_to(there)
    remote = "git@example.com:acme/shop.git"
    (tmp_path / "labels").mkdir()
    for name, place in (("billing", "../link"), ("shop", remote), ("web", "https://example.com/acme/web.git")):
        text = as_text(LabelsFile(place, FIRST, ("one",)))
        (tmp_path / "labels" / f"{name}.yaml").write_text(text, encoding="utf-8")
    spelled = ["link", "sources/billing", "./sources/../sources/billing/.git", there.as_uri(), remote]
    spelled += ["https://me:word@example.com/acme/web/", "link/.."]
    named = real_repositories(spelled, tmp_path, ())
    found = [[path.stem for path in files_about(one, tmp_path)] for one in named]
    assert found == [["billing"]] * 4 + [["shop"], ["web"], []]
