"""Play nights of training in a moment: python nights.py [HOW_MANY]. Whoever sleeps sets the clock forward instead of waiting.

Each night runs train.py with config.ini as it is then, begins a day after the last one, and writes a log to runs/.
"""

from __future__ import annotations

import os
import runpy
import sys
import time
from pathlib import Path

DAY = 86_400.0
FIRST = 1_792_882_800.0  # 2026-10-24 23:00 UTC, one day before night-1


def main(nights: int) -> None:
    done = len(list(Path("runs").glob("*.csv")))
    for number in range(done + 1, done + nights + 1):
        play(f"night-{number}", FIRST + number * DAY)


def play(name: str, start: float) -> None:
    """One night, from `start` in unix seconds on."""
    begun = now = start

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    sys.argv = ["train.py", "config.ini"]
    os.environ |= {"JPO_RUN_ID": name, "WORLD_SIZE": "4"}
    time.sleep, time.time, time.monotonic = sleep, lambda: now, lambda: now - start
    runpy.run_path("train.py")
    print(f"{name}: {(now - begun) / 3600:.1f} hours")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
