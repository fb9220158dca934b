"""`gitleaks-eval explain` and `try` on a real scanner: what stops a rule is said, and no value is."""

import io
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from builders import git

from gitleaks_eval import command
from gitleaks_eval.coverage.rules import explaining
from gitleaks_eval.coverage.samples import explained_text
from gitleaks_eval.coverage.samples.scanner import SampleScanner
from gitleaks_eval.repositories.cache import BuiltRepository
from gitleaks_eval.scenarios.pattern import generate

pytestmark = pytest.mark.usefixtures("own_environment")

EXTENDS = "[extend]\nuseDefault = true\n"
PAT, KEY, ACME = (generate(form, "explain") for form in ("ghp_[a-z0-9]{36}", "[a-z0-9]{32}", "acme_[a-z0-9]{20}"))
OWN = "[[rules]]\nid = 'acme'\nregex = 'acme_[a-z0-9]{20}'\n"
ALLOW = " # gitleaks:" + "allow"


@pytest.fixture
def told(
    tmp_path: Path,
    gitleaks: Callable[[str], Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., tuple[int, str]]:
    """Run a subcommand with a configuration; its status, and what it said, which holds no value."""
    monkeypatch.chdir(tmp_path)
    binary = gitleaks("8.30.1")

    def run(name: str, *arguments: str, config: str = "") -> tuple[int, str]:
        (tmp_path / "my.toml").write_text(config or EXTENDS, encoding="utf-8")
        status = command.main([name, f"--binary={binary}", "--config=my.toml", *arguments])
        out, err = capsys.readouterr()
        # On a slow machine it says what goes on.
        text = out + "".join(
            line for line in err.splitlines(keepends=True) if not line.startswith("gitleaks-eval: still")
        )
        for value in (PAT, KEY, ACME):
            assert value[5:13] not in text
        return status, text

    return run


STOPPED = [
    ("a.py", f'token = "{PAT}"{ALLOW}\n', "", "github-pat  inline comment: "),
    ("go.sum", f'token = "{PAT}"\n', "", "github-pat  allowlist entry: the scanner's own [allowlist] paths["),
    ("src/a.py", f'token = "{PAT}"\n', f"{EXTENDS}[allowlist]\npaths = ['^src/']\n",
     "github-pat  allowlist entry: my.toml [allowlist] paths[0] ^src/"),
    ("a.py", f'api_key = "example{KEY}"\n', "", "generic-api-key  stop word: the scanner's own "),
    ("a.py", f'api_key = "{KEY}"\n', f"{EXTENDS}disabledRules = ['generic-api-key']\n",
     "generic-api-key  configuration: switched off by my.toml [extend] disabledRules"),
    ("a.py", 'token = "ghp_' + "a" * 36 + '"\n', "", "github-pat  entropy: "),
    ("a.py", f"x = {ACME}\n", OWN + "keywords = ['billing']\n", "acme  keyword: none of billing stands there"),
    ("a.py", f"x = {ACME}\n", OWN + "entropy = 4.9\n", "acme  entropy: "),
    ("a.py", f"x = {ACME}\n", OWN + "path = 'yaml$'\n", "acme  path: it looks at files only whose path matches yaml$"),
    ("a.py", f"x = {ACME}\n", OWN + "path = 'yaml$'\nentropy = 4.9\n", "acme  entropy and path: "),
    ("a.py", f"x = {ACME[:-4]}\n", OWN + "keywords = ['acme_']\n", "acme  regex: a keyword of it stands there"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "content", "config", "said"), STOPPED)
def test_what_stops_the_nearest_rule_is_named(
    told: Callable[..., tuple[int, str]], tmp_path: Path, *, path: str, content: str, config: str, said: str
) -> None:
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text(content, encoding="utf-8")
    status, text = told("explain", path, config=config)
    assert status == 1
    assert text.splitlines()[1] == f"not reported  {path}"
    assert f"stopped  {said}" in text


def test_a_text_that_git_takes_for_no_text_is_said_to_stand_in_a_wrong_place(
    told: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_bytes(f'token = "{PAT}"\n'.encode("utf-16"))
    status, text = told("explain", "a.py")
    assert status == 1
    assert "stopped  github-pat  place: the file is no text to git" in text


def test_a_line_that_is_reported_ends_with_0_and_another_line_of_the_file_with_1(
    told: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text(f'# nothing\ntoken = "{PAT}"\n', encoding="utf-8")
    status, text = told("explain", "a.py:2")
    assert (status, "reported  a.py:2  by github-pat" in text) == (0, True)
    status, text = told("explain", "a.py:1")
    assert (status, "not reported  a.py:1  no rule is near" in text) == (1, True)


def test_a_text_on_standard_input_is_explained(
    told: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = SimpleNamespace(buffer=io.BytesIO(f'token = "{PAT}"\n'.encode()))
    monkeypatch.setattr("sys.stdin", given)
    assert told("explain")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["explain", "none.py"], "none.py: does not exist"),
        (["explain", "my.toml:99"], "my.toml:99: there is no such line; the file has 2"),
        (["explain", "--args=-c x", "my.toml"], "-c is not passed on"),
        (["try", "github"], "'github': no rule in force has this id; there is github-"),
        (["try", "jwt", "nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_meant_ends_with_status_4(
    told: Callable[..., tuple[int, str]], arguments: list[str], problem: str
) -> None:
    status, text = told(*arguments)
    assert status == 4
    assert problem in text


def test_a_rule_is_tried_with_its_samples_and_what_it_alone_would_newly_report(
    told: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    repository = tmp_path / "billing"
    repository.mkdir()
    git(repository, "init", "-q")
    (repository / "values.yaml").write_text(f"a: {ACME}\n\nb: {ACME}\n", encoding="utf-8")
    # The generic rule finds it anyway.
    (repository / "old.py").write_text(f'api_key = "{ACME}"\n', encoding="utf-8")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "Add them")
    status, text = told("try", "acme", "billing", config=EXTENDS + OWN)
    assert status == 0
    assert text.splitlines()[1:] == [
        "passed  acme  finds 5 of 5 samples made from its own regex",
        "new  billing  2 places in 1 files",
        "  values.yaml  2 places (lines 1, 3)  ********",
    ]
    status, text = told("try", "acme", config=OWN + "entropy = 4.9\n")
    assert status == 1
    assert "FAILED  acme  finds 0 of 5 samples made from its own regex: entropy: no value" in text
    status, text = told("try", "acme", config=f"{EXTENDS}{OWN}[allowlist]\nregexes = ['acme_']\n")
    assert (status, "an allowlist hides them" in text) == (1, True)


def test_try_runs_what_users_wrote_of_that_rule_and_of_no_other(
    tmp_path: Path, told: Callable[..., tuple[int, str]]
) -> None:
    text = """\
rules:
  {}:
    finds:
      - {{ pattern: 'acme_[a-z0-9]{{{}}}' }}
      - {{ pattern: 'acme_[a-z0-9]{{9}}' }}
"""
    (tmp_path / ".gitleaks-eval.yaml").write_text(text.format("acme", 20), encoding="utf-8")
    status, said = told("try", "acme", config=OWN)
    assert status == 1
    assert "passed  acme  finds 5 of 5 samples" in said
    assert "passed  acme  .gitleaks-eval.yaml:4 acme[finds-1]" in said
    assert "FAILED  acme  .gitleaks-eval.yaml:5 acme[finds-2]: not found in env" in said
    other = OWN.replace("acme", "other")
    (tmp_path / ".gitleaks-eval.yaml").write_text(text.format("other", 20), encoding="utf-8")
    status, said = told("try", "acme", config=OWN + other)
    assert (status, "yaml:4" in said) == (0, False)
    (tmp_path / ".gitleaks-eval.yaml").write_text(text.format("acme", "2,1"), encoding="utf-8")
    status, said = told("try", "acme", config=OWN)
    assert (status, ":4:9: `pattern`: " in said) == (4, True)


def test_what_the_ignore_file_hides_is_not_reported_and_its_line_is_named(
    told: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "a.py").write_text(f'# nothing\ntoken = "{PAT}"\n', encoding="utf-8")
    git(tmp_path, "add", "a.py")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", "a")
    head = git(tmp_path, "rev-parse", "HEAD").decode().strip()
    (tmp_path / ".gitleaksignore").write_text("# meant so\na.py:github-pat:2\n", encoding="utf-8")
    status, text = told("explain", "a.py:2")
    assert (status, text.splitlines()[1:3]) == (
        1,
        ["not reported  a.py:2", "stopped  github-pat  ignore file: .gitleaksignore:2 hides it"],
    )
    (tmp_path / ".gitleaksignore").write_text(f"{head}:a.py:github-pat:2\n", encoding="utf-8")
    status, text = told("explain", f"{head[:10]}:a.py:2")
    assert (status, "stopped  github-pat  ignore file: .gitleaksignore:1 hides it\n" in text) == (1, True)
    # The same line of the next commit is reported.
    status, text = told("explain", "a.py:2")
    assert (status, f".gitleaksignore:1 hides it, as commit {head[:8]} has it" in text) == (0, True)
    (tmp_path / "a.py").unlink()
    (tmp_path / ".gitleaksignore").unlink()
    assert told("explain", f"{head}:a.py:2")[0] == 0
    assert told("explain", f"{head}:a.py:1")[0] == 1
    assert told("explain", f"{head}:b.py:1")[0] == 4
    assert told("explain", "abcdef1:a.py:1")[0] == 4


def test_a_text_on_standard_input_is_explained_at_the_path_that_is_named(
    told: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for arguments, status in (((), 0), (("--as=vendor/a.py",), 1)):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(f'token = "{PAT}"\n'.encode())))
        ended, text = told("explain", *arguments, config=f"{EXTENDS}[allowlist]\npaths = ['^vendor/']\n")
        assert ended == status
        assert ("my.toml [allowlist] paths[0]" in text) == bool(status)
    assert told("explain", "--as=../a.py", "my.toml")[0] == 4


def test_a_line_of_a_large_file_is_asked_about_with_what_stands_around_it(
    told: Callable[..., tuple[int, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scanned: list[int] = []
    real = explained_text.build_text

    def built(sample_scanner: SampleScanner, text: explained_text.Text) -> BuiltRepository:
        scanned.append(len(text.content))
        return real(sample_scanner, text)

    monkeypatch.setattr(explaining, "build_text", built)
    lines = ["nothing = 'to see here, and more of it'"] * 20_000
    lines[15_000] = f'token = "{PAT}"{ALLOW}'
    (tmp_path / "large.py").write_text("\n".join(lines), encoding="utf-8")
    status, text = told("explain", "large.py:15001")
    assert (status, "stopped  github-pat  inline comment: " in text) == (1, True)
    # All of it is scanned once, as it is.
    assert scanned[0] > 20_000 * 30
    assert max(scanned[1:]) < 1 << 16
