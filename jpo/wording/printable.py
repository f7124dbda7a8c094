"""Printable text: names from files and servers, made safe for a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """Text on one line without control characters: a blank for each character that does not print."""
    return "".join(character if character.isprintable() else " " for character in text)
