"""A configuration that a scanner does not load: told once, in the scanner's words, with the file and the line."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gitleaks_eval.config.chain import ConfigFile, Configuration
from gitleaks_eval.config.lines import place_lines
from gitleaks_eval.scanners.build import probe
from gitleaks_eval.scanners.config_errors import ask_scanner

pytestmark = pytest.mark.usefixtures("own_environment", "usual_kinds")
VALUE = "Tr0ub4dor-and-3"
RULE = "[[rules]]\nid = 'good-rule-of-ours'\nregex = 'x(y)'\n"
ODD = f"{RULE}[[rules]]\nid = 'odd-rule-1234'\nregex = 'x(y)'\n"
# By what is wrong: the file, with HERE on the line that is meant, and words of the scanner.
EVERY = {
    "regex": (f"{RULE}[[rules]]\nid = 'b'\nregex = '(abc' # HERE\n", "missing closing )"),
    "lookahead": (f"{RULE}[[rules]]\nid = 'b'\nregex = '(?!abc)x' # HERE\n", "(?!"),
    "path": (f"{RULE}[allowlist]\npaths = [\n'ok',\n'*abc', # HERE\n]\n", "repetition operator"),
    "type of an id": (f"{RULE}[[rules]]\nid = ['{VALUE}'] # HERE\nregex = 'a'\n", "expected type 'string'"),
    "type of entropy": (f"{RULE}entropy = '{VALUE}' # HERE\n", "cannot parse 'Rules[0].Entropy' as float"),
    "type of keywords": (f"{RULE}keywords = {{ a = '{VALUE}' }} # HERE\n", "Keywords[0]' expected type 'string'"),
    "type of a flag": (f"{RULE}[extend]\nuseDefault = '{VALUE}' # HERE\n", "'Extend.UseDefault' as bool"),
    "rules": (f"rules = '{VALUE}' # HERE\n", "expected a map"),
    "group": (f"{ODD}secretGroup = 3 # HERE\n", "invalid regex secret group 3, max regex secret group 1"),
}
LATER = {
    "no id": (f"{RULE}[[rules]] # HERE\nregex = '{VALUE}'\n", "rule |id| is missing or empty"),
    "nothing": (f"{RULE}[[rules]] # HERE\nid = 'odd-rule-1234'\n", "odd-rule-1234: both |regex| and |path| are empty"),
    "two allowlists": (f"{RULE}[allowlist] # HERE\npaths = ['a']\n[[allowlists]]\npaths = ['b']\n", "is deprecated"),
    "no criterion": (f"{ODD}[[rules.allowlists]] # HERE\ndescription = 'x'\n", "at least one check for: commits"),
    "condition": (
        f"{RULE}[[allowlists]]\ncondition = '{VALUE}' # HERE\npaths = ['a']\n",
        "unknown allowlist |condition|",
    ),
    "target": (
        f"{RULE}[[allowlists]]\ntargetRules = ['good-rule-of-ours', 'zzz'] # HERE\npaths = ['a']\n",
        "target rule ID 'zzz' does not exist",
    ),
    "target of text": (
        f"{ODD}[[rules.allowlists]]\nregexes = ['a']\nregexTarget = '{VALUE}' # HERE\n",
        "odd-rule-1234: [[rules.allowlists]] unknown allowlist |regexTarget|",
    ),
}
CASES = [
    *((version, name) for version in ("8.16.0", "8.18.4", "8.26.0", "8.30.1") for name in EVERY),
    *((version, name) for version in ("8.26.0", "8.30.1") for name in LATER),
]


@pytest.mark.parametrize(("version", "name"), CASES)
def test_what_a_version_refuses_is_said_in_its_words_at_the_line(
    version: str, name: str, gitleaks: Callable[[str], Path], tmp_path: Path
) -> None:
    content, words = (EVERY | LATER)[name]
    file = ConfigFile(Path("/my.toml"), content.encode(), extends_default=False)
    [problem] = ask_scanner(probe(gitleaks(version), "test"), Configuration((file,), ""), tmp_path)
    [here] = [number for number, line in enumerate(content.splitlines(), 1) if "HERE" in line]
    assert place_lines(file.content)[problem.place] == here, problem
    assert words in problem.message
    assert VALUE not in problem.message


def test_a_configuration_that_cannot_be_loaded_is_one_error_at_its_line(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path]
) -> None:
    (pytester.path / "base.toml").write_text(
        "[extend]\nuseDefault = true\n\n[[rules]]\nid = 'acme'\nkeywords = ['acme']\n", encoding="utf-8"
    )
    mine = pytester.path / "my.toml"
    mine.write_text("[extend]\npath = 'base.toml'\n[[rules]]\nid = 'mine'\nregex = 'mine_[a-z]{9}'\n", encoding="utf-8")
    result = pytester.runpytest_subprocess(
        "--gitleaks-eval",
        f"--gitleaks-binary={gitleaks('8.30.1')}",
        f"--gitleaks-config={mine}",
        "--gitleaks-only=rules",
        "--junitxml=junit.xml",
    )
    assert result.ret == 1
    assert not [line for line in result.outlines if line.strip(" %[]0123456789.F").startswith("EE")]
    errors = [line for line in result.outlines if line.startswith("ERROR")]
    assert len(errors) == 1
    said = "base.toml:4 rules[0]: the scanner refuses it: acme: both |regex| and |path| are empty"
    assert said in errors[0]
    # Each check still counts as one that could not be run.
    results = pytester.path / "gitleaks-eval-results"
    assert result.parseoutcomes()["errors"] > 200
    counted = (pytester.path / "junit.xml").read_text(encoding="utf-8").count("<error ")
    assert counted == result.parseoutcomes()["errors"]
    [sarif] = results.glob("*.sarif")
    [problem] = json.loads(sarif.read_text(encoding="utf-8"))["runs"][0]["results"]
    where = problem["locations"][0]["physicalLocation"]
    assert (where["artifactLocation"]["uri"], where["region"]["startLine"]) == ("base.toml", 4)
