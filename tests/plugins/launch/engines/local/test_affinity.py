import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jpo.plugins.launch.engines.local.processes import confine, most_cpus

SPAWNS = """
import subprocess, sys, threading, time
threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"])
print(child.pid, flush=True)
time.sleep(30)
"""


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="this machine lets one CPU be used")
def test_all_threads_of_all_processes_are_confined():
    with subprocess.Popen([sys.executable, "-c", SPAWNS], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        time.sleep(0.1)
        kept = confine([parent.pid, child], 1)
        threads = [int(name.name) for pid in (parent.pid, child) for name in Path(f"/proc/{pid}/task").iterdir()]
        found = [os.sched_getaffinity(thread) for thread in threads]
        os.kill(child, 9)
        parent.kill()
    assert len(kept) == 1
    assert len(threads) >= 3
    assert found == [{*kept}] * len(threads)


def test_of_processes_that_are_gone_nothing_is_confined():
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
        assert confine([gone.pid], 1) == ()
        assert most_cpus([gone.pid]) == 0
        assert most_cpus([gone.pid, os.getpid()]) == len(os.sched_getaffinity(0))
