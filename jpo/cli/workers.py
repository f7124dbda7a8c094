"""Work spread over processes, this machine's or Ray's. Pieces are pure functions: it is no matter where they are computed."""

import logging
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from importlib.util import find_spec
from io import StringIO
from itertools import starmap
from pathlib import Path
from typing import Any, TypeVar

import click

from jpo.cli.options import gathered, options
from jpo.errors import UsageError
from jpo.inventory.cgroup import cpus_here
from jpo.records.progress import Workers

F = TypeVar("F", bound=Callable[..., Any])
AHEAD = 4
"""Pieces handed out for each process: none waits for the next one, and little is lost where the rest is not wanted."""
RETRIES = 3
"""How often Ray computes a piece again whose process was lost."""
RAYS_OWN = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # what makes it choose 127.0.0.1
    "RAY_IGNORE_UNHANDLED_ERRORS": "1",  # of pieces whose results nobody asks for any more
}
"""What Ray reads when it is imported."""


def spread_options(name: str, of: str = "", *, default: int | None = None) -> Callable[[F], F]:
    """How many processes there are (None: one per core) and whose, as the argument `spread`; `of`: what they share."""
    said = f"Processes at once{of}; default: {default or 'one per core'}."
    return lambda function: options(
        click.option(name, "processes", type=click.IntRange(1), default=default, help=said, show_default=False),
        click.option("--backend", type=click.Choice(["local", "ray"]), default="local", help="Whose processes."),
    )(gathered(function, "spread", lambda processes, backend: partial(workers, processes, backend), ("processes", "backend")))


@contextmanager
def workers(processes: int | None, backend: str, pieces: int) -> Iterator[Workers]:
    """Processes that take pieces of work, so many at once; None: one per core; here no more than pieces, and none for one.

    Raises UsageError: JPO-E703, Ray is not installed.
    """
    count, opened = processes or max(1, int(cpus_here(Path("/proc"), Path("/sys/fs/cgroup"))[0])), _ray
    if backend == "local":
        count, opened = min(count, pieces), _cores
        if count <= 1:
            yield starmap
            return
    with opened(count) as (submit, result):

        def in_order(function: Callable[..., Any], given: Iterable[Sequence[Any]]) -> Iterator[Any]:
            waiting = deque[Any]()
            for piece in given:
                waiting.append(submit(function, *piece))
                if len(waiting) >= AHEAD * count:
                    yield result(waiting.popleft())
            yield from map(result, waiting)

        yield in_order


@contextmanager
def _cores(count: int) -> Iterator[tuple[Callable[..., Any], Callable[[Any], Any]]]:
    """Processes that begin anew: a copy of this one would have its threads' locks and its connections to stores."""
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing import active_children, get_context

    ctrl_c_is_for_the_command = (signal.SIGINT, signal.SIG_IGN)
    pool = ProcessPoolExecutor(count, get_context("spawn"), signal.signal, ctrl_c_is_for_the_command)
    try:
        yield pool.submit, Future.result
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in active_children():  # a piece that nobody waits for may take minutes
            process.terminate()


@contextmanager
def _ray(count: int) -> Iterator[tuple[Callable[..., Any], Callable[[Any], Any]]]:
    """Processes of the cluster that RAY_ADDRESS names; else of a Ray that begins and ends here and listens on loopback alone.
    What it says of itself, also of a lost process, stays out of the result."""
    if find_spec("ray") is None:
        remedy = 'pip install "jpo[ray]", or leave it out'
        raise UsageError("--backend ray", "needs ray, which is not installed", remedy, code="JPO-E703")
    own = not os.environ.get("RAY_ADDRESS")
    local: dict[str, Any] = {"address": "local", "num_cpus": count, "include_dashboard": False} if own else {}
    os.environ.update(RAYS_OWN if own else {})
    import ray

    def result(reference: Any) -> Any:
        try:
            return ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None  # what was raised there, as if it had been here

    on_sigterm = signal.getsignal(signal.SIGTERM)
    begins, call = not ray.is_initialized(), ray.remote(max_retries=RETRIES)(lambda function, *piece: function(*piece))
    with redirect_stdout(StringIO()):
        if begins:
            ray.init(log_to_driver=False, logging_level=logging.ERROR, **local)
            signal.signal(signal.SIGTERM, on_sigterm)  # Ray would exit by its own, and keep doing so after its end
        try:
            yield call.remote, result
        finally:
            if begins:
                ray.shutdown()
