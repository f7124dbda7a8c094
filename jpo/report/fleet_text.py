"""A simulated fleet for people: before and after per workload and overall, in at most 100 columns."""

from __future__ import annotations

from rich.table import Table

from jpo.report.page import blank_page, text_of
from jpo.simulate import fleet as numbers_of
from jpo.simulate.fleet import CLEARLY, Fleet, Lane, Totals

NARROWEST = 100
HEADS = {
    "gpu_utilisation": "GPU busy",
    "cpu_utilisation": "CPU busy",
    "duration_seconds": "time",
    "cost_usd": "cost USD",
    "energy_joules": "energy",
    "val_loss": "val loss",
}


def render(fleet: Fleet, *, width: int = 120, colour: bool = False) -> str:
    """The tables and what must be known to read them."""
    console = blank_page(max(width, NARROWEST), colour=colour, markup=True)
    console.print(headline(fleet), "", style="bold")
    console.print(per_workload(fleet), "", over_all(fleet), "")
    for line in notes(fleet):
        console.print(line)
    return text_of(console)


def headline(fleet: Fleet) -> str:
    weights = ", ".join(f"{name} {weight:g}" for name, weight in fleet.preference.items() if weight)
    drift = ", with drift" if fleet.drift else ""
    return f"{len(fleet.lanes)} simulated workloads × {fleet.runs} runs; preference {weights}; explore {fleet.explore}{drift}"


def per_workload(fleet: Fleet) -> Table:
    """Medians of the last runs, unchanged → with JPO; how much better the objective got, and how much better it could be."""
    names = [name for name in numbers_of.METRICS if name != "energy_joules"]
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for head in ("", *(HEADS[name] for name in names), "failed", "goal", "best"):
        table.add_column(head, overflow="fold")
    for number, lane in enumerate(fleet.lanes):
        cells = [arrow(name, *numbers_of.before_after(lane, name, fleet.last)) for name in names]
        failed = [sum(not run.ended_well for run in runs) for runs in (lane.unchanged, lane.tuned)]
        kind = "gpu" if "gpus" in lane.first else "cpu"
        table.add_row(f"{number:02} {kind}", *cells, f"{failed[0]} → {failed[1]}", goal(lane), signed(lane.best))
    return table


def goal(lane: Lane) -> str:
    """How the objective changed."""
    if lane.goal is None:
        return "[red]fails[/]"
    colour = "red" if lane.goal > CLEARLY else "green" if lane.goal < 1 / CLEARLY else "default"
    return f"[{colour}]{signed(lane.goal)}[/]"


def over_all(fleet: Fleet) -> Table:
    """Medians over the workloads, and the change with its interval."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for head in ("median over workloads", "unchanged", "with JPO", "change (90% interval)"):
        table.add_column(head, overflow="fold")
    for name in numbers_of.METRICS:
        ratio = numbers_of.overall(fleet, name)
        if ratio:
            shown = f"{signed(ratio.mean)} ({signed(ratio.low)} to {signed(ratio.high)})"
            table.add_row(HEADS[name], *(cell(name, value) for value in numbers_of.typical(fleet, name)), shown)
    return table


def notes(fleet: Fleet) -> list[str]:
    """What the tables do not show: failures, losers, the price of exploring, and how far this can be trusted."""
    unchanged, tuned = numbers_of.all_runs(fleet)
    losers = (
        f"{numbers_of.worse(fleet)} of {len(fleet.lanes)} workloads, by more than 5%: {numbers_of.worse(fleet, than=CLEARLY)}"
    )
    return [
        f"Medians of each workload's last {fleet.last} runs that ended well; unchanged: its first configuration, same luck.",
        "goal: change of the preferred objective, failed runs paid for; best: what the best configuration would reach.",
        f"Worse than unchanged in the end: {losers}.",
        f"Failed runs: {tuned.failed} of {tuned.runs} with JPO, {unchanged.failed} unchanged.",
        f"All runs, failed ones included: {spent(tuned)} with JPO, {spent(unchanged)} unchanged.",
        "The jobs come from the simulator on which JPO's belief rests: expect less from real ones.",
    ]


def spent(total: Totals) -> str:
    """What all runs took, and what each that ended well cost."""
    return f"{total.cost_usd:,.0f} USD, {total.hours:,.0f} h, {cell('cost_usd', total.usd_per_model)} USD per good run"


def arrow(name: str, before: float | None, after: float | None) -> str:
    """before → after, the unit once."""
    if before is None and after is None:
        return "–"
    unit, scale = unit_of(name, before if before is not None else after or 0.0)
    shown = ["–" if value is None else short(value / scale, whole=unit == " %") for value in (before, after)]
    return f"{shown[0]} → {shown[1]}{unit}"


def cell(name: str, value: float | None) -> str:
    """One number with its unit."""
    if value is None:
        return "–"
    unit, scale = unit_of(name, value)
    return short(value / scale, whole=unit == " %") + unit


def unit_of(name: str, value: float) -> tuple[str, float]:
    """The unit in which to show a number, and how much it is."""
    if name.endswith("_utilisation"):
        return " %", 0.01
    if name == "duration_seconds":
        return (" h", 3600.0) if value >= 3600 else (" min", 60.0)
    return (" kWh", 3.6e6) if name == "energy_joules" else ("", 1.0)


def short(value: float, *, whole: bool = False) -> str:
    """Whole numbers of what is large, three digits of what is small: enough to compare."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if whole or value >= 10 else f"{value:.3g}"


def signed(ratio: float) -> str:
    """0.8 -> -20%."""
    return f"{round(100 * (ratio - 1)):+d}%"
