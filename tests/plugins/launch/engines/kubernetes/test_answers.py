"""Whatever a server answers, reading it raises nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jpo.plugins.launch.engines.kubernetes.answers import at, condition, items, moment, table, text, whole_number
from jpo.plugins.launch.engines.kubernetes.status import status_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["status", "spec", "metadata", "conditions", "type", "state", "containerStatuses"]), inner
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_read(answer: object) -> None:
    path = ("status", "conditions")
    assert isinstance(text(answer, *path), str)
    assert isinstance(items(answer, *path), tuple)
    table(answer, *path)
    whole_number(answer, *path)
    moment(answer, *path)
    condition(answer, "Failed")


@given(
    st.dictionaries(st.sampled_from(["status", "spec", "metadata"]), JSON),
    st.dictionaries(st.sampled_from(["status", "spec"]), JSON),
)
def test_any_job_and_pod_have_a_state(job: dict[str, object], pod: dict[str, object]) -> None:
    assert status_of(job, [pod], now=1.0).state


def test_what_stands_there() -> None:
    answer = {"a": {"b": 3, "c": "x"}, "d": [{"e": 1}, 2]}
    assert at(answer, "a", "b") == 3
    assert text(answer, "a", "c") == "x"
    assert items(answer, "d") == ({"e": 1},)
    assert moment({"at": "2027-01-15T08:00:00Z"}, "at") == 1_800_000_000.0
    assert moment({"at": "yesterday"}, "at") is None
