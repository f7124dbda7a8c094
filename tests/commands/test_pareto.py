from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from user_project import Project

NIGHT = "\n[preferences.night]\ncost = 0.9\ntime = 0.1\n"


def front(project: Project, *options: str) -> dict[str, Any]:
    answer = project.jpo("pareto", "config.ini", "-o", "json", *options)
    assert answer.code == 0, answer.err
    found: dict[str, Any] = json.loads(answer.out)
    return found


def marked(document: dict[str, Any], mark: str) -> list[dict[str, Any]]:
    return [point for point in document["points"] if mark in point["marks"]]


def test_measured_runs_are_facts_with_their_medians(project: Project) -> None:
    facts = [point for point in front(project)["points"] if point["kind"] == "measured"]
    found = {point["parameters"]["batch_size"]: (point["runs"], point["values"]["duration_seconds"]) for point in facts}
    assert found == {16: (3, 100.0), 64: (3, 41.0), 32: (1, 70.0)}
    assert [point["parameters"]["batch_size"] for point in facts if point["on_front"]] == [64]
    assert facts[0]["values"]["cost_usd"] == pytest.approx(41 / 3600 * 2 * 0.04)


def test_today_and_the_next_suggestion_are_marked(project: Project) -> None:
    document = front(project)
    suggestion = json.loads(project.jpo("suggest", "config.ini", "--dry-run", "--no-learn", "-o", "json").out)
    assert [point["parameters"]["batch_size"] for point in marked(document, "today")] == [16]
    assert [point["parameters"] for point in marked(document, "suggested")] == [suggestion["suggested"]]
    assert document["suggested"] == suggestion["suggested"]


def test_each_preference_goes_where_suggest_would_go(project: Project) -> None:
    (project.folder / "jpo.toml").write_text((project.folder / "jpo.toml").read_text() + NIGHT)
    document = front(project)
    assert list(document["preferences"]) == ["time", "cost", "balanced", "night"], "nobody measured efficiency"
    for name, values in document["preferences"].items():
        answer = project.jpo("suggest", "config.ini", "--dry-run", "--no-learn", "--prefer", name, "-o", "json")
        assert json.loads(answer.out)["suggested"] == values, name
        assert [point["parameters"] for point in marked(document, f"prefer {name}")] == [values]


