"""Accept what entries of a configuration hide, and what differs in a comparison: measure, list, ask, and write it."""

import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path

from gitleaks_eval.config.eval_file import LARGEST, place_beside
from gitleaks_eval.config.eval_file_edit import Line, Offer, with_acceptances
from gitleaks_eval.config.names import NAME
from gitleaks_eval.core.documents import read_input
from gitleaks_eval.core.errors import EvaluationError, InputError, unreadable
from gitleaks_eval.core.files import write_together
from gitleaks_eval.core.private_folder import check_room, private_folder, sweep
from gitleaks_eval.core.progress import telling
from gitleaks_eval.core.text import printable, shown_path
from gitleaks_eval.coverage.result import Coverage
from gitleaks_eval.engine.acceptance.to_approve import lines_to_approve
from gitleaks_eval.engine.session.approvals import written_in
from gitleaks_eval.engine.session.begin import find_scanners, lay_out
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.session.targets import Subjects, load_subjects
from gitleaks_eval.engine.settings.candidates import Candidate
from gitleaks_eval.engine.settings.selection import DEFAULT, SURVEYS
from gitleaks_eval.engine.settings.settings import Settings
from gitleaks_eval.engine.survey.coverage import surveyed
from gitleaks_eval.reports.output.folder import link_on_the_way

DONE, DECLINED = 0, 1
ADOPTED = "existing at adoption"
_NOT_CI = {"", "0", "false"}


@dataclass(frozen=True, slots=True)
class Asked:
    """How people are asked: `write` shows a line, `confirm` asks for a yes; `why` is the reason that is written."""

    write: Callable[[str], None]
    confirm: Callable[[str], bool]
    why: str = ""

    def said(self) -> dict[str, str]:
        """Return why something is accepted, and since when."""
        return {"why": self.why or ADOPTED, "since": datetime.now(timezone.utc).date().isoformat()}


def asked_at_terminal(why: str, *, asks: bool) -> Asked:
    """Return how who sits at the terminal is asked; without `asks` everything is confirmed.

    Raises:
        InputError: when nobody sits there.
    """
    if asks and not sys.stdin.isatty():
        raise InputError("accept: nobody can be asked: the input is no terminal; add --gitleaks-yes (--yes)")
    return Asked(_print, _confirm if asks else lambda _: True, why)


def _print(line: str) -> None:
    sys.stdout.write(printable(line) + "\n")
    sys.stdout.flush()


def _confirm(question: str) -> bool:
    sys.stdout.write(f"{printable(question)} [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


@dataclass(slots=True)
class _Wanted:
    """What is to be written into one file: entries by what they say, and lines of other lists."""

    entries: dict[str, Offer] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)


def is_ci(environment: Mapping[str, str]) -> bool:
    """Return whether this runs in CI, where nobody looks at what is written."""
    return environment.get("CI", "").lower() not in _NOT_CI


def accept(settings: Settings, asked: Asked, environment: Mapping[str, str] = os.environ) -> int:
    """List what the entries of each configuration hide that is not accepted, ask once, and write it down.

    Where candidates are compared, so is what another build no longer finds, and what differs in real repositories.

    Returns:
        0 when it is written or there is nothing to write, 1 when it was declined.

    Raises:
        EvaluationError: when nothing can be measured.
        InputError: in CI, where nobody is asked, and when a file cannot be written: then none is.
    """
    refuse_ci(environment)
    said = asked.said()
    wanted: defaultdict[Path, _Wanted] = defaultdict(_Wanted)
    with _asking(settings, asked.write) as session, telling(asked.write, "asking what entries hide"):
        surveys = [(one, surveyed(session, one)) for one in session.settings.candidates]
        for candidate, coverage in surveys:
            _want_entries(wanted, candidate, coverage, asked, settings.root)
        for line, text in lines_to_approve(session, said):
            if line:
                wanted[written_in(session)].lines.append(line)
            asked.write(text)
    if not wanted:
        known = sum(len(coverage.offers) for _, coverage in surveys)
        asked.write(f"nothing to accept: of {known} entries of the configuration all are accepted")
        return DONE
    return _confirmed(wanted, settings.root, asked)


def accept_lines(lines: Sequence[Line], root: Path, asked: Asked) -> int:
    """Ask once whether these differences are approved, and write it down in the project.

    Returns:
        0 when it is written or there is nothing to write, 1 when it was declined.

    Raises:
        InputError: when the file cannot be written.
    """
    if not lines:
        asked.write("nothing to accept: no differences are to review")
        return DONE
    return _confirmed({root / NAME: _Wanted(lines=list(lines))}, root, asked)


