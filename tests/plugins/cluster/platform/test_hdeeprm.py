"""HDeepRM's files: every key as there, and which key is wrong. tests/plugins/cluster/story/test_legacy.py runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hdeeprm_files import OPTIONS, PLATFORM, changed

from jpo.errors import UsageError
from jpo.plugins.cluster.environment.episode import PAIRS
from jpo.plugins.cluster.platform.hdeeprm import read_legacy_options, read_legacy_platform


def written(folder: Path, document: object) -> Path:
    (folder / "file.json").write_text(json.dumps(document))
    return folder / "file.json"


def test_options_are_read_with_every_key(tmp_path: Path) -> None:
    found = read_legacy_options(written(tmp_path, OPTIONS))
    assert (found.seed, found.nb_resources, found.nb_jobs) == (7, 4, 2)
    assert (found.workload, found.platform) == (tmp_path / "log.swf", tmp_path / "platform.json")
    episode = found.episode
    assert (found.log_decisions, found.objective) == (True, "energy")
    assert (episode.void, episode.slots, episode.queue_sensitivity) == (True, 8, 0.05)
    assert episode.pairs == (("first", "high_mem_bw"), ("shortest", "high_gflops"), ("shortest", "low_power"))
    assert (found.agent.pair, found.agent.hidden, found.agent.lr, found.agent.gamma) == (None, 16, 0.005, 0.99)


def test_keys_that_hdeeprm_does_not_need_have_its_defaults(tmp_path: Path) -> None:
    bare = changed(OPTIONS, "pybatsim.env", {"objective": "avg_utilization", "queue_sensitivity": 0.01})
    found = read_legacy_options(written(tmp_path, changed(bare, "pybatsim.agent", None)))
    assert (found.episode.pairs, found.episode.void, found.episode.slots) == (PAIRS, True, 32)
    assert (found.objective, found.agent.pair) == ("utilisation", None)


@pytest.mark.parametrize(
    ("agent", "pair"),
    [
        ({"type": "CLASSIC"}, ("shortest", "high_gflops")),
        ({"policy_pair": "low_mem-high_flops"}, ("low_mem", "high_gflops")),
        ({"type": "CLASSIC", "policy_pair": "first-low_energy"}, ("first", "low_power")),
        ({"run": "train"}, None),
    ],
)
def test_a_classic_agent_is_known_by_its_pair_and_without_one_has_the_first(
    tmp_path: Path, agent: dict[str, str], pair: tuple[str, str] | None
) -> None:
    assert read_legacy_options(written(tmp_path, changed(OPTIONS, "pybatsim.agent", agent))).agent.pair == pair


def test_resources_are_known_by_their_earlier_names(tmp_path: Path) -> None:
    selection = [{"first": ["low_energy", "high_flops"]}, {"smallest": [""]}]
    found = read_legacy_options(written(tmp_path, changed(OPTIONS, "pybatsim.env.actions.selection", selection)))
    assert found.episode.pairs == (("first", "high_gflops"), ("first", "low_power"), ("smallest", "random"))


def test_a_classic_agent_has_a_pair_and_no_selection_means_all(tmp_path: Path) -> None:
    classic = changed(OPTIONS, "pybatsim.agent", {"type": "CLASSIC", "policy_pair": "low_mem_bw-high_cores"})
    found = read_legacy_options(written(tmp_path, changed(classic, "pybatsim.env.actions.selection", [])))
    assert (found.agent.pair, found.episode.pairs) == (("low_mem_bw", "high_cores"), PAIRS)


@pytest.mark.parametrize(
    ("keys", "value", "told"),
    [
        ("pybatsim", None, "pybatsim is missing"),
        ("nb_jobs", None, "nb_jobs is missing"),
        ("nb_resources", 0, "nb_resources = 0 is not a whole number"),
        ("pybatsim.env.objective", "joy", "pybatsim.env.objective = 'joy' is none of avg_job_slowdown"),
        ("pybatsim.env.actions.selection", [{"fastest": ["first"]}], "'fastest' is none of random, first"),
        ("pybatsim.env.actions.selection", "all", "is not a list like"),
        ("pybatsim.env.observation", "large", "'large' is none of normal"),
        ("pybatsim.env.queue_sensitivity", 0, "queue_sensitivity must be above 0"),
        ("pybatsim.log_level", "LOUD", "'LOUD' is none of DEBUG"),
        ("pybatsim.agent.type", "GOOD", "'GOOD' is none of CLASSIC"),
        ("pybatsim.agent.policy_pair", "shortest", "policy_pair = 'shortest' is not a pair like"),
        ("pybatsim.agent.policy_pair", "shortest-high_joy", "'high_joy' is none of random, high_gflops"),
        ("pybatsim.env.actions", ["first"], "pybatsim.env.actions is not an object"),
        ("pybatsim.agent.lr", "fast", "lr = 'fast' is not a number"),
    ],
)
def test_a_wrong_key_of_options_is_named(tmp_path: Path, keys: str, value: object, told: str) -> None:
    document = changed(OPTIONS, "pybatsim.agent", {"type": "CLASSIC"}) if "policy_pair" in keys else OPTIONS
    with pytest.raises(UsageError) as caught:
        read_legacy_options(written(tmp_path, changed(document, keys, value)))
    assert told in str(caught.value)
    assert caught.value.code == "JPO-E742"


def test_a_platform_has_speeds_watts_and_bandwidth_of_its_types(tmp_path: Path) -> None:
    platform = read_legacy_platform(written(tmp_path, PLATFORM))
    assert [(one.name, one.cores, one.speed, one.watts, one.bandwidth_gbps) for one in platform.groups[0].node.processors] == [
        ("A", 2, pytest.approx(4.0), 40, 32),
        ("B", 2, pytest.approx(4.4), 50, 32),
    ]
    assert (len(platform.nodes), platform.cores("cpu")) == (3, 12)
    assert platform.groups[0].node.memory_gib == pytest.approx(32e9 / 2**30)


def test_types_may_be_files_beside_it(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for kind, types in PLATFORM["types"].items():
        (tmp_path / "data" / f"{kind}_types.json").write_text(json.dumps(types))
    bare = changed(PLATFORM, "types", None)
    assert read_legacy_platform(written(tmp_path, bare)).cores("cpu") == 12
    (tmp_path / "data" / "node_types.json").unlink()
    with pytest.raises(UsageError, match=r"has no types of nodes: put HDeepRM's node_types.json next to it"):
        read_legacy_platform(written(tmp_path, bare))


@pytest.mark.parametrize(
    ("keys", "value", "told"),
    [
        ("clusters", [], "clusters is missing or empty"),
        ("clusters", [{"id": "c", "nodes": []}], "cluster 1.nodes is missing or empty"),
        ("clusters", [{"nodes": [{"type": "Three", "number": 1}]}], "node type Three is missing"),
        ("types.node.Two.processors", [{"type": "C", "number": 1}], "processor type C is missing"),
        ("types.processor.A.cores", 0, "cores = 0 is not a whole number"),
        ("types.processor.A.clock_rate", 0, "a speed above 0"),
    ],
)
def test_a_wrong_key_of_a_platform_is_named(tmp_path: Path, keys: str, value: object, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_legacy_platform(written(tmp_path, changed(PLATFORM, keys, value)))
    assert told in str(caught.value)
