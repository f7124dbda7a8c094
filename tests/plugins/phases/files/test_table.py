from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jpo.errors import UsageError
from jpo.plugins.phases.files.columns import TraceColumns
from jpo.plugins.phases.files.read import read_traces
from jpo.plugins.phases.traces import CPU, MEMORY

HEAD = "timestamp,pod.id,cpu.usage.cores,mem.working.set\n"
GOOD = "10,a,0.5,100\n20,a,0.6,110\n"


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "t.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_columns_of_ai4dl_are_found_without_an_option(tmp_path: Path) -> None:
    head = '"timestamp","service","pod.id","cpu.num.cores","cpu.usage","cpu.usage.cores","mem.current","mem.working.set"\n'
    traces = read_traces(written(tmp_path, head + '1,"s","e",4,1,0.041,9,7\n3,"s","e",4,1,0.1,9,8\n'))
    assert traces.features == (CPU, MEMORY)
    assert traces.executions[0].name == "e"
    assert traces.executions[0].values.tolist() == [[0.041, 7], [0.1, 8]]


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_an_unnamed_index_column_interleaved_executions_and_gaps_are_read(tmp_path: Path, start: str) -> None:
    text = start + ",t,exec_id,cpu,memory\r\n0,5,a,1,10\r\n1,5,b,2,20\r\n\r\n2,9000,a,3,30\r\n3,6,b,4,40\r\n"
    traces = read_traces(written(tmp_path, text))
    assert [(execution.name, execution.times.tolist()) for execution in traces.executions] == [("a", [5, 9000]), ("b", [5, 6])]


def test_columns_can_be_named_and_features_chosen(tmp_path: Path) -> None:
    path = written(tmp_path, "when,who,net,c\n2020-01-01T00:00:00Z,a,5,1\n2020-01-01T00:00:10,a,6,2\n")
    columns = TraceColumns({"time": "when", "execution": "who", CPU: "c", "network_bytes": "net"}, ("network_bytes", CPU))
    traces = read_traces(path, columns)
    assert traces.features == ("network_bytes", CPU)
    assert np.diff(traces.executions[0].times).tolist() == [10]
    assert traces.executions[0].values.tolist() == [[5, 1], [6, 2]]


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_columns_may_be_separated_otherwise_and_written_large(tmp_path: Path, delimiter: str) -> None:
    rows = ["Time,Pod,CPU,Memory", "1,a,0.5,10", "2,a,0.6,11"]
    traces = read_traces(written(tmp_path, "\n".join(row.replace(",", delimiter) for row in rows)))
    assert traces.executions[0].values.tolist() == [[0.5, 10], [0.6, 11]]


@pytest.mark.parametrize(
    "text",
    [
        "\nt;cpu;memory\n1;0.5;10\n2;0.6;11\n",
        't;cpu;memory;"rate, smoothed"\n1;0.5;10;0\n2;0.6;11;0\n',
        "t,cpu,memory,a;b\n1,0.5,10,x;y\n2,0.6,11,x\n",
    ],
)
def test_the_separator_is_what_the_header_has_most_of(tmp_path: Path, text: str) -> None:
    assert read_traces(written(tmp_path, text)).executions[0].values.tolist() == [[0.5, 10], [0.6, 11]]


def test_a_name_as_it_is_comes_before_one_written_large(tmp_path: Path) -> None:
    traces = read_traces(written(tmp_path, "CPU,t,cpu,memory\n9,1,1,1\n9,2,1,1\n"))
    assert traces.executions[0].values[:, 0].tolist() == [1, 1]


def test_gpus_are_read_where_they_are_measured(tmp_path: Path) -> None:
    path = written(tmp_path, "t,id,cpu,memory,gpu_utilisation\n1,a,1,1,0.5\n2,a,1,1,0.6\n")
    assert read_traces(path).features == (CPU, MEMORY, "gpu_utilisation")


def test_a_file_without_executions_is_one(tmp_path: Path) -> None:
    assert read_traces(written(tmp_path, "t,cpu,memory\n1,1,1\n2,1,1\n")).executions[0].name == "t"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("20,a,1,1\n10,a,1,1\n", ":3: execution 'a': time goes back, from 20 in row 2 to 10"),
        ("10,a,1,1\n10,a,1,1\n", ":3: execution 'a': has the same time as row 2"),
        ("10,a,1,1\n", ":2: execution 'a': has one sample only"),
        ("10,a,nan,1\n20,a,1,1\n", ":2: execution 'a': cpu_cores = 'nan' is not finite"),
        ("10,a,1,1\n20,a,1,inf\n", ":3: execution 'a': memory_bytes = 'inf' is not finite"),
        ("10,a,1,-5\n20,a,1,1\n", ":2: execution 'a': memory_bytes = '-5' is negative"),
        ("10,a,1,1e30\n20,a,1,1\n", ":2: execution 'a': memory_bytes = '1e30' is more than anything can use"),
        ("10,a,x,1\n20,a,1,1\n", ":2: execution 'a': cpu_cores = 'x' is not a number"),
        ("10,a,,1\n20,a,1,1\n", ":2: execution 'a': has no value of cpu_cores"),
        ("soon,a,1,1\n20,a,1,1\n", ":2: execution 'a': time = 'soon'"),
        ("nan,a,1,1\n20,a,1,1\n", ":2: execution 'a': time = 'nan'"),
        ("10,,1,1\n20,a,1,1\n", ":2: names no execution"),
        ("10,a,1\n20,a,1,1\n", ":2: has 3 cells below 4 columns"),
        ('10,"a,1,1\n20,a,1,1\n', "is not CSV"),
        ("", "has a header and no sample"),
    ],
)
def test_what_cannot_be_is_named_with_file_row_and_execution(tmp_path: Path, rows: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        read_traces(written(tmp_path, HEAD + rows))
    message = str(error.value)
    assert message.startswith(str(tmp_path / "t.csv"))
    assert said in message
    assert "\n" not in message
    assert error.value.code == "JPO-E730"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("timestamp,pod.id,cpu.usage.cores\n" + "1,a,1\n2,a,1\n", "JPO-E731"),
        ("pod.id,cpu.usage.cores,mem.working.set\n", "JPO-E731"),
        ("timestamp,pod.id,cpu.usage.cores,cpu.usage.cores,mem.working.set\n", "JPO-E730"),
        ("", "JPO-E730"),
        (b"\xff\xfe\x00", "JPO-E730"),
    ],
)
def test_files_without_what_is_needed_are_refused(tmp_path: Path, text: str | bytes, code: str) -> None:
    with pytest.raises(UsageError) as error:
        read_traces(written(tmp_path, text))
    assert error.value.code == code


def test_a_missing_column_is_named_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"no column 'mem.working.set' .* for memory_bytes .*'cpu'.*--column memory_bytes=HEADER"
    ):
        read_traces(written(tmp_path, "t,id,cpu\n1,a,1\n2,a,1\n"))
