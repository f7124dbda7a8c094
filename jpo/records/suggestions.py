"""Suggestions: what goes on record, with what explains it later and what undoing it means."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from jpo.records.decisions import FORECAST, ChangeKind, Forecast, Interval, Preference, RuleApplied
from jpo.records.notes import Note, codes_of, texts_of
from jpo.records.runs import Skipped
from jpo.records.words import as_document
from jpo.records.workloads import Checkout, Identity, same

WIDENED = ("JPO-W616", "JPO-W816")
"""Reasons that say that intervals are widened: whoever reads the forecasts must know."""
AS_THE_RULE, OTHERWISE = "JPO-I630", "JPO-I631"
"""What SAC did, where it had a say."""
OF_POLICY = (AS_THE_RULE, OTHERWISE, "JPO-W633", "JPO-I635")
WORTH, BETTER_QUALITY = "JPO-I634", "JPO-I640"
"""Reasons that weigh time against money, and that put a promised quality first."""
RAN_BEFORE, UNTRIED, FAILS_OFTEN = "JPO-I603", "JPO-I604", "JPO-W649"
"""Reasons of a choice that was run, of one that was not, and that leave values which fail more often than by chance."""
OBJECTIVE = "objective"
"""What a change is about, beside the quantities: time, cost and efficiency as they are weighed."""
SET_BY_HAND, RISK = "set by hand", "risk of failure"
"""Reasons without a public code: the first one of what the user set, and the last one of every change."""


@dataclass(frozen=True, slots=True)
class Change:
    """Change of one parameter, a line of a suggestion: its value today and the next one."""

    parameter: str
    key: str
    old: float
    new: float
    old_text: str
    new_text: str
    reason: str
    confidence: float | None
    capped_by: str | None = None
    """The limit of the guard at which the value is: without it the agent would have gone further. None: no limit held it."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """Verdict of the independent constraints module on the proposal, for the record."""

    approved: bool
    violations: tuple[Note, ...] = ()
    notices: tuple[Note, ...] = ()
    """Limits which today's values break, and which the suggestion leaves as they are."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence that a suggestion rests on."""

    runs_used: int
    runs_skipped: tuple[Skipped, ...] = ()
    requests: int = 0
    seconds: float = 0.0
    notes: tuple[Note, ...] = ()
    """For the reader, e.g. that the history could not be refreshed; of those that were stored only the sentence is known."""
    run_ids: tuple[str, ...] = ()
    """The newest runs with today's and with the suggested values, oldest first."""
    codes: tuple[str, ...] = ()
    """Reason codes of the notes and of what was skipped."""

    def noting(self, notes: Iterable[Note]) -> "Evidence":
        """The evidence with further notes, of which a code counts once."""
        more = tuple(dict.fromkeys(notes))
        return replace(self, notes=(*self.notes, *more), codes=(*self.codes, *dict.fromkeys(codes_of(more))))


NO_EVIDENCE = Evidence(0)
"""Before any source was asked."""


@dataclass(frozen=True, slots=True)
class SlaCheck:
    """Check of one SLA target against a forecast or an outcome; "at risk": only the far end of an interval breaks it."""

    name: str
    limit: float
    verdict: Literal["ok", "at risk", "broken", "unknown"]


@dataclass(frozen=True, slots=True)
class Alternative:
    """Alternative to the suggestion: a configuration with what is expected of it and why it was not."""

    parameters: Mapping[str, float]
    forecast: Forecast
    why_not: str

    @property
    def document(self) -> dict[str, Any]:
        """As JSON has it, the user's own metrics among the quantities."""
        return {**as_document(self), "forecast": self.forecast.by_quantity}


@dataclass(frozen=True, slots=True)
class SuggestedValues:
    """Values of a suggestion, and how config.ini says them.

    Attributes:
        keys: `section.option` of every parameter, as written in config.ini.
        current, suggested: the values that runs have today, and next.
        texts: what the file says, by parameter, where it says JPO's quantity itself: "32G", "1e-3". Empty where nobody kept it.
        as_run: parameters that runs have at another value than config.ini gave them: a change writes their value down, or
            config.ini keeps its own.
        checkout: for which checkout it was made; None: not known.
    """

    keys: Mapping[str, str]
    current: Mapping[str, float]
    suggested: Mapping[str, float]
    texts: Mapping[str, str] = field(default_factory=dict)
    as_run: tuple[str, ...] = ()
    checkout: Checkout | None = None


