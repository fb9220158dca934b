"""The shipped suites on real builds of Gitleaks."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import IN_CORE, SHIPPED
from corpus import outcomes, report, shipped_scenarios

pytestmark = pytest.mark.usefixtures("own_environment")


@pytest.mark.parametrize("version", ["8.18.4", "8.26.0", "8.30.1"])
def test_the_suites_hold_on_three_versions(pytester: pytest.Pytester, version: str) -> None:
    options = [f"--gitleaks-version={version}", "--gitleaks-scenarios=core", "--gitleaks-scenarios=edge"]
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options)
    assert result.ret == 0
    summary = report(pytester)["summary"]
    # Nine scenarios with 17 secrets, and eight with 13.
    assert summary["total_checks"] == IN_CORE + SHIPPED * 8
    assert summary["findings"]["detected"] == summary["findings"]["expected"] == 17 + 13
    assert summary["findings"]["unexpected"] == 0
    assert summary["guarded_decision"] == "STRONG_PASS"
    assert report(pytester)["scanner"]["version"] == version


def test_an_old_version_fails_where_it_differs_and_the_terminal_says_why(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--gitleaks-eval", "--gitleaks-version=8.16.0")
    assert result.ret == 1
    failed = {name for name, outcome in outcomes(report(pytester)).items() if outcome == "failed"}
    ids = ("SA-1", "SA-2", "SA-3", "SA-7", "SA-9", "SA-10", "SA-11", "SD-2")
    assert failed == {f"{check_id}[cloud-mixed]" for check_id in ids}
    result.stdout.fnmatch_lines(
        [
            "WEAK_PASS  16 of 17 expected secrets found, 1 relabelled, 1 unexpected, canary found*",
            "RELABELLED  cloud-mixed  .env.production:4 (reported as *)  slack-bot-token  CRITICAL  fails *",
            "UNEXPECTED  cloud-mixed  .env.production:4  *",
        ]
    )


def test_betterleaks_is_evaluated_under_its_own_name_and_misses_the_aws_key_ids_that_stand_alone(
    pytester: pytest.Pytester,
) -> None:
    # All of core but aws-credentials, which test_comparing.py has: what explains a miss takes four scans of a second.
    names = "api-keys cloud-mixed database-creds historical-secrets mixed-secrets no-secrets private-keys synthetic"
    some = shipped_scenarios(pytester.path / "some", *names.split())
    result = pytester.runpytest_subprocess("--gitleaks-eval", "--gitleaks-version=betterleaks@1.4.0", some)
    assert result.ret == 1
    lone = [("cloud-mixed", 2), ("cloud-mixed", 6)]
    needs = "another rule: it wants a find of aws-secret-access-key near it"
    result.stdout.fnmatch_lines(
        ["gitleaks-eval: betterleaks 1.4.0 (--gitleaks-version, *, sha256 *) | config builtin *"]
    )
    result.stdout.fnmatch_lines(
        ["FAIL  12 of 15 expected secrets found, 3 MISSED, 0 unexpected, canary found*"]
        + [f"MISSED  {name}  *:{line}  aws-access-token  CRITICAL  {needs}  *" for name, line in lone]
        + ["MISSED  historical-secrets  *:2  aws-access-token  CRITICAL  fails *"]
    )
    document = report(pytester)
    assert (document["scanner"]["name"], document["scanner"]["version"]) == ("betterleaks", "1.4.0")
    # How long a scan takes is the machine's doing.
    checks = {name: outcome for name, outcome in outcomes(document).items() if not name.startswith("SP-")}
    failed = {name.partition("[")[2] for name, outcome in checks.items() if outcome == "failed"}
    assert failed == {"cloud-mixed]", "historical-secrets]"}
    assert "error" not in outcomes(document).values()
    path = pytester.path / "gitleaks-eval-results/analysis/cloud-mixed.json"
    metadata = json.loads(path.read_text(encoding="utf-8"))["metadata"]
    assert (metadata["tool_name"], metadata["scanner"]) == ("gitleaks", "betterleaks")


def test_a_rule_that_is_dropped_is_a_missed_secret(pytester: pytest.Pytester) -> None:
    (pytester.path / "base.toml").write_text("[extend]\nuseDefault = true\ndisabledRules = ['private-key']\n")
    (pytester.path / ".gitleaks.toml").write_text("[extend]\npath = 'base.toml'\n")
    two = shipped_scenarios(pytester.path / "two", "private-keys", "api-keys")
    result = pytester.runpytest_subprocess("--gitleaks-eval", "--gitleaks-version=8.30.1", two)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "gitleaks-eval: gitleaks * | config .gitleaks.toml > base.toml > builtin (sha256 *, found in rootdir) | *",
            "FAIL  2 of 4 expected secrets found, 2 MISSED, 0 unexpected, canary found",
            "MISSED  private-keys  deploy/id_rsa:1  *  hidden by base.toml ?extend? disabledRules?0?  fails SA-1 *",
        ]
    )


def test_a_configuration_in_a_variable_is_the_one_under_test_named_hashed_and_linted(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = "[extend]\nuseDefault = true\n[allowlist]\npathz = ['x']\npaths = ['deploy/']\n"
    monkeypatch.setenv("GITLEAKS_CONFIG_TOML", content)
    two = shipped_scenarios(pytester.path / "two", "private-keys", "no-secrets")
    result = pytester.runpytest_subprocess("--gitleaks-eval", "--gitleaks-version=8.30.1", two)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["* | config GITLEAKS_CONFIG_TOML > builtin (sha256 ????????, content of a variable) | *"]
    )
    result.stdout.fnmatch_lines(["MISSED  private-keys  *  hidden by GITLEAKS_CONFIG_TOML ?allowlist? paths?0?  *"])
    result.stdout.fnmatch_lines(["GITLEAKS_CONFIG_TOML ?allowlist? pathz: gitleaks has no such key and ignores it; *"])
    assert report(pytester)["scanner"]["config"] == "GITLEAKS_CONFIG_TOML > builtin"
    result = pytester.runpytest_subprocess("--gitleaks-eval", "--gitleaks-version=8.18.4", two, "-k", "SA_10", "-n2")
    result.stdout.fnmatch_lines(["* | config builtin (sha256 ????????, no .gitleaks.toml in rootdir) | *"])


def test_the_scanner_on_path_is_used_and_named(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(gitleaks("8.18.4"), pytester.mkdir("bin") / "gitleaks")
    monkeypatch.setenv("PATH", str(pytester.path / "bin"), prepend=":")
    node = "-k=SA_10 and api-keys"
    result = pytester.runpytest_subprocess("--gitleaks-eval", node)
    result.stdout.fnmatch_lines(["gitleaks-eval: gitleaks 8.18.4 (PATH, sha256 *) | config builtin *"])


def test_a_version_that_a_script_states_is_its_own_word(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path]
) -> None:
    wrapper = pytester.path / "wrapper"
    wrapper.write_text(f"#!/bin/sh\nexec '{gitleaks('8.30.1')}' \"$@\"\n", encoding="utf-8")
    wrapper.chmod(0o700)
    result = pytester.runpytest_subprocess("--gitleaks-eval", f"--gitleaks-binary={wrapper}", "--co")
    result.stdout.fnmatch_lines(["*gitleaks 8.30.1 (--gitleaks-binary, a script that says so, sha256 *"])


def test_two_runs_differ_in_ids_and_times_only(pytester: pytest.Pytester) -> None:
    some = shipped_scenarios(pytester.path / "some", "cloud-mixed", "historical-secrets", "private-keys", "no-secrets")
    folders = []
    for name, parallel in (("one", []), ("two", ["-n2"])):
        pytester.runpytest_subprocess(
            "--gitleaks-eval", "--gitleaks-version=8.30.1", some, f"--gitleaks-output={name}", *parallel
        )
        folders.append(pytester.path / name / "analysis")
    volatile = ('"run_id"', '"timestamp"', '"scan_time_ms"', '"scan_attempts"')
    for path in sorted(folders[0].iterdir()):
        read = ((folder / path.name).read_text(encoding="utf-8") for folder in folders)
        texts = [re.sub(r'"scan_time_spread_ms": \[.*?\], ', "", text).replace(", ", ",\n") for text in read]
        one, two = ([line for line in text.splitlines() if not any(v in line for v in volatile)] for text in texts)
        assert one == two


def test_a_hostile_git_configuration_changes_nothing(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    binary = gitleaks("8.30.1")
    ran, home, hooks = pytester.path / "ran", pytester.mkdir("home"), pytester.mkdir("hooks")
    for name in ("pre-commit", "post-commit", "post-checkout", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {ran}\n", encoding="utf-8")
        (hooks / name).chmod(0o755)
    (home / ".gitconfig").write_text(
        f"[core]\n\tautocrlf = true\n\thooksPath = {hooks}\n\tattributesFile = {home}/attributes\n"
        "[commit]\n\tgpgSign = true\n[init]\n\tdefaultBranch = trunk\n\ttemplateDir = /none\n"
        f"[diff]\n\tnoprefix = true\n\texternal = touch {ran}\n[color]\n\tui = always\n[log]\n\tshowSignature = true\n",
        encoding="utf-8",
    )
    (home / "attributes").write_text("* binary\n", encoding="utf-8")
    for name, value in {"HOME": str(home), "GIT_DIR": "/none", "GIT_AUTHOR_DATE": "2001-01-01T00:00:00Z"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(pytester.path / "cache"))
    result = pytester.runpytest_subprocess("--gitleaks-eval", f"--gitleaks-binary={binary}")
    assert result.ret == 0
    assert report(pytester)["summary"]["findings"]["detected"] == 17
    assert not ran.exists()
    assert (pytester.path / "cache/gitleaks-eval").stat().st_mode & 0o777 == 0o700
