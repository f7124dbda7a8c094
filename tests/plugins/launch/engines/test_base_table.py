"""Tables of engines: what JPO does not know is no setting, and names hold no blanks."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from jpo.plugins.launch.engines.base_table import EngineTable, Name


class OneName(EngineTable):
    queue: Name


@pytest.mark.parametrize("given", [{"queue": "a", "quue": "b"}, {"queue": ""}, {"queue": "a --wrap=x"}, {"queue": "a\n"}])
def test_what_cannot_be_meant_is_refused(given: dict[str, str]) -> None:
    assert OneName(queue="a").queue == "a"
    with pytest.raises(ValidationError):
        OneName.model_validate(given)
