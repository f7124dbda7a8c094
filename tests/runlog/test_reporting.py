"""Every way from a training job to JPO, through real servers: scraped, pushed, and left behind for node_exporter on SLURM."""

from __future__ import annotations

import getpass
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from jpo.http.endpoint import Endpoint
from jpo.records import Finished, Identity, Quality, Run
from jpo.telemetry.csv.log import read_log
from jpo.telemetry.outcome import Own
from jpo.telemetry.prometheus.names import Names
from jpo.telemetry.prometheus.runs import finished_runs

ROOT = Path(__file__).parents[2]
WORKLOAD = Identity("digits", "cnn", "none")
WAYS = ("scraped", "pushed", "pushed-oom", "slurm", "slurm-killed")
TRAIN = """
import os, sys, time
from jpo.runlog import RunLog
parameters = {"batch_size": 32, "learning_rate": 1e-3, "epochs": 3}
if "oom" in os.environ["JPO_RUN_ID"]:
    parameters["optimizer"] = "sgd"
with RunLog(dataset="digits", model="cnn", framework="none", parameters=parameters, settings=os.environ) as log:
    for epoch in range(1, 4):
        log.batch(32)
        log.batch(32)
        time.sleep(0.3)
        log.epoch(epoch, train_loss=0.7 / epoch, val_loss=0.9 / epoch, val_accuracy=1 - 0.3 / epoch, f1=0.5 + epoch / 8, auc=0.9)
        if epoch == 2 and "oom" in log.run_id:
            raise MemoryError
        if epoch == 2 and "killed" in log.run_id:
            time.sleep(60)
"""


def train(folder: Path, run_id: str, **settings: str) -> subprocess.Popen[bytes]:
    common = {"PYTHONPATH": str(ROOT), "JPO_RUNLOG_DIR": str(folder), "JPO_RUN_ID": run_id, "JPO_REPORT_SECONDS": "0.2"}
    environment = {**os.environ, **common, **settings}
    return subprocess.Popen([sys.executable, "-c", TRAIN], env=environment, stderr=subprocess.DEVNULL)


def scrape_config(file: str, target: str) -> dict[str, object]:
    """The scrape configuration of an example, at another target and faster."""
    (job,) = yaml.safe_load((ROOT / "examples" / file).read_text())["scrape_configs"]
    return {**job, "scrape_interval": "300ms", "scrape_timeout": "300ms", "static_configs": [{"targets": [target]}]}


def slurm_script(name: str, job: str, spool: Path, textfiles: Path) -> str:
    names = {
        "SLURM_JOB_ID": job,
        "SLURM_JOB_USER": getpass.getuser(),
        "JPO_SPOOL": str(spool),
        "JPO_NODE_TEXTFILES": str(textfiles),
    }
    script = ROOT / "examples" / "slurm" / name
    done = subprocess.run([script], env={"PATH": os.environ["PATH"], **names}, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def ask(url: str, query: str) -> list[dict[str, str]]:
    with urllib.request.urlopen(f"{url}/api/v1/query?{urllib.parse.urlencode({'query': query})}", timeout=10) as answer:  # noqa: S310
        return [row["metric"] for row in json.load(answer)["data"]["result"]]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory,
    start_prometheus: Callable[..., str],
    pushgateway: str,
    node_exporter: tuple[str, Path],
) -> tuple[str, Path]:
    """A Prometheus that has seen one run by each way, all over; and the folder of their CSV logs."""
    folder, spool, port = tmp_path_factory.mktemp("runs"), tmp_path_factory.mktemp("spool"), free_port()
    jobs = [
        scrape_config("digits/prometheus.yml", f"127.0.0.1:{port}"),
        scrape_config("kubernetes/prometheus-pushgateway.yml", pushgateway),
        scrape_config("slurm/prometheus-nodes.yml", node_exporter[0]),
    ]
    url = start_prometheus(tmp_path_factory.mktemp("prometheus"), yaml.safe_dump({"scrape_configs": jobs}))
    for name in ("slurm", "slurm-killed"):
        slurm_script("prolog.sh", name, spool, node_exporter[1])
        assert f"export JPO_TEXTFILE_DIR={spool}/{name}\n" in slurm_script("task-prolog.sh", name, spool, node_exporter[1])
    gateway = {"JPO_PUSHGATEWAY_URL": f"http://{pushgateway}", "POD_NAME": "pod-7", "POD_NAMESPACE": "ml"}
    processes = {
        "scraped": train(folder, "scraped", JPO_METRICS_PORT=str(port)),
        "pushed": train(folder, "pushed", **gateway),
        "pushed-oom": train(folder, "pushed-oom", **gateway),
        "slurm": train(folder, "slurm", JPO_TEXTFILE_DIR=str(spool / "slurm")),
        "slurm-killed": train(folder, "slurm-killed", JPO_TEXTFILE_DIR=str(spool / "slurm-killed")),
    }
    victim = spool / "slurm-killed" / "jpo_slurm-killed.prom"
    wait_for(lambda: victim.exists() and "jpo_epoch" in (text := victim.read_text()) and re.search(r"jpo_epoch\{.*\} 2\n", text))
    processes["slurm-killed"].send_signal(signal.SIGKILL)
    codes = {name: process.wait(timeout=60) for name, process in processes.items()}
    assert codes == {"scraped": 0, "pushed": 0, "pushed-oom": 1, "slurm": 0, "slurm-killed": -signal.SIGKILL}
    for name in ("slurm", "slurm-killed"):
        slurm_script("epilog.sh", name, spool, node_exporter[1])
    wait_for(lambda: len(ask(url, "last_over_time(jpo_run_end_time_seconds[1m])")) == len(WAYS))
    return url, folder


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < deadline, "it did not come in 90 seconds"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def finished(server: tuple[str, Path]) -> Finished:
    now = time.time()
    names = Names.of({}, {}, own=Own(metrics={"f1": Quality("f1", more_is_better=True, best=1.0)}))
    return finished_runs(Endpoint(server[0]), WORKLOAD, since=now - 3600, until=now, watermark=None, names=names)


