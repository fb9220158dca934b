"""Decide what takes part in this process, from the options, or accept entries instead; loaded only where it does."""

import pickle
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from gitleaks_eval.checks.marked import category_marker
from gitleaks_eval.config.names import NAMES
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.private_folder import stay_in
from gitleaks_eval.core.process import die_with_parent
from gitleaks_eval.engine.acceptance.accepting import accept, asked_at_terminal
from gitleaks_eval.engine.scan.shared import Shared
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.session.targets import load_subjects
from gitleaks_eval.engine.settings.selection import DEFAULT, ENTRIES, FORMATS, PLACES, RULES
from gitleaks_eval.engine.settings.selection import SURVEYS as SURVEY_KINDS
from gitleaks_eval.engine.settings.settings import Settings, begin_reports, read_settings
from gitleaks_eval.plugin.begin import Begin
from gitleaks_eval.plugin.command_line import TYPED, is_narrowed, only_shows, typed
from gitleaks_eval.plugin.folders import SURVEYS, is_shipped
from gitleaks_eval.plugin.items import register_items
from gitleaks_eval.plugin.root import effective_root
from gitleaks_eval.plugin.state import WORKER_INPUT, TakingPart
from gitleaks_eval.scoring.scorecard import CATEGORIES


def activate(config: pytest.Config, *, checks: bool, judges: bool) -> None:
    """Read the settings and register what takes part in this process.

    Raises:
        pytest.UsageError: when something that the user gave is wrong on sight.
    """
    # Now that all plugins are there, and before a test removes an `@file`.
    config.stash[TYPED] = typed(config)
    # Before anything private is on the disk: a corpus may be cloned here.
    _stop_on_signals()
    worker_input = getattr(config, "workerinput", None)
    is_worker = worker_input is not None
    # The process that started this one has written it.
    shared: Shared | None = pickle.loads(worker_input[WORKER_INPUT]) if worker_input else None  # noqa: S301
    if shared:
        die_with_parent()
        config.add_cleanup(stay_in(Path(shared.folder)).release)
    try:
        root = effective_root(config)
        if not is_worker and not only_shows(config):
            # Before anything else can be wrong: no run that ends here leaves the decision of another as its own.
            begin_reports(root, narrowed=is_narrowed(config))
        settings = _with_named(read_settings(root, reads_reports=judges and not checks), config)
        if shared:
            # A random one is drawn once a run.
            settings = replace(settings, seed=shared.seed)
        session = Session(settings, load_subjects(settings, checks=checks, judges=judges), shared)
        part = TakingPart(session, checks)
        if judges:
            from gitleaks_eval.plugin.judges import begin_judging  # noqa: PLC0415 - few runs ask judges

            judging, pairwise = begin_judging(config, root, session, alone=not checks)
            part = TakingPart(session, checks, judging, pairwise)
        begin = None if is_worker else Begin(config, part)
    except InputError as error:
        raise pytest.UsageError(str(error)) from None
    if begin:
        config.pluginmanager.register(begin, "gitleaks_eval_controller")
    else:
        register_items(config, part)
    if part.judging:
        from gitleaks_eval.plugin.judges import register_judges  # noqa: PLC0415 - as above

        register_judges(config, part.judging)
    for category in CATEGORIES:
        config.addinivalue_line("markers", f"{category_marker(category)}: the category {category}")
    config.addinivalue_line("markers", "finding: the test of an expected finding, or of unexpected ones")
    for kind in (RULES, PLACES, FORMATS, ENTRIES):
        config.addinivalue_line("markers", f"{kind}: the tests of {kind} of the configuration under test")


def accept_entries(config: pytest.Config) -> int:
    """Accept the entries of the configuration under test; the exit status.

    Raises:
        pytest.UsageError: when what the user gave is wrong on sight, or nothing can be written.
    """
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture:
        # Else what is typed is not read.
        capture.suspend_global_capture(in_=True)
    try:
        asked = asked_at_terminal(config.getoption("gitleaks_why") or "", asks=not config.getoption("gitleaks_yes"))
        return accept(read_settings(effective_root(config)), asked)
    except InputError as error:
        raise pytest.UsageError(str(error)) from None
    except EvaluationError as error:
        sys.stderr.write(f"gitleaks-eval accept: {error}\n")
        return pytest.ExitCode.TESTS_FAILED


def _with_named(settings: Settings, config: pytest.Config) -> Settings:
    """Return the settings with the kinds of which a test, a module or a file is named: it runs whatever options say."""
    others = [argument for argument in config.args if argument != str(SURVEYS)]
    names_a_survey = any(is_shipped(argument, SURVEYS) for argument in others)
    named = [kind for kind in SURVEY_KINDS if kind in DEFAULT] if names_a_survey else []
    named += [RULES] * any(Path(argument.partition("::")[0]).name in NAMES for argument in others)
    more = (kind for kind in dict.fromkeys(named) if kind not in settings.kinds)
    return replace(settings, kinds=(*settings.kinds, *more))


def _stop_on_signals() -> None:
    """Let SIGTERM (a cancelled CI job) and SIGHUP end the run as Ctrl-C does: what is private is removed."""
    if threading.current_thread() is not threading.main_thread():
        return
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
