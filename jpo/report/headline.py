"""What is said of a suggestion in a line: what it is, what was done to config.ini, and how right earlier forecasts were."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jpo.cost.sla import check_sla
from jpo.records import BETTER_QUALITY, FAILS_OFTEN, Currency, SlaCheck, Suggestion, TrackRecord
from jpo.records.from_plugins import Queued
from jpo.report.document import Cell, Column, Emphasis, Span
from jpo.wording import names, numbers

if TYPE_CHECKING:
    from jpo.cost.price import Rented
    from jpo.optimizer.surrogate import FailureChance

VERDICTS: Mapping[str, Emphasis] = {"ok": "good", "at risk": "warning", "broken": "bad", "unknown": "dim"}
"""Emphasis of the words on a target."""
AT_ONCE_SECONDS = 1.0
MOST_CHANGES = 3
"""Changed values that a sentence names; the table has all."""


def headline(suggestion: Suggestion) -> tuple[Span, str]:
    """What a suggestion is, and what is expected of it: "TRIAL 2 of 5: training.batch_size 64 → 128, expected time -8%  cost -8%,
    62% likely to cost at most a tenth more"; of today's values, why they are kept.
    """
    why_kept = next((note.text for note in suggestion.decision.reasons), "today's values")
    return Span(f"{kind(suggestion)}:"), f" {_what_changes(suggestion) if suggestion.changes else why_kept}"


def kind(suggestion: Suggestion) -> str:
    """The first word of all that is said of a suggestion: "IMPROVEMENT", or "TRIAL 2 of 5"."""
    which = suggestion.decision.trial if suggestion.decision.kind == "trial" else None
    return suggestion.decision.kind.upper() + (f" {which[0]} of {which[1]}" if which else "")


def _what_changes(suggestion: Suggestion) -> str:
    named = [f"{changed.key} {numbers.old_and_new(changed)}" for changed in suggestion.changes]
    more = [numbers.counted(len(named[MOST_CHANGES:]), "more value")] if named[MOST_CHANGES:] else []
    expected = in_short(suggestion)
    parts = (", ".join((*named[:MOST_CHANGES], *more)), f"expected {expected}" if expected else "", how_likely(suggestion))
    return ", ".join(filter(None, parts))


def in_short(suggestion: Suggestion) -> str:
    """What a change is expected to do: "time -22%  cost +51%  loss ±0%", to an accuracy or an own metric "accuracy +0.004"."""
    own = {name: names.heading(name) for name in suggestion.next.known if _by_difference(suggestion, name)}
    energy = {"energy_joules": "energy"} if "energy_joules" in suggestion.prospects.difference else {}
    wanted = {**names.OBJECTIVES, **energy, **own}
    return "  ".join(f"{name} {said}" for quantity, name in wanted.items() if (said := change(suggestion, quantity)))


def how_likely(suggestion: Suggestion) -> str:
    """The chance of what the answer claims: "83% likely to be better"; empty where it is unknown."""
    sure = suggestion.decision.confidence
    return "" if sure is None else f"{numbers.likely(sure)} likely {claim(suggestion)}"


def what_was_done(suggestion: Suggestion, *, written: bool) -> str:
    """What became of config.ini; a checkout may have older values than those that were kept or changed.

    `written`: whether it holds the suggested values now.
    """
    done, count = "written" if written else "not written", numbers.counted(len(suggestion.changes), "value")
    if suggestion.status == "kept":
        return f"the values in force are kept, and {done}" if suggestion.changes_file else "kept as it is"
    return f"{count} {done}" if suggestion.changes_file else f"{count} restored to what the file has"


def claim(suggestion: Suggestion) -> str:
    """What a suggestion claims with its confidence, after "likely"."""
    if promised := suggestion.having(BETTER_QUALITY):
        target = names.target(promised[0].about or _broken(suggestion))
        quality = names.quantity(target.quantity).long or target.quantity
        return f"to {'lower' if target.sign == '≤' else 'raise'} the {quality}"
    if suggestion.decision.kind == "kept":
        return "that no allowed change is better"
    if suggestion.decision.kind == "trial":
        return "to end well and cost at most a tenth more"
    left = suggestion.decision.decided_by != "rollback" and suggestion.having(FAILS_OFTEN)
    return "to end well" if left else "to be better"


def _broken(suggestion: Suggestion) -> str:
    """The target about the model that today's values are expected to break: no more of a promise is on record."""
    qualities = ("val_loss", "val_accuracy", *suggestion.now.metrics)
    checks = check_sla({check.name: check.limit for check in suggestion.prospects.sla}, suggestion.now)
    broken = {names.target(check.name).quantity: check.name for check in checks if check.verdict == "broken"}
    return next((broken[quality] for quality in qualities if quality in broken), "val_loss_max")


