"""What a session needs of comparisons, loaded where there are any."""

from typing import TYPE_CHECKING

from gitleaks_eval.core.later import loaded_later

if TYPE_CHECKING:
    from gitleaks_eval.engine import comparing, obeying

    __all__ = ["comparing", "obeying"]
else:
    __getattr__ = loaded_later(
        "gitleaks_eval.engine.comparing",
        "gitleaks_eval.engine.obeying",
    )
