"""A route to a PostgreSQL server that goes dead at a given byte: a frozen server, a hung pooler, a dropped entry of a NAT.

What was sent before that byte is passed on, nothing after it, and no connection is closed. Without a byte it only counts.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Direction = Literal["to server", "to client"]


@dataclass
class Route:
    """What went through.

    Attributes:
        pieces: (direction, byte at which a piece of it begins), in the order in which they came.
        stopped: the byte was reached.
    """

    url: str
    pieces: list[tuple[Direction, int]] = field(default_factory=list)
    passed: dict[Direction, int] = field(default_factory=lambda: {"to server": 0, "to client": 0})
    stopped: threading.Event = field(default_factory=threading.Event)


@contextmanager
def freezing(
    server: Path | tuple[str, int],
    database: str,
    at: tuple[Direction, int] | None = None,
    *,
    dead: bool = False,
    parameters: str = "sslmode=disable",
) -> Iterator[Route]:
    """A route to the server whose socket is in a folder, or at an address; `parameters`: how a client connects.

    It is silent from byte `at` on in that direction; `dead`: closed instead.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    route = Route(f"postgresql://jpo@127.0.0.1:{listener.getsockname()[1]}/{database}?{parameters}&gssencmode=disable")
    open_sockets: list[socket.socket] = []

    def passes(source: socket.socket, target: socket.socket, direction: Direction) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                route.pieces.append((direction, route.passed[direction]))
                if at is not None and at[0] == direction and route.passed[direction] + len(data) > at[1]:
                    target.sendall(data[: max(0, at[1] - route.passed[direction])])
                    route.passed[direction] = at[1]
                    route.stopped.set()
                    if not dead:
                        return
                    for one in (source, target):
                        one.shutdown(socket.SHUT_RDWR)
                    return
                route.passed[direction] += len(data)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def accepts() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                open_sockets.append(client)
                upstream = _connected(server)
                open_sockets.append(upstream)
                threading.Thread(target=passes, args=(client, upstream, "to server"), daemon=True).start()
                threading.Thread(target=passes, args=(upstream, client, "to client"), daemon=True).start()

    accepting = threading.Thread(target=accepts, daemon=True)
    accepting.start()
    try:
        yield route
    finally:
        with listener:
            listener.shutdown(socket.SHUT_RDWR)
        accepting.join(5)
        for one in open_sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


def _connected(server: Path | tuple[str, int]) -> socket.socket:
    if isinstance(server, tuple):
        return socket.create_connection(server)
    upstream = socket.socket(socket.AF_UNIX)
    upstream.connect(str(server / ".s.PGSQL.5432"))
    return upstream
