"""Calibration can fail: a constant does, the figures are those of others, and a passing one is remembered."""

import hashlib
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.analysis.severity import LEVELS
from gitleaks_eval.judges import calibrate as calibrate_module
from gitleaks_eval.judges.calibrate import calibrate, concluded, main, material_of
from gitleaks_eval.judges.calibration_cases import DA, FAULTLESS, FAULTS, FP, SC, SV, Fault
from gitleaks_eval.judges.dimensions.shipped import SHIPPED
from gitleaks_eval.judges.panel import calibrated
from gitleaks_eval.judges.panel.agreement import krippendorff_alpha, quadratic_kappa, rank_correlation
from gitleaks_eval.judges.panel.calibrated import calibration_path, keep_calibration, passing, prompt_sha256
from gitleaks_eval.judges.settings import HEURISTIC, JudgeSettings
from gitleaks_eval.judges.verdict import Judgement, Verdict

MODEL = "claude-opus-5-5"


@pytest.fixture(scope="module")
def heuristic() -> dict[str, Any]:
    return calibrate(JudgeSettings(mode=HEURISTIC))


# --- figures


def test_a_constant_agrees_by_chance_alone() -> None:
    assert quadratic_kappa([1, 2, 3, 4, 5], [3] * 5) == pytest.approx(0)
    assert quadratic_kappa([5, 5], [5, 5]) == 0
    assert quadratic_kappa([], []) is None


def test_alpha_is_that_of_the_published_example() -> None:
    # Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section D: ordinal, four observers.
    none = None
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, none, none, none],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, none, 3],
        [none, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, none],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, none],
    ]
    assert krippendorff_alpha(list(zip(*observers, strict=True))) == pytest.approx(0.815, abs=0.0005)
    assert krippendorff_alpha([(5, 5), (5, 5)]) is None
    assert krippendorff_alpha([(1, 1), (5, 5)]) == pytest.approx(1)


def test_rank_correlation_has_ties_at_their_mean_rank() -> None:
    # By hand: ranks 1.5, 1.5, 3, 4 and 4, 2.5, 2.5, 1.
    assert rank_correlation([0, 0, 1, 2], [5, 4, 4, 1]) == pytest.approx(-0.8333, abs=1e-4)
    assert rank_correlation([0, 1], [3, 3]) is None


# --- faults


def test_what_is_wrong_in_a_dimension_has_not_the_label_of_the_faultless() -> None:
    given = [(fault.name, dimension, label) for fault in FAULTS for dimension, (label, _) in fault.labels.items()]
    assert not [one for one in given if one[2] is not None and not 1 <= one[2] < FAULTLESS[0]]


@pytest.mark.slow
def test_labels_hold_to_the_numbers_that_the_text_of_a_rubric_names() -> None:
    for fault in FAULTS:
        facts = material_of(fault).facts
        expected, reported = (sum(getattr(one, name) for one in facts) for name in ("expected", "reported"))
        found, wrong = expected - fault.missed, sum(one.count_false_positives() for one in facts)
        # ">90% secrets detected", "70-90%", "50-70%", "<50%": less than the share allows only for misidentifications.
        by_share = 4 if found > 0.9 * expected else 3 if found > 0.7 * expected else 2 if 2 * found >= expected else 1
        label = fault.label(DA)[0] or 0
        is_misidentified = bool(sum(one.count("relabelled") for one in facts))
        assert (label == 5 and not fault.missed) or label == by_share or (is_misidentified and label < by_share), fault
        # "most secrets not detected"
        if SC not in fault.unlabelled:
            assert (fault.label(SC)[0] == 1) == (2 * fault.missed > expected), fault
        # A rate below 5 %, below 15 %, up to 30 %, or above.
        if FP not in fault.unlabelled and reported:
            noisy = 100 * wrong
            band = 4 if noisy < 5 * reported else 3 if noisy < 15 * reported else 2 if noisy <= 30 * reported else 1
            assert fault.label(FP)[0] == (band if wrong else 5), fault
        # "within one level" is minor, and a judge of severities sees no other number.
        apart = {abs(LEVELS.index(str(match.reported_severity)) - LEVELS.index(said))
                 for one in facts for match, said in one.severities}  # fmt: skip
        if apart and SV not in fault.unlabelled:
            label = fault.label(SV)[0] or 0
            # What is missing has no place in the order: of most of it "critical items are not prioritized".
            unordered = 2 if 2 * fault.missed > expected else 4 if 10 * fault.missed > 3 * expected else 5
            assert label == unordered if apart == {0} else label == 4 if apart <= {0, 1} else label < 4, fault


