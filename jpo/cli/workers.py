"""Work spread over processes: on the cores of this machine, or on a Ray cluster; the one place that knows how.

A piece of work is a pure function of its arguments, so the result does not depend on where it was computed.
"""

import logging
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from importlib.util import find_spec
from io import StringIO
from itertools import starmap
from typing import Any, TypeVar

import click

from jpo.cli.options import gathered, options
from jpo.errors import UsageError
from jpo.records.progress import Workers

F = TypeVar("F", bound=Callable[..., Any])
AHEAD = 4
"""Pieces handed out for each process at once: none waits for the next one, and little is lost where the rest is not wanted."""
RETRIES = 3
"""How often Ray repeats a piece whose process was lost."""
OF_RAY = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # what makes it choose 127.0.0.1
    "RAY_IGNORE_UNHANDLED_ERRORS": "1",  # of pieces whose results nobody asks for any more
}
"""What Ray reads when it is imported."""


def spread_options(name: str, of: str = "", *, default: int | None = None) -> Callable[[F], F]:
    """Options of how many processes there are and whose, as the argument `spread`.

    `name`: of the first one; `of`: what they share, where it is not all; `default`: None: one per core.
    """
    said = f"Processes at once{of}; default: {default or 'one per core'}."
    return lambda function: options(
        click.option(name, "processes", type=click.IntRange(1), default=default, help=said, show_default=False),
        click.option("--backend", type=click.Choice(["local", "ray"]), default="local", help="Whose processes."),
    )(gathered(function, "spread", lambda processes, backend: partial(workers, processes, backend), ("processes", "backend")))


def cores() -> int:
    """How many processes can compute here at the same time."""
    from pathlib import Path

    from jpo.inventory.cgroup import cpus_here

    return max(1, int(cpus_here(Path("/proc"), Path("/sys/fs/cgroup"))[0]))


@contextmanager
def workers(processes: int | None, backend: str, pieces: int) -> Iterator[Workers]:
    """Processes that take pieces of work; `processes` at once, None: one per core, on this machine no more than pieces.

    Raises UsageError: JPO-E703, Ray is not installed.
    """
    if backend == "ray":
        with _on_ray(processes or cores()) as on_ray:
            yield on_ray
    elif (count := min(processes or cores(), pieces)) > 1:
        with _on_cores(count) as on_cores:
            yield on_cores
    else:
        yield starmap


@contextmanager
def _on_cores(count: int) -> Iterator[Workers]:
    """Processes that begin anew: a copy of this one would have its threads' locks and its connections to stores."""
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing import active_children, get_context

    pool = ProcessPoolExecutor(count, get_context("spawn"), initializer=_leave_interrupts)
    try:
        yield partial(_in_order, pool.submit, Future.result, AHEAD * count)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in active_children():  # a piece that nobody waits for may take minutes
            process.terminate()


def _leave_interrupts() -> None:
    """Of a process that works: Ctrl-C is for who has started it."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _on_ray(count: int) -> Iterator[Workers]:
    """Ray's processes: of the cluster that RAY_ADDRESS names; else of one that begins and ends here, where nothing listens but on
    loopback. What Ray says of itself, also of a lost process, stays out of the result.
    """
    if find_spec("ray") is None:
        raise UsageError(
            "--backend ray", "needs ray, which is not installed", 'pip install "jpo[ray]", or leave it out', code="JPO-E703"
        )
    own = not os.environ.get("RAY_ADDRESS")
    os.environ.update(OF_RAY if own else {})
    import ray

    begin = not ray.is_initialized()
    call = ray.remote(max_retries=RETRIES)(_call)
    with redirect_stdout(StringIO()):
        if begin:
            of_its_own: dict[str, Any] = {"address": "local", "num_cpus": count, "include_dashboard": False} if own else {}
            ray.init(log_to_driver=False, logging_level=logging.ERROR, **of_its_own)
        try:
            yield partial(_in_order, call.remote, _of_ray, AHEAD * count)
        finally:
            if begin:
                ray.shutdown()


def _call(function: Callable[..., Any], *piece: Any) -> Any:
    return function(*piece)


def _of_ray(reference: Any) -> Any:
    """The result of a piece, or the error that it raised, as if it had been computed here."""
    import ray

    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None


def _in_order(
    submit: Callable[..., Any],
    result: Callable[[Any], Any],
    ahead: int,
    function: Callable[..., Any],
    pieces: Iterable[Sequence[Any]],
) -> Iterator[Any]:
    """Results in the order of the pieces, of which so many are handed out ahead of what has been asked for."""
    waiting = deque[Any]()
    for piece in pieces:
        waiting.append(submit(function, *piece))
        if len(waiting) >= ahead:
            yield result(waiting.popleft())
    while waiting:
        yield result(waiting.popleft())
