"""Models: what is kept is what is read, and what is foreign is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from jpo.agent.sealed import unseal
from jpo.errors import UsageError
from jpo.plugins.cluster.agents.model import FOR_GPUS, KINDS, SCHEMA, SHIPPED, new_agent, read_agent, to_bytes
from jpo.plugins.cluster.agents.sequences import Sequences
from jpo.plugins.cluster.agents.training import train_once
from jpo.plugins.cluster.environment.episode import EpisodeOptions

pytest.importorskip("torch", reason='torch not found: pip install "jpo[learn]"')


@pytest.mark.parametrize(
    ("kind", "mode"),
    [("cross-entropy", "backfill"), *((kind, mode) for kind in KINDS[1:] for mode in ("job", "backfill", "pair"))],
)
def test_an_agent_learns_is_kept_and_goes_on_where_it_was(kind: str, mode: str, parts: Sequences, tmp_path: Path) -> None:
    options = EpisodeOptions(mode, slots=8, order="saf")  # type: ignore[arg-type]
    agent = new_agent(kind, options, hidden=8, lr=0.01, gamma=0.99, seed=1)
    before = agent.weights()
    rng = np.random.default_rng(0)
    figures = train_once(agent, parts, rng, episodes=3, objective="slowdown")
    assert np.isfinite(list(figures.values())).all()
    assert any(not np.array_equal(before[name], agent.weights()[name]) for name in before)
    (tmp_path / "m.safetensors").write_bytes(to_bytes(agent, kind))
    again, found = read_agent(tmp_path / "m.safetensors", seed=1)
    assert (found, again.options.mode, again.options.slots, again.lr) == (kind, mode, 8, 0.01)
    kept = again.weights()
    assert kept.keys() == agent.weights().keys()
    assert all(np.array_equal(kept[name], value) for name, value in agent.weights().items())


def test_the_same_seed_learns_the_same(parts: Sequences) -> None:
    found = []
    for _ in range(2):
        agent = new_agent("actor-critic", EpisodeOptions("backfill", slots=8, order="saf"), hidden=8, seed=4)
        train_once(agent, parts, np.random.default_rng(5), episodes=2, objective="wait")
        found.append(agent.weights())
    assert all(np.array_equal(found[0][name], found[1][name]) for name in found[0])


def test_the_model_that_comes_along_decides_and_altered_weights_are_refused(parts: Sequences, tmp_path: Path) -> None:
    agent, kind = read_agent(SHIPPED)
    assert (kind, agent.options.order, agent.options.mode) == ("cross-entropy", "saf", "backfill")
    data = FOR_GPUS.read_bytes()
    for place in (len(data) - 3, 40, len(data) // 2):  # a weight, the header, somewhere
        altered = data[:place] + bytes((data[place] ^ 1,)) + data[place + 1 :]
        (tmp_path / "altered.safetensors").write_bytes(altered)
        with pytest.raises(UsageError) as caught:
            read_agent(tmp_path / "altered.safetensors")
        assert caught.value.code == "JPO-E747"


def test_what_earlier_versions_kept_is_read_and_what_is_foreign_is_refused(tmp_path: Path) -> None:
    agent = new_agent("reinforce", EpisodeOptions("job", slots=4))
    header = {key: value for key, value in unseal(to_bytes(agent, "reinforce"))[1].items() if key != "seal"}
    data = save(agent.weights(), header)
    (tmp_path / "earlier.safetensors").write_bytes(data)
    assert read_agent(tmp_path / "earlier.safetensors")[1] == "reinforce"
    shorter = SCHEMA.replace("jpo-cluster-1", "jpo-cluster-0")
    changes = {
        "schema": data.replace(SCHEMA.encode(), shorter.encode()),
        "kind": data.replace(b'"reinforce"', b'"reinfbrce"'),
        "order": data.replace(b'"order":"fcfs"', b'"order":"wfp3"'),
        "resources": data.replace(b'"resources":"first"', b'"resources":"worst"'),
        "hidden": data.replace(b'"hidden":"32"', b'"hidden":"-2"'),
        "slots": data.replace(b'"slots":"4"', b'"slots":"0"'),
        "cut": data[:-100],
        "head": data[:40],
        "text": b"{}",
        "empty": b"",
        "not finite": data[:-4] + np.array([np.nan], dtype="<f4").tobytes(),
    }
    for name, content in changes.items():
        assert content != data, name
        path = tmp_path / f"{name}.safetensors"
        path.write_bytes(content)
        with pytest.raises(UsageError) as caught:
            read_agent(path)
        assert caught.value.code == "JPO-E747", name


def test_a_file_without_a_schema_is_not_called_an_older_model(tmp_path: Path) -> None:
    (tmp_path / "m.safetensors").write_bytes(b"")
    with pytest.raises(UsageError, match="is not a model of the cluster lab"):
        read_agent(tmp_path / "m.safetensors")