def refuse_ci(environment: Mapping[str, str] = os.environ) -> None:
    """Refuse to accept anything where nobody looks at it.

    Raises:
        InputError: in CI.
    """
    if is_ci(environment):
        raise InputError("accept: CI is set, and in CI nothing is accepted; run it where a person looks at the list")


def _confirmed(wanted: Mapping[Path, _Wanted], root: Path, asked: Asked) -> int:
    entries = sum(len(one.entries) for one in wanted.values())
    lines = sum(len(one.lines) for one in wanted.values())
    titles = ", ".join(shown_path(path, root) for path in wanted)
    counts = [f"{entries} entr{'y' if entries == 1 else 'ies'}"] * bool(entries)
    counts += [f"{lines} group{'s' * (lines != 1)} of differences"] * bool(lines)
    if not asked.confirm(f"accept {' and '.join(counts)} in {titles} ({asked.said()['why']})?"):
        asked.write("nothing is written")
        return DECLINED
    _write(wanted, root)
    asked.write(f"accepted {entries + lines} in {titles}; look at it, and commit it")
    return DONE


def _want_entries(
    wanted: Mapping[Path, _Wanted], candidate: Candidate, coverage: Coverage, asked: Asked, root: Path
) -> None:
    for row in coverage.offers:
        if not row["accepted"] or row["unmeasured"]:
            path = _place(candidate, row["layer"], str(row["name"]), root)
            offer = Offer(row["entry"], row["hides"], row["probes"], row["scanner"], **asked.said())
            known = wanted[path].entries
            known[offer.entry] = _widest(offer, known.get(offer.entry))
            asked.write(f"{row['name']} {row['said']}")


@contextmanager
def _asking(settings: Settings, progress: Callable[[str], None]) -> Iterator[Session]:
    """Yield what a run knows that is asked for surveys and real repositories alone."""
    if settings.analyses is not None:
        raise InputError("accept: nothing is scanned beside --gitleaks-analysis; leave one of the two out")
    # What a run is asked for only by name hides as much there, and takes a minute.
    kinds = tuple(kind for kind in SURVEYS if kind in {*DEFAULT, *settings.surveys})
    settings = replace(settings, kinds=kinds, scenario_sources=(), corpora=())
    subjects = load_subjects(settings) if settings.compares and not settings.baseline else Subjects((), (), {})
    check_room()
    sweep()
    with private_folder() as folder:
        found = find_scanners(settings, progress, folder)
        if broken := next((one for one in found if one.error), None):
            raise EvaluationError(str(broken.error))
        shared = lay_out(settings, found, folder, [""] * len(found))
        session = Session(settings, subjects, shared, exact=True)
        try:
            yield session
        finally:
            session.close()


def _place(candidate: Candidate, layer: int, name: str, root: Path) -> Path:
    chain = candidate.configuration.chain if candidate.configuration else ()
    if not chain:
        return root / NAME
    path = place_beside(chain[layer].path)
    if path is None:
        raise InputError(
            f"accept: {name} stands in a variable, and no file can stand beside it; name a file with --config"
        )
    return path


def _widest(offer: Offer, other: Offer | None) -> Offer:
    if other is None:
        return offer
    names = dict.fromkeys((*other.hides, *offer.hides))
    return replace(offer, hides={name: max(offer.hides.get(name, 0), other.hides.get(name, 0)) for name in names})


def _write(wanted: Mapping[Path, _Wanted], root: Path) -> None:
    """Write all files or none, as they are now: each is read again."""
    contents = [(path, _content(path, one, root)) for path, one in wanted.items()]
    try:
        write_together([(path, [content]) for path, content in contents], _mode)
    except OSError as error:
        raise InputError(f"accept: nothing is written: {error.strerror or error}: {error.filename}") from None


def _content(path: Path, wanted: _Wanted, root: Path) -> bytes:
    if link := link_on_the_way(path, root) or (path if path.is_symlink() else None):
        raise InputError(f"accept: {link} is a link, and nothing is written behind one; write it by hand")
    try:
        text = read_input(path, LARGEST).decode("utf-8") if path.exists() else ""
    except OSError as error:
        raise unreadable("accept:", path, error) from None
    try:
        content = with_acceptances(text, list(wanted.entries.values()), wanted.lines).encode()
    except InputError as error:
        raise InputError(*(f"accept: {path}: {error}".splitlines())) from None
    if len(content) > LARGEST:
        # Nobody could read it again.
        raise InputError(
            f"accept: {path}: would be larger than {LARGEST >> 20} MiB; write patterns of repositories by hand, "
            "such as repositories: ['team-*']"
        )
    return content


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777 if path.exists() else 0o644
