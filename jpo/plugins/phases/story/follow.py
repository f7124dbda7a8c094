"""`jpo phases follow`: sample by sample the phase of a run, what comes next, and, with --apply, the request that follows it."""

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from jpo.cost import Prices, usd_per_hour
from jpo.errors import LaunchError, TelemetryError, UsageError
from jpo.history import AuditEvent, Store
from jpo.history.canonical import Json
from jpo.history.events import ADJUSTED
from jpo.plugin import offered
from jpo.plugins.phases.following.cgroup import CODE, Cgroup
from jpo.plugins.phases.following.follower import FollowedState, FollowTarget, RequestFollower, UsageSample
from jpo.plugins.phases.following.measured import MeasuredPod
from jpo.plugins.phases.model import HORIZON_SECONDS, PhaseModel
from jpo.plugins.phases.report.followed import Followed, finite, in_units
from jpo.project.load import LoadedSettings
from jpo.project.prices import prices_of
from jpo.project.project import open_history
from jpo.project.sources import prometheus_of

SETTLED = "adjustment settled"
STALE = 3.0
"""Sampling intervals without a sample after which nobody knows what a run needs."""
ALIKE = 0.01
"""Share by which a limit may differ from what was asked: pages, millicores."""
MOST_RECORDS = 1000
"""Newest of the audit log, in which a follow that was killed left the first request."""


class FollowTerms(NamedTuple):
    """How a run is followed: whether requests are carried out, on which log, at which prices, by which clock."""

    apply: bool
    open_store: Callable[[], Store]
    prices: Prices
    clock: Callable[[], float]
    sleep: Callable[[float], None]


def terms(settings: LoadedSettings, clock: Callable[[], float], sleep: Callable[[float], None], *, apply: bool) -> FollowTerms:
    return FollowTerms(apply, lambda: open_history(settings), prices_of(settings), clock, sleep)


def target(name: str, settings: LoadedSettings, environ: Mapping[str, str], terms: FollowTerms) -> FollowTarget:
    """What a name stands for: the folder of a cgroup, a run that was launched here, a pod.

    Raises UsageError JPO-E737: nothing that could be followed; LaunchError: the engine's.
    """
    if os.path.isdir(name):  # noqa: PTH112 - a name that no path can have is none, and no error
        return Cgroup(Path(name), terms.clock, apply=terms.apply)
    find = offered("live runs")
    found = find and find(name, settings, environ)
    if found is None:
        raise UsageError(f"{name!r:.200}", "names neither a cgroup nor a run nor a pod", "see `jpo watch` for runs", code=CODE)
    if own := getattr(found, "cgroup", None):
        return Cgroup(own, terms.clock, apply=terms.apply)
    server = prometheus_of(settings)
    live: FollowTarget = MeasuredPod(found, server, settings) if server and found.pod else found
    return live


@dataclass(slots=True)
class Resizes:
    """Requests of one run as they are carried out, each on the audit log with what it should save and what it saved."""

    target: FollowTarget
    terms: FollowTerms
    held: tuple[float, float]
    since: float = 0.0
    open: Mapping[str, Json] = field(default_factory=dict)
    """The last one, of which nobody knows yet what it saved; empty: none."""

    def carry_out(self, state: FollowedState, request: tuple[float, float]) -> None:
        """On record first, then in force; what is then in force must be it. Without --apply it is only noted here."""
        now, coming, before = state.sample.t, state.coming, self.held
        self.settle(now)
        self.held = request
        if not self.terms.apply:
            return
        seconds = coming.left_seconds if coming.left_seconds is not None else HORIZON_SECONDS
        why = state.doubt or f"phase {coming.phase}: {in_units(before)} -> {in_units(request)}"
        self.open = {
            "kind": "resize",
            "run_id": self.target.name,
            "about": "",
            "why": why,
            "applied": True,
            "answer": "",
            "first": [finite(each) for each in self.target.first],
            "kept": [finite(each) for each in request],
            "expected": self._saving(request, seconds),
        }
        with self.terms.open_store() as store:
            store.audit(AuditEvent(ADJUSTED, now, None, self.open))
        self.since = now
        self.target.give(request)
        try:
            found = self.target.held()
        except OSError:  # a cgroup that vanished just now: the next look says so
            return
        if not _alike(found, request):
            finding = f"has {in_units(found)} after it was given {in_units(request)}"
            raise LaunchError(self.target.name, finding, "see who else changes it, or follow without --apply", code=CODE)

    def settle(self, now: float) -> None:
        """What the last one saved, until now."""
        if self.open:
            actual = self._saving(self.held, now - self.since)
            with self.terms.open_store() as store:
                store.audit(AuditEvent(SETTLED, now, None, {**self.open, "actual": actual, "right": None}))
            self.open = {}

    def _saving(self, request: tuple[float, float], seconds: float) -> Mapping[str, Json]:
        """Against the first request; unknown where there was none, or nothing has a price."""
        before, after = (
            usd_per_hour({"cpus": cores, "memory_gib": size / 2**30}, self.terms.prices) if max(cores, size) < inf else None
            for cores, size in (self.target.first, request)
        )
        usd = None if before is None or after is None else (before - after) * seconds / 3600
        return {"seconds": None, "usd": usd}


def follow(model: PhaseModel, target: FollowTarget, terms: FollowTerms) -> Generator[Followed]:
    """The run, sample by sample, until it ends; the first request is back when this ends, however it does.

    Raises UsageError: JPO-E736, JPO-E731, the model does not fit; JPO-E737, a limit cannot be written, or is not kept.
    """
    held = target.held()
    if terms.apply:
        _find_first(target, held, terms)
    follower, resizes = RequestFollower(model, target), Resizes(target, terms, held)
    last, count = terms.clock(), 0
    try:
        while True:
            state, doubt = follower.state, ""
            try:
                new = target.samples()
            except (TelemetryError, LaunchError) as error:
                new, doubt = (), error.in_short
            if new is None:
                return
            for sample in new:
                state, last = follower.see(UsageSample(*sample)), terms.clock()
            if doubt or terms.clock() - last > STALE * model.interval_seconds:
                state = follower.back(doubt or f"nothing was measured for {terms.clock() - last:.0f} s")
            if state is not None:
                request = float(state.request[0]), float(state.request[1])
                if resized := request != resizes.held:
                    count += 1
                    resizes.carry_out(state, request)
                yield Followed(target.name, state, request, target.first, resized, count, terms.apply)
            terms.sleep(model.interval_seconds)
    finally:
        try:
            if terms.apply and resizes.held != target.first:
                target.give(target.first)
        finally:
            resizes.settle(terms.clock())


def _find_first(target: FollowTarget, held: tuple[float, float], terms: FollowTerms) -> None:
    """Let a target that holds what a follow left that was killed have the first request of that one."""
    with terms.open_store() as store:
        records = store.audit_records(limit=MOST_RECORDS)
    mine = (one.data for one in records[::-1] if one.kind == ADJUSTED and one.data.get("run_id") == target.name)
    last: Mapping[str, Any] | None = next((data for data in mine if data.get("kind") == "resize"), None)
    if last and _alike(held, _limits(last["kept"])):
        target.first = _limits(last["first"])


def _limits(said: Sequence[float | None]) -> tuple[float, float]:
    cores, size = (inf if each is None else float(each) for each in said)
    return cores, size


def _alike(held: tuple[float, float], asked: tuple[float, float]) -> bool:
    return all(has == wanted or abs(has - wanted) <= ALIKE * wanted for has, wanted in zip(held, asked, strict=True))
