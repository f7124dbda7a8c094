"""Order: what a supervisor is to do, and its answer once the command was started. Both pass through pipes, never through files:
the environment of a job may hold secrets."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Order:
    """What to start, and what it is held to.

    Attributes:
        folder: of the run in the ledger.
        start_in: where the command starts.
        environment: all of it.
        cpus: numbers of those that it is bound to; empty: to none.
        leases: descriptors of what it holds; given back before its end is written down.
        longest_seconds, most_gib: beyond which it is ended; None: never.
        grace_seconds: between asking it to end and ending it.
    """

    command: tuple[str, ...]
    folder: Path
    start_in: Path
    environment: Mapping[str, str]
    cpus: tuple[int, ...] = ()
    leases: tuple[int, ...] = ()
    longest_seconds: float | None = None
    most_gib: float | None = None
    grace_seconds: float = 10.0


def packed(order: Order) -> bytes:
    return json.dumps(asdict(order), default=str).encode()


def unpacked(sent: bytes) -> Order:
    found = json.loads(sent)
    paths = {name: Path(found[name]) for name in ("folder", "start_in")}
    lists = {name: tuple(found[name]) for name in ("command", "cpus", "leases")}
    return Order(**{**found, **paths, **lists})
