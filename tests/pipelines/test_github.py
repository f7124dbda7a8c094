"""The GitHub actions: read as GitHub reads them, their steps run as a runner runs them, on the real jpo and the real guard."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from attacks import ATTACKS, steered
from code_hosts import TOKEN, code_host, refuses

from jpo.version import __version__

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "pipelines" / "github"
ACTION = yaml.safe_load((FOLDER / "action.yml").read_text("utf-8"))
GUARD = yaml.safe_load((FOLDER / "guard" / "action.yml").read_text("utf-8"))
LEARN = yaml.safe_load((FOLDER / "learn" / "action.yml").read_text("utf-8"))
PERSIST = yaml.safe_load((FOLDER / "persist" / "action.yml").read_text("utf-8"))
PLACES = {"JPO suggest": ".", "JPO guard": "guard", "JPO learn": "learn", "JPO persist": "persist", "JPO record": "record"}
WORKFLOW = yaml.safe_load((FOLDER / "example-workflow.yml").read_text("utf-8"))
LEARNING = yaml.safe_load((FOLDER / "example-learn.yml").read_text("utf-8"))


def run_step(machine: Any, tmp_path: Path, action: dict[str, Any], name: str, **given: str) -> subprocess.CompletedProcess[str]:
    """One step of a composite action, by the shell and with the variables that GitHub's runner gives it."""
    step = next(step for step in action["runs"]["steps"] if step["name"] == name)
    inputs = {key: given.get(key, spec.get("default")) for key, spec in action["inputs"].items()}
    variables = {key: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: inputs[m[1]], text) for key, text in step["env"].items()}
    variables["GITHUB_ACTION_PATH"] = str(FOLDER / PLACES[action["name"]])
    variables |= {
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }
    script = tmp_path / "step.sh"
    script.write_text(step["run"])
    result: subprocess.CompletedProcess[str] = machine.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail"], str(script), variables
    )
    return result


def outputs(tmp_path: Path) -> dict[str, str]:
    """$GITHUB_OUTPUT as GitHub reads it: name<<delimiter, value, delimiter."""
    blocks = re.findall(r"^(\S+?)<<(\S+)\n(.*?)\n\2$", (tmp_path / "output").read_text(), re.MULTILINE | re.DOTALL)
    return {name: value for name, _, value in blocks}


def test_no_expression_is_part_of_a_script() -> None:
    steps = [step for action in (ACTION, GUARD, LEARN, PERSIST) for step in action["runs"]["steps"]]
    steps += [step for each in (WORKFLOW, LEARNING) for job in each["jobs"].values() for step in job["steps"]]
    assert [step["run"] for step in steps if "${{" in step.get("run", "")] == []


def test_the_examples_ask_for_no_more_than_reading() -> None:
    for example in (WORKFLOW, LEARNING):
        assert example["permissions"] == {"contents": "read"}
    assert not any("permissions" in job for job in LEARNING["jobs"].values())
    asking = {name: job for name, job in WORKFLOW["jobs"].items() if "permissions" in job}
    assert list(asking) == ["persist"], "which is off unless a repository variable says merge-request"
    assert asking["persist"]["permissions"] == {"contents": "write", "pull-requests": "write"}
    assert PERSIST["inputs"]["persist"]["default"] == "none"


def test_the_example_gives_inputs_which_the_actions_know() -> None:
    used = [step for job in WORKFLOW["jobs"].values() for step in job["steps"] if "jpo/pipelines" in step.get("uses", "")]
    assert set(used[0]["with"]) <= set(ACTION["inputs"])
    assert set(used[1]["with"]) <= set(GUARD["inputs"])
    (learns,) = [step for step in LEARNING["jobs"]["learn"]["steps"] if "jpo/pipelines" in step["uses"]]
    assert set(learns["with"]) <= set(LEARN["inputs"])
    assert set(used[2]["with"]) <= set(PERSIST["inputs"])


