from __future__ import annotations

import re
from dataclasses import replace

from plugins.page.report.sample import CHAIN, REVIEW, WORKLOAD

from jpo.history import Verification
from jpo.optimizer.before_and_after import Spent
from jpo.plugins.page.report.record import AuditDigest
from jpo.plugins.page.report.sections import alarm, decider, document, latest, left_out
from jpo.records import Identity, Interval
from jpo.report.forms import markdown, text


def told(**given: object) -> str:
    return text.render(document(replace(REVIEW, **given)), width=200, colour=False)  # type: ignore[arg-type]


def test_the_report_answers_in_the_order_in_which_one_asks() -> None:
    shown = told()
    heads = (
        "What JPO brought",
        "Workload digits/cnn/pytorch",
        "Before and after",
        "Suggestions",
        "Trade-off",
        "Runs",
        "Learning",
    )
    places = [shown.index(f"{head}\n") for head in (*heads, "Audit log")]
    assert places == sorted(places)


def test_savings_have_their_interval_and_what_is_not_known_is_unknown() -> None:
    shown = told(saved={"duration_seconds": Interval(7200.0, 3600.0, 10800.0), "cost_usd": None})
    assert "2h 00m (1h 00m to 3h 00m)" in shown
    assert re.search(r"31s \(20s to 42s\) +unknown", shown), "money"


def test_a_suggestion_says_who_decided_who_asked_what_became_of_it_and_what_came() -> None:
    (line,) = [line for line in told().split("\n") if " s1 " in line]
    for said in ("trial", "batch 32 → 64", "written", "the SAC agent", "ada github", "50s", "1 of 2"):
        assert said in line


def test_a_broken_chain_comes_before_everything_else() -> None:
    bad = AuditDigest(Verification(4, "ab" * 32, 5, "record 5 was changed"), {}, (), (), ())
    shown = told(audit=bad)
    assert shown.startswith("THE AUDIT CHAIN IS BROKEN: record 5 was changed. What follows")
    assert "The chain is broken" in shown.split("What JPO brought")[1]
    assert "anchor" not in shown, "the head of a broken chain is none"
    assert markdown.render(document(replace(REVIEW, audit=bad))).startswith("> **THE AUDIT CHAIN IS BROKEN")


def test_an_intact_chain_is_no_alarm_and_shows_its_anchor() -> None:
    assert alarm(REVIEW.audit) == ""
    assert CHAIN.head in told()


def test_what_contradicts_the_log_is_named() -> None:
    said = alarm(replace(REVIEW.audit, contradicted=("a", "b", "c", "d")))
    assert "of a, b, c and others it says" in said


def test_deleted_runs_are_mentioned() -> None:
    assert "were deleted" not in told()
    assert "were deleted" in told(audit=replace(REVIEW.audit, kinds={"forgotten": 1}))


def test_only_the_newest_rows_are_for_people_and_it_says_how_many_there_are() -> None:
    assert latest([1, 2, 3], 2) == [3, 2]
    assert latest([1, 2, 3], None) == [3, 2, 1]
    assert (left_out([1, 2, 3], 2), left_out([1, 2], 2), left_out([1], None)) == (
        "The newest 2 of 3; --html FILE shows up to 1000.",
        *("", ""),
    )
    assert "The newest 1 of 2" in told(newest=1)


def test_a_store_without_anything_says_how_to_begin() -> None:
    empty = AuditDigest(Verification(0, "0" * 64), {}, (), (), ())
    shown = told(workloads=(), saved={}, audit=empty)
    assert "nothing on record yet" in shown
    assert "The store contains no audit log yet." in shown


def test_runs_that_did_not_end_well_are_counted() -> None:
    assert "1 of 2" in told().split("SLA kept\n")[1].split("\n")[0]


def test_of_many_workloads_the_first_ones_are_shown_in_full_where_people_read_to_the_end() -> None:
    many = [replace(WORKLOAD, identity=Identity(f"d{number:02}", "m", "f")) for number in range(12)]
    shown = told(workloads=many, newest=20, sections=10)
    assert shown.count("\nWorkload d") == 10
    assert "the first 10 of 12 workloads" in shown
    assert "d11/m/f" in shown, "the totals have all"
    assert told(workloads=many).count("\nWorkload d") == 12


def test_a_user_who_decided_is_not_called_you() -> None:
    assert decider("user") == "a user"
    assert decider("belief") == "the belief rule"
    assert decider("of a later version") == "of a later version"


def test_workloads_of_a_repository_stand_together_and_those_with_losses_first() -> None:
    worse = [replace(saved, saved=Interval(-200.0, -260.0, -140.0)) for saved in WORKLOAD.saved]
    of = {"a": ("x", WORKLOAD.saved), "b": ("y", WORKLOAD.saved), "c": ("y", worse), "d": ("x", WORKLOAD.saved)}
    many = [replace(WORKLOAD, identity=Identity(d, "m", "f"), repository=r, saved=s) for d, (r, s) in of.items()]
    lines = told(workloads=many).split("\nWorkload a")[0].split("\n")
    assert [line.split()[:3] for line in lines if "/m/f " in line and "%" in line] == [
        ["y", "c/m/f", "worse"],
        ["y", "b/m/f", "trial"],
        ["x", "a/m/f", "trial"],
        ["x", "d/m/f", "trial"],
    ]


def test_nights_that_kept_the_values_are_one_line() -> None:
    (made,) = WORKLOAD.decisions
    kept = replace(made.suggestion, changes=(), decision=replace(made.suggestion.decision, kind="kept"))
    nights = [replace(made, suggestion=replace(kept, suggestion_id=f"k{n}"), spent=Spent(-9.0, 0.0, 1.0, 1)) for n in range(3)]
    (line,) = [line for line in told(workloads=[replace(WORKLOAD, decisions=(made, *nights))]).split("\n") if "kept 3" in line]
    assert re.search(r" kept 3 times .* k2 ", line)
    assert "27s" in line
    assert "3 of 6" in line
