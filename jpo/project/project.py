"""Project: one repository that JPO works for, opened once. Commands hold this record; nothing below it knows settings."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from constraints import Limits
from jpo.cost import Prices
from jpo.errors import JpoError
from jpo.history import Store, open_store
from jpo.history.undo import pinned
from jpo.history.unsettled import settle
from jpo.project.checkout.branch import kept_from_exploring
from jpo.project.checkout.in_force import start_of
from jpo.project.checkout.root import about_its_place
from jpo.project.load import LoadedSettings
from jpo.project.prices import currency_of, prices_of
from jpo.project.secrets import check_store
from jpo.project.workload import limits_of, read_workload, refuse_unknown, with_pins
from jpo.records import Currency, Identity, Note, Parameters, Preference, Quality, Workload

NOTHING: Parameters = {}


@dataclass(frozen=True, eq=False, slots=True)
class Project:
    """One opened repository: its config.ini, its store, and what its settings say, each read once.

    Attributes:
        workload: config.ini as it was read, with the values in force and what rollbacks pin.
        judged_by: the guard's limits, with every pinned value held; None for a command that judges no values.
        targets: the SLA targets by their names in [sla].
        preferences: those of JPO and of [preferences.NAME], by name.
        now: unix seconds at which the command began.
        settings: for this package alone; commands and parts take values from the fields above.
        notes: what reports say of the values and the boldness that it starts with.
    """

    workload: Workload
    judged_by: Limits | None
    prices: Prices
    currency: Currency
    preference: Preference
    preferences: Mapping[str, Preference]
    targets: Mapping[str, float]
    store: Store
    now: float
    settings: LoadedSettings
    notes: tuple[Note, ...] = ()
    keeps: bool = True
    """False: of what goes on record nothing is kept, as with --dry-run."""

    @property
    def limits(self) -> Limits:
        """The guard's limits, of a command that judges values."""
        assert self.judged_by is not None, "opened with judges=False"
        return self.judged_by

    def under(self, name: Identity) -> "Project":
        """The same project, with its workload under another of its names."""
        return self if name == self.workload.identity else replace(self, workload=replace(self.workload, identity=name))


@contextmanager
def open_project(
    path: Path,
    settings: LoadedSettings,
    *,
    now: float,
    read_only: bool = False,
    judges: bool = True,
    pins: bool = True,
    by_hand: Parameters = NOTHING,
) -> Iterator[Project]:
    """Open the repository of a config.ini. The file and jpo.toml are read first: an invalid one leaves no store behind.

    Args:
        path: config.ini.
        read_only: work on a copy of the store, of which nothing is kept.
        judges: whether values will be judged; else limits that are wrong are no reason to fail.
        pins: hold the values that rollbacks have pinned.
        by_hand: values of --set, which this config.ini must have.

    Raises UsageError: config.ini or jpo.toml is invalid, or the URL names no store; StoreError: the store cannot be created,
    opened or read.
    """
    workload, values = read_workload(path, settings, now=now), settings.values
    refuse_unknown(by_hand, workload)
    limits, prices = limits_of(settings) if judges else None, prices_of(settings)
    with open_history(settings, read_only=read_only) as store:
        if not read_only:
            settle(store, workload, now=now)
        workload, notes = start_of(workload, store, settings, limits, now=now)
        workload = pinned(workload, store, now=now) if pins else workload
        yield Project(
            workload,
            limits and with_pins(limits, workload),
            prices,
            currency_of(settings),
            preference_of(settings),
            values.named_preferences,
            targets_of(settings),
            store,
            now,
            settings,
            (*notes, *kept_from_exploring(settings), *about_its_place(settings.store_beside, settings.store_at_root)),
            keeps=not read_only,
        )


KEPT = ContextVar[dict[str, Store | JpoError] | None]("stores that a command keeps open, by URL", default=None)


@contextmanager
def stores_kept_open() -> Iterator[None]:
    """While this is entered, each store is opened once for several config.ini, and one that cannot be is asked for once."""
    before = KEPT.set({})
    try:
        yield
    finally:
        for store in (KEPT.get() or {}).values():
            if isinstance(store, Store):
                store.__exit__()
        KEPT.reset(before)


@dataclass(frozen=True, eq=False, slots=True)
class ProjectStore:
    """The store of a project without its config.ini, with what reports need; `place`: the store's URL as messages show it."""

    store: Store
    place: str
    prices: Prices
    currency: Currency


@contextmanager
def open_project_store(settings: LoadedSettings) -> Iterator[ProjectStore]:
    """Open the store to read it, for commands that need no config.ini; raises as `open_history` and `prices_of` do."""
    prices, currency = prices_of(settings), currency_of(settings)
    with open_history(settings, read_only=True) as store:
        yield ProjectStore(store, settings.store_place, prices, currency)


def open_history(settings: LoadedSettings, *, read_only: bool = False) -> Store:
    """The store that settings name, a context manager; what it records says who asked, and where.

    Raises UsageError: the URL names no store, or one that would get a secret which is not for it; StoreError: it cannot be
    created, opened or read.
    """
    check_store(settings)
    table, url = settings.values.store, settings.store_url
    waits = {"timeout_seconds": table.timeout, "deadline_seconds": table.deadline}
    opened = partial(open_store, url, read_only=read_only, author=settings.author, **waits)
    if (kept := KEPT.get()) is None:
        return opened()
    if url not in kept:
        try:
            kept[url] = opened().__enter__()
        except JpoError as error:
            kept[url] = error
    if isinstance(found := kept[url], JpoError):
        raise found
    return found


def preference_of(settings: LoadedSettings) -> Preference:
    """The weights of time, cost, efficiency and loss in [preference]."""
    return settings.values.preference.record()


def targets_of(settings: LoadedSettings) -> Mapping[str, float]:
    """The SLA targets by their names in [sla], and that of [metric]."""
    return {**settings.values.sla.targets, **settings.values.metric.targets}


def own_direction(settings: LoadedSettings) -> Mapping[str, bool]:
    """Whether more is better of the metric of [metric], by its name; empty where there is none."""
    metric = settings.values.metric
    return {} if metric.name is None else {metric.name: metric.direction == "max"}


def own_metrics(settings: LoadedSettings) -> Mapping[str, Quality]:
    """The metric of [metric] by its name, as logs have it; empty where there is none."""
    best = settings.values.metric.best
    best = 1.0 if best is None else best
    return {name: Quality(name, more, best if more else None) for name, more in own_direction(settings).items()}


def kept_in_store(settings: LoadedSettings) -> tuple[int | None, float]:
    """How many of a workload's newest runs [store] keeps (None: all), and for how many seconds after its end a run's series."""
    table = settings.values.store
    return None if table.keep_runs == "all" else table.keep_runs, table.keep_series
