from pathlib import Path

import pytest

from jpo.plugins.phases.files.columns import TraceColumns, places_of
from jpo.plugins.phases.files.plain import PlainTable, read_plain
from jpo.plugins.phases.files.read import read_traces

HEAD = "t,id,note,cpu,memory"


def plain(text: str, head: str = HEAD) -> PlainTable | None:
    names = head.replace(";", ",").split(",")
    return read_plain(f"{head}\n{text}", 1, len(names), places_of("", names, TraceColumns()), "alone")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_interleaved_executions_are_put_in_order(end: str) -> None:
    found = plain(end.join(["1, b ,x,.5,1e+3", "1,a,,2.,7", "3,b,#,1,-0", "2,a,y y,4,8", ""]))
    assert found is not None
    assert (found.names, found.lengths, found.times.tolist()) == (["b", "a"], [2, 2], [1, 3, 1, 2])
    assert found.values.tolist() == [[0.5, 1000], [1, 0], [2, 7], [4, 8]]


def test_units_of_columns_and_a_file_of_one_execution() -> None:
    found = plain("0;250;1\n5;500;2\n", "t;cpu_m;mem_mib")
    assert found is not None
    assert (found.names, found.values.tolist()) == (["alone"], [[0.25, 2**20], [0.5, 2**21]])


@pytest.mark.parametrize(
    "rows",
    [
        "",
        "1,a,x,1,1\n2,a,x,1\n",
        "1,a,x,1,1\n2,a,x,1,1,1\n",
        '1,"a",x,1,1\n2,"a",x,1,1\n',
        "1,a,x,1,1\r2,a,x,1,1\n",
        "1,a,x,1,1\n2,a,x,+1,1\n",
        "1,a,x,1,1\n2,a,x,1_0,1\n",
        "1,a,x,1,1\n2,a,x,٣,1\n",
        "1,a,x,1,1\n2,a,x,,1\n",
        "1,a,x,1,1\n2,a,x,nan,1\n",
        "1,a,x,1,1\n2,a,x,1e400,1\n",
        "1,a,x,1,1\n2,a,x,-1,1\n",
        "1,a,x,1,1\n2,a,x,1,1e19\n",
        "1,a,x,1,1\n2,a,x,150%,1\n",
        f"1,a,x,1,1\n2,a,x,{'0' * 64}1,1\n",
        f"1,{'a' * 65},x,1,1\n2,{'a' * 65},x,1,1\n",
        "1,,x,1,1\n2,,x,1,1\n",
        "1,a,x,1,1\n",
        "1,a,x,1,1\n1,a,x,1,1\n",
        "2,a,x,1,1\n1,a,x,1,1\n",
        "1e20,a,x,1,1\n2e20,a,x,1,1\n",
        "2024-05-01T00:00:00Z,a,x,1,1\n2024-05-01T00:00:09Z,a,x,1,1\n",
    ],
)
def test_what_is_no_plain_number_is_left_to_the_reader_of_rows(rows: str) -> None:
    assert plain(rows) is None


def test_a_comma_beside_semicolons_is_left_to_the_reader_of_rows() -> None:
    assert plain("1;a;1,234;1;1\n2;a;x;1;1\n", HEAD.replace(",", ";")) is None


def test_both_readers_say_the_same(tmp_path: Path) -> None:
    rows = [f"{at // 3},e{at % 3},{at % 7}.25,{1000 + at}e3" for at in range(60)]
    for name, quote in (("plain", ""), ("quoted", '"')):
        (tmp_path / f"{name}.csv").write_text(
            "t,id,cpu,memory\n" + "\n".join(rows).replace(",e", f",{quote}e", 1).replace(",0.25", f"{quote},0.25", 1)
        )
    one, other = (read_traces(tmp_path / f"{name}.csv") for name in ("plain", "quoted"))
    assert [each.name for each in one.executions] == [each.name for each in other.executions]
    assert (one.times == other.times).all()
    assert (one.stacked == other.stacked).all()
    assert [note.partition(":")[2] for note in one.notes] == [note.partition(":")[2] for note in other.notes]
