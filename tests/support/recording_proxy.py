"""TCP proxies that keep all that passes, and what of planted values stands in it, however it is written."""

import base64
import contextlib
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

WINDOW = 8


@dataclass
class Recorded:
    """All that has passed: by connection and direction, in one piece each."""

    streams: list[bytearray] = field(default_factory=list)

    @contextlib.contextmanager
    def before(self, port: int) -> Iterator[int]:
        """A proxy before a port of this machine, which may not be open yet; its own port."""
        threads: list[threading.Thread] = []
        over = threading.Event()
        with socket.create_server(("127.0.0.1", 0)) as server:
            threads.append(_thread(self._accept, server, port, over, threads))
            yield server.getsockname()[1]
            over.set()
            # Whoever waits in accept() is woken by that.
            server.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join(10)

    def _accept(self, server: socket.socket, port: int, over: threading.Event, threads: list[threading.Thread]) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = server.accept()
                threads.append(_thread(self._serve, near, port, over))

    def _serve(self, near: socket.socket, port: int, over: threading.Event) -> None:
        with near, _connected(port, over) as far:
            if far is None:
                return
            kept = bytearray(), bytearray()
            self.streams += kept
            back = _thread(_pump, far, near, kept[1])
            _pump(near, far, kept[0])
            back.join()


def _thread(target: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=target, args=arguments, daemon=True)
    thread.start()
    return thread


def _pump(one: socket.socket, other: socket.socket, kept: bytearray) -> None:
    with contextlib.suppress(OSError):
        while piece := one.recv(1 << 16):
            kept += piece
            other.sendall(piece)
    # The other direction ends as well: a killed process must not look as if it were there.
    for end in (one, other):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def _connected(port: int, over: threading.Event) -> Iterator[socket.socket | None]:
    """A connection as soon as somebody listens there, who may still be starting; None where nobody does to the end."""
    while not over.is_set():
        try:
            connection = socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            over.wait(0.1)
            continue
        with connection:
            yield connection
        return
    yield None


def forms(value: str) -> set[bytes]:
    """Pieces of a value, beyond its public prefix, as they may be written: raw, reversed, in hex, base64 and JSON."""
    found: set[bytes] = set()
    for start in range(5, len(value) - WINDOW + 1):
        piece = value[start : start + WINDOW].encode()
        found |= {piece, piece[::-1], piece.hex().encode(), piece.hex().upper().encode()}
        found.add("".join(f"\\u{byte:04x}" for byte in piece).encode())
        for skipped in range(3):
            # The characters that stand for whole bytes of the piece, wherever it begins.
            written = base64.b64encode(bytes(skipped) + piece)[-(-8 * skipped // 6) : 8 * (skipped + WINDOW) // 6]
            found |= {written, written.translate(bytes.maketrans(b"+/", b"-_"))}
    return found


def revealed(values: Iterable[str], *texts: bytes) -> list[bytes]:
    """The pieces of planted values that stand in these texts, in any of their forms."""
    text = b"\0".join(texts)
    return sorted(piece for piece in set().union(*map(forms, values)) if piece in text)
