"""`jpo import`: runs that other tools recorded. Without `write` it says what would go on record; importing again adds nothing."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from jpo.errors import JpoError, TelemetryError, UsageError
from jpo.http.endpoint import Endpoint
from jpo.plugins.imports.columns import FIELDS, TABLE, as_toml, columns_of, field_of, not_read, not_there
from jpo.plugins.imports.foreign import ForeignColumn
from jpo.plugins.imports.mlflow_server import read_server
from jpo.plugins.imports.project import caveats_of, columns_given
from jpo.plugins.imports.recognise import loose_tables, read_sources
from jpo.plugins.imports.translate import DATES, Said, Translated, translated
from jpo.project.load import LoadedSettings
from jpo.project.project import open_history
from jpo.project.sources import own_names
from jpo.project.workload import read_workload
from jpo.records import PARAMETERS, Finished, Outcome, Run, Word, Workload
from jpo.telemetry.outcome import Own
from jpo.wording.names import OUTCOMES
from jpo.wording.numbers import counted, moment, plain, written

SAME_SECONDS = 1.0
"""Ends that differ by less are one end, written with other digits."""
MOST_SHOWN = 20
"""Runs of a dry run that are listed; of thousands nobody reads more."""
MOST_NAMED = 3
"""Tables that a note names."""
SHOWN = ("duration_seconds", "cost_usd", "train_loss", "val_loss", "val_accuracy", "gpu_utilisation", "memory_gib")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line says of all runs.

    Attributes:
        form: name of their format; None: as the files say.
        identity: dataset, model, framework, hardware where given.
        values: parameters that no file holds.
        columns: by the name of a quantity, the column or the word that it is read from.
        experiments: names or ids, of what is read from MLflow servers.
        finished: logs that were written minutes ago are over.
    """

    form: str | None
    identity: Mapping[str, str]
    values: Mapping[str, float]
    columns: Mapping[str, str] = field(default_factory=dict)
    experiments: Sequence[str] = ()
    finished: bool = False


def import_runs(
    sources: Sequence[Path | Endpoint], config: Path, settings: LoadedSettings, wanted: Wanted, *, write: bool, now: float
) -> list[str]:
    """Read everything, then record all of its runs in one transaction, or none; returns what was found, for people.

    The identity of config.ini is that of runs that do not say theirs; it need not exist.

    Raises UsageError: JPO-E155, E156, E158: what the files are, a package that reads them, or an experiment that is not there.
    TelemetryError: JPO-E150 to E154: what is wrong in which file and row; JPO-E101 to E109, of a server. Nothing is on record
    then.
    """
    own = own_names(settings)
    paths = [source for source in sources if isinstance(source, Path)]
    servers = [source for source in sources if not isinstance(source, Path)]
    _refuse_nonsense(sources, wanted.values, own)
    certain = {"dataset", "model", "framework"} <= wanted.identity.keys()
    workload = None
    with suppress(JpoError) if certain else nullcontext():  # then config.ini only says what else is asked for
        workload = read_workload(config, settings, now=now) if config.exists() else None
    of_file = {} if certain or workload is None else workload.identity.labels
    said = Said(wanted.identity, of_file, wanted.values, own, wanted.finished)
    given, lines, runs, skipped = {**columns_given(settings), **_columns_named(wanted, own)}, list[str](), list[Run](), 0
    names, in_order = dict[str, str](), set[str]()
    if wanted.experiments and not servers:
        remedy = "name its address, too, e.g. jpo import http://mlflow:5000 --experiment nightly"
        raise UsageError("--experiment", "is for a server of MLflow", remedy, code="JPO-E155")
    loss = given["val_loss"].name if "val_loss" in given else None
    lines += [f"note: {note.cited}" for server in servers for note in caveats_of(server)]
    for source in [*read_sources(paths, wanted.form), *(read_server(server, wanted.experiments, loss) for server in servers)]:
        columns = columns_of(source, given, own)
        if source.format == TABLE and not columns:  # of a file that has nothing to do with runs no heading is repeated
            raise TelemetryError(source.place, "has no column that JPO knows", "name one: --set NAME=COLUMN", code="JPO-E151")
        found = translated(source, columns, said, now=now)
        lines += described(source.place, source.format, len(source.runs), found, as_toml(columns))
        lines += [f"note: {note}"] if (note := not_there(source, given)) else []
        lines += not_read(source, columns, own)
        if found.runs and source.format == TABLE and not columns.keys() & DATES:
            lines.append("note: nothing says when these runs ended: they count in the order of the rows, the last as the newest")
            in_order |= {run.run_id for run in found.runs}
        names |= {run.cells["run_id"]: run.cells.get("run_name", "") for run in source.runs if "run_id" in run.cells}
        runs += found.runs
        skipped += len(found.skipped)
    lines += [*_left_out(paths), *unknown(runs, workload)]
    with open_history(settings, read_only=not write) as store:
        on_record = (run for identity in {run.identity for run in runs} for run in store.runs_of(identity))
        known = {(run.identity, run.run_id): run for run in on_record}
        new = store.record(Finished(tuple(runs)), now=now)
    dated = [run for run in runs if run.run_id not in in_order]
    lines += [f"note: {note}" for run in dated if (note := doubt(run, known.get((run.identity, run.run_id))))][:MOST_SHOWN]
    lines += [f"{'recorded' if write else 'would record'} {line_of(run, names.get(run.run_id))}" for run in new[:MOST_SHOWN]]
    lines += [f"... and {len(new) - MOST_SHOWN} more"] if len(new) > MOST_SHOWN else []
    what = f"{counted(len(new), 'run')} {'recorded' if write else 'to record'}"
    summary = f"{what}, {len(runs) - len(new)} on record already, {skipped} skipped"
    return [*lines, summary if write or not new else f"{summary}; nothing is written yet: add --write"]


