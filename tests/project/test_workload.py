from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from jpo.cost import Prices
from jpo.errors import UsageError
from jpo.project.load import load
from jpo.project.workload import NOT_FREED, judged_today, limits_of, read_workload, with_pins
from jpo.records import Note


def test_epochs_change_only_where_jpo_toml_names_them(repository):
    path, settings = repository()
    path.write_text(path.read_text().replace("learning_rate = 0.1", "learning_rate = 0.1\nepochs = 5"))
    assert read_workload(path, settings, now=0.0).parameter("epochs").held == NOT_FREED
    _, named = repository("[parameters.epochs]\nmax = 50\n")
    path.write_text(path.read_text().replace("learning_rate = 0.1", "learning_rate = 0.1\nepochs = 5"))
    assert read_workload(path, named, now=0.0).parameter("epochs").held is None


def test_a_pinned_value_is_held_by_the_guard_and_one_that_is_only_not_freed_is_not(repository):
    path, settings = repository()
    workload = read_workload(path, settings, now=0.0)
    held = {"batch_size": Note("", "pinned in config.ini"), "gpus": NOT_FREED}
    pinned = replace(workload, parameters=tuple(replace(p, held=held.get(p.name)) for p in workload.parameters))
    limits = with_pins(limits_of(settings), pinned)
    assert limits != limits_of(settings)
    assert with_pins(limits_of(settings), replace(pinned, parameters=pinned.parameters[2:])) == limits_of(settings)


def test_a_limit_that_cannot_be_is_a_mistake_in_settings(repository):
    path, settings = repository()
    broken = replace(settings, tables={"parameters": {"batch_size": {"min": "few"}}})
    with pytest.raises(UsageError, match=r"jpo\.toml"):
        limits_of(broken)
    judged = judged_today(read_workload(path, settings, now=0.0), limits_of(settings), Prices())
    assert judged.kept == judged.rules > 0


def test_a_value_of_today_beyond_a_limit_is_named(repository):
    path, settings = repository("[parameters.batch_size]\nmax = 16\n")
    judged = judged_today(read_workload(path, settings, now=0.0), limits_of(settings), Prices())
    assert (judged.rules - judged.kept, *judged.broken) == (1, "batch_size = 32 is above 16, the largest value allowed")


@pytest.mark.parametrize(
    ("said", "place", "job"),
    [
        ('name = "shop"', "config.ini", "shop"),
        ('name = "shop"\nconfig = "a/config.ini"', "a/config.ini", "shop"),
        ('name = "shop"', "jobs/a/config.ini", "shop-jobs-a"),
        ('name = "shop"', "a/night.ini", "shop-a-night"),
        ('dataset = "d"\nmodel = "m"\nframework = "f"', "config.ini", "d/m/f"),
    ],
)
def test_one_jpo_toml_names_several_files_and_none_twice(
    said: str, place: str, job: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".git").mkdir()
    Path("jpo.toml").write_text(f"[workload]\n{said}\n")
    Path(place).parent.mkdir(parents=True, exist_ok=True)
    Path(place).write_text("[training]\nbatch_size = 32\n")
    assert str(read_workload(Path(place), load(Path(place), None, {}, {}), now=0.0).identity) == job


def test_parts_that_jpo_toml_says_make_no_two_files_one_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".git").mkdir()
    Path("jpo.toml").write_text('[workload]\ndataset = "d"\nmodel = "m"\nframework = "f"\n')
    Path("b").mkdir()
    Path("b/config.ini").write_text("[training]\nbatch_size = 32\n")
    with pytest.raises(UsageError, match="does not say which job this is"):
        read_workload(Path("b/config.ini"), load(Path("b/config.ini"), None, {}, {}), now=0.0)
    Path("b/config.ini").write_text("[training]\nmodel = other\nbatch_size = 32\n")
    Path("jpo.toml").write_text('[workload]\ndataset = "d"\nframework = "f"\n')
    assert str(read_workload(Path("b/config.ini"), load(Path("b/config.ini"), None, {}, {}), now=0.0).identity) == "d/other/f"


@pytest.mark.parametrize(
    "said", ['name = " "', 'name = "a\\u001b"', 'name = "a"\nmodel = "b"', 'name = "a"\nidentity = { model = "x.y" }']
)
def test_an_identity_that_is_no_name_or_said_twice_is_refused(said: str, tmp_path: Path) -> None:
    (tmp_path / "jpo.toml").write_text(f"[workload]\n{said}\n")
    with pytest.raises(UsageError, match="workload"):
        load(tmp_path / "config.ini", None, {}, {})