def test_what_was_suggested_is_proposed_as_one_pull_request(machine: Any, tmp_path: Path) -> None:
    before = (machine.repository / "config.ini").read_bytes()
    assert run_step(machine, tmp_path, ACTION, "Suggest").returncode == 0
    (tmp_path / "jpo-persist" / "bin").mkdir(parents=True)
    (tmp_path / "jpo-persist" / "bin" / "python").symlink_to(tmp_path / "jpo" / "bin" / "python")
    given = {"persist": "merge-request", "report": str(tmp_path / "jpo-report")}
    with code_host("github") as host:
        commit = host.repository.commit("main", {"config.ini": before})
        runner = {**host.nightly(tmp_path, commit), "GITHUB_WORKSPACE": str(machine.repository)}
        machine.environment = {**machine.environment, **{name: text for name, text in runner.items() if name != "GITHUB_TOKEN"}}
        done = [run_step(machine, tmp_path, PERSIST, "Persist", **given, token=token) for token in (TOKEN, TOKEN, "")]
        assert [one.returncode for one in done] == [0, 0, 0]
        assert (" opened: " in done[0].stdout, " unchanged: " in done[1].stdout, "JPO-E901" in done[2].stderr) == (True,) * 3
        (branch,) = set(host.repository.branches) - {"main"}
        assert host.repository.file(branch, "config.ini") == (machine.repository / "config.ini").read_bytes() != before


@pytest.mark.parametrize("place", ["jpo.toml", "jobs/jpo.toml", "jobs/train/jpo.toml"])
def test_the_guard_takes_the_nearest_limits_above_config_ini(machine: Any, tmp_path: Path, place: str) -> None:
    folder = machine.repository / "jobs" / "train"
    folder.mkdir(parents=True)
    (machine.repository / "config.ini").rename(folder / "config.ini")
    (machine.repository / "jpo.toml").rename(machine.repository / place)
    config = {"config": "jobs/train/config.ini"}
    assert run_step(machine, tmp_path, ACTION, "Suggest", **config).returncode == 0
    assert run_step(machine, tmp_path, ACTION, "Guard", **config).returncode == 0
    (folder / "config.ini").write_bytes(re.sub(rb"(cpus +=) \d+", rb"\1 3", (folder / "config.ini").read_bytes()))
    assert run_step(machine, tmp_path, ACTION, "Guard", **config).returncode == 1


@pytest.mark.parametrize("settings", ["", "jpo.toml"])
@pytest.mark.parametrize("action", [ACTION, GUARD], ids=["action", "guard"])
def test_the_guard_goes_by_the_limits_of_all_files_that_jpo_reads(
    machine: Any, tmp_path: Path, split_settings: bytes, action: dict[str, Any], settings: str
) -> None:
    config, report = machine.repository / "config.ini", tmp_path / "jpo-report"
    report.mkdir()
    (report / "config.before.ini").write_bytes(config.read_bytes())
    proposed = config if action is ACTION else report / "config.ini"
    proposed.write_bytes(split_settings)
    given = {"settings": settings} | ({} if action is ACTION else {"after": str(proposed), "python": sys.executable})
    done = run_step(machine, tmp_path, action, "Guard", **given)
    assert (done.returncode, "one step is at most a factor of 1.5" in done.stdout) == (1, True), done.stderr
    (machine.repository / "pyproject.toml").unlink()
    assert run_step(machine, tmp_path, action, "Guard", **given).returncode == 0


def test_suggest_changes_config_ini_and_both_looks_of_the_guard_approve(machine: Any, tmp_path: Path) -> None:
    before = (machine.repository / "config.ini").read_bytes()
    assert run_step(machine, tmp_path, ACTION, "Suggest").returncode == 0
    assert (
        (tmp_path / "jpo-report" / "config.before.ini").read_bytes() == before != (machine.repository / "config.ini").read_bytes()
    )
    assert run_step(machine, tmp_path, ACTION, "Guard").returncode == 0
    files = {"before": str(tmp_path / "jpo-report" / "config.before.ini"), "after": "config.ini", "settings": "jpo.toml"}
    assert run_step(machine, tmp_path, GUARD, "Guard", **files, python=sys.executable).returncode == 0


