"""A model as a file: a line with its hash, then model.json, then its arrays as safetensors. Reading it runs nothing.

    jpo phases model, sha256:<64 hexadecimal digits of all that follows>
    <bytes of model.json, as a decimal number>
    {"format": "jpo phases", "schema": 1, "method": "markov", ...}
    <safetensors>

The hash finds accidents (a truncation, a flipped bit, an edited text); it is no signature. So everything is checked again for
what it must be: shapes, finite numbers, probabilities. A model of another schema is refused, not guessed at.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from jpo.errors import UsageError
from jpo.files.reading import beginning, contents, json_object
from jpo.plugins.phases.chain import Chain, Ints
from jpo.plugins.phases.features import Scaler
from jpo.plugins.phases.files.units import LONGEST_SECONDS, SHORTEST_SECONDS
from jpo.plugins.phases.model import MostUsed, PhaseModel
from jpo.plugins.phases.requests.caution import MISSES, STEPS
from jpo.plugins.phases.requests.demand import RESOURCES, Bools, Positions
from jpo.plugins.phases.traces import Floats

HEAD = b"jpo phases model, sha256:"
FORMAT, SCHEMA = "jpo phases", 1
LARGEST_BYTES = 64 << 20
"""A model has some hundred kilobytes."""
LARGEST_NUMBER = 1e18
"""Of any: an exabyte, or more seconds than there were; squares and quotients of such numbers are numbers."""
LARGEST_SCALED = 1e9
"""Of what is scaled, where 1 is usual."""
MOST_PHASES = 127
"""As many as a path of phases can name."""
NUMBERS = ("misses", "interval_seconds", "least_density", "executions", "samples")

Arrays = Mapping[str, NDArray[np.generic]]
Part = TypeVar("Part")


def encoded(model: PhaseModel) -> bytes:
    """The bytes of a model's file; the same model, the same bytes."""
    head = {
        "format": FORMAT,
        "schema": SCHEMA,
        "method": model.method,
        **scaler_head(model.scaler),
        "caution": list(model.caution),
        "notes": list(model.notes),
        **{name: getattr(model, name) for name in NUMBERS},
    }
    arrays = {
        **scaler_arrays(model.scaler),
        **{f"chain.{field.name}": getattr(model.chain, field.name) for field in fields(Chain)},
        **({f"needs.{field.name}": getattr(model.needs, field.name) for field in fields(Positions)} if model.needs else {}),
        "first_need": model.most.first,
        "peak": model.most.ever,
        **model.weights,
    }
    return sealed(head, arrays)


def scaler_head(scaler: Scaler) -> Mapping[str, object]:
    return {"features": list(scaler.names), "kept": list(scaler.kept), "left_out": list(scaler.notes)}


def scaler_arrays(scaler: Scaler) -> Mapping[str, Floats]:
    return {"scaler.centre": scaler.centre, "scaler.scale": scaler.scale}


def decoded_scaler(head: Mapping[str, object], arrays: Arrays) -> Scaler:
    names, kept = _texts(head, "features"), _counts(head, "kept")
    _require(len(kept) > 0 and all(at < len(names) for at in kept), "keeps features that it does not name")
    scale = _floats(arrays, "scaler.scale", (len(kept),))
    _require(bool((scale >= 1 / LARGEST_NUMBER).all()), "has a scale that is not above 0")
    return Scaler(names, kept, _floats(arrays, "scaler.centre", (len(kept),)), scale, _texts(head, "left_out"))


def decoded_weights(arrays: Arrays) -> Mapping[str, Floats]:
    """The arrays of a method's own, checked for numbers."""
    return {name: _floats(arrays, name, arrays[name].shape) for name in arrays if name.startswith("method.")}


def sealed(head: Mapping[str, object], arrays: Arrays) -> bytes:
    text = json.dumps(head, sort_keys=True, allow_nan=False).encode()
    body = b"%d\n%s\n%s" % (len(text), text, save({name: np.ascontiguousarray(array) for name, array in arrays.items()}))
    return HEAD + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def begins_as_model(path: Path) -> bool:
    """Whether a file begins as this one's do, however it goes on; UsageError JPO-E732 where it cannot be read."""
    return beginning(path, len(HEAD), lambda finding: _refused(path, finding)) == HEAD


def read_model(path: Path) -> PhaseModel:
    """The model in a file.

    Raises UsageError: JPO-E732, it cannot be read, is no model, not every byte is as it was written, or it is of another schema.
    """
    return opened(path, FORMAT, _decoded)


def opened(path: Path, kind: str, decoded: Callable[[Mapping[str, object], Arrays], Part]) -> Part:
    """What a file of a format says; raises as `read_model` does."""
    data = contents(path, LARGEST_BYTES, lambda finding: _refused(path, finding))
    if not data.startswith(HEAD):
        raise _refused(path, "is not a model of jpo phases")
    start = len(HEAD) + 64
    if data[start : start + 1] != b"\n" or hashlib.sha256(data[start + 1 :]).hexdigest().encode() != data[len(HEAD) : start]:
        raise _refused(path, "is damaged or cut short: its bytes do not match its hash")
    try:
        size, _, rest = data[start + 1 :].partition(b"\n")
        length = int(size)
        head = json_object(rest[:length])
        _require(head.get("format") == kind, f"is not a {kind.removeprefix(FORMAT).strip() or 'model'} of jpo phases")
        _require(head.get("schema") == SCHEMA, f"has schema {head.get('schema')!r:.20}; this version of JPO reads {SCHEMA}")
        return decoded(head, load(rest[length + 1 :]))
    except (ValueError, KeyError, TypeError, SafetensorError) as error:
        finding = str(error) if isinstance(error, Unfit) else "matches its hash, but does not say what a model says"
        raise _refused(path, finding) from error


