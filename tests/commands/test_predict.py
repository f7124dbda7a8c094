from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jpo.cli.predict import predict as command
from jpo.errors import JpoError

if TYPE_CHECKING:
    from user_project import Project


@pytest.fixture
def predict(capsys):
    """`jpo predict` with these words: exit code, stdout, and the error's code."""

    def run(*words):
        capsys.readouterr()
        try:
            code = command.main(list(words), prog_name="jpo predict", standalone_mode=False)
        except JpoError as error:
            return error.exit_code, "", error.code
        return code, capsys.readouterr().out, None

    return run


def rows(out):
    return json.loads(out)["rows"]


def trial(project, name="trial", **head):
    facts = {"run_id": name, "dataset": "digits", "model": "cnn", "framework": "pytorch", "batch_size": 16, "cpus": 2, "start": 0}
    path = project.folder / f"{name}.csv"
    lines = [f"# {key}={value}\n" for key, value in {**facts, **head}.items()]
    path.write_text(
        "".join(lines) + "time,epoch,samples,train_loss,val_loss\n" + "".join(f"{3 * i},{i},{150 * i},,\n" for i in range(1, 6))
    )
    return str(path)


def test_today_is_described_by_its_runs_and_nothing_is_written(project, predict):
    before = {path: path.read_bytes() for path in project.folder.rglob("*") if path.is_file()}
    code, out, _ = predict("config.ini", "-o", "json")
    (today,) = rows(out)
    assert code == 0
    assert (today["basis"]["kind"], today["measured_runs"]) == ("history", 3)
    assert today["forecast"]["duration_seconds"]["low"] < 100 < today["forecast"]["duration_seconds"]["high"]
    assert {path: path.read_bytes() for path in project.folder.rglob("*") if path.is_file()} == before


def test_every_combination_of_varied_values_is_a_row(project, predict):
    _, out, _ = predict("--vary", "batch_size=16,32,64", "--vary", "cpus=1,2", "-o", "json")
    assert len(rows(out)) == 6  # today's is one of them
    assert rows(out)[0]["differs"] == {}
    assert {"batch_size": 32.0, "cpus": 1.0} in [row["differs"] for row in rows(out)]


def test_what_follows_another_value_follows_it(project, predict):
    with (project.folder / "jpo.toml").open("a") as file:
        file.write('[parameters.learning_rate]\nkey = "training.learning_rate"\nfollow = "batch_size:linear"\n')
    _, out, _ = predict("--set", "batch_size=32", "-o", "json")
    assert rows(out)[1]["parameters"]["learning_rate"] == 0.02


def test_what_the_limits_refuse_is_predicted_and_marked(project, predict):
    _, out, _ = predict("--set", "batch_size=4096")
    assert "not admissible" in out
    _, out, _ = predict("--set", "batch_size=4096", "-o", "json")
    assert not rows(out)[1]["admissible"]
    assert rows(out)[1]["forecast"]["duration_seconds"]


def test_an_unknown_spot_price_is_unknown(project, predict):
    _, out, _ = predict("--spot", "-o", "json")
    demand, spot = rows(out)
    assert (demand["spot"], spot["spot"]) == (False, True)
    assert demand["forecast"]["cost_usd"]["mean"] > 0
    assert spot["forecast"]["cost_usd"] is None
    with (project.folder / "jpo.toml").open("a") as file:
        file.write("spot_share = 0.25\n")  # [prices] stands last
    _, out, _ = predict("--spot", "-o", "json")
    demand, spot = (row["forecast"]["cost_usd"]["mean"] for row in rows(out))
    assert spot == pytest.approx(demand / 4)


def test_nothing_known_is_an_answer(empty, predict):
    code, out, _ = predict("-o", "json")
    assert code == 0
    assert rows(out)[0]["basis"]["kind"] == "unknown"
    assert not any(rows(out)[0]["forecast"].values())


def test_trials_stand_in_where_there_are_no_runs(empty, predict):
    code, out, _ = predict("--trials", trial(empty), "--fraction", "0.1", "-o", "json")
    (today,) = rows(out)
    assert code == 0
    assert today["basis"]["kind"] == "trials"
    assert today["forecast"]["duration_seconds"]["mean"] == pytest.approx(1200, rel=0.25)
    assert "JPO-W822" in json.loads(out)["reason_codes"]


