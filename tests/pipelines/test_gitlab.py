"""The GitLab component: read as GitLab reads it, its scripts run as a runner runs them, on the real jpo and the real guard."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from attacks import ATTACKS
from code_hosts import TOKEN, code_host, refuses
from schemas import broken

FOLDER = Path(__file__).parents[2] / "pipelines" / "gitlab"
HEADER, JOBS = yaml.safe_load_all((FOLDER / "templates" / "jpo.yml").read_text("utf-8"))
INPUTS: dict[str, dict[str, Any]] = HEADER["spec"]["inputs"]
EXAMPLE = yaml.safe_load((FOLDER / ".gitlab-ci.yml").read_text("utf-8"))
IMAGE = "registry.example.com/jpo:0.1.0-slim"


def with_inputs(node: Any, values: dict[str, Any]) -> Any:
    """`$[[ inputs.x ]]` replaced as GitLab does it: a string that is nothing else takes the type of the input."""
    if isinstance(node, dict):
        return {with_inputs(key, values): with_inputs(value, values) for key, value in node.items()}
    if isinstance(node, list):
        return [with_inputs(item, values) for item in node]
    if not isinstance(node, str):
        return node
    if whole := re.fullmatch(r"\$\[\[ inputs\.(\w+) \]\]", node):
        return values[whole[1]]
    return re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda found: json.dumps(values[found[1]]).strip('"'), node)


def jobs(**given: Any) -> dict[str, Any]:
    """The jobs of a pipeline that includes the component with these inputs."""
    defaults = {name: spec["default"] for name, spec in INPUTS.items() if "default" in spec}
    rendered: dict[str, Any] = with_inputs(JOBS, {**defaults, "image": IMAGE, **given})
    here = {name: job for name, job in rendered.items() if not name.endswith("-record")}
    return {name: job for name, job in here.items() if all(may_hold(rule["if"]) for rule in job.get("rules", ()))}


def may_hold(rule: str) -> bool:
    """Whether GitLab may add a job: no two texts that the rule compares differ; variables are the pipeline's."""
    return all(one == other for one, other in re.findall(r'"([^"$]*)" == "([^"$]*)"', rule))


def run_job(machine: Any, job: dict[str, Any], *, shell: str = "bash", **variables: str) -> subprocess.CompletedProcess[str]:
    """All script lines in one shell that stops at the first error, as the runner does; job variables are strings there."""
    assert all(isinstance(value, str) for value in job["variables"].values())
    result: subprocess.CompletedProcess[str] = machine.run(
        [shell, "-ec"], "\n".join(job["script"]), {**variables, **job["variables"]}
    )
    return result


def schema_check(text: str, tmp_path: Path) -> None:
    file = tmp_path / ".gitlab-ci.yml"
    file.write_text(text)
    assert broken("gitlab-ci", file) == ""


def test_header_jobs_and_example_follow_gitlabs_schema(tmp_path: Path) -> None:
    schema_check(yaml.safe_dump(HEADER), tmp_path)
    schema_check(yaml.safe_dump(jobs(), sort_keys=False), tmp_path)
    schema_check(yaml.safe_dump(EXAMPLE), tmp_path)


def test_no_input_is_part_of_a_script() -> None:
    assert "inputs." not in "\n".join(line for job in JOBS.values() for line in job["script"])


def test_every_default_matches_its_own_pattern() -> None:
    wrong = [name for name, spec in INPUTS.items() if "regex" in spec and not re.search(spec["regex"], spec.get("default", ""))]
    assert wrong == []


@pytest.mark.parametrize("path", ["$(touch x)", "-o/etc/passwd", "a b.ini", "x;ls", "/etc/passwd", "", "*"])
def test_a_path_which_a_shell_or_gitlab_could_misread_is_refused(path: str) -> None:
    assert not re.search(INPUTS["config"]["regex"], path)


def test_the_example_gives_known_inputs_and_all_that_have_no_default() -> None:
    given = EXAMPLE["include"][0]["inputs"]
    assert set(given) <= set(INPUTS)
    assert {name for name, spec in INPUTS.items() if "default" not in spec} <= set(given)


