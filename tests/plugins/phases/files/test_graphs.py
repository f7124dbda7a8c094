from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jpo.errors import UsageError
from jpo.plugins.phases.files.columns import TIME, ColumnPlace, TraceColumns, place_of
from jpo.plugins.phases.files.graphs import Found, read_graph, value_of
from jpo.plugins.phases.files.rows import rows_of

PATH = Path("g.csv")


def wide(text: str) -> Found:
    (_, header), *rows = rows_of(PATH, text)
    time = place_of(header, TIME, TraceColumns())
    assert time is not None
    return read_graph(PATH, header, time, None, rows)


def long(text: str) -> Found:
    (_, header), *rows = rows_of(PATH, text)
    time, value = place_of(header, TIME, TraceColumns()), value_of(header)
    assert time is not None
    assert value is not None
    return read_graph(PATH, header, time, value, rows)


def test_a_column_is_a_series_and_an_empty_cell_no_sample() -> None:
    series, notes = wide('Time,"m{pod=""a""}",b\n1714564800000,12.5%,null\n1714564815000,,1.5 GiB\n1714564830000,50%,undefined\n')
    assert [(one.title, one.unit) for one in series] == [('m{pod="a"}', "percent"), ("b", "memory_bytes")]
    assert [one.times.tolist() for one in series] == [[1714564800, 1714564830], [1714564815]]
    assert series[0].labels == {"pod": "a"}
    assert "milliseconds" in notes[0]


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        (
            'time,labels,metric,value\n1,"{pod=""a""}",m,5\n2,"{pod=""a""}",m,6\n1,"{pod=""b""}",m,7\n',
            ['m{pod="a"}', 'm{pod="b"}'],
        ),
        ("Series;Time;Value\na;1;5\na;2;6\nb;1;7\n", ["a", "b"]),
        ("timestamp,__name__,pod,container,value\n1,m,a,,5\n2,m,a,,6\n1,m,b,,7\n", ['m{pod="a"}', 'm{pod="b"}']),
        ('Metric,Time,Value\n"m{pod=""a""}",1,5\n"m{pod=""a""}",2,6\n"m{pod=""b""}",1,7\n', ['m{pod="a"}', 'm{pod="b"}']),
    ],
)
def test_a_row_is_a_value_of_a_series_that_the_rest_of_it_tells(text: str, titles: list[str]) -> None:
    series, _ = long(text)
    assert [(one.title, one.values.tolist()) for one in series] == [(titles[0], [5, 6]), (titles[1], [7])]


def test_a_comma_behind_each_row_is_no_series() -> None:
    ((series,), _) = wide("Time,a,\n1,1,\n2,1,\n")
    assert series.title == "a"


def test_the_newest_may_come_first() -> None:
    ((series,), _) = wide("Time,a\n30,3\n20,2\n10,1\n")
    assert (series.times.tolist(), series.values.tolist()) == ([10, 20, 30], [1, 2, 3])


def test_the_hour_that_comes_twice_is_said() -> None:
    text = "Time,a\n" + "".join(
        f"2024-10-27 {h:02}:{m:02}:00,1\n" for h, m in [(2, 45), (2, 58), (2, 59), (2, 0), (2, 1), (2, 2)]
    )
    ((series,), notes) = wide(text)
    assert np.diff(series.times).tolist() == [780, 60, 60, 60, 60]
    assert notes[0].startswith("g.csv: row 5: local times go back by an hour once")
    assert notes[0].endswith("[JPO-W879]")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Time,a\n1,1\n2,x\n", "g.csv:3: column 2, 'a': 'x' is not a number"),
        ("Time,a\n1,1\n2,-5\n", "g.csv:3: column 2, 'a': '-5' is nothing that can be used"),
        ("Time,a\n1,1\n2,1e30\n", "g.csv:3: column 2, 'a': '1e30' is nothing that can be used"),
        ("Time,a\n1,5 GiB\n2,5%\n", "g.csv:3: column 2, 'a': '5%' has another unit"),
        ("Time,a\n1,1\nx,1\n", "g.csv:3: time = 'x'"),
        ("Time,a\n1,1\n1,1\n", "g.csv:3: time goes from 1 in row 2 to 1"),
        ("Time,a,b,a\n1,1,1,1\n", "g.csv: column 4 is called 'a', as column 2 is"),
        ("Time\n1\n", "g.csv: has a column of times and no other"),
        ("Time,a\n1,1,1\n", "g.csv:2: has 3 cells below 2 columns"),
        ("Time,a\n", "g.csv: has a header and no sample"),
    ],
)
def test_what_is_not_understood_is_said_with_row_and_column(text: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        wide(text)
    assert str(error.value).startswith(said)
    assert error.value.code == "JPO-E730"


def test_columns_of_time_and_value_are_found_by_their_names() -> None:
    assert place_of(["a", "TIME"], TIME, TraceColumns()) == ColumnPlace(1)
    assert place_of(["timestamp_ms"], TIME, TraceColumns()) == ColumnPlace(0, "time_ms")
    assert place_of(["a"], TIME, TraceColumns({"time_ms": "a"})) == ColumnPlace(0, "time_ms")
    assert place_of(["a"], TIME, TraceColumns()) is None
    assert value_of(["Series", "Time", "Value"]) == 2
    assert value_of(["Time", "Value"]) is None
