"""[launch] of jpo.toml: mistakes are named, nothing is a shell's line."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from jpo.plugins.launch.settings import LaunchTable


def test_everything_has_a_default() -> None:
    assert LaunchTable().on == "local"
    assert LaunchTable().command == ()


@pytest.mark.parametrize(
    "given",
    [
        {"command": "python train.py"},
        {"on": "lsf"},
        {"on": ["slurm"]},
        {"timeout": "0s"},
        {"slurm": {"partition": "main --wrap=x"}},
        {"kubernetes": {"image": ""}},
        {"aws": {"ami": "x"}},
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        LaunchTable.model_validate(given)


def test_a_timeout_is_a_duration() -> None:
    assert LaunchTable.model_validate({"timeout": "2h"}).timeout == 7200.0


@pytest.mark.parametrize("given", ["lsf", ["slurm"], 3, None])
def test_an_engine_that_is_none_is_answered_with_those_that_there_are(given: object) -> None:
    with pytest.raises(ValidationError, match="'local', 'slurm', 'kubernetes' or 'aws', or an engine of a package"):
        LaunchTable.model_validate({"on": given})
