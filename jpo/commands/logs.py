"""`jpo logs`: many CSV logs at once. What they say workload by workload, and a table of all runs with what JPO makes of them.

Logs and store are only read. A log that cannot be used is named with its reason; the others count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path

from jpo.cost import run_cost_usd
from jpo.cost.sla import SLA_TARGETS, check_run
from jpo.errors import TelemetryError, UsageError
from jpo.history.figures import figures
from jpo.project.load import LoadedSettings
from jpo.project.prices import currency_of, prices_of
from jpo.project.project import open_history
from jpo.records import Identity, Run
from jpo.report import extended, log_tables
from jpo.report.extended import Judged
from jpo.report.log_tables import NotUsable
from jpo.telemetry import log_files, read_each

Track = Callable[[Sequence[int], str], Iterable[int]]


def logs(
    given: Sequence[Path],
    settings: LoadedSettings,
    *,
    form: str,
    file: Path | None,
    now: float,
    track: Track,
    width: int,
    colour: bool,
) -> str:
    """Read the logs, write the extended table if one is wanted, and return the figures as `table`, `json` or `csv`.

    Args:
        given: files, folders and patterns; none: those of [csv] logs.
        file: where the extended table goes.
        track: shows how far it is.

    Raises:
        UsageError: JPO-E133, no log is named; JPO-E132 or E307, `file` cannot be written.
        TelemetryError: JPO-E134, none of the logs can be used.
    """
    patterns = given or [settings.root / pattern for pattern in settings.values.csv.logs]
    paths = list(log_files(patterns))
    if not paths:
        place = ", ".join(map(str, patterns)) or "jpo logs"
        raise UsageError(place, "names no log", "name files, folders with *.csv, or [csv] logs in jpo.toml", code="JPO-E133")
    if file:
        refuse_among_logs(file, [*patterns, *(settings.root / pattern for pattern in settings.values.csv.logs)], paths)
    found, unusable = read_each((paths[i] for i in track(range(len(paths)), "reading logs")), now=now)
    if not found:
        finding = f"none of {len(paths)} logs can be used; {unusable[0].reason}"
        raise TelemetryError("jpo logs", finding, code="JPO-E134")
    runs = [one.run for one in found]
    if file:
        extended.write(file, extended.as_csv(judged(runs, settings), tuple(SLA_TARGETS)))
    prices, usual = prices_of(settings), usual_values(runs)
    told = figures(runs, lambda run: run_cost_usd(run.completed(usual[run.identity]), prices))
    rest = [NotUsable(str(one.path), one.reason, one.code) for one in unusable]
    if form == "json":
        return log_tables.as_json(told, rest)
    return (
        log_tables.as_csv(told)
        if form == "csv"
        else log_tables.as_text(told, rest, width=width, colour=colour, currency=currency_of(settings))
    )


def refuse_among_logs(file: Path, patterns: Iterable[Path], paths: Iterable[Path]) -> None:
    """A table that the next look would take for a log, or that would replace one, goes elsewhere."""
    place = file.resolve()
    taken = any(
        (pattern.resolve() == place.parent and place.suffix == ".csv") or fnmatch(str(place), str(pattern.resolve()))
        for pattern in patterns
    )
    if taken or any(file.exists() and path.exists() and file.samefile(path) for path in paths):
        raise UsageError(str(file), "would be taken for a log", "name a file outside of the logs", code="JPO-E132")
    extended.ours(place, extended.head_of(SLA_TARGETS))  # what must not be replaced is refused before anything is read


def judged(runs: Sequence[Run], settings: LoadedSettings) -> Iterator[Judged]:
    """Every run with its suggestion, reward and SLA, workload by workload, oldest first."""
    prices = prices_of(settings)
    targets = settings.values.sla.targets
    (followed, suggested), usual = suggestions(settings), usual_values(runs)
    by_workload = sorted(runs, key=lambda run: astuple(run.identity))  # stable: each stays oldest first
    for identity, group in groupby(by_workload, key=lambda run: run.identity):
        own = list(group)
        for run, (rewards, reward) in zip(own, rewards_of(own, settings), strict=True):
            suggestion_id = followed.get((identity, run.run_id))
            verdicts = {check.name: check.verdict for check in check_run(targets, run.completed(usual[identity]), prices)}
            yield Judged(run, suggestion_id, suggested.get(suggestion_id or "", {}), rewards, reward, verdicts)


def usual_values(runs: Sequence[Run]) -> dict[Identity, dict[str, float]]:
    """The values which runs, oldest first, are taken to have had where they do not say: those that their workload told first."""
    usual: dict[Identity, dict[str, float]] = {}
    for run in reversed(runs):
        usual.setdefault(run.identity, {}).update(run.parameters)
    return usual


def suggestions(settings: LoadedSettings) -> tuple[dict[tuple[Identity, str], str | None], dict[str, Mapping[str, float]]]:
    """From the store: which suggestion each run on record followed, and what the suggestions proposed."""
    with open_history(settings, read_only=True) as store:
        followed = {(one.run.identity, one.run.run_id): one.suggestion_id for one in store.recorded_runs()}
        return followed, {one.suggestion_id: one.suggested for one in store.suggestions_of()}


def rewards_of(runs: Sequence[Run], settings: LoadedSettings) -> list[tuple[dict[str, float], float | None]]:
    """The rewards of one workload's runs, oldest first, as the agent would have got them: vector by name, and the scalar."""
    import numpy as np

    from jpo.agent.reward import objective, regret_reward
    from jpo.learning.experience import learnable, vectors_of
    from jpo.optimizer.candidates import collect
    from jpo.optimizer.request import Request

    preference = settings.values.preference.record()
    known = learnable(runs)
    today = usual_values(known).get(runs[0].identity, {})
    nothing: dict[str, float] = {}
    before = [(nothing, None)] * (len(runs) - len(known))
    if not today:
        return [*before, *[(nothing, None)] * len(known)]
    request = Request(
        current=today,
        free=(),
        admissible=lambda _today, _proposed: True,
        preference=preference,
        prices=prices_of(settings),
        targets=settings.values.sla.targets,
    )
    vectors = np.array(vectors_of(known, known[0], collect(request, known), request))  # (runs, 6)
    best = np.fmin.accumulate(objective(vectors, preference))
    scalars = regret_reward(vectors, preference, best)
    rows = [
        ({name: float(v) for name, v in zip(extended.REWARDS, vector[:4], strict=True) if np.isfinite(v)}, _known(scalar))
        for vector, scalar in zip(vectors, scalars, strict=True)
    ]
    return [*before, *rows]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value) + 0.0  # -0.0 + 0.0 = 0.0
