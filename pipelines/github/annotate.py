"""The last step of the GitHub action: says what changed where GitHub shows it.

    python annotate.py REPORT CONFIG

REPORT is the folder with suggestion.json and config.before.ini, CONFIG the config.ini as it is now. Prints one `::notice` per
changed key, at its line; appends the step's outputs to $GITHUB_OUTPUT. Standard library only; decides nothing. Texts from
config.ini are data: they cannot begin a workflow command.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def main(report: Path, config: str) -> None:
    suggestion = json.loads((report / "suggestion.json").read_text("utf-8"))
    changed = changed_lines((report / "config.before.ini").read_bytes(), Path(config).read_bytes())
    outputs = {"status": suggestion["status"], "suggestion-id": suggestion["suggestion_id"], "report": str(report)}
    outputs |= values(suggestion)
    why = next(iter(suggestion.get("reasons", [])), "")
    sys.stdout.writelines(f"{notice}\n" for notice in notices(suggestion["changes"], changed, config, why))
    append("GITHUB_OUTPUT", (line for name, value in outputs.items() for line in output(name, value)))


def append(variable: str, lines: Iterator[str]) -> None:
    with Path(os.environ[variable]).open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def changed_lines(before: bytes, after: bytes) -> dict[str, int]:
    """Option name in lower case -> 1-based number of its line, for lines that differ. Values are edited within their lines."""
    pairs = enumerate(zip(before.split(b"\n"), after.split(b"\n"), strict=False), start=1)
    return {option_of(new): number for number, (old, new) in pairs if old != new}


def option_of(line: bytes) -> str:
    """`Batch_Size = 64` -> `batch_size`."""
    return line.decode("utf-8", "replace").replace(":", "=").partition("=")[0].strip().lower()


def values(suggestion: Mapping[str, Any]) -> dict[str, str]:
    """Old and new values as JSON on one line, for `fromJSON` in matrices: by parameter in JPO's units, and change by change."""
    changes = [
        {"parameter": one.get("parameter"), "key": one["key"], "old": one["old_text"], "new": one["new_text"]}
        for one in suggestion["changes"]
    ]
    old, new = suggestion.get("current", {}), suggestion.get("suggested", {})
    return {"old": json.dumps(old), "new": json.dumps(new), "changes": json.dumps(changes)}


def notices(changes: list[Mapping[str, Any]], lines: Mapping[str, int], config: str, why: str = "") -> Iterator[str]:
    """One workflow command per change, with the reason; in check mode config.ini is as it was, and the notice names no line."""
    for change in changes:
        line = lines.get(change["key"].rpartition(".")[2].lower())
        place = f"file={in_property(config)}" + (f",line={line}" if line else "")
        text = f"{change['key']}: {change['old_text']} → {change['new_text']}: {why or change['reason']}"
        yield f"::notice {place},title=JPO::{in_message(text)}"


def in_message(text: str) -> str:
    """Nothing in the text may end the command or begin another one, or steer who reads the log."""
    text = "".join(character if character.isprintable() or character in "\r\n" else " " for character in text)
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def in_property(text: str) -> str:
    return in_message(text).replace(":", "%3A").replace(",", "%2C")


def output(name: str, value: str) -> tuple[str, str, str]:
    """Lines for $GITHUB_OUTPUT. The delimiter is random, so that no value can end its own block."""
    delimiter = f"jpo-{secrets.token_hex(16)}"
    return f"{name}<<{delimiter}", value, delimiter


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
