"""What a scanner ignores in a configuration without a word, refuses, or can make nothing of."""

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from programs import script

from gitleaks_eval.config.chain import ConfigFile, Configuration
from gitleaks_eval.config.lint import lint
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.scanners import GITLEAKS, SCANNERS
from gitleaks_eval.scanners.build import PINNED_VERSION, probe
from gitleaks_eval.scanners.config_errors import ask_scanner, first_broken
from gitleaks_eval.scanners.configuration import choose_configuration
from gitleaks_eval.scanners.install import installed_binary

VERSIONS = ("8.16.0", "8.18.4", "8.26.0", "8.30.1")
DEFAULT = "[extend]\nuseDefault = true\n"
RULE = "[[rules]]\nid = 'own'\nregex = 'own_[a-z]{8}'\n"


def configured(*contents: str) -> Configuration:
    """A chain of files, named a.toml, b.toml and so on."""
    files = (
        ConfigFile(Path(f"{name}.toml"), content.encode(), "usedefault = true" in content.lower())
        for name, content in zip("abc", contents, strict=False)
    )
    return Configuration(tuple(files), "test")


def problems(*contents: str, version: str | None = "8.30.1", scanner: str = "gitleaks") -> list[str]:
    found = lint(configured(*contents), version, SCANNERS[scanner].config_keys)
    return [f"{one.file} {one.place}: {one.message}" for one in found]


# --- keys


@pytest.mark.parametrize(
    ("content", "place", "meant"),
    [
        ("[[rules]]\nid = 'a'\n[[rules]]\nid = 'b'\nkeywrods = ['k']\n", "rules[1].keywrods", "keywords"),
        ("[[rules]]\nid = 'a'\nentropyy = 3.0\n", "rules[0].entropyy", "entropy"),
        ("[[rules]]\nid = 'a'\nsecret_group = 1\n", "rules[0].secret_group", "secretGroup"),
        ("[allowlist]\npath = ['x']\n", "[allowlist] path", "paths"),
        ("[[allowlists]]\npaths = ['x']\nstopword = ['x']\n", "allowlists[0].stopword", "stopwords"),
        ("[[rules]]\nid = 'a'\n[[rules.allowlists]]\nregex = ['x']\n", "rules[0].allowlists[0].regex", "regexes"),
        ("[extend]\ndisableRules = ['x']\n", "[extend] disableRules", "disabledRules"),
        ("[[rules]]\nid = 'a'\n[[rules.required]]\nid = 'b'\nwithinLine = 1\n", "rules[0].required[0].withinLine",
         "withinLines"),
        ("allowlst = 1\n", "allowlst", "allowlist"),
    ],
)  # fmt: skip
def test_a_misspelt_key_is_named_with_what_was_meant(content: str, place: str, meant: str) -> None:
    assert problems(content) == [f"a.toml {place}: gitleaks has no such key and ignores it; did you mean `{meant}`?"]


def test_a_key_that_is_like_no_other_is_named_without_a_guess() -> None:
    assert problems("xyzzy = 1\n") == ["a.toml xyzzy: gitleaks has no such key and ignores it"]


def test_a_rule_allowlist_has_no_target_rules() -> None:
    content = "[[rules]]\nid = 'a'\n[[rules.allowlists]]\npaths = ['x']\ntargetRules = ['a']\n"
    assert problems(content) == ["a.toml rules[0].allowlists[0].targetRules: gitleaks has no such key and ignores it"]


def test_keys_are_known_in_any_case() -> None:
    assert not problems("TITLE = 'x'\n[[Rules]]\nID = 'a'\nSECRETGROUP = 1\n[Rules.AllowList]\nStopWords = ['x']\n")


@pytest.mark.parametrize(
    ("content", "place", "since"),
    [
        ("minVersion = '8.0.0'\n", "minVersion", "8.29.0"),
        ("[extend]\nuseDefault = true\ndisabledRules = ['x']\n", "[extend] disabledRules", "8.23.1"),
        ("[[rules]]\nid = 'a'\nskipReport = true\n", "rules[0].skipReport", "8.28.0"),
        ("[[rules]]\nid = 'a'\n[[rules.allowlists]]\npaths = ['x']\n", "rules[0].allowlists", "8.21.0"),
        ("[[allowlists]]\npaths = ['x']\n", "[allowlists]", "8.25.0"),
    ],
)
def test_a_key_that_is_newer_than_the_scanner_is_named_with_its_first_version(
    content: str, place: str, since: str
) -> None:
    message = f"a.toml {place}: this version of gitleaks ignores it; {since} is the first that does not"
    major, minor, patch = map(int, since.split("."))
    before = f"{major}.{minor}.{patch - 1}" if patch else f"{major}.{minor - 1}.9"
    assert message in problems(content, version=before)
    assert not problems(content, version=since)


