"""`jpo watch` through the command line; runs that JPO launched are really run on this machine."""

import json
import sys
import time
from importlib import metadata

import pytest
from plugins.launch.story.watch.conftest import SLOW

from jpo.plugins.launch.ledger import Entry, folder_of
from jpo.plugins.launch.ledger import write as write_entry
from jpo.plugins.launch.project.command import Invocation
from jpo.plugins.launch.project.jobs import job_of
from jpo.plugins.launch.project.place import ledger_of
from jpo.project.load import load
from jpo.project.workload import read_workload


def once(project, *arguments):
    answer = project.jpo("watch", *arguments, "--once", "-o", "json")
    assert answer.code == 0, answer.err
    return json.loads(answer.out)


def launched(project, pause, *options):
    (project.folder / "slow.py").write_text(SLOW.replace("PAUSE", str(pause)))
    answer = project.jpo("run", "--run-id", "night-1", "--detach", *options, "--", sys.executable, "slow.py")
    assert answer.code == 0, answer.err


def until(found, seconds=120):
    end = time.monotonic() + seconds
    while not (state := found()):
        assert time.monotonic() < end
        time.sleep(0.2)
    return state


def test_without_anything_there_is_an_empty_list(empty):
    answer = empty.jpo("watch")
    assert answer.code == 0
    assert "no run was launched here" in answer.out


def test_a_config_ini_that_is_named_and_missing_is_said(empty):
    (empty.folder / "config.ini").unlink()
    assert "[JPO-E201]" not in empty.jpo("watch").out
    assert "[JPO-E201]" in empty.jpo("watch", "config.ini").out


def test_a_run_of_an_engine_that_cannot_be_imported_names_both(empty, monkeypatch):
    point = metadata.EntryPoint("odd", "no.such.module:Engine", "jpo.engines")
    monkeypatch.setattr(metadata, "entry_points", lambda **asked: [point] if asked["name"] == "odd" else [])
    path = empty.folder / "config.ini"
    settings = load(path, None, {}, {})
    job = job_of(read_workload(path, settings, now=0.0), settings, Invocation(("true",)), run_id="run-1")
    folder_of(ledger_of(settings), "run-1").mkdir(parents=True)
    write_entry(ledger_of(settings), Entry(job, "odd", 99.0))
    answer = empty.jpo("watch", "run-1", "--once")
    assert answer.code == 7
    said = "run run-1: was launched on 'odd', an engine that cannot be imported (ModuleNotFoundError: No module named 'no')"
    assert f"{said}; install its package anew [JPO-E753]" in answer.err


def test_a_log_says_how_far_it_is_what_it_costs_and_when_it_ends(earlier, write):
    state = once(earlier, "--csv", str(write("now", 20)))
    assert state["state"] == "running"
    assert state["epochs_done"] == 20
    assert state["share_done"] == 0.5
    assert state["total_seconds"]["mean"] == pytest.approx(400, rel=0.02)
    assert state["total_seconds"]["low"] < 400 < state["total_seconds"]["high"]
    assert state["usd_so_far"] == pytest.approx(2 * 0.04 * 201 / 3600, rel=0.02)
    assert state["final"]["low"] < 0.105 < state["final"]["high"]
    assert [each["word"] for each in state["compared"]] == ["as before", "as before", "as before"]
    assert state["basis"] == "the last runs with the same configuration"


@pytest.mark.parametrize(("seconds", "words"), [(5.0, ["faster", "cheaper"]), (20.0, ["slower", "dearer"])])
def test_a_run_is_compared_at_the_same_progress(earlier, write, seconds, words):
    state = once(earlier, "--csv", str(write("now", 20, seconds)))
    assert [each["word"] for each in state["compared"]][:2] == words


def test_an_epoch_over_twice_the_data_takes_twice_as_long_and_is_no_slower_configuration(earlier, write):
    """Its curve is compared with none: an epoch teaches as much as two of theirs."""
    state = once(earlier, "--csv", str(write("now", 20, 20.0, samples=3000)), "--trial")
    assert [each["word"] for each in state["compared"]][:2] == ["as before", "as before"]
    assert state["basis"] == "the last runs with the same configuration, scaled to the data of this one"
    assert state["decisions"] == []
    assert state["final"] is None


def test_a_single_loss_that_is_no_number_stops_nothing(earlier, write):
    state = once(earlier, "--csv", str(write("now", 20, losses=lambda n: "nan" if n == 20 else 0.1 + 1 / n)))
    assert state["decisions"] == []
    assert "not a number" not in state["why"]


def test_a_job_that_validates_every_fifth_epoch_is_foretold(empty, write):
    def losses(n):
        return 0.1 + 1 / n if n % 5 == 0 else ""

    for number in range(6):
        write(f"past-{number}", 40, end="succeeded", start=1_700_000_000 + 1000 * number, losses=losses)
    assert empty.jpo("observe").code == 0
    state = once(empty, "--csv", str(write("now", 20, losses=losses)))
    assert state["final"]["low"] < 0.125 < state["final"]["high"]


def test_a_broken_promise_is_said_before_it_is_broken(earlier, write):
    toml = earlier.folder / "jpo.toml"
    toml.write_text(toml.read_text() + '[sla]\ntime_max = "5m"\ncost_max = 100\n')
    answer = earlier.jpo("watch", "--csv", str(write("now", 20)), "--once")
    assert "time_max = 5m 00s will be missed: 6m 40s" in answer.out
    assert "JPO-W783" in answer.out


