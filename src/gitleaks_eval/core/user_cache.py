"""Our folder in the cache of the user."""

from pathlib import Path

from platformdirs import user_cache_path

from gitleaks_eval.core.errors import EvaluationError


def cache_folder() -> Path:
    """Our folder in the user's cache, readable by the user alone (mode 0700).

    Raises:
        EvaluationError: when it cannot be made.
    """
    folder = user_cache_path("gitleaks-eval", appauthor=False)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise EvaluationError(
            f"the cache {folder} cannot be made: {error.strerror}; set XDG_CACHE_HOME to a folder that can"
        ) from None
    return folder
