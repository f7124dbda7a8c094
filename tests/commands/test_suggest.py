from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest

from jpo.agent.policy import load_policy, save_policy
from jpo.cli.gate import ReaderGone
from jpo.history import open_store
from jpo.learning.serving import POLICY

if TYPE_CHECKING:
    from user_project import Project

ROOT = Path(__file__).parents[2]


def suggestion(project: Project, *options: str) -> dict[str, object]:
    answer = project.jpo("suggest", "config.ini", "--no-learn", "-o", "json", *options)
    assert answer.code == 0, answer.err
    document: dict[str, object] = json.loads(answer.out)
    return document


def test_the_text_report_shows_values_reasons_forecast_and_what_was_done(project: Project) -> None:
    out = project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn").out
    assert "Workload digits/cnn/pytorch: 7 finished runs used" in out
    assert "training.batch_size" in out
    said = " ".join(out.split())
    assert "16 → 64 3 runs at 64" in said, "on what ground"
    assert "expected time -59%" in said, "what it is expected to do"
    assert "config.ini: 1 value written. Suggestion " in out


def test_json_keeps_to_the_published_schema(project: Project) -> None:
    schema = json.loads(project.jpo("config", "schema", "--output", "suggestion").out)
    document = suggestion(project, "--diff")
    jsonschema.validate(document, schema)
    assert document["status"] == "changed"
    assert "+batch_size = 64      # from the tutorial" in str(document["diff"])