def test_the_report_names_status_and_id_and_annotates_each_changed_key_once(machine: Any, tmp_path: Path) -> None:
    run_step(machine, tmp_path, ACTION, "Suggest")
    result = run_step(machine, tmp_path, ACTION, "Report")
    suggestion = json.loads((tmp_path / "jpo-report" / "suggestion.json").read_text())
    said = outputs(tmp_path)
    assert [json.loads(said.pop(name)) for name in ("old", "new")] == [suggestion["current"], suggestion["suggested"]]
    changes = [
        {"parameter": c["parameter"], "key": c["key"], "old": c["old_text"], "new": c["new_text"]} for c in suggestion["changes"]
    ]
    assert json.loads(said.pop("changes")) == changes
    assert said == {
        "status": "changed",
        "suggestion-id": suggestion["suggestion_id"],
        "report": str(tmp_path / "jpo-report"),
    }
    assert result.stdout.count(suggestion["reasons"][0].replace("%", "%25")) == len(changes), (
        "the reason, not how many runs there were"
    )
    assert (tmp_path / "summary").read_text().split("\n\n")[2].startswith("Workload **digits/cnn/pytorch**: ")
    lines = (machine.repository / "config.ini").read_text().split("\n")
    noted = re.findall(r"^::notice file=config.ini,line=(\d+),title=JPO::(\S+): ", result.stdout, re.MULTILINE)
    assert [key for _, key in noted] == [change["key"] for change in suggestion["changes"]]
    assert all(lines[int(line) - 1].startswith(key.partition(".")[2]) for line, key in noted)


def test_check_mode_succeeds_and_leaves_config_ini_alone(machine: Any, tmp_path: Path) -> None:
    before = (machine.repository / "config.ini").read_bytes()
    assert run_step(machine, tmp_path, ACTION, "Suggest", mode="check").returncode == 0
    assert run_step(machine, tmp_path, ACTION, "Report").returncode == 0
    assert (machine.repository / "config.ini").read_bytes() == before
    assert outputs(tmp_path)["status"] == "changed"


@pytest.mark.parametrize("given", [{"mode": "dry-run"}, {"offline": "yes"}, {"strict": "True"}, {"learn": "off"}])
def test_a_mistyped_input_stops_the_job_before_anything_is_written_or_asked(
    given: dict[str, str], machine: Any, tmp_path: Path
) -> None:
    before = (machine.repository / "config.ini").read_bytes()
    done = run_step(machine, tmp_path, ACTION, "Suggest", **given)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert next(iter(given.values())) in done.stderr
    assert (machine.repository / "config.ini").read_bytes() == before


def test_in_check_mode_the_committed_file_goes_on_however_far_it_is_from_the_values_in_force(
    machine: Any, tmp_path: Path, two_steps_in_force: bytes
) -> None:
    done = run_step(machine, tmp_path, ACTION, "Suggest", mode="check")
    assert (done.returncode, "batch_size 16 → 64" in done.stdout) == (0, True), done.stderr
    approved = run_step(machine, tmp_path, ACTION, "Guard")
    assert approved.returncode == 0, approved.stdout
    assert (machine.repository / "config.ini").read_bytes() == two_steps_in_force


@pytest.mark.parametrize("mode", ["write", "check"])
def test_a_shared_store_is_used_and_its_audit_log_anchored_where_a_suggestion_is_on_record(
    machine: Any, tmp_path: Path, mode: str
) -> None:
    shared = tmp_path / "shared.db"
    given = {"mode": mode, "store-url": f"sqlite:///{shared}"}
    assert run_step(machine, tmp_path, ACTION, "Suggest", **given).returncode == 0
    head = tmp_path / "jpo-report" / "audit-head.txt"
    assert not (machine.repository / ".jpo").exists()
    assert head.exists() == shared.exists() == (mode == "write")
    if mode == "write":
        assert (tmp_path / "summary").read_text().endswith(f"\n\n{head.read_text()}")
        assert re.fullmatch(r"JPO-Audit-Head: \d+ [0-9a-f]{64}\n", head.read_text())


def test_a_name_full_of_shell_is_a_name(machine: Any, tmp_path: Path) -> None:
    config = '$(touch owned)";touch owned;" `touch owned`.ini'
    (machine.repository / "config.ini").rename(machine.repository / config)
    assert run_step(machine, tmp_path, ACTION, "Suggest", config=config).returncode == 0
    assert run_step(machine, tmp_path, ACTION, "Guard", config=config).returncode == 0
    assert not (machine.repository / "owned").exists()


