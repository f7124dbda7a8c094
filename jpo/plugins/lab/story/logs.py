"""`jpo lab logs`: many CSV logs at once. What they say workload by workload, and a table of all runs with what JPO makes of them.

Logs and store are only read. A log that cannot be used is named with its reason; the others count.
"""

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import partial
from itertools import groupby
from pathlib import Path

from jpo.cost import Prices, run_cost_usd
from jpo.cost.sla import check_run
from jpo.errors import TelemetryError, UsageError
from jpo.files import whole
from jpo.files.reading import beginning, same_file
from jpo.history.figures import figures, usual_values
from jpo.plugins.lab.report.logs import REWARDS, Judged, LogFigures, epochs_csv, epochs_head, extended_csv, extended_head
from jpo.project.load import LoadedSettings
from jpo.project.prices import currency_of, prices_of
from jpo.project.project import open_history, preference_of, targets_of
from jpo.project.request import qualities_of, quality_of
from jpo.project.sources import own_names
from jpo.records import Identity, Preference, Quality, Run, Suggestion, Track
from jpo.telemetry.csv.folder import log_files, read_each
from jpo.telemetry.csv.lines import COLUMNS, Log
from jpo.telemetry.csv.log import whole_lines
from jpo.wording.names import TARGETS

Rewards = tuple[dict[str, float], float | None]
"""What a run earned: its vector by name, as far as it is known, and the scalar."""


def logs(
    given: Sequence[Path], settings: LoadedSettings, extended: Path | None, epochs: Path | None, *, now: float, track: Track
) -> LogFigures:
    """Read the logs, those of [csv] logs where none is given, and write the tables that are wanted, as CSV.

    `extended`, `epochs`: where a row per run and a row per row of each log go; None: nowhere.

    Raises UsageError: JPO-E133, no log is named; JPO-E132 or E307, a table cannot be written. TelemetryError: JPO-E134, none of
    the logs can be used.
    """
    usual_logs = [Path(pattern) for pattern in settings.csv_logs]
    patterns = given or usual_logs
    paths = list(log_files(patterns))
    if not paths:
        place = ", ".join(map(str, patterns)) or "jpo lab logs"
        raise UsageError(place, "names no log", "name files, folders with *.csv, or [csv] logs in jpo.toml", code="JPO-E133")
    for file, head in ((extended, extended_head(TARGETS)), (epochs, epochs_head(COLUMNS))):
        if file:
            refuse_among_logs(file, [*patterns, *usual_logs], paths, head)
    own = own_names(settings)
    usable, unusable = read_each((paths[i] for i in track(range(len(paths)), "reading logs")), now=now, own=own)
    if not usable:
        finding = f"none of {len(paths)} logs can be used; {unusable[0].why.text}"
        raise TelemetryError("jpo lab logs", finding, code="JPO-E134")
    runs = [log.run for log in usable]
    prices, usual = prices_of(settings), usual_values(runs)
    if extended or epochs:
        found = list(judged(runs, settings, prices))
        if extended:
            write_extended(extended, extended_csv(found, tuple(TARGETS)))
        if epochs:
            files = {(log.run.identity, log.run.run_id): log.path for log in usable}
            rows = ((run, rows_of(files[run.run.identity, run.run.run_id])) for run in found)
            write_extended(epochs, "".join(epochs_csv(rows, COLUMNS)))
    return LogFigures(
        figures(runs, lambda run: run_cost_usd(run.completed(usual[run.identity]), prices), own.metrics),
        unusable,
        currency_of(settings),
    )


def refuse_among_logs(file: Path, patterns: Iterable[Path], paths: Iterable[Path], head: Iterable[str]) -> None:
    """A table that would be taken for a log the next time, or that would replace one, goes elsewhere."""
    place = Path(os.path.realpath(file))  # Path.resolve raises for a link to itself
    sources = map(os.path.realpath, patterns)
    taken = any((source == str(place.parent) and place.suffix == ".csv") or fnmatch(str(place), source) for source in sources)
    if taken or any(same_file(file, path) for path in paths):
        raise UsageError(str(file), "would be taken for a log", "name a file outside of the logs", code="JPO-E132")
    ours(file, head)  # what must not be replaced is refused before anything is read


def rows_of(path: Path) -> Iterator[Mapping[str, float]]:
    """The rows of a log, by column; what was not measured is missing."""
    log = Log(path)
    return (row for line in whole_lines(path) if (row := log.take(line)) is not None)


