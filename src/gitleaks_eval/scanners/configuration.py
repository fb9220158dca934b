"""Which configuration is under test: the named one, else the one that the scanner itself would take."""

import os
from collections.abc import Callable
from pathlib import Path

from gitleaks_eval.config.chain import BUILTIN, OWN, Configuration, chain_of
from gitleaks_eval.core.documents import named_path
from gitleaks_eval.scanners import GITLEAKS, SCANNERS, Sources


def choose_configuration(
    named: tuple[str, Path, str] | None,
    root: Path,
    invocation: Path,
    sources: Callable[[], Sources] = lambda: GITLEAKS.sources,
) -> Configuration:
    """Return the configuration under test: as named, else what the scanner itself would take here.

    Args:
        named: the text that the user gave, the folder that it is relative to, and the option that gave it.
        root: pytest's rootdir; files are looked for in it, then at the top of the git repository around it.
        invocation: the folder pytest was started in, for paths in variables and `[extend] path`.
        sources: where the scanner looks; asked only where scanners differ in what they would take.

    Raises:
        InputError: when a file is missing, unreadable, no TOML, has no rules, or extends itself.
    """
    if named is None:
        return _found(_sources_here(root, sources), root, invocation)
    text, base, why = named
    if text in {BUILTIN, OWN}:
        return Configuration((), why, own=text == OWN)
    return Configuration(chain_of(named_path(text, base, why), why, invocation), why)


def _found(sources: Sources, root: Path, invocation: Path) -> Configuration:
    for name in sources.paths:
        if text := os.environ.get(name):
            return choose_configuration((text, invocation, name), root, invocation)
    for name in sources.contents:
        if text := os.environ.get(name):
            why = "content of a variable"
            return Configuration(chain_of(Path(name), why, invocation, text.encode("utf-8", "surrogateescape")), why)
    for place, folder in _folders(root).items():
        for name in sources.files:
            if _is_there(folder / name):
                return choose_configuration((name, folder, f"found in {place}"), root, invocation)
    return Configuration((), f"no {' or '.join(sources.files)} in {' or at '.join(_folders(root))}")


def _is_there(path: Path) -> bool:
    # A link to nothing is there to be read: the scanner would go on with its own rules, and nobody would know.
    return path.exists() or path.is_symlink()


def _folders(root: Path) -> dict[str, Path]:
    """Where the file of a scanner may stand: a scan in production begins at git's top level."""
    top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)
    return {"rootdir": root} if top == root else {"rootdir": root, "the top of the git repository": top}


def _sources_here(root: Path, sources: Callable[[], Sources]) -> Sources:
    """Return the sources of the scanner, which has to be asked only where there is one that not all scanners know."""
    known = [adapter.sources for adapter in SCANNERS.values()]
    variables = {name for one in known for name in one.paths} - set(GITLEAKS.sources.paths)
    variables |= {name for one in known for name in one.contents}
    files = {name for one in known for name in one.files} - set(GITLEAKS.sources.files)
    there = (folder / name for folder in _folders(root).values() for name in files)
    differ = any(map(os.environ.get, variables)) or any(map(_is_there, there))
    return sources() if differ else GITLEAKS.sources