@pytest.mark.parametrize("action", [ACTION, GUARD], ids=["action", "guard"])
def test_the_guard_rejects_a_tampered_file_whichever_package_is_in_the_workspace(
    machine: Any, tmp_path: Path, action: dict[str, Any]
) -> None:
    config = machine.repository / "config.ini"
    (tmp_path / "jpo-report").mkdir()
    before = tmp_path / "jpo-report" / "config.before.ini"
    before.write_bytes(config.read_bytes())
    config.write_text(re.sub(r"(batch_size +=) \d+", r"\1 1048576", config.read_text()))
    (machine.repository / "constraints").mkdir()
    (machine.repository / "constraints" / "__init__.py").touch()
    (machine.repository / "constraints" / "__main__.py").write_text("print('approved: all of it')\n")
    given = {} if action is ACTION else {"before": str(before), "after": "config.ini", "python": sys.executable}
    result = run_step(machine, tmp_path, action, "Guard", settings="jpo.toml", **given)
    assert (result.returncode, result.stdout.partition(":")[0]) == (1, "rejected")


def test_strict_fails_without_prometheus_and_never_shows_the_token(
    machine: Any, tmp_path: Path, refusing_prometheus: Any
) -> None:
    given = {"strict": "true", "prometheus-url": refusing_prometheus.url, "prometheus-token": "s3cret-token"}
    result = run_step(machine, tmp_path, ACTION, "Suggest", **given)
    assert result.returncode == 4
    assert set(refusing_prometheus.authorizations) == {"Bearer s3cret-token"}
    assert "s3cret" not in result.stdout + result.stderr


def test_a_fork_without_secrets_is_answered_offline(machine: Any, tmp_path: Path, refusing_prometheus: Any) -> None:
    given = {"offline": "true", "prometheus-url": refusing_prometheus.url, "prometheus-token": ""}
    assert run_step(machine, tmp_path, ACTION, "Suggest", **given).returncode == 0
    assert refusing_prometheus.authorizations == []


def test_nothing_in_a_suggestion_can_begin_a_workflow_command(machine: Any, tmp_path: Path) -> None:
    report = tmp_path / "jpo-report"
    report.mkdir()
    (report / "config.before.ini").write_bytes(b"")
    hostile = {"key": "a.b\n::error::x", "old_text": "1", "new_text": "<b>|2\x1b[2J", "reason": "100%\r\n::set-output name=x::y"}
    suggestion = {"status": "kept", "suggestion_id": "1\nstatus<<E\nowned\nE", "changes": [hostile]}
    (report / "suggestion.json").write_text(json.dumps(suggestion))
    result = run_step(machine, tmp_path, ACTION, "Report")
    text = "a.b%0A::error::x: 1 → <b>|2 [2J: 100%25%0D%0A::set-output name=x::y"
    assert result.stdout == f"::notice file=config.ini,title=JPO::{text}\n"
    assert outputs(tmp_path)["status"] == "kept"


@pytest.mark.slow
def test_installing_from_the_checked_out_sources_gives_a_jpo_without_torch(machine: Any, tmp_path: Path) -> None:
    (tmp_path / "jpo").rename(tmp_path / "tools-of-the-fixture")
    result = run_step(machine, tmp_path, ACTION, "Install JPO", python=sys.executable)
    assert result.returncode == 0, result.stderr
    assert re.fullmatch(r"wheels=jpo-torch-[0-9a-f]{64}\n", (tmp_path / "output").read_text())
    (place,) = (tmp_path / "jpo/lib").glob("python3*/site-packages")
    packages = {path.name for path in place.iterdir()}
    assert f"jpo-{__version__}.dist-info" in packages
    assert "torch" not in packages  # that is the next step's affair, see test_learning.py
    assert run_step(machine, tmp_path, ACTION, "Suggest").returncode == 0


