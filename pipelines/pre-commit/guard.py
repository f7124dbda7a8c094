#!/usr/bin/env python3
"""The pre-commit hook `jpo-guard`: each config.ini that is about to be committed against the committed one, within the limits.

    guard.py CONFIG...

Standard library only; the guard is the one next to it in this repository. A file that is new has nothing to be compared with.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

GUARD = Path(__file__).resolve().parents[2] / "constraints"


def main(names: list[str]) -> int:
    return max([verdict(name) for name in names], default=0)


def verdict(name: str) -> int:
    """Exit code of the guard: 0 approved, 1 a rule is violated, 2 a file cannot be used."""
    committed = subprocess.run(["git", "show", f"HEAD:./{name}"], capture_output=True, check=False)  # noqa: S603, S607
    if committed.returncode != 0:
        return 0
    with tempfile.NamedTemporaryFile(suffix=".ini") as before:
        before.write(committed.stdout)
        before.flush()
        # -I -S: neither the checkout nor the environment nor installed packages have a say in what runs.
        command = [sys.executable, "-I", "-S", str(GUARD), before.name, str(Path(name).resolve()), "--limits-of", name]
        return subprocess.run(command, check=False).returncode  # noqa: S603


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
