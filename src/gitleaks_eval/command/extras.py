"""What needs a package that not everybody installs: imported where it is asked for, and named where it is missing."""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.engine.fleet.fleet import Workers
from gitleaks_eval.engine.fleet.run import LaidOut

Table = Callable[[Iterable[bytes]], Iterator[bytes]]


def dask_workers(address: str, laid: LaidOut, clones: int) -> Workers:
    """Return the workers of a Dask cluster; at most `clones` of them clone from one host at once.

    Raises:
        InputError: when Dask is not installed, or nobody answers at the address.
    """
    module = _imported("gitleaks_eval.engine.fleet.dask", "distributed", "--scheduler: needs Dask", "dask")
    workers: Workers = module.DaskWorkers(address, laid.job, clones, laid.seconds_at_most)
    return workers


def table_maker(*, asked: bool) -> Table | None:
    """Return what makes repositories.parquet; None where it is not asked for.

    Raises:
        InputError: when pyarrow is not installed.
    """
    if not asked:
        return None
    module = _imported("gitleaks_eval.reports.fleet.parquet", "pyarrow", "--parquet: needs pyarrow", "parquet")
    made: Table = module.parquet_pieces
    return made


def _imported(module: str, package: str, problem: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
    raise InputError(f"{problem}; pip install 'gitleaks-eval[{extra}]'")