@pytest.mark.parametrize(
    ("old", "new", "code"), [("epochs = 40", "", "JPO-E822"), ("batch_size = 16 ", "batch_size = 0 ", "JPO-E823")]
)
def test_values_that_no_trial_can_be_carried_over_to_are_refused(empty, predict, old, new, code):
    empty.config.write_text(empty.config.read_text().replace(old, new))
    toml = empty.folder / "jpo.toml"
    toml.write_text(toml.read_text().replace('epochs = { key = "training.epochs", freeze = true }', ""))
    assert predict("--trials", trial(empty))[::2] == (2, code)


def test_the_log_of_a_trial_among_those_of_runs_is_no_run(project, predict):
    log = project.log(9, 16, 5.0)
    log.write_text(log.read_text().replace("# batch_size", "# data_fraction=0.05\n# batch_size"))
    _, out, _ = predict("-o", "json")
    assert json.loads(out)["finished_runs"] == 7


def test_a_deadline_that_can_be_met_names_the_cheapest(project, predict):
    code, out, _ = predict("--deadline", "60s", "-o", "json")
    answer = json.loads(out)["answer"]
    chosen = rows(out)[answer["row"]]
    assert (code, answer["met"]) == (0, True)
    assert chosen["forecast"]["duration_seconds"]["mean"] <= 60
    assert all(option["usd_more"] > 0 and option["seconds_saved"] > 0 for option in answer["options"])


def test_what_cannot_be_met_says_what_comes_nearest_and_ends_with_3(project, predict):
    code, out, _ = predict("--deadline", "1s", "--max-cost", "5")
    assert code == 3
    assert "No admissible configuration is expected to be done within 1s and cost at most 5.00 USD; the nearest is" in out


def test_what_the_limits_or_the_sla_refuse_is_no_answer(project, predict):
    words = ("--vary", "batch_size=32,64", "--deadline", "60s")
    assert predict(*words)[0] == 0
    with (project.folder / "jpo.toml").open("a") as file:
        file.write("[sla]\nval_loss_max = 0.01\n")
    assert predict(*words)[0] == 3
    with (project.folder / "jpo.toml").open("a") as file:
        file.write('[parameters.batch_size]\nkey = "training.batch_size"\nmax = 32\n')
    assert predict(*words)[0] == 3


def test_trials_answer_a_question_too_even_where_nothing_may_change(empty, predict):
    words = ("--trials", trial(empty), "--deadline", "2h", "-o", "json")
    code, out, _ = predict(*words)
    assert (code, rows(out)[json.loads(out)["answer"]["row"]]["basis"]["kind"]) == (0, "trials")
    empty.config.write_text(
        re.sub(r"(batch_size|learning_rate|epochs|cpus) = (\S+).*", r"\1 = \2  # jpo: pin", empty.config.read_text())
    )
    code, out, _ = predict(*words)
    assert (code, json.loads(out)["answer"]["row"], len(rows(out))) == (0, 0, 1)


def test_a_question_about_rows_is_answered_among_them(project, predict):
    _, out, _ = predict("--vary", "batch_size=32,64", "--max-cost", "1", "-o", "json")
    assert len(rows(out)) == 3
    _, out, _ = predict("--set", "cpus=1", "--deadline", "1h", "-o", "json")
    assert rows(out)[json.loads(out)["answer"]["row"]]["parameters"]["cpus"] == 1


def test_a_question_about_what_is_unknown_is_answered_so(empty, predict):
    code, out, _ = predict("--deadline", "1h", "-o", "json")
    answer = json.loads(out)["answer"]
    assert (code, answer["met"], answer["row"]) == (3, False, None)
    assert "unknown" in answer["words"]


def test_a_budget_without_prices_is_no_question(project, predict):
    toml = project.folder / "jpo.toml"
    toml.write_text(toml.read_text().replace("usd_per_cpu_hour = 0.04", ""))
    assert predict("--max-cost", "5")[::2] == (2, "JPO-E824")
    code, out, _ = predict("--deadline", "1h")
    assert code == 0
    assert "Prices are unknown; the fastest" in out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--set", "foo=3"], "JPO-E823"),
        (["--set", "batch_size=-1"], "JPO-E823"),
        (["--set", "batch_size=1.5"], "JPO-E823"),
        (["--set", "learning_rate=1e300"], "JPO-E823"),
        (["--vary", "cpus=nan"], "JPO-E823"),
        (["--vary", "cpus=1,,2"], "JPO-E823"),
        (["--vary", f"batch_size={','.join(map(str, range(1, 300)))}"], "JPO-E823"),
        (["--set", "cpus=1", "--vary", "cpus=2"], "JPO-E823"),
        (["--fraction", "nan"], "JPO-E823"),
        (["--fraction", "0"], "JPO-E823"),
        (["--fraction", "0.1"], "JPO-E823"),
        (["--vary", "cpus=1", "--vary", "cpus=2"], "JPO-E305"),
        (["--deadline", "2020-01-01T00:00Z"], "JPO-E305"),
        (["--max-cost", "-3"], "JPO-E803"),
        (["missing.ini"], "JPO-E201"),
    ],
)
def test_what_cannot_be_asked_is_refused(project, predict, words, code):
    assert predict(*words)[::2] == (2, code)


