"""Patience with engines: calls that are waited for so long together, and not any longer."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def within(seconds: float, calls: Sequence[Callable[[], object]]) -> None:
    """Make calls side by side; one that is not over by then goes on in vain, and ends with the program at the latest.

    Whatever a call raises in time is raised here.
    """
    import multiprocessing  # where an engine is asked alone: `jpo suggest` starts without it
    from multiprocessing.pool import ThreadPool

    pool = ThreadPool(len(calls))  # its threads end with the program, even while they wait
    try:
        pool.map_async(lambda call: call(), calls, chunksize=1).get(seconds)
    except multiprocessing.TimeoutError:
        pass
    finally:
        pool.terminate()