@pytest.mark.parametrize("version", [None, "unknown (sha256 0123)"])
def test_an_unknown_version_is_taken_for_the_newest(version: str | None) -> None:
    assert not problems("minVersion = '8.30.0'\n[[allowlists]]\npaths = ['x']\n", version=version)


def test_betterleaks_has_keys_of_its_own() -> None:
    content = "prefilter = 'false'\n[[rules]]\nid = 'a'\nvalidate = 'x'\n"
    assert not problems(content, version="1.4.0", scanner="betterleaks")
    assert [text.split(":")[0] for text in problems(content)] == ["a.toml prefilter", "a.toml rules[0].validate"]


@pytest.mark.parametrize(
    ("content", "since", "before"),
    [("specificity = 1", "1.6.0", "1.4.0"), ("confidence = 'high'", "1.8.0", "1.7.0"),
     ("[[rules.components]]\nid = 'b'\noptional = true\nwithin = 'file'", "1.8.0", "1.7.0")],
)  # fmt: skip
def test_newer_keys_of_betterleaks_are_known_from_their_version_on(content: str, since: str, before: str) -> None:
    content = f"[[rules]]\nid = 'a'\n{content}\n"
    assert not problems(content, version=since, scanner="betterleaks")
    message = f"this version of betterleaks ignores it; {since} is the first that does not"
    assert message in problems(content, version=before, scanner="betterleaks")[0]


@pytest.mark.parametrize(("scanner", "last", "next_"), [("gitleaks", "8.30.1", "8.30.2"),
                                                        ("betterleaks", "1.8.1", "1.9.0")])  # fmt: skip
def test_of_a_version_that_is_newer_than_the_table_nothing_is_said_to_be_ignored(
    scanner: str, last: str, next_: str
) -> None:
    content = "xyzzy = 1\n[[rules]]\nid = 'a'\nentropyy = 1\n"
    assert [text.partition(": ")[2] for text in problems(content, version=last, scanner=scanner)] == [
        f"{scanner} has no such key and ignores it",
        f"{scanner} has no such key and ignores it; did you mean `entropy`?",
    ]
    for version in (next_, None, "unknown (sha256 0123)"):
        found = problems(content, version=version, scanner=scanner)
        assert len(found) == 2
        assert all(f"unknown to this table of keys, which was checked against {scanner} " in text for text in found)
        assert f", {last}" in found[0]
        assert not any("ignore" in text for text in found)


def test_a_table_that_a_scanner_does_not_have_is_one_problem() -> None:
    content = "[[rules]]\nid = 'a'\n[[rules.components]]\nid = 'b'\nwithin = 'file'\n"
    assert problems(content) == ["a.toml rules[0].components: gitleaks has no such key and ignores it"]


# --- entries that do nothing, or everything


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (RULE + RULE, "a.toml rules[1].id: rules[0] has the same id: only the last of them counts"),
        ("minVersion = '8.31.0'\n", "a.toml minVersion: the file is written for 8.31.0 or newer"),
        ("[allowlist]\ncommits = ['0123abc']\n", "a.toml [allowlist] commits[0]: it matches no commit"),
        ("[allowlist]\nstopwords = ['a', '']\n", "a.toml [allowlist] stopwords[1]: it is empty"),
        ("[[allowlists]]\npaths = ['']\n", "a.toml allowlists[0].paths[0]: it is empty"),
        ("[extend]\ndisabledRules = ['x']\n", "a.toml [extend] disabledRules[0]: nothing is extended"),
        ("[extend]\nuseDefault = true\nurl = 'http://x'\n", "a.toml [extend] url: the scanner has this key"),
    ],
)
def test_an_entry_that_cannot_do_what_it_seems_to_is_named(content: str, problem: str) -> None:
    [found] = problems(content)
    assert found.startswith(problem)


