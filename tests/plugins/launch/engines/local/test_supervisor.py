from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from jpo.plugins.launch.engines.local.output import RunOutput
from jpo.plugins.launch.engines.local.state_file import Place, RunState, read_state, write_state
from jpo.plugins.launch.engines.local.supervisor import Order, Supervision, _watch, packed, unpacked
from jpo.records import RunStatus


def test_an_order_arrives_as_it_was_meant() -> None:
    odd = "a 'b' \"c\" $(x)\n\udcff\u202e"
    order = Order(("python", odd), Path("/x/y z"), Path("/"), {"A": odd, "B": ""}, (0, 3), (7,), 1.5, None, 2.0)
    assert unpacked(packed(order)) == order


def test_a_command_that_ended_before_its_launcher_was_seen_to_die_ended_by_itself(tmp_path: Path) -> None:
    order, state = Order(("true",), tmp_path, tmp_path, {}), RunState("t", Place.here(), started_at=time.time())
    write_state(tmp_path, state)
    supervisor = os.fork()
    if supervisor == 0:
        try:
            (owner, dead), (source, writer) = os.pipe(), os.pipe()
            process = subprocess.Popen(["true"])
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            os.close(dead)
            os.close(writer)
            _watch(Supervision(order, state, RunOutput(source, tmp_path / "output.log"), process.pid, time.monotonic()), owner)
        finally:
            os._exit(0)
    os.waitpid(supervisor, 0)
    ended = read_state(tmp_path)
    assert ended is not None
    assert ended.end is not None
    assert (ended.end.ended_as, ended.end.exit_code) == (RunStatus.SUCCEEDED, 0)
