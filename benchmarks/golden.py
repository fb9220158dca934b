"""Records of what the product prints and writes in many situations, to hold a change of the code against.

`nox -s golden -- record FOLDER` runs each situation of golden.yaml; with `compare BEFORE AFTER` it shows what differs.
"""

import difflib
import json
import os
import random
import re
import string
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

SITUATIONS = Path(__file__).with_name("golden.yaml")
# What differs from run to run: times, temporary folders, hashes of what holds them.
PASSING = (
    (re.compile(r"\b\d+(\.\d+)? ?(ms|s|seconds)\b"), "<time>"),
    (re.compile(r"\d{4}-\d\d-\d\dT[0-9:.+Z]+"), "<when>"),
    (re.compile(re.escape(tempfile.gettempdir()) + r"/[\w./-]+"), "<temporary>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|(?<![0-9]\.)\b[0-9a-f]{12,64}\b"), "<hash>"),
    (re.compile(r"\b\d+ \(\d+ to \d+\)|\d\.\d+(?= times as)|\d+ -\\?> (\d+|<time>)"), "<time>"),
    # The last column of the table of candidates.
    (re.compile(r"(?m)^(\S+ +\d\.\d\d .*) \d+$"), r"\1 <time>"),
)
# Keys of JSON reports with times, and with what follows from them.
TIMES = re.compile(r"_ms(_|$)|duration|seconds|_at$|trace_id|time_ratio|peak_kib")


def situations() -> dict[str, dict[str, Any]]:
    """Return the situations of the data file by name."""
    listed: dict[str, dict[str, Any]] = yaml.safe_load(SITUATIONS.read_text(encoding="utf-8"))["situations"]
    return listed


def record(folder: Path, names: list[str]) -> None:
    """Run the situations, and write a text file for each into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = situations()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, text in pool.map(lambda name: (name, recorded(name, listed[name])), names or listed):
            (folder / f"{name}.txt").write_text(text, encoding="utf-8")
            print(name, flush=True)


def recorded(name: str, situation: Mapping[str, Any]) -> str:
    """Run a situation in a folder of its own, and return what it printed and wrote."""
    token = "ghp_" + "".join(random.Random(name).choices(string.ascii_letters + string.digits, k=36))  # noqa: S311 - no secret
    with tempfile.TemporaryDirectory(prefix="golden-") as made:
        folder = Path(made) / name
        for path, text in {"pyproject.toml": "", **situation.get("files", {})}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text.replace("{token}", token), encoding="utf-8")
            (folder / path).chmod(0o755)
        if setup := situation.get("setup"):
            shell(setup.replace("{token}", token), folder)
        parts = [f"$ {command}\n{shell(command, folder)}" for command in situation["commands"]]
        return "".join([*parts, *written(folder / "gitleaks-eval-results")])


def shell(command: str, folder: Path) -> str:
    """Run a command, and return its output and status without what differs from run to run."""
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith(("GITLEAKS_", "PYTEST_"))},
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        **{f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        **dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "2026-01-01T00:00:00Z"),
    }
    done = subprocess.run(  # noqa: S602 - commands of our own data file
        command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False, errors="replace"
    )
    return f"{steady(done.stdout)}{steady(done.stderr)}status {done.returncode}\n"


def written(folder: Path) -> Iterator[str]:
    """Yield the names of the files in a folder of reports, and what the readable ones say."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield f"--- {path.relative_to(folder)}\n"
            if path.suffix == ".md":
                yield steady(path.read_text(encoding="utf-8"))
            elif path.name in {"evaluation_report.json", "comparison.json", "repositories.json"}:
                yield steady(json.dumps(timeless(json.loads(path.read_bytes())), indent=1, sort_keys=True)) + "\n"


def timeless(value: Any) -> Any:
    """Return a JSON value without times: keys that hold them, and rows of checks of performance."""
    if isinstance(value, dict):
        return {key: timeless(below) for key, below in value.items() if not TIMES.search(key)}
    if isinstance(value, list):
        return [timeless(row) for row in value if not isinstance(row, dict) or row.get("category") != "Performance"]
    return value


def steady(text: str) -> str:
    """Return a text without what differs from run to run."""
    for pattern, instead in PASSING:
        text = pattern.sub(instead, text)
    return text


def compare(before: Path, after: Path) -> int:
    """Print how two records differ; return 1 where they do."""
    names = sorted({path.name for folder in (before, after) for path in folder.glob("*.txt")})
    different = 0
    for name in names:
        texts = [
            (folder / name).read_text(encoding="utf-8").splitlines(keepends=True) if (folder / name).exists() else []
            for folder in (before, after)
        ]
        lines = list(difflib.unified_diff(*texts, f"before/{name}", f"after/{name}", n=1))
        different += bool(lines)
        sys.stdout.writelines(lines)
    print(f"{different} of {len(names)} situations differ")
    return int(different > 0)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["record", folder, *names]:
            record(Path(folder), names)
        case ["compare", before, after]:
            sys.exit(compare(Path(before), Path(after)))
        case _:
            sys.exit(__doc__)