def test_a_disabled_rule_must_be_in_a_file_that_is_extended() -> None:
    first = "[extend]\npath = 'b.toml'\ndisabledRules = ['own', 'other']\n"
    expected = "a.toml [extend] disabledRules[1]: no file that is extended has this rule, so nothing is disabled"
    assert problems(first, RULE) == [expected]
    # What the scanner's default has is not known here.
    assert not problems(first, DEFAULT + RULE)


def test_a_file_too_deep_to_extend_another_is_named() -> None:
    extending = "[extend]\npath = 'x.toml'\n"
    assert problems(extending, extending, extending + RULE) == [
        "c.toml [extend]: nothing is extended from here: the scanner follows [extend] 2 times"
    ]


def test_target_rules_are_ignored_beside_extend_and_in_an_extended_file() -> None:
    targeted = "[[allowlists]]\ntargetRules = ['own']\npaths = ['x']\n"
    ignored = "a.toml allowlists[0]: with targetRules beside [extend] it is ignored up to gitleaks 8.28"
    assert problems(DEFAULT + targeted, version="8.26.0") == [ignored]
    assert not problems(DEFAULT + targeted, version="8.30.1")
    assert not problems(RULE + targeted, version="8.26.0")
    assert problems("[extend]\npath = 'b.toml'\n", RULE + targeted) == [
        "b.toml allowlists[0]: with targetRules it counts only in the first file, not in one that is extended"
    ]


def test_a_good_configuration_and_the_scanners_own_have_no_problem() -> None:
    good = (
        f"title = 'x'\n{DEFAULT}[[rules]]\nid = 'a'\nregex = 'x'\nkeywords = ['x']\ntags = ['t']\nentropy = 3.5\n"
        f"[allowlist]\ndescription = 'x'\npaths = ['x']\ncommits = ['{'0a' * 20}', '{'0a' * 32}']\n"
    )
    for version in VERSIONS:
        assert not problems(good, version=version)
    assert not lint(Configuration((), "test"), "8.30.1", GITLEAKS.config_keys)


# --- the table of keys, on the real scanner


def test_all_scanners_have_the_same_kinds_of_tables() -> None:
    assert len({tuple(adapter.config_keys.kinds) for adapter in SCANNERS.values()}) == 1
    assert GITLEAKS.config_keys.checked_against[-1] == PINNED_VERSION
    assert set(VERSIONS) <= set(GITLEAKS.config_keys.checked_against)


def test_the_keys_of_a_scanner_name_it() -> None:
    assert [adapter.config_keys.scanner for adapter in SCANNERS.values()] == list(SCANNERS)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("content", "refused"),
    [
        ("[[rules]]\nid = 'x'\nregex = 'x'\n[rules.allowlist]\ncondition = 'nonsense'\npaths = ['x']\n", "condition"),
        (RULE + "[[allowlists]]\ntargetRules = ['nonsense']\npaths = ['x']\n", "allowlists"),
        (RULE + "[[rules.allowlists]]\ncondition = 'nonsense'\npaths = ['x']\n", "allowlists"),
        (RULE + "[[rules.required]]\nid = 'nonsense'\n", "required"),
    ],
)
def test_the_scanner_refuses_nonsense_below_a_key_exactly_where_the_table_says_that_it_reads_it(
    content: str, refused: str, version: str, gitleaks: Callable[[str], Path], tmp_path: Path
) -> None:
    configuration = configured(content)
    is_ignored = any(refused in one.place for one in lint(configuration, version, GITLEAKS.config_keys))
    said = ask_scanner(probe(gitleaks(version), "test"), configuration, tmp_path)
    assert bool(said) != is_ignored


# --- what only the scanner knows