def test_a_second_workload_gets_jobs_lock_cache_and_report_of_its_own() -> None:
    suggest, guard = jobs(name="vision").items()
    assert (suggest[0], guard[0], guard[1]["needs"]) == ("vision-suggest", "vision-guard", ["vision-suggest"])
    assert (suggest[1]["resource_group"], suggest[1]["cache"]["key"]) == ("vision", "vision-history")
    assert suggest[1]["artifacts"]["paths"] == ["vision-report/"]


def test_nothing_is_proposed_unless_it_is_asked_for_by_pipelines_of_the_default_branch() -> None:
    assert list(jobs()) == ["jpo-suggest", "jpo-guard"]
    assert list(jobs(persist="merge-request", mode="check")) == ["jpo-suggest", "jpo-guard"]
    persist = jobs(persist="merge-request", name="vision")["vision-persist"]
    assert (persist["needs"], persist["resource_group"]) == (["vision-suggest", "vision-guard"], "vision-persist")
    assert "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH" in persist["rules"][0]["if"]


def test_the_branch_that_is_proposed_starts_no_training() -> None:
    (never, always) = EXAMPLE["workflow"]["rules"]
    assert (never, always) == ({"if": r"$CI_COMMIT_BRANCH =~ /^jpo\//", "when": "never"}, {"when": "always"})
    assert EXAMPLE["train"].get("rules") is None


@pytest.mark.parametrize(("history", "told"), [(".jpo", True), ("jobs/.jpo", False)])
def test_a_history_that_the_cache_does_not_keep_is_told(machine: Any, history: str, told: bool) -> None:
    folder = machine.repository / "jobs"
    folder.mkdir()
    for name in ("config.ini", "jpo.toml"):
        (machine.repository / name).rename(folder / name)
    done = run_job(machine, jobs(config="jobs/config.ini", history=history)["jpo-suggest"])
    assert (done.returncode, "give the component's input history" in done.stderr) == (0, told), done.stderr
    assert (folder / ".jpo" / "jpo.db").exists()


@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_what_the_guard_has_approved_is_proposed_as_one_merge_request(machine: Any, tmp_path: Path, shell: str) -> None:
    before = (machine.repository / "config.ini").read_bytes()
    suggest, guard, persist = jobs(persist="merge-request").values()
    assert run_job(machine, suggest, shell=shell).returncode == 0
    (machine.repository / "config.ini").write_bytes(before)
    assert run_job(machine, guard, shell=shell).returncode == 0
    with code_host("gitlab") as host:
        commit = host.repository.commit("main", {"config.ini": before})
        variables = {**host.nightly(tmp_path, commit), "CI_PROJECT_DIR": str(machine.repository)}
        done = [run_job(machine, persist, shell=shell, **variables) for _ in range(2)]
        assert [one.returncode for one in done] == [0, 0]
        assert (" opened: " in done[0].stdout, " unchanged: " in done[1].stdout, len(host.repository.open)) == (True, True, 1)
        (branch,) = set(host.repository.branches) - {"main"}
        assert host.repository.file(branch, "config.ini") == (machine.repository / "config.ini").read_bytes() != before
        without = {name: text for name, text in variables.items() if name != "JPO_PERSIST_TOKEN"}
        refused = run_job(machine, persist, shell=shell, **without)
        assert (refused.returncode, "JPO-E901" in refused.stderr, TOKEN in refused.stdout + refused.stderr) == (0, True, False)
        (machine.repository / "jpo-report" / "suggestion.json").unlink()
        skipped = run_job(machine, persist, shell=shell, **variables)
        assert (skipped.returncode, "nothing is proposed" in skipped.stdout, len(host.repository.open)) == (0, True, 1)


@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.parametrize("place", ["jpo.toml", "jobs/jpo.toml", "jobs/train/jpo.toml"])
def test_the_guard_takes_the_nearest_limits_above_config_ini(machine: Any, place: str, shell: str) -> None:
    folder = machine.repository / "jobs" / "train"
    folder.mkdir(parents=True)
    (machine.repository / "config.ini").rename(folder / "config.ini")
    (machine.repository / "jpo.toml").rename(machine.repository / place)
    (machine.repository / "jobs" / "pyproject.toml").write_text("[tool.jpo.parameters.batch_size]\nmax = 1\n")
    suggest, guard = jobs(config="jobs/train/config.ini").values()
    suggested = run_job(machine, suggest, shell=shell)
    assert suggested.returncode == 0, suggested.stderr
    report = machine.repository / "jpo-report" / "config.ini"
    assert run_job(machine, guard, shell=shell).returncode == 0
    report.write_bytes(re.sub(rb"(cpus +=) \d+", rb"\1 3", report.read_bytes()))
    assert run_job(machine, guard, shell=shell).returncode == 1


