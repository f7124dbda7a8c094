"""Tests of names in settings that nobody knows."""

from __future__ import annotations

import pytest

from constraints import limits_from
from constraints.unknown import SECTIONS, section_remedy
from jpo.project.plugins.tables import settings_model


@pytest.mark.parametrize(
    ("section", "hint"),
    [
        ("limit", "limits of parameters belong in [parameters], e.g. batch_size"),
        ("max_change", "limits of parameters belong in [parameters]"),
        ("parameter", "did you mean parameters?"),
        ("Parameters", "did you mean parameters?"),
        ("quotas", "did you mean quota?"),
        ("batch_size", "did you mean [parameters.batch_size]?"),
        ("lr", "did you mean [parameters.learning_rate]?"),
        ("zzz", "known are workload, parameters"),
    ],
)
def test_a_section_that_nobody_knows_is_refused_with_what_was_meant(section: str, hint: str) -> None:
    assert section_remedy(section).startswith(hint)
    with pytest.raises(ValueError, match=rf"^\[{section}\]: unknown section; "):
        limits_from({"parameters": {}, section: {"batch_size": {"max_change": 2}}})


def test_the_guard_knows_all_sections_that_jpo_knows_and_no_others() -> None:
    assert set(SECTIONS) == {*settings_model(None).model_fields, "plugins"}
    limits_from({name: {} for name in SECTIONS})
