"""Repositories that nobody here has made: how they are named, and cloned without running anything of theirs."""

import http.server
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from builders import git, secret
from histories import COMMITS, fast_import, growing, history, make_hostile, merging, script, straight

from gitleaks_eval.analysis.analyse import Provenance, analyse
from gitleaks_eval.analysis.severity import load_policy
from gitleaks_eval.config.chain import BUILTIN_CONTENT
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.repositories.clone import Clone, clone
from gitleaks_eval.repositories.git import git_environment
from gitleaks_eval.repositories.head import head_contents, head_files, read_head
from gitleaks_eval.repositories.log import added_by_path, readable
from gitleaks_eval.repositories.sources import Named, name_repositories, read_sources, real_repositories, shown
from gitleaks_eval.scanners.build import probe
from gitleaks_eval.scanners.scan import Scanner, unread
from gitleaks_eval.scanners.suppressions import suppressions
from gitleaks_eval.scenarios.scenario import RealRepository

SECONDS = 60


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A repository with one commit."""
    return repository_in(tmp_path / "source")


def repository_in(path: Path, *options: str) -> Path:
    path.mkdir()
    git(path, "init", "-q", "-b", "main", *options)
    (path / "a").write_bytes(b"one\n")
    commit(path)
    return path


def commit(repository: Path) -> str:
    git(repository, "add", "--all")
    git(repository, "commit", "-q", "--no-verify", "--allow-empty", "-m", "a message")
    return tip(repository)


def tip(repository: Path, name: str = "HEAD") -> str:
    return git(repository, "rev-parse", name).decode().strip()


def cloned(source: Path | str, folder: Path, seconds: float = SECONDS, at_most: int = 1 << 30) -> Clone:
    (repository,) = real_repositories([str(source)], folder, ())
    return clone(repository, folder, seconds, at_most=at_most)


def refs(repository: Path) -> list[str]:
    return git(repository, "for-each-ref", "--format=%(refname) %(objectname)").decode().splitlines()


# --- What the user names


def test_paths_and_urls_are_read_in_order_from_the_command_line_and_from_lists(tmp_path: Path) -> None:
    for name in ("here", "lists/there"):
        (tmp_path / name).mkdir(parents=True)
    listed = "\ufeff# ours\n\nthere\n  https://example.com/x.git  \r\n"
    (tmp_path / "lists/repos.txt").write_text(listed, encoding="utf-8")
    values = ["here", "@lists/repos.txt", "git@example.com:a/b.git", "ssh://git@example.com/c"]
    sources = read_sources(values, tmp_path)
    assert [source.location for source in sources] == [
        str(tmp_path / "here"),
        str(tmp_path / "lists/there"),
        "https://example.com/x.git",
        *values[2:],
    ]
    assert {source.name for source in sources} == {""}


def test_a_repository_can_be_named_on_the_command_line_and_in_a_list(tmp_path: Path) -> None:
    for name in ("here", "a=b", "lists/there"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "lists/repos.txt").write_text("ours=there\nweb = x\n".replace("web = x", "web=https://e.com/x?a=b"))
    values = ["one=here", "@lists/repos.txt", "a=b", "two=a=b", "./a=b", "scp=git@e.com:x.git", "https://e.com/y?c=d"]
    sources = read_sources(values, tmp_path)
    assert [(source.name, source.location) for source in sources] == [
        ("one", str(tmp_path / "here")),
        ("ours", str(tmp_path / "lists/there")),
        ("web", "https://e.com/x?a=b"),
        ("", str(tmp_path / "a=b")),
        ("two", str(tmp_path / "a=b")),
        ("", str(tmp_path / "a=b")),
        ("scp", "git@e.com:x.git"),
        ("", "https://e.com/y?c=d"),
    ]
    assert "a=b" not in repr(sources[2])
    names = [one.name for one in real_repositories(values, tmp_path, ["b", "x"])]
    assert names == ["one", "ours", "web", "a-b", "two", "a-b-2", "scp", "y"]


@pytest.mark.parametrize("taken", [["ONE"], []])
def test_a_name_that_is_taken_is_an_input_error(tmp_path: Path, taken: list[str]) -> None:
    values = ["one=."] if taken else ["one=.", "One=."]
    with pytest.raises(InputError, match=r"^--gitleaks-real-repo [oO]ne=…: another repository or scenario has this"):
        real_repositories(values, tmp_path, taken)


def test_a_name_from_a_path_gives_way_to_one_of_the_users(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    assert [one.name for one in real_repositories(["one", "one=."], tmp_path, ())] == ["one-2", "one"]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("", "names no repository"),
        (" ", "names no repository"),
        ("a\0b", "names no repository"),
        ("missing", "missing does not exist"),
        ("a-file", "a-file is not a folder"),
        ("-uX", "looks like an option"),
        ("--upload-pack=touch x", "looks like an option"),
        ("my repo=.", "the name 'my repo' of a repository is a file and part of a test's id; write letters"),
        ("my.=.", "the name 'my.' of a repository"),
        ("n" * 101 + "=.", "the name 'n+' of a repository"),
        ("one=missing", "missing does not exist"),
        ("one=-uX", "looks like an option"),
        ("one=", "does not exist"),
        ("ext::sh -c touch% x", "names a command"),
        ("fd::7", "names a command"),
        ("ext://x/y", "the transport of ext://x/y is not one of https://"),
        ("ftp://user:hidden@example.com/x", r"the transport of ftp://example\.com/x is not one of https://"),
        ("HTTPS://example.com/x", "is not one of"),
        ("https:///x", "names no host"),
        ("https://[x/y", "cannot be read"),
        ("ssh://-oProxyCommand=x/y", "names no host"),
        ("-oProxyCommand=x:y", "looks like an option"),
        ("git@-oProxyCommand=x:y", "names no host"),
        ("file://example.com/x", "write file:///path"),
        ("@missing.txt", r"--gitleaks-real-repo: the list .*missing\.txt: cannot be read: No such file"),
        ("@empty.txt", r"@.*empty\.txt: names no repository; write one path or URL a line"),
        ("@bad.txt", r"bad\.txt, line 3: .*nowhere does not exist"),
        ("@latin.txt", r"latin\.txt: is no UTF-8 text"),
        ("x" * 5000, " x{200} cannot be looked at"),
    ],
)
def test_what_is_wrong_on_sight_is_an_input_error_that_names_the_option(
    tmp_path: Path, value: str, problem: str
) -> None:
    (tmp_path / "a-file").touch()
    (tmp_path / "empty.txt").write_text("# nothing\n\n", encoding="ascii")
    (tmp_path / "bad.txt").write_text("https://example.com/x\n\nnowhere\n", encoding="ascii")
    (tmp_path / "latin.txt").write_bytes(b"\xe9\n")
    with pytest.raises(InputError, match=problem) as raised:
        read_sources([value], tmp_path)
    assert str(raised.value).startswith("--gitleaks-real-repo")
    assert "hidden" not in str(raised.value)


@pytest.mark.parametrize(
    ("sources", "names"),
    [
        (["/x/one", "/y/one/", "https://e.com/ONE.git"], ["one", "one-2", "ONE-3"]),
        (["git@e.com:two.git", "https://u:p@e.com/a/three.git?x=1#y"], ["two", "three"]),
        (
            ["/x/..", "/x/.", "/", "https://e.com", "/x/.git"],
            ["x", "x-2", "repository", "e.com", "x-3"],
        ),
        (["/x/a[b]::c\n\x1b/d e"], ["d-e"]),
        (["/x/a[b]\u202e\udcff|c"], ["a-b-c"]),
        (["/x/.hidden", "/x/taken", "/x/TAKEN"], ["hidden", "taken-2", "TAKEN-3"]),
        (["/x/" + "y" * 300], ["y" * 100]),
        (["/srv/acme/.git", "/srv/acme/repo.git", "/srv/acme/repository/.git"], ["acme", "acme-2", "acme-3"]),
        (["/srv/acme.git/bare", "/repo.git", "https://e.com/acme/repo.git"], ["acme", "repository", "repo"]),
    ],
)
def test_names_are_fit_for_files_and_test_ids_and_differ(sources: list[str], names: list[str]) -> None:
    assert name_repositories([Named("", source) for source in sources], {"Taken"}) == names


@pytest.mark.parametrize(
    ("location", "source"),
    [
        ("https://user:password@example.com/x.git", "https://example.com/x.git"),
        ("https://token@example.com:8443/x", "https://example.com:8443/x"),
        ("https://us@er:p@ss@example.com/x", "https://example.com/x"),
        ("https://example.com/x?access_token=token#token", "https://example.com/x"),
        ("https://user:pass?word@example.com/x", "https://user:pass"),
        ("git@example.com:x.git", "git@example.com:x.git"),
        ("/a/path@home?", "/a/path@home?"),
    ],
)
def test_a_source_is_shown_without_credentials(location: str, source: str) -> None:
    assert shown(location) == source
    assert "word" not in repr(RealRepository("x", shown(location), location))


# --- A clone has what is there


def test_a_clone_has_all_refs_but_replacements_and_no_file_is_checked_out(source: Path, tmp_path: Path) -> None:
    first = tip(source)
    (source / "b").write_bytes(b"two\n")
    second = commit(source)
    git(source, "branch", "side/one", first)
    git(source, "tag", "light", first)
    git(source, "tag", "-a", "-m", "a tag", "heavy")
    git(source, "pack-refs", "--all")
    (source / "b").write_bytes(b"stashed\n")
    git(source, "stash", "-q")
    git(source, "update-ref", "refs/remotes/origin/theirs", first)
    git(source, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/theirs")
    git(source, "notes", "add", "-m", "a note")
    before = refs(source)
    git(source, "replace", second, first)
    made = cloned(source, tmp_path / "folder")
    assert made == Clone(tmp_path / "folder/repository", "main", second, shallow=False)
    assert refs(made.path) == before
    assert [path.name for path in made.path.iterdir()] == [".git"]
    assert sorted(path.name for path in (tmp_path / "folder").iterdir()) == ["repository"]
    git(source, "replace", "-d", second)
    assert readable(made.path) == readable(source)
    assert read_head(made.path).contents == tuple(head_contents(made.path)) == (b"one\n", b"two\n")
    git(made.path, "fsck", "--full", "--strict")


def test_files_among_the_refs_that_git_takes_for_none_are_passed_over(source: Path, tmp_path: Path) -> None:
    for name in (".DS_Store", "x.lock"):
        (source / ".git/refs/heads" / name).write_bytes(b"\0\1")
    git(source, "update-ref", "refs/heads/@/ü.x/-y", "HEAD")
    made = cloned(source, tmp_path / "folder")
    assert [ref.split(" ")[0] for ref in refs(made.path)] == ["refs/heads/@/ü.x/-y", "refs/heads/main"]


def test_the_clone_does_not_need_its_source(source: Path, tmp_path: Path) -> None:
    made = cloned(source, tmp_path / "folder")
    shutil.rmtree(source)
    assert readable(made.path).commits_with_text == 1


def test_a_repository_without_commits_is_cloned(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "trunk", "empty")
    made = cloned(tmp_path / "empty", tmp_path / "folder")
    assert (made.branch, made.commit, made.shallow) == ("trunk", "", False)
    assert readable(made.path).commits_with_changes == 0
    assert list(head_contents(made.path)) == []


def test_a_detached_head_is_cloned_with_its_commit_that_no_branch_has(source: Path, tmp_path: Path) -> None:
    git(source, "checkout", "-q", "--detach")
    detached = commit(source)
    made = cloned(source, tmp_path / "folder")
    assert (made.branch, made.commit) == ("HEAD", detached)


def test_a_head_without_its_branch_leaves_the_other_branches_to_read(source: Path, tmp_path: Path) -> None:
    git(source, "symbolic-ref", "HEAD", "refs/heads/unborn")
    made = cloned(source, tmp_path / "folder")
    assert (made.branch, made.commit) == ("unborn", "")
    assert readable(made.path).commits_with_text == 1


def test_ids_of_sha_256_are_read(tmp_path: Path) -> None:
    source = repository_in(tmp_path / "source", "--object-format=sha256")
    (source / "d").mkdir()
    (source / "d/b").write_bytes(b"two\n")
    made_of = commit(source)
    made = cloned(source, tmp_path / "folder")
    assert len(made.commit) == 64
    assert made.commit == made_of
    assert read_head(made.path).contents == (b"one\n", b"two\n")
    assert readable(made.path) == readable(source)


def test_a_shallow_clone_stays_shallow_and_says_so(source: Path, tmp_path: Path) -> None:
    commit(source)
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{source}", "shallow")
    made = cloned(tmp_path / "shallow", tmp_path / "folder")
    assert made.shallow
    assert git(made.path, "rev-list", "--count", "--all") == b"1\n"


@pytest.mark.parametrize("kind", ["bare", "work tree", "borrowing", "file url", "odd path", "submodule"])
def test_each_way_in_which_git_keeps_a_repository_is_cloned(source: Path, tmp_path: Path, kind: str) -> None:
    there: Path | str = tmp_path / "there"
    if kind == "bare":
        git(tmp_path, "clone", "-q", "--bare", str(source), str(there))
    elif kind == "work tree":
        git(source, "worktree", "add", "-q", "-b", "main2", str(there))
    elif kind == "borrowing":
        git(tmp_path, "clone", "-q", "--shared", str(source), str(there))
    elif kind == "file url":
        source.rename(tmp_path / "a b")
        there = f"file://{tmp_path}/a%20b"
    elif kind == "odd path":
        there = tmp_path / 'odd "na\\me\n#'
        source.rename(there)
    else:
        (tmp_path / "modules").mkdir()
        git(tmp_path, "init", "-q", "--separate-git-dir", str(tmp_path / "modules/x"), str(source))
        there = source
    made = cloned(there, tmp_path / "folder")
    assert made.branch == ("main2" if kind == "work tree" else "main")
    assert readable(made.path).commits_with_text == 1


# --- What cannot be cloned


def broken_object(source: Path, name: str) -> None:
    object_id = tip(source, name)
    (source / ".git/objects" / object_id[:2] / object_id[2:]).unlink()


def lost_branch(source: Path) -> None:
    (source / ".git/refs/heads/lost").write_text("1" * 40 + "\n", encoding="ascii")


def empty_ref(source: Path) -> None:
    (source / ".git/refs/heads/lost").touch()


def linked_refs(source: Path) -> None:
    (source / ".git/refs/heads/more").symlink_to(source)


def without_head(source: Path) -> None:
    (source / ".git/HEAD").unlink()


def senseless_head(source: Path) -> None:
    (source / ".git/HEAD").write_text("ref: /etc/passwd\n", encoding="ascii")


def without_objects(source: Path) -> None:
    shutil.rmtree(source / ".git/objects")


def no_repository(source: Path) -> None:
    shutil.rmtree(source / ".git")


def lying_git_file(source: Path) -> None:
    shutil.rmtree(source / ".git")
    (source / ".git").write_text("gitdir: /nowhere\n", encoding="ascii")


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (partial(broken_object, name="HEAD"), "."),
        (partial(broken_object, name="HEAD^{tree}"), "."),
        (partial(broken_object, name="HEAD:a"), "."),
        (lost_branch, "not our ref 1111"),
        (empty_ref, "not our ref 0000"),
        (linked_refs, "not our ref 0000"),
        (without_head, "it is no git repository"),
        (senseless_head, "it is no git repository"),
        (without_objects, "it is no git repository"),
        (no_repository, "it is no git repository"),
        (lying_git_file, "not a git repository: /nowhere"),
    ],
)
def test_what_is_no_whole_repository_is_an_error_of_one_line_that_names_it(
    source: Path, tmp_path: Path, damage: Callable[[Path], None], reason: str
) -> None:
    damage(source)
    with pytest.raises(EvaluationError, match=reason) as raised:
        cloned(source, tmp_path / "folder")
    assert not isinstance(raised.value, InputError)
    assert str(raised.value).startswith(f"{source}: cannot be cloned: ")
    assert "\n" not in str(raised.value)
    assert list((tmp_path / "folder").iterdir()) == []


def test_a_partial_clone_that_lacks_objects_is_an_error(source: Path, tmp_path: Path) -> None:
    git(source, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{source}", "some")
    with pytest.raises(EvaluationError, match="cannot be cloned"):
        cloned(tmp_path / "some", tmp_path / "folder")


def test_a_repository_that_disappeared_is_an_error(source: Path, tmp_path: Path) -> None:
    (repository,) = real_repositories([str(source)], tmp_path, ())
    shutil.rmtree(source)
    with pytest.raises(EvaluationError, match="it is no git repository"):
        clone(repository, tmp_path / "folder", SECONDS)


def test_a_clone_that_takes_too_long_is_stopped(source: Path, tmp_path: Path) -> None:
    os.mkfifo(source / ".git/objects/info/alternates")
    with pytest.raises(EvaluationError, match=r"took longer than 0\.3 s and was stopped"):
        cloned(source, tmp_path / "folder", seconds=0.3)
    assert list((tmp_path / "folder").iterdir()) == []


def test_a_run_that_ends_stops_a_clone(source: Path, tmp_path: Path) -> None:
    os.mkfifo(source / ".git/objects/info/alternates")
    (repository,) = real_repositories([str(source)], tmp_path, ())
    stop = threading.Event()
    stop.set()
    with pytest.raises(EvaluationError, match="was stopped"):
        clone(repository, tmp_path / "folder", SECONDS, stop)


@pytest.mark.slow
def test_a_clone_that_takes_more_than_it_may_is_an_error_with_what_to_do_and_leaves_nothing(
    source: Path, tmp_path: Path
) -> None:
    (source / "b").write_bytes(os.urandom(1 << 21))
    commit(source)
    behind = tmp_path / "behind"
    git(tmp_path, "clone", "-q", "--shared", str(source), str(behind))
    folder = tmp_path / "folder"
    # What it borrows from another one is not in its own folder.
    with pytest.raises(
        EvaluationError, match="wrote more than 1 MiB and was stopped; allow more GiB with --gitleaks-r"
    ):
        cloned(behind, folder, at_most=1 << 20)
    assert list(folder.iterdir()) == []
    assert cloned(behind, folder, at_most=1 << 22).commit


def test_a_clone_that_takes_too_long_names_the_option(source: Path, tmp_path: Path) -> None:
    os.mkfifo(source / ".git/objects/info/alternates")
    with pytest.raises(
        EvaluationError, match=r"took longer than 0.2 s and was stopped; allow more .* --gitleaks-scan-t"
    ):
        cloned(source, tmp_path / "folder", seconds=0.2)


# --- URLs


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files, and asks for a name and a password below /private."""

    def do_GET(self) -> None:
        if self.path.startswith("/private") and "Authorization" not in self.headers:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.end_headers()
            return
        super().do_GET()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(source: Path, tmp_path: Path) -> Iterator[str]:
    """A web server with the repository at /x.git and /private/x.git; what it is asked by."""
    for name in ("web/x.git", "web/private/x.git"):
        git(tmp_path, "clone", "-q", "--bare", str(source), name)
        git(tmp_path / name, "update-server-info")
    handler = partial(Quiet, directory=str(tmp_path / "web"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as web:
        thread = threading.Thread(target=web.serve_forever, daemon=True)
        thread.start()
        yield f"127.0.0.1:{web.server_address[1]}"
        web.shutdown()
        thread.join()


def test_a_url_is_cloned_and_no_credential_stays_in_the_clone(server: str, source: Path, tmp_path: Path) -> None:
    password = secret("github-pat", "a url")
    made = cloned(f"http://someone:{password}@{server}/private/x.git", tmp_path / "folder")
    assert made.commit == tip(source)
    assert readable(made.path) == readable(source)
    kept = b"".join(path.read_bytes() for path in (tmp_path / "folder").rglob("*") if path.is_file())
    assert password.encode() not in kept
    assert server.encode() not in kept


@pytest.mark.parametrize("place", ["missing.git", "private/missing.git"])
def test_a_url_that_fails_is_an_error_without_its_credentials(server: str, tmp_path: Path, place: str) -> None:
    password = secret("github-pat", "a url")
    with pytest.raises(EvaluationError, match=f"^http://{server}/{place}: cannot be cloned: ") as raised:
        cloned(f"http://someuser:{password}@{server}/{place}?key={password}", tmp_path / "folder")
    assert password not in str(raised.value)
    assert "someuser" not in str(raised.value)


def test_where_credentials_are_missing_nobody_is_asked(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = script(tmp_path / "ask", tmp_path / "asked")
    for name in ("GIT_ASKPASS", "SSH_ASKPASS"):
        monkeypatch.setenv(name, str(asked))
    with pytest.raises(EvaluationError, match="could not read Username"):
        cloned(f"http://{server}/private/x.git", tmp_path / "folder")
    assert not (tmp_path / "asked").exists()


def test_a_server_that_never_answers_is_given_up(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(EvaluationError, match=r"took longer than 0\.3 s"):
            cloned(f"http://127.0.0.1:{port}/x", tmp_path / "folder", seconds=0.3)


# --- Hostile ones


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A repository with a secret in which each thing that git or a scanner might run leaves a mark."""
    source = repository_in(tmp_path / "hostile")
    (source / "b.env").write_text(f"TOKEN={secret('github-pat', 'hostile')}\n", encoding="ascii")
    commit(source)
    make_hostile(source, tmp_path / "marks")
    return source


def scanner_of(binary: Path, folder: Path) -> Scanner:
    config = folder / "builtin.toml"
    config.write_bytes(BUILTIN_CONTENT)
    return Scanner(probe(binary, "a test"), config, folder, SECONDS, threading.Event())


@pytest.mark.slow
def test_the_hostile_repository_runs_commands_where_it_stands(hostile: Path, tmp_path: Path) -> None:
    """Otherwise the next test would prove nothing."""
    (hostile / ".git/config.worktree").unlink(missing_ok=True)
    git(hostile, "config", "core.worktree", str(hostile))
    subprocess.run(
        ["git", "-C", hostile, "log", "-p", "--all"],  # noqa: S607 - git is on PATH
        env=git_environment(),
        check=False,
        capture_output=True,
    )
    assert any((tmp_path / "marks").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("version", ["8.16.0", "8.18.4", "8.30.1"])
@pytest.mark.parametrize("kind", ["work tree", "bare", "git file"])
def test_no_command_of_a_hostile_repository_is_run(
    hostile: Path, tmp_path: Path, gitleaks: Callable[[str], Path], kind: str, version: str
) -> None:
    for mark in (tmp_path / "marks").iterdir():
        mark.unlink()
    there = hostile
    if kind == "bare":
        there = hostile / ".git"
    elif kind == "git file":
        there = tmp_path / "elsewhere"
        there.mkdir()
        (there / ".git").write_text(f"gitdir: {hostile}/.git\n", encoding="utf-8")
    scanner = scanner_of(gitleaks(version), tmp_path)
    made = cloned(there, tmp_path / "folder")
    scan = scanner.scan(made.path, obey_allow=False)
    assert unread(scan, readable(made.path, SECONDS)) is None
    assert [finding["File"] for finding in scan.findings] == ["b.env"]
    found = suppressions(made.path, scan.findings, scanner.build, SECONDS)
    assert [(one.kind, one.obeyed) for one in found.listed] == [("config", False)]
    assert len(read_head(made.path).contents) == len(list(head_contents(made.path, SECONDS))) == 6
    assert list((tmp_path / "marks").iterdir()) == []
    assert not (made.path / ".git/hooks").exists()
    config = (made.path / ".git/config").read_text(encoding="ascii")
    assert not [key for key in ("remote", "diff", "filter", "include", str(tmp_path)) if key in config]


@pytest.mark.slow
def test_of_a_large_repository_the_objects_are_shared_and_nothing_of_it_is_run_or_written(
    hostile: Path, tmp_path: Path, gitleaks: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for mark in (tmp_path / "marks").iterdir():
        mark.unlink()
    copied = cloned(hostile, tmp_path / "copied")
    monkeypatch.setattr("gitleaks_eval.repositories.clone.SHARED_FROM", 0)
    before = sorted((path, path.lstat().st_mtime_ns) for path in hostile.rglob("*"))
    made = cloned(hostile, tmp_path / "folder")
    assert not list((made.path / ".git/objects").rglob("*.pack"))
    assert (made.commit, made.branch, refs(made.path)) == (copied.commit, copied.branch, refs(copied.path))
    assert readable(made.path, SECONDS) == readable(copied.path, SECONDS)
    scan = scanner_of(gitleaks("8.30.1"), tmp_path).scan(made.path, obey_allow=False)
    assert unread(scan, readable(made.path, SECONDS)) is None
    assert [finding["File"] for finding in scan.findings] == ["b.env"]
    assert list((tmp_path / "marks").iterdir()) == []
    assert sorted((path, path.lstat().st_mtime_ns) for path in hostile.rglob("*")) == before


def test_a_large_repository_with_a_ref_that_names_no_commit_is_an_error(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitleaks_eval.repositories.clone.SHARED_FROM", 0)
    lost_branch(source)
    with pytest.raises(EvaluationError, match="refs/heads/lost"):
        cloned(source, tmp_path / "folder")


def test_a_large_repository_that_lacks_objects_is_an_error_when_it_is_read(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitleaks_eval.repositories.clone.SHARED_FROM", 0)
    blob = git(source, "rev-parse", "HEAD:a").decode().strip()
    (source / ".git/objects" / blob[:2] / blob[2:]).unlink()
    made = cloned(source, tmp_path / "folder")
    with pytest.raises(EvaluationError, match="git log failed"):
        readable(made.path, SECONDS)


def test_the_users_own_git_configuration_has_no_say(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / "templates/hooks").mkdir(parents=True)
    script(home / "templates/hooks/reference-transaction", tmp_path / "ran")
    script(home / "templates/hooks/post-checkout", tmp_path / "ran")
    (home / ".gitconfig").write_text(
        f'[init]\n\ttemplateDir = {home}/templates\n[url "/nowhere/"]\n\tinsteadOf = /\n\tinsteadOf = source\n'
        "[clone]\n\trejectShallow = true\n\tdefaultRemoteName = -x\n[extensions]\n\tx = y\n",
        encoding="utf-8",
    )
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(home))
    for name in ("GIT_TEMPLATE_DIR", "GIT_DIR", "GIT_CONFIG_GLOBAL", "GIT_TRACE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(home / "templates"))
    made = cloned(source, tmp_path / "folder")
    assert readable(made.path).commits_with_text == 1
    assert not (tmp_path / "ran").exists()


def test_attributes_that_call_every_file_binary_hide_nothing(
    source: Path, tmp_path: Path, gitleaks: Callable[[str], Path]
) -> None:
    (source / ".gitattributes").write_text("* -diff\n", encoding="ascii")
    (source / "b.env").write_text(f"TOKEN={secret('github-pat', 'hostile')}\n", encoding="ascii")
    commit(source)
    assert readable(source).added_bytes == 0
    made = cloned(source, tmp_path / "folder")
    scan = scanner_of(gitleaks("8.30.1"), tmp_path).scan(made.path)
    assert len(scan.findings) == 1
    assert readable(made.path).commits_with_text == 2


@pytest.mark.slow
def test_folders_nested_without_end_cost_no_more_than_they_hold(source: Path, tmp_path: Path) -> None:
    """Ten folders of ten entries each, all the same: ten thousand million files, and one content."""
    tree = git(source, "rev-parse", "HEAD^{tree}").decode().strip()
    for _ in range(10):
        listing = "".join(f"040000 tree {tree}\t{number}\n" for number in range(10))
        (tmp_path / "listing").write_text(listing, encoding="ascii")
        with (tmp_path / "listing").open("rb") as file:
            command = ["git", "-C", str(source), "mktree"]
            tree = subprocess.run(command, stdin=file, capture_output=True, check=True, text=True).stdout.strip()
    git(source, "update-ref", "refs/heads/main", git(source, "commit-tree", tree, "-m", "bomb").decode().strip())
    made = cloned(source, tmp_path / "folder")
    assert read_head(made.path).contents == (b"one\n",)
    with pytest.raises(EvaluationError, match=r"took longer than 0\.2 s"):
        readable(made.path, 0.2)
    with pytest.raises(EvaluationError, match=r"took longer than 0\.2 s"):
        sum(1 for _ in head_files(made.path, 100, 0.2))


def test_a_folder_so_deep_that_recursion_ends_is_read(source: Path, tmp_path: Path) -> None:
    stream = "commit refs/heads/main\ncommitter A <a@e> 0 +0000\ndata 0\nM 644 inline " + "d/" * 1500 + "f\n"
    fast_import(source, stream + "data 4\ntwo\n\n", "--force")
    assert read_head(cloned(source, tmp_path / "folder").path).contents == (b"two\n",)


# --- Large ones


@pytest.mark.slow
@pytest.mark.parametrize("changes", [straight, growing, merging])
@pytest.mark.parametrize("version", ["8.18.4", "8.30.1"])
def test_more_than_a_thousand_commits_are_cloned_scanned_and_analysed(
    tmp_path: Path, gitleaks: Callable[[str], Path], changes: Callable[[int], str], version: str
) -> None:
    values = history(tmp_path / "source", changes)
    made = cloned(tmp_path / "source", tmp_path / "folder")
    assert int(git(made.path, "rev-list", "--count", "--all")) >= COMMITS
    scanner = scanner_of(gitleaks(version), tmp_path)
    scan = scanner.scan(made.path, obey_allow=False)
    assert unread(scan, readable(made.path, SECONDS)) is None
    assert {finding["Secret"] for finding in scan.findings} == set(values)
    provenance = Provenance("source", made.branch, made.commit, version, "run", "2026-01-01T00:00:00Z", 1.0, 1)
    analysis = analyse(scan.findings, head_contents(made.path, SECONDS), load_policy(), provenance)
    assert (analysis["data"]["secrets_in_head"], analysis["data"]["secrets_in_history"]) == (2, 1)
    assert suppressions(made.path, scan.findings, scanner.build, SECONDS).total == 0


def test_head_is_not_read_where_nothing_was_found(source: Path, tmp_path: Path) -> None:
    made = cloned(source, tmp_path / "folder")
    contents = head_contents(made.path)
    shutil.rmtree(made.path)
    provenance = Provenance("source", "main", made.commit, "8.30.1", "run", "2026-01-01T00:00:00Z", 1.0, 1)
    assert analyse([], contents, load_policy(), provenance)["data"]["total_secrets"] == 0
    with pytest.raises(EvaluationError):
        next(head_contents(made.path))


@pytest.mark.parametrize("asked", [readable, added_by_path])
def test_where_git_fails_its_own_words_are_told_from_the_first_letter_on(
    tmp_path: Path, asked: Callable[[Path], object]
) -> None:
    with pytest.raises(EvaluationError, match=": fatal: "):
        asked(tmp_path)
