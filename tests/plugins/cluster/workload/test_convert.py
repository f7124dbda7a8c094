"""Converters are tested by their command; here what it does not reach."""

from __future__ import annotations

from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.plugins.cluster.workload.convert import FORMS, convert


def test_a_file_that_is_no_text_is_refused_in_every_form(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_bytes(b"\xff\xfe\x00")
    for form in FORMS:
        with pytest.raises(UsageError, match="is not UTF-8"):
            convert(path, form, {})
