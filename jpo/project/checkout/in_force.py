"""The values in force: what the last suggestion left, though a fresh checkout has again what it replaced.

A pipeline commits nothing. Where config.ini has the values that the last applied suggestion for it has replaced, it is read as
that suggestion left it; all that follows works as with a file that is kept. A file that has other values was set by a person:
then it counts, as a whole, since a mixture of both would be a configuration that nobody chose and nobody ran.
"""

from collections.abc import Sequence
from dataclasses import replace

import constraints
from constraints import Facts, Limits
from jpo import config
from jpo.cost import usd_per_hour
from jpo.errors import EditError, UsageError
from jpo.files.links import within_project
from jpo.history import Store
from jpo.history.undo import LOOKED_BACK
from jpo.project.load import LoadedSettings
from jpo.project.prices import prices_of
from jpo.project.workload import in_one_step, read_workload, with_pins
from jpo.records import Checkout, Committed, Note, Parameters, Suggestion, Word, Workload, same
from jpo.wording import numbers
from jpo.wording.printable import printable

IN_FORCE, SET_BY_A_PERSON, NOT_USABLE = "JPO-I855", "JPO-I856", "JPO-W857"
Start = tuple[Workload, tuple[Note, ...]]
"""What a command starts from, and what reports say of that."""


def checkout_of(workload: Workload, settings: LoadedSettings) -> Checkout:
    """The checkout of a config.ini as it stands there."""
    branch, committed = (settings.author.get("ref"), workload.current) if in_pipeline(settings) else (None, None)
    return Checkout(within_project(workload.path), branch, committed)


def in_pipeline(settings: LoadedSettings) -> bool:
    """Whether a CI server runs this: its checkouts have what is committed."""
    return settings.author.get("where", "local") != "local"


def start_of(workload: Workload, store: Store, settings: LoadedSettings, limits: Limits | None, *, now: float) -> Start:
    """The workload to start from: with the values in force where its file has those that they replaced, else as it is.

    `workload`: the file in the checkout; `limits`: which the values in force must keep, since they will be written; None: of a
    command that writes nothing.
    """
    here = checkout_of(workload, settings)
    workload = replace(workload, checkout=here)
    if settings.values.agent.start_from == "committed":
        return workload, ()
    about = [
        made
        for made in store.suggestions_of(workload.identity, limit=LOOKED_BACK)
        if made.values.checkout is None or made.values.checkout.file == here.file
    ]
    written = store.written(workload.identity) if any(made.changes for made in about) else frozenset[str]()
    applied = [made for made in about if not made.changes or made.suggestion_id in written]  # took effect, oldest first
    found = last_about(workload, applied, here)
    if found is None or same(found.values.suggested, workload.current):
        return workload, set_by_a_person(workload, applied, here)
    alike = (made for made in reversed(applied) if made.changes and same(made.values.suggested, found.values.suggested))
    return with_values_of(next(alike, found), workload, settings, limits, now=now)


def job_as_run(workload: Workload, store: Store, settings: LoadedSettings, *, now: float) -> Workload:
    """The workload as a job that has ended ran it: in a pipeline with the values in force; elsewhere it has read the file."""
    return start_of(workload, store, settings, None, now=now)[0] if in_pipeline(settings) else workload


def last_about(workload: Workload, applied: Sequence[Suggestion], here: Checkout) -> Suggestion | None:
    """The suggestion that says what is in force for a file with these values: the last that has left them, or replaced them.

    What a file of this branch was left with may be what another branch has committed. Of suggestions for files that may be kept
    only the newest has replaced what counts: a file that has older values again was set so by a person.
    """
    newest = next((made for made in reversed(applied) if for_branch(made, here)), None)
    for number, made in reversed([*enumerate(applied)]):
        committed = made.values.checkout.committed if made.values.checkout else None
        ends = (made.values.suggested, *([made.values.current] if made is newest else [])) if for_branch(made, here) else ()
        if any(same(values, workload.current) for values in ends):
            return made
        if committed is not None and same(committed, workload.current):
            for later in applied[number + 1 :]:  # the last of those that went on from its values in a file that was kept
                kept = for_branch(later, here) and later.committed is None
                made = later if kept and same(later.values.current, made.values.suggested) else made
            return made
    return None


