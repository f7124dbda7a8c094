"""`jpo suggest config.ini`: the CI step, and the whole story of jpo.

Audit before write: the suggestion is on record before config.ini changes, so an edit that is not on record cannot exist.
Killed at any instant, config.ini is the old file or the new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from constraints import Facts, Limits
from jpo.agent.policy import Policy
from jpo.errors import NothingAdmissible, UsageError
from jpo.history import Json, Store
from jpo.history.events import in_short, refused
from jpo.history.undo import on_probation, pin_notes, pinned
from jpo.learning import continual
from jpo.optimizer.advise import Advice, advise
from jpo.optimizer.surrogate import Request
from jpo.project.evidence import currency_in, gather, limits_in, with_pins, workload_of
from jpo.project.load import LoadedSettings
from jpo.project.opening import store_of
from jpo.project.proposal import carry_out, diff_of, guarded, propose, refuse, request_of, suggestion_of
from jpo.records import WHOLE, Known, Workload
from jpo.report import Report


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asked for; see `jpo suggest --help`."""

    suggestion_id: str
    now: float
    dry_run: bool = False
    diff: bool = False
    offline: bool = False
    strict: bool = False
    learn: bool = True
    seed: int = 0
    chosen: Mapping[str, float] = field(default_factory=dict)
    lasting: Mapping[str, float] | None = None
    """What [sla] promises where --deadline and --max-cost say otherwise for this once; None: as the settings."""


def suggest(path: Path, loaded: LoadedSettings, options: Options) -> Report:
    """Read, look, learn, decide, check, record, write."""
    now, seed = options.now, options.seed
    workload = workload_of(path, loaded, now=now)
    limits = limits_in(loaded)
    chosen = known_values(options.chosen, workload)
    with store_of(loaded, read_only=options.dry_run) as store:
        workload = pinned(workload, store, now=now)
        limits = with_pins(limits, workload)
        screen(store, workload, chosen, limits, now=now)
        known = look(store, workload, loaded, options)
        request = request_of(workload, limits, known.runs, loaded)
        if options.learn and not options.dry_run:
            lasting = request if options.lasting is None else replace(request, targets=options.lasting)  # else it began anew
            known = continual.learn_if_possible(store, workload.identity, known, lasting, loaded, seed=seed, now=now)
        policy = continual.policy_in(store, workload.identity, request.explore)
        advice = advised(store, workload, known, request, policy, chosen, options)
        proposal = propose(workload, advice, limits, known.runs, loaded)
        suggestion = suggestion_of(
            workload,
            advice,
            proposal,
            known,
            request,
            limits,
            loaded,
            suggestion_id=options.suggestion_id,
            now=now,
            seed=seed,
            policy=continual.decider(policy, advice.decision.decided_by),
            agent=policy,
        )
        return Report(
            suggestion,
            path,
            written=carry_out(store, workload, proposal, suggestion, dry_run=options.dry_run),
            track=known.track,
            diff=diff_of(workload, proposal) if options.diff else None,
            currency=currency_in(loaded),
        )


def look(store: Store, workload: Workload, loaded: LoadedSettings, options: Options) -> Known:
    """All that is known of the workload now, and what rollbacks hold."""
    known = gather(store, workload.identity, loaded, now=options.now, offline=options.offline, strict=options.strict)
    pins = pin_notes(workload)
    evidence = replace(known.evidence, notes=(*known.evidence.notes, *pins))
    return replace(known, evidence=evidence, codes=(*known.codes, *(["JPO-I846"] if pins else [])))


def advised(
    store: Store,
    workload: Workload,
    known: Known,
    request: Request,
    policy: Policy | None,
    chosen: Mapping[str, float],
    options: Options,
) -> Advice:
    """What belief and agent advise; that nothing is admissible goes on record, too."""
    try:
        return advise(
            workload.current,
            known.runs,
            request,
            policy=policy,
            seed=options.seed,
            others=known.others,
            followed_up=known.followed_up,
            chosen=chosen,
            waiting_for=known.waiting_for(workload.current),
            last=on_probation(store, workload, known.runs),
        )
    except NothingAdmissible as error:
        about: dict[str, Json] = {
            "evidence": in_short(known.evidence),
            "preference": asdict(request.preference),
            "seed": options.seed,
        }
        store.audit(refused(workload, {}, [str(error)], code=error.code, now=options.now, about=about))
        raise


def screen(store: Store, workload: Workload, chosen: Mapping[str, float], limits: Limits, *, now: float) -> None:
    """Values set by hand that the guard refuses anyway are refused before anything is computed with them."""
    wanted = {**workload.current, **chosen}
    guard = guarded(workload, wanted, limits, Facts())
    if not guard.approved:
        refuse(store, workload, wanted, guard, now=now, about={"decided_by": "user"})


def known_values(chosen: Mapping[str, float], workload: Workload) -> Mapping[str, float]:
    """The values of --set: of parameters that this config.ini has, whole where they must be."""
    for name, value in chosen.items():
        if name not in workload.current:
            known = ", ".join(workload.current)
            raise UsageError("--set", f"{workload.path} has no parameter {name}", f"it has {known}", code="JPO-E305")
        if name in WHOLE and not value.is_integer():
            raise UsageError("--set", f"{name} = {value:g} is not a whole number", f"write e.g. {name}=32", code="JPO-E305")
    return chosen
