"""Time series packed into bytes for the store: lossless, compressed by zlib.

Times and values are 64-bit floats, little-endian. Times are written as steps, differences of the floats' bits read as whole
numbers: they are restored exactly, and are nearly all equal where samples are taken at regular intervals.
"""

import struct
import zlib
from collections.abc import Sequence
from itertools import accumulate

from jpo.errors import StoreError

FORMAT = b"1"
"""The first byte says how the rest is written."""
MAX_SAMPLES = 1 << 20
"""Limit for one quantity of one run: half a year in steps of 15 seconds. Data that claim to hold more are not unpacked."""
_BITS = 2**64


def pack(times: Sequence[float], values: Sequence[float]) -> bytes:
    """Times and values as bytes. Raises StoreError: JPO-E508, more than MAX_SAMPLES."""
    n = len(times)
    if n > MAX_SAMPLES:
        finding = f"{n} samples of one run cannot be recorded"
        raise StoreError("history", finding, f"at most {MAX_SAMPLES}; ask for a coarser step", code="JPO-E508")
    bits = struct.unpack(f"<{n}Q", struct.pack(f"<{n}d", *times))
    steps = [(later - earlier) % _BITS for earlier, later in zip((0, *bits), bits, strict=False)]
    return FORMAT + zlib.compress(struct.pack(f"<{n}Q{n}d", *steps, *values))


def unpack(packed: bytes) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The times and values of `pack`, with memory bounded by MAX_SAMPLES for any bytes.

    Raises ValueError: they are not what `pack` writes.
    """
    if packed[:1] != FORMAT:
        raise ValueError("samples are in a format that this version does not know")
    expander = zlib.decompressobj()
    try:
        raw = expander.decompress(packed[1:], 16 * MAX_SAMPLES)
    except zlib.error as error:
        raise ValueError(f"samples cannot be unpacked: {error}") from error
    if not expander.eof or expander.unused_data or len(raw) % 16:
        raise ValueError("samples are cut off or too many")
    n = len(raw) // 16
    bits = accumulate(struct.unpack_from(f"<{n}Q", raw), lambda sum_, step: (sum_ + step) % _BITS)
    return struct.unpack(f"<{n}d", struct.pack(f"<{n}Q", *bits)), struct.unpack_from(f"<{n}d", raw, 8 * n)
