"""Two candidates on the real repositories: what each pair differs in, and why; made once a run."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from itertools import starmap
from operator import attrgetter
from typing import Any

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.once import made_once
from gitleaks_eval.core.text import printable
from gitleaks_eval.engine.real.causes import causes_of
from gitleaks_eval.engine.real.commits import broken_lines, compared_commits
from gitleaks_eval.engine.scan.masks import masks_made
from gitleaks_eval.engine.scan.real_findings import FoundInReal, read_findings
from gitleaks_eval.engine.session.approvals import with_approvals
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.scenarios.scenario import RealRepository
from gitleaks_eval.scenarios.secrets import MASK
from gitleaks_eval.scoring.real_differences import (
    Other,
    Real,
    RealComparison,
    RealDifference,
    RealFinding,
    changes,
    folded,
    suppressed,
)


def compared_repositories(session: Session, baseline: str, candidate: str) -> Real:
    """Return what a candidate differs in from another on all real repositories of the run.

    One that could not be evaluated for one of the two is a problem: nothing is known of it.
    """
    each = [_compared_or_problem(session, baseline, candidate, repository) for repository in session.repositories]
    problems = [printable(one) for one in each if isinstance(one, str)]
    real = Real(tuple(one for one in each if isinstance(one, RealComparison)), tuple(dict.fromkeys(problems)))
    return with_approvals(session, baseline, candidate, real)


def _compared_or_problem(
    session: Session, baseline: str, candidate: str, repository: RealRepository
) -> RealComparison | str:
    try:
        return compared_repository(session, baseline, candidate, repository)
    except EvaluationError as error:
        return str(error)


def compared_repository(session: Session, baseline: str, candidate: str, repository: RealRepository) -> RealComparison:
    """Return what a candidate differs in from another on one repository, with the cause of each difference.

    Raises:
        EvaluationError: when one of the two could not scan it; it names the candidate.
    """
    names = [one.name for one in session.settings.candidates]
    folder = session.folder / "compared" / f"{names.index(baseline)}-{names.index(candidate)}" / repository.name

    def make() -> Any:
        sides = [_found(session, name, repository) for name in (baseline, candidate)]
        return _left(_comparison(session, (baseline, candidate), repository, *sides))

    return _read(made_once(folder, make))


def _found(session: Session, name: str, repository: RealRepository) -> FoundInReal:
    workbench = session.workbench(name)
    try:
        workbench.document(repository)
    except EvaluationError as error:
        raise EvaluationError(f"{name}: {error}") from None
    found = read_findings(workbench.bench, repository.name)
    if found is None:
        raise EvaluationError(f"{name}: repository {repository.name}: its findings are not there")
    return found


def _comparison(
    session: Session,
    names: tuple[str, str],
    repository: RealRepository,
    baseline: FoundInReal,
    candidate: FoundInReal,
) -> RealComparison:
    if baseline.commit != candidate.commit:
        raise EvaluationError(f"repository {repository.name}: the two candidates scanned different commits; run again")
    shown: dict[str, str] = {}
    for one in (*baseline.findings, *candidate.findings):
        # What one of the two has found in a path is masked for both.
        if one.file_path.count(MASK) >= shown.get(one.path_key, "").count(MASK):
            shown[one.path_key] = one.file_path

    renamed = compared_commits(session, names, repository)

    def sides(*lists: Sequence[RealFinding]) -> list[list[RealFinding]]:
        return [
            [_as_compared(finding, shown[finding.path_key], commits) for finding in findings]
            for findings, commits in zip(lists, renamed, strict=True)
        ]

    raw = sides(baseline.findings, candidate.findings)
    same, found = changes(*raw)
    causes = causes_of(session, names, repository, found, raw)
    times, peaks = (baseline.scan_ms, candidate.scan_ms), (baseline.peak_kib, candidate.peak_kib)
    own = baseline.own, candidate.own
    masks = masks_made(session.workbench(names[0]).bench, repository.name)
    raw_paths = {masked: path for path, masked in masks.shown.items()}
    broken = broken_lines(session, names[1], repository, found, raw_paths)
    rows = folded(found, causes, raw)
    compared = RealComparison(repository.name, baseline.commit, len(same), rows, times, peaks, own=own, broken=broken)
    if baseline.production is None or candidate.production is None:
        return compared
    production_sides = sides(baseline.production, candidate.production)
    same, found = changes(*production_sides)
    causes |= suppressed(found, raw, names)
    production = RealComparison(repository.name, baseline.commit, len(same), folded(found, causes, production_sides))
    return replace(compared, production=production)


def _as_compared(real_finding: RealFinding, path: str, commits: Mapping[str, str]) -> RealFinding:
    commit = commits.get(real_finding.commit, "")
    if real_finding.file_path == path and not commit:
        return real_finding
    return real_finding._replace(file_path=path, compared_commit=commit)


def _left(real_comparison: RealComparison) -> dict[str, Any]:
    plain = {name: getattr(real_comparison, name) for name in _PLAIN}
    # There may be a hundred thousand.
    rows = list(map(_IN_ORDER, real_comparison.differences))
    return {
        **plain,
        "differences": rows,
        "production": _left(real_comparison.production) if real_comparison.production else None,
    }


def _read(document: Mapping[str, Any]) -> RealComparison:
    rows: Sequence[Sequence[Any]] = document["differences"]
    both = {name: tuple(document[name]) if document[name] else None for name in ("times_ms", "peaks_kib")}
    return RealComparison(
        repository=document["repository"],
        commit=document["commit"],
        same=document["same"],
        differences=tuple(RealDifference(*[*row[:-1], tuple(starmap(Other, row[-1]))]) for row in rows),
        production=_read(document["production"]) if document["production"] else None,
        own=tuple(document["own"]),
        broken=document["broken"],
        **both,
    )


_PLAIN = ("repository", "commit", "same", "times_ms", "peaks_kib", "own", "broken")
_IN_ORDER = attrgetter(*(field.name for field in fields(RealDifference)))
