"""The line of a file in which an entry stands, found by what it says: the parser of TOML forgets it."""

import json
import re
from collections import Counter
from collections.abc import Iterable

from gitleaks_eval.config.chain import Configuration
from gitleaks_eval.coverage.entries import ALL, DISABLED, FILTER, OVERRIDE, Entry


def entry_lines(entries: Iterable[Entry], configuration: Configuration) -> dict[Entry, int]:
    """The line of each entry, counted from 1; of several that say the same, in the order of the file."""
    texts = [file.content.decode("utf-8", "replace") for file in configuration.chain]
    seen: Counter[tuple[int, str, str]] = Counter()
    lines = {}
    for entry in entries:
        if entry.layer < len(texts):
            key = (entry.layer, entry.kind, entry.text)
            lines[entry] = _line(texts[entry.layer], entry, seen[key])
            seen[key] += 1
    return lines


def _line(text: str, entry: Entry, number: int) -> int:
    places = [match.start() for match in re.finditer(_pattern(entry), text)]
    there = places[min(number, len(places) - 1)] if places else 0
    return text.count("\n", 0, there) + 1


def _pattern(entry: Entry) -> str:
    said = entry.text
    if entry.kind in {DISABLED, FILTER}:
        return rf"(?m)^[^#\n]*\b{re.escape(said)}\s*="
    if entry.kind == ALL and entry.allowlist:
        allowlist = entry.allowlist
        said = next(iter((*allowlist.paths, *allowlist.regexes, *allowlist.stopwords, *allowlist.commits)), "")
    escaped = json.dumps(said, ensure_ascii=False)
    quoted = "|".join(re.escape(one) for one in (f"'''{said}'''", f"'{said}'", escaped, f'"""{escaped[1:-1]}"""'))
    return rf"\bid[\"']?\s*=\s*(?:{quoted})" if entry.kind == OVERRIDE else f"(?:{quoted})"
