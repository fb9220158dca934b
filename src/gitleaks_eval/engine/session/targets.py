"""What is evaluated: scenarios, corpora and real repositories, and the recipes that say what is planted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.corpora.kinds.labels import NAME as LABELS
from gitleaks_eval.corpora.kinds.labels import files_about
from gitleaks_eval.corpora.load import load_corpus
from gitleaks_eval.engine.settings.selection import OPTION as ONLY_OPTION
from gitleaks_eval.engine.settings.settings import Settings
from gitleaks_eval.repositories.sources import real_repositories
from gitleaks_eval.scenarios.recipe import Recipe, load_recipe
from gitleaks_eval.scenarios.scenario import RealRepository, Scenario, load_scenarios


@dataclass(frozen=True, slots=True)
class Subjects:
    """What checks are run on: scenarios (corpora among them), and real repositories; recipes by scenario."""

    scenarios: tuple[Scenario, ...]
    repositories: tuple[RealRepository, ...]
    recipes: Mapping[str, Recipe]

    @property
    def all(self) -> Sequence[Scenario | RealRepository]:
        """The scenarios, and the real repositories after them."""
        return [*self.scenarios, *self.repositories]


def load_subjects(settings: Settings, *, checks: bool = True, judges: bool = False) -> Subjects:
    """Load what the settings name; without `checks` nothing is scanned, and no real repository is looked at.

    Raises:
        InputError: when something named is wrong on sight, two have one name, or nothing is left.
    """
    scenarios = _scenarios(settings)
    repositories = _repositories(settings, scenarios, scans=checks and settings.analyses is None)
    if settings.compares:
        scenarios = [*scenarios, *_own_labels(repositories, scenarios, settings.root)]
    if not scenarios and not repositories and not (checks and settings.surveys):
        only = ",".join(settings.only)
        raise InputError(f"{ONLY_OPTION}={only}: nothing of it is evaluated in this run; leave it out")
    return Subjects(tuple(scenarios), tuple(repositories), _recipes(scenarios, settings.seed, judges=judges))


def _scenarios(settings: Settings) -> list[Scenario]:
    sources = settings.scenario_sources
    scenarios = load_scenarios(sources, settings.scenario_base, settings.analyses) if sources else []
    by_name = {scenario.name: scenario for scenario in scenarios}
    for spec in settings.corpora:
        corpus = load_corpus(spec, settings.corpus_base)
        if settings.analyses:
            corpus = replace(corpus, analysis=settings.analyses / f"{corpus.name}.json")
        if other := by_name.get(corpus.name):
            raise InputError(
                f"--gitleaks-corpus {spec}: two scenarios are named {corpus.name!r}, this one and "
                f"{other.ground_truth}; rename one"
            )
        by_name[corpus.name] = corpus
    return [by_name[name] for name in sorted(by_name)] if settings.corpora else scenarios


def _repositories(settings: Settings, scenarios: Sequence[Scenario], *, scans: bool) -> Sequence[RealRepository]:
    named = settings.real_repositories
    if named is None or (not scans and not named.named_by.startswith("--")):
        return ()
    if not scans:
        raise InputError(f"{named.named_by}: a real repository is scanned: run with --gitleaks-eval, without analyses")
    return real_repositories(named.value, named.base, [scenario.name for scenario in scenarios])


def _own_labels(
    repositories: Sequence[RealRepository], scenarios: Sequence[Scenario], root: Path
) -> Iterator[Scenario]:
    """Return the labels of compared repositories that the project has in `labels/`, where no option names them."""
    named = {scenario.ground_truth for scenario in scenarios}
    for repository in repositories:
        for path in files_about(repository, root):
            if path.resolve() not in named:
                named.add(path.resolve())
                corpus = load_corpus(f"{LABELS}:{path}", root)
                # A repository and its labels often have one name, and reports are named after both.
                yield replace(corpus, name=f"{corpus.name}-labels")


def _recipes(scenarios: Sequence[Scenario], seed: str, *, judges: bool) -> dict[str, Recipe]:
    # A recipe that is missing is an error of its scenario only; analyses that exist need none, but judges
    # must know what is planted, to keep it to themselves.
    return {
        scenario.name: load_recipe(scenario.recipe).of_run(seed)
        for scenario in scenarios
        if (scenario.analysis is None or judges) and scenario.recipe.exists() and scenario.corpus is None
    }
