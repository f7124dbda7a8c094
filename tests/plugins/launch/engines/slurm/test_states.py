"""SLURM's words and what batch.sh saw, put together; texts as SLURM 22.05 prints them."""

from __future__ import annotations

import pytest

from jpo.plugins.launch.engines.slurm.programs import pairs
from jpo.plugins.launch.engines.slurm.run_files import BatchEnd, Began
from jpo.plugins.launch.engines.slurm.states import gib, status_from_end, status_from_sacct, status_from_scontrol, with_end
from jpo.plugins.launch.job import JobState, JobStatus
from jpo.records import RunStatus

SAID = (
    "JobId=1 JobName=night-1 UserId=ada(1000) GroupId=ada(1000) JobState={state} Reason={reason} Dependency=(null) Requeue=0 "
    "ExitCode={code} StartTime={start} EndTime=1795397990 Deadline=N/A Partition=main NodeList={node} "
    "Command=/srv/batch.sh Comment=JobState=FAILED NodeList=evil  StdOut=/srv/output.log"
)


def said(state: str, reason: str = "None", code: str = "0:0", start: str = "1795397850", node: str = "n1") -> JobStatus:
    return status_from_scontrol(pairs(SAID.format(state=state, reason=reason, code=code, start=start, node=node)))


def end(exit_code: int | None, ended_by: str = "") -> BatchEnd:
    return BatchEnd("1", "n1", 10.0, 20.0, exit_code, ended_by, 0.5, 3.0)


@pytest.mark.parametrize(
    ("state", "ended_as"),
    [
        ("COMPLETED", RunStatus.SUCCEEDED),
        ("FAILED", RunStatus.FAILED),
        ("OUT_OF_MEMORY", RunStatus.OOM_KILLED),
        ("TIMEOUT", RunStatus.STOPPED),
        ("CANCELLED", RunStatus.STOPPED),
        ("PREEMPTED", RunStatus.STOPPED),
        ("NODE_FAIL", RunStatus.STOPPED),
        ("BOOT_FAIL", RunStatus.STOPPED),
        ("DEADLINE", RunStatus.STOPPED),
    ],
)
def test_each_end_of_slurm_is_one_of_ours(state: str, ended_as: RunStatus) -> None:
    status = said(state)
    assert (status.state, status.ended_as) == (JobState.ENDED, ended_as)


@pytest.mark.parametrize("state", ["PENDING", "CONFIGURING", "REQUEUE_HOLD"])
def test_a_job_that_waits_says_why_and_when_it_would_start(state: str) -> None:
    status = said(state, reason="ReqNodeNotAvail,_UnavailableNodes:n1", node="(null)")
    assert (status.state, status.starts_at, status.started_at) == (JobState.WAITING, 1795397850.0, None)
    assert status.reason == "ReqNodeNotAvail, UnavailableNodes:n1"


@pytest.mark.parametrize("state", ["RUNNING", "COMPLETING", "SUSPENDED", "A_STATE_OF_TOMORROW"])
def test_all_other_states_go_on(state: str) -> None:
    status = said(state)
    assert (status.state, status.place, status.ended_at) == (JobState.RUNNING, "n1", None)


def test_an_exit_code_counts_only_where_the_command_gave_it() -> None:
    assert said("FAILED", code="3:0").exit_code == 3
    assert said("FAILED", code="0:9").exit_code is None
    assert said("FAILED", code="137:0").exit_code is None  # bash: signal 9
    assert said("NODE_FAIL").exit_code is None
    assert said("FAILED", "NonZeroExitCode", "0:9").reason == "ended by SIGKILL"
    assert said("FAILED", "RaisedSignal:9(Killed)", "0:9").reason == "ended by SIGKILL"
    assert said("FAILED", "NonZeroExitCode", "3:0").reason == "exit code 3"


def test_a_job_that_never_had_a_node_never_started() -> None:
    assert said("CANCELLED", node="(null)").started_at is None


