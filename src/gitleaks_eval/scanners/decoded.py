"""What stands in a file where a scanner found a secret that it decoded (base64, hex, percent)."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from gitleaks_eval.analysis.decoded import Finding, Spot, spot_of
from gitleaks_eval.repositories.head import contents_of
from gitleaks_eval.repositories.log import LARGEST_TEXT

# Columns are off by one below the first line of a file (scanner-measured): the ends are left out.
_ENDS = 2


def encoded_texts(repository: Path, findings: Sequence[Finding], head: str, seconds: float | None) -> dict[Spot, bytes]:
    """By its spot, the text that each decoded finding was decoded from, but for its ends; `head` is HEAD's commit.

    Raises:
        EvaluationError: when git cannot read the repository, or not in `seconds`.
    """
    by_object: defaultdict[bytes, list[Finding]] = defaultdict(list)
    for finding in findings:
        if any(str(tag).startswith("decoded:") for tag in finding.get("Tags") or ()):
            name = f"{finding['Commit'] or head}:{finding['File']}"
            by_object[name.encode("utf-8", "surrogateescape")].append(finding)
    if not by_object:
        return {}
    contents = contents_of(repository, by_object, LARGEST_TEXT, seconds)
    texts = {
        spot_of(finding): _encoded(content, finding)
        for found, content in zip(by_object.values(), contents, strict=True)
        if content is not None
        for finding in found
    }
    return {spot: text for spot, text in texts.items() if text}


def _encoded(content: bytes, finding: Finding) -> bytes:
    first, last = finding["StartLine"], finding.get("EndLine", finding["StartLine"])
    lines = content.split(b"\n")[first - 1 : last]
    if not lines:
        return b""
    behind = len(lines[-1]) - finding.get("EndColumn", len(lines[-1]))
    text = b"\n".join(lines)
    return text[finding.get("StartColumn", 0) - 1 + _ENDS : len(text) - behind - _ENDS]
