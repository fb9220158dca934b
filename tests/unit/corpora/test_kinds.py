"""Kinds of corpora: each is read as others wrote it, and what is damaged is refused with its place."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import git, secret
from corpus_shapes import written

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.corpora.load import known_kinds, load_corpus
from gitleaks_eval.scenarios.places import ANY_RULE
from gitleaks_eval.scenarios.scenario import Corpus, Scenario

TOKEN = secret("github-pat", "kinds")
Files = Mapping[str, Any]
Truth = list[tuple[str, int, str]]

CREDDATA = {
    "meta/one.csv": "Id,FilePath,LineStart,LineEnd,GroundTruth\n"
    "1,data/one/a.py,1,1,T\n2,data/one/a.py,2,2,F\n3,data/one/a.py,1,1,F\n4,data/one/a.py,3,4,T\n5,data/gone.py,1,1,T\n",
    "data/one/a.py": f"token = {TOKEN}\nx = 1\nkey = (\n  'abc')\n",
}
COUNTS = {
    "secrets.csv": "# name,num_risk,num_informative\n.env,2,1\n\n# a note\nreadme,0,0\nhosts,0,3\n",
    ".env": "a\nb\n",
    "readme": "c\n",
    "hosts": "d\n",
}
FOLDERS = {"aws/valid/key": "a", "aws/invalid/key": "b", "valid/invalid/c": "c", "README": "d"}
AUDITED = {
    ".secrets.baseline": {
        "version": "1.5.0",
        "results": {
            "a.py": [
                {"type": "x", "line_number": 1, "is_secret": True},
                {"type": "y", "line_number": 1, "is_secret": False},
                {"type": "x", "line_number": 2, "is_secret": False},
                {"type": "x", "line_number": 3},
            ]
        },
    },
    "a.py": "one\ntwo\nthree\n",
}
BASELINE = {"accepted.json": [{"RuleID": "a", "File": "a.py", "StartLine": 2}], "a.py": "one\ntwo\n"}
LEAKTK = {
    "results.yaml": f"- {{rule.id: x, location.path: a, secret: {TOKEN}}}\n"
    f"- {{rule: y, file: a, offender: {TOKEN}}}\n- {{rule: y, file: b, offender: nowhere}}\n",
    "fake-leaks/a": f"one\n{TOKEN}\nthree\n{TOKEN}\n",
    "fake-leaks/b": "four\n",
}


def result(path: str, line: int, rule: str = "a", **others: Any) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": path}, "region": {"startLine": line}}
    return {"ruleId": rule, "locations": [{"physicalLocation": place}], **others}


def sarif_of(*results: dict[str, Any], name: str = "gitleaks") -> dict[str, Any]:
    return {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": name}}, "results": list(results)}]}


SARIF = {
    "report.sarif": sarif_of(
        result("a%20b.py", 1),
        result("a%20b.py", 2, suppressions=[{"kind": "external"}]),
        result("a%20b.py", 3, suppressions=[{"kind": "inSource", "status": "underReview"}]),
        result("a%20b.py", 4, suppressions=[{"kind": "inSource", "status": "rejected"}]),
        result("a%20b.py", 5, baselineState="absent"),
    ),
    "a b.py": "1\n2\n3\n4\n5\n",
}
SHAPES: dict[str, tuple[Files, str]] = {
    "creddata": (CREDDATA, ""),
    "counts": (COUNTS, "secrets.csv"),
    "folders": (FOLDERS, ""),
    "detect-secrets": (AUDITED, ".secrets.baseline"),
    "gitleaks-baseline": (BASELINE, "accepted.json"),
    "leaktk": (LEAKTK, "results.yaml"),
    "sarif": (SARIF, "report.sarif"),
}


def loaded(kind: str, folder: Path, **changed: Any) -> Scenario:
    files, name = SHAPES[kind]
    return load_corpus(f"{kind}:{written(folder / 'corpus', {**files, **changed}) / name}", folder)


def corpus_of(scenario: Scenario) -> Corpus:
    assert scenario.corpus
    return scenario.corpus


def truth(scenario: Scenario) -> Truth:
    return sorted((one.file_path, one.line_number, one.rule_id) for one in scenario.expected.findings)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("creddata", [("one/a.py", 1, ANY_RULE), ("one/a.py", 3, ANY_RULE)]),
        ("counts", [(".env", 0, ANY_RULE)] * 2),
        ("folders", [("aws/valid/key", 0, ANY_RULE)]),
        ("detect-secrets", [("a.py", 1, ANY_RULE)]),
        ("gitleaks-baseline", []),
        ("leaktk", [("a", 2, ANY_RULE), ("b", 0, ANY_RULE)]),
        ("sarif", [("a b.py", 1, "a"), ("a b.py", 4, "a")]),
    ],
)
def test_each_kind_says_what_must_be_found(kind: str, expected: Truth, tmp_path: Path) -> None:
    assert truth(loaded(kind, tmp_path)) == expected


@pytest.mark.parametrize(
    ("kind", "wrong", "open_place"),
    [
        ("creddata", ("one/a.py", 2, "any"), None),
        ("counts", ("readme", 1, "any"), ("hosts", 1, "any")),
        ("folders", ("aws/invalid/key", 1, "any"), None),
        ("detect-secrets", ("a.py", 2, "any"), ("a.py", 3, "any")),
        ("gitleaks-baseline", ("a.py", 2, "a"), None),
        ("leaktk", None, ("a", 4, "any")),
        ("sarif", ("a b.py", 2, "a"), ("a b.py", 3, "a")),
    ],
)
def test_each_kind_says_what_is_wrong_and_what_is_left_out_of_account(
    kind: str, wrong: tuple[str, int, str] | None, open_place: tuple[str, int, str] | None, tmp_path: Path
) -> None:
    corpus = corpus_of(loaded(kind, tmp_path))
    assert (wrong in corpus.clean) == (wrong is not None)
    assert (open_place in corpus.tolerated) == (open_place is not None)
    assert ("elsewhere", 1, "any") not in corpus.clean


@pytest.mark.parametrize(
    ("kind", "changed", "problem"),
    [
        ("creddata", {"meta/one.csv": "Id,FilePath\n1,a\n"}, "one.csv:1: there is no column 'LineStart'"),
        ("creddata", {"meta/one.csv": CREDDATA["meta/one.csv"] + "6,data/x,1,1\n"}, "one.csv:7: it has 4 fields"),
        ("creddata", {"meta/one.csv": CREDDATA["meta/one.csv"] + "6,data/x,one,1,T\n"}, "one.csv:7: LineStart is no"),
        ("creddata", {"meta/one.csv": CREDDATA["meta/one.csv"] + "6,data/x,2,1,T\n"}, "one.csv:7: LineStart and"),
        ("creddata", {"meta/one.csv": CREDDATA["meta/one.csv"] + "6,data/x,1,1,?\n"}, "one.csv:7: GroundTruth is"),
        ("counts", {"secrets.csv": ".env,2\n.env,many\n"}, "secrets.csv:2: a count is no number"),
        ("counts", {"secrets.csv": '.env,2\n"a\n'}, "secrets.csv:2: this is no CSV"),
        ("counts", {"secrets.csv": ".env,99999999\n"}, "its labels name more than 1000000 secrets"),
        ("counts", {"secrets.csv": ".env,2\n.env,0\n"}, "secrets.csv:2: says false, and secrets.csv:1 says true"),
        ("counts", {"secrets.csv": "gone,1\n"}, "none of 1 labels is about a file that is there"),
        ("detect-secrets", {".secrets.baseline": []}, "no baseline of detect-secrets"),
        ("detect-secrets", {".secrets.baseline": {"results": {"a.py": [{}]}}}, "a.py entry 0: it has no line_number"),
        ("detect-secrets", {".secrets.baseline": {"results": {"a.py": [{"line_number": 1}]}}}, "nothing in it is aud"),
        ("gitleaks-baseline", {"accepted.json": [{"RuleID": 1}]}, "entry 0 is no finding of Gitleaks"),
        ("leaktk", {"results.yaml": "- {file: a}\n"}, "results.yaml: entry 0: it has no secret or offender"),
        ("leaktk", {"results.yaml": "- [\n"}, "line 2, column 1"),
        ("leaktk", {"results.yaml": "a: 1\n"}, "no results of leaktk"),
        ("sarif", {"report.sarif": {}}, "no SARIF"),
        ("sarif", {"report.sarif": sarif_of({"ruleId": "a"})}, "run 0, result 0: it has no artifactLocation"),
        ("sarif", {"report.sarif": sarif_of(result("a", -1))}, "run 0, result 0: its region has no lines"),
        ("sarif", {"report.sarif": '{"runs": ['}, "line 1, column"),
    ],
)
def test_what_is_damaged_is_refused_with_its_place(kind: str, changed: Files, problem: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        loaded(kind, tmp_path, **changed)
    assert problem in str(error.value)
    assert TOKEN not in str(error.value)


def test_labels_of_files_that_are_not_there_are_counted(tmp_path: Path) -> None:
    assert "1 labels of files that are not there" in corpus_of(loaded("creddata", tmp_path)).how


def test_a_copy_of_a_labelled_line_counts_once_and_is_neither_right_nor_wrong(tmp_path: Path) -> None:
    meta = "FilePath,LineStart,LineEnd,GroundTruth\n" + "".join(f"data/{name},1,1,T\n" for name in "abc")
    files = {"meta/one.csv": meta, "data/a": f"x = '{TOKEN}'", "data/b": f'X="{TOKEN}"', "data/c": "other"}
    scenario = load_corpus(f"creddata:{written(tmp_path / 'corpus', files)}", tmp_path)
    assert truth(scenario) == [("a", 1, ANY_RULE), ("c", 1, ANY_RULE)]
    assert ("b", 1, "x") in corpus_of(scenario).tolerated
    assert "1 near duplicates folded" in corpus_of(scenario).how


def test_two_secrets_on_one_line_are_no_copies(tmp_path: Path) -> None:
    scenario = loaded("leaktk", tmp_path, **{"fake-leaks/a": f"{TOKEN} {TOKEN}\n"})
    assert truth(scenario) == [("a", 1, ANY_RULE)] * 2 + [("b", 0, ANY_RULE)]


UPSTREAM = """
- {rule.id: x, location.path: keys.p12, match: 'file detected: keys.p12', secret: ''}
- {rule.id: x, location.path: a, match: 'second=SECRET', secret: SECRET}
- {rule.id: y, location.path: a, match: '=SECRET', secret: SECRET}
- {rule.id: z, location.path: a, match: 'first=SECRET', secret: SECRET}
- {rule.id: z, location.path: a, match: 'first=SECRET', secret: SECRET}
- {rule.id: x, location.path: b, match: decoded, secret: nowhere}
- {rule.id: x, location.path: b, match: 'copied=SECRET', secret: SECRET}
"""


def test_results_of_leaktk_are_read_as_upstream_writes_them(tmp_path: Path) -> None:
    """A rule about paths has an empty secret, and one secret may stand in several matches, and several results."""
    text = UPSTREAM.replace("SECRET", TOKEN)
    files = {
        "results.yaml": text,
        "fake-leaks/keys.p12": "bytes\n",
        "fake-leaks/a": f"first={TOKEN}\nsecond={TOKEN}\n",
        "fake-leaks/b": f"one\ncopied={TOKEN}\nsecond={TOKEN}\n",
    }
    scenario = loaded("leaktk", tmp_path, **files)
    # The one that is encoded may be any finding of its file: no line there is left out of account.
    assert truth(scenario) == [
        *[("a", 1, ANY_RULE), ("a", 2, ANY_RULE)],
        *[("b", 0, ANY_RULE), ("b", 2, ANY_RULE), ("keys.p12", 0, ANY_RULE)],
    ]
    assert ("b", 3, "x") not in corpus_of(scenario).tolerated


def test_a_folded_line_takes_no_finding_of_a_label_of_its_whole_file(tmp_path: Path) -> None:
    text = f"- {{file: a, secret: {TOKEN}}}\n- {{file: b, secret: {TOKEN}}}\n- {{file: b, secret: encoded}}\n"
    files = {"results.yaml": text, "fake-leaks/a": f"{TOKEN}\n", "fake-leaks/b": f"{TOKEN}\n"}
    scenario = loaded("leaktk", tmp_path, **files)
    assert truth(scenario) == [("a", 1, ANY_RULE), ("b", 0, ANY_RULE), ("b", 1, ANY_RULE)]
    assert ("b", 1, "x") not in corpus_of(scenario).tolerated


def test_sarif_of_other_tools_names_no_rules(tmp_path: Path) -> None:
    scenario = loaded("sarif", tmp_path, **{"report.sarif": sarif_of(result("a%20b.py", 1), name="other")})
    assert truth(scenario) == [("a b.py", 1, ANY_RULE)]
    assert scenario.expected.rule_ids == ()


def test_an_accepted_report_of_a_repository_is_about_its_history(tmp_path: Path) -> None:
    folder = written(tmp_path / "corpus", BASELINE)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "x")
    scenario = load_corpus(f"gitleaks-baseline:{folder / 'accepted.json'}", tmp_path)
    assert corpus_of(scenario).has_history
    assert corpus_of(scenario).source == folder


def test_a_file_of_labels_is_about_the_folder_of_its_name(tmp_path: Path) -> None:
    folder = written(tmp_path / "corpus", {"truth.csv": "a,1\n", "truth/a": "x", "a": "y"})
    scenario = load_corpus(f"counts:{folder / 'truth.csv'}", tmp_path)
    assert corpus_of(scenario).source == folder / "truth"


@pytest.mark.parametrize("kind", sorted(known_kinds()))
def test_each_kind_says_what_it_takes_and_what_it_cannot_know(kind: str) -> None:
    assert known_kinds()[kind].takes
    assert known_kinds()[kind].cannot_know
