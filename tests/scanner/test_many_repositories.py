"""Many repositories, compared by several processes with a real scanner: stopped, killed, in shards, on Dask."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from builders import git, secret
from fleets import small_repositories
from ran import NOT_THEIRS, RESULTS, evaluate
from recording_proxy import Recorded, revealed

from gitleaks_eval import command
from gitleaks_eval.core.schema import schema_problems

COUNT = 6
# So that what is said can be read.
UNCOMPRESSED = {"DASK_DISTRIBUTED__COMM__COMPRESSION": "False"}
IMPATIENT = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "5s"}
VERSION = "8.30.1"
BASE = "[extend]\nuseDefault = true\n"
HEAD = """\
[extend]
useDefault = true
disabledRules = ["slack-bot-token"]
[[allowlists]]
paths = ['''^deploy/''']
"""
# Finds the canary until it has scanned anything else.
BLIND = """\
#!{python} -ISB
import os, subprocess, sys
real, seen, arguments = {real!r}, {here!r} + "/seen", sys.argv[1:]
if arguments[0] != "git":
    os.execv(real, [real, *arguments])
if "/canary/" not in arguments[1]:
    open(seen, "w").close()
status = subprocess.run([real, *arguments]).returncode
if os.path.exists(seen):
    with open(arguments[arguments.index("--report-path") + 1], "w") as report:
        report.write("[]")
    status = 0
sys.exit(status)
"""
KINDS = ("lost", "new", "moved", "relabelled", "severity_changed", "reattributed")


@dataclass(frozen=True)
class Place:
    """Where the runs of this module are: clones, configurations, what they print, and all that they leave."""

    folder: Path
    scratch: Path
    program: Path
    values: list[str]

    @property
    def store(self) -> list[str]:
        return ["--store", str(self.folder / RESULTS / "comparison-store")]

    def line(self, *arguments: str, repositories: str = "clones") -> list[str]:
        return [
            *("compare", "--repo", repositories, "--binary", str(self.program)),
            *("--config", "base.toml", "--config", "head.toml", *arguments),
        ]

    def start(self, *arguments: str, repositories: str = "clones", **variables: str) -> "subprocess.Popen[str]":
        kept = {name: value for name, value in os.environ.items() if not name.startswith(NOT_THEIRS)}
        return subprocess.Popen(
            [sys.executable, "-m", "gitleaks_eval", *self.line(*arguments, repositories=repositories)],
            cwd=self.folder,
            env={**kept, "TMPDIR": str(self.scratch), **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, repositories: str = "clones") -> tuple[int, str]:
        process = self.start(*arguments, repositories=repositories)
        text, _ = process.communicate(timeout=300)
        return process.returncode, text

    def report(self, output: str = RESULTS, name: str = "repositories.jsonl") -> str:
        return (self.folder / output / name).read_text(encoding="utf-8")

    def left(self) -> list[str]:
        return [path.name for path in self.scratch.iterdir()]


def timeless(rows: str) -> list[dict[str, Any]]:
    """The rows without what differs from scan to scan."""
    read = [json.loads(line) for line in rows.splitlines()]
    for row in read:
        for pair in row["pairs"]:
            pair.pop("scan_ms", None)
            pair.pop("peak_kib", None)
    return read


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, gitleaks: Callable[[str], Path]) -> Place:
    folder = tmp_path_factory.mktemp("many")
    (folder / "base.toml").write_text(BASE, encoding="ascii")
    (folder / "head.toml").write_text(HEAD, encoding="ascii")
    (folder / "one.txt").write_text("clones/repo03\n", encoding="ascii")
    scratch = tmp_path_factory.mktemp("scratch")
    return Place(folder, scratch, gitleaks(VERSION), small_repositories(folder / "clones", COUNT))


@pytest.fixture(scope="module")
def whole(place: Place) -> str:
    """What one run prints that nobody disturbs."""
    status, text = place.run()
    assert status == 0, text
    return text


def test_the_differences_are_those_of_a_comparison_of_each_repository(whole: str, place: Place, tmp_path: Path) -> None:
    for name in ("base.toml", "head.toml"):
        (tmp_path / name).write_bytes((place.folder / name).read_bytes())
    one_by_one = evaluate(
        tmp_path,
        f"--gitleaks-binary={place.program}",
        *("--gitleaks-config=base.toml", "--gitleaks-config=head.toml", "--gitleaks-only=repos"),
        *(f"--gitleaks-real-repo={path}" for path in sorted((place.folder / "clones").iterdir())),
    )
    expected = one_by_one.pairs["head.toml"]
    rows = timeless(place.report())
    assert [row["repository"] for row in rows] == [one["repository"] for one in expected["real"]]
    for row, one in zip(rows, expected["real"], strict=True):
        (pair,) = row["pairs"]
        assert {name: pair[name] for name in ("commit", "same", *KINDS)} == {
            name: one[name] for name in ("commit", "same", *KINDS)
        }
    assert expected["verdict"] in whole
    assert any(pair[kind] for row in rows for pair in row["pairs"] for kind in KINDS)


def test_the_first_screen_says_who_is_concerned_why_and_which_line_would_change_it(whole: str, place: Place) -> None:
    lines = whole.splitlines()
    assert f"{COUNT} repositories; {COUNT} units run" in whole
    concerned = "lost findings in 3 repositories (2 in HEAD, 1 in history alone)"
    assert f"REVIEW  head.toml against base.toml: {concerned}" in lines
    slack = "  2 lost, 1 in HEAD, 2 repositories  slack-bot-token  rule switched off by head.toml"
    deployed = "  1 lost, 1 in HEAD, 1 repository  github-pat  hidden by head.toml allowlists[0].paths[0]"
    first = lines.index(f"{slack}  change head.toml:3")
    assert lines[first + 1] == f"{deployed}  change head.toml:5"
    summary = json.loads(place.report(name="repositories.json"))
    assert schema_problems("repositories", summary) == []
    assert (summary["repositories"], summary["pairs"][0]["verdict"]) == (COUNT, "REVIEW")
    assert place.left() == []


def test_what_is_known_is_not_scanned_again_and_fail_on_review_fails(whole: str, place: Place) -> None:
    before = place.report()
    status, text = place.run("--fail-on", "review")
    assert (status, f"{COUNT} of them known from the store; 0 units run" in text) == (1, True), text
    assert place.report() == before
    assert whole.splitlines()[-4:] == text.splitlines()[-4:]


@pytest.fixture
def in_place(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are run in this process; what is known needs no other one."""
    monkeypatch.chdir(place.folder)
    for name in [name for name in os.environ if name.startswith(NOT_THEIRS)]:
        monkeypatch.delenv(name)


