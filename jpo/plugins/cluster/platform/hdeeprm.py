"""Platforms and options of HDeepRM in JSON, every key meant as there, with its defaults and the names of its earlier versions.

A platform names clusters of nodes of types. Types of nodes and processors are data of HDeepRM that JPO does not have: they are
read from `node_types.json` and `processor_types.json` next to the platform, in `data` beside it, or from its own key `types`.
Speeds are clock_rate x dpflops_per_cycle, relative to the reference machine of `job_limits` (2.75 GHz, 8 wide, unless it says
otherwise); a core draws power / cores; memory is in GB, memory bandwidth in GB/s per processor.

Source: Herrera, "HDeepRM: Deep Reinforcement Learning for Workload Management", 2019: documentation, code and data files of its
versions 0.1.0b0 to 0.3.1b1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

from jpo.errors import quoted
from jpo.files.reading import contents, json_object
from jpo.plugins.cluster.environment.episode import PAIR_JOBS, PAIR_RESOURCES, PAIRS, EpisodeOptions
from jpo.plugins.cluster.environment.rewards import OBJECTIVES
from jpo.plugins.cluster.platform.described import MOST_CORES, unusable, whole
from jpo.plugins.cluster.platform.described import number as number_of
from jpo.plugins.cluster.platform.described import text as text_of
from jpo.plugins.cluster.platform.platform import NodeGroup, NodeType, Platform, ProcessorType

MOST_BYTES = 1 << 22
REFERENCE_GFLOPS = 2.75 * 8
GIB_PER_GB = 1e9 / 2**30
SLOTS: Mapping[str, int] = {"normal": 32, "small": 8, "minimal": 1}
"""Waiting jobs that an observation shows."""
EVERY_ACTION: Mapping[str, Any] = {"selection": [], "void": True}
"""Of a file without actions."""
EARLIER_NAMES = {"high_flops": "high_gflops", "low_energy": "low_power", "": "random"}
"""Resource selections by their names before 0.3; an empty one, as an example in HDeepRM's documentation has it, is no order."""
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
AGENT_TYPES, RUNS = ("CLASSIC", "LEARNING"), ("train", "test")
Table = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LegacyAgent:
    """The agent of an options file.

    `pair`: of a classic agent. input_model: of a learning one. `file`: of an agent of the user's own, as it
    stands there; code runs only where the command line names it, too.
    """

    pair: tuple[str, str] | None
    hidden: int
    lr: float
    gamma: float
    input_model: Path | None
    file: str | None


@dataclass(frozen=True, slots=True)
class LegacyOptions:
    """An options file of HDeepRM.

    Attributes:
        nb_resources: cores that jobs may ask for at most. nb_jobs: draw that many jobs.
        log_decisions: whether log_level is DEBUG or INFO.
        objective: of rewards.METRICS.
    """

    seed: int
    nb_resources: int
    nb_jobs: int
    workload: Path
    platform: Path
    log_decisions: bool
    objective: str
    episode: EpisodeOptions
    agent: LegacyAgent


def read_legacy_options(path: Path) -> LegacyOptions:
    """The options of a file; paths in it count from where it is.

    Raises UsageError: JPO-E742, a key is missing or holds what it cannot; names it.
    """
    try:
        return _options(_document(path), path.parent)
    except ValueError as error:
        raise unusable(path, str(error)) from error


def _options(document: Table, folder: Path) -> LegacyOptions:
    inner = _table(document, "pybatsim")
    env, agent = _table(inner, "env", "pybatsim."), _table({"agent": {}, **inner}, "agent", "pybatsim.")
    actions = _table({"actions": EVERY_ACTION, **env}, "actions", "pybatsim.env.")
    pairs = _pairs(actions.get("selection", []))
    kind = str(agent.get("type", "CLASSIC" if "policy_pair" in agent else "LEARNING")).upper()
    learning = one_of(kind, AGENT_TYPES, "pybatsim.agent.type") == "LEARNING"
    seed = int(number_of(document, "seed", "the file", default=0))
    return LegacyOptions(
        seed=seed,
        nb_resources=whole(document, "nb_resources", "the file"),
        nb_jobs=whole(document, "nb_jobs", "the file"),
        workload=folder / text_of(document, "workload_file_path", "the file"),
        platform=folder / text_of(document, "platform_file_path", "the file"),
        log_decisions=one_of(str(inner.get("log_level", "WARNING")), LOG_LEVELS, "pybatsim.log_level") in LOG_LEVELS[:2],
        objective=OBJECTIVES[one_of(str(env.get("objective", "")), tuple(OBJECTIVES), "pybatsim.env.objective")],
        episode=_episode(env, pairs, void=bool(actions.get("void", False)), seed=seed),
        agent=_agent(agent, folder, None if learning else pairs[0]),
    )


def _episode(env: Table, pairs: tuple[tuple[str, str], ...], *, void: bool, seed: int) -> EpisodeOptions:
    sensitivity = number_of(env, "queue_sensitivity", "pybatsim.env", default=1.0)
    if not sensitivity:
        raise ValueError("pybatsim.env: queue_sensitivity must be above 0")
    return EpisodeOptions(
        "pair",
        SLOTS[one_of(str(env.get("observation", "normal")), tuple(SLOTS), "pybatsim.env.observation")],
        pairs=tuple(pair for pair in PAIRS if pair in pairs),  # a model numbers its actions in this order
        void=void,
        seed=seed,
        queue_sensitivity=sensitivity,
    )


