from __future__ import annotations

import hashlib
import json
import pickle
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from phase_traces import made_traces

from jpo.errors import UsageError
from jpo.plugins.phases.model import MostUsed, PhaseModel
from jpo.plugins.phases.model_file import HEAD, encoded, read_model
from jpo.plugins.phases.requests.allocate import allocate


def kept(folder: Path, data: bytes) -> Path:
    path = folder / "phases.model"
    path.write_bytes(data)
    return path


def resealed(body: bytes) -> bytes:
    """What a forger writes: other bytes under their own hash."""
    return HEAD + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def forged(model: PhaseModel, **head: object) -> bytes:
    data = encoded(model)
    _, size, rest = data.split(b"\n", 2)
    text = json.dumps({**json.loads(rest[: int(size)]), **head}).encode()
    return resealed(b"%d\n%s\n%s" % (len(text), text, rest[int(size) + 1 :]))


def test_a_model_is_read_as_it_was_written(tmp_path: Path, model: PhaseModel) -> None:
    read = read_model(kept(tmp_path, encoded(model)))
    assert encoded(read) == encoded(model)
    others = made_traces(runs=2, seed=5)[0]
    for one, other in zip(allocate(model, others), allocate(read, others), strict=True):
        assert (one.requests == other.requests).all()
    assert (read.predict(others) == model.predict(others)).all()


def test_what_was_promised_is_kept(tmp_path: Path, model: PhaseModel) -> None:
    assert read_model(kept(tmp_path, encoded(replace(model, misses=0.01)))).misses == 0.01


def test_each_changed_byte_is_noticed(tmp_path: Path, model: PhaseModel) -> None:
    data = encoded(model)
    for at in np.linspace(0, len(data) - 1, 40).astype(int):
        broken = bytearray(data)
        broken[at] ^= 1
        with pytest.raises(UsageError) as error:
            read_model(kept(tmp_path, bytes(broken)))
        assert error.value.code == "JPO-E732"


@pytest.mark.parametrize("length", [0, 1, 30, 90, 200, 5000])
def test_a_truncated_model_is_refused(tmp_path: Path, model: PhaseModel, length: int) -> None:
    with pytest.raises(UsageError, match=r"is not a model of jpo phases|is damaged or cut short"):
        read_model(kept(tmp_path, encoded(model)[:length]))


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ({"schema": 2}, "has schema 2; this version of JPO reads 1"),
        ({"format": "other"}, "is not a model of jpo phases"),
        ({"kept": [7]}, "keeps features that it does not name"),
        ({"kept": [-1]}, "has no whole numbers kept"),
        ({"caution": [0, 99]}, "has no caution"),
        ({"features": "cpu"}, "has no list features"),
        ({"features": [1, 2]}, "has no texts features"),
        ({"interval_seconds": True}, "has no number interval_seconds"),
        ({"interval_seconds": 0}, "no time between samples"),
        ({"interval_seconds": 1e300}, "has a number interval_seconds beyond 1e+18"),
        ({"interval_seconds": 90_000}, "more than a day"),
        ({"least_density": -1e300}, "has a number least_density beyond 1e+18"),
        ({"misses": 0}, "promises no share"),
        ({"executions": -3}, "has no whole numbers executions"),
        ({"executions": 0}, "has 0 executions of"),
        ({"samples": 0}, "executions of 0 samples"),
    ],
)
def test_a_forged_head_is_refused(tmp_path: Path, model: PhaseModel, head: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError) as error:
        read_model(kept(tmp_path, forged(model, **head)))
    assert said in str(error.value)


def test_forged_arrays_are_refused(tmp_path: Path, model: PhaseModel) -> None:
    chain = model.chain
    for name, array in (
        ("start", chain.start * 2),
        ("transitions", -chain.transitions),
        ("variances", chain.variances * 0),
        ("means", chain.means * np.nan),
    ):
        wrong = replace(chain, **{name: array})
        with pytest.raises(UsageError) as error:
            read_model(kept(tmp_path, encoded(replace(model, chain=wrong))))
        assert error.value.code == "JPO-E732"
    assert model.needs is not None
    needs = replace(model.needs, phase=model.needs.phase + 100)
    with pytest.raises(UsageError, match="phases that it does not know"):
        read_model(kept(tmp_path, encoded(replace(model, needs=needs))))
    for name in ("level", "soon_need", "dwell_seconds"):
        needs = replace(model.needs, **{name: -getattr(model.needs, name) - 1})
        with pytest.raises(UsageError, match="needs below 0"):
            read_model(kept(tmp_path, encoded(replace(model, needs=needs))))
    with pytest.raises(UsageError, match="needs below 0"):
        read_model(kept(tmp_path, encoded(replace(model, most=MostUsed(model.most.first, -model.most.ever)))))
    for field in fields(needs):
        needs = replace(model.needs, **{field.name: getattr(model.needs, field.name)[:-1]})
        with pytest.raises(UsageError):
            read_model(kept(tmp_path, encoded(replace(model, needs=needs))))


@pytest.mark.parametrize(
    ("part", "name", "number", "said"),
    [
        ("chain", "means", 1e300, "has numbers in chain.means beyond 1e+09"),
        ("chain", "variances", 1e300, "has numbers in chain.variances beyond 1e+09"),
        ("chain", "variances", 1e-300, "has a variance that is not above 0"),
        ("chain", "transitions", 0.5, "transitions that are not probabilities"),
        ("scaler", "centre", 1e300, "has numbers in scaler.centre beyond 1e+18"),
        ("scaler", "scale", 1e-300, "has a scale that is not above 0"),
        ("needs", "dwell_seconds", 1e300, "has numbers in needs.dwell_seconds beyond 1e+18"),
        ("needs", "soon_need", 1e300, "has numbers in needs.soon_need beyond 1e+18"),
    ],
)
def test_absurd_numbers_are_refused(tmp_path: Path, model: PhaseModel, part: str, name: str, number: float, said: str) -> None:
    whole = getattr(model, part)
    absurd = replace(whole, **{name: np.full_like(getattr(whole, name), number)})
    with pytest.raises(UsageError) as error:
        read_model(kept(tmp_path, encoded(replace(model, **{part: absurd}))))
    assert said in str(error.value)


class Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Path.touch, (Path("exploded"),)  # type: ignore[return-value]


def test_a_pickle_is_not_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for data in (pickle.dumps(Bomb()), resealed(pickle.dumps(Bomb())), resealed(b"2\n{}\n" + pickle.dumps(Bomb()))):
        with pytest.raises(UsageError):
            read_model(kept(tmp_path, data))
    assert not (tmp_path / "exploded").exists()


def test_what_is_no_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_model(tmp_path / "absent")