def for_branch(made: Suggestion, here: Checkout) -> bool:
    """Whether a suggestion was made for this branch; where one of them is not known it may have been."""
    branch = made.values.checkout.branch if made.values.checkout else None
    return branch is None or here.branch is None or branch == here.branch


def set_by_a_person(workload: Workload, applied: Sequence[Suggestion], here: Checkout) -> tuple[Note, ...]:
    """That the file has been set to other values since the last suggestion for it, where it is a checkout's; they may be those
    of an older suggestion."""
    last = next((made for made in reversed(applied) if for_branch(made, here)), None)
    checkout = last and last.values.checkout
    if not last or not checkout or checkout.committed is None or same(last.values.suggested, workload.current):
        return ()
    note = f"{printable(str(workload.path))} was set to other values since suggestion {last.suggestion_id}"
    return (Note(SET_BY_A_PERSON, f"{note}, and they count: {differences(workload, last.values.suggested)}"),)


def differences(workload: Workload, values: Parameters) -> str:
    """What of these values the file has otherwise: "batch_size 96, where 256 was in force"."""
    there = workload.current
    names = [name for name in there if name in values and not same({name: values[name]}, there)]
    return ", ".join(f"{name} {numbers.plain(there[name])}, where {numbers.plain(values[name])} was in force" for name in names)


def with_values_of(made: Suggestion, workload: Workload, settings: LoadedSettings, limits: Limits | None, *, now: float) -> Start:
    """The workload with the values that a suggestion has left in force; or as it is, with the reason why not."""
    values = {name: made.values.suggested.get(name, value) for name, value in workload.current.items()}
    try:
        values = {name: value if isinstance(value, Word) else float(value) for name, value in values.items()}
        edits = config.edits_of(workload, values, {})
        content = config.edited(workload.content, str(workload.path), edits)
        there = read_workload(workload.path, settings, now=now, content=content)
        finding = missing_keys(made, workload) or unlike(there, values) or refused(workload, there, limits, settings)
    except (EditError, UsageError, ValueError, OverflowError) as error:  # the last two: the record holds no possible value
        finding = str(error)
    if finding:
        note = f"The values in force since suggestion {made.suggestion_id} cannot be used ({finding}); those of the file count"
        return workload, (Note(NOT_USABLE, note),)
    name = printable(str(workload.path))
    changed = ", ".join(f"{edit.key} {numbers.old_and_new(edit)}" for edit in edits)
    note = f"{name} in this checkout has the committed values; those in force since suggestion {made.suggestion_id} are used"
    committed = Committed(workload.content, workload.parameters, made.suggestion_id)
    checkout = workload.checkout and replace(workload.checkout, committed=workload.current)
    told = Note(IN_FORCE, f"{note}: {changed} (`jpo rollback` goes back)")
    return replace(there, committed=committed, checkout=checkout), (told,)


def missing_keys(made: Suggestion, workload: Workload) -> str:
    """Which changed values have no place in the file any more; "" where all have."""
    replaced = (made.values.checkout.committed if made.values.checkout else None) or made.values.current
    changed = {name for name, value in made.values.suggested.items() if name in replaced and not same({name: value}, replaced)}
    missing = [made.values.keys[name] for name in made.values.suggested if name in changed - workload.current.keys()]
    return f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} gone" if missing else ""


def unlike(there: Workload, values: Parameters) -> str:
    """Which value the file cannot show as it was in force; "" where it can show all."""
    names = [name for name, value in there.current.items() if not same({name: value}, values)]
    return f"{names[0]} = {numbers.plain(values[names[0]])} cannot be written in the form that the file uses" if names else ""


def refused(workload: Workload, there: Workload, limits: Limits | None, settings: LoadedSettings) -> str:
    """What the guard says against the values in force in place of the committed ones, but for the size of the step."""
    if limits is None:
        return ""
    rate = usd_per_hour(there.current, prices_of(settings)) if limits.prices.catalogue else None
    limits = in_one_step(with_pins(limits, workload))
    verdict = constraints.check(workload.current, there.current, limits, Facts(usd_per_hour_next=rate))
    return "; ".join(violation.message for violation in verdict.violations)