def test_nothing_is_written_and_nobody_is_asked(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMETHEUS_URL", "http://127.0.0.1:1")
    before = contents(project.folder)
    assert front(project)["notes"] == [], "a server that cannot be reached would be noted"
    assert contents(project.folder) == before


def contents(folder: Path) -> dict[str, str]:
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


def test_the_same_history_gives_the_same_answer(project: Project) -> None:
    assert front(project) == front(project)


def test_runs_that_failed_are_counted_and_not_drawn(project: Project) -> None:
    project.log(50, 128, 1.0, status="failed")
    document = front(project)
    assert document["left_out"]["runs that did not end well"] == 1
    assert not [point for point in document["points"] if point["kind"] == "measured" and point["parameters"]["batch_size"] == 128]


def test_the_reference_point_is_the_users_where_one_is_given(project: Project) -> None:
    document = front(project, "--reference", "time=2m,cost=0.01")
    assert document["hypervolume"]["reference"] == {"duration_seconds": 120.0, "cost_usd": 0.01}
    assert document["hypervolume"]["measured"] == pytest.approx((120 - 41) * (0.01 - 41 / 3600 * 0.08))
    half = front(project, "--reference", "time=2m")["hypervolume"]["reference"]
    assert half == {"duration_seconds": 120.0, "cost_usd": pytest.approx(1.1 * 100 / 3600 * 0.08)}


def test_a_reference_that_nothing_reaches_has_no_volume(project: Project) -> None:
    assert front(project, "--reference", "time=1s")["hypervolume"]["measured"] == 0.0
    assert "measured front up to it: 0 s × USD" in project.jpo("pareto", "config.ini", "--reference", "time=1s").out


def test_predictions_at_their_worst_take_nothing_away(project: Project) -> None:
    told = front(project)["hypervolume"]
    assert told["unlucky"] == told["measured"] < told["expected"], "not even by rounding"
    assert "at the worse ends of their intervals nothing" in " ".join(project.jpo("pareto", "config.ini").out.split())


def test_amounts_are_read_and_shown_in_the_currency(project: Project) -> None:
    toml = project.folder / "jpo.toml"
    toml.write_text(toml.read_text().replace("[prices]", '[prices]\ncurrency = "EUR"\nper_usd = 0.5'))
    answer = project.jpo("pareto", "config.ini", "--reference", "cost=3EUR")
    assert "cost 3.00 EUR" in answer.out
    assert "USD" not in answer.out
    assert front(project, "--reference", "cost=3EUR")["hypervolume"]["reference"]["cost_usd"] == 6.0


def test_without_runs_it_says_so_in_one_line(empty: Project) -> None:
    answer = empty.jpo("pareto", "config.ini", "--plot", "front.svg")
    assert answer.code == 0
    assert "no run that ended well is on record with time and cost; there is no front yet" in answer.out
    assert (empty.folder / "front.svg").exists()
    document = front(empty)
    assert document["hypervolume"] is None
    assert document["preferences"] == {}
    assert "JPO-I832" in document["reason_codes"]


def test_without_prices_another_front_is_shown_and_the_reason(project: Project) -> None:
    toml = project.folder / "jpo.toml"
    toml.write_text(toml.read_text().partition("[prices]")[0])
    document = front(project)
    assert [axis["name"] for axis in document["objectives"]] == ["time", "loss"]
    assert "JPO-I831" in document["reason_codes"]
    answer = project.jpo("pareto", "config.ini", "--objectives", "time,cost")
    assert (answer.code, "JPO-E833" in answer.err, answer.out) == (2, True, "")


def test_what_nobody_measured_makes_no_front(project: Project) -> None:
    document = front(project, "--objectives", "time,efficiency")
    assert document["left_out"]["runs without CPU busy"] == 7
    assert [point for point in document["points"] if point["kind"] == "measured"] == []


def test_nothing_is_behind_a_front_that_is_not_there(project: Project) -> None:
    out = project.jpo("pareto", "config.ini", "--objectives", "time,efficiency").out
    assert "there is no front yet" in out
    assert "It lies behind" not in out
    assert " no " not in next(line for line in out.splitlines() if "today" in line)


def test_an_sla_that_nothing_keeps_leaves_the_front_and_no_suggestion(project: Project) -> None:
    toml = project.folder / "jpo.toml"
    toml.write_text(toml.read_text() + '[sla]\ntime_max = "1s"\n')
    document = front(project)
    assert document["suggested"] is None
    assert "time_max" in document["because"]
    assert "JPO-I833" in document["reason_codes"]
    assert all("time_max" in point["breaks_sla"] for point in document["points"] if point["kind"] == "measured")
    assert "would find nothing" in project.jpo("pareto", "config.ini").out


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--objectives", "time"), "JPO-E831"),
        (("--objectives", "time,time"), "JPO-E831"),
        (("--objectives", "time,speed"), "JPO-E831"),
        (("--objectives", ""), "JPO-E831"),
        (("--reference", "time"), "JPO-E832"),
        (("--reference", "time=6x"), "JPO-E832"),
        (("--reference", "time=0s"), "JPO-E832"),
        (("--reference", "loss=1"), "JPO-E832"),
        (("--reference", "time=1h,time=2h"), "JPO-E832"),
        (("--objectives", "time,loss", "--reference", "loss=nan"), "JPO-E832"),
        (("--objectives", "time,efficiency", "--reference", "efficiency=150%"), "JPO-E832"),
        (("--reference", "cost=-1"), "JPO-E803"),
        (("--plot", "front.pdf"), "JPO-E712"),
        (("--plot", "missing/front.png"), "JPO-E307"),
        (("--output-file", "config.ini"), "JPO-E307"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(project: Project, options: tuple[str, ...], code: str) -> None:
    answer = project.jpo("pareto", "config.ini", *options)
    assert (answer.code, answer.out) == (2, "")
    assert f"[{code}]" in answer.err
    assert answer.err.count("\n") == 1


def test_results_are_kept_in_files(project: Project) -> None:
    answer = project.jpo("pareto", "config.ini", "--plot", "front.png", "--output-file", "f.json", "--output-file", "f.txt")
    assert answer.code == 0
    assert (project.folder / "front.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((project.folder / "f.json").read_text())["points"]
    assert "Measured: medians" in (project.folder / "f.txt").read_text()