@pytest.mark.parametrize("settings", ["", "jpo.toml"])
def test_the_guard_goes_by_the_limits_of_all_files_that_jpo_reads(machine: Any, split_settings: bytes, settings: str) -> None:
    guard = jobs(settings=settings)["jpo-guard"]
    (machine.repository / "jpo-report").mkdir()
    (machine.repository / "jpo-report" / "config.ini").write_bytes(split_settings)
    done = run_job(machine, guard)
    assert (done.returncode, "one step is at most a factor of 1.5" in done.stdout) == (1, True), done.stderr
    (machine.repository / "pyproject.toml").unlink()
    assert run_job(machine, guard).returncode == 0


@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_suggest_changes_config_ini_and_the_guard_approves(machine: Any, shell: str) -> None:
    before = (machine.repository / "config.ini").read_bytes()
    suggest, guard = jobs().values()
    done = run_job(machine, suggest, shell=shell)
    assert done.returncode == 0, done.stderr
    report = machine.repository / "jpo-report"
    suggestion = json.loads((report / "suggestion.json").read_text())
    assert suggestion["status"] == "changed"
    assert (report / "config.ini").read_bytes() != before
    said = dict(line.split("=") for line in (report / "jpo.env").read_text().splitlines())
    assert (said["JPO_STATUS"], said["JPO_SUGGESTION_ID"]) == ("changed", suggestion["suggestion_id"])
    for when, values in (("OLD", suggestion["current"]), ("NEW", suggestion["suggested"])):
        assert {name: float(said[f"JPO_{when}_{name.upper()}"]) for name in values} == values
    assert (report / "summary.md").read_text().split("\n\n")[2].startswith("Workload **digits/cnn/pytorch**: ")
    (machine.repository / "config.ini").write_bytes(before)  # the guard's job has a checkout of its own
    approved = run_job(machine, guard, shell=shell)
    assert (approved.returncode, approved.stdout.partition(":")[0]) == (0, "approved")
    assert (machine.repository / "config.ini").read_bytes() == (report / "config.ini").read_bytes()


def test_check_mode_leaves_config_ini_alone_and_says_so_by_a_tolerated_exit_code(machine: Any) -> None:
    before = (machine.repository / "config.ini").read_bytes()
    suggest = jobs(mode="check")["jpo-suggest"]
    assert run_job(machine, suggest).returncode in suggest["allow_failure"]["exit_codes"] == [10]
    assert (machine.repository / "config.ini").read_bytes() == before
    said = (machine.repository / "jpo-report" / "jpo.env").read_text()
    assert "JPO_STATUS=changed\n" in said
    assert "JPO_SUGGESTION_ID" not in said, "it is not on record, and a run log must not name it"


def test_in_check_mode_the_committed_file_goes_on_however_far_it_is_from_the_values_in_force(
    machine: Any, two_steps_in_force: bytes
) -> None:
    suggest, guard = jobs(mode="check").values()
    done = run_job(machine, suggest, GITLAB_CI="true")
    assert (done.returncode, "batch_size 16 → 64" in done.stdout) == (10, True), done.stderr
    approved = run_job(machine, guard)
    assert approved.returncode == 0, approved.stdout
    assert (machine.repository / "config.ini").read_bytes() == two_steps_in_force


@pytest.mark.parametrize("mode", ["write", "check"])
def test_a_shared_store_is_used_and_its_audit_log_anchored_where_a_suggestion_is_on_record(machine: Any, mode: str) -> None:
    shared = machine.repository.parent / "shared.db"
    done = run_job(machine, jobs(mode=mode)["jpo-suggest"], JPO_STORE__URL=f"sqlite:///{shared}")
    assert done.returncode == (10 if mode == "check" else 0), done.stderr
    head = machine.repository / "jpo-report" / "audit-head.txt"
    assert not (machine.repository / ".jpo").exists()
    assert head.exists() == shared.exists() == (mode == "write")
    if mode == "write":
        assert done.stdout.endswith(head.read_text())
        assert re.fullmatch(r"JPO-Audit-Head: \d+ [0-9a-f]{64}\n", head.read_text())