@dataclass(frozen=True, slots=True)
class DecisionOnRecord:
    """Decision of a suggestion: who decided, why, and by what.

    Attributes:
        decided_by, confidence, reasons: as of a Decision, with what else the change means.
        policy: SHA-256 (hex) of the weights that decided, or "belief rule"; None where neither did.
        undoes: for a rollback, the id of the suggestion whose `current` values it restores, undoing that one and all after it.
        pinned_until: for a rollback, unix seconds up to which the values that it restored stay as they are.
        kind: what the answer is; trial: of a trial, which of how many it is that may be made now.
        rules: what each rule of the decision took away, in order; empty where nothing was weighed.
        runs_saved: as of a Decision.
    """

    decided_by: str
    confidence: float | None
    reasons: tuple[Note, ...]
    preference: Preference
    seed: int
    policy: str | None = None
    undoes: str | None = None
    pinned_until: float | None = None
    kind: ChangeKind = "kept"
    trial: tuple[int, int] | None = None
    rules: tuple[RuleApplied, ...] = ()
    runs_saved: Interval | None = None

    @property
    def policy_reason(self) -> Note | None:
        """The reason that says what the trained policy did; None where it was not asked."""
        named = () if self.decided_by in ("belief", "sac") else ("JPO-I602",)
        return next((reason for reason in self.reasons if reason.code in (*OF_POLICY, *named)), None)


