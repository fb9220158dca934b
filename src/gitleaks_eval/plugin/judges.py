"""The hooks for the tests of judges: which there are, and the verdict that each shows."""

from collections.abc import Collection, Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from gitleaks_eval.checks.result import ERROR
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.options import Root
from gitleaks_eval.core.text import printable
from gitleaks_eval.engine.judging.judging import Judging, check_sdk, planned_for_pairs, refuse_too_many_calls
from gitleaks_eval.engine.judging.pairs import PairwiseJudge, check_pairwise
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.judges.dimensions.shipped import SHIPPED
from gitleaks_eval.judges.judge import JUDGE_NODE, Case, Judge
from gitleaks_eval.judges.settings import read_judge_settings
from gitleaks_eval.judges.verdict import NOT_APPLICABLE, UNSCORED, Verdict
from gitleaks_eval.plugin.command_line import is_narrowed, only_shows
from gitleaks_eval.plugin.fixtures import parameters_of, register_parameter
from gitleaks_eval.plugin.folders import JUDGES
from gitleaks_eval.plugin.outcome import show_message_only

CASE: pytest.StashKey[Case] = pytest.StashKey()
VERDICT: pytest.StashKey[Verdict] = pytest.StashKey()


def begin_judging(
    config: pytest.Config, root: Root, session: Session, *, alone: bool
) -> tuple[Judging | None, PairwiseJudge | None]:
    """Return the judges of one candidate, None where there are several; and how pairs are judged, None where none is.

    Raises:
        InputError: when something that the user gave is wrong on sight.
    """
    settings, compares = read_judge_settings(root, session.settings.output), session.settings.compares
    check_sdk(settings)
    pairwise = PairwiseJudge(settings) if compares else None
    if pairwise:
        check_pairwise(settings)
    if len(session.settings.candidates) > 1:
        refuse_too_many_calls(settings, 0, planned_for_pairs(session.settings, settings))
        return None, pairwise
    judges = list(SHIPPED)
    ask_users(config, judges)
    judging = Judging(session, settings, judges, alone=alone)
    if config.getoption("tx", None) and not is_narrowed(config):
        # What is known before workers start need not wait until they have collected.
        judging.refuse_too_many_calls(judging.cases)
    return judging, pairwise


def ask_users(config: pytest.Config, judges: list[Judge]) -> None:
    """Let a user's conftest or package change the list."""
    source = "pytest_gitleaks_eval_judges"
    try:
        returned = config.hook.pytest_gitleaks_eval_judges(judges=judges)
    except Exception as error:  # noqa: BLE001 - it is the user's code, which may raise anything
        raise InputError(f"{source}: it raises {type(error).__name__}: {printable(str(error))}") from None
    if returned:
        raise InputError(f"{source}: what it returns is not looked at; change the list in place (judges[:] = ...)")
    if wrong := [judge for judge in judges if not isinstance(judge, Judge)]:
        raise InputError(f"{source}: {printable(repr(wrong[0]))[:100]} is no gitleaks_eval.judges.Judge")


def register_judges(config: pytest.Config, judging: Judging) -> None:
    """Let the tests of judges ask for what they need, and attach what they leave."""
    config.pluginmanager.register(JudgeHooks(judging), "gitleaks_eval_judging")


@dataclass(frozen=True, slots=True)
class JudgeHooks:
    """The hooks for the tests of judges."""

    judging: Judging

    @pytest.hookimpl(wrapper=True)
    def pytest_pycollect_makemodule(
        self, module_path: Path
    ) -> Generator[None, pytest.Module | None, pytest.Module | None]:
        """Give the module of judges its fixtures: nearer than a user's conftest.py."""
        module = yield
        if module and module_path.parent == JUDGES:
            _register_fixtures(module, self.judging)
        return module

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put the judges behind the checks."""
        items.sort(key=lambda item: _case(item) is not None)

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Attach to a judge's test what it is."""
        if case := _case(item):
            item.stash[CASE] = case

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Select the judges that call; where they are too many, nothing begins."""
        names = {item.stash[CASE].name for item in session.items if CASE in item.stash}
        if not hasattr(session.config, "workerinput"):
            self._select(names)
            return
        self.judging.select(names)
        if not only_shows(session.config):
            self.judging.leave_selected()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Select what a worker has collected, before the first test is run."""
        tests = (nodeid.partition(JUDGE_NODE) for nodeid in ids)
        self._select({name.removesuffix("]") for _, is_ours, name in tests if is_ours})

    def _select(self, names: Collection[str]) -> None:
        self.judging.select(names)
        try:
            self.judging.refuse_too_many_calls(self.judging.selected)
        except InputError as error:
            raise pytest.UsageError(str(error)) from None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the verdict, and show our own failures without our internals."""
        report = yield
        if CASE not in item.stash:
            return report
        verdict = item.stash.get(VERDICT, None)
        if report.when != "teardown" and not report.user_properties:
            error = call.excinfo.value if call.excinfo else None
            item.user_properties.extend(_properties(verdict) if verdict else ())
            if isinstance(error, EvaluationError):
                item.user_properties.extend(_of_error(verdict, error))
            report.user_properties = list(item.user_properties)
        show_message_only(report, call)
        return report


def _register_fixtures(node: pytest.Module, judging: Judging) -> None:
    cases = judging.cases

    def verdict(judge: Case, request: pytest.FixtureRequest) -> Verdict:
        """Return what the judge concluded; that there is no score is an error of the test, never a score."""
        found = judging.verdict(judge)
        request.node.stash[VERDICT] = found
        if found.outcome == UNSCORED and not found.advisory:
            raise EvaluationError(f"{judge.name} is unscored ({found.unscored_kind}): {printable(found.reasoning)}")
        return found

    def pass_score() -> float:
        """Return the score that a verdict has to reach, 1 to 5."""
        return judging.settings.pass_score

    about = "Return the judge of this test, and the evaluation mode that it judges in."
    register_parameter(node, "judge", about, cases, (case.name for case in cases))
    pytest.register_fixture(name="verdict", func=verdict, node=node)
    pytest.register_fixture(name="pass_score", func=pass_score, node=node, scope="session")


def _case(item: pytest.Item) -> Case | None:
    case = parameters_of(item).get("judge")
    return case if isinstance(case, Case) else None


def _properties(verdict: Verdict) -> list[tuple[str, object]]:
    properties: list[tuple[str, object]] = [("dimension", verdict.dimension), ("verdict", verdict.outcome)]
    if verdict.outcome == NOT_APPLICABLE:
        properties.append(("outcome", "not_applicable"))
    if verdict.score is not None:
        properties += [("score", verdict.score), ("raw_score", verdict.raw_score)]
    if verdict.unscored_kind:
        properties.append(("unscored_kind", verdict.unscored_kind))
    return properties


def _of_error(verdict: Verdict | None, error: EvaluationError) -> Iterator[tuple[str, object]]:
    """Yield what the terminal tells once for all judges: the message without the name of one."""
    yield "outcome", ERROR
    yield "message", f"unscored ({verdict.unscored_kind}): {printable(verdict.reasoning)}" if verdict else str(error)
