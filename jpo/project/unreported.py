"""Runs that do not report what jpo.toml declares: it was declared or renamed after them, or their training script is silent.

Of a parameter of the team's own, such a run had what config.ini said when it started. That is known where a suggestion was made
before, which recorded all values of the file; the run counts with that value. Else nothing says what it was, and it is not
guessed: the run counts as one of the same job under other conditions does (other hardware), by what differs between such runs
and not by its level. Of a quality of the model nothing more can be said than that it is missing.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from jpo.history import RecordedRun, Store, latest_start
from jpo.project.settings import Settings
from jpo.project.tables.parameters import is_own
from jpo.records import KUBERNETES, RESOURCES, Note, Run, Suggestion, Word, Workload
from jpo.wording import numbers

CODE, UNMEASURED = "JPO-I129", "JPO-W127"


@dataclass(frozen=True, slots=True)
class Placed:
    """Runs of a workload by what is known of their parameters, oldest first.

    Attributes:
        recorded: those of which all free parameters are known.
        elsewhere: the others, as runs of the same job under other conditions.
        notes: how many those are; empty where there are none.
    """

    recorded: tuple[RecordedRun, ...]
    elsewhere: tuple[Run, ...] = ()
    notes: tuple[Note, ...] = ()


def placed(recorded: Sequence[RecordedRun], store: Store, workload: Workload) -> Placed:
    """The runs with the values that config.ini had for what they do not report."""
    own = {p.name: p.value for p in workload.parameters if is_own(p.name)}
    free = {p.name for p in workload.parameters if p.name in own and not p.held}
    if not own:
        return Placed(tuple(recorded))
    suggestions = store.suggestions_of(workload.identity)
    kept: list[RecordedRun] = []
    elsewhere: dict[tuple[str, ...], list[Run]] = {}
    for entry in recorded:
        run = _without_other_kinds(entry.run, own)
        if own.keys() - run.parameters.keys():
            run = _as_in_force(run, own, suggestions)
        missing = tuple(name for name in own if name in free and name not in run.parameters)
        if missing and run.parameters:
            where = replace(run.identity, hardware=f"an unknown {' and '.join(missing)}")
            elsewhere.setdefault(missing, []).append(replace(run, identity=where))
        else:
            kept.append(replace(entry, run=run))
    if not elsewhere:
        return Placed(tuple(kept))
    runs = tuple(run for some in elsewhere.values() for run in some)
    lacking = dict.fromkeys(name for missing in elsewhere for name in missing)
    names = ", ".join(lacking)
    which = f"{numbers.counted(len(runs), 'run')} did not report {names}, and what config.ini said then is not on record"
    counts = f"{which}: what differs between them counts, as of the same job on other hardware"
    values = [shlex.quote(f"{name}={own[name]:.12g}") for name in lacking]
    imported, by_hand = ("".join(f" {option} {value}" for value in values) for option in ("--set", "--param"))
    again = f"jpo import ...{imported} --write, or jpo observe RUN{by_hand}"
    note = Note(CODE, counts if kept else f"{which}. If it was what it is now: {again}", names)
    return Placed(tuple(kept), runs, (note,))


def unmeasured(settings: Settings, runs: Sequence[Run]) -> list[Note]:
    """What jpo.toml asks of the quality of models although none of these runs measured it."""
    metric, quality = settings.metric, settings.agent.quality
    asked: dict[str, str] = {}
    if settings.sla.accuracy_min is not None:
        asked["val_accuracy"] = "[sla] accuracy_min speaks"
    if quality not in ("auto", metric.name):
        asked[quality] = "[agent] quality speaks"
    well = [run.outcome for run in runs if run.ended_well]
    others = dict.fromkeys(name for outcome in well for name in outcome.metrics if name != metric.name)
    if metric.name is not None:
        asked[metric.name] = f"[metric] name speaks (runs measure {', '.join(others)})" if others else "[metric] name speaks"
    below = sum(outcome.val_loss is not None and outcome.val_loss <= 0 for outcome in well)
    finding = f"val_loss is 0 or below in {below} of {len(well)} runs that ended well; it does not count there"
    remedy = 'report it under a name of its own, and write that in [metric] with direction = "min"'
    notes = [Note(UNMEASURED, f"{finding}: {remedy}", "val_loss")] if below and quality in ("auto", "val_loss") else []
    if others and not asked and all(outcome.val_loss is outcome.val_accuracy is None for outcome in well):
        which = f'[metric] name = "{next(iter(others))}" in jpo.toml, with its direction, judges by it'
        notes.append(Note(UNMEASURED, f"runs measure {', '.join(others)} but no val_loss, so nothing judges models: {which}"))
    return notes + [
        Note(UNMEASURED, f"no finished run has measured {name} ({place}), so it does not count", name)
        for name, place in asked.items()
        if well and all(outcome.of(name) is None for outcome in well)
    ]


def unreported(workload: Workload, runs: Sequence[Run]) -> list[Note]:
    """What the newest run did not say of what config.ini has, and so counts with today's value; pods have a note."""
    free = {p.name: p.key for p in workload.parameters if p.name in ("batch_size", "learning_rate") and not p.held}
    newest = next((run.parameters for run in runs[-1:] if run.source != KUBERNETES), free)
    named = " and ".join(f"{name} ({key})" for name, key in free.items() if name not in newest)
    finding = f"the newest run did not report {named}: such runs count as if with today's value"
    return [Note("JPO-W128", f"{finding}; RunLog(parameters=...) says it")] if named else []


def labelled_pod_notes(settings: Settings, runs: Sequence[Run]) -> list[Note]:
    """What labelled pods do not say, and what that means."""
    notes = []
    if runs and runs[-1].tells_no_quality and settings.agent.quality_floor != "off":
        count = f"{sum(run.source == KUBERNETES for run in runs)} of {len(runs)} runs are labelled pods, which report no loss"
        what = f"only {', '.join(RESOURCES[:-1])} and {RESOURCES[-1]} are changed while nobody sees how good another model is"
        notes.append(Note("JPO-I170", f'{count}: {what}; [agent] quality_floor = "off" allows more'))
    assumed = [run for run in runs if run.assumed]
    if assumed:
        names = ", ".join(dict.fromkeys(name for run in assumed for name in run.assumed))
        which = f"{numbers.counted(len(assumed), 'run')} did not report {names}"
        notes.append(Note("JPO-I171", f"{which}: taken from the suggestion then in force", names))
    return notes


def _without_other_kinds(run: Run, own: Mapping[str, float]) -> Run:
    """The run without values of another kind: a word where the parameter is a number by now, or the other way round."""
    wrong = {n for n, now in own.items() if n in run.parameters and isinstance(run.parameters[n], Word) != isinstance(now, Word)}
    return replace(run, parameters={n: value for n, value in run.parameters.items() if n not in wrong}) if wrong else run


def _as_in_force(run: Run, own: Mapping[str, float], suggestions: Sequence[Suggestion]) -> Run:
    """The run with what the newest suggestion before its start left in config.ini of the parameters that it does not report."""
    start = latest_start(run)
    said = next((made.values.suggested for made in reversed(suggestions) if made.created_at <= start), {})
    missing = [name for name in own if name in said and name not in run.parameters]
    of_kind = {name: said[name] for name in missing if isinstance(said[name], Word) == isinstance(own[name], Word)}
    if not of_kind:
        return run
    return replace(run, parameters={**run.parameters, **of_kind}, assumed=tuple(dict.fromkeys((*run.assumed, *of_kind))))
