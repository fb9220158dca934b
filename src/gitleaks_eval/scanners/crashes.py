"""Scans that a scanner neither finished nor refused: each is kept, whatever another scan of the same says."""

from pathlib import Path

from gitleaks_eval.core.text import few, numbered

_SCANS, _CRASHES = "scans-started", "scans-crashed"


def count_scan(folder: Path) -> None:
    """Count a scan of the candidate whose private folder this is."""
    _append(folder / _SCANS, ".")


def keep_crash(folder: Path, how: str) -> None:
    """Keep how a scan ended that crashed; `how` is a line that quotes nothing of what was scanned."""
    _append(folder / _CRASHES, f"{how}\n")


def crashed_scans(folder: Path) -> str:
    """Return `1 of 17 scans crashed (signal 11)`, or nothing where no scan of this folder did."""
    try:
        crashes = (folder / _CRASHES).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return ""
    scans = numbered((folder / _SCANS).stat().st_size, "scan")
    return f"{len(crashes)} of {scans} crashed ({few(sorted(set(crashes)))})"


def _append(file: Path, text: str) -> None:
    # Threads and processes write at once: so little is written whole.
    with file.open("ab", buffering=0) as opened:
        opened.write(text.encode("utf-8"))
