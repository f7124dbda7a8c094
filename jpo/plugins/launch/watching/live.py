"""Runs that go on for other plugins, which may not import this one: by a run's id, or a pod as NAMESPACE/POD."""

import re
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.kubernetes.launcher import KubernetesLauncher
from jpo.plugins.launch.engines.kubernetes.live import LivePod
from jpo.plugins.launch.job import RUN_ID
from jpo.plugins.launch.ledger import read
from jpo.plugins.launch.project.engines import launcher_of
from jpo.plugins.launch.project.place import ledger_of
from jpo.plugins.launch.story.watch.story import launcher_for
from jpo.project.load import LoadedSettings

POD = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")


@runtime_checkable
class ShowsLive(Protocol):
    """An engine whose runs can be followed sample by sample; not only those of JPO where it finds them `by_name`."""

    def live(self, engine_id: str) -> Any:
        """What goes on: its samples, what it holds, and the means to change that (jpo/plugins/phases/following/follower.py)."""


def live_run(name: str, settings: LoadedSettings, environ: Mapping[str, str]) -> Any | None:
    """A run by its id, or a pod by NAMESPACE/POD; None: nothing is known of either.

    Raises LaunchError: JPO-E765, it does not go on; JPO-E753, its engine cannot show it; the engine's own.
    """
    entry = read(ledger_of(settings), name) if RUN_ID.fullmatch(name) else None
    if entry is not None:
        launcher = launcher_for(entry, settings, environ)
        if not isinstance(launcher, ShowsLive) or entry.engine_id is None or entry.end is not None:
            finding = "has ended" if entry.end else f"cannot be followed on {entry.engine}, or is not submitted"
            raise LaunchError(f"run {name}", finding, "see `jpo watch`", code="JPO-E753")
        return launcher.live(entry.engine_id)
    if POD.fullmatch(name):
        engine: Any = launcher_of(settings, KubernetesLauncher.name, environ=environ, detached=True)
        return LivePod(engine.session, name)
    return None