class Unfit(ValueError):
    """What a model must not say."""


def _decoded(head: Mapping[str, object], arrays: Arrays) -> PhaseModel:
    scaler = decoded_scaler(head, arrays)
    d = len(scaler.kept)
    k = len(arrays["chain.start"])
    _require(1 <= k <= MOST_PHASES, f"has {k} phases")
    shapes = {"start": (k,), "transitions": (k, k), "means": (k, d), "variances": (k, d)}
    chain = Chain(**{name: _floats(arrays, f"chain.{name}", shape, LARGEST_SCALED) for name, shape in shapes.items()})
    sums = np.r_[chain.start.sum(), chain.transitions.sum(1)]
    probable = chain.start.min() >= 0 and chain.transitions.min() >= 0 and bool((np.abs(sums - 1) < 1e-6).all())
    _require(probable, "has transitions that are not probabilities")
    _require(bool((chain.variances >= 1 / LARGEST_SCALED).all()), "has a variance that is not above 0")
    caution = _counts(head, "caution")
    _require(len(caution) == RESOURCES and all(step < len(STEPS) for step in caution), "has no caution for CPU and memory")
    most = MostUsed(*(_floats(arrays, name, (RESOURCES,)) for name in ("first_need", "peak")))
    interval_seconds = _number(head, "interval_seconds")
    positive = min(most.first.min(), most.ever.min()) >= 0 and SHORTEST_SECONDS <= interval_seconds <= LONGEST_SECONDS
    _require(bool(positive), "has needs below 0, or no time between samples, or more than a day")
    misses = _number({"misses": MISSES, **head}, "misses")  # earlier models do not say it
    _require(0 < misses < 1, "promises no share of the samples")
    executions, samples = (_counts({name: [head[name]]}, name)[0] for name in ("executions", "samples"))
    _require(1 <= executions <= samples, f"has {executions} executions of {samples} samples")
    return PhaseModel(
        method=_texts({"method": [head["method"]]}, "method")[0],
        scaler=scaler,
        chain=chain,
        needs=_positions(arrays, k) if "needs.phase" in arrays else None,
        caution=(caution[0], caution[1]),
        most=most,
        interval_seconds=interval_seconds,
        least_density=_number(head, "least_density"),
        executions=executions,
        samples=samples,
        notes=_texts(head, "notes"),
        weights=decoded_weights(arrays),
        misses=misses,
    )


def _positions(arrays: Arrays, k: int) -> Positions:
    array = arrays["needs.phase"]
    n = len(array)
    _require(array.shape == (n,) and array.dtype == np.int64, "has no phases of positions")
    phase: Ints = array.astype(np.int64)
    _require(bool(((phase >= 0) & (phase < k)).all()), "has phases that it does not know")
    positions = Positions(
        phase=phase,
        dwell_seconds=_floats(arrays, "needs.dwell_seconds", (n,)),
        level=_floats(arrays, "needs.level", (n, RESOURCES)),
        next_need=_floats(arrays, "needs.next_need", (n, RESOURCES)),
        next_stays=_flags(arrays, "needs.next_stays", n),
        soon_need=_floats(arrays, "needs.soon_need", (n, RESOURCES)),
        soon_stays=_flags(arrays, "needs.soon_stays", n),
    )
    used = (positions.level, positions.next_need, positions.soon_need, positions.dwell_seconds)
    _require(n > 0 and all((values >= 0).all() for values in used), "has positions with needs below 0, or none")
    return positions


def _flags(arrays: Arrays, name: str, n: int) -> Bools:
    array = arrays[name]
    _require(array.shape == (n,) and array.dtype == np.bool_, f"has no {name}")
    return array.astype(np.bool_)


def _floats(arrays: Arrays, name: str, shape: tuple[int, ...], largest: float = LARGEST_NUMBER) -> Floats:
    array = arrays[name]
    _require(array.shape == shape and array.dtype == np.float64, f"has {name} of shape {array.shape}, not {shape}")
    floats: Floats = array.astype(np.float64)
    _require(bool(np.isfinite(floats).all()), f"has numbers in {name} that are not finite")
    _require(bool((np.abs(floats) <= largest).all()), f"has numbers in {name} beyond {largest:.0e}, which nothing measures")
    return floats


def _number(head: Mapping[str, object], name: str) -> float:
    value = head[name]
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise Unfit(f"has no number {name}")
    _require(abs(value) <= LARGEST_NUMBER, f"has a number {name} beyond {LARGEST_NUMBER:.0e}")
    return float(value)


def _counts(head: Mapping[str, object], name: str) -> tuple[int, ...]:
    values = _list(head, name)
    _require(all(type(value) is int and 0 <= value < 2**53 for value in values), f"has no whole numbers {name}")
    return tuple(value for value in values if isinstance(value, int))


def _list(head: Mapping[str, object], name: str) -> list[object]:
    values = head[name]
    if not isinstance(values, list):
        raise Unfit(f"has no list {name}")
    return values


def _texts(head: Mapping[str, object], name: str) -> tuple[str, ...]:
    values = _list(head, name)
    _require(all(isinstance(value, str) for value in values), f"has no texts {name}")
    return tuple(value for value in values if isinstance(value, str))


def _require(holds: bool, finding: str) -> None:
    if not holds:
        raise Unfit(finding)


def _refused(path: Path, finding: str) -> UsageError:
    return UsageError(str(path), finding, "make it anew: jpo phases fit TRACES.csv -o MODEL", code="JPO-E732")