@dataclass(frozen=True, slots=True)
class Prospects:
    """Prospects of a suggestion: what it was held against, and what else there was; all empty before the first run.

    Attributes:
        seen: what the agent saw of its choice and of the workload, by name.
        would_change: what another preference, boldness or outcome would have led to, a sentence each.
        difference: what is expected of a change against today, by quantity: a ratio, of an accuracy or a metric of the user's own
            a difference; of OBJECTIVE what the chance is about.
    """

    sla: tuple[SlaCheck, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    seen: Mapping[str, float] = field(default_factory=dict)
    would_change: tuple[str, ...] = ()
    difference: Mapping[str, Interval] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Suggestion: one answer of JPO with everything needed to explain it later."""

    suggestion_id: str
    identity: Identity
    created_at: float
    status: Literal["changed", "kept"]
    values: SuggestedValues
    changes: tuple[Change, ...]
    now: Forecast
    next: Forecast
    guard: Guarded
    evidence: Evidence
    decision: DecisionOnRecord
    prospects: Prospects = Prospects()

    @property
    def kept_as_run(self) -> frozenset[str]:
        """Parameters of which config.ini keeps its own value, though runs have another."""
        return frozenset(self.values.as_run) - {change.parameter for change in self.changes}

    def text_kept(self, parameter: str) -> str | None:
        """What the file says of a parameter that stays as it is there; None where it is not known, or runs have another value."""
        moved = parameter in self.values.as_run or any(change.parameter == parameter for change in self.changes)
        return None if moved else self.values.texts.get(parameter)

    @property
    def committed(self) -> Mapping[str, float] | None:
        """The values of the file in the checkout, where those in force counted in their place; None: it had `current`."""
        values = self.values.checkout.committed if self.values.checkout else None
        return None if values is None or same(values, self.values.current) else values

    @property
    def changes_file(self) -> bool:
        """Whether the file in the checkout has other values than the suggested ones."""
        return self.status == "changed" if self.committed is None else not same(self.values.suggested, self.committed)

    @property
    def codes(self) -> tuple[str, ...]:
        """Reason codes of the decision, then those of its evidence."""
        return (*codes_of(self.decision.reasons), *self.evidence.codes)

    def having(self, *codes: str) -> tuple[Note, ...]:
        """The reasons with any of these codes."""
        return tuple(reason for reason in self.decision.reasons if reason.code in codes)

    def expected_against_today(self, quantity: str, *, as_ratio: bool) -> float | None:
        """Next / now, or next - now; of forecasts, None where one of them is unknown, or nothing can be a multiple of today's."""
        if told := self.prospects.difference.get(quantity):
            return told.mean
        now, then = self.now.of(quantity), self.next.of(quantity)
        if not (now and then) or (as_ratio and not now.mean > 0):
            return None
        return then.mean / now.mean if as_ratio else then.mean - now.mean

    @property
    def forecasts(self) -> dict[str, object]:
        """Both forecasts by quantity, as JSON has them; the user's own metrics together, where there are any."""
        now, then = self.now.document, self.next.document
        both: dict[str, object] = {
            name: {"now": now.get(name), "next": then.get(name)} for name in FORECAST if name in now or name in then
        }
        today, expected = self.now.by_quantity, self.next.by_quantity
        own = dict.fromkeys((*self.now.metrics, *self.next.metrics))
        metrics = {name: {"now": today.get(name), "next": expected.get(name)} for name in own}
        return {**both, "metrics": metrics} if own else both


PARTS = {"values": SuggestedValues, "decision": DecisionOnRecord, "prospects": Prospects}
"""Parts of a suggestion whose names stand beside all others where it is stored."""


def as_stored(suggestion: Suggestion) -> dict[str, Any]:
    """A suggestion as stores, the audit log and published documents have it: on one level, sentences and codes apart."""
    stored = as_document(suggestion)
    for name in PARTS:
        stored |= stored.pop(name)
    stored |= {"now": suggestion.now.document, "next": suggestion.next.document}
    stored["alternatives"] = [other.document for other in suggestion.prospects.alternatives]
    del stored["evidence"]["codes"]
    stored["evidence"]["notes"] = texts_of(suggestion.evidence.notes)
    guard = suggestion.guard
    stored["guard"] |= {"violations": texts_of(guard.violations), "notices": texts_of(guard.notices)}
    return {**stored, "reasons": texts_of(suggestion.decision.reasons), "codes": suggestion.codes}


def suggestion_from(**given: Any) -> Suggestion:
    """A suggestion of values that stand on one level; what it has no place for is left out. Its kind follows from its codes where
    an earlier version did not say it.
    """
    if not given.get("kind"):
        codes = codes_of(given["reasons"])
        back = given["decided_by"] == "rollback" or "JPO-I603" in codes
        given["kind"] = "kept" if given["status"] == "kept" else "return" if back else "trial"
    parts = {name: kind(**{f.name: given[f.name] for f in fields(kind) if f.name in given}) for name, kind in PARTS.items()}
    return Suggestion(**{f.name: given[f.name] for f in fields(Suggestion) if f.name in given}, **parts)


def reasons_as_stored(stored: Mapping[str, Any]) -> tuple[tuple[Note, ...], tuple[str, ...]]:
    """The reasons of what `as_stored` returned, and the codes of its evidence: each as it was, by its place.

    A reason without a code is the first where the user set values, and the last where something changes. A rollback by hand has
    each code once, so that its reasons have those of others: nothing is selected from them.
    """
    texts, codes = tuple(stored["reasons"]), tuple(stored["codes"])
    first = [SET_BY_HAND] if stored["decided_by"] == "user" else []
    last = [RISK] if stored["status"] == "changed" else []
    many = max(len(texts) - len(first) - len(last), 0)
    names = [*first, *codes[:many], *[""] * (many - len(codes)), *last]
    return tuple(Note(code, text) for code, text in zip(names, texts, strict=False)), codes[many:]


@dataclass(frozen=True, slots=True)
class Undo:
    """Undoing of a suggestion and of all after it: what it means to go back.

    `undone`: these, as far as they changed config.ini, rollbacks included, oldest first; at least one.
    """

    suggestion_id: str
    undone: tuple[Suggestion, ...]

    @property
    def first(self) -> dict[str, Change]:
        """By parameter the first change, whose old value comes back."""
        return {change.parameter: change for suggestion in reversed(self.undone) for change in suggestion.changes}

    @property
    def last(self) -> dict[str, Change]:
        """By parameter the last change, whose new value must be in the file."""
        return {change.parameter: change for suggestion in self.undone for change in suggestion.changes}

    @property
    def values(self) -> dict[str, float]:
        """The values that come back."""
        return {name: change.old for name, change in self.first.items()}

    @property
    def texts(self) -> dict[str, str]:
        """The same as they were in the file."""
        return {name: change.old_text for name, change in self.first.items()}