def test_there_are_thirty_faults_and_every_band_in_every_dimension() -> None:
    assert len(FAULTS) >= 30
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    for dimension in (DA, FP, SC, SV):
        labels = {fault.label(dimension)[0] for fault in FAULTS if dimension not in fault.unlabelled}
        assert {1, 2, 3, 4, 5} <= labels, dimension


@pytest.mark.slow
def test_each_fault_misses_as_many_as_it_says() -> None:
    for fault in FAULTS:
        facts = material_of(fault).facts
        found = sum(one.found() for one in facts)
        assert sum(one.expected for one in facts) - found == fault.missed, fault.name


def test_a_report_without_a_fault_fails_no_critical_check() -> None:
    assert material_of(FAULTS[0]).failed_checks == []


# --- whether it can fail


def test_heuristics_pass_and_say_so_in_every_figure(heuristic: dict[str, Any]) -> None:
    assert heuristic["passes"]
    for one in heuristic["judges"].values():
        # Of severities the labels go by what is missing in all, the heuristic by what has an expected severity.
        assert one["kappa"] > 0.85
        assert one["within_one"] > 0.9
        assert one["unscored"] == 0
        assert one["baselines"]["always_5"] == one["baselines"]["always_3"] == 0
        assert one["baselines"]["heuristic"] == one["kappa"]
    assert heuristic["judges"][DA]["rank_correlation"] < -0.9
    # Of planted secrets numbers are sure, as docs/judges.md says: no policy for low confidence changes anything.
    assert {one["confidence"] for one in heuristic["faults"]} == {None, 1.0}


def test_labels_are_not_what_the_heuristic_says(heuristic: dict[str, Any]) -> None:
    outcomes = Counter(one["label"] == one["score"] for one in heuristic["faults"])
    assert outcomes[False] > 3
    assert all(one["reason"] for one in heuristic["faults"])


@pytest.mark.slow
def test_a_kappa_below_what_is_asked_is_status_1_and_a_wrong_bound_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = ["--mode", "heuristic", "--output", str(tmp_path / "result.json")]
    assert main([*output, "--fail-under", "0.99"]) == 1
    said = capsys.readouterr().out
    # One sample has no spread, and a heuristic that passes says nothing of a model.
    assert "None" not in said
    assert said.count("spread not measured (one sample), 0 verdicts missing") == 4
    assert said.splitlines()[-1].startswith(
        "calibrated: no, because no model was asked; the heuristic FAILS: in detection_accuracy kappa 0.9"
    )
    assert json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))["fail_under"] == 0.99
    for wrong in ("0", "1.5", "-1"):
        with pytest.raises(SystemExit) as ended:
            main([*output, f"--fail-under={wrong}"])
        assert ended.value.code == 2


@pytest.mark.slow
def test_a_calibration_that_lacks_verdicts_does_not_pass_and_names_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--mode", "replay", "--store", str(tmp_path), "--model", "opus-4.5", "--output", str(tmp_path / "out")]
    assert main(command) == 1
    said = capsys.readouterr()
    assert "UNSCORED  replay_miss" in said.err
    assert "None" not in said.out
    assert said.out.splitlines()[0].endswith("FAILS  no figure, because no verdict has a score (52 missing)")
    assert said.out.splitlines()[-1].startswith(
        "calibrated: no (claude-opus-4-5-20251101), because in detection_accuracy 52 verdicts are missing; in false_po"
    )
    # No model answered: what is known of it stays as it was.
    assert not calibration_path(tmp_path, "claude-opus-4-5-20251101").exists()
    result = json.loads((tmp_path / "out").read_text(encoding="utf-8"))
    assert result["model_requested"] == "claude-opus-4-5-20251101"
    assert not any(one["passes"] for one in result["judges"].values())


def test_one_missing_verdict_fails_its_dimension_however_right_the_others_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def right(fault: Fault, _: JudgeSettings) -> Judgement:
        labels = {judge.dimension: fault.label(judge.dimension)[0] for judge in SHIPPED}
        verdicts = [
            Verdict(name, 0.25, "not_applicable" if label is None else "scored", score=label, raw_score=label)
            for name, label in labels.items()
        ]
        if fault is FAULTS[3]:
            verdicts[0] = Verdict(DA, 0.25, "unscored", "refusal", reasoning="declined")
        return Judgement("llm", MODEL, MODEL, tuple(verdicts), None, None, {}, partial=False)

    monkeypatch.setattr(calibrate_module, "_judged", right)
    result = calibrate(JudgeSettings(models=(MODEL,)))
    assert {name: (one["kappa"], one["unscored"], one["passes"]) for name, one in result["judges"].items()} == {
        DA: (1.0, 1, False), FP: (1.0, 0, True), SC: (1.0, 0, True), SV: (1.0, 0, True),
    }  # fmt: skip
    assert not result["passes"]
    assert concluded(result) == f"calibrated: no ({MODEL}), because in {DA} 1 verdict is missing"


