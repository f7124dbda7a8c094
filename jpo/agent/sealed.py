"""Tensors and a JSON header in one file that notices damage: safetensors whose metadata carries a SHA-256 over every other byte.

The seal is checked before anything is parsed. It finds accidents (truncation, a flipped bit, a foreign file); it is no signature.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from jpo.agent.state import SCHEMA, SCHEMA_WITHOUT_PHASES, SCHEMA_WITHOUT_QUEUE, WIDTH, WITHOUT_PHASES, WITHOUT_QUEUE
from jpo.errors import StoreError
from jpo.files.reading import json_object

Tensors = dict[str, NDArray[np.generic]]
SEAL = b"jpo-seal-sha256:"
BLANK = b"0" * 64
FORMAT = "jpo agent 3"
"""Of the agent that learns; other sealed files have their own."""
NARROWER = {SCHEMA_WITHOUT_PHASES: WITHOUT_PHASES, SCHEMA_WITHOUT_QUEUE: WITHOUT_QUEUE}
"""Earlier schemas, whose states were the beginning of today's, with their width."""
PLACE = "agent state in the history"
REMEDY = "`jpo learn --rebuild` makes it anew from the recorded runs"


def seal(tensors: Mapping[str, NDArray[Any]], header: Mapping[str, object]) -> bytes:
    """Write tensors and header; `header` must be JSON."""
    text = json.dumps({**header, "seal": (SEAL + BLANK).decode()}, sort_keys=True)
    data = save(dict(tensors), metadata={"jpo": text})  # one key: the order of several is not fixed
    return data.replace(SEAL + BLANK, SEAL + hashlib.sha256(data).hexdigest().encode(), 1)


def unseal(data: bytes, place: str = PLACE, remedy: str = REMEDY) -> tuple[Tensors, dict[str, Any]]:
    """Read what `seal` wrote. Raises StoreError: JPO-E601 if this is no sealed file, or not every byte is as it was written."""
    start = data.find(SEAL) + len(SEAL)
    digest = data[start : start + 64]
    if start < len(SEAL) or hashlib.sha256(data[:start] + BLANK + data[start + 64 :]).hexdigest().encode() != digest:
        raise StoreError(place, "is damaged, cut short or no file of JPO's agent", remedy, code="JPO-E601")
    try:
        size = int.from_bytes(data[:8], "little")
        header = json_object(json_object(data[8 : 8 + size])["__metadata__"]["jpo"])
        return load(data), header
    except (ValueError, KeyError, TypeError, SafetensorError) as error:
        raise StoreError(place, "is sealed, but not as JPO's agent writes it", remedy, code="JPO-E601") from error


def unseal_agent(data: bytes) -> tuple[Tensors, dict[str, Any]]:
    """A saved agent's tensors, and what it says of itself, e.g. `progress` and `updates`; without torch.

    Raises StoreError: JPO-E601 like `unseal`; JPO-E603 if another version of the agent wrote it.
    """
    tensors, header = unseal(data)
    known = widened_to_schema(tensors, header)
    if header.get("format") != FORMAT or known is None:
        raise StoreError(PLACE, "was written by another version of the agent", REMEDY, code="JPO-E603")
    return known, header


def widened_to_schema(tensors: Tensors, header: Mapping[str, Any]) -> Tensors | None:
    """Tensors of a file as today's networks have them; None where they were made for a state that is not known.

    Networks that did not see phases, or a queue, give them no weight, and in states without them they were not known: both are 0.
    """
    if header.get("schema") == SCHEMA:
        return tensors
    width = NARROWER.get(str(header.get("schema")))
    return None if width is None else {name: _widened(name, tensor, width) for name, tensor in tensors.items()}


def _widened(name: str, tensor: NDArray[np.generic], width: int) -> NDArray[np.generic]:
    """Weights (..., width, hidden) of critics and features (..., width), as wide as the state is now."""
    axis = -2 if name.endswith("critics.w0") else -1 if name.endswith("features") else None
    if axis is None or tensor.ndim < 2 or tensor.shape[axis] != width:
        return tensor
    wider = [(0, 0)] * tensor.ndim
    wider[axis] = (0, WIDTH - width)
    return np.pad(tensor, wider)


def header_of(data: bytes) -> dict[str, Any]:
    """What a sealed file says of itself. Raises like `unseal`."""
    return unseal(data)[1]
