"""Repositories as users have them: of more than a thousand commits, and one that does harm where it can."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from builders import git, secret

from gitleaks_eval.repositories.git import git_environment


def script(path: Path, marker: Path) -> Path:
    path.write_text(f'#!/bin/sh\ntouch "{marker}"\ncat 2>/dev/null\nexit 0\n', encoding="utf-8")
    path.chmod(0o755)
    return path


# Each key of git's configuration that names a command, or a file that git writes or reads more from.
COMMANDS = """\
alias.log alias.rev-list alias.cat-file alias.upload-pack alias.pack-objects browser.x.cmd core.alternateRefsCommand
core.askPass core.editor core.fsmonitor core.gitProxy core.pager core.sshCommand credential.helper
credential.https://example.com.helper diff.external diff.evil.command diff.evil.textconv difftool.x.cmd
filter.evil.clean filter.evil.smudge filter.evil.process gc.recentObjectsHook gpg.program gpg.openpgp.program
gpg.ssh.program gpg.ssh.defaultKeyCommand guitool.x.cmd hook.x.command http.sslCert.helper imap.tunnel
interactive.diffFilter man.x.cmd merge.evil.driver mergetool.x.cmd pager.log pager.cat-file pager.rev-list
remote.origin.receivepack remote.origin.uploadpack remote.origin.vcs sendemail.smtpServer sequence.editor
submodule.evil.update trailer.x.command trailer.x.cmd uploadpack.packObjectsHook
""".split()
HOOKS = """\
applypatch-msg commit-msg fsmonitor-watchman post-checkout post-index-change post-merge post-receive post-rewrite
post-update pre-auto-gc pre-commit pre-push pre-receive pre-upload-pack proc-receive push-to-checkout
reference-transaction sendemail-validate update
""".split()


def make_hostile(source: Path, marks: Path) -> None:
    """Everything in a repository that makes git run a command somewhere, with a mark for each."""
    marks.mkdir()
    (source / ".gitattributes").write_text("* diff=evil filter=evil merge=evil export-subst\n", encoding="ascii")
    (source / ".gitleaks.toml").write_text("[allowlist]\npaths = ['.*']\n", encoding="ascii")
    (source / "out").symlink_to("/etc/passwd")
    (source / ".gitmodules").write_text(
        '[submodule "evil"]\n\tpath = module\n\turl = ext::sh -c "touch% x"\n\tupdate = !touch x\n', encoding="ascii"
    )
    git(source, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module")
    git(source, "add", ".")
    git(source, "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "all of it")
    folder = source / ".git"
    for name in ("hooks", "evil-hooks", "templates/hooks", "modules/evil/hooks"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for hook in HOOKS:
            script(folder / name / hook, marks / f"{name.replace('/', '-')}-{hook}")
    (folder / "info").mkdir(exist_ok=True)
    (folder / "info/attributes").write_text("* diff=evil filter=evil\n", encoding="ascii")
    for key in COMMANDS:
        command = script(folder / f"command-{key.replace('/', '-')}", marks / f"command-{key.replace('/', '-')}")
        git(source, "config", key, f"!{command}" if key.startswith(("alias", "credential")) else str(command))
    git(source, "config", "core.hooksPath", str(folder / "evil-hooks"))
    git(source, "config", "init.templateDir", str(folder / "templates"))
    git(source, "config", "include.path", str(folder / "included"))
    (folder / "included").write_text("[protocol]\n\tallow = always\n[log]\n\tshowSignature = true\n", encoding="ascii")
    for key, value in (
        ("trace2.normalTarget", str(marks / "trace2")),
        ("trace2.eventTarget", str(marks / "trace2-event")),
        ("remote.origin.url", f"ext::{script(folder / 'remote', marks / 'remote')}"),
        ("remote.origin.promisor", "true"),
        ("extensions.partialClone", "origin"),
        ("core.repositoryFormatVersion", "1"),
        ("protocol.ext.allow", "always"),
        ("core.worktree", "/"),
        ("safe.directory", "*"),
    ):
        git(source, "config", key, value)


def fast_import(repository: Path, stream: str, *options: str) -> None:
    subprocess.run(
        ["git", "-C", repository, "fast-import", "--quiet", *options],  # noqa: S607 - git is on PATH
        input=stream.encode(),
        env=git_environment(),
        check=True,
        capture_output=True,
    )


COMMITS = 1100


def straight(number: int) -> str:
    """A file of its own for each commit."""
    return inline(f"src/{number % 50}/file{number}.txt", f"text {number}\n")


def growing(number: int) -> str:
    """A few files that each commit changes, renames or deletes."""
    if number % 7 == 6:
        return f"R file{number % 5}.txt old/{number}.txt\n" if number > 10 else ""
    return inline(f"file{(number + 1) % 5}.txt", "".join(f"line {line} of {number}\n" for line in range(20)))


def merging(number: int) -> str:
    """Ours beside theirs: each tenth commit is a merge with a branch that began ten commits before."""
    return inline(f"main{number}.txt", f"text {number}\n")


def inline(path: str, text: str) -> str:
    return f"M 644 inline {path}\ndata {len(text.encode())}\n{text}\n"


def history(path: Path, changes: Callable[[int], str]) -> list[str]:
    """A repository of at least 1,100 commits; the values of the secrets in three of them."""
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    values = [secret("github-pat", f"{path.name} {number}") for number in range(3)]
    stream = []
    for number in range(COMMITS):
        who = f"Someone <someone@example.com> {1_700_000_000 + number} +0000"
        mark = number * 2 + 1
        start = f"from :{mark - 2}\n" if number else ""
        merge = ""
        if changes is merging and number and number % 10 == 0:
            side = f"commit refs/heads/side\nmark :{mark + 1}\ncommitter {who}\ndata 4\nside\nfrom :{mark - 20}\n"
            stream.append(side + inline(f"side{number}.txt", f"side {number}\n"))
            merge = f"merge :{mark + 1}\n"
        stream.append(f"commit refs/heads/main\nmark :{mark}\ncommitter {who}\ndata 4\nmain\n{start}{merge}")
        stream.append(changes(number))
        # Never in a merge: no version reads what only that changes.
        if number in {3, 501, 1099}:
            token = values[{3: 0, 501: 1, 1099: 2}[number]]
            stream.append(inline(f"secret{number}.env", f"TOKEN={token}\n"))
        if number == 700:
            stream.append("D secret3.env\n")
    fast_import(path, "".join(stream))
    return values
