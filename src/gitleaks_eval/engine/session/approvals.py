"""What people have approved of a comparison, pinned to both of its candidates, and what is left to approve."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import Any

from gitleaks_eval.config.eval_file import Upgrade
from gitleaks_eval.config.names import NAME
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.scenarios.secrets import MASK
from gitleaks_eval.scoring.approvals import Pins, approved
from gitleaks_eval.scoring.real_differences import SUPPRESSED, Group, Real

DIFFERENCES, UPGRADES = "differences", "upgrades"
# Another rule may be shown like it in the next run.
MASKED_RULE = "cannot be accepted: the id of its rule is masked"
_DIGITS = 32
_SAVED = ("name", "version", "config_sha256", "decode_depth", "mode", "args")


def identity(session: Session, name: str, own: str = "") -> str | None:
    """What an approval is pinned to: the scanner's bytes, the configuration's, and all that changes what it sees.

    `own` is the hash of the configuration that a repository brings along, where that is used. None where one of them
    is not known.
    """
    candidate = next((one for one in session.settings.candidates if one.name == name), None)
    build = session.build(name) if candidate else None
    if candidate is None or candidate.configuration is None or build is None:
        return None
    pinned = [
        *(build.sha256, candidate.configuration.sha256, candidate.decode_depth),
        *(candidate.mode, candidate.args, candidate.own_baseline),
        *[own] * bool(own),
    ]
    digest = hashlib.sha256(json.dumps(pinned).encode()).hexdigest()[:_DIGITS]
    return f"{build.name} {build.version} sha256:{digest}"


def baseline_identity(session: Session) -> str | None:
    """Return what an approval is pinned to on the side of the baseline.

    A saved one does not keep the bytes of its scanner: it is what it says of scanner, version, configuration and flags.
    """
    saved = session.settings.baseline
    if saved is None:
        return identity(session, session.settings.candidates[0].name)
    said = [saved.scanner.get(name) for name in _SAVED]
    if not all(said[:3]):
        return None
    digest = hashlib.sha256(json.dumps(["saved", *said]).encode()).hexdigest()[:_DIGITS]
    return f"{said[0]} {said[1]} sha256:{digest}"


def with_approvals(session: Session, baseline: str, candidate: str, real: Real) -> Real:
    """Return the same, with the groups that people have approved for these two candidates."""
    approvals = [approval for beside in session.all_beside() for approval in beside.approvals]
    if not approvals:
        return real
    pins = _pins(session, baseline, candidate, real)
    return replace(real, approved=approved(real.groups(), approvals, pins.__getitem__))


def _pins(session: Session, baseline: str, candidate: str, real: Real) -> dict[str, Pins]:
    """Return what approvals are pinned to in each repository: both candidates may have its own configuration."""
    known = {
        one.own: (identity(session, baseline, one.own[0]), identity(session, candidate, one.own[1]))
        for one in real.compared
    }
    return {one.repository: known[one.own] for one in real.compared}


def upgrades_of(session: Session, candidate: str) -> tuple[Upgrade, ...]:
    """Return what people have accepted that a candidate no longer finds of what the baseline does."""
    pinned = baseline_identity(session), identity(session, candidate)
    return tuple(
        upgrade
        for beside in session.all_beside()
        for upgrade in beside.upgrades
        if (upgrade.baseline, upgrade.candidate) == pinned
    )


def written_in(session: Session) -> Path:
    """The file that approvals of this run are written to: a comparison is the project's, and no configuration's."""
    return session.settings.root / NAME


def group_items(
    session: Session, candidate: str, real: Real, group: Group, said: Mapping[str, str]
) -> Iterator[tuple[Group, dict[str, Any]]]:
    """Yield the lines that approve a group between the first candidate and another, each with the part that it is for.

    One, or where repositories are scanned with their own configuration, one for all that have the same. `said` is why
    and since when.
    """
    pins = _pins(session, session.settings.candidates[0].name, candidate, real)
    together: defaultdict[Pins, list[str]] = defaultdict(list)
    for name in group.repositories:
        together[pins[name]].append(name)
    for (baseline, reviewed), names in together.items():
        part = replace(group, repositories=tuple(names))
        yield part, group_item(part, {"baseline": baseline, "candidate": reviewed}, said)


def is_masked(group: Group) -> bool:
    """Return whether the id of its rule is masked: then nobody can tell it from another one that is."""
    return MASK in group.rule_id


def group_item(group: Group, pinned: Mapping[str, str | None], said: Mapping[str, str]) -> dict[str, Any]:
    """Return the line that approves a group and no other, `pinned` to both candidates; `said` is why and since when."""
    return {
        "kind": group.kind,
        # Each is read as a pattern.
        "rule": escape(group.rule_id),
        "cause": group.proven_cause and escape(group.proven_cause),
        "repositories": list(map(escape, group.repositories)),
        # Of what has no known cause, more may have another one; suppressions are in no identity.
        **({"findings": group.count} if not group.proven_cause or group.proven_cause.startswith(SUPPRESSED) else {}),
        **pinned,
        **said,
    }


def upgrade_item(
    session: Session, candidate: str, rules: tuple[str, ...], places: tuple[str, ...], said: Mapping[str, str]
) -> dict[str, Any]:
    """Return the line that accepts what another build no longer finds; `said` is why and since when."""
    lost = {"rules": list(rules), "places": list(places)}
    return {**{key: found for key, found in lost.items() if found}, **pinned_to(session, candidate), **said}


def pinned_to(session: Session, candidate: str) -> dict[str, str | None]:
    """Return what a line says of the baseline and of a candidate that it holds for."""
    return {"baseline": baseline_identity(session), "candidate": identity(session, candidate)}
