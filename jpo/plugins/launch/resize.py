"""Other resources for a job that runs: what an engine may offer besides Launcher. Of one that does not, watchers say so."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from jpo.plugins.launch.job import Needs


@runtime_checkable
class Resizable(Protocol):
    """An engine that changes what a running job holds: CPU affinity, `scontrol update`, the resize of a pod."""

    def resize(self, engine_id: str, needs: Needs) -> None:
        """Give the job these resources from now on, as far as the engine can change them while it runs.

        Raises:
            LaunchError: JPO-E753, the engine refuses, in its own words; JPO-E754, it cannot be reached.
        """
