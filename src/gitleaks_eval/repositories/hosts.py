"""Which host a repository is cloned from: of one no more than a few are cloned at once."""

import hashlib
import re
from urllib.parse import urlsplit

from gitleaks_eval.repositories.sources import URL, local_path

CLONES_AT_ONCE = 4
_SCP_LIKE = re.compile(r"(?:[^/:@]+@)?([^/:@]+):")


def host_of(location: str) -> str:
    """Return a word for the host of a repository, fit for a file; empty for this machine."""
    if local_path(location) is not None:
        return ""
    if URL.fullmatch(location):
        host = urlsplit(location).hostname or ""
    else:
        scp = _SCP_LIKE.match(location)
        host = scp[1] if scp else ""
    return hashlib.sha256(host.lower().encode()).hexdigest()[:16]
