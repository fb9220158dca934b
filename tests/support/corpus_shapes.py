"""Files of corpora, as others write them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def written(folder: Path, files: Mapping[str, Any]) -> Path:
    """The folder with these files: texts as they are, all else as JSON."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return folder
