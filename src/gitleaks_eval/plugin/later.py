"""What is loaded while the first scans are under way, or in few runs."""

from typing import TYPE_CHECKING

from gitleaks_eval.core.later import loaded_later

if TYPE_CHECKING:
    from gitleaks_eval.engine import coverage
    from gitleaks_eval.plugin import finish, items, judges
    from gitleaks_eval.reports import files

    __all__ = ["coverage", "files", "finish", "items", "judges"]
else:
    __getattr__ = loaded_later(
        "gitleaks_eval.engine.coverage",
        "gitleaks_eval.plugin.finish",
        "gitleaks_eval.plugin.items",
        "gitleaks_eval.plugin.judges",
        "gitleaks_eval.reports.files",
    )
