from __future__ import annotations

import pytest
from fleets import BAD, fleet, lane, run

from jpo.cli.output import rendered
from jpo.plugins.lab.fleet import Fleet
from jpo.plugins.lab.report import fleet as subject

MEASURED = {"gpu_utilisation": 0.99, "cpu_utilisation": 0.99, "val_loss": 0.0823}
USUAL = fleet(lane([run(7000, **MEASURED)] * 2, [run(6500, **MEASURED)] * 2, goal=0.5))


def text(of: Fleet, width: int = 120) -> str:
    return rendered(subject, of, "text", columns=width)


@pytest.mark.parametrize("lanes", [1, 3])
def test_every_form_renders_with_nothing_but_failures(lanes: int) -> None:
    some = fleet(*(lane([run(5, BAD)] * 2, [run(5, BAD)] * 2, goal=None) for _ in range(lanes)))
    assert text(some).count("fails") == lanes
    assert '"usd_per_model": null' in rendered(subject, some, "json")
    assert "| **fails** |" in rendered(subject, some, "markdown")
    assert "fails" in rendered(subject, some, "html")


def test_a_workload_shows_each_median_before_and_after_and_the_goal() -> None:
    assert "00 cpu    -50%  -50%   0 → 0  1h 56m → 1h 48m  70.00 → 65.00 USD  0.0823 → 0.0823        99% → 99%" in text(USUAL)


def test_what_is_measured_once_only_is_shown_and_what_never_was_is_unknown() -> None:
    some = fleet(lane([run(100)] * 2, [run(50, val_loss=0.08231)] * 2))
    row = next(line for line in text(some).splitlines() if line.startswith("00 cpu"))
    assert "unknown → 0.08231" in row
    assert row.split()[-2:] == ["unknown", "unknown"]


def test_the_overall_change_has_its_interval() -> None:
    some = fleet(*(lane([run(100)] * 2, [run(seconds)] * 2) for seconds in (50, 80, 90)))
    assert "duration                  1m 40s    1m 20s    -20% (-50% to -10%)\n" in text(some)


def test_all_runs_are_paid_for() -> None:
    some = fleet(lane([run(3600)] * 2, [run(3600), run(3600, BAD)]))
    assert "unchanged     2       0    2h 00m  72.00 USD          36.00 USD\n" in text(some)
    assert "with JPO      2       1    2h 00m  72.00 USD          72.00 USD\n" in text(some)


def test_twenty_usual_workloads_fit_into_100_columns() -> None:
    assert max(map(len, text(USUAL, 100).split("\n"))) <= 100
    assert "GPU" in text(USUAL, 100)
    assert "…" not in text(USUAL, 100)


def test_a_narrow_terminal_does_without_utilisation_in_the_first_table() -> None:
    table = text(USUAL, 80).split("\n\n")[1]
    assert table.endswith("\nhidden at 80 columns: GPU utilisation, CPU utilisation")
    assert "1h 56m → 1h 48m" in table
    assert max(map(len, table.split("\n"))) <= 80


def test_a_single_last_run_is_not_called_several() -> None:
    some = fleet(lane([run(100)], [run(50)]), last=1)
    assert "- Medians of each workload's last run that ended well.\n" in text(some)
    assert "- Medians of each workload's last 2 runs that ended well.\n" in text(USUAL)
