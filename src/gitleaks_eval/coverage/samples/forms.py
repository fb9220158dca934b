"""Thirty forms in which people write a secret down: how often a rule fires in each says where it is blind."""

import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from urllib.parse import quote

NAME = "token"
# An identifier, an operator, and no other word: what a rule for named values wants before one.
_NAME_BEFORE = re.compile(r"\W*([A-Za-z_][\w. \t-]*?)[\s'\"`]*[^\w.-]*")
_LINE_ENDS = {ord("\n"): "&#10;", ord("\r"): "&#13;", ord("\t"): "&#9;"}
_DIFF_HEAD = "diff --git a/settings b/settings\n--- a/settings\n+++ b/settings\n@@ -1,2 +1,3 @@\n # settings\n"


@dataclass(frozen=True, slots=True)
class Written:
    """A secret to write down: the identifier that it belongs to, its value, and the bare text that a rule matches."""

    name: str
    value: str = field(repr=False)
    text: str = field(repr=False)


def written(text: str, match: str, value: str) -> Written:
    """What a sample of a rule holds: a value, with the name that its rule wants before it if it wants one.

    A value between other words (a URL around it, the user before a password) is written down with them.
    """
    before, _, after = match.partition(value) if value else ("", "", "")
    if value and not _holds_word(after):
        if not _holds_word(before):
            return Written(NAME, value, text)
        named = _NAME_BEFORE.fullmatch(before)
        if named and not before.endswith(named[1]):
            return Written("_".join(named[1].split()), value, text)
    return Written(NAME, match, text)


def _holds_word(text: str) -> bool:
    return re.search(r"\w", text) is not None


def render(form: str, one: Written) -> bytes:
    """A file with the secret in this form, which is one of `FORMS`."""
    return FORMS[form](one).encode()


def ways_to_write(value: str) -> set[str]:
    """Return how a value of one line stands in the forms that quote it."""
    return {_quoted(value), _single(value), escape(value, quote=False), escape(value), quote(value, safe="")}


def _quoted(text: str) -> str:
    """As it stands between quotes in source code and in JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _single(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")


def _assigned(one: Written) -> str:
    return f'{one.name} = "{_quoted(one.value)}"\n'


def _attribute(text: str) -> str:
    """An attribute of XML, as `xml.sax.saxutils` quotes it, which would load all that the network needs."""
    escaped = escape(text, quote=False).translate(_LINE_ENDS)
    if '"' not in escaped:
        return f'"{escaped}"'
    return f"'{escaped}'" if "'" not in escaped else '"' + escaped.replace('"', "&quot;") + '"'


def _json(one: Written, **how: object) -> str:
    return json.dumps({"id": 7, one.name: one.value, "retries": 3}, ensure_ascii=False, **how)  # type: ignore[arg-type]


def _indented(text: str, by: str) -> str:
    return "".join(f"{by}{line}\n" for line in text.splitlines() or [""])


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


FORMS: dict[str, Callable[[Written], str]] = {
    "raw": lambda one: f"{one.text}\n",
    "env": lambda one: f"# settings\n{one.name}={one.value}\nretries=3\n",
    "env-eof": lambda one: f"# settings\n{one.name}={one.value}",
    "env-crlf": lambda one: f"# settings\n{one.name}={one.value}\nretries=3\n".replace("\n", "\r\n"),
    "export": lambda one: f'#!/bin/sh\nexport {one.name}="{one.value}"\n',
    "yaml": lambda one: f"settings:\n  {one.name}: {_quoted(one.value)}\n  retries: 3\n",
    "yaml-quoted": lambda one: f'settings:\n  {one.name}: "{_quoted(one.value)}"\n  retries: 3\n',
    "json": lambda one: _json(one, indent=2) + "\n",
    "json-min": lambda one: _json(one, separators=(",", ":")),
    "assign": _assigned,
    "assign-1q": lambda one: f"{one.name} = '{_single(one.value)}'\n",
    "go": lambda one: f'package main\n\nfunc main() {{\n\t{one.name} := "{_quoted(one.value)}"\n}}\n',
    "call": lambda one: f'settings.set("{one.name}", "{_quoted(one.value)}")\n',
    "xml": lambda one: f"<settings>\n  <{one.name}>{escape(one.value, quote=False)}</{one.name}>\n</settings>\n",
    "xml-attr": lambda one: f'<settings>\n  <add key="{one.name}" value={_attribute(one.value)} />\n</settings>\n',
    "next-line": lambda one: f'{one.name} = \\\n    "{_quoted(one.value)}"\n',
    "yaml-block": lambda one: f"{one.name}: |\n{_indented(one.value, '  ')}retries: 3\n",
    "name-value": lambda one: f'env:\n  - name: {one.name}\n    value: "{_quoted(one.value)}"\n',
    "url-query": lambda one: f"https://api.example.com/v1?{one.name}={quote(one.value, safe='')}&page=2\n",
    "header": lambda one: f'curl -H "X-{one.name}: {_quoted(one.value)}" https://api.example.com/v1\n',
    "cli-flag": lambda one: f"deploy --{one.name} {one.value} --verbose\n",
    "comment": lambda one: f"# the old {one.name} was {_quoted(one.value)}, do not use it\n",
    "markdown": lambda one: f"- the {one.name} is **{_quoted(one.value)}**\n",
    "escaped-json": lambda one: json.dumps({"payload": _json(one)}, ensure_ascii=False) + "\n",
    "minified": lambda one: f'var a=1,{one.name}="{_quoted(one.value)}",b=2;function c(){{return a+b}}',
    "base64-line": lambda one: f"data: {_base64(_assigned(one))}\n",
    "base64-value": lambda one: f"{one.name}: {_base64(one.value)}\n",
    "url-encoded": lambda one: f"{_percent(_assigned(one))}\n",
    "hex-encoded": lambda one: f"{_assigned(one).encode().hex()}\n",
    "diff": lambda one: f"{_DIFF_HEAD}{_indented(f'{one.name}={one.value}', '+')} # end\n",
}