def write_extended(path: Path, text: str) -> None:
    """The file whole or not at all, over an earlier one of its kind, and over nothing else.

    Raises UsageError: JPO-E132, it is another file; JPO-E307, it cannot be written.
    """
    try:
        with whole(path, over=ours(path, text.partition("\n")[0].split(","))) as new:
            new.write(text.encode())
    except FileExistsError as error:
        raise _not_ours(path, "appeared meanwhile") from error
    except OSError as error:
        raise UsageError(str(path), f"cannot be read ({error.strerror})", "name another one", code="JPO-E307") from error


def ours(path: Path, names: Iterable[str]) -> bool:
    """Whether the file is an extended CSV with these columns; False where there is none. It is known by its head alone.

    Raises UsageError: JPO-E132, it is something else, or cannot be read.
    """
    head = f"{','.join(names)}\n".encode()
    if not os.path.exists(path):  # noqa: PTH110 - Path.exists raises for a name that is too long
        return False
    if beginning(path, len(head), partial(_not_ours, path)) != head:
        raise _not_ours(path, "begins otherwise")
    return True


def _not_ours(path: Path, why: str) -> UsageError:
    finding = f"exists and was not written by this version of `jpo lab logs --extended` ({why})"
    return UsageError(str(path), finding, "name another file, or remove it", code="JPO-E132")


def judged(runs: Sequence[Run], settings: LoadedSettings, prices: Prices) -> Iterator[Judged]:
    """Every run with its suggestion, reward and SLA, workload by workload, oldest first."""
    preference, targets = preference_of(settings), targets_of(settings)
    (followed, made), usual = suggestions(settings), usual_values(runs)
    by_workload = sorted(runs, key=lambda run: (*run.identity.labels.values(),))  # stable: each stays oldest first
    for identity, group in groupby(by_workload, key=lambda run: run.identity):
        own = list(group)
        quality = quality_of(settings, own, qualities_of(settings, own))
        for run, (rewards, reward) in zip(own, rewards_of(own, preference, prices, targets, quality), strict=True):
            suggestion_id = followed.get((identity, run.run_id))
            verdicts = {check.name: check.verdict for check in check_run(targets, run.completed(usual[identity]), prices)}
            yield Judged(run, suggestion_id, made.get(suggestion_id or ""), rewards, reward, verdicts)


def suggestions(settings: LoadedSettings) -> tuple[dict[tuple[Identity, str], str | None], dict[str, Suggestion]]:
    """From the store: which suggestion each run on record followed, and the suggestions."""
    with open_history(settings, read_only=True) as store:
        followed = {(entry.run.identity, entry.run.run_id): entry.suggestion_id for entry in store.recorded_runs()}
        return followed, {suggestion.suggestion_id: suggestion for suggestion in store.suggestions_of()}


def rewards_of(
    runs: Sequence[Run], preference: Preference, prices: Prices, targets: Mapping[str, float], quality: Quality
) -> list[Rewards]:
    """The rewards of one workload's runs, oldest first and judged by this quality, as the agent would have got them."""
    import numpy as np

    from jpo.agent.action import Allowed
    from jpo.agent.reward import objective, regret_reward
    from jpo.learning.backlog import learnable
    from jpo.learning.experience import vectors_of
    from jpo.optimizer.candidates import collect
    from jpo.optimizer.request import Goals, Request

    learnt = learnable(runs)
    today = usual_values(learnt).get(runs[0].identity, {})
    nothing: Rewards = ({}, None)
    before = [nothing] * (len(runs) - len(learnt))
    if not today:
        return [*before, *[nothing] * len(learnt)]
    request = Request(today, Allowed(free=()), Goals(preference, targets, quality=quality), prices=prices)
    vectors = np.array(vectors_of(learnt, learnt[0], collect(request, learnt), request))  # (runs, 6)
    best = np.fmin.accumulate(objective(vectors, preference))
    scalars = regret_reward(vectors, preference, best)
    known = [{name: float(v) for name, v in zip(REWARDS, vector[:4], strict=True) if np.isfinite(v)} for vector in vectors]
    rewards = (None if math.isnan(value) else float(value) + 0.0 for value in scalars)  # -0.0 + 0.0 = 0.0
    return [*before, *zip(known, rewards, strict=True)]
