"""`gitleaks-eval formats`: the documented formats of tokens, and what finds each with a configuration."""

import argparse
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from gitleaks_eval.command.asking import PASSED, asking_parser, progress, say, settings_of, told, waiting
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.coverage.families.formats import (
    HIDDEN,
    NOT_FOUND,
    SOME_VALUES,
    VALUES,
    FormatResult,
    ask_formats,
    formats,
    sentence,
)
from gitleaks_eval.coverage.verdict.summary import blame
from gitleaks_eval.engine.session.single_candidate import single_candidate

_GAPS = frozenset({NOT_FOUND, HIDDEN, SOME_VALUES})


def run(arguments: Sequence[str]) -> int:
    """List the formats; 0 when that could be done, whatever is found.

    Raises:
        SystemExit: with status 4 when the arguments are wrong on sight, with 0 after `--help`.
    """
    parser = asking_parser("formats", "[PROVIDER ...]", clones=False)
    parser.add_argument(
        "providers", nargs="*", metavar="PROVIDER", help="who issues the tokens; all, unless some are named"
    )
    parser.add_argument(
        "--missing", action="store_true", help="list only formats that are not found, hidden, or found in part"
    )
    options = parser.parse_args(arguments)
    return told("formats", lambda: _listed(options))


def _listed(options: argparse.Namespace) -> int:
    providers = set(map(_provider, options.providers))
    with single_candidate(settings_of(options), progress) as candidate:
        say(candidate.title)
        with waiting(f"scanning {VALUES * len(formats())} tokens"):
            results = ask_formats(candidate.subject, candidate.sample_scanner)
        named = [one for one in results if not providers or one.format.provider in providers]
        say(sentence(named))
        for result in sorted(named, key=lambda one: (one.format.tier, one.format.provider, one.format.id)):
            if result.status in _GAPS or not options.missing:
                say("  ".join(_cells(result, candidate.root)))
    return PASSED


def _provider(name: str) -> str:
    known = {one.provider.lower(): one.provider for one in formats()}
    if name.lower() in known:
        return known[name.lower()]
    near = [known[one] for one in get_close_matches(name.lower(), known, n=3)]
    hint = f"; did you mean {' or '.join(near)}?" if near else "; `gitleaks-eval formats` lists all providers"
    raise InputError(f"{name}: is no provider of a documented format{hint}")


def _cells(result: FormatResult, root: Path) -> Iterator[str]:
    one = result.format
    yield f"{result.status.replace('_', ' '):<12}"
    yield f"tier {one.tier}"
    yield f"{one.id:<32}"
    yield f"{one.provider}: {one.kind}"
    if result.status == HIDDEN:
        yield f"hidden by {blame(result.hidden_by, root) or 'no entry: no rule in force finds it'}"
    elif result.rule_id:
        yield f"({result.rule_id})"
