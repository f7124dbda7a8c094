from __future__ import annotations

import re
from pathlib import Path

from jpo.plugin import load as load_part
from jpo.plugins.launch import engines
from jpo.plugins.launch.engines import OWN, described
from jpo.plugins.launch.engines.base_table import EngineTable
from jpo.plugins.launch.engines.kubernetes.launcher import KubernetesLauncher
from jpo.plugins.launch.job import LaunchJob
from jpo.plugins.launch.project.engines import launcher_of
from jpo.project.load import load
from jpo.records import Identity


def test_every_engine_that_jpo_toml_may_name_can_be_made() -> None:
    for name in OWN:
        engine = described(name)
        assert callable(load_part(engine.launcher))
        assert engine.table is None or issubclass(load_part(engine.table), EngineTable)


def test_a_folder_that_describes_itself_and_its_name_are_all_that_an_engine_needs() -> None:
    folders = {path.parent.name for path in Path(engines.__file__).parent.glob("*/__init__.py")}
    assert folders == {*OWN}
    launch = Path(engines.__file__).parents[1]
    others = [path for path in launch.rglob("*.py") if "engines" not in path.relative_to(launch).parts]
    assert [path for path in others if re.search(r"\"(slurm|kubernetes)\"", path.read_text("utf-8"))] == []


def test_kubernetes_is_made_of_its_table_and_asks_nobody(tmp_path: Path) -> None:
    (tmp_path / "config.ini").touch()
    table = '[launch.kubernetes]\nimage = "x:1"\nnamespace = "ml"\nuser = 1000\nworkdir = "/workspace"\n'
    table += 'claims = { datasets = "/data" }\n'
    (tmp_path / "jpo.toml").write_text(table)
    launcher = launcher_of(load(tmp_path / "config.ini", None, {}, {}), "kubernetes", environ={"KUBECONFIG": "/nowhere"})
    assert isinstance(launcher, KubernetesLauncher)
    job = LaunchJob("night-1", Identity("digits", "cnn", "pytorch"), ("train",), tmp_path)
    made = str(launcher.plan(job))
    assert all(text in made for text in ("'image': 'x:1'", "'namespace': 'ml'", "'runAsUser': 1000", "'mountPath': '/data'"))
