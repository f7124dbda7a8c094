"""Logs that were read before: one that has not changed since, and whose run is on record, is not parsed again.

Only what later logs are compared with is kept of it, so that the answer is the same with and without. Nothing is kept of a log
of which something has to be said each time, nor of one that was changed within the last minute.
"""

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path

from jpo.records import Identity
from jpo.telemetry.outcome import Own

SETTLED_SECONDS = 60.0
"""Since its last change, by which a log counts as settled: the times of some file systems are 2 s apart."""
FEW = 50
"""New logs that are rather parsed again than remembered: what is remembered is saved as a whole."""
LARGEST_BYTES = 256 * 2**20
"""Of what is remembered, unpacked."""
Stamp = tuple[int, int]
"""Size in bytes and time of the last change in ns; the same as long as the file was not changed."""


@dataclass(frozen=True, slots=True)
class ReadLog:
    """What is kept of a log: the workload that it names, and the rest as folder.py knows it.

    `whose`: the workload under which its run is on record; None: it was passed over as another's, and has no `content`.
    """

    stamp: Stamp
    identity: Identity
    run_id: str
    whose: Identity | None = None
    content: str = ""
    early: bool = False


@dataclass(slots=True)
class Memory:
    """The logs that were read before, by path, and those that are read now.

    `reading`: digest of all on which the reading of a log depends; what was read in another way is not used. `changed`: how
    many logs are new in it.
    """

    reading: str = ""
    before: Mapping[str, ReadLog] = field(default_factory=dict)
    current: dict[str, ReadLog] = field(default_factory=dict)
    changed: int = 0

    def of(self, path: Path, stamp: Stamp | None) -> ReadLog | None:
        """What is kept of a log; None where it is not known as it is now."""
        known = self.before.get(str(path))
        return known if known and known.stamp == stamp else None

    def keep(self, path: Path, log: ReadLog) -> None:
        self.changed += self.before.get(str(path)) != log
        self.current[str(path)] = log

    @property
    def worth_saving(self) -> bool:
        return self.changed > max(FEW, len(self.before) // 100)


def stamp_of(path: Path) -> Stamp | None:
    """The stamp of a file; None where there is none."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns


def settled(stamp: Stamp | None, now: float | None) -> bool:
    """Whether a file was not changed in the last minute before `now` (unix seconds)."""
    return stamp is not None and now is not None and stamp[1] / 1e9 < now - SETTLED_SECONDS


def digest_of(content: object) -> str:
    """A digest of what only copies of one log have in common."""
    return hashlib.blake2b(repr(content).encode(), digest_size=16).hexdigest()


def reading_of(own: Own, version: str) -> str:
    """A digest of all on which the reading of a log depends, but for its bytes."""
    return digest_of((version, sorted(own.parameters.items()), sorted(own.metrics.items()), sorted(own.spelt.items())))


def packed(memory: Memory) -> bytes:
    """What is to be remembered of the logs that were read now."""
    each_name = (name for log in memory.current.values() for name in (log.identity, log.whose) if name)
    named = {name: at for at, name in enumerate(dict.fromkeys(each_name))}
    logs = {
        path: [*log.stamp, named[log.identity], log.run_id, named[log.whose] if log.whose else None, log.content, int(log.early)]
        for path, log in memory.current.items()
    }
    document = {"reading": memory.reading, "workloads": [astuple(each) for each in named], "logs": logs}
    return zlib.compress(json.dumps(document, separators=(",", ":")).encode(), level=1)


def unpacked(state: bytes | None, reading: str) -> Memory:
    """What was remembered; nothing where it is damaged, or the logs would be read in another way now."""
    try:
        unpacking = zlib.decompressobj()
        document = json.loads(unpacking.decompress(state or b"", LARGEST_BYTES))
        if document["reading"] != reading:
            return Memory(reading)
        workloads = [Identity(*each) for each in document["workloads"]]
        return Memory(reading, {path: _log(entry, workloads) for path, entry in document["logs"].items()})
    except (zlib.error, ValueError, LookupError, TypeError, AttributeError):
        return Memory(reading)


def _log(entry: list[object], workloads: list[Identity]) -> ReadLog:
    size, changed_at, identity, run_id, whose, content, early = entry
    if not (isinstance(size, int) and isinstance(changed_at, int) and isinstance(identity, int)):
        raise TypeError("an entry of other types")
    if not (isinstance(run_id, str) and isinstance(content, str) and (whose is None or isinstance(whose, int))):
        raise TypeError("an entry of other types")
    owner = None if whose is None else workloads[whose]
    return ReadLog((size, changed_at), workloads[identity], run_id, owner, content, bool(early))
