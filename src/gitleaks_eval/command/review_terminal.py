"""The terminal of a review: one group of findings after the other, a key for each answer, saved at once."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from gitleaks_eval.core.text import few, printable
from gitleaks_eval.corpora.labels_file import (
    FALSE,
    SKIPPED,
    TRUE,
    UNREVIEWED,
    Answer,
    LabelledFinding,
    ReadLabels,
    write_labels,
)
from gitleaks_eval.engine.review.reviewing import Context, Group, ShownLine, groups

if sys.platform != "win32":
    import termios
    import tty

CONTEXTS_AT_MOST = 3
PLACES_AT_MOST = 10
LONGEST = 200
REVEAL, SINGLY, UNDO, QUIT = "r", "o", "u", "q"
LABEL_OF = {"t": TRUE, "f": FALSE, "s": SKIPPED}
PROMPT = "t(rue) f(alse) s(kip) r(eveal) o(ne by one) u(ndo) q(uit): "


class Terminal:
    """Keys and lines of the terminal that we are in."""

    def say(self, text: str = "") -> None:
        """Show a line."""
        sys.stdout.write(f"{printable(text)}\n")
        sys.stdout.flush()

    def ask(self, keys: str) -> str:
        """Return one of these keys; a terminal that is closed quits."""
        with _single_keys():
            # Only now: what is typed before would be shown twice.
            sys.stdout.write(PROMPT)
            sys.stdout.flush()
            while True:
                key = os.read(sys.stdin.fileno(), 1).decode("ascii", "replace").lower()
                if not key or key == "\x04":
                    key = QUIT
                if key in keys:
                    sys.stdout.write(f"{key}\n")
                    return key


@contextmanager
def _single_keys() -> Iterator[None]:
    """Read each key when it is pressed, and not when its line has ended."""
    if sys.platform == "win32":
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        # What was typed ahead stays.
        tty.setcbreak(sys.stdin, termios.TCSADRAIN)
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def ask_groups(read: ReadLabels, context: Context, terminal: Terminal, answer: Callable[[str], Answer]) -> None:
    """Ask about each group that waits for a label, until none does or people have enough.

    Raises:
        InputError: when the file was changed by somebody else; what was answered before is in it.
    """
    singly: frozenset[int] = frozenset()
    undo: list[tuple[LabelledFinding, ...]] = []
    while read.labels and (group := _next(read.labels.findings, singly)):
        waiting = sum(finding.label == UNREVIEWED and not finding.stale for finding in read.labels.findings)
        _show(group, waiting, context, terminal)
        while (key := terminal.ask("tfsrouq")) == REVEAL:
            _show_lines(group, context, terminal, reveal=True)
        if key == QUIT:
            break
        if key == SINGLY:
            singly |= {finding.id for finding in group.findings}
        elif key == UNDO:
            read = _undone(read, undo, terminal)
        else:
            undo.append(group.findings)
            read = _saved(read, group, answer(LABEL_OF[key]))
    left = (
        sum(finding.label == UNREVIEWED and not finding.stale for finding in read.labels.findings) if read.labels else 0
    )
    terminal.say(f"{left} unreviewed; {read.path} is saved")


def _next(findings: Sequence[LabelledFinding], singly: frozenset[int]) -> Group | None:
    waiting = groups(findings)
    for group in waiting:
        for finding in group.findings:
            if finding.id in singly:
                return replace(group, title=f"{group.title}, one by one", findings=(finding,))
    return waiting[0] if waiting else None


def _saved(read: ReadLabels, group: Group, answer: Answer) -> ReadLabels:
    ids = {finding.id for finding in group.findings}
    return write_labels(read, read.labels.answered(ids, answer)) if read.labels else read


def _undone(read: ReadLabels, undo: list[tuple[LabelledFinding, ...]], terminal: Terminal) -> ReadLabels:
    if not undo or not read.labels:
        terminal.say("nothing to undo in this session")
        return read
    before = {finding.id: finding for finding in undo.pop()}
    restored = replace(read.labels, findings=tuple(before.get(finding.id, finding) for finding in read.labels.findings))
    return write_labels(read, restored)


def _show(group: Group, waiting: int, context: Context, terminal: Terminal) -> None:
    first = group.findings[0]
    rules = list(dict.fromkeys(finding.rule for finding in group.findings))
    names = [
        name for finding in group.findings if (found := context.reported.get(finding.id)) for name in found.candidates
    ]
    terminal.say()
    terminal.say(f"{waiting} unreviewed | {group.title} | {len(group.findings)} to label")
    terminal.say(f"rule {few(rules, 3)}: {context.looked.descriptions.get(first.rule, 'not reported any more')}")
    terminal.say(f"reported by {few(list(dict.fromkeys(names))) or 'no candidate of this session'}")
    _show_lines(group, context, terminal, reveal=False)


def _show_lines(group: Group, context: Context, terminal: Terminal, *, reveal: bool) -> None:
    shown = group.findings[:CONTEXTS_AT_MOST]
    for finding, lines in zip(shown, context.around(shown), strict=True):
        terminal.say(_place(finding))
        for line in lines:
            terminal.say(
                f"  {'>' if line.is_reported else ' '} {line.number:>5}  {_text(line, finding, reveal=reveal)}"
            )
        if not lines:
            terminal.say("    its file cannot be shown")
    if not reveal:
        for finding in group.findings[CONTEXTS_AT_MOST:PLACES_AT_MOST]:
            terminal.say(_place(finding))
        if len(group.findings) > PLACES_AT_MOST:
            terminal.say(f"and {len(group.findings) - PLACES_AT_MOST} more places")


def _place(finding: LabelledFinding) -> str:
    return f"#{finding.id}  {finding.path}:{finding.line}  {finding.rule}  commit {finding.commit[:12]}"


def _text(line: ShownLine, finding: LabelledFinding, *, reveal: bool) -> str:
    text = line.raw if reveal else line.text
    if len(text) <= LONGEST:
        return text
    start = max(0, finding.columns[0] - LONGEST // 2) if reveal and line.is_reported else 0
    return f"{'…' * bool(start)}{text[start : start + LONGEST]}…"
