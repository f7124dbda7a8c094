"""What the pods of a run printed, brought home: output.log, and the run log that jpo.runlog repeats on stdout."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from jpo.files import whole
from jpo.plugins.launch.engines.kubernetes.answers import Answer, place, text
from jpo.plugins.launch.engines.kubernetes.pods import CONTAINER
from jpo.plugins.launch.engines.kubernetes.session import Refused, Session
from jpo.plugins.launch.engines.local.output import MOST_BYTES
from jpo.plugins.launch.job import RUN_ID
from jpo.plugins.launch.ledger import make_folder
from jpo.runlog import ECHO

MOST_LOG_BYTES = 2**26
"""Of a run log in memory: a million epochs."""
NOTHING_TO_READ = (400, 404)
"""The API server's answers to who asks for the log of a container that never started, or of a pod that is gone."""
MARK, HEAD = ECHO.encode(), re.compile(rb"# run_id=(.*)\n")


def fetch_output(session: Session, pods: Sequence[Answer], folder: Path) -> None:
    """Write output.log and the run logs into a run's folder, whose name is the run's id; what is there stays where no pods are.

    A run log counts from its head on. Where the kubelet has thrown the head away (containerLogMaxSize, 10 MiB by default),
    the run's numbers are Prometheus' to tell.
    """
    if not pods:
        return
    rows = list[bytes]()
    with whole(folder / "output.log", mode=0o600) as output:
        output.writelines(ends_of(_printed(session, pods, rows), MOST_BYTES))
    for name, log in run_logs(rows, folder.name).items():
        make_folder(folder / "runs")
        with whole(folder / "runs" / f"{name}.csv", mode=0o600) as file:
            file.write(log)


def _printed(session: Session, pods: Sequence[Answer], rows: list[bytes]) -> Iterator[bytes]:
    """The lines that pods printed, one after the other; what they repeat of run logs becomes rows instead."""
    size = 0
    for pod in pods:
        if len(pods) > 1:
            yield f"--- pod {text(pod, 'metadata', 'name')}\n".encode()
        try:
            for line in session.lines("CoreV1Api", "read_namespaced_pod_log", *place(pod), container=CONTAINER):
                printed, mark, row = line.partition(MARK)
                yield printed
                if mark and (size := size + len(row)) < MOST_LOG_BYTES:
                    rows.append(row)
        except Refused as error:
            if error.status not in NOTHING_TO_READ:
                raise


def ends_of(lines: Iterable[bytes], most_bytes: int) -> Iterator[bytes]:
    """Lines of at most so many bytes: of more the first half and the last, and between them how much was left out."""
    head, last, kept, left_out = 0, deque[bytes](), 0, 0
    for line in lines:
        if not last and head + len(line) <= most_bytes // 2:
            head += len(line)
            yield line
            continue
        last.append(line)
        kept += len(line)
        while kept > most_bytes // 2:
            kept -= len(last[0])
            left_out += len(last.popleft())
    if left_out:
        yield f"\n[{left_out} bytes were left out here]\n".encode()
    yield from last


def run_logs(rows: Sequence[bytes], run_id: str) -> dict[str, bytes]:
    """Name -> content of each run log, from its rows in order; one whose name is none is the run's own."""
    logs, name = dict[str, list[bytes]](), ""
    for row in rows:
        if head := HEAD.match(row):
            said = head[1].decode("utf-8", "replace")
            name = said if RUN_ID.fullmatch(said) else run_id
            logs[name] = []
        if name:
            logs[name].append(row)
    return {name: b"".join(parts) for name, parts in logs.items()}