def test_a_link_is_no_config_ini(machine: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret.ini"
    (machine.repository / "config.ini").rename(secret)
    (machine.repository / "config.ini").symlink_to(secret)
    done = run_step(machine, tmp_path, ACTION, "Suggest")
    assert (done.returncode, "is not a plain file, or behind a link" in done.stderr) == (2, True)
    assert list((tmp_path / "jpo-report").iterdir()) == []


def test_a_module_in_the_workspace_does_not_replace_jpo(machine: Any, tmp_path: Path) -> None:
    for name in ("jpo", "json", "constraints"):
        (machine.repository / f"{name}.py").write_text("raise SystemExit('ours')\n")
    for step in ("Suggest", "Guard", "Report"):
        done = run_step(machine, tmp_path, ACTION, step)
        assert (done.returncode, "ours" in done.stdout + done.stderr) == (0, False)


@pytest.mark.parametrize("action", [ACTION, GUARD], ids=["action", "guard"])
def test_a_forged_file_of_values_in_force_gets_nothing_past_the_limits(
    machine: Any, tmp_path: Path, action: dict[str, Any]
) -> None:
    config, report = machine.repository / "config.ini", tmp_path / "jpo-report"
    report.mkdir()
    (report / "config.before.ini").write_bytes(config.read_bytes())
    config.write_text(re.sub(r"(batch_size +=) \d+", r"\1 1048576", config.read_text()))
    (report / "config.in-force.ini").write_bytes(config.read_bytes())
    files = {"before": str(report / "config.before.ini"), "after": "config.ini", "in-force": str(report / "config.in-force.ini")}
    given = {} if action is ACTION else {**files, "python": sys.executable}
    result = run_step(machine, tmp_path, action, "Guard", settings="jpo.toml", **given)
    assert (result.returncode, "rejected: committed to in force" in result.stdout) == (1, True)


def test_a_guard_that_is_told_of_no_values_in_force_judges_one_step(machine: Any, tmp_path: Path) -> None:
    (tmp_path / "before.ini").write_bytes((machine.repository / "config.ini").read_bytes())
    files = {"before": str(tmp_path / "before.ini"), "after": "config.ini", "in-force": "not/there.ini"}
    result = run_step(machine, tmp_path, GUARD, "Guard", **files, python=sys.executable)
    assert (result.returncode, result.stdout.count("approved:")) == (0, 1)


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
def test_no_text_becomes_a_command_or_an_output(attack: str, machine: Any, tmp_path: Path) -> None:
    report = tmp_path / "jpo-report"
    report.mkdir()
    (report / "config.before.ini").write_bytes(b"")
    change = {"parameter": attack, "key": attack, "old_text": attack, "new_text": attack, "reason": attack}
    suggestion = {"status": "kept", "suggestion_id": attack, "changes": [change], "reasons": [attack], "current": {attack: 1.0}}
    (report / "suggestion.json").write_text(json.dumps(suggestion))
    result = run_step(machine, tmp_path, ACTION, "Report")
    prefix = "::notice file=config.ini,title=JPO::"
    assert (result.stdout.startswith(prefix), result.stdout.count("\n")) == (True, 1)
    assert [line for line in steered(result.stdout.removeprefix(prefix)) if not line.isprintable()] == []
    said = outputs(tmp_path)
    assert list(said) == ["status", "suggestion-id", "report", "old", "new", "changes"]
    assert json.loads(said["changes"])[0]["new"] == attack
    assert json.loads(said["old"]) == {attack: 1.0}


@pytest.mark.parametrize("refused", [False, True])
def test_the_suggestion_is_a_note_and_without_permission_no_job_fails(machine: Any, tmp_path: Path, refused: bool) -> None:
    assert run_step(machine, tmp_path, ACTION, "Suggest").returncode == 0
    with code_host("github", is_app=True) as host:
        host.faults["POST"] = [refuses(403)] if refused else []
        machine.environment = {**machine.environment, **host.environment(tmp_path)}
        done = run_step(machine, tmp_path, ACTION, "Comment", **{"comment-token": TOKEN})
        assert (done.returncode, len(host.notes)) == (0, 0 if refused else 1)
    assert ("note on #5 written" in done.stdout, "jpo: no note: " in done.stderr) == (not refused, refused)
    assert TOKEN not in done.stdout + done.stderr
