"""AccaSim 1.1.3 on a log, in a process of its own: seconds of simulation and average wait, as JSON on stdout.

    python benchmarks/peers/accasim_run.py LOG.SWF PROCESSORS fifo|sjf|easy

It was written for Python 3.5 and says `from collections import Mapping`, which went away with 3.10: the shim below puts it back.
The machine is one node, so that any job fits where enough cores are free. Its files go to a folder that is deleted afterwards.
"""

from __future__ import annotations

import collections
import collections.abc
import contextlib
import json
import statistics
import sys
import tempfile
import time
import warnings
from datetime import datetime
from pathlib import Path

WHEN = "%Y-%m-%d %H:%M:%S"


def main(log: str, processors: str, policy: str) -> int:
    warnings.simplefilter("ignore")
    collections.Mapping = collections.abc.Mapping  # type: ignore[attr-defined]
    from accasim.base.allocator_class import FirstFit  # type: ignore[import-not-found,unused-ignore]
    from accasim.base.scheduler_class import (  # type: ignore[import-not-found,unused-ignore]
        EASYBackfilling,
        FirstInFirstOut,
        ShortestJobFirst,
    )
    from accasim.base.simulator_class import Simulator  # type: ignore[import-not-found,unused-ignore]

    dispatcher = {"fifo": FirstInFirstOut, "sjf": ShortestJobFirst, "easy": EASYBackfilling}[policy](FirstFit())
    quiet = {"statistics_output": False, "show_statistics": False, "LOG_LEVEL": "ERROR"}
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        node = {"groups": {"node": {"core": int(processors)}}, "resources": {"node": 1}}
        system = Path(folder, "system.json")
        system.write_text(json.dumps(node | {"start_time": 0, "equivalence": {"processor": {"core": 1}}}))
        simulator = Simulator(log, str(system), dispatcher, RESULTS_FOLDER_NAME=folder, **quiet)
        began = time.perf_counter()
        simulator.start_simulation()
        seconds = time.perf_counter() - began
        waits = [wait(line) for file in Path(folder).glob("sched-*") for line in file.read_text().splitlines()]
    print(json.dumps({"seconds": seconds, "jobs": len(waits), "avg_wait_seconds": statistics.fmean(waits)}))
    return 0


def wait(line: str) -> float:
    """`id;user;queued__where__start;end;...` -> seconds."""
    queued, _, ran = line.split("__")
    moments = (datetime.strptime(text, WHEN) for text in (ran.split(";")[0], queued.rsplit(";", 1)[1]))  # noqa: DTZ007 - both alike
    start, came = moments
    return (start - came).total_seconds()


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
