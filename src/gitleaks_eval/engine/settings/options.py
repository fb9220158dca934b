"""Every option, one entry each: pytest's options and ini settings, the command and docs/options.md derive from here.

Another option is one more entry; what reads its value calls `given` with its name.
"""

import sys
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

PREFIX = "--gitleaks-"
FLAG = f"{PREFIX}eval"
ACCEPT_FLAG = f"{PREFIX}accept"
JUDGES_FLAG = f"{PREFIX}judges"


class Option(NamedTuple):
    """An option by its name in `given`, and how it is shown; without `metavar` it is a flag, and has no ini twin.

    `default` is for people. `ini` is the type of the setting in the ini file, which holds `ini_default` where the
    file says nothing. `command` is its name in the command, where that is not the name without prefix.
    """

    name: str
    metavar: str
    help: str
    default: str = ""
    repeatable: bool = False
    ini: Literal["string", "int", "float", "bool", "args"] = "string"
    ini_only: bool = False
    ini_default: bool | None = None
    command: str = ""

    @property
    def option(self) -> str:
        """As it stands on pytest's command line: `--gitleaks-scan-timeout`."""
        return f"{PREFIX}{self.name.replace('_', '-')}"

    @property
    def short(self) -> str:
        """As it stands on the line of the command: `--scan-timeout`."""
        return f"--{self.command or self.name.replace('_', '-')}"

    @property
    def setting(self) -> str:
        """Its name in the ini file, and in pytest's namespace: `gitleaks_scan_timeout`."""
        return f"gitleaks_{self.name}"

    @property
    def is_flag(self) -> bool:
        """Whether it takes no value."""
        return not self.metavar

    @property
    def keywords(self) -> dict[str, Any]:
        """What an argument parser is told of it."""
        if self.is_flag:
            return {"dest": self.setting, "action": "store_true", "help": self.text}
        action = "append" if self.repeatable else "store"
        return {"dest": self.setting, "action": action, "metavar": self.metavar, "help": self.text}

    @property
    def text(self) -> str:
        """Its help, with its default."""
        return f"{self.help} (default: {self.default})" if self.default else self.help


OPTIONS = (
    Option("eval", "", "run the evaluation, in any folder: collects the shipped checks"),
    Option("binary", "PATH", "the scanner under test"),
    Option(
        "version",
        "[SCANNER@]X.Y.Z",
        "use this version (8.30.1, betterleaks@1.4.0): the one on PATH that proves to be it, else it is installed;"
        " repeat it to compare versions",
        "gitleaks on PATH, else 8.30.1, installed if needed",
        repeatable=True,
        command="scanner-version",
    ),
    Option(
        "config",
        "FILE",
        "the configuration under test; builtin names the scanner's own; repeat it to compare configurations",
        "GITLEAKS_CONFIG, else .gitleaks.toml in rootdir or at the top of its repository, else builtin",
        repeatable=True,
    ),
    Option(
        "args",
        "FLAGS",
        "flags of the scanner that change what it sees, such as '--max-archive-depth 2', quoted as in a shell;"
        " repeat it to compare them",
        "none",
        repeatable=True,
    ),
    Option(
        "scenarios",
        "core|edge|DIR",
        "core (the nine), edge, or a folder with ground_truth/<scenario>.json and synthetic_repos/<scenario>.yaml;"
        " repeatable",
        "core",
        repeatable=True,
        ini="args",
    ),
    Option(
        "corpus",
        "KIND:PATH",
        "a labelled corpus (annotated, report, sarif, … see docs/corpora.md) as a scenario; repeatable",
        "none",
        repeatable=True,
        ini="args",
    ),
    Option(
        "real_repo",
        "[NAME=]PATH|URL",
        "a real repository to evaluate beside, or @FILE with one a line; repeatable",
        "none",
        repeatable=True,
        ini="args",
        command="repo",
    ),
    Option(
        "real_repo_disk",
        "GIB",
        "what the clone of a real repository may take on disk; the objects of a larger one of this machine are shared",
        "1",
        ini="float",
        command="repo-disk",
    ),
    Option(
        "only",
        "KIND,...",
        "evaluate only these of scenarios, rules, places, entries, forms, corpora, repos; the decision is about them",
        "all but forms",
    ),
    Option("seed", "N|random", "plant other values than by default: in scenarios, as samples of rules, in places", "0"),
    Option("analysis", "DIR", "evaluate analyses that are there (<scenario>.json) instead of scanning", "scan"),
    Option("output", "DIR", "where the reports go", "gitleaks-eval-results under rootdir"),
    Option("scan_timeout", "SECONDS", "a scan, or a clone, that takes longer is an error", "300", ini="float"),
    Option("compare", "", "compare the candidates of pyproject.toml in rootdir"),
    Option("baseline", "FILE", "compare with a saved baseline, or a saved evaluation_report.json"),
    Option("save_baseline", "FILE", "write this run as a baseline, small and without times, to keep"),
    Option("fail_on", "VERDICT", "what fails a comparison: regression, or review as well", "regression"),
    Option(
        "allow_unreadable_rules",
        "",
        "end with status 0 although the rules of the scanner cannot be read (a script around it); still no more than"
        " WEAK_PASS",
    ),
    Option("findings", "", "also a test for each expected finding, and for unexpected ones"),
    Option(
        "accept", "", "run no test: list what entries of the configuration hide, ask, and write that it is accepted"
    ),
    Option("yes", "", "with --gitleaks-accept: do not ask"),
    Option("why", "TEXT", "with --gitleaks-accept: the reason that is written", "existing at adoption"),
    Option("judges", "", "run the LLM judges, alone or after the checks"),
    Option("judge_mode", "MODE", "llm, heuristic (numbers alone) or replay (of a store)", "llm"),
    Option(
        "judge_model",
        "MODEL",
        "the model that judges: a short name or a full id; repeat it for a majority of several",
        "opus-4.5",
        repeatable=True,
        ini="args",
    ),
    Option("judge_samples", "NUMBER", "how often each model is asked: the median counts", "1", ini="int"),
    Option(
        "judge_store",
        "DIR",
        "where replies are kept; what is there is not asked again",
        "judge-store in the output folder",
    ),
    Option("judge_max_cost", "USD", "what the questions of a run may cost at most", "no limit", ini="float"),
    Option(
        "judge_real_world",
        "WORD",
        "whether verdicts on real repositories change the exit status: advisory or gate",
        "advisory",
    ),
    Option("evaluation_mode", "MODE", "what judges look at: auto, synthetic or real_world", "auto"),
    Option("severity_policy", "FILE", "a severity policy of your own (JSON)", "the shipped one", ini_only=True),
    Option(
        "entries",
        "strict",
        "strict fails each entry of the configuration that is not accepted, and what may be deleted",
        "they are listed",
        ini_only=True,
    ),
    Option("judge_timeout", "SECONDS", "the total time for one verdict, in seconds", "120", ini="float", ini_only=True),
    Option(
        "judge_max_calls", "NUMBER", "how many questions a run may put to the model", "40", ini="int", ini_only=True
    ),
    Option("judge_low_confidence", "WORD", "a confidence below 0.7: flag, exclude, cap (to 3)", "flag", ini_only=True),
    Option("judge_pass_score", "SCORE", "a judge's test passes at this score, 1 to 5", "3", ini="float", ini_only=True),
    Option("judge_prices", "FILE", "prices of models of your own (JSON)", "the shipped ones", ini_only=True),
    Option("judge_prompts", "DIR", "a folder of own prompts, <dimension>.md", "the shipped ones", ini_only=True),
    Option("judge_trace_id", "ID", "the id that links the calls of a run", "a new one", ini_only=True),
    Option(
        "judge_observability",
        "BOOL",
        "write judges.jsonl, a line a call",
        "true",
        ini="bool",
        ini_only=True,
        ini_default=True,
    ),
    Option(
        "judge_real_paths",
        "BOOL",
        "show judges the paths of real repositories",
        "false",
        ini="bool",
        ini_only=True,
        ini_default=False,
    ),
)


