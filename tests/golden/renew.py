"""Renews the golden files: `python tests/golden/renew.py [--wording] [SCENARIO ...]`.

Without arguments all scenarios are played, and every document that differs from its golden file beyond the tolerance replaces
it; each difference is printed, for the commit's message and its reviewer. With --wording only documents are renewed which say
the same otherwise: all their differences are sentences with the same numbers in them. The exit code is then 1 if others remain.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from golden.harness import EXPECTED, Json, Scenario, differences, golden, on_record, play, report
from golden.scenarios import SCENARIOS

LINE = 130
"""Longest line of a golden file that is made of several values."""


def main(arguments: list[str]) -> int:
    wording = "--wording" in arguments
    names = [word for word in arguments if word != "--wording"]
    if unknown := set(names) - {scenario.name for scenario in SCENARIOS}:
        sys.exit(f"{', '.join(unknown)}: no such scenario; there are {', '.join(scenario.name for scenario in SCENARIOS)}")
    refused = sum(renewed(scenario, wording=wording) for scenario in SCENARIOS if not names or scenario.name in names)
    return int(refused > 0)


def renewed(scenario: Scenario, *, wording: bool) -> int:
    """Renew one scenario's files; how many documents differ and were left."""
    with tempfile.TemporaryDirectory() as folder:
        documents = play(scenario, Path(folder))
    refused = 0
    for step, document in documents.items():
        path = golden(scenario.name, step)
        found = list(differences(on_record(scenario.name, step), document)) if path.exists() else []
        if path.exists() and not found:
            continue
        left = wording and (not found or not all(one.wording for one in found))
        refused += left
        sys.stdout.write(
            f"{'left' if left else 'renewed'}: {path.relative_to(EXPECTED)}\n" + (f"{report(found)}\n" if found else "")
        )
        if not left:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(written(document) + "\n", encoding="utf-8")
    for path in (EXPECTED / scenario.name).glob("*.json"):
        if path.stem not in documents and not wording:
            path.unlink()
            sys.stdout.write(f"removed: {path.relative_to(EXPECTED)}\n")
    return refused


def written(document: Json, indent: int = 0) -> str:
    """JSON in which what fits into a line is one."""
    flat = json.dumps(document, ensure_ascii=False)
    if not document or not isinstance(document, dict | list) or len(flat) + indent < LINE:
        return flat
    if isinstance(document, dict):
        parts = [f"{json.dumps(key, ensure_ascii=False)}: {written(value, indent + 1)}" for key, value in document.items()]
    else:
        parts = [written(value, indent + 1) for value in document]
    opening, closing = "{}" if isinstance(document, dict) else "[]"
    pad = "\n" + " " * indent
    return f"{opening}{pad} " + f",{pad} ".join(parts) + f"{pad}{closing}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