def test_what_the_script_saw_is_more_exact() -> None:
    status = with_end(said("FAILED", "NonZeroExitCode", "1:0"), Began("1", "n1", 10.0), end(3))
    assert (status.exit_code, status.started_at, status.ended_at) == (3, 10.0, 20.0)
    assert (status.memory_gib, status.cpu_seconds, status.ended_as) == (0.5, 3.0, RunStatus.FAILED)


@pytest.mark.parametrize("ended_by", ["longest_seconds", "jpo", "limit_of_slurm", "slurm"])
def test_a_command_that_was_told_to_stop_has_not_failed(ended_by: str) -> None:
    assert with_end(said("FAILED", code="143:0"), None, end(143, ended_by)).ended_as is RunStatus.STOPPED


def test_a_command_that_stops_in_order_when_told_so_was_stopped_all_the_same() -> None:
    assert with_end(said("COMPLETED"), None, end(0, "longest_seconds")).ended_as is RunStatus.STOPPED


def test_a_run_that_ended_well_while_the_controller_had_lost_it_succeeded() -> None:
    status = with_end(said("CANCELLED"), Began("1", "n1", 10.0), end(0))
    assert (status.ended_as, status.reason) == (RunStatus.SUCCEEDED, "")
    assert with_end(said("CANCELLED"), None, end(0, "slurm")).ended_as is RunStatus.STOPPED
    assert with_end(said("OUT_OF_MEMORY"), None, end(0)).ended_as is RunStatus.OOM_KILLED


def test_a_job_that_waits_again_after_it_began_is_over() -> None:
    status = with_end(said("PENDING", "BeginTime"), Began("1", "n1", 10.0), None)
    assert (status.state, status.ended_as, status.starts_at) == (JobState.ENDED, RunStatus.STOPPED, None)


def test_a_job_that_was_killed_before_it_could_leave_a_word_has_not_failed_by_itself() -> None:
    begun = Began("1", "n1", 10.0)
    assert with_end(said("FAILED", code="0:9"), begun, None).ended_as is RunStatus.STOPPED
    assert with_end(said("FAILED", code="75:0"), begun, None).ended_as is RunStatus.STOPPED  # a second copy, refused
    assert with_end(said("FAILED", code="3:0"), begun, None).ended_as is RunStatus.FAILED  # a full disk: the code is its own


def test_a_job_that_could_not_begin_is_no_run() -> None:
    for code, reason in (("73:0", "node n1 cannot write its folder"), ("0:53", "it never began")):
        status = with_end(said("FAILED", code=code), None, None)
        assert (status.ended_as, status.started_at) == (RunStatus.STOPPED, None)
        assert status.reason.endswith(reason)


def test_without_slurm_the_script_is_believed() -> None:
    assert status_from_end(end(0)).ended_as is RunStatus.SUCCEEDED
    assert status_from_end(end(4)).exit_code == 4
    assert status_from_end(end(137)).reason == "ended by SIGKILL (exit code 137)"
    assert status_from_end(end(4)).reason == "exit code 4"
    assert status_from_end(end(143, "longest_seconds")).ended_as is RunStatus.STOPPED
    assert status_from_end(end(None)).ended_as is RunStatus.FAILED


def test_the_accounting_tells_of_memory_by_steps() -> None:
    job = {"JobName": "night-1", "State": "CANCELLED by 1000", "ExitCode": "0:15", "Start": "10", "End": "20", "NodeList": "n1"}
    status = status_from_sacct([job, {"State": "FAILED", "MaxRSS": "7724K"}, {"MaxRSS": "2G"}])
    assert status is not None
    assert (status.ended_as, status.started_at, status.ended_at, status.memory_gib) == (RunStatus.STOPPED, 10.0, 20.0, 2.0)
    assert status_from_sacct([]) is None


def test_amounts_of_memory() -> None:
    assert [gib(text) for text in ("1048576K", "512M", "1.5G", "", "0", "lots")] == [1.0, 0.5, 1.5, None, None, None]
