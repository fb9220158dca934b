"""What an entry says, as a report may show it: what it allows by value may be a secret itself."""

import re

from gitleaks_eval.coverage.configuration.entries import ALL, REGEX, STOPWORD, Entry

SHOWN_AT_MOST = 80
_LIKE_A_SECRET = re.compile(r"[A-Za-z0-9+/_=-]{12,}")
_KEPT = 4


def is_like_a_secret(entry: Entry) -> bool:
    """Whether what an entry says may be a secret, or hold one."""
    return entry.kind in {REGEX, STOPWORD, ALL} and _LIKE_A_SECRET.search(entry.text) is not None


def shown_text(entry: Entry) -> str:
    """The text of an entry, bounded; in one about values, all but the begin of each long word is left out."""
    text = entry.text
    if entry.kind in {REGEX, STOPWORD, ALL}:
        text = _LIKE_A_SECRET.sub(lambda match: f"{match[0][:_KEPT]}…", text)
    return text if len(text) <= SHOWN_AT_MOST else f"{text[:SHOWN_AT_MOST]}…"