@pytest.mark.parametrize("version", VERSIONS)
def test_each_regex_that_does_not_compile_is_named_with_the_reason(
    version: str, gitleaks: Callable[[str], Path], tmp_path: Path
) -> None:
    base = tmp_path / "base.toml"
    base.write_text("[[rules]]\nid = 'b'\nregex = 'b'\n[rules.allowlist]\npaths = ['ok', '(']\n", encoding="utf-8")
    first = tmp_path / "a.toml"
    first.write_text(
        "[extend]\npath = 'base.toml'\n[allowlist]\nregexes = ['a{1001}']\n"
        "[[rules]]\nid = 'good'\nregex = '''(?i)\\x60\\pL[[:alpha:]]\\z`\"'''\nsecretGroup = 0\n"
        "[[rules]]\nid = 'ahead'\nregex = 'a(?=b)'\n[[rules]]\nid = 'path'\npath = '*x'\n",
        encoding="utf-8",
    )
    configuration = choose_configuration(("a.toml", tmp_path, "test"), tmp_path, tmp_path)
    (tmp_path / "scratch").mkdir()
    found = ask_scanner(probe(gitleaks(version), "test"), configuration, tmp_path / "scratch")
    assert [(one.file.name, one.place, one.message) for one in found] == [
        ("a.toml", "rules[1].regex", "the regex does not compile: invalid or unsupported Perl syntax (?="),
        ("a.toml", "rules[2].path", "the regex does not compile: missing argument to repetition operator *"),
        ("a.toml", "[allowlist] regexes[0]", "the regex does not compile: invalid repeat count {1001}"),
        ("base.toml", "rules[0].allowlist.paths[1]", "the regex does not compile: missing closing ) ("),
    ]
    assert not list((tmp_path / "scratch").iterdir())


@pytest.mark.parametrize("version", ["8.26.0", "8.30.1"])
def test_a_disabled_rule_that_the_default_does_not_have_is_named(
    version: str, gitleaks: Callable[[str], Path], tmp_path: Path
) -> None:
    configuration = configured(f"{DEFAULT}disabledRules = ['github-pat', 'github-pta']\n")
    [problem] = ask_scanner(probe(gitleaks(version), "test"), configuration, tmp_path)
    assert (problem.place, problem.message) == (
        "[extend] disabledRules[1]",
        "no rule has this id, so none is disabled",
    )


def test_what_the_scanner_refuses_is_said_in_its_words_and_no_value_is_quoted(
    gitleaks: Callable[[str], Path], tmp_path: Path
) -> None:
    build = probe(gitleaks("8.30.1"), "test")
    [problem] = ask_scanner(build, configured("[[rules]]\nid = 'empty'\n"), tmp_path)
    said = "the scanner refuses it: empty: both |regex| and |path| are empty, this rule will have no effect"
    assert problem.message == said
    quoted = "hunter2-of-a-rule"
    text = f"[[rules]]\nid = 'a'\nregex = 'a'\nentropy = '{quoted}'\n"
    [problem] = ask_scanner(build, configured(text), tmp_path)
    assert problem.message.startswith("the scanner refuses it: ")
    assert quoted not in problem.message


@pytest.mark.parametrize("version", VERSIONS)
def test_the_scanner_has_nothing_to_say_of_a_good_configuration_and_its_own(
    version: str, gitleaks: Callable[[str], Path], tmp_path: Path
) -> None:
    build = probe(gitleaks(version), "test")
    assert not ask_scanner(build, configured(DEFAULT + RULE), tmp_path)
    assert not ask_scanner(build, Configuration((), "test"), tmp_path)


def test_a_scanner_that_cannot_be_run_is_an_error(gitleaks: Callable[[str], Path], tmp_path: Path) -> None:
    copied = tmp_path / "gitleaks"
    copied.write_bytes(gitleaks("8.30.1").read_bytes())
    copied.chmod(0o755)
    build = probe(copied, "test")
    copied.unlink()
    with pytest.raises(EvaluationError, match="cannot be run"):
        ask_scanner(build, configured(RULE), tmp_path)


@pytest.mark.parametrize("broken", [[], [0], [63], [17, 18, 40], list(range(64))])
def test_the_first_broken_regex_is_found_in_a_few_steps(broken: list[int]) -> None:
    asked = []

    def error_of(regexes: Sequence[str]) -> str | None:
        asked.append(len(regexes))
        wrong = [regex for regex in regexes if int(re.sub(r"\D", "", regex)) in broken]
        return f"why {wrong[0]}" if wrong else None

    found = first_broken([f"r{index}" for index in range(64)], error_of)
    assert found == ((broken[0], f"why r{broken[0]}") if broken else None)
    assert len(asked) <= 8


# --- expressions of betterleaks

