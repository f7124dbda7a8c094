"""`jpo sla`, and SLA targets given on the command line."""

from __future__ import annotations

import csv
import json
import tomllib
from pathlib import Path

import pytest

from jpo.project.settings import SlaTable

SLA = """
[sla]
time_max = "60s"
gpu_util_min = 0.5
val_loss_max = 0.2
"""


@pytest.fixture(autouse=True)
def without_gpus(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")


@pytest.fixture
def with_targets(project):
    with (project.folder / "jpo.toml").open("a") as file:
        file.write(SLA)
    return project


def test_the_newest_run_is_checked_and_all_runs_are_counted(with_targets):
    answer = with_targets.jpo("sla", "check")
    assert (answer.code, answer.err) == (3, "")
    assert "Run run-6" in answer.out
    assert "time_max 3 7 43% (19% to 71%)" in " ".join(answer.out.split())
    assert answer.out.endswith("violated by run-6 (time_max); time_max met by 3 of 7 runs\n")


def test_a_run_that_kept_its_targets_as_far_as_they_are_known_is_no_failure(with_targets):
    answer = with_targets.jpo("sla", "check", "run-2")
    assert answer.code == 0
    assert answer.out.endswith("no target missed; 1 of 3 unknown; time_max met by 3 of 7 runs\n")


def test_logs_are_checked_before_they_are_on_record_and_stay_off_it(with_targets, tmp_path):
    log = with_targets.log(20, 64, 90.0)
    elsewhere = log.rename(tmp_path / "elsewhere.csv")
    answer = with_targets.jpo("sla", "check", "--csv", str(elsewhere))
    assert (answer.code, "of 8 runs" in answer.out) == (3, True)
    assert not (with_targets.folder / ".jpo").exists(), "it only reads"


def test_json_holds_measured_values_verdicts_and_what_is_unknown(with_targets):
    answer = with_targets.jpo("sla", "check", "-o", "json")
    told = json.loads(answer.out)
    assert (answer.code, told["schema_version"], told["workload"]["dataset"]) == (3, 1, "digits")
    assert told["runs"][0]["checks"][:2] == [
        {"name": "time_max", "limit": 60, "verdict": "broken", "measured": 70},
        {"name": "gpu_util_min", "limit": 0.5, "verdict": "unknown", "measured": None},
    ]
    assert told["compliance"]["promises"]["gpu_util_min"] == {"kept": 0, "known": 0, "share": None}
    assert told["compliance"]["runs"]["known"] == 7


def test_without_a_run_everything_is_unknown(empty):
    (empty.folder / "jpo.toml").write_text(SLA)
    answer = empty.jpo("sla", "check")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.endswith("no run on record: whether the SLA is met is unknown\n")
    told = json.loads(empty.jpo("sla", "check", "-o", "json").out)
    assert (told["runs"], told["compliance"]["runs"]) == ([], {"kept": 0, "known": 0, "share": None})


def test_an_unknown_cost_says_that_prices_are_missing(project):
    (project.folder / "jpo.toml").write_text('[csv]\nlogs = ["runs/*.csv"]\n[sla]\ncost_max = 5\n')
    answer = project.jpo("sla", "check")
    assert (answer.code, "see [prices]" in answer.out) == (0, True)
    assert "unknown: no run measured what the targets limit" in answer.out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["run-99"], "JPO-E814", "RUN 'run-99': is not on record; see `jpo history`"),
        (["run-1", "--csv", "runs/run-1.csv"], "JPO-E812", "--csv: and a RUN exclude each other"),
        (["--csv", "foreign.csv"], "JPO-E813", "foreign.csv: is of mnist/cnn/pytorch, and config.ini of digits/cnn/pytorch"),
    ],
)
def test_what_cannot_be_checked_is_one_line_and_exit_2(with_targets, words, code, message):
    log = Path("runs/run-1.csv").read_text().replace("dataset=digits", "dataset=mnist")
    Path("foreign.csv").write_text(log)
    answer = with_targets.jpo("sla", "check", *words)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert message in answer.err
    assert f"[{code}]" in answer.err


