"""What people and programs read of an SLA."""

from __future__ import annotations

from made import a_run

from jpo.cost.sla import Compliance, ComplianceRate
from jpo.cost.thresholds import Threshold
from jpo.records import Currency, Identity, SlaCheck, uncoded
from jpo.report import sla
from jpo.report.forms import html, json, markdown, text
from jpo.report.sla import CheckedRun, SlaProposal, SlaReport, verdict

IDENTITY = Identity("d", "m", "f")
COMPLIANCE = Compliance(
    ComplianceRate(6, 7), ComplianceRate(6, 7), {"time_max": ComplianceRate(6, 7), "gpu_util_min": ComplianceRate(0, 0)}
)


def a_check(name: str = "time_max", limit: float = 3600.0, word: str = "ok") -> SlaCheck:
    return SlaCheck(name, limit, word)  # type: ignore[arg-type]


def a_report(*checks: tuple[SlaCheck, float | None], run_id: str = "r1") -> SlaReport:
    targets = {check.name: check.limit for check, _ in checks}
    checked = [CheckedRun(a_run(run_id), checks)]
    return SlaReport(IDENTITY, targets, checked, COMPLIANCE, 7, uncoded(["a note"]), Currency("EUR", 0.5))


def lines(report: SlaReport) -> list[str]:
    return [" ".join(line.split()) for line in text.render(sla.document(report), width=100, colour=False).split("\n")]


def test_limits_have_signs_and_units_and_verdicts_are_words() -> None:
    cost, idle = a_check("cost_max", 12.0, "broken"), a_check("gpu_util_min", 0.5, "unknown")
    shown = lines(a_report((a_check(), 1800.0), (cost, 14.0), (idle, None)))
    assert shown[:3] == ["Workload d/m/f", "", "Run r1: succeeded, 1970-01-01 00:03 UTC"]
    assert "time_max ≤ 1h 00m 30m 00s met" in shown
    assert "cost_max ≤ 6.00 EUR 7.00 EUR violated" in shown
    assert "gpu_util_min ≥ 50% unknown unknown" in shown
    assert shown[-4:-1] == ["Note: a note", "", "violated by r1 (cost_max); time_max met by 6 of 7 runs"]


def test_how_often_it_was_kept_is_a_share_with_its_interval_or_unknown() -> None:
    shown = lines(a_report((a_check(), 1800.0)))
    assert "of 7 runs kept known share (90% interval)" in shown
    assert "time_max 6 7 86% (55% to 97%)" in shown
    assert "gpu_util_min 0 0 unknown" in shown
    assert "runs that violated nothing 6 7 86% (55% to 97%)" in shown
    assert "targets of all runs 6 7 86%" in shown


def test_the_verdict_names_runs_and_targets_and_what_is_not_known() -> None:
    def run(*words: str) -> CheckedRun:
        return CheckedRun(a_run(), [(a_check(word=word), None) for word in words])

    assert verdict([run("ok"), run("ok", "broken")]) == "violated by r1 (time_max)"
    assert verdict([run("ok", "unknown")]) == "no target missed; 1 of 2 unknown"
    assert verdict([run("unknown")]) == "unknown: no run measured what the targets limit"
    assert verdict([run("ok")]) == "all targets met"
    assert verdict([]) == "no run on record: whether the SLA is met is unknown"


def test_names_from_logs_steer_no_terminal_and_no_page() -> None:
    attack = a_report((a_check(word="broken"), 1.0), run_id="\x1b[31m<b>")
    document = sla.document(attack)
    assert "\x1b" not in text.render(document, width=100, colour=False)
    assert "**violated by  \\[31m\\<b\\> (time\\_max); time\\_max met by 6 of 7 runs**" in markdown.render(document).replace(
        "by \\[", "by  \\["
    )
    assert "<b>" not in html.render(document)


def test_json_says_what_is_violated_and_what_is_not_known() -> None:
    report = a_report((a_check(word="broken"), 4000.0), (a_check("val_loss_max", 0.5, "unknown"), None))
    document = sla.as_json(report)
    assert json.dumps(document)
    assert report.violated
    assert list(document) == ["schema_version", "workload", "promises", "runs", "compliance", "notes"]
    assert document["compliance"]["promises"]["val_loss_max"] == {"kept": 0, "known": 0, "share": None}  # type: ignore[index]


def test_a_proposal_is_lines_for_the_settings_and_comments_where_nothing_can_be_said() -> None:
    thresholds = [
        Threshold("time_max", 7200.0, 3, 3600.0, 5400.0),
        Threshold("cost_max", 12.5, 3, 8.0, 8.0),
        Threshold("val_loss_max", None, 0, why_not="measured in 0 of at least 3 runs"),
    ]
    proposal = SlaProposal(IDENTITY, 0.95, 3, "with any values", thresholds, uncoded(["a note"]), Currency("EUR", 0.5))
    assert text.render(sla.document(proposal), width=100, colour=False) == (
        "# d/m/f: 3 runs that ended well with any values\n"
        "# each line by itself is expected to be met by 95% of runs like them\n"
        "# a note\n"
        "[sla]\n"
        'time_max = "2h"   # 3 runs, 1h 00m to 1h 30m\n'
        "cost_max = 12.5   # in USD, which is 6.25 EUR; 3 runs, 4.00 EUR\n"
        "# val_loss_max: unknown, measured in 0 of at least 3 runs\n"
    )


def test_proposed_lines_are_pasted_as_they_are_and_a_page_of_them_has_a_title() -> None:
    proposal = SlaProposal(IDENTITY, 0.95, 3, "with any values", (), (), Currency("EUR", 0.5))
    document = sla.document(proposal)
    assert text.render(document, width=120, colour=False).startswith(f"# {IDENTITY}: 3 runs")
    assert "<title>Thresholds for jpo.toml</title>" in html.render(document)
