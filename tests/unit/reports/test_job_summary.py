"""The summary of a GitHub job: what there is no room for is cut, and that is said."""

from pathlib import Path

import pytest

from gitleaks_eval.reports.output.files import add_to_job_summary

MIB = 1 << 20


def test_a_summary_stays_below_what_github_takes_also_with_that_of_an_earlier_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    report = b"**FAIL**\n" + b"- one more line\n" * 40_000
    add_to_job_summary(report)
    assert path.read_bytes() == report
    for _ in range(3):
        add_to_job_summary(report)
    text = path.read_text(encoding="utf-8")
    assert len(text) < MIB
    assert text.startswith("**FAIL**\n")
    assert text.endswith("There is no room for more: the reports have all of it.\n")