def test_the_last_sentence_says_whether_a_model_is_calibrated_and_why() -> None:
    def said(kappas: dict[str, float], asked: float = 0.6) -> str:
        judges = {name: {"kappa": one, "unscored": 0, "passes": one >= asked} for name, one in kappas.items()}
        passes = min(kappas.values()) >= asked
        return concluded(
            {"mode": "llm", "model_requested": "m", "fail_under": asked, "passes": passes, "judges": judges}
        )

    assert said({DA: 0.93, FP: 0.71}) == (
        f"calibrated: yes (m), because in each dimension kappa reaches 0.6 (lowest: 0.71 in {FP}) "
        "and no verdict is missing"
    )
    assert said({DA: 0.93, FP: 0.5949}) == f"calibrated: no (m), because in {FP} kappa 0.5949 does not reach 0.6"


def test_a_store_that_is_no_folder_is_wrong_usage_before_anything_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as ended:
        main(["--store", str(tmp_path / "file"), "--output", str(tmp_path / "result.json")])
    assert ended.value.code == 2
    assert f"--store {tmp_path}/file: is no folder" in capsys.readouterr().err
    assert not (tmp_path / "result.json").exists()


# --- what is remembered


def remembered(folder: Path, **changes: Any) -> dict[str, Any]:
    one = {"prompt_sha256": prompt_sha256(SHIPPED[0], None), "kappa": 0.8, "passes": True, **changes}
    keep_calibration(folder, MODEL, 0.6, {DA: one})
    document: dict[str, Any] = json.loads(calibration_path(folder, MODEL).read_text(encoding="utf-8"))
    return document


def test_a_calibration_is_found_where_another_version_of_ours_kept_it(tmp_path: Path) -> None:
    assert (
        calibration_path(tmp_path, MODEL).name == f"calibration-{hashlib.sha256(MODEL.encode()).hexdigest()[:16]}.json"
    )


PROMPTS = {judge.dimension: prompt_sha256(judge, None) for judge in SHIPPED}


def test_what_all_judges_are_told_is_part_of_what_is_calibrated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrated, "SYSTEM", "You are another.")
    assert all(prompt_sha256(judge, None) != PROMPTS[judge.dimension] for judge in SHIPPED)


def test_a_dimension_is_calibrated_where_this_model_passed_with_this_prompt(tmp_path: Path) -> None:
    assert passing(tmp_path, [MODEL], PROMPTS) == (frozenset(), [])
    (tmp_path / "file").touch()
    assert passing(tmp_path / "file", [MODEL], PROMPTS) == (frozenset(), [])
    assert remembered(tmp_path)["fail_under"] == 0.6
    assert passing(tmp_path, [MODEL], PROMPTS) == (frozenset({DA}), [])
    assert passing(tmp_path, [MODEL, "another"], PROMPTS)[0] == frozenset()
    assert passing(tmp_path, [MODEL], {**PROMPTS, DA: "0" * 64})[0] == frozenset()
    remembered(tmp_path, passes=False)
    assert passing(tmp_path, [MODEL], PROMPTS)[0] == frozenset()


def test_a_calibration_that_asked_for_little_is_told_of(tmp_path: Path) -> None:
    one = {"prompt_sha256": prompt_sha256(SHIPPED[0], None), "kappa": 0.2, "passes": True}
    keep_calibration(tmp_path, MODEL, 0.1, {DA: one})
    problem = f"the calibration of {MODEL} asked for a kappa of 0.1 only; 0.6 is usual"
    assert passing(tmp_path, [MODEL], PROMPTS) == (frozenset({DA}), [problem])


@pytest.mark.parametrize(
    "content",
    [
        b"[]",
        b"{",
        b'{"model": "other", "dimensions": {}}',
        b'{"model": 5}',
        b"\xff",
        b'{"model": "claude-opus-5-5", "dimensions": {}, "fail_under": "0.6"}',
    ],
)
def test_a_calibration_of_the_wrong_shape_is_named_and_calibrates_nothing(tmp_path: Path, content: bytes) -> None:
    path = calibration_path(tmp_path, MODEL)
    path.write_bytes(content)
    found, (problem,) = passing(tmp_path, [MODEL], PROMPTS)
    assert found == frozenset()
    assert str(path) in problem


def test_a_pipe_in_the_place_of_a_calibration_keeps_nobody_waiting(tmp_path: Path) -> None:
    path = calibration_path(tmp_path, MODEL)
    os.mkfifo(path)
    assert str(path) in passing(tmp_path, [MODEL], PROMPTS)[1][0]
