from __future__ import annotations

import pytest
from pydantic import ValidationError

from jpo.plugins.imports.settings import ImportsTable


def test_a_column_is_a_name_or_a_name_with_its_unit() -> None:
    columns = {"duration_seconds": {"column": "runtime", "unit": "min"}, "batch_size": "bs"}
    assert ImportsTable.model_validate({"columns": columns}).columns == columns
    with pytest.raises(ValidationError):
        ImportsTable.model_validate({"columns": {"batch_size": {"header": "bs"}}})
