from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from followed_runs import PRICES, FileCgroup, followed_pod, measured_pod
from kubernetes_cluster import Cluster, Play, kubeconfig, serving

from jpo.errors import LaunchError, UsageError
from jpo.history import AuditRecord, open_store
from jpo.plugins.launch.engines.kubernetes.live import LivePod
from jpo.plugins.launch.engines.kubernetes.session import Connected, Session
from jpo.plugins.phases.following.cgroup import Cgroup
from jpo.plugins.phases.model import PhaseModel
from jpo.plugins.phases.report.followed import Followed
from jpo.plugins.phases.requests.allocate import allocate
from jpo.plugins.phases.requests.evaluate import standings
from jpo.plugins.phases.story.follow import FollowTerms, follow
from jpo.plugins.phases.traces import Traces

Case = Callable[..., FileCgroup]


@pytest.fixture
def case(made: Traces, tmp_path: Path) -> Case:
    def make(at: int = 6) -> FileCgroup:
        folder = tmp_path / f"train-{at}"
        folder.mkdir()
        return FileCgroup(folder, made.executions[at])

    return make


def carried_out(run: FileCgroup, model: PhaseModel, *, apply: bool = True) -> list[Followed]:
    return [*follow(model, Cgroup(run.folder, run.clock, apply=apply), run.terms(apply=apply))]


def audited(run: FileCgroup) -> tuple[AuditRecord, ...]:
    with open_store(f"sqlite:///{run.folder.parent}/history.db") as store:
        return store.audit_records()


def limits(run: FileCgroup) -> tuple[str, str]:
    return (run.folder / "cpu.max").read_text().strip(), (run.folder / "memory.high").read_text().strip()


def test_online_saves_what_the_offline_figure_promises_and_kills_nothing(case: Case, made: Traces, learnt: PhaseModel) -> None:
    promised = standings(allocate(learnt, replace(made, executions=made.executions[6:])))
    runs = [case(at) for at in (6, 7, 8)]
    came_to = [carried_out(run, learnt)[-1] for run in runs]
    cpu, memory = np.mean([last.state.shares for last in came_to], axis=0)
    assert cpu <= promised.cpu.mean + 0.05
    assert memory <= promised.memory.mean + 0.05
    assert [run.killed for run in runs] == [0, 0, 0]
    assert all(last.resizes > 5 for last in came_to)
    assert {limits(run) for run in runs} == {("350000 100000", "max")}


def test_each_resize_is_on_the_audit_log_with_what_it_should_save_and_did(case: Case, learnt: PhaseModel) -> None:
    run = case()
    last = carried_out(run, learnt)[-1]
    records = audited(run)
    made, settled = ([one for one in records if one.kind == kind] for kind in ("adjusted", "adjustment settled"))
    assert len(made) == last.resizes
    assert len(settled) == len(made)
    assert all(one.data["run_id"] == str(run.folder) and one.data["kind"] == "resize" for one in records)
    for before, after in zip(made, settled, strict=True):
        assert after.data["expected"] == before.data["expected"]
        assert after.data["actual"]["usd"] is not None  # type: ignore[index, call-overload]


def test_without_apply_nothing_is_written(case: Case, learnt: PhaseModel) -> None:
    run = case()
    steps = carried_out(run, learnt, apply=False)
    assert sum(step.resized for step in steps) == steps[-1].resizes > 5
    assert limits(run) == ("350000 100000", "max")
    assert not (run.folder.parent / "history.db").exists()


def test_the_first_request_is_back_after_an_interrupt(case: Case, learnt: PhaseModel) -> None:
    run = case()

    def interrupt() -> None:
        assert limits(run) != ("350000 100000", "max")
        raise KeyboardInterrupt

    run.meanwhile[60] = interrupt
    with pytest.raises(KeyboardInterrupt):
        carried_out(run, learnt)
    assert limits(run) == ("350000 100000", "max")
    assert audited(run)[-1].kind == "adjustment settled"