def _refuse_nonsense(sources: Sequence[Path | Endpoint], values: Mapping[str, float], own: Own) -> None:
    """A command line that names nothing to read, or a parameter that nobody knows."""
    if not sources:
        remedy = "name files or folders, e.g. jpo import runs.csv"
        raise UsageError("jpo import", "names nothing to read", remedy, code="JPO-E155")
    for name, value in values.items():
        if name not in own.parameters and (name not in PARAMETERS or value < 0):
            remedy = f"known are {', '.join((*PARAMETERS, *own.parameters))}"
            raise UsageError("--set", f"{name} = {value:g} is not a parameter of a job", remedy, code="JPO-E305")


def _columns_named(wanted: Wanted, own: Own) -> dict[str, ForeignColumn]:
    """The columns that --set names, by JPO's names; UsageError JPO-E305: nobody knows such a quantity."""
    found = {}
    for name, column in wanted.columns.items():
        if (field := field_of(name, own)) is None:
            known = ", ".join((*FIELDS, *own.parameters, *own.metrics))
            raise UsageError("--set", f"{name} is nothing that is read of a run", f"known are {known}", code="JPO-E305")
        found[field] = ForeignColumn(column, None, "--set")
    return found


def _left_out(paths: Sequence[Path]) -> Iterator[str]:
    """Tables that lie in folders of runs, and are not named themselves."""
    named_itself = {path.resolve() for path in paths}
    for path in paths:
        if tables := [table for table in loose_tables(path) if table.resolve() not in named_itself]:
            named = ", ".join(str(table) for table in tables[:MOST_NAMED])
            more = f" and {len(tables) - MOST_NAMED} more" if len(tables) > MOST_NAMED else ""
            yield f"note: not read in {path}: {named}{more}; a table is read where it is named itself"


def doubt(run: Run, known: Run | None) -> str:
    """Why a run may be another one than the run on record with its id; empty where there is no reason to think so."""
    if known is None or known.fell_silent or abs(known.ended_at - run.ended_at) <= SAME_SECONDS:
        return ""
    ends = f"ends {moment(run.ended_at)}, and {moment(known.ended_at)} on record ({known.source})"
    return f"{run.run_id} {ends}: two runs with one id? What is on record stays [JPO-W150]"


def described(place: str, form: str, count: int, found: Translated, toml: Sequence[str]) -> list[str]:
    """What a source is read as: its map of columns, as jpo.toml would have it, what is skipped, and what to know of it."""
    lines = [f"{place}: {form}, {counted(count, 'run')}; read by this map:", *(f"    {line}" for line in toml)]
    lines += [f"skipped {skipped.run_id}: {skipped.reason}" for skipped in found.skipped[:MOST_SHOWN]]
    lines += [f"... and {len(found.skipped) - MOST_SHOWN} more skipped"] if len(found.skipped) > MOST_SHOWN else []
    return [*lines, *(f"note: {note}" for note in found.notes)]


def unknown(runs: Sequence[Run], workload: Workload | None = None) -> Iterator[str]:
    """The parameters (of a config.ini: those that it has) and outcomes that no run says: what would make them worth more."""
    today = {parameter.name: parameter.value for parameter in workload.parameters} if workload else {}
    missing = [name for name in today or PARAMETERS if runs and not any(name in run.parameters for run in runs)]
    if missing and today:
        said = " ".join(shlex.join(("--set", f"{name}={plain(today[name])}")) for name in missing)
        words = [name for name in missing if isinstance(today[name], Word)]
        unused = f" Without {', '.join(words)} no suggestion uses them." if words else ""
        yield f"not known of any run: {', '.join(missing)}.{unused} Did all run with what config.ini has today? Then add {said}"
    elif missing:
        yield f"not known of any run: {', '.join(missing)}; where all had the same, say it with --set NAME=VALUE"
    asked = ("duration_seconds", "val_loss")
    outcomes = [name for name in asked if runs and all(getattr(run.outcome, name) is None for run in runs)]
    if outcomes:
        yield f"not known of any run: {', '.join(outcomes)}; name its column in [imports.columns]"


def line_of(run: Run, name: str | None = None) -> str:
    """A run in a line, by the name that its tool shows, if it has one besides its id."""
    values = ", ".join(f"{name} {plain(value)}" for name, value in run.parameters.items()) or "no parameter"
    ended = f"{run.identity}, {run.status.value} {moment(run.ended_at)}"
    return f"{f'{name} ({run.run_id})' if name else run.run_id}: {ended}; {values}; {measured(run.outcome)} ({run.source})"


def measured(outcome: Outcome) -> str:
    """What was measured, the most important first."""
    known = [(name, value) for name in SHOWN if (value := getattr(outcome, name)) is not None]
    words = [f"{OUTCOMES[name].short} {written(name, value)}" for name, value in known]
    return ", ".join([*words, *(f"{name} {plain(value)}" for name, value in outcome.metrics.items())]) or "nothing measured"
