"""`jpo rollback [ID]`: config.ini gets back the values that it had before a suggestion, on record like any other change.

To undo one suggestion is to undo all after it, which were built on its values. The id of a rollback brings back what it undid.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from constraints import Facts, names
from jpo.config import edits_of
from jpo.cost import usd_per_hour
from jpo.errors import ConflictError, EditError, UsageError
from jpo.history import Store
from jpo.history.undo import about, day, equal, last_in_force, on_record, pins, took_effect, undo
from jpo.learning.serving import policy_for
from jpo.optimizer.advise import Advice
from jpo.optimizer.request import Request
from jpo.optimizer.suggestion import number_in, suggestion_of
from jpo.optimizer.surrogate import surrogate_of
from jpo.project.collect import collect, with_file_noted
from jpo.project.load import LoadedSettings
from jpo.project.project import open_project
from jpo.project.proposal import checked, diff_of
from jpo.project.record import CHANGED_MEANWHILE, after_a_lost_race, carry_out, noted
from jpo.project.request import request_of
from jpo.project.workload import in_one_step
from jpo.records import PARAMETERS, Decision, Known, Note, Parameter, Run, Suggestion, Undo, Workload, each_code_once
from jpo.report.answer import Report
from jpo.wording import numbers

DAY_SECONDS = 86400.0
NEWEST = 3
"""Newest changes of those that are undone, and newest runs of each, that have a sentence of their own."""


@dataclass(frozen=True, slots=True)
class RollbackOptions:
    """Options of the command line; see `jpo rollback --help`."""

    suggestion_id: str
    now: float
    before: str | None = None
    pin_days: int | None = None
    unpin: bool = False
    force: bool = False
    dry_run: bool = False
    diff: bool = False


def rollback(path: Path, settings: LoadedSettings, options: RollbackOptions) -> Report:
    """Read, find what to undo, check, record, write; all of it once more where config.ini was changed in between.

    Raises UsageError: JPO-E841 nothing to undo or to unpin, JPO-E842 a suggestion that never changed this config.ini.
    ConflictError: JPO-E843, a value is not the one that was written last. EditError: JPO-E844, a parameter is gone, or its old
    text would mean another value now. NothingAdmissible: JPO-E401, the guard or the team's checker refuses.
    """
    report, again = after_a_lost_race(
        lambda suggestion_id: rollback_once(path, settings, replace(options, suggestion_id=suggestion_id)), options.suggestion_id
    )
    return replace(report, suggestion=noted(report.suggestion, CHANGED_MEANWHILE)) if again else report


def rollback_once(path: Path, settings: LoadedSettings, options: RollbackOptions) -> Report:
    """Read, find what to undo, check, record, write."""
    with open_project(path, settings, now=options.now, read_only=options.dry_run, pins=False) as job:
        store, workload = job.store, job.workload
        undone = None if options.unpin else what_to_undo(store, workload, options.before)
        known = with_file_noted(collect(job), job)
        notes = lifted(store, workload, options.now) if undone is None else reasons(store, workload, undone, options)
        why = each_code_once(dict.fromkeys(notes))
        request = request_of(job, replace(known, reaches=()))
        advice = advice_of(request, known, undone, why)
        edits = edits_of(workload, workload.current, undone.texts if undone else {})
        facts = Facts(usd_per_hour_next=usd_per_hour(advice.suggested, advice.surrogate.prices) if advice.surrogate else None)
        proposal = checked(job, edits, facts, limits=in_one_step(job.limits))
        policy = policy_for(store, request.boldness.explore, request.policy)
        made = suggestion_of(advice, request, proposal, known, policy, suggestion_id=options.suggestion_id, now=options.now)
        suggestion = replace(made, decision=replace(made.decision, pinned_until=pinned_until(options)))
        told, written = carry_out(job, suggestion, proposal, dry_run=options.dry_run)
        return Report(told, path, written, known.track, diff_of(proposal) if options.diff else None, job.currency)


def pinned_until(options: RollbackOptions) -> float | None:
    return None if options.pin_days is None else options.now + options.pin_days * DAY_SECONDS


def what_to_undo(store: Store, workload: Workload, before: str | None) -> Undo:
    """What brings back the values before this suggestion; None: before the last change that is still in force."""
    place = str(workload.path)
    suggestions, written = on_record(store, workload.identity)
    effective = took_effect(about(suggestions, workload.checkout), workload.current, written)
    if before is None:
        newest = last_in_force(effective)
        if newest is None:
            raise UsageError(place, "no change by JPO is in force: nothing to undo", "see `jpo history`", code="JPO-E841")
        before = newest.suggestion_id
    elif before not in {suggestion.suggestion_id for suggestion in effective}:
        other = store.suggestion(before).identity
        if other == workload.identity:
            raise UsageError(place, f"never had the values of suggestion {before}", "see `jpo history`", code="JPO-E842")
        finding = f"suggestion {before} is about {other}, this file about {workload.identity}"
        raise UsageError(place, finding, "name the other's config.ini, first or by --for", code="JPO-E842")
    undone = undo(effective, before)
    if undone is None:
        raise UsageError(place, f"nothing has changed since suggestion {before}", "see `jpo history`", code="JPO-E841")
    return undone


def reasons(store: Store, workload: Workload, undone: Undo, options: RollbackOptions) -> Iterator[Note]:
    """What is undone, what had been expected of it and what came."""
    moved = tuple(moved_on(workload, undone))
    if moved and not options.force:
        raise ConflictError(str(workload.path), "; ".join(moved), "--force restores it anyway", code="JPO-E843")
    changes = [suggestion for suggestion in undone.undone if suggestion.decision.decided_by != "rollback"] or undone.undone
    already = all(p.text == undone.texts[p.name] for p in workload.parameters if p.name in undone.texts)
    come = "are there already" if already else "come back"
    what = f"{len(changes)} change{' is' if len(changes) == 1 else 's are'} undone"
    yield Note("JPO-I845" if already else "JPO-I844", f"the values from before suggestion {undone.suggestion_id} {come}; {what}")
    for suggestion in changes[: -NEWEST - 1 : -1]:
        yield Note("JPO-I844", in_words(suggestion, store.runs_following(suggestion.suggestion_id)[-NEWEST:]))
    for change in moved:
        yield Note("JPO-W841", f"{change}; it is replaced anyway")
    until = pinned_until(options)
    if until is not None:
        keys = ", ".join(p.key for p in workload.parameters if p.name in undone.texts)
        yield Note("JPO-I846", f"{keys} will not be changed by `jpo suggest` until {day(until)}")


def moved_on(workload: Workload, undone: Undo) -> Iterator[str]:
    """A sentence for each value that is neither the one written last nor the one to restore: someone has set it since."""
    parameters = {p.name: p for p in workload.parameters}
    for name, first in undone.first.items():
        place, last, now = str(workload.path), undone.last[name], parameters.get(name)
        if now is None:
            finding = f"{first.key} is gone or is no longer a number"
            raise EditError(place, finding, f"write {first.key} = {first.old_text} by hand", code="JPO-E844")
        same_kind = now.key == first.key if now.counted else equal(meaning(now, first.old_text), first.old)
        if not same_kind:
            finding = f"{now.key} = {first.old_text} would not mean what it did in {first.key}: the unit is another one"
            raise EditError(f"{place}:{now.line}", finding, "restore it by hand", code="JPO-E844")
        if not (is_at(now, last.new_text, last.new) or is_at(now, first.old_text, first.old)):
            yield f"{now.key} is {now.text} where JPO wrote {last.new_text} last"


def is_at(parameter: Parameter, text: str, value: float) -> bool:
    """Whether the file has this; of a batch per device and the GPUs of a node, what they make in all depends on other values."""
    return equal(parameter.counted[1], meaning(parameter, text)) if parameter.counted else equal(parameter.value, value)


def meaning(parameter: Parameter, text: str) -> float:
    """The number (or word) that a text means at this place; NaN where it means none."""
    if parameter.name not in PARAMETERS:
        return number_in(parameter, text)
    try:
        value = names.parse_value(parameter.name, parameter.key.rpartition(".")[2], text)
    except ValueError:
        value = None
    return float("nan") if value is None else value


def in_words(suggestion: Suggestion, runs: Sequence[Run]) -> str:
    """A change, what was expected of it, and the runs that followed it."""
    changes = ", ".join(f"{change.key} {numbers.old_and_new(change)}" for change in suggestion.changes)
    now, then = suggestion.now.duration_seconds, suggestion.next.duration_seconds
    expected = f" expected {numbers.duration(then.mean)} instead of {numbers.duration(now.mean)}" if now and then else ""
    return f"{changes}:{expected or ' nothing was forecast'}; {', '.join(map(went, runs)) or 'no run has followed it'}"


def went(run: Run) -> str:
    """How a run ended."""
    seconds, loss, accuracy = run.outcome.duration_seconds, run.outcome.val_loss, run.outcome.val_accuracy
    words = [
        f"run {run.run_id} " + ("" if run.ended_well and seconds is not None else run.status.value.replace("_", " ")),
        "" if seconds is None else f"took {numbers.duration(seconds)}",
        "" if loss is None else f"with a validation loss of {numbers.plain(loss)}",
        "" if accuracy is None else f"with a validation accuracy of {numbers.plain(accuracy)}",
    ]
    return " ".join(word.strip() for word in words if word.strip())


def lifted(store: Store, workload: Workload, now: float) -> Iterator[Note]:
    """That nothing is pinned by a rollback from now on."""
    pinned = pins(store, workload.identity, now=now)
    if not pinned:
        raise UsageError("--unpin", f"no rollback pins anything of {workload.identity}", "leave it out", code="JPO-E841")
    keys = ", ".join(p.key for p in workload.parameters if p.name in pinned)
    yield Note("JPO-I847", f"{keys} may be changed by `jpo suggest` again")


def advice_of(request: Request, known: Known, undone: Undo | None, why: tuple[Note, ...]) -> Advice:
    """The rollback as advice, with what is expected of the restored values."""
    values = request.allowed.terms.with_chosen(request.current, undone.values if undone else {})
    surrogate = surrogate_of(request, known, seed=0, asked=[values])
    row, now = surrogate.row(values), surrogate.candidates.current
    decision = Decision(row, None, "rollback", why, "kept" if row == now else "return")
    forecasts = surrogate.forecast(now), surrogate.forecast(row)
    return Advice(decision, request.current, values, *forecasts, surrogate=surrogate, undo=undone)