def test_whoever_was_killed_leaves_a_request_whose_first_is_found_again(case: Case, learnt: PhaseModel) -> None:
    run = case()
    steps = follow(learnt, Cgroup(run.folder, run.clock, apply=True), run.terms())
    for step in steps:
        if step.resizes > 3:
            break
    left = limits(run)
    assert left != ("350000 100000", "max")
    steps.gi_frame.f_locals  # noqa: B018 - it is still open: as if killed, nothing has cleaned up
    again = follow(learnt, Cgroup(run.folder, run.clock, apply=True), run.terms())
    first = next(again).first
    assert first == (3.5, 4e9)
    again.close()
    assert limits(run)[0] == "350000 100000"


def test_a_cgroup_that_vanishes_is_an_end(case: Case, learnt: PhaseModel) -> None:
    run = case()
    run.meanwhile[40] = lambda: shutil.rmtree(run.folder)
    assert len(carried_out(run, learnt)) == 39


def test_a_cgroup_that_vanishes_while_it_is_resized_is_an_end_too(case: Case, learnt: PhaseModel) -> None:
    run = case()
    cgroup = Cgroup(run.folder, run.clock, apply=True)
    cgroup.give = lambda _request: shutil.rmtree(run.folder, ignore_errors=True)  # type: ignore[method-assign]
    assert len([*follow(learnt, cgroup, run.terms())]) == 1


def test_nothing_measured_for_long_is_a_doubt(case: Case, learnt: PhaseModel) -> None:
    run = case()
    cgroup = Cgroup(run.folder, run.clock, apply=True)
    usual = cgroup.samples
    cgroup.samples = lambda: usual() if run.at < 50 or run.at > 60 else ()  # type: ignore[method-assign]
    steps = [*follow(learnt, cgroup, run.terms())]
    doubts = [step for step in steps if "nothing was measured" in step.state.doubt]
    assert doubts
    assert {step.request for step in doubts} == {(3.5, 4e9)}
    assert not steps[-1].state.doubt


def test_a_server_without_an_answer_is_a_doubt_and_no_end(case: Case, learnt: PhaseModel) -> None:
    run = case()
    cgroup = Cgroup(run.folder, run.clock, apply=True)
    usual = cgroup.samples

    def samples():  # type: ignore[no-untyped-def]
        if run.at == 50:
            raise LaunchError("the API server", "does not answer", code="JPO-E754")
        return usual()

    cgroup.samples = samples  # type: ignore[method-assign]
    steps = [*follow(learnt, cgroup, run.terms())]
    (doubt,) = [step for step in steps if "does not answer" in step.state.doubt]
    assert doubt.request == (3.5, 4e9)


def test_a_limit_that_is_not_kept_ends_it(case: Case, learnt: PhaseModel) -> None:
    run = case()
    cgroup = Cgroup(run.folder, run.clock, apply=True)
    cgroup.held = lambda: (3.5, 4e9)  # type: ignore[method-assign]
    with pytest.raises(LaunchError, match="after it was given") as caught:
        [*follow(learnt, cgroup, run.terms())]
    assert caught.value.code == "JPO-E737"
    assert limits(run) == ("350000 100000", "max")


def test_a_model_of_other_columns_is_refused_before_anything_is_done(case: Case, learnt: PhaseModel) -> None:
    run = case()
    with pytest.raises(UsageError, match="fitted without"):
        carried_out(run, replace(learnt, needs=None))
    assert limits(run) == ("350000 100000", "max")


def test_a_pod_saves_as_much_by_the_api_and_keeps_its_limits(made: Traces, learnt: PhaseModel, tmp_path: Path) -> None:
    trace = made.executions[6]
    cluster = Cluster(lambda: float(trace.times[0]), lambda _command: Play())
    cluster.objects["pods", "ml", "train-0"] = pod = followed_pod("3500m")
    terms = FollowTerms(
        True, lambda: open_store(f"sqlite:///{tmp_path}/history.db"), PRICES, lambda: 0.0, measured_pod(cluster, pod, trace)
    )
    with serving(cluster) as url:
        config = str(kubeconfig(tmp_path / "kubeconfig", url))
        live = LivePod(Session(lambda: Connected(None, config), lambda _: None), "ml/train-0")
        last = [*follow(learnt, live, terms)][-1]
    (promised,) = allocate(learnt, replace(made, executions=(trace,)))
    offline = (promised.requests / trace.values.max(0)).mean(0)
    assert (last.state.shares <= offline + 0.05).all()
    assert last.resizes > 5
    assert pod["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "4", "memory": "4Gi"}
