"""The seam: how plugins are found, what a broken one does, and the example of one from a wheel of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jpo import plugin
from jpo.__main__ import run

ROOT = Path(__file__).parents[1]
CONFIG = "[workload]\ndataset = d\nmodel = m\nframework = f\n[training]\nbatch_size = 16\n"


@pytest.fixture(autouse=True)
def found_anew() -> Iterator[None]:
    yield
    plugin.own.cache_clear()
    plugin.others.cache_clear()


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of JPO's plugins is not there any more."""
    monkeypatch.setattr(plugin, "OWN", (*plugin.OWN, "gone"))
    plugin.own.cache_clear()


def test_every_part_of_every_plugin_is_where_it_says() -> None:
    for each in plugin.plugins():
        tables = (each.commands, each.settings, each.checks, each.offers)
        places = [place for table in tables for place in table.values()]
        places += [place for place in (each.sources, each.context, each.past_context, each.queue, each.events) if place]
        assert [place for place in places if isinstance(plugin.part_of(each, place), plugin.Broken)] == []
        assert all(place.startswith(f"jpo.plugins.{each.name}") for place in places)


def test_describing_the_plugins_imports_nothing_of_them() -> None:
    code = "import sys; from jpo import plugin; plugin.own(); print([n for n in sys.modules if n.startswith('jpo.plugins.')])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found == f"{[f'jpo.plugins.{name}' for name in plugin.OWN]}\n"


@pytest.mark.usefixtures("broken")
def test_a_plugin_that_cannot_be_imported_is_one_warning_and_the_rest_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config.ini").write_text(CONFIG)
    assert run(["check", "config.ini"]) == 0
    err = capsys.readouterr().err
    assert err.count("plugin gone cannot be imported (ModuleNotFoundError") == 1
    assert "[JPO-W002]" in err
    assert run(["doctor", "--offline", "-o", "json"]) == 0
    assert '"code":"JPO-W002"' in capsys.readouterr().out.replace(": ", ":")


def test_a_command_whose_module_is_gone_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lost = plugin.Plugin("lost", commands={"seek": "jpo.plugins.nowhere:seek"})
    monkeypatch.setattr(plugin, "own", lambda: (lost,))
    assert run(["seek"]) == 2
    err = capsys.readouterr().err
    assert "plugin lost cannot be imported" in err
    assert "No such command 'seek'" in err


def test_an_entry_point_that_is_broken_is_an_error_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    point = metadata.EntryPoint("odd", "no.such.module:Engine", "jpo.engines")
    monkeypatch.setattr(metadata, "entry_points", lambda **_named: (point,))
    with pytest.raises(plugin.UsageError, match=r"jpo\.engines odd: cannot be imported"):
        plugin.from_package("jpo.engines", "odd")


def test_a_plugin_from_a_wheel_of_its_own_adds_a_command_a_table_and_an_engine(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-qq", "install", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(tmp_path / "site"), str(ROOT / "examples/plugin")], check=True, capture_output=True)
    (tmp_path / "config.ini").write_text(CONFIG)
    (tmp_path / "jpo.toml").write_text("[plugins.night_shift]\nbegins = 23\n[launch]\non = 'dry'\n")

    def jpo(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path / "site")])}
        command = [sys.executable, "-m", "jpo", *words]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    assert jpo("night-shift").stdout == "the night shift begins at 23:00\n"
    assert "night_shift  night-shift: when nobody waits for a GPU" in jpo("--help").stdout
    assert "in addition to JPO's own: night_shift" in jpo("doctor", "--offline").stdout
    assert "begins = 23" in jpo("config", "show").stdout
    done = jpo("run", "config.ini", "--run-id", "night-1", "--", "python", "train.py")
    assert "run night-1: ended well, and wrote no run log" in done.stderr
    assert (tmp_path / ".jpo/launches/night-1/output.log").read_text() == "python train.py\n"
    (tmp_path / "jpo.toml").write_text("[plugins.night_shift]\nbegin = 23\n")
    assert "unknown key [plugins] night_shift.begin" in jpo("config", "check").stderr
