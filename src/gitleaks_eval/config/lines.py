"""On which line each key and item of a TOML document stands: its parser forgets it."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gitleaks_eval.config.tables import Address, place
from gitleaks_eval.core.documents import DocumentError, parse_toml

_TOKEN = re.compile(
    r"""(?P<skip>[ \t\r]+|\#[^\n]*)|(?P<newline>\n)|(?P<mark>[\[\]{},=.])
    |(?P<text>\"{3}(?:[^"\\]|\\.|"(?!""))*\"{3,5}|'{3}(?:[^']|'(?!''))*'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')
    |(?P<bare>[^\s\[\]{},=.\#"']+)""",
    re.VERBOSE | re.DOTALL,
)


class _Token(NamedTuple):
    kind: str
    said: str
    line: int


def place_lines(content: bytes) -> dict[str, int]:
    """The line of each table, key and item, by its place (`[allowlist] paths[0]`); lines are counted from 1.

    `content` is known to be TOML. Of what this reader takes for something else the place is missing.
    """
    return {place(address): line for address, line in address_lines(content).items()}


def address_lines(content: bytes) -> dict[Address, int]:
    """The line of each table, key and item, by its address; what two places say alike are two addresses."""
    reader = _Reader(list(_tokens(content.decode("utf-8-sig", "replace"))))
    reader.read()
    return reader.lines


def line_of(lines: Mapping[Address, int], address: Address) -> int:
    """The line of an address, or of what holds it: the items of `paths = "a,b"` have none of their own."""
    while address and address not in lines:
        address = address[:-1]
    return lines.get(address, 1)


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        if match.lastgroup and match.lastgroup != "skip":
            yield _Token(match.lastgroup, match[0], line)
        line += match[0].count("\n")


def _unquoted(said: str) -> str:
    """The key that a quoted text says; the text itself where it says none."""
    if "\\" not in said or said.startswith("'"):
        return said[1:-1]
    try:
        return str(parse_toml(f"key = {said}".encode())["key"])
    except DocumentError:
        return said[1:-1]


class _Reader:
    """Reads the tokens of a document once, from the first to the last."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.lines: dict[Address, int] = {}
        self._tokens = tokens
        self._at = 0
        self._counts: dict[Address, int] = {}

    def read(self) -> None:
        """Read all of it."""
        table: Address = ()
        while self._at < len(self._tokens):
            if self._said("\n"):
                self._at += 1
            elif self._said("["):
                table = self._header()
            else:
                self._pair(table)

    def _said(self, *marks: str) -> bool:
        if self._at >= len(self._tokens):
            return False
        token = self._tokens[self._at]
        return token.kind != "text" and token.said in marks

    def _header(self) -> Address:
        line = self._tokens[self._at].line
        brackets = 0
        while self._said("["):
            brackets, self._at = brackets + 1, self._at + 1
        names = self._key("]")
        while self._said("]"):
            self._at += 1
        address: Address = ()
        for index, name in enumerate(names):
            address = (*address, name)
            self.lines.setdefault(address, line)
            if brackets > 1 and index == len(names) - 1:
                self._counts[address] = self._counts.get(address, 0) + 1
            if address in self._counts:
                address = (*address, self._counts[address] - 1)
                self.lines.setdefault(address, line)
        return address

    def _key(self, end: str) -> list[str]:
        """The parts of a key, up to the mark that ends it, which is passed."""
        names = []
        while self._at < len(self._tokens) and not self._said(end, "\n"):
            token = self._tokens[self._at]
            if token.kind == "text":
                names.append(_unquoted(token.said))
            elif token.kind == "bare":
                names.append(token.said)
            self._at += 1
        self._at += 1
        return names

    def _pair(self, table: Address) -> None:
        line, address = self._tokens[self._at].line, table
        for name in self._key("="):
            address = (*address, name)
            self.lines.setdefault(address, line)
        self._value(address)

    def _value(self, address: Address) -> None:
        if self._at < len(self._tokens):
            self.lines.setdefault(address, self._tokens[self._at].line)
        if self._said("["):
            self._listed(address)
        elif self._said("{"):
            self._inline(address)
        else:
            while self._at < len(self._tokens) and not self._said("\n", ",", "]", "}"):
                self._at += 1

    def _listed(self, address: Address) -> None:
        self._at += 1
        index = 0
        while self._at < len(self._tokens) and not self._said("]"):
            if self._said(","):
                index += 1
            if self._said(",", "\n"):
                self._at += 1
            else:
                before = self._at
                self._value((*address, index))
                self._at = max(self._at, before + 1)
        self._at += 1

    def _inline(self, address: Address) -> None:
        self._at += 1
        while self._at < len(self._tokens) and not self._said("}"):
            if self._said(",", "\n"):
                self._at += 1
            else:
                self._pair(address)
        self._at += 1
