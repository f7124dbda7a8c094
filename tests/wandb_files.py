"""Files of W&B's client, as wandb 0.31 writes them: a log of LevelDB's with messages of wandb_internal.proto."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping

BLOCK_BYTES = 32 * 2**10
MAGIC = b":W&B\xe1\xbe"


def field(number, value):
    """A field of a message; bytes, or a whole number below 128."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value):
    return bytes([value & 127 | 128]) + _varint(value >> 7) if value > 127 else bytes([value])


def items(repeated, values):
    return b"".join(
        field(repeated, field(2, name.encode()) + field(16, json.dumps(value).encode())) for name, value in values.items()
    )


def written(*records):
    """A file of wandb's with these records, split at the ends of blocks."""
    data = MAGIC + b"\0"
    for record in records:
        kind = 1
        while True:
            room = BLOCK_BYTES - len(data) % BLOCK_BYTES
            if room < 7:
                data += bytes(room)
                room = BLOCK_BYTES
            part, record = record[: room - 7], record[room - 7 :]
            kind = (1 if not record else 2) if kind == 1 else (4 if not record else 3)
            head = bytes([kind])
            data += struct.pack("<IHB", zlib.crc32(head + part), len(part), kind) + part
            if not record:
                break
    return data


def begins(run_id: str, start: int, config: Mapping[str, object]) -> bytes:
    """The record of a run."""
    return field(17, field(1, run_id.encode()) + field(4, items(1, config)) + field(17, b"\x08" + _varint(start)))


def logs(values: Mapping[str, object]) -> bytes:
    """The record of a step."""
    return field(2, items(1, values))


def ends(code: int) -> bytes:
    """The record of an exit."""
    return field(18, field(1, code))
