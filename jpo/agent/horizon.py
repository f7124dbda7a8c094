"""Horizon of the belief rule: how many further runs a gain is weighed with, from the runs that were done and that are to come."""

LEAST, UNTOLD = 6.0, 15.0
"""Runs, where nobody says how many will follow: as many as were done, within these, or every night. Docs: decision 0020."""
FIRST, FIRST_RUNS = 10.0, 2
"""Runs, at first: what is wrong with the prior shows in any of them, and the boldest trial need not be the first."""
MOST = 60.0


def horizon(runs_done: int, runs_left: int | None, *, nightly: bool = False) -> float:
    """Further runs which a better configuration is taken to serve: no more than follow. See `Context` for the arguments."""
    if runs_left is None:
        return UNTOLD if nightly else min(max(LEAST, runs_done), UNTOLD)
    return min(FIRST if runs_done <= FIRST_RUNS else MOST, runs_left)