def test_what_nothing_supports_is_unknown(empty, write):
    state = once(empty, "--csv", str(write("now", 1)))
    assert state["total_seconds"] is None
    assert state["final"] is None
    assert state["compared"] == []
    assert state["wins"] is None


def test_a_trial_that_cannot_win_would_be_stopped_and_a_needed_run_would_not(earlier, write):
    slower = write("now", 20, 50.0)
    trial = once(earlier, "--csv", str(slower), "--trial")
    needed = once(earlier, "--csv", str(slower))
    assert trial["wins"] < 0.01
    assert [each["kind"] for each in trial["decisions"]] == ["stop"]
    assert "unlikely" in needed["why"]
    assert needed["decisions"] == []


def test_a_loss_that_is_not_a_number_is_a_reason_to_stop(earlier, write):
    path = write("now", 6, losses=lambda n: "nan" if n > 4 else 1 / n)
    answer = earlier.jpo("watch", "--csv", str(path), "--once")
    assert answer.code == 0, answer.err
    assert "not a number" in answer.out


def test_a_finished_log_is_followed_to_its_end_in_lines(earlier, write):
    answer = earlier.jpo("watch", str(write("now", 40, end="succeeded")))
    assert answer.code == 0
    assert answer.out.startswith("now ended: succeeded; epoch 40 of 40 (100%)")


def test_json_lines_end_with_the_run(earlier, write):
    answer = earlier.jpo("watch", "--csv", str(write("now", 40, end="diverged")), "-o", "json")
    lines = [json.loads(line) for line in answer.out.splitlines()]
    assert [line["status"] for line in lines] == ["diverged"]


def test_nobody_knows_such_a_run(empty):
    answer = empty.jpo("watch", "night-99", "--once")
    assert answer.code == 2
    assert "JPO-E780" in answer.err


def test_what_jpo_did_not_launch_it_does_not_stop(empty, write):
    answer = empty.jpo("watch", "--csv", str(write("now", 3)), "--apply")
    assert answer.code == 2
    assert "JPO-E781" in answer.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("--every", "0", "x"), "JPO-E305"), (("x", "--csv", "y.csv"), "JPO-E306"), (("--apply",), "JPO-E306")],
)
def test_options_that_cannot_be_meant_are_refused(empty, arguments, code):
    answer = empty.jpo("watch", *arguments)
    assert answer.code == 2
    assert code in answer.err


def test_a_log_that_has_no_run_yet_is_waited_for_but_not_with_once(empty):
    answer = empty.jpo("watch", "--csv", "runs/none.csv", "--once")
    assert answer.code == 4
    assert "JPO-E111" in answer.err


def test_a_launched_run_that_can_win_is_listed_and_followed_to_its_end(earlier):
    """The best run took 400 s, this one takes 6: with --apply it goes on all the same."""
    launched(earlier, 0.15)
    earlier.jpo("audit", "show")
    listed = json.loads(earlier.jpo("watch", "-o", "json").out)["runs"]
    assert [(run["run_id"], run["source"], run["state"]) for run in listed] == [("night-1", "local", "running")]
    until(lambda: once(earlier, "night-1")["epochs_done"])
    answer = earlier.jpo("watch", "night-1", "--apply", "--trial")
    assert answer.code == 0, answer.err
    assert "night-1 ended: succeeded" in answer.out
    assert '"night-1"' in earlier.jpo("history", "--format", "json").out


def test_the_list_puts_on_record_what_ended_and_damage_hides_no_other_run(empty):
    launched(empty, 0.01)
    damaged = empty.folder / ".jpo/launches/damaged"
    damaged.mkdir()
    (damaged / "launch.json").write_text("{")

    def ended():
        found = json.loads(empty.jpo("watch", "-o", "json").out)
        assert "JPO-E752" in found["notes"][0]
        return [run for run in found["runs"] if run["state"] == "ended: succeeded"]

    assert [(run["run_id"], run["recorded"]) for run in until(ended)] == [("night-1", True)]
    assert '"night-1"' in empty.jpo("history", "--format", "json").out


def test_a_stopped_run_ends_with_its_account(empty):
    """The run to beat took one second; this one would take 20."""
    for number in range(3):
        empty.jpo("observe", f"past-{number}", "--metric", "duration_seconds=1", "--metric", "val_loss=0.1")
    launched(empty, 0.5)
    until(lambda: (once(empty, "night-1")["epochs_done"] or 0) >= 4)
    told = once(empty, "night-1", "--trial")
    assert [(each["kind"], each["applied"]) for each in told["decisions"]] == [("stop", False)]
    answer = empty.jpo("watch", "night-1", "--apply", "--trial", "-o", "json")
    last = json.loads(answer.out.splitlines()[-1])
    assert (last["state"], last["status"]) == ("ended", "stopped")
    said, done = last["decisions"]
    assert done["applied"]
    assert done["actual"]["seconds"] == pytest.approx(done["expected"]["seconds"], abs=5)
    assert said["right"] is None  # it was stopped: nobody knows how it would have ended
    log = empty.jpo("audit", "show").out
    assert log.count("adjusted") == 2
    assert "stop night-1" in log
    assert "Decisions during runs" in empty.jpo("history").out
    assert [each["applied"] for each in json.loads(empty.jpo("history", "-o", "json").out)["adjustments"]] == [False, True]