def test_what_a_rollback_has_pinned_is_no_answer(project, predict):
    words = ("--vary", "batch_size=16,64", "--deadline", "60s", "-o", "json")
    assert project.jpo("suggest", "config.ini").code == 0
    assert project.jpo("rollback", "--pin", "14").code == 0
    code, out, _ = predict(*words)
    assert (code, json.loads(out)["answer"]["met"]) == (3, False)
    assert "pinned until" in rows(out)[1]["why_not"][0]
    assert "JPO-I846" in json.loads(out)["reason_codes"]
    assert project.jpo("rollback", "--unpin").code == 0
    assert predict(*words)[0] == 0


def test_what_config_ini_pins_is_no_answer(project, predict):
    project.config.write_text(project.config.read_text().replace("# from the tutorial", "# jpo: pin"))
    code, out, _ = predict("--vary", "batch_size=16,64", "--deadline", "60s", "-o", "json")
    assert (code, rows(out)[1]["admissible"]) == (3, False)


@pytest.mark.parametrize(
    "marks", [[(3, 1e-300), (6, 2e-300)], [(3, 1), (6, 1e300)], [(3, 1), (2, 2), (9, 3)], [(3, 3), (6, 2), (9, 1)]]
)
def test_rows_that_tell_no_speed_are_refused(empty, predict, marks):
    log = Path(trial(empty))
    head, columns, _ = log.read_text().partition("time,epoch,samples,train_loss,val_loss\n")
    log.write_text(head + columns + "".join(f"{seconds},{epoch},,,\n" for seconds, epoch in marks))
    assert predict("--trials", str(log))[::2] == (2, "JPO-E822")


def test_absurd_samples_are_not_measured(empty, predict):
    log = Path(trial(empty))
    log.write_text(log.read_text().replace(",150,", ",1e307,").replace(",750,", ",1e308,"))
    code, out, _ = predict("--trials", str(log), "-o", "json")
    assert code == 0
    assert rows(out)[0]["forecast"]["throughput_samples_per_second"]["mean"] < 1e9


def test_a_result_never_replaces_the_log_of_a_trial(empty, predict):
    log = trial(empty)
    assert predict("--trials", log, "--output-file", log)[::2] == (2, "JPO-E307")


def test_the_result_goes_to_a_file_too(project, predict):
    _, out, _ = predict("--output-file", "what.json")
    assert json.loads((project.folder / "what.json").read_text())["rows"][0]["basis"]["kind"] == "history"
    assert out.startswith("Workload digits/cnn/pytorch: 7 finished runs\n")


def test_a_row_says_the_same_independently_of_other_rows(project, predict):
    alone = rows(predict("--set", "batch_size=1024", "-o", "json")[1])[-1]
    among = rows(predict("--vary", "batch_size=16,512,1024,2048", "-o", "json")[1])
    assert alone["forecast"] in [row["forecast"] for row in among]


def test_a_budget_shows_what_is_faster_beyond_it_and_the_price_of_a_saved_hour(project, predict):
    _, out, _ = predict("--vary", "cpus=1,2,4", "-o", "json")
    cheapest = min(row["forecast"]["cost_usd"]["mean"] for row in rows(out))
    _, out, _ = predict("--vary", "cpus=1,2,4", "--max-cost", f"{1.0001 * cheapest:.9f}", "-o", "json")
    answer = json.loads(out)["answer"]
    assert answer["met"]
    assert all(option["usd_per_saved_hour"] > 0 for option in answer["options"])
    assert answer["options"]


def test_what_no_run_has_varied_is_called_simulated(project, predict):
    told = [predict(*words, "-o", "json")[1] for words in (("--set", "cpus=4"), ("--vary", "batch_size=16,32"))]
    assert ["JPO-W824" in json.loads(out)["reason_codes"] for out in told] == [True, False]


