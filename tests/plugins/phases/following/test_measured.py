"""A pod whose samples a real Prometheus has."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from jpo.errors import TelemetryError
from jpo.http.endpoint import Endpoint
from jpo.plugins.phases.following.measured import MeasuredPod
from jpo.project.load import load


class Running:
    name, first, least, pod, over = "ml/train-0", (2.0, 2e9), (0.0, 0.0), ("ml", "train-0"), False

    def samples(self) -> tuple[()] | None:
        return None if self.over else ()

    def held(self) -> tuple[float, float]:
        return self.first

    def give(self, request: tuple[float, float]) -> None: ...


@pytest.fixture(scope="module")
def server(start_prometheus, tmp_path_factory) -> Endpoint:  # type: ignore[no-untyped-def]
    """One that scraped a pod every 15 s in the last five minutes, at 1.5 cores and 1 GB, and another one."""
    folder, now, lines = tmp_path_factory.mktemp("measured"), time.time(), ""
    for metric, of in (
        ("container_cpu_usage_seconds_total", lambda at: 1.5 * at),
        ("container_memory_working_set_bytes", lambda _: 1e9),
    ):
        for pod in ("train-0", "train-00"):
            for at in range(0, 300, 15):
                labels = f'namespace="ml",pod="{pod}",container="job",id="/{pod}"'
                lines += f"{metric}{{{labels}}} {of(at) * (1 if pod == 'train-0' else 7)} {now - 300 + at:.3f}\n"
    (folder / "lines.om").write_text(f"{lines}# EOF\n")
    backfill = ["promtool", "tsdb", "create-blocks-from", "openmetrics", "--quiet", folder / "lines.om", folder / "data"]
    subprocess.run(backfill, check=True, capture_output=True, timeout=60)
    return Endpoint(start_prometheus(folder), timeout_seconds=30)


def pod(server: Endpoint, folder: Path) -> MeasuredPod:
    (folder / "jpo.toml").write_text("")
    return MeasuredPod(Running(), server, load(None, folder / "jpo.toml", {}, {}))


def test_each_sample_of_the_pod_counts_once(server: Endpoint, tmp_path: Path) -> None:
    measured = pod(server, tmp_path)
    samples = measured.samples()
    assert samples is not None
    assert len(samples) > 10
    assert {round(sample.cores, 2) for sample in samples[1:]} == {1.5}
    assert {sample.memory_bytes for sample in samples} == {1e9}
    assert measured.samples() == []
    assert (measured.name, measured.first, measured.held()) == ("ml/train-0", (2.0, 2e9), (2.0, 2e9))


def test_one_that_ended_has_no_samples_whatever_the_server_says(server: Endpoint, tmp_path: Path) -> None:
    measured = pod(server, tmp_path)
    measured._live.over = True  # type: ignore[attr-defined]
    assert measured.samples() is None


def test_a_server_that_is_gone_says_so(tmp_path: Path) -> None:
    with pytest.raises(TelemetryError):
        pod(Endpoint("http://127.0.0.1:9"), tmp_path).samples()
