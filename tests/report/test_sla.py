"""What people read of an SLA."""

from __future__ import annotations

from jpo.records import Currency, Interval, SlaCheck
from jpo.report.sla import CheckedRun, Tally, checked_text, tally, verdict


def a_check(name: str = "time_max", limit: float = 3600.0, word: str = "ok") -> SlaCheck:
    return SlaCheck(name, limit, word)  # type: ignore[arg-type]


def text(*checks: tuple[SlaCheck, float | None], tallies: tuple[Tally, ...] = (), run_id: str = "r1") -> str:
    checked = [CheckedRun(run_id, "succeeded", checks)]
    return checked_text("d/m/f", checked, tallies, ["a note"], runs=7, currency=Currency("EUR", 0.5), width=100, colour=False)


def test_limits_have_signs_and_units_and_verdicts_are_words() -> None:
    cost, busy = a_check("cost_max", 12.0, "broken"), a_check("gpu_util_min", 0.5, "unknown")
    lines = [line.split() for line in text((a_check(), 1800.0), (cost, 14.0), (busy, None)).splitlines()]
    assert ["time_max", "≤", "1", "h", "00", "30", "min", "00", "met"] in lines
    assert ["cost_max", "≤", "6.00", "EUR", "7.00", "EUR", "violated"] in lines
    assert ["Note:", "a", "note"] in lines
    assert lines[6][:2] == ["gpu_util_min", "≥"]
    assert lines[6][-2:] == ["unknown", "unknown"]


def test_how_often_it_was_kept_is_a_share_with_its_interval_or_unknown() -> None:
    assert tally(Tally("time_max", 6, 7, Interval(6 / 7, 0.57, 0.96))) == "6 of 7: 86% (57% to 96%)"
    assert tally(Tally("promises of all runs", 6, 7)) == "6 of 7: 86%"
    assert tally(Tally("time_max", 0, 0, None)) == "unknown"


def test_the_verdict_names_runs_and_promises_and_what_is_not_known() -> None:
    def run(*words: str) -> CheckedRun:
        return CheckedRun("r1", "", [(a_check(word=word), None) for word in words])

    assert verdict([run("ok"), run("ok", "broken")]) == "violated by r1 (time_max)"
    assert verdict([run("ok", "unknown")]) == "no promise violated; 1 of 2 unknown"
    assert verdict([run("unknown")]) == "unknown: nothing was measured of what is promised"
    assert verdict([run("ok")]) == "all promises met"
    assert verdict([]) == "no run on record: whether the SLA is kept is unknown"


def test_names_from_logs_steer_no_terminal() -> None:
    assert "\x1b" not in text((a_check(word="broken"), 1.0), run_id="\x1b[31mred")