def tamper(machine: Any) -> None:
    """As if the suggestion had been a batch size far above the limit."""
    (machine.repository / "jpo-report").mkdir()
    text = (machine.repository / "config.ini").read_text()
    (machine.repository / "jpo-report" / "config.ini").write_text(re.sub(r"(batch_size +=) \d+", r"\1 1048576", text))


def test_the_guard_rejects_what_breaks_the_limits_of_the_teams_settings(machine: Any) -> None:
    tamper(machine)
    rejected = run_job(machine, jobs()["jpo-guard"])
    assert (rejected.returncode, rejected.stdout.partition(":")[0]) == (1, "rejected")


def test_a_package_called_constraints_in_the_project_does_not_replace_the_guard(machine: Any) -> None:
    tamper(machine)
    (machine.repository / "constraints").mkdir()
    (machine.repository / "constraints" / "__init__.py").touch()
    (machine.repository / "constraints" / "__main__.py").write_text("print('approved: all of it')\n")
    assert run_job(machine, jobs()["jpo-guard"]).returncode == 1


def test_strict_fails_without_prometheus_and_the_token_comes_from_its_file(machine: Any, refusing_prometheus: Any) -> None:
    token = machine.repository / "token"
    token.write_text("s3cret-token\n")
    suggest = jobs(strict=True, url_variable="METRICS")["jpo-suggest"]
    result = run_job(machine, suggest, METRICS=refusing_prometheus.url, PROMETHEUS_TOKEN_FILE=str(token))
    assert result.returncode == 4
    assert set(refusing_prometheus.authorizations) == {"Bearer s3cret-token"}
    assert "s3cret" not in result.stdout + result.stderr


def test_offline_asks_nobody(machine: Any, refusing_prometheus: Any) -> None:
    suggest = jobs(offline=True)["jpo-suggest"]
    assert run_job(machine, suggest, PROMETHEUS_URL=refusing_prometheus.url).returncode == 0
    assert refusing_prometheus.authorizations == []


@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.parametrize("config", ["config.ini", "folder/config.ini"])
def test_a_link_is_copied_into_no_artifact(machine: Any, shell: str, config: str) -> None:
    secret = machine.repository.parent / "outside" / "config.ini"
    secret.parent.mkdir()
    secret.write_bytes((machine.repository / "config.ini").read_bytes())
    (machine.repository / "config.ini").unlink()
    if config == "config.ini":
        (machine.repository / "config.ini").symlink_to(secret)
    else:
        (machine.repository / "folder").symlink_to(secret.parent)
    (machine.repository / "jpo-report").symlink_to(secret.parent)  # committed, to have the report written there
    suggest, guard = jobs(config=config).values()
    for job in (suggest, guard):
        done = run_job(machine, job, shell=shell)
        assert (done.returncode, "is not a plain file, or behind a link" in done.stderr) == (2, True)
    assert [path.name for path in secret.parent.iterdir()] == ["config.ini"]
    assert not (machine.repository / "jpo-report").exists()


def test_a_link_in_place_of_the_suggestion_stops_the_guard(machine: Any) -> None:
    (machine.repository / "jpo-report").mkdir()
    (machine.repository / "jpo-report" / "config.ini").symlink_to(machine.repository / "jpo.toml")
    before = (machine.repository / "config.ini").read_bytes()
    assert run_job(machine, jobs()["jpo-guard"]).returncode == 2
    assert (machine.repository / "config.ini").read_bytes() == before


def test_a_failure_leaves_nothing_for_artifacts_not_even_what_was_committed(machine: Any, refusing_prometheus: Any) -> None:
    (machine.repository / "jpo-report").mkdir()
    (machine.repository / "jpo-report" / "config.ini").symlink_to("/etc/passwd")
    suggest = jobs(strict=True)["jpo-suggest"]
    assert run_job(machine, suggest, PROMETHEUS_URL=refusing_prometheus.url).returncode == 4
    assert not (machine.repository / "jpo-report").exists()