def _agent(agent: Table, folder: Path, first: tuple[str, str] | None) -> LegacyAgent:
    """`first`: the pair of a classic agent that names none; None: a learning one."""
    if first is None:
        one_of(str(agent.get("run", "test")), RUNS, "pybatsim.agent.run")
    models = {key: folder / text_of(agent, key, "pybatsim.agent") for key in ("input_model", "output_model") if key in agent}
    return LegacyAgent(
        pair=first and (_pair(agent["policy_pair"]) if "policy_pair" in agent else first),
        hidden=int(number_of(agent, "hidden", "pybatsim.agent", default=32)),
        lr=number_of(agent, "lr", "pybatsim.agent", default=1e-3),
        gamma=number_of(agent, "gamma", "pybatsim.agent", default=1.0),
        input_model=models.get("input_model"),
        file=text_of(agent, "file", "pybatsim.agent") if first is None and "file" in agent else None,
    )


def _pairs(selection: object) -> tuple[tuple[str, str], ...]:
    """`[{"shortest": ["high_gflops", "low_power"]}]` in its order, each once; without any, all 36."""
    where = "pybatsim.env.actions.selection"
    if not (isinstance(selection, list) and all(isinstance(one, dict) for one in selection)):
        raise ValueError(f'{where} is not a list like [{{"shortest": ["high_gflops"]}}]')
    found = [
        (one_of(str(job), tuple(PAIR_JOBS), where), _resource(str(resource), where))
        for one in selection
        for job, resources in one.items()
        for resource in (resources if isinstance(resources, list) else [resources])
    ]
    return tuple(dict.fromkeys(found)) or PAIRS


def _pair(text: object) -> tuple[str, str]:
    job, dash, resource = str(text).partition("-")
    where = "pybatsim.agent.policy_pair"
    if not dash:
        raise ValueError(f'{where} = {quoted(text)} is not a pair like "shortest-high_gflops"')
    return one_of(job, tuple(PAIR_JOBS), where), _resource(resource, where)


def _resource(name: str, where: str) -> str:
    return one_of(EARLIER_NAMES.get(name, name), PAIR_RESOURCES, where)


def one_of(value: str, names: tuple[str, ...], where: str) -> str:
    if value not in names:
        raise ValueError(f"{where} = {quoted(value)} is none of {', '.join(names)}")
    return value


def read_legacy_platform(path: Path) -> Platform:
    """The platform of a file. Raises UsageError: JPO-E742, it describes none, or a type of node or processor is not known."""
    document = _document(path)
    try:
        nodes, processors = (_types(document, path, kind) for kind in ("node", "processor"))
        limits = document.get("job_limits", {})
        machine = limits.get("reference_machine") if isinstance(limits, dict) else None
        machine = machine if isinstance(machine, dict) else {}
        width = machine.get("dpflop_vector_width", machine.get("dpflops_per_cycle", 8))
        reference = {"width": width, "clock": machine.get("clock_rate", 2.75)}
        gflops = number_of(reference, "clock", "job_limits.reference_machine") * number_of(reference, "width", "job_limits")
        groups = []
        for place, cluster in enumerate(_list(document, "clusters"), start=1):
            where = f"cluster {place}"
            for part in _list(cluster, "nodes", f"{where}."):
                kind = text_of(part, "type", where)
                node, count = _node(kind, nodes, processors, gflops), whole(part, "number", where, default=1)
                groups.append(NodeGroup(str(cluster.get("id", where)), node, count))
        platform = Platform(path.stem, tuple(groups))
    except ValueError as error:
        raise unusable(path, str(error)) from error
    if platform.cores("cpu") > MOST_CORES:
        raise unusable(path, f"has more than {MOST_CORES} cores")
    return platform


def _node(kind: str, nodes: Table, processors: Table, reference: float) -> NodeType:
    described = _table(nodes, kind, "node type ")
    built: list[ProcessorType] = []
    for part in _list(described, "processors", f"node type {kind}: "):
        name = text_of(part, "type", f"node type {kind}")
        one = _table(processors, name, "processor type ")
        where = f"processor type {name}"
        cores = whole(one, "cores", where)
        speed = number_of(one, "clock_rate", where) * number_of(one, "dpflops_per_cycle", where) / (reference or REFERENCE_GFLOPS)
        bandwidth = number_of(one, "mem_bw", where)
        watts = number_of(one, "power", where) / cores
        built += [ProcessorType(name, "cpu", cores, speed, watts, bandwidth)] * whole(part, "number", where, default=1)
    memory = number_of(_table(described, "memory", f"node type {kind}: "), "capacity", f"node type {kind}: memory")
    return NodeType(kind, tuple(built), memory * GIB_PER_GB)


def _types(document: Table, path: Path, kind: str) -> Table:
    """Types of nodes or processors, of the document itself or of a file near it."""
    own = document.get("types", {})
    if isinstance(own, dict) and isinstance(own.get(kind), dict):
        return cast(Table, own[kind])
    for folder in (path.parent, path.parent / "data"):
        file = folder / f"{kind}_types.json"
        if file.is_file():
            return _document(file)
    raise ValueError(f"has no types of {kind}s: put HDeepRM's {kind}_types.json next to it, or write them under its key types")


def _document(path: Path) -> Table:
    try:
        return json_object(contents(path, MOST_BYTES, partial(unusable, path)))
    except ValueError as error:
        raise unusable(path, str(error)) from error


def _table(table: Table, key: str, where: str = "") -> Table:
    value = table.get(key)
    if not isinstance(value, dict):
        raise ValueError(f"{where}{key} is missing" if value is None else f"{where}{key} is not an object")
    return value


def _list(table: Table, key: str, where: str = "") -> list[Table]:
    value = table.get(key)
    if not (isinstance(value, list) and value and all(isinstance(one, dict) for one in value)):
        raise ValueError(f"{where}{key} is missing or empty" if not value else f"{where}{key} is not a list of objects")
    return value