def test_a_run_of_another_workload_has_targets_of_its_own(with_targets):
    log = with_targets.folder / "other.csv"
    log.write_text(Path("runs/run-1.csv").read_text().replace("dataset=digits", "dataset=mnist").replace("run-1", "m-1"))
    with_targets.jpo("observe", "--csv", str(log))
    answer = with_targets.jpo("sla", "check", "m-1")
    assert (answer.code, "[JPO-E813]" in answer.err) == (2, True)


def test_without_targets_nothing_is_violated_and_the_way_to_some_is_named(project):
    answer = project.jpo("sla", "check")
    assert (answer.code, answer.err) == (0, "")
    assert "no SLA targets are set; `jpo sla suggest` shows what runs would meet" in answer.out
    said = json.loads(project.jpo("sla", "check", "-o", "json").out)
    assert (said["promises"], [run["checks"] for run in said["runs"]]) == ({}, [[]])
    assert project.jpo("sla", "check", "no-such-run").code == 2, "a name that is wrong stays an error"


def test_gpus_of_this_machine_are_named_where_their_utilisation_is_a_target(with_targets, monkeypatch):
    program = with_targets.folder / "nvidia-smi"
    program.write_text("#!/bin/sh\necho '0, GPU-1, 81920, 1024, 37, NVIDIA A100-SXM4-80GB'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{with_targets.folder}:/usr/bin:/bin")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert "NVIDIA A100-SXM4-80GB of this machine: GPU utilisation 37% now" in with_targets.jpo("sla", "check").out


def test_suggested_lines_can_be_pasted_and_are_kept_by_the_runs_they_come_from(project):
    answer = project.jpo("sla", "suggest")
    assert (answer.code, answer.err) == (0, "")
    table = SlaTable.model_validate(tomllib.loads(answer.out)["sla"])
    assert table.time_max is not None
    assert 104 <= table.time_max <= 120
    assert table.cost_max is not None
    assert "# digits/cnn/pytorch: 3 runs that ended well with today's values" in answer.out
    assert "3 runs, 1m 38s to 1m 44s" in answer.out
    assert "# gpu_util_min: unknown, measured in 0 of at least 3 runs; 3 more are needed" in answer.out


def test_suggested_lines_are_the_same_in_markdown_and_html(project):
    lines = project.jpo("sla", "suggest").out
    assert f"```toml\n{lines}```\n" in project.jpo("sla", "suggest", "-o", "markdown").out
    assert "<pre># digits/cnn/pytorch: 3 runs" in project.jpo("sla", "suggest", "-o", "html").out
    assert "met by 97.5% of runs like them" in project.jpo("sla", "suggest", "--keep", "0.975").out


def test_with_few_runs_of_todays_values_all_that_ended_well_count_and_it_says_so(project):
    project.config.write_text(project.config.read_text().replace("= 16 ", "= 32 "))
    assert "7 runs that ended well with any values" in project.jpo("sla", "suggest").out
    for at in range(7):
        if at not in (0, 3):
            project.log(at, 16, 100.0, status="failed")
    few = project.jpo("sla", "suggest")
    assert (few.code, tomllib.loads(few.out)) == (0, {"sla": {}})
    assert "# time_max: unknown, measured in 2 of at least 3 runs; 1 more is needed (2 runs, 1m 38s to 1m 40s)" in few.out


def test_a_limit_in_usd_says_so_next_to_amounts_in_another_currency(project):
    with (project.folder / "jpo.toml").open("a") as file:
        file.write('currency = "EUR"\nper_usd = 0.5\n')  # [prices] stands last
    (line,) = [line for line in project.jpo("sla", "suggest").out.split("\n") if line.startswith("cost_max")]
    assert "# in USD, which is 0.0013 EUR; 3 runs, " in line
    assert line.endswith(" EUR")


