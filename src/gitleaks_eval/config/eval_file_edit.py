"""Write acceptances into a file of tests and acceptances; what people wrote in it stays as it is, comments too."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitleaks_eval.config.eval_file import PROBES, SCANNER
from gitleaks_eval.core.documents import DocumentError
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.yaml_documents import Spots, parse_yaml, yaml_spots

HEADER = """\
# What gitleaks-eval knows of the configuration beside this file: tests of its own rules (`rules`),
# entries of it that are accepted with what they hide (`accept`), and what is accepted of comparisons
# (`differences` in real repositories, `upgrades` of the scanner).
"""
INDENT = "  "
# The key of a date, which is written as it is.
SINCE = "since"


@dataclass(frozen=True, slots=True)
class Offer:
    """What an acceptance is to say: the entry, how much it hides, why, and since when (a date).

    `hides` has a number for `places`, `rules` and each family; `probes` and `scanner` are what it was measured with.
    """

    entry: str
    hides: Mapping[str, int]
    probes: int
    scanner: str
    why: str
    since: str

    def as_item(self) -> dict[str, Any]:
        """As it stands in the document."""
        hides = {**self.hides, PROBES: self.probes, SCANNER: self.scanner}
        return {"entry": self.entry, "hides": hides, "why": self.why, SINCE: self.since}

    def as_line(self) -> str:
        """As it stands in the file."""
        return f"- {_flow(self.as_item())}"


@dataclass(frozen=True, slots=True)
class Line:
    """An item that is added to a list of the file (`key`)."""

    key: str
    item: Mapping[str, Any]

    def as_line(self) -> str:
        """As it stands in the file."""
        return f"- {_flow(self.item)}"


def with_acceptances(text: str, offers: Sequence[Offer], more: Sequence[Line] = ()) -> str:
    """The text of a file with these acceptances in it; one of the same entry is brought up to date.

    Args:
        text: of a file that has been read before; empty for one that is not there.
        offers: what is accepted now.
        more: what is added to other lists.

    Raises:
        InputError: when the file is written in a way in which no line can be added.
    """
    try:
        document = parse_yaml(text.encode()) or {}
        wanted, added = _wanted(document, offers)
        changed = _with_changes(text, document, offers)
        changed = _with_lines(changed, "accept", document.get("accept"), [offer.as_line() for offer in added])
        for key in dict.fromkeys(line.key for line in more):
            of_key = [line for line in more if line.key == key]
            changed = _with_lines(changed, key, document.get(key), [line.as_line() for line in of_key])
            wanted[key] = [*(document.get(key) or ()), *(dict(line.item) for line in of_key)]
        if parse_yaml(changed.encode()) == wanted:
            return changed
    except (DocumentError, ValueError):
        pass
    lines = "\n".join(
        [*(f"{INDENT}{offer.as_line()}" for offer in offers), *(f"{line.key}: {line.as_line()}" for line in more)]
    )
    raise InputError(
        f"no line can be added to it; write each of its lists with a dash a line, or add by hand:\n{lines}"
    )


def _wanted(document: dict[str, Any], offers: Iterable[Offer]) -> tuple[dict[str, Any], list[Offer]]:
    """The document as it is to be, and the offers that are new in it."""
    items = [dict(item) for item in document.get("accept") or ()]
    added = []
    for offer in offers:
        if index := _index(items, offer):
            items[index - 1] = offer.as_item()
        else:
            items.append(offer.as_item())
            added.append(offer)
    return {**document, **({"accept": items} if items or "accept" in document else {})}, added


def _index(items: Sequence[dict[str, Any]], offer: Offer) -> int:
    """The number of the item about the same entry, from 1; 0 for none."""
    return next((number for number, item in enumerate(items, 1) if item["entry"] == offer.entry), 0)


def _with_changes(text: str, document: dict[str, Any], offers: Iterable[Offer]) -> str:
    spots = yaml_spots(text)
    written: list[tuple[int, int, str]] = []
    items = document.get("accept") or ()
    for offer in offers:
        if number := _index(items, offer):
            at = ("accept", number - 1)
            values = {
                (*at, "hides"): _flow(offer.as_item()["hides"]),
                (*at, "why"): _quoted(offer.why),
                (*at, "since"): offer.since,
            }
            for place, value in values.items():
                start, end = spots[place].start, spots[place].end
                # A block of lines ends where the next one begins.
                written.append((start, start + len(text[start:end].rstrip()), value))
    for start, end, value in sorted(written, reverse=True):
        text = text[:start] + value + text[end:]
    return text


def _with_lines(text: str, key: str, items: Sequence[Any] | None, lines: Sequence[str]) -> str:
    if not lines:
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    spots = yaml_spots(text)
    if (key,) not in spots:
        before = text if not text or text.endswith("\n") else text + end
        return "".join([before or HEADER, f"{key}:", *(f"{end}{INDENT}{line}" for line in lines), end])
    if items:
        place, indent = _after_last(text, spots, key, len(items) - 1)
        return text[:place] + "".join(f"{end}{indent}{line}" for line in lines) + text[place:]
    spot = spots[key,]
    return text[: spot.start].rstrip() + "".join(f"{end}{INDENT}{line}" for line in lines) + text[spot.end :]


def _after_last(text: str, spots: Spots, key: str, last: int) -> tuple[int, str]:
    """The end of the line in which the last item ends, and what stands before its dash."""
    spot = spots[key, last]
    ended = len(text[: spot.end].rstrip())
    line_end = text.find("\n", ended)
    place = len(text) if line_end < 0 else line_end - (text[line_end - 1] == "\r")
    dash = text.rindex("-", 0, spot.start)
    return place, text[text.rfind("\n", 0, dash) + 1 : dash]


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        pairs = (f"{name}: {one if name == SINCE else _flow(one)}" for name, one in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_flow, value))}]"
    return "null" if value is None else str(value)


def _quoted(text: str) -> str:
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return json.dumps(text, ensure_ascii=False)
