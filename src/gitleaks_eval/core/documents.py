"""Reading what others wrote: a file may be no file at all, and what it holds may be made to exhaust whoever reads it.

Each format has one function here, or in `yaml_documents.py`. A document that is too large or too deep is refused.
"""

import errno
import hashlib
import json
import math
import os
import stat
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from gitleaks_eval.core.errors import InputError, unreadable

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DEEPEST = 100
LARGEST_JSON = 512 << 20
LARGEST_TEXT = 8 << 20
LARGEST_TOML = 1 << 20
LONGEST_INTEGER = 1000
_TOO_DEEP = f"more than {DEEPEST} lists or objects in each other"


class DocumentError(ValueError):
    """A document that is not of its format, or beyond a bound; the text says what is wrong, and where if it can."""


def named_path(text: str, base: Path, named_by: str) -> Path:
    """Return the path that the user wrote: `~` is expanded, and what is relative is relative to `base`.

    Raises:
        InputError: when no file or folder can be there; `named_by` says who named it.
    """
    try:
        return checked_path(base / Path(text).expanduser(), named_by)
    except RuntimeError:
        raise InputError(f"{named_by}: {text[:200]}: there is no such home folder; write the path in full") from None


def checked_path(path: Path, named_by: str) -> Path:
    """Return the path, if there can be something of that name; whether there is something is for others to say.

    Raises:
        InputError: when it holds a NUL, is too long, or is a link in a circle.
    """
    try:
        path.stat()
    except ValueError:
        problem = "its name holds a NUL"
    except OSError as error:
        if error.errno not in {errno.ENAMETOOLONG, errno.ELOOP}:
            return path
        problem = str(error.strerror)
    else:
        return path
    raise InputError(f"{named_by}: {str(path)[:200]}: {problem}; name another one")


def read_input(path: Path, at_most: int = LARGEST_JSON) -> bytes:
    """Return the content of a regular file: a pipe would keep us waiting, and a device may never end.

    Raises:
        OSError: when it cannot be read, is a folder, pipe, device or socket, or has more than `at_most` bytes.
    """
    with opened(path) as file:
        content = file.read(at_most + 1)
    if len(content) > at_most:
        raise OSError(errno.EFBIG, f"it has more than {at_most >> 20} MiB", str(path))
    return content


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a regular file, in hex.

    Raises:
        OSError: as `read_input`, whatever its size.
    """
    digest = hashlib.sha256()
    with opened(path) as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Yield a regular file, open for reading.

    Raises:
        OSError: when it cannot be opened, or is a folder, pipe, device or socket.
    """
    try:
        file = open(path, "rb", opener=_open_at_once)  # noqa: SIM115 - closed below
    except ValueError:
        # Python's own word for a name that no operating system takes.
        raise OSError(errno.EINVAL, "its name holds a NUL", str(path)) from None
    with file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is a pipe, device or socket; name a file", str(path))
        yield file


def read_json(path: Path, what: str, at_most: int = LARGEST_JSON) -> Any:
    """Parse a JSON file of the user's; `what` says what it is.

    Raises:
        InputError: when it cannot be read (and why) or parsed (line and column), or is beyond a bound.
    """
    try:
        return parse_json(read_input(path, at_most))
    except OSError as error:
        raise unreadable(what, path, error) from None
    except DocumentError as error:
        raise InputError(f"{what} {path}: {error}") from None


def parse_json(content: bytes, *, any_number: bool = False) -> Any:
    """Return the value of a JSON document, in which no object has a key twice.

    Args:
        content: the document in any encoding that JSON allows.
        any_number: take NaN, Infinity, and as infinite what has more digits than Python reads; else refuse them.

    Raises:
        DocumentError: when it is no JSON (line and column), or is beyond a bound.
    """
    more: dict[str, Any] = {"parse_int": _integer_or_infinite} if any_number else {"parse_constant": _no_number}
    try:
        document = json.loads(content, object_pairs_hook=_unique, **more)
    except json.JSONDecodeError as error:
        problem = f"line {error.lineno}, column {error.colno}: not JSON: {error.msg}"
    except DocumentError as error:
        problem = f"not JSON that can be read: {error}"
    except UnicodeDecodeError:
        problem = "not JSON that can be read: it is no UTF-8"
    except RecursionError:
        problem = f"not JSON that can be read: {_TOO_DEEP}"
    except ValueError:
        problem = "not JSON that can be read: a number has thousands of digits"
    else:
        if not is_deeper(document, DEEPEST):
            return document
        problem = f"not JSON that can be read: {_TOO_DEEP}"
    raise DocumentError(problem)


def parse_toml(content: bytes) -> dict[str, Any]:
    """Return the tables of a TOML document.

    Raises:
        DocumentError: when it is no TOML (line and column), or is beyond a bound.
    """
    if len(content) > LARGEST_TOML:
        raise DocumentError(f"it has more than {LARGEST_TOML >> 20} MiB")
    try:
        document = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problem = str(error)
    except RecursionError:
        problem = _TOO_DEEP
    except ValueError:
        problem = "a number has thousands of digits, or a date is none"
    else:
        if not is_deeper(document, DEEPEST):
            return document
        problem = _TOO_DEEP
    raise DocumentError(problem)


def is_deeper(document: object, depth: int) -> bool:
    """Return whether lists and objects stand in each other more than `depth` times; recursion would not come back."""
    level: list[Any] = [document]
    for _ in range(depth + 1):
        level = [value for value in level if isinstance(value, (dict, list))]
        if not level:
            return False
        level = [value for one in level for value in (one.values() if isinstance(one, dict) else one)]
    return True


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise DocumentError(f"the key {twice[:100]!r} stands twice in one object")
    return members


def _no_number(name: str) -> None:
    raise DocumentError(f"{name} is no JSON number")


def _integer_or_infinite(digits: str) -> float:
    # The check that looks at such a number fails, and no other.
    if len(digits) < LONGEST_INTEGER:
        return int(digits)
    return -math.inf if digits.startswith("-") else math.inf


def _open_at_once(path: str, flags: int) -> int:
    # Already opening a pipe waits for who is at its other end.
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