def test_a_reader_that_leaves_keeps_it_neither_from_learning_nor_from_the_guards_copy(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `jpo suggest --in-force FILE | head -1` does."""
    learnt: list[Path] = []

    def put(_text: str, **_named: str) -> None:
        raise ReaderGone

    def learn(config: Path, *_others: object, **_named: object) -> str:
        learnt.append(config)
        return ""

    monkeypatch.setattr("jpo.cli.output.put", put)
    monkeypatch.setattr("jpo.commands.learn.learn_after_suggestion", learn)
    before = project.config.read_bytes()
    assert project.jpo("suggest", "config.ini", "--in-force", "before.ini").code == 141
    assert [path.name for path in learnt] == ["config.ini"]
    assert (project.folder / "before.ini").read_bytes() == before


def test_nothing_else_is_on_stdout_and_stderr_is_empty(project: Project) -> None:
    answer = project.jpo("suggest", "config.ini", "--no-learn", "-o", "json")
    json.loads(answer.out)
    assert answer.err == ""


def test_output_files_get_the_result_in_the_form_of_their_names(project: Project) -> None:
    answer = project.jpo("suggest", "config.ini", "--no-learn", "--output-file", "out.json", "--output-file", "out.md")
    assert "\n\nWorkload digits/cnn/pytorch" in answer.out
    assert json.loads((project.folder / "out.json").read_text())["written"] is True
    assert re.match(r"### \*\*[A-Z]+", (project.folder / "out.md").read_text())


def test_an_output_file_that_cannot_be_written_is_named_before_anything_changes(project: Project) -> None:
    before = project.config.read_bytes()
    answer = project.jpo("suggest", "config.ini", "--no-learn", "--output-file", "no/such/folder/out.json")
    assert (answer.code, project.config.read_bytes()) == (2, before)
    assert "no/such/folder" in answer.err


def test_a_folder_is_no_config_ini(project: Project) -> None:
    answer = project.jpo("suggest", ".")
    assert (answer.code, answer.out) == (2, "")
    assert "is a directory" in answer.err


def test_dry_run_writes_nothing_anywhere(project: Project) -> None:
    before = {path: path.read_bytes() for path in project.folder.rglob("*") if path.is_file()}
    assert project.jpo("suggest", "config.ini", "--dry-run").code == 0
    assert {path: path.read_bytes() for path in project.folder.rglob("*") if path.is_file()} == before


def test_a_dry_run_that_finds_no_new_run_copies_no_store(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    assert project.jpo("suggest", "config.ini", "--no-learn", "--offline").code == 0
    for log in project.folder.rglob("*.csv"):
        log.unlink()
    monkeypatch.setattr("jpo.history.sqlite.SqliteCopy.fill", lambda _self: pytest.fail("a long history would be copied"))
    assert project.jpo("suggest", "config.ini", "--dry-run", "--offline").code == 0


def test_markdown_has_a_table_and_escapes_what_comes_from_the_file(project: Project) -> None:
    project.config.write_text(project.config.read_text().replace("model = cnn", "model = <b>cnn|x</b>"))
    out = project.jpo("suggest", "config.ini", "--no-learn", "-o", "markdown").out
    assert "<b>" not in out.replace("\\<b\\>", "")
    assert "| expected | " in out


def test_set_takes_the_value_and_is_on_record(project: Project) -> None:
    document = suggestion(project, "--set", "batch_size=32")
    assert (document["decided_by"], document["suggested"]["batch_size"]) == ("user", 32)  # type: ignore[index]
    assert "batch_size = 32 " in project.config.read_text()
    assert '"new": "32"' in project.jpo("audit", "show", "-o", "json").out


def test_set_of_an_unknown_parameter_or_no_number_is_a_usage_error(project: Project) -> None:
    for text, message in (
        ("dropout=0.5", "has no parameter dropout"),
        ("epochs=many", "is not a finite number"),
        ("epochs", "is not NAME=VALUE"),
    ):
        answer = project.jpo("suggest", "config.ini", "--set", text)
        assert answer.code == 2
        assert message in answer.err


def test_a_pinned_value_stays_and_cannot_be_set(project: Project) -> None:
    project.config.write_text(project.config.read_text().replace("# from the tutorial", "# jpo: pin"))
    assert "batch_size = 16 " in project.config.read_text()
    document = suggestion(project)
    assert document["suggested"]["batch_size"] == 16  # type: ignore[index]
    answer = project.jpo("suggest", "config.ini", "--set", "batch_size=32")
    assert answer.code == 3
    assert "pinned" in answer.err


def test_same_seed_and_history_same_answer(project: Project) -> None:
    first, second = (suggestion(project, "--dry-run", "--seed", "3") for _ in range(2))
    for volatile in ("suggestion_id", "created_at"):
        first.pop(volatile), second.pop(volatile)
    assert first == second


def test_explore_off_never_leaves_what_was_measured(project: Project) -> None:
    document = suggestion(project, "--explore", "off")
    assert document["suggested"]["batch_size"] in (16, 32, 64)  # type: ignore[index]


def test_what_the_user_prefers_is_on_record(project: Project) -> None:
    weights = suggestion(project, "--prefer", "time=0.9,cost=0.1")["preference"]
    assert weights == {"time": 0.9, "cost": 0.1, "efficiency": 0.0, "loss": 0.0, "energy": 0.0}


def test_earlier_forecasts_are_compared_with_what_came(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    project.jpo("observe", "--csv", str(project.log_now(64, 41.0)))
    [track, *_] = suggestion(project, "--dry-run")["track_record"]  # type: ignore[misc]
    assert (track["quantity"], track["forecasts"]) == ("duration_seconds", 1)


def test_offline_makes_no_network_call(project: Project) -> None:
    code = (
        "import socket, sys\n"
        "def refuse(*_): raise AssertionError('network')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from jpo.__main__ import run\n"
        "sys.exit(run(['suggest', 'config.ini', '--no-learn', '--offline', '--prometheus-url', 'http://prometheus:9090']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project.folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "not refreshed" not in done.stdout


def test_the_suggest_path_imports_neither_torch_nor_pandas(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--no-learn")  # a history and a store exist: the common case
    code = (
        "import sys\n"
        "from jpo.__main__ import run\n"
        "assert run(['suggest', 'config.ini', '--no-learn']) == 0\n"
        "print(*sorted({'torch', 'pandas', 'requests', 'prometheus_api_client'} & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project.folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.stderr == "\n"


def test_it_works_where_torch_is_not_installed(project: Project, tmp_path_factory: object) -> None:
    site = project.folder / "site"
    site.mkdir()
    for folder in (Path(entry) for entry in sys.path if entry.endswith(("site-packages", "dist-packages"))):
        for entry in folder.iterdir():
            if not entry.name.startswith(("torch", "jpo", "_jpo", "__editable__")) and not (site / entry.name).exists():
                (site / entry.name).symlink_to(entry)
    environment = {"PYTHONPATH": f"{site}:{ROOT}"}
    command = [sys.executable, "-S", "-m", "jpo"]

    def jpo(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *arguments], cwd=project.folder, env=environment, capture_output=True, text=True, check=False
        )

    assert jpo("suggest", "config.ini").returncode == 0
    refused = jpo("learn", "config.ini")
    assert refused.returncode == 2
    assert 'torch is not installed; pip install "jpo[learn]"' in refused.stderr


def test_nothing_new_is_suggested_before_the_last_suggestion_was_tried(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    waiting = suggestion(project)
    assert (waiting["status"], waiting["reason_codes"]) == ("kept", ["JPO-I611"])
    project.jpo("observe", "--csv", str(project.log_now(64, 41.0)))
    assert suggestion(project, "--dry-run")["reason_codes"] != ["JPO-I611"]


def test_the_wait_lasts_however_often_it_is_asked_and_although_older_runs_end(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--no-learn")
    for _ in range(22):
        project.jpo("suggest", "config.ini", "--no-learn")
    project.jpo("observe", "--csv", str(project.log(0, 16, 99.0, start=time.time() - 50, name="older")))
    assert suggestion(project)["reason_codes"] == ["JPO-I611"]


def test_a_broken_sla_target_ends_the_wait(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--no-learn")
    with (project.folder / "jpo.toml").open("a") as file:
        file.write('[sla]\ntime_max = "1s"\n')
    assert project.jpo("suggest", "config.ini", "--no-learn").code == 3


def test_values_edited_by_hand_since_then_are_looked_at_anew(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    project.config.write_text(project.config.read_text().replace("batch_size = 64 ", "batch_size = 32 "))
    assert suggestion(project, "--dry-run")["reason_codes"] != ["JPO-I611"]


def test_epochs_and_layers_change_only_if_jpo_toml_frees_them(project: Project) -> None:
    (project.folder / "jpo.toml").write_text('[csv]\nlogs = ["runs/*.csv"]\n')
    assert "not freed in jpo.toml" in project.jpo("check", "config.ini").out
    assert suggestion(project, "--dry-run", "--explore", "on")["suggested"]["epochs"] == 40  # type: ignore[index]
    assert suggestion(project, "--dry-run", "--set", "epochs=30")["suggested"]["epochs"] == 30  # type: ignore[index]


def test_set_changes_what_was_set_and_what_follows_it_and_nothing_else(project: Project) -> None:
    with (project.folder / "jpo.toml").open("a") as file:
        file.write('[parameters.learning_rate]\nfollow = "batch_size:sqrt"\n')
    document = suggestion(project, "--set", "batch_size=64")
    assert document["suggested"] == {"batch_size": 64, "learning_rate": 0.02, "epochs": 40, "cpus": 2}


def test_a_value_that_cannot_be_written_in_the_files_form_is_refused(project: Project) -> None:
    answer = project.jpo("suggest", "config.ini", "--set", "cpus=1.5")
    assert answer.code == 2
    assert "cpus = 1.5 cannot be written in the form that config.ini uses" in answer.err


def test_follow_without_its_leader_in_config_ini_is_named(project: Project) -> None:
    with (project.folder / "jpo.toml").open("a") as file:
        file.write('[parameters.memory_gib]\nfollow = "batch_size:linear"\n')
    answer = project.jpo("suggest", "config.ini")
    assert answer.code == 2
    assert "follow needs memory_gib" in answer.err


def test_runs_that_all_failed_are_distinguished_from_no_runs(empty: Project) -> None:
    empty.log(1, 16, 100.0, status="failed")
    assert suggestion(empty)["reason_codes"] == ["JPO-W618"]  # and helped at once, see test_recovery.py


def test_measured_faster_runs_count_also_where_no_loss_was_measured(project: Project) -> None:
    for path in (project.folder / "runs").iterdir():
        path.write_text(path.read_text().replace(",0.2,0.1\n", ",0.2,\n"))
    document = suggestion(project)
    assert document["suggested"]["batch_size"] == 64  # type: ignore[index]
    assert document["forecast"]["val_loss"]["next"] is None  # type: ignore[index]


def test_what_is_preferred_decides(project: Project) -> None:
    for number, (cpus, seconds) in enumerate([(1, 60.0), (1, 61.0), (1, 60.5), (4, 30.0), (4, 30.5), (4, 31.0)]):
        path = project.log(100 + number, 64, seconds)
        path.write_text(path.read_text().replace("# cpus=2", f"# cpus={cpus}"))
    chosen = {name: suggestion(project, "--dry-run", "--prefer", name)["suggested"]["cpus"] for name in ("time", "cost")}  # type: ignore[index]
    assert chosen["time"] > chosen["cost"]


def test_a_limit_that_todays_values_break_is_named(project: Project) -> None:
    with (project.folder / "jpo.toml").open("a") as file:
        file.write("[quota]\ncpus = 1\n")
    notices = suggestion(project, "--dry-run", "--explore", "off")["guard"]["notices"]  # type: ignore[index]
    assert any("cpus = 2" in notice and "left as it is" in notice for notice in notices)


def test_gpu_memory_that_was_measured_keeps_too_large_batches_out(project: Project) -> None:
    project.config.write_text(project.config.read_text() + "gpus = 1  # jpo: pin\n")
    with (project.folder / "jpo.toml").open("a") as file:
        file.write("[card]\nmemory_gib = 16.0\n")
    project.jpo("observe", "r1", "--metric", "duration_seconds=100", "--metric", "gpu_memory_gib=10")
    assert suggestion(project)["suggested"]["batch_size"] == 16  # type: ignore[index]
    refused = project.jpo("suggest", "config.ini", "--set", "batch_size=64")
    assert refused.code == 3
    assert "GiB" in refused.err


def test_output_files_never_replace_what_jpo_works_with(project: Project) -> None:
    project.jpo("observe")
    (project.folder / "twin.json").hardlink_to(project.config)
    for name in ("config.ini", "jpo.toml", ".jpo/jpo.db", ".jpo/../config.ini", "runs/run-3.csv", "twin.json"):
        before = (project.folder / name).read_bytes()
        answer = project.jpo("suggest", "config.ini", "--no-learn", "--output-file", name)
        assert (answer.code, (project.folder / name).read_bytes()) == (2, before)


def test_a_suggestion_that_could_not_be_written_is_no_suggestion(project: Project) -> None:
    project.config.chmod(0o444)
    assert project.jpo("suggest", "config.ini", "--no-learn").code == 6
    assert json.loads(project.jpo("history", "--format", "json").out)["suggestions"] == []
    assert json.loads(project.jpo("audit", "show", "-o", "json").out.splitlines()[-1])["kind"] == "not written"


def test_strict_fails_on_a_log_that_cannot_be_read(project: Project) -> None:
    (project.folder / "runs/broken.csv").write_bytes(b"\0\1\2")
    assert project.jpo("suggest", "config.ini", "--dry-run").code == 0
    answer = project.jpo("suggest", "config.ini", "--strict")
    assert answer.code == 4
    assert "broken.csv" in answer.err


def test_the_config_that_jpo_toml_names_is_the_default(project: Project) -> None:
    project.config.rename(project.folder / "job.ini")
    with (project.folder / "jpo.toml").open("a") as file:
        file.write('[workload]\nconfig = "job.ini"\n')
    assert "job.ini: 1 value written" in project.jpo("suggest", "--explore", "off", "--no-learn").out


def test_the_teams_checker_sees_no_secret(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPO_PROMETHEUS__AUTH__TOKEN", "hunter2")
    monkeypatch.setenv("JPO_PROMETHEUS__AUTH__TYPE", "bearer")
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:hunter2@h/d")
    with (project.folder / "jpo.toml").open("a") as file:
        file.write('[check]\ncommand = ["sh", "-c", "env; exit 1", "{config}"]\n')
    answer = project.jpo("suggest", "config.ini", "--no-learn")
    assert answer.code == 3
    assert "hunter2" not in answer.err


def test_a_closed_stdout_is_reported_too(project: Project) -> None:
    def closed(arguments: str) -> str:
        command = f"exec {sys.executable} -m jpo {arguments} >&-"
        done = subprocess.run(
            ["sh", "-c", command], cwd=project.folder, env={"PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE, text=True
        )
        assert done.returncode == 2
        assert "stdout: cannot be written" in done.stderr
        return done.stderr

    assert "what was done is on record: see `jpo explain`" in closed("suggest config.ini --no-learn")
    assert "jpo explain" not in closed("suggest config.ini --no-learn --dry-run")
    assert "jpo explain" not in closed("history")


def test_a_pinned_follower_does_not_forbid_its_leader(project: Project) -> None:
    project.config.write_text(project.config.read_text().replace("learning_rate = 0.01", "learning_rate = 0.01  # jpo: pin"))
    with (project.folder / "jpo.toml").open("a") as file:
        file.write('[parameters.learning_rate]\nfollow = "batch_size:sqrt"\n')
    assert suggestion(project, "--set", "batch_size=64")["suggested"]["learning_rate"] == 0.01  # type: ignore[index]


def test_an_unreadable_policy_in_the_store_is_learnt_anew_and_keeps_nothing_back(project: Project) -> None:
    with open_store("sqlite:///.jpo/jpo.db") as store:
        store.save_agent(POLICY, b"damaged", expected_version=0)
    assert suggestion(project)["status"] == "changed"


def test_values_of_today_that_were_never_run_are_marked(project: Project) -> None:
    project.config.write_text(project.config.read_text().replace("batch_size = 16 ", "batch_size = 24 "))
    assert "JPO-W612" in suggestion(project)["reason_codes"]  # type: ignore[operator]


def test_a_full_stdout_is_reported_and_what_was_done_is_on_record(project: Project) -> None:
    command = [sys.executable, "-m", "jpo", "suggest", "config.ini", "--no-learn"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, cwd=project.folder, env={"PYTHONPATH": str(ROOT)}, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert "what was done is on record: see `jpo explain`" in done.stderr
    assert "written" in project.jpo("explain").out


def test_a_policy_that_passed_its_release_test_decides(project: Project) -> None:
    with open_store("sqlite:///.jpo/jpo.db") as store:
        own = save_policy(*load_policy().members, released=("safe",), card={"updates": 0})
        store.save_agent(POLICY, own, expected_version=0)
    deciders = {
        explore: json.loads(project.jpo("suggest", "config.ini", "--dry-run", "-o", "json", "--explore", explore).out)[
            "decided_by"
        ]
        for explore in ("safe", "off")
    }
    assert deciders == {"safe": "sac", "off": "belief"}


def test_so_many_runs_with_the_old_values_are_waited_for_as_the_team_wants(project):
    """Three of the fixture's runs have today's values. Once something was changed nothing is waited for again."""
    toml = project.folder / "jpo.toml"
    plain = toml.read_text()
    toml.write_text(plain + "[agent]\nbaseline_runs = 5\n")
    said = json.loads(project.jpo("suggest", "config.ini", "--no-learn", "--explore", "off", "-o", "json").out)
    assert (said["status"], said["decided_by"], "JPO-I645" in said["reason_codes"]) == ("kept", "no evidence", True)
    assert "2 more finished runs with today's values" in said["reasons"][0]
    assert any(one.startswith("without baseline_runs the choice would be batch_size 64") for one in said["would_change"])
    toml.write_text(plain + "[agent]\nbaseline_runs = 3\n")
    enough = json.loads(project.jpo("suggest", "config.ini", "--no-learn", "--explore", "off", "-o", "json").out)
    assert enough["status"] == "changed"
    toml.write_text(plain + "[agent]\nbaseline_runs = 5\n")
    project.log_now(64, 41.0)
    again = json.loads(project.jpo("suggest", "config.ini", "--no-learn", "--explore", "off", "-o", "json").out)
    assert "JPO-I645" not in again["reason_codes"]


def test_where_a_catalogue_has_prices_the_instance_is_named_now_and_next(project: Project) -> None:
    assert "instance" not in suggestion(project, "--dry-run")
    toml = project.folder / "jpo.toml"
    toml.write_text(toml.read_text().replace("usd_per_cpu_hour = 0.04", 'catalogue = "prices.csv"'))
    columns = "instance,family,gpu_type,gpus,gpu_memory_gib,vcpus,memory_gib,region,usd_per_hour,usd_per_hour_spot,date,source"
    rows = "m5.large,m5,,0,0,2,8,us-east-1,0.096,0.04,2020-01-01,x\nm5.xlarge,m5,,0,0,4,16,us-east-1,0.192,,2020-01-01,x\n"
    (project.folder / "prices.csv").write_text(f"{columns}\n{rows}")
    document = suggestion(project, "--dry-run")
    jsonschema.validate(document, json.loads(project.jpo("config", "schema", "--output", "suggestion").out))
    instance = document["instance"]["now"]  # type: ignore[index]
    assert (instance["type"], instance["region"], instance["usd_per_hour"]) == ("m5.large", "us-east-1", 0.096)
    assert (instance["usd_per_hour_spot"], instance["spot"], instance["priced_on"]) == (0.04, False, "2020-01-01")
    assert instance["price_age_days"] > 2000
    text = " ".join(project.jpo("suggest", "config.ini", "--no-learn", "--dry-run").out.split())
    assert "Runs on m5.large in us-east-1 (0.096 USD/h on demand, 0.04 USD/h spot; prices of 2020-01-01" in text
    rows = json.loads(project.jpo("predict", "config.ini", "--vary", "cpus=1,2,4,64", "-o", "json").out)["rows"]
    types = {row["parameters"]["cpus"]: row.get("instance", {}).get("type") for row in rows}
    assert (types[2], types[4], types[64]) == ("m5.large", "m5.xlarge", None)
    assert "m5.xlarge in us-east-1" in project.jpo("predict", "config.ini", "--vary", "cpus=4").out


def test_logs_that_hold_other_workloads_alone_are_named_until_there_is_a_run(empty):
    (empty.folder / "jpo.toml").write_text('[csv]\nlogs = ["runs/*.csv"]\n')
    for number, model in enumerate(("vit", "vit", "gpt")):
        log = empty.log(number, 16, 100.0)
        log.write_text(log.read_text().replace("model=cnn", f"model={model}"))
    told = json.loads(empty.jpo("suggest", "config.ini", "--dry-run", "-o", "json").out)
    sentence = "CSV logs contain no run of digits/cnn/pytorch, but 3 runs of digits/vit/pytorch, digits/gpt/pytorch; "
    assert any(note.startswith(sentence) for note in told["evidence"]["notes"])
    assert "JPO-W142" in told["reason_codes"]
    empty.log(9, 16, 100.0)
    told = json.loads(empty.jpo("suggest", "config.ini", "--dry-run", "-o", "json").out)
    assert "JPO-W142" not in told["reason_codes"]


@pytest.mark.parametrize("explore", ["off", "safe"])
def test_values_that_fail_in_two_of_three_runs_are_left_and_what_undoes_them_does_not_come_back(
    empty: Project, explore: str
) -> None:
    """Nor is it forbidden: --set is the user's to decide."""
    for number in range(4):
        empty.log(number, 16, 100.0)
    empty.config.write_text(empty.config.read_text().replace("batch_size = 16", "batch_size = 64"))
    for number, status in enumerate(("failed", "succeeded"), start=4):
        empty.log(number, 64, 40.0, status=status)
    assert "JPO-W649" not in suggestion(empty, "--explore", explore, "--dry-run")["reason_codes"]  # type: ignore[operator]
    empty.log(6, 64, 40.0, status="failed")
    left = suggestion(empty, "--explore", explore)
    assert left["reason_codes"][0] == "JPO-W649"  # type: ignore[index]
    assert "failed in 2 of 3 runs (runs with other values: 0 of 4)" in str(left["reasons"])
    assert "batch_size = 16" in empty.config.read_text()
    empty.log_now(16, 100.0)
    later = suggestion(empty, "--explore", explore)
    assert "batch_size = 64" not in empty.config.read_text(), later["reasons"]
    by_hand = suggestion(empty, "--explore", explore, "--set", "batch_size=64")
    assert (by_hand["decided_by"], "batch_size = 64" in empty.config.read_text()) == ("user", True)