class Group(NamedTuple):
    """Options that stand together in a help, by their names, and some of them as an example."""

    title: str
    names: frozenset[str]
    example: tuple[tuple[str, str], ...]


_UNDER_TEST = ("eval", "binary", "version", "config", "args")
_ASKED = ("scenarios", "corpus", "real_repo", "real_repo_disk", "only", "seed", "analysis", "findings")
_COMPARED = ("compare", "baseline", "save_baseline", "fail_on")
_ACCEPTED = ("accept", "yes", "why")
_JUDGES = (*(option.name for option in OPTIONS if option.name.startswith("judge")), "evaluation_mode")
# The last takes those that no other has.
GROUPS = (
    Group("what is under test", frozenset(_UNDER_TEST), (("eval", ""), ("version", "8.18.4"))),
    Group("what it is asked for", frozenset(_ASKED), (("scenarios", "edge"), ("only", "scenarios,rules"))),
    Group("comparisons", frozenset(_COMPARED), (("baseline", "baseline.json"), ("fail_on", "review"))),
    Group("acceptances", frozenset(_ACCEPTED), (("accept", ""), ("why", "reviewed"))),
    Group("judges", frozenset(_JUDGES), (("judges", ""), ("judge_mode", "heuristic"))),
    Group("the run and its reports", frozenset(), (("output", "results"), ("scan_timeout", "60"))),
)
BY_NAME = {option.name: option for option in OPTIONS}


def grouped(options: Iterable[Option]) -> Iterator[tuple[Group, list[Option]]]:
    """Yield each group with those of these options that stand in it; no group that would be empty."""
    left = list(options)
    for group in GROUPS:
        of_group = [option for option in left if option.name in group.names or group is GROUPS[-1]]
        left = [option for option in left if option not in of_group]
        if of_group:
            yield group, of_group


WITH_VALUE = frozenset(option.option for option in OPTIONS if not option.ini_only and not option.is_flag)


def as_markdown() -> Iterator[str]:
    """Return the page of docs/, line by line."""
    yield "# Options"
    yield ""
    yield "Made by `python -m gitleaks_eval.engine.settings.options > docs/options.md`."
    yield ""
    yield "Each option that takes a value has a twin in pytest's ini file: `gitleaks_config` for `--gitleaks-config`."
    yield "Paths there are relative to that file. [The command](command.md) takes the options without their prefix."
    yield ""
    yield "| option | meaning | default |"
    yield "|---|---|---|"
    for option in OPTIONS:
        shown = option.option if option.is_flag else f"{option.option}={option.metavar}"
        name = f"ini `{option.setting}`" if option.ini_only else f"`{shown}`"
        default = option.default or ("off" if option.is_flag else "none")
        yield f"| {_cell(name)} | {_cell(option.help)} | {_cell(default)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    sys.stdout.write("\n".join([*as_markdown(), ""]))
