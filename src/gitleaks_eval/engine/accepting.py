"""Accept what the entries of a configuration hide: measure it, list it, ask, and write it beside the configuration."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from gitleaks_eval.config.beside import LARGEST, place_beside
from gitleaks_eval.config.beside_edit import Offer, with_acceptances
from gitleaks_eval.core.documents import read_input
from gitleaks_eval.core.errors import EvaluationError, InputError, unreadable
from gitleaks_eval.core.files import write_together
from gitleaks_eval.core.private_folder import check_room, private_folder, sweep
from gitleaks_eval.core.text import shown_path
from gitleaks_eval.coverage.result import Coverage
from gitleaks_eval.engine.begin import find_scanners, lay_out
from gitleaks_eval.engine.candidates import Candidate
from gitleaks_eval.engine.coverage import surveyed
from gitleaks_eval.engine.kinds import SURVEYS
from gitleaks_eval.engine.session import Session
from gitleaks_eval.engine.settings import Settings
from gitleaks_eval.engine.subjects import Subjects
from gitleaks_eval.reports.folder import link_on_the_way

DONE, DECLINED = 0, 1
ADOPTED = "existing at adoption"
_NOT_CI = {"", "0", "false"}


@dataclass(frozen=True, slots=True)
class Asked:
    """How people are asked: `write` shows a line, `confirm` asks for a yes; `why` is the reason that is written."""

    write: Callable[[str], None]
    confirm: Callable[[str], bool]
    why: str = ""


def is_ci(environment: Mapping[str, str]) -> bool:
    """Whether this runs in CI, where nobody looks at what is written."""
    return environment.get("CI", "").lower() not in _NOT_CI


def accept(settings: Settings, asked: Asked, environment: Mapping[str, str] = os.environ) -> int:
    """List what the entries of each configuration hide that is not accepted, ask once, and write it down.

    Returns:
        0 when it is written or there is nothing to write, 1 when it was declined.

    Raises:
        EvaluationError: when nothing can be measured.
        InputError: in CI, where nobody is asked, and when a file cannot be written: then none is.
    """
    if is_ci(environment):
        raise InputError("accept: CI is set, and in CI nothing is accepted; run it where a person looks at the list")
    surveys = _measured(settings, asked.write)
    wanted: dict[Path, dict[str, Offer]] = {}
    why, since = asked.why or ADOPTED, datetime.now(timezone.utc).date().isoformat()
    for candidate, coverage in surveys:
        for row in coverage.offers:
            if not row["accepted"]:
                path = _place(candidate, row["layer"], str(row["name"]))
                offer = Offer(row["entry"], row["places"], row["rules"], why, since)
                known = wanted.setdefault(path, {})
                known[offer.entry] = _widest(offer, known.get(offer.entry))
                asked.write(f"{row['name']} {row['said']}")
    count = sum(map(len, wanted.values()))
    if not count:
        entries = sum(len(coverage.offers) for _, coverage in surveys)
        asked.write(f"nothing to accept: of {entries} entries of the configuration all are accepted")
        return DONE
    titles = ", ".join(shown_path(path, settings.root) for path in wanted)
    if not asked.confirm(f"accept {count} entr{'y' if count == 1 else 'ies'} in {titles} ({why})?"):
        asked.write("nothing is written")
        return DECLINED
    _write(wanted, settings.root)
    asked.write(f"accepted {count} in {titles}; look at it, and commit it")
    return DONE


def _measured(settings: Settings, progress: Callable[[str], None]) -> list[tuple[Candidate, Coverage]]:
    """What the survey of each candidate says."""
    if settings.analyses is not None:
        raise InputError("accept: nothing is scanned beside --gitleaks-analysis; leave one of the two out")
    settings = replace(settings, kinds=SURVEYS)
    check_room()
    sweep()
    with private_folder() as folder:
        found = find_scanners(settings, progress, folder)
        if broken := next((one for one in found if one.error), None):
            raise EvaluationError(str(broken.error))
        shared = lay_out(settings, found, folder, [""] * len(found))
        session = Session(settings, Subjects((), (), {}), shared, exact=True)
        try:
            return [(one, surveyed(session, one)) for one in settings.candidates]
        finally:
            session.close()


def _place(candidate: Candidate, layer: int, name: str) -> Path:
    chain = candidate.configuration.chain if candidate.configuration else ()
    path = place_beside(chain[layer].path)
    if path is None:
        raise InputError(
            f"accept: {name} stands in a variable, and no file can stand beside it; name a file with --config"
        )
    return path


def _widest(one: Offer, other: Offer | None) -> Offer:
    if other is None:
        return one
    return replace(one, places=max(one.places, other.places), rules=max(one.rules, other.rules))


def _write(wanted: Mapping[Path, Mapping[str, Offer]], root: Path) -> None:
    """Write all files or none, as they are now: each is read again."""
    contents = [(path, _content(path, list(offers.values()), root)) for path, offers in wanted.items()]
    try:
        write_together([(path, [content]) for path, content in contents], _mode)
    except OSError as error:
        raise InputError(f"accept: nothing is written: {error.strerror or error}: {error.filename}") from None


def _content(path: Path, offers: Sequence[Offer], root: Path) -> bytes:
    if link := link_on_the_way(path, root) or (path if path.is_symlink() else None):
        raise InputError(f"accept: {link} is a link, and nothing is written behind one; write it by hand")
    try:
        text = read_input(path, LARGEST).decode("utf-8") if path.exists() else ""
    except OSError as error:
        raise unreadable("accept:", path, error) from None
    try:
        return with_acceptances(text, offers).encode()
    except InputError as error:
        raise InputError(*(f"accept: {path}: {error}".splitlines())) from None


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777 if path.exists() else 0o644
