"""Labels of pods: tests/telemetry/prometheus/pods/test_labels.py has the properties of slugs; here is what a label can hold."""

from __future__ import annotations

import pytest

from jpo.wording.slug import LABEL_VALUE, slug


@pytest.mark.parametrize("text", ["a", "A.b_c-9", "x" * 63])
def test_what_a_label_can_hold(text: str) -> None:
    assert LABEL_VALUE.fullmatch(text)


@pytest.mark.parametrize("text", ["", "-a", "a-", "a b", "x" * 64, "größe", "a/b", "a\n"])
def test_what_no_label_can_hold_has_a_slug_that_can_be_one(text: str) -> None:
    assert not LABEL_VALUE.fullmatch(text)
    assert not text or LABEL_VALUE.fullmatch(slug(text))
