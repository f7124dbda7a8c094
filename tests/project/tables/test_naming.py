"""[workload]: a name, or parts of one."""

from __future__ import annotations

import pytest

from jpo.project.tables.naming import WorkloadTable


def test_a_name_is_every_part_and_parts_are_those_that_are_said() -> None:
    assert WorkloadTable(name=" signs ").said == {"dataset": "signs", "model": "signs", "framework": "signs"}
    assert WorkloadTable(model="vit").said == {"model": "vit"}
    assert WorkloadTable().said == {}


@pytest.mark.parametrize("name", ["", " ", "a\x1b[31m", "x" * 201, "two\nlines"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        WorkloadTable(name=name)


def test_a_name_and_parts_are_two_answers_to_one_question() -> None:
    with pytest.raises(ValueError, match="leave dataset, model, framework and identity out"):
        WorkloadTable(name="signs", dataset="gtsrb")
    assert WorkloadTable(name="signs", identity={"hardware": "cluster.gpu"}).said
