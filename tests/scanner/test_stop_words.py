"""Stop words: what the survey says that one silences is what it silences in texts that people write."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from corpus import report

pytestmark = pytest.mark.usefixtures("own_environment", "usual_kinds")

# A rule each: its regex, and a text that holds the stop word in its secret; none where it cannot.
RULES = {
    "open": (r"open=(.{4,})", "open=4f7afoobar09"),
    "words": (r"key: (\S+)", "key: q8wfoobarz"),
    "lower": (r"low_([a-z]{3,30})", "low_xkfoobarjq"),
    "hex": (r"hex_[0-9a-f]{32}", None),
    "upper": (r"up_([A-Z0-9]{20})", "up_Q7ZFOOBAR9K2M4P8T1XY"),
    "entropy": (r"pass\s*=\s*([^\s']{6,})", "pass = x9foobarT4k2mQ"),
    "url": (r"url://[a-z]+:([^@]+)@host", "url://user:7yfoobar2@host"),
    "lazy": (r"lazy_([a-z]+?)_end", "lazy_qfoobarw_end"),
}


def configuration(stopwords: list[str]) -> str:
    rules = "".join(f"[[rules]]\nid = {name!r}\nregex = '''{regex}'''\n" for name, (regex, _) in RULES.items())
    return rules + f"[allowlist]\nstopwords = {json.dumps(stopwords)}\n" * bool(stopwords)


def found(binary: Path, folder: Path, stopwords: list[str]) -> set[str]:
    """The rules that are reported in the texts."""
    (folder / "config.toml").write_text(configuration(stopwords), encoding="utf-8")
    (folder / "texts").mkdir(exist_ok=True)
    for name, (_, text) in RULES.items():
        (folder / f"texts/{name}").write_text(f"{text or 'nothing'}\n", encoding="utf-8")
    files = ["-c", str(folder / "config.toml"), "-r", str(folder / "report.json")]
    command = [str(binary), "dir", str(folder / "texts"), *files, "--no-banner", "--exit-code", "0"]
    subprocess.run(command, check=True, capture_output=True)
    return {finding["RuleID"] for finding in json.loads((folder / "report.json").read_bytes())}


def test_a_stop_word_is_said_to_silence_each_rule_that_it_silences(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path], tmp_path: Path
) -> None:
    binary = gitleaks("8.30.1")
    silenced = found(binary, tmp_path, []) - found(binary, tmp_path, ["foobar"])
    assert silenced == RULES.keys() - {"hex"}
    (pytester.path / ".gitleaks.toml").write_text(configuration(["foobar"]), encoding="utf-8")
    only = ("--gitleaks-only=entries,rules", f"--gitleaks-binary={binary}")
    pytester.runpytest_subprocess("--gitleaks-eval", "-q", *only)
    [row] = [row for row in report(pytester)["coverage"]["entries"] if row["kind"] == "stopword"]
    assert row["silences_rules"] == len(silenced)
