"""Jobs that report an accuracy, or a metric of their own, in place of a loss: from their logs to what is suggested."""

from __future__ import annotations

import json

import pytest
from user_project import Project

ACCURACIES = {16: (0.93, 0.932, 0.931), 64: (0.929, 0.93, 0.931), 256: (0.89, 0.885, 0.887)}
SECONDS = {16: 100.0, 64: 40.0, 256: 30.0}
F1 = '[metric]\nname = "f1"\ndirection = "max"\n'


def log(project: Project, number: int, batch_size: int, **metrics: float | str) -> None:
    """The log of a run that measured these metrics and no loss."""
    start = 1_700_000_000 + 1000 * number
    end = start + SECONDS[batch_size] * (1 + 0.01 * (number % 3))
    path = project.folder / "runs" / f"run-{number}.csv"
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        f"# run_id=run-{number}\n# dataset=digits\n# model=cnn\n# framework=pytorch\n# batch_size={batch_size}\n"
        f"# learning_rate=0.01\n# epochs=40\n# cpus=2\n# start={start}\ntime,epoch,samples,{','.join(metrics)}\n"
        f"{end},40,60000,{','.join(str(value) for value in metrics.values())}\n# end={end}\n# status=succeeded\n"
    )


@pytest.fixture
def measured(empty: Project) -> Project:
    """A project with nine runs of three batch sizes; the largest is the fastest, and its models are worse."""
    for number in range(9):
        batch_size = (16, 64, 256)[number // 3]
        accuracy = ACCURACIES[batch_size][number % 3]
        log(empty, number, batch_size, val_accuracy=accuracy, f1=round(accuracy - 0.1, 4))
    return empty


def settings(project: Project, more: str) -> None:
    toml = project.folder / "jpo.toml"
    toml.write_text(toml.read_text() + more)


def answer(project: Project, *arguments: str) -> dict[str, object]:
    done = project.jpo(*arguments, "-o", "json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert isinstance(document, dict)
    return document


def test_an_accuracy_is_forecast_and_its_floor_holds_back_what_is_fast_and_worse(measured: Project) -> None:
    said = answer(measured, "suggest", "config.ini", "--offline")
    assert said["suggested"]["batch_size"] != 256
    forecast = said["forecast"]
    assert forecast["val_loss"] == {"now": None, "next": None}
    accuracy = forecast["val_accuracy"]["now"]
    assert accuracy["low"] < 0.931 < accuracy["high"] < 1
    text = " ".join(measured.jpo("explain").out.split())
    assert "accuracy" in text
    assert "val loss" not in text
    worse = measured.jpo("predict", "config.ini", "--set", "batch_size=256").out
    assert "accuracy" in worse
    assert "0.887" in worse


def test_without_a_floor_the_fast_one_is_taken(measured: Project) -> None:
    settings(measured, '[agent]\nquality_floor = "off"\nexplore = "off"\n[preference]\ntime = 1.0\n')
    assert answer(measured, "suggest", "config.ini", "--offline")["suggested"]["batch_size"] in (64, 256)


@pytest.mark.parametrize("limit", [0.9, 0.886])
def test_accuracy_min_is_held_against_forecasts_by_guard_and_report_and_against_runs(measured: Project, limit: float) -> None:
    settings(measured, f"[sla]\naccuracy_min = {limit}\n")
    measured.config.write_text(measured.config.read_text().replace("batch_size = 16 ", "batch_size = 64 "))
    kept = limit < 0.887
    rows = answer(measured, "predict", "config.ini", "--set", "batch_size=256")["rows"]
    assert [row["sla"][0]["verdict"] for row in rows] == ["ok", "at risk" if kept else "broken"]
    by_hand = measured.jpo("suggest", "config.ini", "--offline", "--set", "batch_size=256")
    assert by_hand.code == (0 if kept else 3)
    assert kept or "accuracy" in by_hand.err
    checked = measured.jpo("sla", "check", "-o", "json")
    assert checked.code == (0 if kept else 3)
    assert json.loads(checked.out)["runs"][0]["checks"][0]["verdict"] == ("ok" if kept else "broken")


def test_an_accuracy_that_is_promised_and_not_reached_comes_first(measured: Project) -> None:
    config = measured.config
    config.write_text(config.read_text().replace("batch_size = 16 ", "batch_size = 256 "))
    settings(measured, "[sla]\naccuracy_min = 0.92\n")
    toml = (measured.folder / "jpo.toml").read_text()
    freeze = "[parameters]\nlearning_rate = { freeze = true }\n"  # else another rate is tried first, which takes no longer
    (measured.folder / "jpo.toml").write_text(toml.replace("[parameters]\n", freeze))
    said = answer(measured, "suggest", "config.ini", "--offline")
    assert said["suggested"]["batch_size"] == 64
    assert "accuracy_min = 0.92 is not met (today's values are expected to end with 0.88" in said["reasons"][0]
    assert "raises the validation accuracy" in said["reasons"][0]
    assert "JPO-I640" in said["reason_codes"]


def test_a_metric_of_the_users_own_is_judged_where_it_is_named(measured: Project) -> None:
    settings(measured, F1 + 'limit = 0.8\n[agent]\nquality = "f1"\n')
    said = answer(measured, "suggest", "config.ini", "--offline")
    assert said["suggested"]["batch_size"] != 256
    own = said["forecast"]["metrics"]["f1"]["now"]
    assert own["low"] < 0.831 < own["high"]
    assert said["forecast"]["val_accuracy"]["now"]["mean"] == pytest.approx(0.931, abs=0.003), "forecast as well"
    assert [(check["name"], check["limit"]) for check in said["sla"]] == [("f1_min", 0.8)]
    runs = answer(measured, "history")["runs"]
    assert runs[0]["outcome"]["metrics"] == {"f1": 0.83}


def test_of_loss_and_accuracy_the_one_that_is_not_judged_is_forecast_and_promised_too(empty: Project) -> None:
    for number in range(9):
        batch_size = (16, 64, 256)[number // 3]
        log(empty, number, batch_size, val_loss=0.3 + 0.001 * (number % 3), val_accuracy=ACCURACIES[batch_size][number % 3])
    settings(empty, "[sla]\naccuracy_min = 0.91\n[preference]\ntime = 1.0\n")
    said = answer(empty, "suggest", "config.ini", "--offline")
    assert said["forecast"]["val_loss"]["now"]["mean"] == pytest.approx(0.301, rel=0.02)
    assert said["forecast"]["val_accuracy"]["now"]["mean"] == pytest.approx(0.931, abs=0.003)
    assert said["suggested"]["batch_size"] != 256, "its loss is as good, its accuracy is not"


def test_a_history_of_losses_and_one_of_accuracies_are_not_mixed(empty: Project) -> None:
    for number in range(4):
        empty.log(number, 16, 100.0)
    for number in range(4, 8):
        log(empty, number, 64, val_accuracy=0.93)
    said = answer(empty, "suggest", "config.ini", "--offline")
    assert said["forecast"]["val_loss"]["now"]["mean"] == pytest.approx(0.1, rel=0.02)
    text = empty.jpo("history").out
    assert "val loss" in text
    assert "accuracy" in text


def test_observe_takes_an_accuracy_and_a_named_metric(empty: Project) -> None:
    settings(empty, F1)
    given = ("observe", "r1", "--metric", "duration_seconds=60", "--metric", "val_accuracy=0.93", "--metric", "f1=0.8")
    assert empty.jpo(*given).code == 0
    (run,) = answer(empty, "history")["runs"]
    assert (run["outcome"]["val_accuracy"], run["outcome"]["metrics"]) == (0.93, {"f1": 0.8})
    refused = empty.jpo("observe", "r2", "--metric", "val_accuracy=93")
    assert (refused.code, "93% is 0.93" in refused.err) == (2, True)
    unknown = empty.jpo("observe", "r2", "--metric", "auc=0.9")
    assert (unknown.code, "one of your own needs its name in [metric]" in unknown.err) == (2, True)


def test_accuracies_in_per_cent_are_no_evidence_and_say_so(empty: Project) -> None:
    log(empty, 1, 16, val_accuracy=93.0)
    log(empty, 2, 16, val_accuracy="nan")
    log(empty, 3, 16, val_accuracy=1.0)
    said = answer(empty, "suggest", "config.ini", "--offline")
    assert said["evidence"]["runs_used"] == 2
    (skipped,) = said["evidence"]["runs_skipped"]
    assert "93% is 0.93" in skipped["reason"]
    assert said["forecast"]["val_accuracy"]["now"]["high"] <= 1


def test_before_and_after_logs_and_front_know_accuracy(measured: Project) -> None:
    assert "accuracy" in measured.jpo("lab", "logs").out
    front = measured.jpo("pareto", "config.ini", "--objectives", "time,accuracy")
    assert front.code == 0, front.err
    assert "accuracy (more is better)" in front.out
    assert "accuracy_min" in measured.jpo("sla", "suggest").out
    assert measured.jpo("suggest", "config.ini", "--offline").code == 0
    log_of_next = measured.log_now(64, 40.0)
    log_of_next.write_text(
        log_of_next.read_text().replace("train_loss,val_loss", "train_loss,val_accuracy").replace(",0.2,0.1", ",,0.93")
    )
    compared = measured.jpo("history", "--compare")
    assert compared.code == 0, compared.err
