"""Colours of what a report means, on pages and in pictures alike: of its text, ground and lines, and of each emphasis."""

NAMES = ("text", "back", "dim", "line", "accent", "good", "warning", "bad", "note", "alarm")


def _named(*colours: str) -> dict[str, str]:
    return dict(zip(NAMES, colours, strict=True))


LIGHT = _named("#1c2024", "#ffffff", "#5b6470", "#d5dae0", "#1f5fa8", "#176639", "#8a5300", "#b3261e", "#fff4d6", "#b3261e")
DARK = _named("#e6e8eb", "#16191d", "#a0a8b2", "#3a414a", "#7db4f0", "#6fd08c", "#f0b849", "#ff8a80", "#3a3014", "#a1271f")
PAPER = {**LIGHT, "text": "#000000", "dim": "#444444", "line": "#bbbbbb", "note": "#ffffff"}
SEVERAL = ("#0072B2", "#000000", "#999999", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#8C6D31")
"""Of kinds that are neither good nor bad: colour-blind readers tell them apart, too. Source: Okabe, Ito, "Color Universal
Design", 2008, with a grey and a brown."""