@pytest.mark.usefixtures("in_place")
def test_shards_merged_are_one_run(
    whole: str, place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert whole
    before = place.report()
    store = [*place.store, "--output", "shards"]
    for number in ("1", "2"):
        assert command.main(place.line(*store, "--shard", f"{number}/3")) == 0
    monkeypatch.setenv("CI_NODE_INDEX", "3")
    monkeypatch.setenv("CI_NODE_TOTAL", "3")
    assert command.main(place.line(*store, "--shard")) == 0
    shards = [str(place.folder / f"shards/shard-{number}-of-3.jsonl") for number in (1, 2, 3)]
    assert command.main(["merge", "--output", "merged", *shards[:2]]) == 1
    assert "INCOMPLETE  shard 3 of 3 is missing" in capsys.readouterr().out
    assert not (place.folder / "merged").exists()
    assert command.main(["merge", "--output", "merged", *shards]) == 0
    assert place.report("merged") == before
    (verdict,) = [line for line in whole.splitlines() if line.startswith("REVIEW")]
    assert verdict in capsys.readouterr().out
    # Those of others stay where they are.
    assert command.main(["merge", "--output", "shards", *shards[:2]]) == 1
    assert all(Path(shard).is_file() for shard in shards)


@pytest.mark.usefixtures("in_place")
def test_what_is_approved_is_safe_and_what_is_not_is_to_review(
    whole: str, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert whole
    before, after = (one["identity"] for one in json.loads(place.report(name="repositories.json"))["candidates"])
    pinned = f"baseline: '{before}', candidate: '{after}', why: known, since: 2026-11-22"
    entry = f"- {{ rule: slack-bot-token, cause: 'rule switched*', repositories: ['repo*'], {pinned} }}"
    other = f"- {{ rule: github-pat, cause: 'hidden*', repositories: ['repo03'], {pinned} }}"
    verdicts = []
    approvals = place.folder / ".gitleaks-eval.yaml"
    try:
        for lines in ([entry], [entry, other]):
            approvals.write_text("\n  ".join(["differences:", *lines]) + "\n", encoding="ascii")
            assert command.main(place.line(*place.store, "--output", "approved")) == 0
            printed = capsys.readouterr().out
            verdicts += [line for line in printed.splitlines() if re.match("SAFE|REVIEW", line)]
    finally:
        approvals.unlink()
    assert [line.partition(" ")[0] for line in verdicts] == ["REVIEW", "SAFE"]
    assert verdicts[1].endswith("; 3 of them approved")


@pytest.mark.usefixtures("in_place")
def test_accept_approves_what_is_to_review_in_all_repositories_and_nothing_is_compared_again(
    whole: str, place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert whole
    monkeypatch.delenv("CI", raising=False)
    approvals, asked = place.folder / ".gitleaks-eval.yaml", ["--yes", "--why", "looked at"]
    line = ["accept", *place.line(*place.store, "--output", "accepted")[1:], *asked]
    try:
        assert command.main([*line, "--fail-on", "review"]) == 4
        assert "--fail-on: many repositories" in capsys.readouterr().err
        assert command.main(line) == 0
        printed = capsys.readouterr().out
        assert f"{COUNT} of them known from the store; 0 units run" in printed
        assert "head.toml against base.toml: 2 lost, 1 in HEAD  slack-bot-token  rule switched off" in printed
        assert "accepted 2 in .gitleaks-eval.yaml" in printed
        assert command.main(place.line(*place.store, "--output", "accepted")) == 0
        printed = capsys.readouterr().out
        assert re.search("^SAFE  head.toml against base.toml: .*; 3 of them approved$", printed, re.MULTILINE)
        before = approvals.read_bytes()
        assert command.main(line) == 0
        assert "nothing to accept" in capsys.readouterr().out
        assert (approvals.read_bytes(), revealed(place.values, before)) == (before, [])
        # It holds for these two candidates alone.
        (place.folder / "head.toml").write_text(HEAD + "# another one\n", encoding="ascii")
        assert command.main(place.line("--output", "accepted", "--store", "other-store", repositories="@one.txt")) == 0
        assert "REVIEW  head.toml against base.toml: lost findings in 1 repository" in capsys.readouterr().out
    finally:
        approvals.unlink()
        (place.folder / "head.toml").write_text(HEAD, encoding="ascii")


def test_a_labelled_secret_that_is_lost_is_a_regression(whole: str, place: Place) -> None:
    assert whole
    commit = git(place.folder / "clones/repo01", "rev-parse", "HEAD").decode().strip()
    label = f'commit: "{commit}", secret: 1, label: true, reviewer: "A", date: "2026-11-22", why: "real"'
    (place.folder / "labels.yaml").write_text(
        f"""\
# Labels of findings, written by `gitleaks-eval review`: true is a secret, false is none.
# It holds no value of a secret, and nothing that is derived from one; equal secrets share a number.
repository: "elsewhere"
commit: "{commit}"
pool: ["gitleaks {VERSION}"]
findings:
  - {{ id: 1, path: "slack.env", line: 1, columns: [4, 40], rule: "slack-bot-token", {label} }}
""",
        encoding="ascii",
    )
    line = json.dumps({"repo": str(place.folder / "clones/repo01"), "labels": "labels.yaml"})
    (place.folder / "labelled.txt").write_text(f"{line}\n", encoding="ascii")
    status, text = place.run("--output", "labelled", repositories="@labelled.txt")
    assert status == 1
    assert "REGRESSION  head.toml against base.toml: 1 finding labelled as a secret lost; lost findings in 1" in text


def test_a_run_that_is_stopped_goes_on_and_a_worker_that_is_killed_costs_nothing(whole: str, place: Place) -> None:
    expected = timeless(place.report())
    assert whole
    here = ["--output", "stopped", "--store", "stopped-store"]
    first = place.start(*here)
    assert first.stdout
    read = until(first.stdout, "real ", 1)
    # Whoever reads along has it already, and all that follows.
    partial = place.folder / "stopped/repositories.jsonl.partial"
    assert json.loads(partial.read_bytes().splitlines()[0])["status"] == "compared"
    first.send_signal(signal.SIGINT)
    rest, _ = first.communicate(timeout=60)
    text = read + rest
    assert first.returncode == 2, text
    assert re.search(r"stopped: [1-5] of 6 are done and kept", text), text
    assert not (place.folder / "stopped/repositories.jsonl").exists()
    assert not partial.exists()
    assert place.left() == []
    second = place.start(*here)
    assert second.stdout
    read = until(second.stdout, "gitleaks-eval: ", 2)
    os.kill(worker_of(second.pid), signal.SIGKILL)
    rest, _ = second.communicate(timeout=120)
    assert second.returncode == 0, rest
    known = int(re.findall(r"(\d) of them known", rest)[0])
    assert known >= 1
    # One is run again: that of the worker that was killed, if it had one by then.
    assert int(re.findall(r"(\d) units? run", rest)[0]) in {COUNT - known, COUNT - known + 1}
    assert timeless(place.report("stopped")) == expected
    assert place.left() == []


def test_a_repository_that_is_gone_or_breaks_is_incomplete_and_the_verdict_says_so(
    whole: str, place: Place, tmp_path: Path
) -> None:
    assert whole
    broken = tmp_path / "broken"
    broken.mkdir()
    git(broken, "init", "-q")
    (broken / ".git/refs/heads/main").write_text("1" * 40 + "\n", encoding="ascii")
    (tmp_path / "list.txt").write_text(f"{place.folder / 'clones/repo02'}\ngone\n{broken}\n", encoding="ascii")
    output = str(tmp_path / "out")
    status, text = place.run(*place.store, "--output", output, repositories=f"@{tmp_path / 'list.txt'}")
    assert status == 1
    assert "INCOMPLETE  head.toml against base.toml: 2 of 3 repositories could not be compared" in text
    assert re.search(r"INCOMPLETE  gone: .*it is no git repository", text)
    rows = [json.loads(line) for line in (tmp_path / "out/repositories.jsonl").read_text().splitlines()]
    assert [row["status"] for row in rows] == ["compared", "incomplete", "incomplete"]
    assert all(row["reasons"] for row in rows[1:])


@pytest.mark.usefixtures("in_place")
def test_what_is_kept_of_two_candidates_never_shows_what_a_third_one_takes_for_a_secret(
    place: Place, tmp_path: Path
) -> None:
    named, slack = secret("github-pat", "in a path"), secret("slack-bot-token", "in a path")
    path = tmp_path / "shop/deploy" / named / "slack.env"
    path.parent.mkdir(parents=True)
    path.write_text(f"X={slack}\nY={named}\n", encoding="ascii")
    for line in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        git(tmp_path / "shop", *line)
    (tmp_path / "list.txt").write_text("shop\n", encoding="ascii")
    blind = '[extend]\nuseDefault = true\ndisabledRules = ["github-pat", "generic-api-key"]\n'
    (tmp_path / "blind.toml").write_text(blind, encoding="ascii")
    (tmp_path / "none.toml").write_text(f"{blind}[[allowlists]]\npaths = ['^deploy/']\n", encoding="ascii")
    options = ["--repo", f"@{tmp_path / 'list.txt'}", "--binary", str(place.program), "--output", str(tmp_path / "out")]
    options += ["--config", str(tmp_path / "blind.toml"), "--config", str(tmp_path / "none.toml")]
    report = tmp_path / "out/repositories.jsonl"
    assert command.main(["compare", *options]) == 0
    # Nobody has said that it is one.
    assert revealed([named], report.read_bytes())
    assert command.main(["compare", *options, "--config", str(place.folder / "base.toml")]) == 0
    assert json.loads(report.read_bytes())["pairs"][0]["lost"]
    kept = [one.read_bytes() for one in (tmp_path / "out").rglob("*") if one.is_file()]
    assert revealed([named, slack], *kept) == []


def test_a_scanner_that_goes_blind_after_a_clean_scan_is_never_believed(place: Place, tmp_path: Path) -> None:
    stub = tmp_path / "gitleaks"
    stub.write_text(BLIND.format(python=sys.executable, real=str(place.program), here=str(tmp_path)), encoding="utf-8")
    stub.chmod(0o700)
    (tmp_path / "list.txt").write_text(f"{place.folder / 'clones/repo05'}\n", encoding="ascii")
    output = str(tmp_path / "out")
    blind = Place(place.folder, place.scratch, stub, [])
    status, text = blind.run("--output", output, repositories=f"@{tmp_path / 'list.txt'}")
    assert (status, "INCOMPLETE  repo05: " in text, "fails the canary: it found none of" in text) == (1, True, True)
    assert not re.search("^(SAFE|REVIEW)", text, re.MULTILINE)


@dataclass(frozen=True)
class Cluster:
    """A scheduler and three workers of Dask, processes of this machine; all that they say to anybody is recorded."""

    address: str
    workers: Sequence["subprocess.Popen[bytes]"]
    recorded: Recorded
    logs: Path


@pytest.fixture(scope="module")
def cluster(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    logs, recorded = tmp_path_factory.mktemp("cluster"), Recorded()
    ports = [free_port() for _ in range(4)]
    with ExitStack() as stack:
        scheduler, *contacts = [stack.enter_context(recorded.before(port)) for port in ports]
        address = f"tcp://127.0.0.1:{scheduler}"

        def started(what: str, *arguments: str) -> "subprocess.Popen[bytes]":
            log = stack.enter_context((logs / f"{len(list(logs.iterdir()))}.log").open("wb"))
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments],
                env={
                    **os.environ,
                    "TMPDIR": str(place.scratch),
                    **UNCOMPRESSED,
                    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "5s",
                },
                cwd=logs,
                stderr=log,
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        here = "tcp://127.0.0.1:"
        started("scheduler", "--host=127.0.0.1", f"--port={ports[0]}", "--no-dashboard", "--no-jupyter")
        alone = ("--nthreads=1", "--no-nanny", "--no-dashboard")
        workers = [
            started("worker", address, *alone, f"--listen-address={here}{port}", f"--contact-address={here}{contact}")
            for port, contact in zip(ports[1:], contacts, strict=True)
        ]
        yield Cluster(address, workers, recorded, logs)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def test_a_cluster_gives_the_same_rows_also_when_one_of_its_workers_is_killed_and_another_hangs(
    whole: str, place: Place, cluster: Cluster
) -> None:
    assert whole
    process = place.start("--output", "dask", "--store", "dask-store", "--scheduler", cluster.address, **UNCOMPRESSED)
    assert process.stdout
    read = until(process.stdout, "real ", 1)
    cluster.workers[0].kill()
    os.kill(cluster.workers[1].pid, signal.SIGSTOP)
    rest, _ = process.communicate(timeout=240)
    assert process.returncode == 0, read + rest
    assert timeless(place.report("dask")) == timeless(place.report())
    # What the killed one has left is gone as well; the other one is not dead.
    left = [name for name in place.left() if name.startswith("gitleaks-eval-")]
    assert len(left) <= 1
    cluster.workers[1].kill()
    cluster.workers[1].wait()
    assert place.run(*place.store)[0] == 0
    assert not any(name.startswith("gitleaks-eval-") for name in place.left())


def test_nothing_that_processes_of_a_cluster_say_to_each_other_or_log_holds_a_planted_value(
    place: Place, cluster: Cluster
) -> None:
    # The scanner itself is the largest of what is sent, and none of it is a message.
    program = place.program.read_bytes()
    said = [bytes(stream).replace(program, b"") for stream in cluster.recorded.streams]
    assert sum(len(stream) for stream in cluster.recorded.streams) > sum(map(len, said))
    # Units and answers are there to be read.
    assert sum(b"repo02" in one and b"rule switched off" in one for one in said) >= 1
    logs = [path.read_bytes() for path in cluster.logs.iterdir()]
    assert all(logs)
    assert revealed(place.values, *said, *logs) == []


def test_no_planted_value_is_in_the_store_in_a_report_or_in_what_is_printed(whole: str, place: Place) -> None:
    kept = [path for path in place.folder.rglob("*") if path.is_file() and "clones" not in path.parts]
    assert len(kept) > COUNT
    assert revealed(place.values, whole.encode(), *(path.read_bytes() for path in kept)) == []


def until(output: Any, start: str, times: int) -> str:
    """What is printed up to the line that begins so for the last time that is waited for."""
    read = ""
    while times:
        line = output.readline()
        assert line, read
        read += line
        times -= line.startswith(start)
    return read


def worker_of(process: int) -> int:
    """A worker of a run, as soon as there is one."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for child in Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split():
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                return int(child)
        time.sleep(0.01)
    raise AssertionError("no worker was started")
