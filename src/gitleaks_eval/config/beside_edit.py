"""Write acceptances into a file of tests and acceptances; what people wrote in it stays as it is, comments too."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gitleaks_eval.core.documents import DocumentError
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.yaml_documents import Spots, parse_yaml, yaml_spots

HEADER = """\
# What gitleaks-eval knows of the configuration beside this file: tests of its own rules (`rules`),
# and entries of it that are accepted with what they hide (`accept`).
"""
INDENT = "  "


@dataclass(frozen=True, slots=True)
class Offer:
    """What an acceptance is to say: the entry, how many places and rules it hides, why, and since when (a date)."""

    entry: str
    places: int
    rules: int
    why: str
    since: str

    def as_item(self) -> dict[str, Any]:
        """As it stands in the document."""
        hides = {"places": self.places, "rules": self.rules}
        return {"entry": self.entry, "hides": hides, "why": self.why, "since": self.since}

    def as_line(self) -> str:
        """As it stands in the file."""
        hides = f"{{ places: {self.places}, rules: {self.rules} }}"
        return f"- {{ entry: {_quoted(self.entry)}, hides: {hides}, why: {_quoted(self.why)}, since: {self.since} }}"


def with_acceptances(text: str, offers: Sequence[Offer]) -> str:
    """The text of a file with these acceptances in it; one of the same entry is brought up to date.

    Args:
        text: of a file that has been read before; empty for one that is not there.
        offers: what is accepted now.

    Raises:
        InputError: when the file is written in a way in which no line can be added.
    """
    try:
        document = parse_yaml(text.encode()) or {}
        wanted, added = _wanted(document, offers)
        changed = _with_changes(text, document, offers)
        changed = _with_lines(changed, document, [offer.as_line() for offer in added])
        if parse_yaml(changed.encode()) == wanted:
            return changed
    except (DocumentError, ValueError):
        pass
    lines = "\n".join(f"{INDENT}{offer.as_line()}" for offer in offers)
    raise InputError(
        f"no line can be added to it; write `accept` as a list with a dash a line, or add by hand:\n{lines}"
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
    return {**document, "accept": items}, added


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
                (*at, "hides", "places"): str(offer.places),
                (*at, "hides", "rules"): str(offer.rules),
                (*at, "why"): _quoted(offer.why),
                (*at, "since"): offer.since,
            }
            written += [(spots[place].start, spots[place].end, value) for place, value in values.items()]
    for start, end, value in sorted(written, reverse=True):
        text = text[:start] + value + text[end:]
    return text


def _with_lines(text: str, document: dict[str, Any], lines: Sequence[str]) -> str:
    if not lines:
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    spots = yaml_spots(text)
    if ("accept",) not in spots:
        before = text if not text or text.endswith("\n") else text + end
        return "".join([before or HEADER, "accept:", *(f"{end}{INDENT}{line}" for line in lines), end])
    if items := document["accept"]:
        place, indent = _after_last(text, spots, len(items) - 1)
        return text[:place] + "".join(f"{end}{indent}{line}" for line in lines) + text[place:]
    spot = spots["accept",]
    return text[: spot.start].rstrip() + "".join(f"{end}{INDENT}{line}" for line in lines) + text[spot.end :]


def _after_last(text: str, spots: Spots, last: int) -> tuple[int, str]:
    """The end of the line in which the last item ends, and what stands before its dash."""
    spot = spots["accept", last]
    ended = len(text[: spot.end].rstrip())
    line_end = text.find("\n", ended)
    place = len(text) if line_end < 0 else line_end - (text[line_end - 1] == "\r")
    dash = text.rindex("-", 0, spot.start)
    return place, text[text.rfind("\n", 0, dash) + 1 : dash]


def _quoted(text: str) -> str:
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return json.dumps(text, ensure_ascii=False)