def test_no_cost_is_suggested_without_prices_and_none_of_it_without_runs(project, empty):
    (project.folder / "jpo.toml").write_text('[csv]\nlogs = ["runs/*.csv"]\n')
    assert "# cost_max: unknown, measured in 0" in project.jpo("sla", "suggest").out
    (project.folder / "jpo.toml").write_text("[csv]\nlogs = []\n")
    told = json.loads(project.jpo("sla", "suggest", "-o", "json").out)
    assert (told["runs"], {one["limit"] for one in told["thresholds"]}) == (0, {None})


@pytest.mark.parametrize("share", ["0.2", "1", "nan"])
def test_a_share_that_is_none_is_refused(project, share):
    assert project.jpo("sla", "suggest", "--keep", share).code == 2


def test_targets_on_the_command_line_win_over_those_of_jpo_toml(with_targets):
    answer = with_targets.jpo("suggest", "--dry-run", "--no-learn", "--deadline", "2h", "--max-cost", "20", "-o", "json")
    told = {one["name"]: one["limit"] for one in json.loads(answer.out)["sla"]}
    assert told == {"time_max": 7200, "cost_max": 20, "gpu_util_min": 0.5, "val_loss_max": 0.2}


@pytest.mark.usefixtures("learning")
def test_a_target_for_this_once_is_not_learnt_from(with_targets, monkeypatch):
    """An agent that learnt from other targets begins anew: a deadline is another target each time."""
    learnt_from = []

    def learn(_store, _identity, _known, request, _wanted):
        learnt_from.append(request.wanted.targets)

    monkeypatch.setattr("jpo.commands.learn.catch_up", learn)
    for words in ((), ("--deadline", "2100-01-01T00:00Z", "--max-cost", "20")):
        assert with_targets.jpo("suggest", "config.ini", *words).code == 0
    lasting = {"time_max": 60, "gpu_util_min": 0.5, "val_loss_max": 0.2}
    assert learnt_from == [lasting, lasting]


@pytest.mark.parametrize(
    ("option", "text", "code"),
    [
        ("--deadline", "2020-01-01T00:00Z", "JPO-E305"),
        ("--deadline", "soon", "JPO-E305"),
        ("--max-cost", "-3", "JPO-E803"),
        ("--max-cost", "20EUR", "JPO-E803"),
    ],
)
def test_a_target_that_is_past_or_no_amount_is_exit_2(with_targets, option, text, code):
    answer = with_targets.jpo("suggest", "--dry-run", option, text)
    assert (answer.code, answer.out) == (2, "")
    assert f"jpo: {option}: " in answer.err
    assert f"[{code}]" in answer.err


def test_a_deadline_that_no_configuration_meets_is_exit_3(project):
    answer = project.jpo("suggest", "--dry-run", "--no-learn", "--deadline", "1s")
    assert (answer.code, "[sla] time_max: no admissible configuration" in answer.err) == (3, True)


def test_targets_that_contradict_each_other_are_exit_3_with_what_each_demands(project):
    answer = project.jpo("suggest", "--dry-run", "--no-learn", "--deadline", "45s", "--max-cost", "0.0007")
    assert (answer.code, answer.err.count("\n")) == (3, 1)
    assert "[sla]: time_max (45s) and cost_max (0.00070 USD) contradict each other" in answer.err
    assert "what keeps time_max costs at least 0.000" in answer.err


def test_the_guard_holds_values_set_by_hand_to_a_deadline_for_this_once(project):
    refused = project.jpo("suggest", "--no-learn", "--set", "batch_size=32", "--deadline", "1s")
    assert (refused.code, "[JPO-E401]" in refused.err, "[sla] time_max is 1 s" in refused.err) == (3, True, True)
    assert project.jpo("suggest", "--no-learn", "--set", "batch_size=32", "--deadline", "6h").code == 0


