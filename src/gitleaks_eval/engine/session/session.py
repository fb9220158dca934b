"""What one process of a run knows: settings, subjects, and the analyses that each candidate has of them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from itertools import chain
from pathlib import Path

from gitleaks_eval.analysis.envelope import Analysis
from gitleaks_eval.checks.result import Identity
from gitleaks_eval.config.eval_file import Beside, file_at, files_beside, is_of_build
from gitleaks_eval.config.names import NAME
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig, effective_config_of
from gitleaks_eval.coverage.rules.own_tests import check_tests
from gitleaks_eval.engine.scan.shared import Bench, Shared
from gitleaks_eval.engine.scan.workbench import Workbench
from gitleaks_eval.engine.session.comparing import Comparing
from gitleaks_eval.engine.session.targets import Subjects
from gitleaks_eval.engine.session.version_semantics import Obeyed, lost_by_obeying, obeyed_beside
from gitleaks_eval.engine.settings.candidates import Candidate, Trial
from gitleaks_eval.engine.settings.settings import Settings
from gitleaks_eval.scanners.build import ScannerBuild
from gitleaks_eval.scanners.limits import limits
from gitleaks_eval.scenarios.places import Place
from gitleaks_eval.scenarios.scenario import RealRepository, Scenario, corpus_sha256
from gitleaks_eval.scenarios.secrets import DEFAULT_SEED


class Session:
    """One run, as one of its processes sees it.

    `shared` is None until the run is laid out, and in a run that only collects. Units run in `executor`, or without one
    in threads of this process. `builds` are what is known of the scanners of candidates before, `beside` what stands
    beside the configuration of each. An `exact` one takes the time to count all that each entry hides.
    Without `reads_beside` it knows nothing that people have accepted.

    Raises:
        InputError: when something is wrong in what stands beside a configuration.
    """

    def __init__(  # noqa: PLR0913 - what only the caller knows, each under its name
        self,
        settings: Settings,
        subjects: Subjects,
        shared: Shared | None = None,
        *,
        executor: Executor | None = None,
        exact: bool = False,
        reads_beside: bool = True,
    ) -> None:
        self.settings = settings
        self.shared = shared
        self.exact = exact
        self.builds: Mapping[str, ScannerBuild | None] = {}
        self.beside: Mapping[str, tuple[Beside, ...]] = {
            candidate.name: _beside(candidate, settings.root) if reads_beside else ()
            for candidate in settings.candidates
        }
        for besides in self.beside.values():
            for beside in besides:
                if beside.tests:
                    check_tests(beside)
        self._of_root = tuple(file_at(settings.root / NAME)) if settings.compares and reads_beside else ()
        self._subjects = subjects
        self._executor = executor
        self._workbenches: dict[str, Workbench] = {}
        self._others: dict[str, Workbench] = {}
        self._comparing: Comparing | None = None
        self._obeyed: dict[str, Obeyed] = {}

    @property
    def scenarios(self) -> Sequence[Scenario]:
        """The scenarios, corpora among them."""
        return self._subjects.scenarios

    @property
    def repositories(self) -> Sequence[RealRepository]:
        """The real repositories."""
        return self._subjects.repositories

    @property
    def subjects(self) -> Sequence[Scenario | RealRepository]:
        """What checks are run on: the scenarios, and the real repositories after them."""
        return self._subjects.all

    @property
    def trials(self) -> Sequence[Trial]:
        """Each candidate on each subject."""
        return [Trial(candidate.name, subject) for candidate in self.settings.candidates for subject in self.subjects]

    @property
    def folder(self) -> Path:
        """The private folder of the run.

        Raises:
            EvaluationError: when the run only collects.
        """
        return Path(self._known().folder)

    def all_beside(self) -> Sequence[Beside]:
        """Return what stands beside any configuration, and in rootdir where candidates are compared; each once."""
        return list({one.path: one for one in (*self._of_root, *chain.from_iterable(self.beside.values()))}.values())

    def build(self, candidate: str) -> ScannerBuild | None:
        """Return the scanner of a candidate; None where there is none, or it was not looked for."""
        if self.shared is None:
            return self.builds.get(candidate)
        return self.shared.benches[candidate].build

    def workbench(self, candidate: str | None = None) -> Workbench:
        """Return the analyses of a candidate (the first, unless one is named); made when first asked for.

        Raises:
            EvaluationError: when the run only collects.
        """
        return self._all_workbenches()[self.settings.candidates[0].name if candidate is None else candidate]

    def analysis(self, trial: Trial) -> Analysis:
        """Return the analysis that a candidate has of a scenario or real repository.

        Raises:
            EvaluationError: when it cannot be had.
        """
        return self.workbench(trial.candidate).analysis(trial.subject)

    @property
    def comparing(self) -> Comparing | None:
        """What a failure is compared with; None where nothing is compared."""
        if self._comparing is None and self.settings.compares and self.shared:
            saved = self.settings.baseline
            name = saved.name if saved else self.settings.candidates[0].name
            self._comparing = Comparing(
                name,
                saved,
                self.settings.accepts_review,
                self._all_workbenches(),
                self.lost_by_obeying,
            )
        return self._comparing

    def subject(self, candidate: str, seed: str = DEFAULT_SEED) -> EffectiveConfig:
        """Return the configuration of a candidate, as its build reads it.

        Raises:
            EvaluationError: when there is no scanner, or nothing is scanned.
        """
        one = self.settings.candidate(candidate)
        build = self.build(candidate)
        if build is None or one.configuration is None:
            raise EvaluationError("there is no scanner to ask")
        return effective_config_of(one.configuration, build, seed)

    def obeyed(self, candidate: str) -> Obeyed:
        """Return what the version of a candidate obeys in its configuration, and that of the baseline ignores.

        Raises:
            EvaluationError: when one of the two has no scanner.
        """
        saved, first = self.settings.baseline, self.settings.candidates[0].name
        if not self.settings.compares or self.settings.analyses or (saved is None and candidate == first):
            return Obeyed()
        if candidate not in self._obeyed:
            self._obeyed[candidate] = obeyed_beside(self.subject(candidate), saved or self.subject(first))
        return self._obeyed[candidate]

    def lost_by_obeying(self, candidate: str, subject: Scenario | RealRepository) -> Collection[Place]:
        """Return the findings of a scenario that a candidate would have if its version ignored that, too.

        Raises:
            EvaluationError: when its scan fails.
        """
        if not isinstance(subject, Scenario):
            return ()
        return lost_by_obeying(self.obeyed(candidate), self.workbench(candidate), subject)

    def start(self, identities: Iterable[Identity]) -> None:
        """Start the analyses that these checks need, for each candidate in this order."""
        names: dict[str, dict[str, None]] = {candidate.name: {} for candidate in self.settings.candidates}
        for identity in identities:
            if identity.scenario:
                names[identity.candidate][identity.scenario] = None
        for candidate, of_candidate in names.items():
            self.workbench(candidate).start(of_candidate)

    def bench(self, candidate: str) -> Bench:
        """Return what all processes know of a candidate.

        Raises:
            EvaluationError: when the run only collects.
        """
        return self._known().benches[candidate]

    def workbench_of(self, bench: Bench) -> Workbench:
        """Return the workbench of a bench that is no candidate's; made when first asked for."""
        if bench.folder not in self._others:
            self._others[bench.folder] = Workbench(
                bench, self.subjects, self._subjects.recipes, executor=self._executor
            )
        return self._others[bench.folder]

    def close(self) -> None:
        """Stop what still runs and wait for its end."""
        for workbench in (*self._workbenches.values(), *self._others.values()):
            workbench.close()

    def _all_workbenches(self) -> Mapping[str, Workbench]:
        if not self._workbenches:
            shown_before = self._shown_before()
            self._workbenches = {
                name: Workbench(
                    bench,
                    self.subjects,
                    self._subjects.recipes,
                    executor=self._executor,
                    benches=self._known().benches.values(),
                    shown_before=shown_before,
                )
                for name, bench in self._known().benches.items()
            }
        return self._workbenches

    def _shown_before(self) -> Mapping[str, frozenset[str]]:
        """Return the paths that a saved baseline of the same truth has, by scenario."""
        saved = self.settings.baseline
        if saved is None or saved.corpus_sha256 != corpus_sha256(self.scenarios):
            return {}
        return {name: matching.truth_paths() for name, matching in saved.matchings.items()}

    def _known(self) -> Shared:
        if self.shared is None:
            raise EvaluationError("nothing is evaluated while tests are only collected")
        return self.shared


def _beside(candidate: Candidate, root: Path) -> tuple[Beside, ...]:
    """Return what stands beside a configuration; without one, what is accepted in rootdir of a build and its flags."""
    if candidate.configuration is None or candidate.configuration.chain:
        return files_beside(candidate.configuration)
    flags = {limit.text for limit in limits(candidate.args)}
    found = []
    for one in file_at(root / NAME, (0,)):
        accepts = tuple(two for two in one.accepts if is_of_build(two.entry) or two.entry in flags)
        found += [Beside(one.path, one.layers, accepts=accepts)] * bool(accepts)
    return tuple(found)