def judged(suggestion: Suggestion) -> str:
    """By what the model of a suggestion is judged, in short: loss, or where none is known the quality that is."""
    known = suggestion.next.known
    name = next((name for name in ("val_loss", "val_accuracy", *suggestion.next.metrics) if name in known), "val_loss")
    return "loss" if name == "val_loss" else names.heading(name)


def change(suggestion: Suggestion, quantity: str) -> str:
    """What is expected of a quantity, next to today's values: "-22%", or "+0.004" of a quality whose ratio says nothing."""
    mean, form = difference(suggestion, quantity)
    return "" if mean is None else numbers.written(form, mean)


def difference(suggestion: Suggestion, quantity: str) -> tuple[float | None, str]:
    """The same as a number, None where it is unknown, and what the number is: a "change" (ratio) or a "difference"."""
    by_difference = _by_difference(suggestion, quantity)
    mean = suggestion.expected_against_today(quantity, as_ratio=not by_difference)
    return mean, "difference" if by_difference else "change"


def _by_difference(suggestion: Suggestion, quantity: str) -> bool:
    return quantity == "val_accuracy" or quantity in suggestion.next.metrics


def column(quantity: str) -> Column:
    return Column(names.heading(quantity), "figure", quantity)


def chance(failure: "FailureChance | None") -> str:
    """The chance that a run fails; empty where it is unknown."""
    return numbers.chance(failure.probability) if failure else ""


def track_record(track: Sequence[TrackRecord]) -> str:
    """How the last forecasts turned out, one sentence; empty before the first one could be compared."""
    compared = [past for past in track if past.quantity in names.objectives([past.quantity])]
    parts = [
        f"{names.heading(past.quantity)} off by {numbers.percent(past.median_error)} (median), "
        f"{past.inside} of {past.forecasts} inside the interval"
        for past in compared
    ]
    many = max((past.forecasts for past in compared), default=0)
    return f"Last {f'{many} forecasts' if many > 1 else 'forecast'}: {'; '.join(parts)}." if parts else ""


def promise(check: SlaCheck | None) -> tuple[Cell, Cell]:
    """The limit of an SLA target, and whether the forecast keeps it."""
    if check is None:
        return Cell(""), Cell("")
    limit = Cell(check.limit, check.name, prefix=f"{names.target(check.name).sign} ")
    return limit, Cell(check.verdict, emphasis=VERDICTS[check.verdict])


def done_by(queued: Queued) -> str:
    """When a run would be done: "done by 2026-11-23 14:32 UTC (starts in 12m 00s, says slurm)"."""
    start = "starts at once" if queued.wait_seconds < AT_ONCE_SECONDS else f"starts in {numbers.duration(queued.wait_seconds)}"
    said = f"{start}, says {queued.engine}"
    return said if queued.done_at is None else f"done by {numbers.moment(queued.done_at)} UTC ({said})"


def on_instance(instance: "Rented", currency: Currency) -> str:
    """An instance with its prices and their age: "g5.xlarge in us-east-1 (1.006 USD/h on demand, spot unknown; ...)"."""
    on_demand, spot, highest = (
        "" if usd is None else numbers.money_per_hour(usd, currency)
        for usd in (instance.usd_per_hour, instance.usd_per_hour_spot, instance.usd_per_hour_spot_highest)
    )
    of_spot = f"{spot} spot" if spot else "spot price unknown"
    of_spot += f" in {instance.zone or instance.region}, at most {highest} within a week, {risk(instance)}" if highest else ""
    age = f"prices of {instance.priced_on}, {numbers.counted(instance.price_age_days, 'day')} old"
    return f"{instance.type} in {instance.region} ({on_demand} on demand, {of_spot}; {age})"


def risk(instance: "Rented") -> str:
    """What is known of how often a spot instance cannot be had or is taken back; AWS publishes no such rate by its API."""
    above, lost = instance.spot_above_share, instance.spot_lost_share
    often = "interruptions here unknown" if lost is None else f"{numbers.percent(lost)} of its hours here lost to interruptions"
    return often if above is None else f"{numbers.percent(above)} of the time above on demand, {often}"


def now_and_next(now: "Rented | None", then: "Rented | None", currency: Currency) -> str:
    """The instances of today's and of the suggested values, in a sentence; empty where neither is known."""
    if now == then:
        return f"Runs on {on_instance(now, currency)}, now and next." if now else ""
    today, expected = (on_instance(one, currency) if one else "no known instance" for one in (now, then))
    return f"Now on {today}; next on {expected}."
