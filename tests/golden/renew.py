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

from golden.harness import EXPECTED, Scenario, differences, golden, on_record, play, report
from golden.scenarios import SCENARIOS


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
            path.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    for path in (EXPECTED / scenario.name).glob("*.json"):
        if path.stem not in documents and not wording:
            path.unlink()
            sys.stdout.write(f"removed: {path.relative_to(EXPECTED)}\n")
    return refused


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
