from __future__ import annotations

import pytest

from jpo.report.forms.colours import DARK, LIGHT, PAPER


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("colours", [LIGHT, DARK, PAPER])
@pytest.mark.parametrize("name", ["text", "dim", "accent", "good", "warning", "bad"])
def test_what_is_written_can_be_read(colours: dict[str, str], name: str) -> None:
    """Source: W3C, "Web Content Accessibility Guidelines 2.2", 1.4.3: a contrast of 4.5 at least."""
    lighter, darker = sorted((luminance(colours[name]), luminance(colours["back"])), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def test_the_tables_have_the_same_names() -> None:
    assert LIGHT.keys() == DARK.keys() == PAPER.keys()
