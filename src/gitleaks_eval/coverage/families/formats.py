"""Documented formats of tokens: which of them a configuration finds, and which entry hides the others."""

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from itertools import count

from gitleaks_eval.core.resources import data
from gitleaks_eval.core.text import few
from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig
from gitleaks_eval.coverage.configuration.entries import Entry
from gitleaks_eval.coverage.families.texts import Asked, ask
from gitleaks_eval.coverage.samples.paths import word
from gitleaks_eval.coverage.samples.samples import Sample
from gitleaks_eval.coverage.samples.scanner import SampleScanner
from gitleaks_eval.regex.generate import make
from gitleaks_eval.regex.parse import parse_regex

FILE = data("formats.tsv")
OWN_RULE, GENERIC_RULE, SOME_VALUES, NOT_FOUND, HIDDEN = (
    "own_rule",
    "generic_rule",
    "some_values",
    "not_found",
    "hidden",
)
VALUES = 3
# The first variants take the first of each choice of a regex.
VARIED_FROM = 8
# These rules look at the names around a secret, and not at its format.
GENERIC = frozenset({"generic-api-key", "curl-auth-header", "curl-auth-user", "kubernetes-secret-yaml"})
NAMED_AT_MOST = 3
_ESCAPED = re.compile(r"\\x([0-9a-f]{2})")
_CRC32, _CHECK_DIGITS = "crc32-base62-6", 6
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Format:
    """A documented format: `pattern` is a whole token, `context` the text around it, `path` the file where it stands.

    `sensitivity` is live, public or test; `confidence` is documented or observed; every platform team has those of
    `tier` 1. `check` names the check digit, `source` who documents it.
    """

    id: str
    provider: str
    kind: str
    pattern: str
    check: str
    context: str
    since: str
    sensitivity: str
    source: str
    alternative: str
    confidence: str
    tier: int
    path: str

    def samples(self, seed: str, names: Iterator[str]) -> list[Sample]:
        """Return three values in their context, each in a folder of its own."""
        tree = parse_regex(self.pattern)
        samples = []
        for number in range(VALUES):
            value = with_check_digit(make(tree, f"formats\0{seed}\0{self.id}", VARIED_FROM + number).text, self.check)
            text = self.context.replace("{token}", value)
            samples.append(Sample(self.id, f"{next(names)}/{self.path}", f"{text}\n", value, value))
        return samples


@dataclass(frozen=True, slots=True)
class FormatResult:
    """What became of a format: its status, the rule that reports most of its values, and the entries that hide it."""

    format: Format
    status: str
    rule_id: str | None = None
    hidden_by: tuple[Entry, ...] = ()


_COLUMNS = tuple(field.name for field in fields(Format))


@cache
def formats() -> tuple[Format, ...]:
    """Return the formats of secrets, in the order of the data file; public keys and test keys are none."""
    return tuple(one for one in documented() if one.sensitivity == "live")


@cache
def documented() -> tuple[Format, ...]:
    """Return all formats of the data file."""
    rows = (line.split("\t") for line in FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return tuple(_read(**dict(zip(_COLUMNS, row, strict=True))) for row in rows)


def _read(tier: str, context: str, **texts: str) -> Format:
    plain = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), context.replace("\\n", "\n"))
    return Format(tier=int(tier), context=plain, **texts)


def with_check_digit(value: str, check: str) -> str:
    """Return a token with the check digit of its format: CRC-32 of all behind its prefix, in base 62 at the end."""
    if check != _CRC32:
        return value
    prefix, separator, rest = value.rpartition("_")
    body = rest[:-_CHECK_DIGITS]
    number, digits = zlib.crc32(body.encode()), ""
    for _ in range(_CHECK_DIGITS):
        number, digit = divmod(number, len(_BASE62))
        digits = _BASE62[digit] + digits
    return f"{prefix}{separator}{body}{digits}"


def ask_formats(subject: EffectiveConfig, sample_scanner: SampleScanner) -> list[FormatResult]:
    """Plant each format, and scan it with the configuration under test and with the scanner's own.

    Raises:
        EvaluationError: when a scan fails: then nothing is known of any format.
    """
    names = map(word, count())
    samples = [sample for one in formats() for sample in one.samples(subject.seed, names)]
    asked = ask(subject, sample_scanner, samples)
    return [_result(one, asked) for one in formats()]


def _result(documented_format: Format, asked: Asked) -> FormatResult:
    found, bare = asked.found[documented_format.id], asked.bare[documented_format.id]
    if not any(found):
        if not any(bare):
            return FormatResult(documented_format, NOT_FOUND)
        return FormatResult(documented_format, HIDDEN, _rule(bare), asked.hidden_by.get(documented_format.id, ()))
    if not all(found):
        return FormatResult(documented_format, SOME_VALUES, _rule(found))
    is_own = all(ids - GENERIC for ids in found)
    return FormatResult(documented_format, OWN_RULE if is_own else GENERIC_RULE, _rule(found))


def _rule(found: Sequence[set[str]]) -> str:
    counts = Counter(rule_id for ids in found for rule_id in ids)
    return min(counts, key=lambda rule_id: (rule_id in GENERIC, -counts[rule_id], rule_id))


def sentence(results: Sequence[FormatResult]) -> str:
    """Return `formats: 170 of 215 of tier 1, 267 of 340 in all (not found: anthropic-oauth, google-refresh, …)`."""
    if not results:
        return ""
    first = [one for one in results if one.format.tier == 1]
    counts = (f"{sum(map(_is_found, rows))} of {len(rows)}" for rows in (first, results))
    of_first, of_all = counts
    listed: Mapping[str, list[str]] = {
        said: [one.format.id for one in sorted(results, key=lambda one: one.format.tier) if one.status == status]
        for said, status in (("hidden", HIDDEN), ("not found", NOT_FOUND))
    }
    left = "; ".join(f"{said}: {few(ids, NAMED_AT_MOST)}" for said, ids in listed.items() if ids)
    return f"formats: {of_first} of tier 1, {of_all} in all{f' ({left})' * bool(left)}"


def _is_found(result: FormatResult) -> bool:
    return result.status not in {NOT_FOUND, HIDDEN}
