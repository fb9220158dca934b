"""The modules of the plugin that are loaded when they are needed: a run without us pays none, a scan waits for few."""

from typing import TYPE_CHECKING

from gitleaks_eval.core.later import modules_of

if TYPE_CHECKING:
    from gitleaks_eval.plugin import accepting, activate, arguments, finish, items, judges

    __all__ = ["accepting", "activate", "arguments", "finish", "items", "judges"]
else:
    __getattr__ = modules_of("gitleaks_eval.plugin")