@pytest.fixture(scope="module")
def runs(finished: Finished) -> dict[str, Run]:
    return {run.run_id: run for run in finished.runs}


def test_every_way_leads_to_a_finished_run_though_pushed_and_left_values_stay(finished: Finished) -> None:
    assert (sorted(run.run_id for run in finished.runs), finished.skipped) == (sorted(WAYS), ())


@pytest.mark.parametrize("way", WAYS[:4])
def test_prometheus_has_what_the_log_has(server: tuple[str, Path], runs: dict[str, Run], way: str) -> None:
    logged, run = read_log(server[1] / f"{way}.csv"), runs[way]
    assert (run.status, run.parameters) == (logged.status, logged.parameters)
    assert run.started_at == pytest.approx(logged.started_at, abs=0.002)
    assert run.ended_at == pytest.approx(logged.ended_at, abs=0.002)
    for field in ("samples", "train_loss", "val_loss", "val_accuracy", "memory_gib"):
        assert getattr(run.outcome, field) == getattr(logged.outcome, field), field
    f1 = {"f1": logged.outcome.metrics["f1"]}
    assert (run.outcome.metrics, logged.outcome.metrics) == (f1, {**f1, "auc": 0.9})


def test_a_metric_that_nobody_named_is_not_asked_for(server: tuple[str, Path], finished: Finished) -> None:
    now = time.time()
    plain = finished_runs(Endpoint(server[0]), WORKLOAD, since=now - 3600, until=now, watermark=None)
    assert {run.outcome.val_accuracy for run in plain.runs} == {run.outcome.val_accuracy for run in finished.runs}
    assert all(run.outcome.metrics == {} for run in plain.runs)
    assert plain.requests <= finished.requests


def test_memory_that_ran_out_is_reported(runs: dict[str, Run]) -> None:
    assert (runs["pushed-oom"].status, runs["pushed-oom"].outcome.samples) == ("oom_killed", 128)


def test_the_epilog_ends_a_run_that_was_killed(runs: dict[str, Run]) -> None:
    run = runs["slurm-killed"]
    assert (run.status, run.outcome.samples, run.outcome.val_loss) == ("failed", 128, 0.45)
    assert run.started_at is not None
    assert 0.5 < run.ended_at - run.started_at < 30


def test_the_labels_of_a_pushed_run_are_its_own(server: tuple[str, Path]) -> None:
    (labels,) = ask(server[0], 'jpo_run_info{run_id="pushed"}')
    assert (labels["job"], labels["pod"], labels["namespace"], labels["learning_rate"]) == ("jpo", "pod-7", "ml", "0.001")
    assert not [name for name in labels if name.startswith("exported_")]


def test_node_exporter_finds_nothing_wrong(server: tuple[str, Path], node_exporter: tuple[str, Path]) -> None:
    assert ask(server[0], "node_textfile_scrape_error == 0")
    assert len(list(node_exporter[1].glob("jpo_*.prom"))) == 2


def test_the_epilog_passes_on_nothing_that_is_not_of_jpo(tmp_path: Path) -> None:
    spool, textfiles = tmp_path / "spool", tmp_path / "textfiles"
    (spool / "7").mkdir(parents=True)
    textfiles.mkdir()
    start = 'jpo_run_start_time_seconds{run_id="a"} 1\n'
    (spool / "7" / "jpo_a.prom").write_text(f'node_load1 99\n# HELP jpo_x x\n{start}jpo_run_end_time_seconds{{run_id="a"}} 2\n')
    (spool / "7" / "jpo_link.prom").symlink_to("/etc/passwd")
    (spool / "7" / "jpo_b c.prom").write_text(start)
    os.mkfifo(spool / "7" / "jpo_pipe.prom")
    slurm_script("epilog.sh", "7", spool, textfiles)
    (file,) = textfiles.iterdir()
    assert (file.name, file.read_text()) == ("jpo_7_a.prom", f'{start}jpo_run_end_time_seconds{{run_id="a"}} 2\n')
    assert not (spool / "7").exists()


def test_shipped_files_are_valid(server: tuple[str, Path]) -> None:
    checked = [ROOT / "examples" / name for name in ("kubernetes/prometheus-pushgateway.yml", "slurm/prometheus-nodes.yml")]
    subprocess.run(["promtool", "check", "config", *checked], check=True, capture_output=True)
    for file in [*(ROOT / "examples/kubernetes").iterdir()]:  # Debian's promtool knows nothing of Kubernetes
        assert all([*yaml.safe_load_all(file.read_text())]), file.name


def test_the_job_sets_what_runlog_reads() -> None:
    template = yaml.safe_load((ROOT / "examples/kubernetes/job.yaml").read_text())["spec"]["template"]
    (container,) = template["spec"]["containers"]
    names = {entry["name"] for entry in container["env"]}
    assert names <= set(re.findall(r"`(JPO_\w+|POD_\w+)`", (ROOT / "docs/reporting.md").read_text()))
    assert {"jpo-dataset", "jpo-model", "jpo-framework", "jpo-run-id"} == template["metadata"]["labels"].keys()
    allowed = (ROOT / "examples/kubernetes/kube-state-metrics-values.yaml").read_text()
    assert f"pods=[{','.join(template['metadata']['labels'])}" in allowed  # and what pods without runlog say of themselves
