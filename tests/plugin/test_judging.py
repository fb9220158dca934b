"""Judges through the whole plugin: as tests, against a local server that speaks the Messages API, in the reports."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from builders import IN_CORE, secret
from corpus import KEY, TALKATIVE, TOKEN, report, shipped_scenarios, write_analysis, write_truth
from messages_server import (
    MODEL,
    MessagesServer,
    answer_to,
    failing,
    good,
    hanging,
    html,
    local_service,
    message,
    model_info,
    sent,
    together,
)

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.resources import shipped_data
from gitleaks_eval.core.schema import schema_problems
from gitleaks_eval.engine.judging.judging import Judging
from gitleaks_eval.judges import calibrate
from gitleaks_eval.judges.calibration_cases import FAULTS
from gitleaks_eval.judges.dimensions.shipped import SHIPPED
from gitleaks_eval.judges.panel.agreement import krippendorff_alpha
from gitleaks_eval.judges.panel.calibrated import keep_calibration, prompt_sha256
from gitleaks_eval.plugin.judges import JudgeHooks
from gitleaks_eval.reports.output.files import read_report
from gitleaks_eval.scenarios.recipe import load_recipe

messages_server = pytest.fixture(local_service)
pytestmark = pytest.mark.usefixtures("own_environment")

JUDGES = ["detection_accuracy", "false_positive", "secret_coverage", "severity_classification"]
BOTH, ALONE, HEURISTIC = (
    ["--gitleaks-eval", "--gitleaks-judges"],
    "--gitleaks-judges",
    "--gitleaks-judge-mode=heuristic",
)
REPLAY, OURS = "--gitleaks-judge-mode=replay", f"--gitleaks-judge-model={MODEL}"
RESULTS = "gitleaks-eval-results"
BOTH_WAYS = pytest.mark.parametrize("parallel", [[], ["-n2"]], ids=["serial", "parallel"])
# What may differ between a run and its replay.
OF_ITS_TIME = {"generated_at", "trace_id", "duration_ms", "mode", "source"}


def corpus(folder: Path, *reported: tuple[str, str, int], name: str = "leaky") -> list[str]:
    """One scenario that expects two secrets with severities, one clean one, and analyses that report these places."""
    truth, analyses = folder / "truth", folder / "analyses"
    findings = [
        {"file_path": path, "rule_id": rule, "line_number": line, "expected_severity": severity}
        for (path, rule, line), severity in ((KEY, "HIGH"), (TOKEN, "HIGH"))
    ]
    write_truth(truth, name, [KEY, TOKEN], findings=findings)
    write_analysis(analyses, name, reported or (KEY, TOKEN))
    write_truth(truth, "clean", [])
    write_analysis(analyses, "clean", [])
    return [f"--gitleaks-scenarios={truth}", f"--gitleaks-analysis={analyses}"]


@pytest.fixture
def options(pytester: pytest.Pytester) -> list[str]:
    """A run in which everything is as expected."""
    return corpus(pytester.path / "corpus")


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess(*arguments, timeout=120)


def read(pytester: pytest.Pytester, name: str) -> Any:
    return json.loads((pytester.path / RESULTS / name).read_text(encoding="utf-8"))


def verdicts(document: dict[str, Any]) -> dict[str, Any]:
    """The verdicts of a report, looked at: the schema, four of them in their order."""
    assert schema_problems("report", document) == []
    return {verdict["dimension"]: verdict for verdict in document["llm"]["judges"]}


def kinds(document: dict[str, Any]) -> list[str]:
    return sorted(str(verdict["unscored_kind"]) for verdict in verdicts(document).values())


def files(pytester: pytest.Pytester) -> dict[str, bytes]:
    folder = pytester.path / RESULTS
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: timeless(item) for name, item in value.items() if name not in OF_ITS_TIME}
    return [timeless(item) for item in value] if isinstance(value, list) else value


# --- heuristic: what the numbers say


def test_with_a_real_scanner_heuristics_give_five_everywhere(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path]
) -> None:
    # Workers scan, the controller judges; serially, a configuration that suppresses is judged below.
    result = run(pytester, *BOTH, HEURISTIC, f"--gitleaks-binary={gitleaks('8.30.1')}", "-n2")
    assert result.ret == 0
    document = report(pytester)
    assert {name: verdict["score"] for name, verdict in verdicts(document).items()} == dict.fromkeys(JUDGES, 5)
    assert (document["llm"]["score"], document["llm"]["mode"], document["llm"]["model_requested"]) == (
        5,
        "heuristic",
        None,
    )
    assert document["combined"] == {
        "score": 5.0, "decision": "STRONG_PASS", "guarded_decision": "STRONG_PASS", "capped_from": None,
    }  # fmt: skip
    assert len(document["results"]) == IN_CORE
    assert [json.loads(line)["source"] for line in files(pytester)["judges.jsonl"].splitlines()] == ["heuristic"] * 4
    result.stdout.fnmatch_lines(
        [f"judge  {name}*5  (heuristic 5*" for name in JUDGES]
        + ["LLM score 5.00 (heuristic), combined 5.00 STRONG_PASS"]
    )


def test_a_configuration_that_suppresses_a_planted_secret_is_capped_as_the_table_says(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path]
) -> None:
    pytester.path.joinpath(".gitleaks.toml").write_text(
        "[extend]\nuseDefault = true\n[[allowlists]]\npaths = ['^deploy/id_rsa$']\n",
        encoding="utf-8",
    )
    result = run(pytester, *BOTH, HEURISTIC, f"--gitleaks-binary={gitleaks('8.30.1')}")
    assert result.ret == 1
    document = report(pytester)
    assert document["summary"]["findings"]["missed"] == 1
    found = verdicts(document)
    assert [found[name]["raw_score"] for name in JUDGES] == [4, 5, 5, 5]
    # Each by the checks of its own dimension: a key is missed, no clean repository has a finding.
    assert [(found[name]["score"], found[name]["cap_checks"]) for name in JUDGES] == [
        (2, ["SA-8", "SD-1"]), (5, []), (5, []), (2, ["SA-11"]),
    ]  # fmt: skip
    # Two are capped, and count for a little less: by one of 17 secrets, and by one of so many severities.
    assert document["llm"]["score"] == pytest.approx(
        0.35 * found[JUDGES[0]]["counted"] + 2.25 + 0.2 * found[JUDGES[3]]["counted"]
    )
    assert found[JUDGES[0]]["counted"] == pytest.approx(1 + 16 / 17, abs=1e-4)
    assert 1.8 < found[JUDGES[3]]["counted"] < 2
    assert document["llm"]["raw_score"] == pytest.approx(4.65)
    programmatic = document["summary"]["normalized_score"]
    assert document["combined"]["score"] == pytest.approx(0.6 * programmatic + 0.4 * document["llm"]["score"])
    # Never above the guarded decision of the run, and that is said.
    assert document["combined"]["decision"] == document["combined"]["guarded_decision"] == "FAIL"
    assert document["combined"]["capped_from"] == "STRONG_PASS"
    result.stdout.fnmatch_lines(
        [
            "*detection_accuracy scores 2 of 5, capped from 4 because SA-8, SD-1 fail; a pass needs 3",
            "judge *capped from 5 by SA-11*",
            "LLM score 3.31 (before caps 4.65) (heuristic), combined *FAIL, capped from STRONG_PASS by the guarded*",
        ]
    )
    assert "capped from 4 by SA-8 SD-1" in files(pytester)["scorecard.md"].decode()
    lines = [json.loads(line) for line in files(pytester)["judges.jsonl"].splitlines()]
    assert [(line["score"], line["capped_score"]) for line in lines] == [(4, 2), (5, 5), (5, 5), (5, 2)]


def test_a_dead_scanner_scores_nothing_and_its_run_is_incomplete(pytester: pytest.Pytester) -> None:
    dead = pytester.path / "gitleaks"
    dead.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    dead.chmod(0o755)
    result = run(
        pytester, *BOTH, HEURISTIC, f"--gitleaks-binary={dead}", shipped_scenarios(pytester.path / "s", "api-keys")
    )
    assert result.ret == 1
    result.assert_outcomes(errors=43)
    document = report(pytester)
    assert kinds(document) == ["invalid"] * 4
    assert document["llm"]["score"] is None
    assert document["combined"] == {
        "score": None, "decision": "INCOMPLETE", "guarded_decision": "FAIL", "capped_from": None,
    }  # fmt: skip


def test_nothing_reported_at_all_leaves_two_judges_that_do_not_apply(pytester: pytest.Pytester) -> None:
    options = corpus(pytester.path / "corpus")
    write_analysis(pytester.path / "corpus/analyses", "leaky", [])
    result = run(pytester, *BOTH, HEURISTIC, "-v", "--junitxml=junit.xml", "--json-report", *options)
    assert result.ret == 1
    document = report(pytester)
    assert [verdict["outcome"] for verdict in verdicts(document).values()] == [
        "scored", "not_applicable", "scored", "not_applicable",
    ]  # fmt: skip
    assert document["llm"]["score"] == 1.0
    assert document["combined"]["guarded_decision"] == "FAIL"
    result.stdout.fnmatch_lines(["*test_judge?false_positive? N/A*", "judge  false_positive *not applicable: *"])
    junit = (pytester.path / "junit.xml").read_text(encoding="utf-8")
    assert '<property name="verdict" value="not_applicable"' in junit
    tests = json.loads((pytester.path / ".report.json").read_text(encoding="utf-8"))["tests"]
    judge = next(test for test in tests if "detection_accuracy" in test["nodeid"])
    assert {"dimension": "detection_accuracy"} in judge["user_properties"]
    assert {"score": 1} in judge["user_properties"]


# --- llm: against the local server


@BOTH_WAYS
def test_four_questions_are_asked_at_once_and_replayed_without_the_server(
    pytester: pytest.Pytester,
    options: list[str],
    messages_server: MessagesServer,
    monkeypatch: pytest.MonkeyPatch,
    parallel: list[str],
) -> None:
    messages_server.always = together(4)
    result = run(pytester, *BOTH, OURS, *options, *parallel)
    assert result.ret == 0
    assert len(messages_server.posts) == 4
    live, card = report(pytester), read(pytester, "scorecard.json")
    assert card["llm"] == live["llm"]
    assert card["combined"] == live["combined"]
    found = verdicts(live)
    assert list(found) == JUDGES
    assert [(one["score"], one["confidence"], one["heuristic_score"]) for one in found.values()] == [(4, 0.9, 5)] * 4
    assert all(one["reasoning"] == "The findings match." and one["trace_id"] for one in found.values())
    assert (live["llm"]["mode"], live["llm"]["model_requested"], live["llm"]["model_answered"]) == ("llm", MODEL, MODEL)
    assert live["llm"]["score"] == pytest.approx(4)
    assert live["combined"]["score"] == pytest.approx(0.6 * live["summary"]["normalized_score"] + 1.6)
    markdown = files(pytester)["scorecard.md"].decode()
    assert "The findings match." in markdown
    assert "## Judges" in markdown
    calls = [json.loads(line) for line in files(pytester)["judges.jsonl"].splitlines()]
    assert [(call["dimension"], call["source"], call["model"], call["input_tokens"]) for call in calls] == [
        (name, "live", MODEL, 1200) for name in JUDGES
    ]
    assert len(list((pytester.path / RESULTS / "judge-store").iterdir())) == 4
    prompts = {post.body["messages"][0]["content"] for post in messages_server.posts}
    assert {call["prompt_sha256"] for call in calls} == {hashlib.sha256(text.encode()).hexdigest() for text in prompts}
    for call in calls:
        assert (pytester.path / RESULTS / "judge-store" / f"{call['store_key']}.json").is_file()
        assert (call["score"], call["capped_score"], call["time"][:2], call["sample"]) == (4, 4, "20", 0)

    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name)
    assert run(pytester, *BOTH, OURS, REPLAY, *options, *parallel).ret == 0
    assert len(messages_server.posts) == 4
    replayed = report(pytester)
    assert replayed["llm"]["mode"] == "replay"
    assert timeless(replayed) == timeless(live)
    assert timeless(read(pytester, "scorecard.json")) == timeless(card)
    again = [json.loads(line) for line in files(pytester)["judges.jsonl"].splitlines()]
    changing = dict.fromkeys(("time", "source", "ms", "attempts", "request_id", "trace_id"))
    assert [{**call, **changing} for call in again] == [{**call, **changing} for call in calls]
    assert {call["source"] for call in again} == {"replay"}


def test_judges_alone_add_their_verdicts_to_the_reports_of_the_last_full_run(
    pytester: pytest.Pytester, options: list[str], messages_server: MessagesServer
) -> None:
    assert run(pytester, "--gitleaks-eval", *options).ret == 0
    before, untouched = report(pytester), files(pytester)
    assert "llm" not in before
    assert "combined" not in read(pytester, "scorecard.json")
    assert "judges.jsonl" not in untouched
    assert "## Judges" not in untouched["scorecard.md"].decode()

    result = run(pytester, ALONE, OURS, *options, "-o", "gitleaks_judge_trace_id=of this test")
    assert result.ret == 0
    result.assert_outcomes(passed=4)
    after = report(pytester)
    assert [verdict["trace_id"] for verdict in verdicts(after).values()] == ["of this test"] * 4
    assert {name: value for name, value in after.items() if name not in {"llm", "combined"}} == before
    assert files(pytester)["scorecard.md"].startswith(untouched["scorecard.md"].rstrip())
    assert after["combined"]["score"] == pytest.approx(0.6 * after["summary"]["normalized_score"] + 1.6)

    again = run(pytester, ALONE, REPLAY, OURS, *options, "-n2", "-o", "gitleaks_judge_observability=false")
    assert again.ret == 0
    assert timeless(report(pytester)) == timeless(after)
    assert files(pytester)["scorecard.md"].decode().count("## Judges") == 1
    # Both ways of running judges put the same questions: the replies of one serve the other.
    assert run(pytester, *BOTH, REPLAY, OURS, *options).ret == 0
    assert len(messages_server.posts) == 4


def test_judges_alone_look_at_a_corpus_as_the_last_full_run_did(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path]
) -> None:
    shipped_scenarios(pytester.path / "scenarios", "no-secrets")
    source = pytester.mkdir("labelled")
    for name in ("a.py", "b.py"):
        line = f"token = '{secret('github-pat', name)}'"
        (source / name).write_text(f"# ruleid: github-pat\n{line}\n", encoding="utf-8")
    (source / "missed.py").write_text("# ruleid: github-pat\nnothing = 1\n", encoding="utf-8")
    (source / "unlabelled.py").write_text(f"token = '{secret('github-pat', 'x')}'\n", encoding="utf-8")
    # A path that no label calls a secret, and that is masked for what the scanner reports.
    phrase = "correct-horse-battery-staple"
    (source / phrase).mkdir()
    (source / phrase / "run.sh").write_text(f"# ruleid: phrase\nlogin --with {phrase}\n", encoding="utf-8")
    rule = "[[rules]]\nid = 'phrase'\nregex = '''correct-[a-z]+-[a-z]+-[a-z]+'''\n"
    (pytester.path / ".gitleaks.toml").write_text(f"[extend]\nuseDefault = true\n{rule}", encoding="utf-8")
    named = ["--gitleaks-scenarios=scenarios", "--gitleaks-corpus=annotated:labelled", HEURISTIC]
    run(pytester, *BOTH, *named, f"--gitleaks-binary={gitleaks('8.30.1')}")
    together_judged = report(pytester)
    assert together_judged["corpora"]["by_scenario"]["labelled"]["tp"] == 3
    # What no label speaks of is not wrong.
    assert together_judged["corpora"]["by_scenario"]["labelled"]["unlabelled"] == 1
    noise = verdicts(together_judged)["false_positive"]
    assert (noise["raw_score"], noise["reasoning"].startswith("Heuristic: 0 of 3 findings")) == (5, True)
    assert phrase not in json.dumps(together_judged)

    run(pytester, "--gitleaks-eval", *named, f"--gitleaks-binary={gitleaks('8.30.1')}")
    assert "llm" not in report(pytester)
    result = run(pytester, ALONE, *named)
    assert result.ret in {0, 1}
    result.stdout.fnmatch_lines(["gitleaks-eval: analyses in *2 scenarios (scenarios, annotated:labelled)*"])
    assert timeless(verdicts(report(pytester))) == timeless(verdicts(together_judged))

    result = run(pytester, ALONE, *named, f"--gitleaks-analysis={RESULTS}/analysis")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--gitleaks-corpus annotated:labelled: nothing is scanned beside --gitleaks-anal*"])


def test_only_selected_judges_call_and_a_part_of_them_leaves_the_reports_alone(
    pytester: pytest.Pytester, options: list[str], messages_server: MessagesServer
) -> None:
    run(pytester, "--gitleaks-eval", *options)
    before = files(pytester)
    result = run(pytester, ALONE, OURS, *options, "-v", "-k", "false_positive")
    result.assert_outcomes(passed=1, deselected=3)
    assert len(messages_server.posts) == 1
    result.stdout.fnmatch_lines(
        ["judge  false_positive *", "LLM score none*no combined decision*", "PARTIAL  not all judges*"]
    )
    after = files(pytester)
    assert {name: after[name] for name in before} == before
    assert "judges.jsonl" not in after
    # A node id that was printed can be pasted back, without flags.
    node = next(line.split(" ")[0] for line in result.outlines if "::test_judge[" in line)
    pasted = run(pytester, node, "-o", f"addopts={OURS} {REPLAY} {' '.join(options)}")
    pasted.assert_outcomes(passed=1)
    assert len(messages_server.posts) == 1


def test_judges_that_are_selected_without_a_check_write_a_partial_run(
    pytester: pytest.Pytester, options: list[str]
) -> None:
    run(pytester, "--gitleaks-eval", *options)
    before = files(pytester)
    result = run(pytester, *BOTH, HEURISTIC, *options, "-m", "llm_judge")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["PARTIAL 0 of * checks, no decision", "judge  detection_accuracy *"])
    after = files(pytester)
    assert {name: after[name] for name in before} == before
    document = read(pytester, "partial/evaluation_report.json")
    assert list(verdicts(document)) == JUDGES
    assert (document["partial"], document["combined"]["decision"]) == (True, None)
    assert len(after["partial/judges.jsonl"].splitlines()) == 4
    assert b"## Judges" in after["partial/scorecard.md"]


def test_checks_that_are_selected_without_a_judge_have_no_verdicts(
    pytester: pytest.Pytester, options: list[str]
) -> None:
    assert run(pytester, *BOTH, HEURISTIC, *options, "-m", "not llm_judge").ret == 0
    assert "llm" not in report(pytester)


# --- failures


def test_each_failure_is_its_kind_of_unscored_and_an_error_never_a_number(
    pytester: pytest.Pytester, options: list[str], messages_server: MessagesServer
) -> None:
    cut_off, declined = sent(message('{"score": 4,', "max_tokens")), sent(message("I cannot.", "refusal"))
    replies = dict(zip(JUDGES, (cut_off, declined, html, failing(400)), strict=True))

    def by_dimension(handler: Any, request: Any) -> None:
        prompt = request.body["messages"][0]["content"]
        next(reply for name, reply in replies.items() if f"**{name}**" in prompt)(handler, request)

    messages_server.always = by_dimension
    result = run(pytester, *BOTH, OURS, *options, "--junitxml=junit.xml")
    # What a model replied is asked for again, once; what no model replied is not.
    assert len(messages_server.posts) == 6
    assert result.ret == 1
    assert result.parseoutcomes()["errors"] == 4
    assert "failed" not in result.parseoutcomes()
    document = report(pytester)
    assert kinds(document) == ["invalid", "refusal", "transport", "truncated"]
    assert all(one["score"] is one["raw_score"] is None for one in verdicts(document).values())
    assert document["llm"]["score"] is None
    assert document["combined"] == {
        "score": None, "decision": "INCOMPLETE", "guarded_decision": "INCOMPLETE", "capped_from": None,
    }  # fmt: skip
    assert document["summary"]["decision"] == "STRONG_PASS"
    result.stdout.fnmatch_lines(
        [
            "ERROR  unscored (refusal): the model declined*--gitleaks-judge-model  (1 judge: false_positive)",
            "*combined none INCOMPLETE",
        ]
    )
    assert not (pytester.path / RESULTS / "judge-store").exists()
    assert '<property name="unscored_kind" value="refusal"' in (pytester.path / "junit.xml").read_text(encoding="utf-8")
    errors = [json.loads(line)["error_kind"] for line in files(pytester)["judges.jsonl"].splitlines()]
    assert sorted(errors) == ["invalid", "refusal", "transport", "truncated"]


def test_no_reply_before_the_deadline_and_no_budget_are_kinds_too(
    pytester: pytest.Pytester, options: list[str], messages_server: MessagesServer
) -> None:
    messages_server.always = hanging
    pytester.makeini("[pytest]\ngitleaks_judge_timeout = 0.8\n")
    run(pytester, *BOTH, OURS, *options)
    assert kinds(report(pytester)) == ["timeout"] * 4
    assert len(messages_server.posts) == 4


@BOTH_WAYS
def test_a_run_that_plans_more_calls_than_the_limit_ends_before_the_first(
    pytester: pytest.Pytester, options: list[str], messages_server: MessagesServer, parallel: list[str]
) -> None:
    result = run(pytester, *BOTH, OURS, *options, *parallel, "-o", "gitleaks_judge_max_calls=3")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*plans 4 questions (4 judges, 1 samples, 1 models)*gitleaks_judge_max_calls allows 3*"]
    )
    assert messages_server.requests == []
    # Nothing was evaluated, so nothing is told of judges or checks, and no report is promised.
    assert not any("report:" in line or "PARTIAL" in line or line.startswith("judge ") for line in result.outlines)
    assert not (pytester.path / RESULTS / "partial").exists()


def test_workers_that_have_selected_too_many_judges_end_the_run_before_the_first() -> None:
    class Limited:
        selected: tuple[str, ...] = ()

        def select(self, names: Iterable[str]) -> None:
            self.selected = tuple(names)

        def refuse_too_many_calls(self, cases: Sequence[str]) -> None:
            if len(cases) > 1:
                raise InputError(f"too many: {len(cases)}")

    def collected(*names: str) -> list[str]:
        return ["a/test_own.py::test_judge[x]", *(f"p/judges/test_judges.py::test_judge[{name}]" for name in names)]

    limited = Limited()
    hooks = JudgeHooks(cast("Judging", limited))
    hooks.pytest_xdist_node_collection_finished(collected("real_world-false_positive"))
    assert limited.selected == ("real_world-false_positive",)
    with pytest.raises(pytest.UsageError, match="too many: 2"):
        hooks.pytest_xdist_node_collection_finished(collected(*JUDGES[:2]))


def test_a_replay_without_a_store_says_so_once_and_is_incomplete(pytester: pytest.Pytester, options: list[str]) -> None:
    result = run(pytester, *BOTH, REPLAY, "--gitleaks-judge-store=elsewhere", *options)
    assert result.ret == 1
    result.assert_outcomes(passed=65, errors=4)
    assert kinds(report(pytester)) == ["replay_miss"] * 4
    assert report(pytester)["combined"]["decision"] == "INCOMPLETE"
    told = [line for line in result.outlines if "elsewhere" in line]
    assert len(told) == 1
    assert told[0].startswith(f"ERROR  unscored (replay_miss): there is no store {pytester.path / 'elsewhere'}: name ")
    assert told[0].endswith(f"--gitleaks-judge-mode=llm  (4 judges: {', '.join(JUDGES)})")
    # Whoever reads no further must not believe that nothing is to be done.
    result.stdout.fnmatch_lines(["next: mend what kept the judges from a score, and run again"])
    assert not (pytester.path / "elsewhere").exists()

    (pytester.path / "elsewhere").mkdir()
    alone = run(pytester, ALONE, REPLAY, "--gitleaks-judge-store=elsewhere", *options)
    assert alone.ret == 1
    (told_alone,) = (line for line in alone.outlines if "elsewhere" in line)
    assert told_alone.startswith("ERROR  unscored (replay_miss): no reply to this prompt and model is recorded in ")
    alone.stdout.fnmatch_lines(["judge  detection_accuracy *UNSCORED (replay_miss): see ERROR above"])


def test_without_credentials_the_three_ways_are_named(
    pytester: pytest.Pytester, options: list[str], messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    # However quiet a run is, it says what to do.
    result = run(pytester, *BOTH, OURS, *options, "-q")
    assert result.ret == 1
    assert kinds(report(pytester)) == ["transport"] * 4
    ways = "ERROR *credentials*ANTHROPIC_API_KEY*--gitleaks-judge-mode=heuristic*--gitleaks-judge-mode=replay*"
    result.stdout.fnmatch_lines([ways])
    assert result.stdout.str().count("--gitleaks-judge-mode=heuristic") == 1
    assert messages_server.requests == []


def test_a_retired_model_is_an_error_that_names_the_option_and_one_that_soon_retires_a_warning(
    pytester: pytest.Pytester, options: list[str], messages_server: MessagesServer
) -> None:
    messages_server.model = model_info(lifecycle="retired", retires_at="2020-01-01T00:00:00Z")
    run(pytester, *BOTH, OURS, *options).stdout.fnmatch_lines(["*was retired*--gitleaks-judge-model*"])
    assert messages_server.posts == []
    messages_server.model = model_info(lifecycle="deprecated", retires_at="2020-01-01T00:00:00Z")
    result = run(pytester, ALONE, OURS, *options)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["WARNING  the retirement of model*"])
    assert report(pytester)["llm"]["warnings"]


@pytest.mark.usefixtures("python_of_its_own")
def test_without_the_extra_there_is_one_clear_error(pytester: pytest.Pytester, options: list[str]) -> None:
    # As without the package: it is looked for, and not found.
    pytester.makepyfile(
        no_sdk="""
        import importlib.util
        real = importlib.util.find_spec
        importlib.util.find_spec = lambda name, *more: None if name == "anthropic" else real(name, *more)
        """
    )
    result = run(pytester, "-p", "no_sdk", *BOTH, *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert [line for line in result.errlines if line] == [
        (
            "ERROR: --gitleaks-judges: the mode llm needs the package anthropic: pip install 'gitleaks-eval[judges]', "
            "or use --gitleaks-judge-mode=heuristic, or --gitleaks-judge-mode=replay"
        )
    ]
    assert run(pytester, "-p", "no_sdk", *BOTH, HEURISTIC, *options).ret == 0


@pytest.mark.usefixtures("python_of_its_own")
@pytest.mark.parametrize("mode", [HEURISTIC, REPLAY])
def test_heuristic_and_replay_need_no_package_and_no_network(
    pytester: pytest.Pytester, options: list[str], mode: str
) -> None:
    pytester.makepyfile(
        offline="""
        import socket, sys
        sys.modules["anthropic"] = None
        def no(*_):
            raise AssertionError("a connection was opened")
        socket.socket.connect = no
        """
    )
    run(pytester, "-p", "offline", *BOTH, mode, *options)
    assert set(kinds(report(pytester))) == {"None" if mode == HEURISTIC else "replay_miss"}


# --- judges alone: what they read


def test_judges_alone_without_a_report_say_what_to_do(pytester: pytest.Pytester, options: list[str]) -> None:
    for arguments in ([ALONE, HEURISTIC], [ALONE, HEURISTIC, *options], [ALONE, HEURISTIC, "-n2"]):
        result = run(pytester, *arguments)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(["*there is no *evaluation_report.json; run pytest --gitleaks-eval first*"])


def test_judges_alone_do_not_judge_what_the_report_is_not_about(pytester: pytest.Pytester, options: list[str]) -> None:
    run(pytester, "--gitleaks-eval", *options)
    before = files(pytester)
    other = corpus(pytester.path / "other", name="renamed")
    # Nor may analyses that an earlier scan left stand for those that the report is about.
    (pytester.path / RESULTS / "analysis").mkdir()
    wrong = {"other scenarios": other, "name their folder with --gitleaks-analysis": options[:1]}
    for problem, arguments in wrong.items():
        result = run(pytester, ALONE, HEURISTIC, *arguments)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"*{problem}*"])
    assert files(pytester) == before


def test_a_report_of_a_part_or_no_report_at_all_is_refused(pytester: pytest.Pytester, options: list[str]) -> None:
    run(pytester, "--gitleaks-eval", *options)
    path = pytester.path / RESULTS / "evaluation_report.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    for changed, problem in (({**document, "partial": True}, "of a partial run"), ([], "no report of a full run")):
        path.write_text(json.dumps(changed), encoding="utf-8")
        result = run(pytester, ALONE, HEURISTIC, *options)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"*{problem}*"])


DAMAGES: dict[str, tuple[list[str], Any]] = {
    "score-of-99": (["summary", "score"], 99),
    "score-as-text": (["summary", "score"], "1"),
    "normalized": (["summary", "normalized_score"], 50),
    "no-summary": (["summary"], []),
    "other-count": (["summary", "findings", "other"], 1),
    "negative-count": (["summary", "findings", "missed"], -1),
    "no-scanner": (["scanner"], []),
    "no-version": (["scanner"], {"name": "gitleaks", "config": None}),
    "hash": (["scanner", "config_sha256"], 5),
    "results": (["results"], 5),
    "findings": (["findings"], {}),
    "incomplete": (["incomplete"], ""),
}


def test_a_report_that_was_changed_by_hand_is_refused_and_the_place_is_named(
    pytester: pytest.Pytester, options: list[str]
) -> None:
    run(pytester, "--gitleaks-eval", *options)
    folder, path = pytester.path / RESULTS, pytester.path / RESULTS / "evaluation_report.json"
    whole = path.read_text(encoding="utf-8")
    corpus_sha256 = json.loads(whole)["corpus_sha256"]
    assert read_report(folder, corpus_sha256, scanned=False) == json.loads(whole)
    for keys, value in DAMAGES.values():
        document = json.loads(whole)
        changed = document
        for key in keys[:-1]:
            changed = changed[key]
        changed[keys[-1]] = value
        path.write_text(json.dumps(document), encoding="utf-8")
        with pytest.raises(InputError) as caught:
            read_report(folder, corpus_sha256, scanned=False)
        assert f"{path} is no report of a full run (/{keys[0]}" in str(caught.value), keys
    result = run(pytester, ALONE, HEURISTIC, *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*is no report of a full run (/incomplete: '' is not of type 'boolean')*"])


def test_a_scorecard_that_is_none_is_status_4_and_the_reports_are_left_alone(
    pytester: pytest.Pytester, options: list[str]
) -> None:
    run(pytester, "--gitleaks-eval", *options)
    (pytester.path / RESULTS / "scorecard.json").write_text("[]", encoding="utf-8")
    before = files(pytester)
    result = run(pytester, ALONE, HEURISTIC, *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["ERROR the report *scorecard.json: is none of gitleaks-eval*"])
    assert files(pytester) == before


# --- settings


@pytest.mark.parametrize(("policy", "used"), [("flag", 4), ("exclude", 3), ("cap", 4)])
def test_low_confidence_is_flagged_left_out_or_capped(
    pytester: pytest.Pytester, options: list[str], messages_server: MessagesServer, policy: str, used: int
) -> None:
    messages_server.replies = [good(confidence=0.4, score=5)]
    pytester.makeini(f"[pytest]\ngitleaks_judge_low_confidence = {policy}\n")
    result = run(pytester, *BOTH, OURS, *options)
    assert result.ret == 0
    document = report(pytester)
    found = verdicts(document)
    assert [one["excluded"] for one in found.values() if one["low_confidence"]] == [policy == "exclude"]
    (unsure,) = [verdict for verdict in found.values() if verdict["low_confidence"]]
    assert (unsure["score"], unsure["capped"]) == ((3, True) if policy == "cap" else (5, False))
    assert len(document["llm"]["weights_used"]) == used
    counted = {verdict["dimension"]: verdict["score"] for verdict in found.values()}
    weights = document["llm"]["weights_used"]
    assert sum(weights.values()) == pytest.approx(1)
    assert document["llm"]["score"] == pytest.approx(sum(weight * counted[name] for name, weight in weights.items()))
    said = "excluded from the composite: low confidence" if policy == "exclude" else "low confidence: review it"
    result.stdout.fnmatch_lines([f"judge *{said}*"])


def test_where_all_verdicts_are_excluded_the_run_is_incomplete_and_ends_with_1(
    pytester: pytest.Pytester, options: list[str], messages_server: MessagesServer
) -> None:
    messages_server.always = good(confidence=0.4, score=5)
    result = run(pytester, *BOTH, OURS, *options, "-o", "gitleaks_judge_low_confidence=exclude")
    assert result.ret == 1
    document = report(pytester)
    assert (document["llm"]["score"], document["combined"]["decision"]) == (None, "INCOMPLETE")
    result.stdout.fnmatch_lines(["LLM score none*combined none INCOMPLETE"])


def test_a_setting_is_obeyed_whatever_stands_behind_a_space_beside_it(
    pytester: pytest.Pytester, options: list[str], messages_server: MessagesServer
) -> None:
    apart = [part for option in options for part in option.split("=", 1)]
    for arguments in (options, apart):
        result = run(pytester, *BOTH, OURS, *arguments, "-o", "gitleaks_judge_max_calls=1")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert messages_server.posts == []


def test_samples_and_models_are_merged_and_each_is_kept(
    pytester: pytest.Pytester, options: list[str], messages_server: MessagesServer
) -> None:
    scores = {"claude-opus-5-5": [5, 5, 2], "claude-haiku-4-5-20251001": [3, 3, 3]}
    asked: dict[tuple[str, str], int] = {}

    def varying(handler: Any, request: Any) -> None:
        model, prompt = request.body["model"], request.body["messages"][0]["content"]
        with messages_server.lock:
            number = asked[model, prompt] = asked.get((model, prompt), -1) + 1
        answer = answer_to(request, scores[model][number])
        sent(message(json.dumps(answer), model=model))(handler, request)

    messages_server.always = varying
    many = [OURS, "--gitleaks-judge-model=haiku-4.5", "--gitleaks-judge-samples=3"]
    result = run(pytester, *BOTH, *many, *options)
    assert len(messages_server.posts) == 24
    document = report(pytester)
    for one in verdicts(document).values():
        # Medians of 5 and 3: without a majority the lower counts.
        assert (one["raw_score"], one["spread"], one["disagreement"]) == (3, 3, True)
        assert sorted(sample["score"] for sample in one["samples"]) == [2, 3, 3, 3, 5, 5]
    assert document["llm"]["model_requested"] == f"{MODEL}, haiku-4.5"
    assert document["llm"]["cost"] is None
    assert document["llm"]["alpha"] == pytest.approx(krippendorff_alpha([(5, 3)] * 4))
    result.stdout.fnmatch_lines(
        ["judge *models disagree, samples differ by 3*", "3 samples a model; Krippendorff's alpha*-0.*cost unknown"]
    )
    # Each sample has an entry of its own; asking again asks nobody.
    again = run(pytester, *BOTH, *many, *options)
    assert again.ret == result.ret
    assert len(messages_server.posts) == 24
    assert timeless(verdicts(report(pytester))) == timeless(verdicts(document))


def test_a_cost_is_estimated_and_a_limit_holds(
    pytester: pytest.Pytester, options: list[str], messages_server: MessagesServer
) -> None:
    result = run(pytester, *BOTH, OURS, *options, "--gitleaks-judge-max-cost=1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--gitleaks-judge-max-cost: the price of {MODEL} is unknown*gitleaks_judge_prices*"])
    prices = {"as_of": "2026-11-01", "models": {MODEL: {"input": 10, "output": 100}}}
    (pytester.path / "prices.json").write_text(json.dumps(prices), encoding="utf-8")
    priced = ["-o", "gitleaks_judge_prices=prices.json"]
    result = run(pytester, *BOTH, OURS, *options, *priced, "--gitleaks-judge-max-cost=1.0")
    # One question may cost 0.82 for the longest answer alone: a second could not be afforded.
    assert len(messages_server.posts) == 1
    assert kinds(report(pytester)) == ["None", "budget", "budget", "budget"]
    result = run(pytester, *BOTH, OURS, *options, *priced, "--gitleaks-judge-max-cost=9")
    assert result.ret == 0
    document = report(pytester)
    assert document["llm"]["cost"] == pytest.approx(4 * (1200 * 10 + 345 * 100) / 1e6)
    assert document["llm"]["prices_as_of"] == "2026-11-01"
    assert "prices of 2026-11-01" in files(pytester)["scorecard.md"].decode()


def test_a_citation_of_what_is_not_there_is_flagged_and_lowers_confidence(
    pytester: pytest.Pytester, options: list[str], messages_server: MessagesServer
) -> None:
    cited = [KEY[1], "by_status.missed: 0", "config/invented.pem:12", "github-oauth"]
    messages_server.always = good(confidence=1.0, evidence_cited=cited, recommendations=["Read [this](x)"])
    result = run(pytester, *BOTH, OURS, *options, "-v")
    for one in verdicts(report(pytester)).values():
        assert one["unfounded_citations"] == cited[2:]
        assert (one["stated_confidence"], one["confidence"], one["low_confidence"]) == (1.0, 0.5, True)
    result.stdout.fnmatch_lines(["*cites: github-oauth (NOT in the evidence)", "*recommends: Read *"])
    card = files(pytester)["scorecard.md"].decode()
    assert "NOT in the evidence" in card
    assert "sub-scores: " in card
    assert "recommends: Read " in card
    assert "4800 tokens asked, 1380 answered" in card


def test_a_run_without_a_passing_calibration_says_so_beside_every_verdict(
    pytester: pytest.Pytester, options: list[str], messages_server: MessagesServer
) -> None:
    del messages_server
    result = run(pytester, *BOTH, OURS, *options)
    assert [one["uncalibrated"] for one in verdicts(report(pytester)).values()] == [True] * 4
    result.stdout.fnmatch_lines(["judge  detection_accuracy *uncalibrated)"])
    dimensions = {
        judge.dimension: {"prompt_sha256": prompt_sha256(judge, None), "passes": judge.dimension != JUDGES[0]}
        for judge in SHIPPED
    }
    keep_calibration(pytester.path / RESULTS / "judge-store", MODEL, 0.6, dimensions)
    run(pytester, *BOTH, OURS, *options)
    assert [one["uncalibrated"] for one in verdicts(report(pytester)).values()] == [True, False, False, False]


def test_no_question_names_the_scanner_its_version_or_a_hash(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path], messages_server: MessagesServer
) -> None:
    pytester.path.joinpath(".gitleaks.toml").write_text(
        "[extend]\nuseDefault = true\n[[allowlists]]\npaths = ['^deploy/id_rsa$']\n", encoding="utf-8"
    )
    scenarios = shipped_scenarios(pytester.path / "s", "private-keys", "cloud-mixed")
    run(pytester, *BOTH, OURS, f"--gitleaks-binary={gitleaks('8.30.1')}", scenarios)
    assert len(messages_server.posts) == 4
    document = report(pytester)
    for post in messages_server.posts:
        asked = json.dumps(post.body)
        assert "8.30.1" not in asked
        assert str(document["scanner"]["config_sha256"])[:8] not in asked
        # The word stands in the name of the configuration that hides a secret, and nowhere else.
        assert "gitleaks" not in asked.lower().replace(".gitleaks.toml", "")
        assert "system" in post.body
        properties = post.body["output_config"]["format"]["schema"]["properties"]
        assert list(properties)[:4] == ["reasoning", "evidence_cited", "sub_scores", "score"]
    by_name = {name: next(p.body["messages"][0]["content"] for p in messages_server.posts if f"**{name}**" in
                          p.body["messages"][0]["content"]) for name in JUDGES}  # fmt: skip
    accuracy = by_name[JUDGES[0]]
    assert '"masked_line": "********' in accuracy
    assert '"hidden_by": "hidden by .gitleaks.toml' in accuracy or "allowlist" in accuracy
    assert '"description": "' in accuracy
    assert '"policy": "private-key is' in by_name[JUDGES[3]]
    assert "Severities do not come from the scanner, which has none: a policy of the people" in by_name[JUDGES[3]]

    # Judges alone put the same questions: the replies of the full run serve them, and stay in its report.
    kept = verdicts(document)
    again = run(pytester, ALONE, OURS, REPLAY, scenarios)
    assert again.ret in {0, 1}
    assert timeless(verdicts(report(pytester))) == timeless(kept)
    assert {one["source"] for one in map(json.loads, files(pytester)["judges.jsonl"].splitlines())} == {"replay"}
    assert report(pytester)["judge_context"] == document["judge_context"]
    # So do those after a full run that had no judges.
    run(pytester, "--gitleaks-eval", f"--gitleaks-binary={gitleaks('8.30.1')}", scenarios)
    assert report(pytester)["judge_context"] == document["judge_context"]
    assert "llm" not in report(pytester)
    run(pytester, ALONE, OURS, REPLAY, scenarios)
    assert timeless(verdicts(report(pytester))) == timeless(kept)
    assert len(messages_server.posts) == 4


@pytest.mark.usefixtures("usual_kinds")
def test_coverage_is_asked_with_the_map_of_places_of_the_same_run(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path], messages_server: MessagesServer
) -> None:
    scenarios = shipped_scenarios(pytester.path / "s", "api-keys")
    only = "--gitleaks-only=scenarios,places"
    result = run(pytester, *BOTH, OURS, f"--gitleaks-binary={gitleaks('8.30.1')}", scenarios, only)
    assert result.ret == 0
    prompts = [post.body["messages"][0]["content"] for post in messages_server.posts]
    (shown,) = (
        json.loads(prompt.split("<evidence>")[1].split("</evidence>")[0])["by_form_and_place"]
        for prompt in prompts
        if "**secret_coverage**" in prompt
    )
    statuses = [row["status"] for row in report(pytester)["coverage"]["places"]]
    counted = [count for family in shown["places"].values() for status, count in family.items() if status == "seen"]
    assert sum(counted) == statuses.count("seen") > 100
    assert sum(count for family in shown["places"].values() for count in family.values()) == len(statuses)
    unseen = len(statuses) - statuses.count("seen") - statuses.count("not_asked")
    assert len(shown["places_not_seen"]) == min(unseen, 50) > 0
    assert run(pytester, ALONE, OURS, REPLAY, scenarios).ret == 0


def test_a_score_that_its_sub_scores_contradict_or_that_is_far_from_the_numbers_is_flagged(
    pytester: pytest.Pytester, options: list[str], messages_server: MessagesServer
) -> None:
    def contradicting(handler: Any, request: Any) -> None:
        answer = answer_to(request, 2)
        sent(message(json.dumps({**answer, "sub_scores": dict.fromkeys(answer["sub_scores"], 4)})))(handler, request)

    messages_server.always = contradicting
    result = run(pytester, *BOTH, OURS, *options, "-o", "gitleaks_judge_pass_score=2")
    assert result.ret == 0
    for verdict in verdicts(report(pytester)).values():
        assert (verdict["score"], verdict["weighted_sub_score"]) == (2, 4)
        assert verdict["inconsistent"]
        assert verdict["diverging"]
    result.stdout.fnmatch_lines(
        ["judge *inconsistent with its sub-scores (4.00), diverging from the heuristic, uncalibrated)"]
    )


@pytest.mark.parametrize(("pass_score", "failed"), [("4", 0), ("4.5", 4)])
def test_a_judge_passes_at_the_pass_score(
    pytester: pytest.Pytester, options: list[str], messages_server: MessagesServer, pass_score: str, failed: int
) -> None:
    del messages_server
    result = run(pytester, *BOTH, OURS, *options, "-o", f"gitleaks_judge_pass_score={pass_score}")
    assert result.parseoutcomes().get("failed", 0) == failed
    assert report(pytester)["llm"]["score"] == pytest.approx(4)


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("gitleaks_judge_timeout=0", "not a number of seconds above zero"),
        ("gitleaks_judge_timeout=soon", "ini gitleaks_judge_timeout"),
        ("gitleaks_judge_max_calls=1.5", "ini gitleaks_judge_max_calls"),
        ("gitleaks_judge_low_confidence=ignore", "there are flag, exclude, cap"),
        ("gitleaks_judge_pass_score=6", "not a score from 1 to 5"),
        ("gitleaks_judge_pass_score=0.5", "not a score from 1 to 5"),
        ("gitleaks_judge_prompts=nowhere", "is no folder"),
        ("gitleaks_judge_mode=automatic", "there are llm, heuristic, replay"),
        ("gitleaks_judge_model=../x y", "is no name of a model"),
        ("gitleaks_judge_store=corpus/truth/clean.json", "ini gitleaks_judge_store *clean.json: is no folder"),
        ("gitleaks_evaluation_mode=real_world", "there is no real repository"),
        ("gitleaks_evaluation_mode=both", "there are auto, synthetic, real_world"),
    ],
)
def test_a_setting_that_is_wrong_on_sight_is_status_4_and_named(
    pytester: pytest.Pytester, options: list[str], setting: str, problem: str
) -> None:
    result = run(pytester, *BOTH, *options, "-o", setting)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{problem}*"])


# --- a user's own


def test_a_conftest_adds_and_reweights_judges_and_a_folder_has_their_prompts(
    pytester: pytest.Pytester, options: list[str], messages_server: MessagesServer
) -> None:
    pytester.makeini("[pytest]\ngitleaks_judge_prompts = prompts\n")
    prompts = pytester.mkdir("prompts")
    (prompts / "house_style.md").write_text("House style: {{ evidence }}", encoding="utf-8")
    (prompts / "false_positive.md").write_text("Own words: {{ evidence }} {{ evaluation_mode }}", encoding="utf-8")
    pytester.makeconftest(
        """
        from dataclasses import replace
        from gitleaks_eval.judges import Judge, Opinion

        def pytest_gitleaks_eval_judges(judges):
            judges[:] = [replace(one, weight=one.weight / 2) for one in judges]
            judges.append(
                Judge(
                    dimension="house_style",
                    weight=0.5,
                    sub_dimensions={"tidy": 1.0},
                    evidence=lambda material: {"reported": material.reported},
                    heuristic=lambda material: Opinion(3, {"tidy": 3}, f"{material.reported} findings"),
                )
            )
        """
    )
    result = run(pytester, *BOTH, OURS, *options)
    assert result.ret == 0
    document = report(pytester)
    assert {name: verdict["weight"] for name, verdict in verdicts(document).items()} == pytest.approx(
        dict(zip([*JUDGES, "house_style"], (0.175, 0.125, 0.1, 0.1, 0.5), strict=True))
    )
    questions = [post.body["messages"][0]["content"] for post in messages_server.posts]
    assert any(question.startswith('House style: {\n "reported": 2') for question in questions)
    assert any(question.startswith("Own words: {") and question.endswith("} synthetic") for question in questions)
    assert sum(question.startswith("# ") for question in questions) == 3


@BOTH_WAYS
def test_weights_that_do_not_add_up_and_unknown_placeholders_are_status_4(
    pytester: pytest.Pytester, options: list[str], parallel: list[str]
) -> None:
    pytester.makeconftest("def pytest_gitleaks_eval_judges(judges):\n    del judges[0]\n")
    result = run(pytester, *BOTH, HEURISTIC, *options, *parallel)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*the weights of the judges must sum to 1*= 0.65"])
    pytester.makeconftest("")
    (pytester.mkdir("prompts") / "false_positive.md").write_text("{{ evidence }} {{ evidnce }}", encoding="utf-8")
    result = run(pytester, *BOTH, HEURISTIC, *options, *parallel, "-o", "gitleaks_judge_prompts=prompts")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*prompts/false_positive.md: the placeholder {{ evidnce }} is not known*"])


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("judges.append('none')", "'none' is no gitleaks_eval.judges.Judge"),
        ("raise KeyError('gone')", "it raises KeyError: 'gone'"),
        ("return judges", "what it returns is not looked at; change the list in place*"),
        ("judges[0] = replace(judges[0], weight='0.35')", "*detection_accuracy*the weight is no finite number"),
        ("judges[0] = replace(judges[0], sub_dimensions=5)", "*detection_accuracy*sub_dimensions are no mapping*"),
    ],
)
def test_a_faulty_hook_is_status_4_and_named(
    pytester: pytest.Pytester, options: list[str], body: str, problem: str
) -> None:
    pytester.makeconftest(f"from dataclasses import replace\n\ndef pytest_gitleaks_eval_judges(judges):\n    {body}\n")
    result = run(pytester, *BOTH, HEURISTIC, *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: pytest_gitleaks_eval_judges: {problem}"])


def test_only_shipped_checks_cap_judges(pytester: pytest.Pytester, options: list[str]) -> None:
    pytester.makepyfile(
        """
        from gitleaks_eval import check

        @check("ACME-1", "Own", category="Own", caps="detection_accuracy")
        def test_ACME_1_own(analysis):
            assert analysis
        """
    )
    result = run(pytester, *BOTH, HEURISTIC, *options, ".")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*only shipped checks cap judges; leave `caps` out*"])


# --- being a guest in pytest


def test_only_collecting_judges_calls_nobody_and_writes_nothing(
    pytester: pytest.Pytester, options: list[str], messages_server: MessagesServer
) -> None:
    result = run(pytester, *BOTH, OURS, *options, "--co", "-q")
    assert result.ret == 0
    assert sum("::test_judge[" in line for line in result.outlines) == 4
    assert messages_server.requests == []
    assert not (pytester.path / RESULTS).exists()


def test_reports_have_verdicts_without_a_terminal_and_with_the_flag_in_addopts(
    pytester: pytest.Pytester, options: list[str]
) -> None:
    pytester.makeini(f"[pytest]\naddopts = {' '.join(BOTH)} {HEURISTIC}\n")
    assert run(pytester, "-p", "no:terminal", *options).ret == 0
    assert list(verdicts(report(pytester))) == JUDGES


def test_without_the_flag_no_judge_is_collected_and_nothing_of_theirs_reported(
    pytester: pytest.Pytester, options: list[str]
) -> None:
    result = run(pytester, "--gitleaks-eval", *options, "--json-report")
    assert result.ret == 0
    assert not [line for line in result.outlines if line.startswith("judge") or "test_judge" in line]
    text = (
        "".join(content.decode() for content in files(pytester).values()) + (pytester.path / ".report.json").read_text()
    )
    assert "llm" not in text
    assert "combined" not in text


@pytest.mark.usefixtures("python_of_its_own")
def test_our_plugin_loads_no_client(pytester: pytest.Pytester, options: list[str]) -> None:
    # pytest-anyio is a plugin of its own, and loads anyio with or without us.
    pytester.makepyfile(
        test_imports="""
        import sys
        def test_imports():
            names = {name.partition(".")[0] for name in sys.modules}
            names &= {"anthropic", "pydantic", "anyio", "httpx2", "jsonschema"}
            open("imported", "w").write(" ".join(sorted(names)))
        """
    )

    def imported(*arguments: str) -> str:
        run(pytester, "test_imports.py", "-p", "no:anyio", "-p", "no:hypothesispytest", *arguments)
        return (pytester.path / "imported").read_text(encoding="utf-8")

    without = imported("-p", "no:gitleaks_eval")
    assert imported() == without
    heuristic = imported(*BOTH, HEURISTIC, *options).split()
    assert {"anthropic", "pydantic", "anyio", "httpx2"} & set(heuristic) <= set(without.split())


# --- nothing that is private leaves


def planted(name: str) -> list[str]:
    return [secret.value for secret in load_recipe(shipped_data("synthetic_repos") / f"{name}.yaml").secrets.values()]


def test_a_reply_with_a_planted_secret_is_neither_kept_nor_shown(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path], messages_server: MessagesServer
) -> None:
    value = planted("api-keys")[0]
    messages_server.always = good(reasoning=f"It says {value}.")
    scenarios = shipped_scenarios(pytester.path / "s", "api-keys", "cloud-mixed")
    result = run(pytester, *BOTH, OURS, f"--gitleaks-binary={gitleaks('8.30.1')}", scenarios, "-vv")
    assert result.ret == 1
    assert kinds(report(pytester)) == ["leak"] * 4
    # Each is asked for again, once.
    assert len(messages_server.posts) == 8
    assert value not in result.stdout.str()
    assert not [name for name, content in files(pytester).items() if value.encode() in content]


@pytest.mark.parametrize("mode", ["good", "failing"])
def test_no_secret_author_key_or_prompt_stands_in_any_file_or_output(
    pytester: pytest.Pytester,
    gitleaks: Callable[[str], Path],
    messages_server: MessagesServer,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
) -> None:
    monkeypatch.setenv("ANTHROPIC_LOG", "debug")
    if mode == "failing":
        messages_server.replies = [html, failing(500), hanging, failing(400)]
        messages_server.always = hanging
    # A failing test of a user's own, with all fixtures of a judge in sight.
    talkative = (*TALKATIVE, "--json-report", "--junitxml=j.xml")
    result = run(
        pytester, *BOTH, OURS, f"--gitleaks-binary={gitleaks('8.30.1')}", *talkative,
        shipped_scenarios(pytester.path / "s", "api-keys", "cloud-mixed"),
        "-o", "gitleaks_judge_pass_score=5", "-o", "gitleaks_judge_timeout=2",
    )  # fmt: skip
    assert result.parseoutcomes()["failed" if mode == "good" else "errors"] == 4
    (pytester.path / "output.txt").write_text("\n".join((*result.outlines, *result.errlines)), encoding="utf-8")
    pieces = [value[-20:-6] for name in ("api-keys", "cloud-mixed") for value in planted(name)]
    prompt = messages_server.posts[0].body["messages"][0]["content"]
    private = [*pieces, messages_server.key, "Test User", *prompt.splitlines()[2:4], '"scenarios_as_expected"']
    looked_at = [path for path in pytester.path.rglob("*") if path.is_file() and path.suffix != ".yaml"]
    assert {"judges.jsonl", "output.txt", ".report.json", "j.xml"} <= {path.name for path in looked_at}
    for path in looked_at:
        # The Caldera envelope has the author of each commit; it is the one place.
        envelope = path.parent.name == "analysis"
        content = path.read_text(encoding="utf-8", errors="replace")
        assert not [text for text in private if text in content and not (envelope and text == "Test User")], path.name


# --- calibration, and the real thing


@pytest.mark.parametrize("score", [5, 3])
def test_a_constant_judge_fails_its_calibration_and_that_is_kept(
    tmp_path: Path,
    messages_server: MessagesServer,
    score: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    messages_server.always = good(score=score)
    store = tmp_path / "store"
    # A part of them, which has all that a constant could be right by.
    monkeypatch.setattr(calibrate, "FAULTS", FAULTS[::6])
    command = ["--model", MODEL, "--store", str(store), "--output", str(tmp_path / "out.json")]
    assert calibrate.main(command) == 1
    result = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert {one["kappa"] for one in result["judges"].values()} == {0.0}
    assert capsys.readouterr().out.count("FAILS") == 4
    (kept,) = (json.loads(path.read_text(encoding="utf-8")) for path in store.glob("calibration-*.json"))
    assert kept["fail_under"] == 0.6
    assert not any(one["passes"] for one in kept["dimensions"].values())


@pytest.mark.live
def test_a_real_model_gives_the_faultless_run_high_scores(pytester: pytest.Pytester, options: list[str]) -> None:
    result = run(pytester, *BOTH, *options, "-o", "gitleaks_judge_pass_score=4")
    assert result.ret == 0
    assert kinds(report(pytester)) == ["None"] * 4
