"""Files of a run that goes on, brought home now and then: of engines that share no disk with this machine."""

import math
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from jpo.errors import LaunchError, UsageError
from jpo.plugins.launch.job import RUN_ID
from jpo.plugins.launch.ledger import folder_of


class OutputSync:
    """When files of which run were brought last, with a pause between them; without a ledger nothing comes before the end."""

    def __init__(self, ledger: Path | None, pause_seconds: float) -> None:
        self._ledger, self._pause_seconds = ledger, pause_seconds
        self._brought_at = dict[str, float]()

    def bring(self, run_id: str, now: float | None, bring: Callable[[Path], object], *, at_once: bool = False) -> None:
        """Bring them into the run's folder, if that is there and it is time, or `at_once`; that they cannot be had is no news of
        the run. `now` are seconds of any clock; None: not known, and nothing is brought."""
        if self._ledger is None or now is None or not RUN_ID.fullmatch(run_id):
            return
        due = at_once or now - self._brought_at.get(run_id, -math.inf) >= self._pause_seconds
        if due and (folder := folder_of(self._ledger, run_id)).is_dir():
            self._brought_at[run_id] = now
            with suppress(LaunchError, UsageError):
                bring(folder)