def test_the_guard_holds_values_set_by_hand_to_every_target_and_lets_todays_values_stay(project):
    with (project.folder / "jpo.toml").open("a") as file:
        file.write("[sla]\nthroughput_min = 1000\n")
    refused = project.jpo("suggest", "--dry-run", "--no-learn", "--set", "batch_size=32")
    assert (refused.code, "[JPO-E401]" in refused.err) == (3, True)
    assert "samples/s; [sla] throughput_min is 1000 samples/s" in refused.err
    kept = project.jpo("suggest", "--dry-run", "--no-learn", "--set", "batch_size=16")
    assert (kept.code, "throughput_min is 1000 samples/s; it was left as it is" in kept.out) == (0, True)


def test_suggested_lines_are_written_into_jpo_toml_and_nothing_else_changes(project):
    before = Path("jpo.toml").read_text()
    answer = project.jpo("sla", "suggest", "--write")
    assert answer.code == 0
    assert "jpo.toml: time_max, cost_max, throughput_min, val_loss_max written" in answer.out
    after = Path("jpo.toml").read_text()
    assert after.startswith(before)
    assert SlaTable.model_validate(tomllib.loads(after)["sla"]).time_max is not None
    assert "all targets met" in project.jpo("sla", "check").out
    assert "nothing to write" in project.jpo("sla", "suggest", "--write").out
    assert Path("jpo.toml").read_text() == after


def test_another_name_of_the_file_is_not_parted_in_silence(project):
    Path("other.toml").hardlink_to("jpo.toml")
    assert "jpo.toml has 2 names (hard links)" in " ".join(project.jpo("sla", "suggest", "--write").out.split())


def test_what_is_promised_stays_unless_told(project):
    Path("jpo.toml").write_text(Path("jpo.toml").read_text() + '[sla]\ntime_max = "9h" # agreed\n')
    said = json.loads(project.jpo("sla", "suggest", "--write", "-o", "json").out)["written"]
    assert (said["file"], said["kept"]) == ("jpo.toml", ["time_max"])
    assert 'time_max = "9h" # agreed' in Path("jpo.toml").read_text()
    assert "time_max written" in project.jpo("sla", "suggest", "--write", "--replace").out
    assert "9h" not in Path("jpo.toml").read_text()
    assert project.jpo("sla", "suggest", "--replace").code == 2


def test_a_run_that_does_not_report_its_cpus_costs_what_it_did_then_whoever_asks(project):
    """Two CPUs until the user took one away through JPO: a run of 100 s breaks the promise with two, and keeps it with one."""
    with (project.folder / "jpo.toml").open("a") as file:
        file.write("[sla]\ncost_max = 0.0015\n")
    for log in (project.folder / "runs").iterdir():
        log.unlink()
    early = project.log(1, 16, 100.0)
    early.write_text(early.read_text().replace("# cpus=2\n", ""))
    assert project.jpo("suggest", "config.ini", "--set", "cpus=1").code == 0
    late = project.log_now(16, 100.0)
    late.write_text(late.read_text().replace("# cpus=2\n", "").replace("batch_size=16", "batch_size=16\n# cpus=1"))

    account = json.loads(project.jpo("sla", "check", "config.ini", "-o", "json").out)["compliance"]
    assert project.jpo("suggest", "config.ini", "--offline").code == 0  # on record
    (reviewed,) = json.loads(project.jpo("report", "-o", "json").out)["workloads"]
    history = list(csv.DictReader(project.jpo("history", "--format", "csv", "--config", "jpo.toml").out.splitlines()))
    assert account["promises"] == reviewed["sla"]["compliance"]["promises"]
    assert account["promises"]["cost_max"]["kept"] == 1
    assert [run["sla"] for run in history] == [run["sla"] for run in reviewed["runs"]] == ["broken", "ok"]