# As the help of Betterleaks goes on with it: a wrapper is asked what it is.
LAZY = """\
#!{python}
import re, subprocess, sys
flags = sys.argv[1:]
if "--config" not in flags:
    sys.exit(subprocess.run(["{program}", *flags]).returncode)
# Of 1.8.1: an expression that it does not compile is dropped once a finding comes to it, with a warning.
config = flags[flags.index("--config") + 1]
text = open(config, encoding="utf-8").read()
kept = re.sub(r'(?m)^(filter|prefilter) = .*orValue.*$', "", text)
open(config, "w", encoding="utf-8").write(kept)
done = subprocess.run(["{program}", *flags], capture_output=True, text=True)
for rule in re.findall(r'id = "([^"]+)"', text) if "leaks found" in done.stderr and kept != text else ():
    quoted = f'error="unexpected token (1:12)\\\\n | {{text!r}}" rule_id={{rule}}'
    print(f"5:33AM WRN rule filter compile error {{quoted}}", file=sys.stderr)
sys.stderr.write(done.stderr)
sys.exit(done.returncode)
"""


@pytest.fixture(scope="module")
def betterleaks() -> Path:
    return installed_binary("1.4.0", print, SCANNERS["betterleaks"])[0]


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ('finding["scrit"] == "x"', "finding has no key `scrit`, so what the expression asks of it never holds; did"),
        ('finding.scrit == "x"', "finding has no key `scrit`"),
        ('attributes[?"pth"].orValue("") == "x"', "attributes has no key `pth`"),
        ("attributes['git.autor_name'] == 'x'", "attributes has no key `git.autor_name`"),
    ],
)  # fmt: skip
def test_an_expression_that_asks_for_a_key_that_is_not_there_is_named(expression: str, said: str) -> None:
    for content, where in ((f"filter = '''{expression}'''\n", "filter"),
                           (f"[[rules]]\nid = 'a'\nfilter = '''{expression}'''\n", "rules[0].filter")):  # fmt: skip
        [problem] = problems(content, version="1.4.0", scanner="betterleaks")
        assert problem.startswith(f"a.toml {where}: {said}")


def test_an_expression_may_ask_for_each_key_that_is_there() -> None:
    content = (
        'filter = \'\'\'finding["secret"] == "x" || finding.line == "y" || attributes[?"path"].orValue("") == "z"'
        ' || attributes["git.author_name"] == "bot" || attributes[?"github.owner"].orValue("") == "us" '
        "|| attributes.size() > 9'''\n"
    )
    assert not problems(content, version="1.4.0", scanner="betterleaks")


def test_what_betterleaks_warns_of_in_an_expression_is_said_at_the_expression(
    betterleaks: Path, tmp_path: Path
) -> None:
    content = f"{DEFAULT}[[rules]]\nid = 'own'\nregex = 'own_[a-z]{{8}}'\nfilter = '''finding[\"scrit\"] == \"x\"'''\n"
    found = ask_scanner(probe(betterleaks, "test"), configured(content), tmp_path)
    assert [(one.place, one.message) for one in found] == [
        ("rules[0].filter", 'the scanner warns: rule filter eval error error="no such key: scrit"')
    ]
    assert not list(tmp_path.iterdir())


def test_an_expression_that_is_dropped_with_a_warning_is_a_problem_in_the_scanners_words(
    betterleaks: Path, tmp_path: Path
) -> None:
    lazy = script(tmp_path / "lazy", LAZY.format(python=sys.executable, program=betterleaks))
    (tmp_path / "scratch").mkdir()
    allowed = "Zq7RkT2mWx9LpB4v"
    content = f"filter = '''attributes[?\"path\"].orValue(\"\") == \"{allowed}\"'''\n{DEFAULT}"
    [problem] = ask_scanner(probe(lazy, "test"), configured(content), tmp_path / "scratch")
    assert problem.place == "filter"
    assert problem.message.startswith('the scanner warns: rule filter compile error error="unexpected token')
    assert allowed not in problem.message


def test_betterleaks_has_nothing_to_say_of_good_expressions(betterleaks: Path, tmp_path: Path) -> None:
    content = (
        "prefilter = '''attributes[?\"path\"].orValue(\"\").startsWith(\"deploy/\")'''\n"
        f'filter = \'\'\'attributes["git.remote_url"] == "x" || finding["secret"].contains("x")\'\'\'\n{DEFAULT}'
    )
    assert not ask_scanner(probe(betterleaks, "test"), configured(content), tmp_path)
