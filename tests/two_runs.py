"""`jpo` in a folder with config.ini, jpo.toml and the logs of two runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jpo.__main__ import run

CONFIG = "[workload]\ndataset = digits\nmodel = cnn\nframework = torch\n[training]\nbatch_size = 16\n[resources]\ncpus = 2\n"
TOML = '[csv]\nlogs = ["run-*.csv"]\n[prices]\nusd_per_cpu_hour = 0.04\n'


@pytest.fixture
def jpo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    monkeypatch.delenv("PROMETHEUS_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.ini").write_text(CONFIG)
    (tmp_path / "jpo.toml").write_text(TOML)
    for number, (size, seconds) in enumerate([(16, 100), (64, 40)]):
        (tmp_path / f"run-{number}.csv").write_text(
            f"# run_id=run-{number}\n# dataset=digits\n# model=cnn\n# framework=torch\n# batch_size={size}\n# cpus=2\n"
            f"# start={1000 * number}\ntime,epoch,samples,train_loss,val_loss\n{1000 * number + seconds},1,1500,0.2,0.1\n"
            f"# end={1000 * number + seconds}\n# status=succeeded\n"
        )

    def call(*words: str) -> str:
        capsys.readouterr()
        code = run(list(words))
        out, err = capsys.readouterr()
        assert code == 0, err
        return out

    return call