def test_after_a_failure_that_is_tolerated_the_committed_file_goes_on(machine: Any, refusing_prometheus: Any) -> None:
    before = (machine.repository / "config.ini").read_bytes()
    suggest, guard = jobs(strict=True, tolerate=[4, 10]).values()
    done = run_job(machine, suggest, PROMETHEUS_URL=refusing_prometheus.url)
    assert done.returncode in suggest["allow_failure"]["exit_codes"]
    assert run_job(machine, guard).returncode == 0
    assert (machine.repository / "config.ini").read_bytes() == before


def test_a_module_in_the_project_does_not_replace_jpo(machine: Any) -> None:
    for name in ("jpo", "json", "constraints"):
        (machine.repository / f"{name}.py").write_text("raise SystemExit('ours')\n")
    done = run_job(machine, jobs()["jpo-suggest"], PYTHONPATH=str(machine.repository))
    assert (done.returncode, "ours" in done.stdout + done.stderr) == (0, False)


def test_a_forged_file_of_values_in_force_gets_nothing_past_the_limits(machine: Any) -> None:
    tamper(machine)
    report = machine.repository / "jpo-report"
    (report / "config.in-force.ini").write_bytes((report / "config.ini").read_bytes())
    rejected = run_job(machine, jobs()["jpo-guard"])
    assert (rejected.returncode, "rejected: committed to in force" in rejected.stdout) == (1, True)


def test_a_link_in_place_of_the_values_in_force_stops_the_guard(machine: Any) -> None:
    tamper(machine)
    (machine.repository / "jpo-report" / "config.in-force.ini").symlink_to(machine.repository / "config.ini")
    assert run_job(machine, jobs()["jpo-guard"]).returncode == 2


def test_a_report_without_values_in_force_is_judged_in_one_step(machine: Any) -> None:
    before = (machine.repository / "config.ini").read_bytes()
    suggest, guard = jobs().values()
    run_job(machine, suggest)
    (machine.repository / "jpo-report" / "config.in-force.ini").unlink()
    (machine.repository / "config.ini").write_bytes(before)
    approved = run_job(machine, guard)
    assert (approved.returncode, approved.stdout.count("approved:")) == (0, 1)


@pytest.mark.parametrize("refused", [False, True])
def test_with_a_token_the_suggestion_is_a_note_and_without_permission_no_job_fails(
    machine: Any, tmp_path: Path, refused: bool
) -> None:
    with code_host("gitlab") as host:
        host.faults["POST"] = [refuses(403)] if refused else []
        variables = host.environment(tmp_path)
        done = run_job(machine, jobs(settings="jpo.toml")["jpo-suggest"], **variables)
        assert (done.returncode, len(host.notes)) == (0, 0 if refused else 1)
    assert ("note on !5 written" in done.stdout, "jpo: no note: " in done.stderr) == (not refused, refused)
    assert TOKEN not in done.stdout + done.stderr


def test_no_name_in_a_suggestion_becomes_a_variable_of_its_own(machine: Any, tmp_path: Path) -> None:
    lines = "\n".join(jobs()["jpo-suggest"]["script"])
    script = lines[lines.index("python -I -c '\nimport json") : lines.index("\nplain", lines.index("import json"))]
    words = {"optimizer": "adam", **{f"w{number}": attack for number, attack in enumerate(ATTACKS[:14])}}
    values = {"current": dict.fromkeys(ATTACKS[:14], 1), "suggested": {"a\nPATH": 2, **words}}
    (tmp_path / "suggestion.json").write_text(json.dumps({"status": "kept", "suggestion_id": "1", **values}))
    done = machine.run(["sh", "-ec"], f"report={tmp_path}\n{script}", {})
    assert done.returncode == 0, done.stderr
    said = (tmp_path / "jpo.env").read_text().splitlines()
    assert [
        line for line in said if not re.fullmatch(r"JPO_(STATUS|SUGGESTION_ID|OLD_[A-Z0-9_]*|NEW_[A-Z0-9_]*)=\w+", line)
    ] == []
    assert said[-2:] == ["JPO_NEW_A_PATH=2", "JPO_NEW_OPTIMIZER=adam"]
