"""Where a user's conftest.py or package has a say, beyond checks and scenarios."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from gitleaks_eval.judges import Judge


@pytest.hookspec
def pytest_gitleaks_eval_judges(judges: "list[Judge]") -> None:
    """Add, remove or reweight judges in place, before they are collected; the weights must then sum to 1.

    .. code-block:: python

        # conftest.py
        from dataclasses import replace


        def pytest_gitleaks_eval_judges(judges):
            judges[:] = [replace(one, weight=0.25) for one in judges]
    """
