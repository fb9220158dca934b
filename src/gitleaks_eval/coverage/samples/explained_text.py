"""A text that is explained: where it stands, and the same with one thing changed that may keep it from being found."""

import re
import tempfile
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from gitleaks_eval.coverage.samples.repository import CANARY_PATH, canary_value
from gitleaks_eval.coverage.samples.scanner import SampleScanner
from gitleaks_eval.repositories.cache import BuiltRepository, build_into
from gitleaks_eval.scanners import SCANNERS
from gitleaks_eval.scenarios.recipe import Commit, Part, Recipe

NEUTRAL = "quartz/opal/feldspar.conf"


# What is asked of a line of a large file: so much of what stands around it. No rule of a scanner looks farther.
LARGE, AROUND = 1 << 16, 1 << 14


@dataclass(frozen=True, slots=True)
class Text:
    """A file by its path in a repository and its content; `line` is the one that is meant, None for all of it."""

    path: str
    content: bytes
    line: int | None = None

    def __repr__(self) -> str:
        """Without the content."""
        return f"<Text at {self.path}>"

    @property
    def around(self) -> str:
        """The line that is meant, else all."""
        text = self.content.decode("utf-8", "replace")
        lines = text.split("\n")
        return text if self.line is None else "".join(lines[self.line - 1 : self.line])


def around_line(text: Text) -> Text:
    """Cut a large text down to the lines around the one that is meant; what may be no text to git stays whole."""
    if text.line is None or len(text.content) <= LARGE or b"\0" in text.content:
        return text
    lines = text.content.split(b"\n")
    first = last = text.line - 1
    before = after = 0
    while first > 0 and before + len(lines[first - 1]) < AROUND:
        first -= 1
        before += len(lines[first]) + 1
    while last + 1 < len(lines) and after + len(lines[last + 1]) < AROUND:
        last += 1
        after += len(lines[last]) + 1
    return replace(text, content=b"\n".join(lines[first : last + 1]) + b"\n", line=text.line - first)


def without_comments(text: Text, scanner: str) -> Text:
    """The text without the comments that allow a line; where one stood, nothing of it is left."""
    words = b"|".join(re.escape(comment.encode()) for comment in SCANNERS[scanner].allow_comments)
    return replace(text, content=re.sub(words, b"", text.content))


def readable_text(text: Text) -> Text:
    """The text as UTF-8 without NUL bytes: what git takes for text and a scanner for words."""
    content = text.content
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if content.startswith(mark):
            content = content[len(mark) :].decode(encoding, "replace").encode()
    return replace(text, content=content.replace(b"\0", b""))


def build_text(sample_scanner: SampleScanner, text: Text) -> BuiltRepository:
    """A private repository that holds the text, and a file that vouches for a scan.

    Raises:
        EvaluationError: when it cannot be built.
    """
    files = {
        text.path.encode("utf-8", "surrogateescape"): (Part(data=text.content),),
        CANARY_PATH.encode(): (Part(data=canary_value(sample_scanner.seed).encode() + b"\n"),),
    }
    when = datetime(2026, 1, 1, tzinfo=timezone.utc)
    commit = Commit(message="Add it", author="Sample <sample@example.com>", date=when, write=files)
    folder = Path(tempfile.mkdtemp(prefix="explained-", dir=sample_scanner.folder)) / "built"
    return build_into(folder, Recipe({}, (commit,)), "the text")
