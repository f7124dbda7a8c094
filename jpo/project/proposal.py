"""The proposal: advised values as texts of config.ini, read back and checked by the guard.

The guard decides on the values that will be in the file, so they are formatted first and read back.
"""

import difflib
import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import constraints
from constraints import Facts, Limits
from jpo import config
from jpo.cost import usd_per_hour
from jpo.errors import UsageError
from jpo.optimizer.advise import Advice
from jpo.optimizer.suggestion import Proposal, gpu_memory_gib_now, number_in
from jpo.records import FORECAST, SAME, Edit, Guarded, Note, Parameters, Run, Workload
from jpo.wording.printable import printable

if TYPE_CHECKING:  # a project begins with what this module makes of an earlier suggestion
    from jpo.project.project import Project


def propose(job: "Project", advice: Advice, runs: Sequence[Run], kept: Collection[str] = ()) -> Proposal:
    """Format the advised values, but for those `kept` in the file though runs have others (Request.as_run), and check them."""
    workload = job.workload
    values = {**advice.suggested, **{name: workload.current[name] for name in kept}}
    edits = config.edits_of(workload, values, advice.undo.texts if advice.undo else {})
    executed = executed_with(workload, edits)
    for name in advice.by_hand:
        if not math.isclose(executed[name], advice.suggested[name], rel_tol=SAME):
            finding = f"{name} = {advice.suggested[name]:g} cannot be written in the form that {workload.path} uses"
            raise UsageError("--set", finding, f"the nearest is {executed[name]:g}", code="JPO-E305")
    return checked(job, edits, facts_of(workload, advice, runs))


def checked(job: "Project", edits: tuple[Edit, ...], facts: Facts, *, limits: Limits | None = None) -> Proposal:
    """Read the values back, and ask the guard (by `limits`; None: the project's) and then the team's own checker."""
    workload, limits = job.workload, limits or job.limits
    executed = executed_with(workload, edits)
    content = config.edited(workload.content, str(workload.path), edits)
    guard = guarded(job, executed, facts, limits=limits)
    check = job.settings.values.check
    if guard.approved and content != workload.on_disk and check.command:
        from constraints import workload_checker

        try:
            objection = workload_checker.run_checker(check.command, content, workload.path.name, check.timeout)
        except ValueError as error:
            raise UsageError(job.settings.place, str(error), code="JPO-E404") from error
        guard = guard if objection is None else replace(guard, approved=False, violations=(Note("team's checker", objection),))
    return Proposal(workload, job.limits, edits, content, executed, guard)


def guarded(job: "Project", proposed: Parameters, facts: Facts, *, limits: Limits | None = None) -> Guarded:
    """The guard's word in sentences; for a refusal also the nearest values that it would allow."""
    current = job.workload.current
    verdict = constraints.check(current, proposed, limits or job.limits, facts)
    notices = tuple(Note(notice.rule, f"{notice.message}; it was left as it is") for notice in verdict.notices)
    if verdict.approved:
        return Guarded(True, (), notices)
    allowed = {name: value for name, value in (verdict.parameters or {}).items() if value != current[name]}
    violations = [Note(violation.rule, violation.message) for violation in verdict.violations]
    if allowed:
        violations.append(Note("allowed", f"allowed would be {', '.join(f'{n} = {v:g}' for n, v in allowed.items())}"))
    return Guarded(False, tuple(violations), notices)


def edits_on_disk(proposal: Proposal) -> tuple[Edit, ...]:
    """The edits of the file in the checkout that give it the proposed content; it may have older values than those in force."""
    workload = proposal.workload
    if workload.committed is None:
        return proposal.edits
    texts = {p.key: p.text for p in workload.parameters} | {edit.key: edit.new_text for edit in proposal.edits}
    old = workload.committed.parameters
    return tuple(Edit(p.key, p.line, p.text, texts[p.key]) for p in old if texts[p.key] != p.text)


def executed_with(workload: Workload, edits: Sequence[Edit]) -> dict[str, float]:
    """The values that the job reads after these edits."""
    texts = {edit.key: edit.new_text for edit in edits}
    numbers = workload.terms.in_file(workload.current)
    numbers |= {p.name: number_in(p, texts[p.key]) for p in workload.parameters if p.key in texts}
    return workload.terms.in_all(numbers)


def facts_of(workload: Workload, advice: Advice, runs: Sequence[Run]) -> Facts:
    """What the guard cannot read in two files: the forecast, and the GPU memory that today's values need."""
    rate = usd_per_hour(advice.suggested, advice.surrogate.prices) if advice.surrogate else None
    then, now = ({name: one.mean for name in FORECAST if (one := each.of(name))} for each in (advice.next, advice.now))
    of_model = ("val_loss", "val_accuracy")
    if {"JPO-W617", "JPO-W618"} & {*advice.decision.codes}:  # nothing could be worse than only ever failing
        then = {name: mean for name, mean in then.items() if name not in of_model}
    return Facts(
        gpu_memory_gib_now=gpu_memory_gib_now(workload.current, runs),
        usd_per_hour_next=rate,
        next=then,
        now={name: mean for name, mean in now.items() if name in of_model},
    )


def diff_of(proposal: Proposal) -> str:
    """The change as a unified diff; empty when there is none."""
    workload = proposal.workload
    old, new = (content.decode("utf-8", "replace").split("\n") for content in (workload.on_disk, proposal.content))
    name = printable(str(workload.path))  # its line breaks would be lines of the diff
    return "\n".join(difflib.unified_diff(old, new, name, name, lineterm=""))
