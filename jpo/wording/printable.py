"""Names that come from files and servers, as a terminal may have them."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text in one line that steers no terminal: a blank for each character that does not print."""
    return "".join(character if character.isprintable() else " " for character in text)