def test_suggest_predict_and_pareto_say_the_same_of_the_same_configuration(project: Project) -> None:
    """One configuration, three commands, equal numbers: forecasts, and how likely a run fails."""
    suggestion = json.loads(project.jpo("suggest", "config.ini", "--dry-run", "--no-learn", "-o", "json").out)
    chosen = {name: value for name, value in suggestion["suggested"].items() if value != suggestion["current"][name]}
    assert chosen
    options = [word for name, value in chosen.items() for word in ("--set", f"{name}={value!r}")]
    row = json.loads(project.jpo("predict", "config.ini", *options, "-o", "json").out)["rows"][-1]
    front = json.loads(project.jpo("pareto", "config.ini", "-o", "json").out)
    (point,) = [point for point in front["points"] if point["parameters"] == suggestion["suggested"]]
    assert row["parameters"] == suggestion["suggested"]
    for quantity, told in suggestion["forecast"].items():
        assert row["forecast"][quantity] == told["next"], quantity
    if point["kind"] == "predicted":
        assert point["intervals"] == {quantity: row["forecast"][quantity] for quantity in point["intervals"]}
    assert row["p_fail"] == point["p_fail"] == suggestion["seen"]["chance that it fails"]
    assert row["p_fail_basis"] == point["p_fail_basis"]
    assert any(row["p_fail_basis"] in reason for reason in suggestion["reasons"])


def test_all_of_pareto_is_what_predict_says(project: Project) -> None:
    front = json.loads(project.jpo("pareto", "config.ini", "-o", "json").out)
    for point in front["points"]:
        options = [word for name, value in point["parameters"].items() for word in ("--set", f"{name}={value!r}")]
        row = json.loads(project.jpo("predict", "config.ini", *options, "-o", "json").out)["rows"][-1]
        assert (row["p_fail"], row["p_fail_basis"]) == (point["p_fail"], point["p_fail_basis"])
        if point["kind"] == "predicted":
            assert {quantity: row["forecast"][quantity] for quantity in point["intervals"]} == point["intervals"]


def test_values_set_by_hand_are_forecast_alike(project: Project) -> None:
    """A configuration that is no candidate of JPO's own."""
    options = ("--set", "batch_size=48")
    told = json.loads(project.jpo("suggest", "config.ini", "--dry-run", "--no-learn", *options, "-o", "json").out)["forecast"]
    row = json.loads(project.jpo("predict", "config.ini", *options, "-o", "json").out)["rows"][-1]
    for quantity, forecast in told.items():
        assert row["forecast"][quantity] == forecast["next"], quantity


def test_the_chance_of_a_failure_says_what_it_comes_from(project: Project) -> None:
    told = " ".join(project.jpo("predict", "config.ini", "--vary", "batch_size=16,128").out.split())
    assert re.search(r"Fails: today [a-z0-9 ]+% \(none of 3 runs of it failed\)\.", told)
    assert re.search(r"Fails: batch 128 [a-z0-9 ]+% \(from simulated jobs; none of 7 runs here failed\)\.", told)


def test_one_absurd_run_is_named_and_changes_no_figure(project: Project) -> None:
    question = ("predict", "config.ini", "--vary", "batch_size=32,64", "-o", "json")
    before = json.loads(project.jpo(*question).out)
    project.log(9, 16, 100_000)  # milliseconds for seconds
    after = json.loads(project.jpo(*question).out)
    for one, two in zip(before["rows"], after["rows"], strict=True):
        assert two["forecast"]["duration_seconds"]["mean"] == pytest.approx(one["forecast"]["duration_seconds"]["mean"], rel=0.02)
    assert "JPO-W118" in after["reason_codes"]
    assert any("run-9: implausible" in note for note in after["notes"])
    told = project.jpo("suggest", "config.ini", "--dry-run", "--no-learn")
    assert "1 skipped (implausible: duration 100000 is 981 times more than the other runs" in " ".join(told.out.split())
    project.jpo("observe", "--offline")
    assert "run-9" in project.jpo("history").out, "it is still on record"


def test_a_job_that_waits_for_baseline_runs_is_predicted_too(project, predict):
    toml = project.folder / "jpo.toml"
    toml.write_text(toml.read_text() + "[agent]\nbaseline_runs = 9\n")
    code, out, error = predict("config.ini", "-o", "json")
    assert (code, error, len(rows(out))) == (0, None, 1)
