"""What files of the usual places hold where a text with two placeholders cannot say it."""

import base64
import gzip
import io
import tarfile
import textwrap
import zipfile
from collections.abc import Callable, Iterator, Mapping

from gitleaks_eval.coverage.places.places import STANDARD, Place, Planted

ENCODED = "data = {text}\n"
# git looks for a NUL in this much of a file before it calls it binary.
LOOKED_AT_BY_GIT = 8000
LONG_LINE = 200_000
MEGABYTE = 1 << 20
MANY_LINES = 50_000
WRAPPED_AT = 76
# Names and messages: git keeps no line of a file there.
_VALUE_ALONE = frozenset(
    f"git:{case}" for case in "symlink_target branch_name file_name commit_message tag_message".split()
)


def content_of(place: Place, secret: Planted) -> bytes:
    """The bytes of the file of a place, with this secret in them."""
    if place.generator:
        return _GENERATORS[place.generator](secret)
    return _filled(place.content, secret).encode()


def holding_the_standard(secrets: Mapping[Place, Planted]) -> frozenset[str]:
    """Return the titles of the places that hold what form:plain holds: a rule that finds it there finds it in them."""
    return frozenset(
        place.title
        for place, secret in secrets.items()
        if place.title not in _VALUE_ALONE and _standard(secret).encode() in content_of(place, secret)
    )


def _filled(template: str, secret: Planted) -> str:
    return template.replace("{name}", secret.name).replace("{value}", secret.value)


def _standard(secret: Planted) -> str:
    return _filled(STANDARD, secret)


def _encoded(text: bytes | str) -> bytes:
    return ENCODED.replace("{text}", text if isinstance(text, str) else text.decode("ascii")).encode()


def _base64url(secret: Planted) -> bytes:
    # The signs around the value have other letters in this alphabet than in the usual one, wherever they stand.
    return _encoded(base64.urlsafe_b64encode(f"~~~???{secret.value}???~~~?".encode()))


def _wrapped(secret: Planted) -> bytes:
    """Base64 in lines, where the value begins on one and ends on the next."""
    a_line = WRAPPED_AT // 4 * 3
    before = "-" * (a_line - min(len(secret.value) // 2, a_line))
    text = base64.b64encode((before + secret.value + "\n").encode()).decode()
    return ("\n".join(textwrap.wrap(text, WRAPPED_AT)) + "\n").encode()


def _split(secret: Planted, joint: str) -> bytes:
    middle = len(secret.value) // 2
    return f'{secret.name} = "{secret.value[:middle]}{joint}{secret.value[middle:]}"\n'.encode()


def _minified(secret: Planted) -> bytes:
    script = "".join(f"var a{number}={number};" for number in range(MEGABYTE // 32))
    return f'<script>{script}var {secret.name}="{secret.value}";{script}</script>'.encode()


def _zipped(name: str, content: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        # The same bytes on every machine and day.
        archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return held.getvalue()


def _tarred(secret: Planted) -> bytes:
    held, content = io.BytesIO(), _standard(secret).encode()
    with tarfile.open(fileobj=held, mode="w") as archive:
        entry = tarfile.TarInfo("settings.txt")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(held.getvalue(), mtime=0)


def _lines(count: int) -> Iterator[str]:
    return (f"{number}: nothing to see here\n" for number in range(count))


def _below(size: int, secret: Planted) -> bytes:
    """Lines of so many bytes in all, and the secret below them."""
    line = "a line of a file as long as many are, with nothing in it that anybody hides\n"
    return (line * (size // len(line) + 1) + _standard(secret)).encode()


def _at_column(column: int, secret: Planted) -> bytes:
    return f'{"words " * (column // 6 + 1)}{secret.name} = "{secret.value}"\n'.encode()


def _listed(secret: Planted) -> bytes:
    values = enumerate((secret.value, *secret.more))
    return "".join(f'{secret.name}_{number} = "{value}"\n' for number, value in values).encode()


def _large(secret: Planted) -> bytes:
    half = ("x" * 79 + "\n") * (MEGABYTE // 160)
    return (half + _standard(secret) + half).encode()


_GENERATORS: dict[str, Callable[[Planted], bytes]] = {
    "utf16le": lambda secret: b"\xff\xfe" + _standard(secret).encode("utf-16-le"),
    "utf16be": lambda secret: b"\xfe\xff" + _standard(secret).encode("utf-16-be"),
    "latin1": lambda secret: f"# Schlüssel für Zürich\n{secret.name} = {secret.value}\n".encode("latin-1"),
    "base64": lambda secret: _encoded(base64.b64encode(secret.value.encode())),
    "base64x2": lambda secret: _encoded(base64.b64encode(base64.b64encode(secret.value.encode()))),
    "base64url": _base64url,
    "b64wrapped": _wrapped,
    "hex": lambda secret: _encoded(secret.value.encode().hex()),
    "percent": lambda secret: _encoded("".join(f"%{byte:02X}" for byte in secret.value.encode())),
    "unicode_escape": lambda secret: _encoded("".join(f"\\u{ord(sign):04x}" for sign in secret.value)),
    "html_entity": lambda secret: f"<p>{''.join(f'&#{ord(sign)};' for sign in secret.value)}</p>\n".encode(),
    "split_plus": lambda secret: _split(secret, '" + "'),
    "split_lines": lambda secret: _split(secret, "\\\n"),
    "long_line": lambda secret: f'{"x " * LONG_LINE}{secret.name} = "{secret.value}" {"x " * LONG_LINE}\n'.encode(),
    "minified": _minified,
    "big_1mb": _large,
    "nul_after_8k": lambda secret: ("#" * 99 + "\n").encode() * 100 + b"\0\n" + _standard(secret).encode(),
    "many_lines": lambda secret: ("".join(_lines(MANY_LINES)) + _standard(secret)).encode(),
    # Its own first line is a comment.
    "line_20": lambda secret: ("".join(_lines(18)) + _standard(secret)).encode(),
    "line_60": lambda secret: ("".join(_lines(58)) + _standard(secret)).encode(),
    "line_600": lambda secret: ("".join(_lines(598)) + _standard(secret)).encode(),
    "column_250": lambda secret: _at_column(250, secret),
    "column_5000": lambda secret: _at_column(5_000, secret),
    "file_25kb": lambda secret: _below(25_000, secret),
    "file_120kb": lambda secret: _below(120_000, secret),
    "thousand": _listed,
    "gzip": lambda secret: gzip.compress(_standard(secret).encode(), mtime=0),
    "zip": lambda secret: _zipped("settings.txt", _standard(secret)),
    "docx": lambda secret: _zipped("word/document.xml", f"<w:t>{secret.value}</w:t>"),
    "targz": _tarred,
}
