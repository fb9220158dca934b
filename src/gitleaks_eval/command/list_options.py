"""The options of `gitleaks-eval compare` for many repositories, and what says that there are many."""

import argparse
from importlib import import_module
from pathlib import Path

# What only a comparison of many repositories has.
SETTINGS = ("shard", "store", "scheduler", "clones_per_host", "parquet")
PARQUET_TEXT = "write repositories.parquet as well (extra parquet)"


def add_list_options(parser: argparse.ArgumentParser, *, whole_alone: bool = False) -> None:
    """Add them to the parser of a subcommand; without those of parts and tables where it wants the `whole_alone`."""
    group = parser.add_argument_group("with --repo @FILE or a folder of clones")
    parser.set_defaults(**dict.fromkeys(SETTINGS))
    if not whole_alone:
        text = "compare only the K-th of N parts, and write one file for `merge`; alone: what the CI's variables say"
        group.add_argument("--shard", nargs="?", const="", metavar="K/N", help=text)
        group.add_argument("--parquet", action="store_const", const=True, help=PARQUET_TEXT)
    text = "where comparisons are kept that need not be made again; comparison-store in the output folder"
    group.add_argument("--store", metavar="DIR|URL", help=text)
    text = "hand the work to the Dask cluster at this address (extra dask); without it, to all cores of this machine"
    group.add_argument("--scheduler", metavar="ADDRESS", help=text)
    text = "how many repositories are cloned from one host at once; 4"
    group.add_argument("--clones-per-host", metavar="NUMBER", help=text)


def names_many(options: argparse.Namespace) -> bool:
    """Return whether a comparison is of many repositories, or was asked for what only such a one has."""
    values = options.gitleaks_real_repo or ()
    if any(getattr(options, name) is not None for name in SETTINGS):
        return True
    if not values:
        return False
    # Imported when asked for: `--version` needs none of it.
    is_list = import_module("gitleaks_eval.repositories.listed").is_list
    return any(is_list(value, Path.cwd()) for value in values)
