"""What the documentation shows: its blocks, and console blocks run as a reader would run them.

A page is one folder, and its blocks stand in it in their order. `<!-- file: NAME -->` above a block says that it is the
content of that file; `<!-- not run: REASON -->` above a console block that no test can run it, and why;
`<!-- run in: PAGE -->` that another page runs the same. A command that ends with another status than 0 is followed by
`$ echo $?`, so that a reader sees it, too.
"""

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from forked_programs import forked_programs
from forks import shared
from markdown_it import MarkdownIt
from ran import NOT_THEIRS

from gitleaks_eval.scanners import SCANNERS
from gitleaks_eval.scanners.build import PINNED_VERSION
from gitleaks_eval.scanners.install import installed_binary

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CONSOLE, STATUS = "console", "echo $?"
_NOTE = re.compile(r"<!-- (file|not run|run in): (.+?) -->\s*")
# Plugins of pytest that only our own tests need, and that take as long to load as all the rest.
_ADDOPTS = "-p no:hypothesispytest -p no:anyio -p no:cacheprovider"


class Block(NamedTuple):
    """A fenced block: where it stands, its language and text, and of the comment above it what it says, and of what."""

    page: Path
    line: int
    language: str
    text: str
    note: str
    noted: str

    @property
    def is_run(self) -> bool:
        """Whether its commands are run."""
        return self.language == CONSOLE and not self.note


class Command(NamedTuple):
    """A command of a console block, and the output that stands below it, in which `...` is any text."""

    text: str
    output: str


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page."""
    note = noted = ""
    for token in MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8")):
        if token.type == "fence":
            yield Block(page, (token.map or [0])[0] + 1, token.info.strip(), token.content, note, noted)
        said = _NOTE.fullmatch(token.content) if token.type == "html_block" else None
        note, noted = said.groups() if said else ("", "")


def links(page: Path) -> Iterator[str]:
    """What a page links to, and the pictures that it shows."""
    for token in MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8")):
        for child in token.children or ():
            if target := child.attrs.get("href") or child.attrs.get("src"):
                yield str(target)


def commands(block: Block) -> Iterator[Command]:
    """The commands of a console block; a line that begins with `> ` goes on with the one above it."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        more = next((index for index, line in enumerate(lines) if index and not line.startswith("> ")), len(lines))
        command = "\n".join([lines[0], *(line[2:] for line in lines[1:more])])
        yield Command(command, "".join(f"{line.rstrip()}\n" for line in lines[more:]))


def problems_of(page: Path, folder: Path) -> list[str]:
    """Run what a page shows in a new folder: each place where something else happens than it says."""
    folder.mkdir()
    _install_scanners(page, folder)
    with forked_programs(_programs(folder), shared()):
        return list(_problems_of(page, folder))


def _problems_of(page: Path, folder: Path) -> Iterator[str]:
    ended = ""
    status = 0
    for block in blocks(page):
        where = f"{page.name}:{block.line}"
        if block.note == "file":
            path = folder / block.noted
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        for command in commands(block) if block.is_run else ():
            if status and command.text != STATUS:
                yield f"{ended} with {status}, and no `$ {STATUS}` shows it"
            printed, status = _run(f"(exit {status}); {command.text}", folder)
            ended = f"{where}: `{command.text}` ended"
            if command.output and (problem := _difference(command.output, printed)):
                yield f"{where}: `{command.text}`\n{problem}"
    if status:
        yield f"{ended} with {status}, and no `$ {STATUS}` shows it"


def _install_scanners(page: Path, folder: Path) -> None:
    """Install what a page names, because installing says more than pages show; `gitleaks` is the pinned one."""
    named = re.findall(r"--scanner-version (?:(\w+)@)?([\d.]+)", page.read_text(encoding="utf-8"))
    for scanner, version in named:
        installed_binary(version, print, SCANNERS[scanner or "gitleaks"])
    programs = _programs(folder)
    programs.mkdir()
    (programs / "gitleaks").symlink_to(installed_binary(PINNED_VERSION, print)[0])


def _programs(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}-programs")


def _run(command: str, folder: Path) -> tuple[str, int]:
    kept: Mapping[str, str] = {
        name: text for name, text in os.environ.items() if not name.startswith((*NOT_THEIRS, "CI"))
    }
    path = os.pathsep.join([str(_programs(folder)), str(Path(sys.executable).parent), kept["PATH"]])
    done = subprocess.run(
        ["bash", "-c", command],  # noqa: S607 - bash is on PATH
        check=False,
        cwd=folder,
        env={**kept, "PATH": path, "COLUMNS": "80", "PYTEST_ADDOPTS": _ADDOPTS},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    # How long something takes depends on the machine.
    lines = (line for line in done.stdout.splitlines() if not line.startswith("gitleaks-eval: still "))
    return "".join(f"{line.rstrip()}\n" for line in lines), done.returncode


def _difference(shown: str, printed: str) -> str:
    checker = doctest.OutputChecker()
    if checker.check_output(shown, printed, doctest.ELLIPSIS):
        return ""
    return checker.output_difference(doctest.Example("", shown), printed, doctest.ELLIPSIS)
