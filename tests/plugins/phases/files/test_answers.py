from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import requests

from jpo.errors import UsageError
from jpo.plugins.phases.files.answers import is_printed, read_answers, read_printed
from jpo.plugins.phases.files.read import read_traces

PATH = Path("a.json")
RESULT = {"metric": {"__name__": "up", "pod": "a"}, "values": [[10, "1"], [20.5, "NaN"], [30, "2.5"]]}
ANSWER = {"status": "success", "data": {"resultType": "matrix", "result": [RESULT]}}


@pytest.mark.parametrize("document", [ANSWER, [ANSWER], [RESULT], ANSWER["data"]])
def test_answers_of_the_api_and_of_promtool_are_read(document: object) -> None:
    (series,) = read_answers(PATH, json.dumps(document))
    assert (series.name, series.labels["pod"], series.title) == ("up", "a", 'up{pod="a"}')
    assert series.times.tolist() == [10, 30]
    assert series.values.tolist() == [1, 2.5]


def test_one_answer_per_query_may_be_in_a_list() -> None:
    assert len(read_answers(PATH, json.dumps([ANSWER, ANSWER, RESULT]))) == 3


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"status": "error", "errorType": "bad_data", "error": "parse error"}, "is an error of Prometheus of type 'bad_data'"),
        ({"status": "success", "data": {"resultType": "vector", "result": []}}, "is an answer of type 'vector'"),
        ({"status": "success", "data": {"resultType": "matrix", "result": []}}, "has no series"),
        ({"status": "success", "data": {"resultType": "matrix", "result": {}}}, "is an answer of type 'matrix'"),
        ({"a": 1}, "is JSON, but no answer of Prometheus"),
        ([1], "is JSON, but no answer of Prometheus"),
        ([{"metric": {}, "values": [[1]]}], "series 1, value 1: is not a time with a value"),
        ([{"metric": {}, "values": [[10**400, "1"]]}], "series 1, value 1: has a time that cannot be"),
        ([{"metric": {}, "values": [[1, "x"]]}], "series 1, value 1: 'x' is nothing that can be used"),
        ([{"metric": {}, "values": [[1, "-1"]]}], "'-1' is nothing that can be used"),
        ([{"metric": {"a": 1}, "values": []}], "series 1: has no metric with values"),
        ([{"metric": {}, "values": [[2, "1"], [1, "1"]]}], "series 1: has times that do not increase"),
        ([{"metric": {}, "values": [[True, "1"]]}], "is not a time with a value"),
    ],
)
def test_other_answers_are_refused_in_one_line(document: object, said: str) -> None:
    with pytest.raises(UsageError) as error:
        read_answers(PATH, json.dumps(document))
    assert str(error.value).startswith("a.json")
    assert said in str(error.value)
    assert error.value.code == "JPO-E730"


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "[" + "9" * 5000 + "]", '{"a": NaN}', "[[1, 1e999]]"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"a.json"):
        read_answers(PATH, text)


def test_what_promtool_prints_is_read() -> None:
    text = '\nup{pod="a", container="t"} =>\n0.5 @[10]\n1.5 @[25.5]\n\n{pod="b"} =>\nNaN @[10]\n2 @[20]\n'
    assert is_printed(text)
    assert not is_printed('{"status": 1}')
    one, two = read_printed(PATH, text)
    assert (one.name, one.labels["pod"], one.times.tolist(), one.values.tolist()) == ("up", "a", [10, 25.5], [0.5, 1.5])
    assert (two.labels, two.values.tolist()) == ({"pod": "b"}, [2])
    for wrong in ("a =>\n5\n", "a =>\n5 @[x]\n", "a =>\nx @[5]\n"):
        with pytest.raises(UsageError, match=r"a.json"):
            read_printed(PATH, wrong)


def test_a_real_prometheus_is_understood_in_each_of_its_ways(start_prometheus: Callable[[Path], str], tmp_path: Path) -> None:
    begin, samples = 1_700_000_100, 40
    text = {"container_cpu_usage_seconds": "counter", "container_memory_working_set_bytes": "gauge"}
    lines = []
    for metric, kind in text.items():
        lines.append(f"# TYPE {metric} {kind}")
        name, size = (f"{metric}_total", 22.5) if kind == "counter" else (metric, 1e6)
        lines += [f'{name}{{pod="a",container="t"}} {size * (at + 1)} {begin + 15 * at}' for at in range(samples)]
    (tmp_path / "history.om").write_text("\n".join([*lines, "# EOF\n"]))
    made = ["promtool", "tsdb", "create-blocks-from", "openmetrics", tmp_path / "history.om", tmp_path / "data"]
    subprocess.run(made, check=True, capture_output=True, timeout=60)
    url = start_prometheus(tmp_path)
    span = [f"--start={begin}", f"--end={begin + 3600}", "--step=15s"]
    for name in ("container_cpu_usage_seconds_total", "container_memory_working_set_bytes"):
        for form in ("promql", "json"):
            ask = ["promtool", "query", "range", *span, "-o", form, url, name]
            done = subprocess.run(ask, check=True, capture_output=True, timeout=60)
            (tmp_path / f"{form}-{name}").write_bytes(done.stdout)
        asked: dict[str, str | int] = {"query": name, "start": begin, "end": begin + 3600, "step": 15}
        (tmp_path / f"api-{name}").write_bytes(requests.get(f"{url}/api/v1/query_range", asked, timeout=60).content)
    for form in ("promql", "json", "api"):
        traces = read_traces([*sorted(tmp_path.glob(f"{form}-*"))])
        (execution,) = traces.executions
        assert (execution.name, len(execution.times)) == ("a", samples - 1), "without the five minutes that follow the end"
        assert execution.values[:, 0].tolist() == [1.5] * (samples - 1)
        assert execution.values[-1, 1] == 1e6 * samples
