from __future__ import annotations

import json
from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.plugins.phases.files.columns import TraceColumns
from jpo.plugins.phases.files.read import read_traces
from jpo.plugins.phases.traces import CPU, MEMORY

BEGIN = 1714564800
CPUS, SIZES = (0.5, 1.5, 1.0), (1, 2, 3)


def answer(metric: str, values: tuple[float, ...]) -> dict[str, object]:
    pairs = [[BEGIN + 15 * at, str(value)] for at, value in enumerate(values)]
    labels = {"__name__": metric, "pod": "a", "container": "t"}
    return {"status": "success", "data": {"resultType": "matrix", "result": [{"metric": labels, "values": pairs}]}}


FILES = {
    "CPU-data-2024-05-01 12_00_00.csv": "Time,a\n"
    + "".join(f"2024-05-01 12:00:{15 * at:02},{100 * c}%\n" for at, c in enumerate(CPUS)),
    "mem.csv": "sep=;\nTime;a\n" + "".join(f"{(BEGIN + 15 * at) * 1000};{s} GiB\n" for at, s in enumerate(SIZES)),
    "cpu.json": json.dumps(answer("container_cpu_usage_seconds_total", (0, 7.5, 30, 45))),
    "mem.json": json.dumps([answer("container_memory_working_set_bytes", tuple(s * 2**30 for s in (1, *SIZES)))]),
    "cpu_table.csv": "t,pod,cpu\n" + "".join(f"{BEGIN + 15 * at},a,{c}\n" for at, c in enumerate(CPUS)),
    "mem_long.csv": "time,metric,pod,value\n" + "".join(f"{BEGIN + 15 * at},mem,a,{s * 2**30}\n" for at, s in enumerate(SIZES)),
}


@pytest.fixture
def exports(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("cpu", ["CPU-data-2024-05-01 12_00_00.csv", "cpu_table.csv"])
@pytest.mark.parametrize("memory", ["mem.csv", "mem_long.csv"])
def test_files_of_all_kinds_are_joined(exports: Path, cpu: str, memory: str) -> None:
    traces = read_traces([exports / cpu, exports / memory])
    (execution,) = traces.executions
    assert (traces.features, execution.name) == ((CPU, MEMORY), "a")
    assert execution.times.tolist() == [BEGIN, BEGIN + 15, BEGIN + 30]
    assert execution.values.tolist() == [[c, s * 2**30] for c, s in zip(CPUS, SIZES, strict=True)]


def test_answers_of_prometheus_are_joined_with_rates_of_counters(exports: Path) -> None:
    (execution,) = read_traces([exports / "cpu.json", exports / "mem.json"]).executions
    assert execution.values.tolist() == [[c, s * 2**30] for c, s in zip(CPUS, SIZES, strict=True)]


def test_one_graph_may_have_all(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("Time,CPU a,Memory a,CPU limit,CPU b\n0,1,5 GiB,8,1\n15,,-,8,1\n30,2,6 GiB,8,1\n")
    traces = read_traces(tmp_path / "g.csv")
    assert [(execution.name, execution.times.tolist()) for execution in traces.executions] == [("a", [0, 30])]
    assert [note.rpartition(" ")[2] for note in traces.notes] == ["[JPO-W877]"] * 2


@pytest.mark.parametrize("name", ["Date", "Zeit", "", "Heure locale"])
def test_the_first_column_may_be_called_anything(tmp_path: Path, name: str) -> None:
    (tmp_path / "g.csv").write_text(f"{name},CPU a,Memory a\n2024-05-01 12:00:00,1,5 GiB\n2024-05-01 12:00:15,2,5 GiB\n")
    (execution,) = read_traces(tmp_path / "g.csv").executions
    assert (execution.name, execution.times.tolist()) == ("a", [BEGIN, BEGIN + 15])


def test_one_container_in_a_graph_has_the_files_name(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("Time,CPU,Memory\n0,1,5 GiB\n15,,5 GiB\n30,2,\n45,3,6 GiB\n")
    (execution,) = read_traces(tmp_path / "g.csv").executions
    assert (execution.name, execution.values[:, 0].tolist()) == ("g", [1, 2, 3])
    assert execution.values[1, 1] == 5 * 2**30


def test_a_table_is_read_as_strictly_as_ever(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("t,id,cpu,memory\n0,a,1,5\n15,a,,5\n")
    with pytest.raises(UsageError, match=r"t.csv:3: execution 'a': has no value of cpu_cores"):
        read_traces(tmp_path / "t.csv")


def test_cells_of_a_table_may_have_units(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("t,id,cpu,memory\n0,a,150%,5 GiB\n15,a,50%,512 MiB\n")
    traces = read_traces(tmp_path / "t.csv")
    assert traces.executions[0].values.tolist() == [[1.5, 5 * 2**30], [0.5, 2**29]]
    assert "percent of one core" in traces.notes[0]


def test_files_can_be_named_as_what_they_have(tmp_path: Path) -> None:
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text("Time,a,b\n0,1,2\n15,1,2\n")
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    with pytest.raises(UsageError, match="nothing says what 'a' measures"):
        read_traces(paths)
    traces = read_traces(paths, TraceColumns({"cpu_millicores": "one.csv", "memory_gib": str(paths[1])}))
    assert traces.executions[1].values.tolist() == [[2e-3, 2 * 2**30]] * 2


def test_a_hundred_containers_in_one_graph_are_read(tmp_path: Path) -> None:
    names = [f"job-{at}" for at in range(100)]
    for kind, unit in (("cpu", ""), ("memory", " GiB")):
        rows = [",".join(["Time", *names]), *(f"{15 * t}," + ",".join([f"{1 + t % 3}{unit}"] * 100) for t in range(50))]
        (tmp_path / f"{kind}.csv").write_text("\n".join(rows))
    traces = read_traces([tmp_path / "cpu.csv", tmp_path / "memory.csv"])
    assert ([execution.name for execution in traces.executions], traces.samples) == (names, 5000)


@pytest.mark.parametrize(
    "text",
    [
        "Time,a\n" + " " * 130_000 + "x,1\n",
        "Time," + " " * 60_000 + "a\n1,1\n",
        "Time,a\n1," + '"' + "1," * 60_000 + '%"\n',
        "Time,a\n1," + '"' + "1" * 120_000 + '%"\n',
        'Time,"{' + "a" * 130_000 + '}"\n1,1\n',
        '{"a":' * 100_000,
    ],
)
def test_files_made_to_keep_jpo_busy_are_refused(tmp_path: Path, text: str) -> None:
    """Whatever begins anew at each character would take minutes."""
    (tmp_path / "cpu.csv").write_text(text)
    with pytest.raises(UsageError) as error:
        read_traces(tmp_path / "cpu.csv")
    assert len(str(error.value)) < 1000


def test_a_file_that_is_named_twice_would_count_twice(exports: Path) -> None:
    with pytest.raises(UsageError, match="is named twice"):
        read_traces([exports / "mem.csv", exports / "cpu.json", exports / "." / "mem.csv"])


def test_no_file_and_one_without_a_time_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    for name in ("absent.csv", "t.csv"):
        with pytest.raises(UsageError):
            read_traces([tmp_path / name, tmp_path / "other.csv"])
