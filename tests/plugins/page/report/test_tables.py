from __future__ import annotations

import csv
from dataclasses import replace
from io import StringIO

from attacks import ATTACKS, check_csv, steered
from plugins.page.report.sample import GOOD, REVIEW, WORKLOAD

from jpo.plugins.page.cli import NAMES
from jpo.plugins.page.report.tables import files
from jpo.records import Identity


def rows(name: str) -> list[dict[str, str]]:
    return [*csv.DictReader(StringIO(files(REVIEW)[name]))]


def test_the_files_are_those_that_the_command_line_names() -> None:
    assert tuple(files(REVIEW)) == NAMES


def test_what_a_run_was_given_and_who_decided() -> None:
    first, second = rows("allocation_history.csv")
    assert (first["batch_size"], first["decided_by"], first["usd_per_hour"]) == ("64.0", "sac", "36.0")
    assert (second["batch_size"], second["decided_by"], second["usd_per_hour"]) == ("128.0", "", "")


def test_each_promise_of_a_run_is_a_row() -> None:
    (one,) = rows("sla_metrics.csv")
    assert (one["run_id"], one["target"], one["limit"], one["measured"], one["verdict"]) == (
        "r1",
        "time_max",
        "60.0",
        "50.0",
        "ok",
    )


def test_rewards_fronts_and_measurements_are_as_they_are_recorded() -> None:
    (worth,) = rows("reward_components.csv")
    assert (worth["time"], worth["efficiency"], worth["failed"]) == ("0.0", "", "False")
    best, failed = rows("pareto_front.csv")
    assert (best["objective"], best["value"], best["second_value"], best["on_front"]) == (
        "duration_seconds",
        "50.0",
        "0.5",
        "True",
    )
    assert (failed["value"], failed["failed"]) == ("", "1")
    assert [row["cost_by_prices_usd"] for row in rows("performance_metrics.csv")] == ["0.5", ""]


def test_no_name_is_a_formula_or_a_command() -> None:
    for attack in ATTACKS:
        run = replace(GOOD.recorded.run, run_id=attack, identity=Identity(attack, attack, attack, attack))
        past = replace(GOOD, recorded=replace(GOOD.recorded, run=run))
        workload = replace(WORKLOAD, identity=run.identity, runs=(replace(WORKLOAD.runs[0], past=past),))
        for text in files(replace(REVIEW, workloads=(workload,))).values():
            check_csv(text)
            assert steered(text) == []
