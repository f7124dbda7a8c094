from __future__ import annotations

from pathlib import Path

from jpo.plugins.launch.engines import OWN
from jpo.plugins.launch.engines.kubernetes.launcher import KubernetesLauncher
from jpo.plugins.launch.job import LaunchJob
from jpo.plugins.launch.project.engines import ENGINES, launcher_of, ledger_of
from jpo.project.load import load
from jpo.records import Identity


def test_every_engine_that_jpo_toml_may_name_can_be_made() -> None:
    assert tuple(ENGINES) == OWN


def test_kubernetes_is_made_of_its_table_and_asks_nobody(tmp_path: Path) -> None:
    (tmp_path / "config.ini").touch()
    table = '[launch.kubernetes]\nimage = "x:1"\nnamespace = "ml"\nuser = 1000\nworkdir = "/workspace"\n'
    table += 'claims = { datasets = "/data" }\n'
    (tmp_path / "jpo.toml").write_text(table)
    launcher = launcher_of(load(tmp_path / "config.ini", None, {}, {}), "kubernetes", environ={"KUBECONFIG": "/nowhere"})
    assert isinstance(launcher, KubernetesLauncher)
    job = LaunchJob("night-1", Identity("digits", "cnn", "pytorch"), ("train",), tmp_path)
    made = str(launcher.manifest(job))
    assert all(text in made for text in ("'image': 'x:1'", "'namespace': 'ml'", "'runAsUser': 1000", "'mountPath': '/data'"))


def test_the_ledger_is_beside_the_store(tmp_path: Path) -> None:
    (tmp_path / "config.ini").touch()
    (tmp_path / "jpo.toml").touch()
    assert ledger_of(load(tmp_path / "config.ini", None, {}, {})) == tmp_path / ".jpo/launches"
