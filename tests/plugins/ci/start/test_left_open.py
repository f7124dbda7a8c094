"""What init proposes where config.ini leaves something open."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from jpo.plugins.ci.start.left_open import decided, identity_lines, name_of
from jpo.project.load import load

NUMBERS = "[training]\nbatch_size = 32\nlr = 0.01\n"
NOTHING = ("dataset", "model", "framework")


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that was cloned, with a config.ini that says nothing of its job."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text('[remote "origin"]\n\turl = git@gitlab.example.com:vision/street-signs.git\n')
    Path("config.ini").write_text(NUMBERS)
    return Path("config.ini")


def lines(config: Path) -> list[str]:
    return [chosen.line for chosen in decided(config, load(config, None, {}, {}), now=1.7e9)[2]]


def test_the_repository_gives_the_name_and_the_folder_is_part_of_it(config: Path) -> None:
    assert lines(config) == ['name = "street-signs"']
    Path("jobs/a b").mkdir(parents=True)
    assert name_of(Path("jobs/a b/config.ini")) == "street-signs-jobs-a-b"


@pytest.mark.parametrize(
    ("url", "name"),
    [("https://ci:hunter2@host/team/signs/", "signs"), ("https://ci:hunter2@host", None), ("/srv/git/signs.git", "signs")],
)
def test_no_secret_of_an_address_becomes_a_name(config: Path, url: str, name: str | None) -> None:
    Path(".git/config").write_text(f'[remote "origin"]\n\turl = {url}\n')
    assert name_of(config) == (name or re.sub(r"[^\w.]+", "-", config.resolve().parent.name))


def test_what_the_script_reports_comes_first(config: Path) -> None:
    Path("train.py").write_text('with jpo.runlog.RunLog(name="signs-v2", parameters={}, settings={}):\n    pass\n')
    Path("broken.py").write_text("def (")
    assert lines(config) == ['name = "signs-v2"']
    Path("train.py").write_text('RunLog(dataset="gtsrb", model=args.model, framework="jax", parameters={}, settings={})\n')
    assert lines(config) == ['dataset = "gtsrb"', 'model = "street-signs"', 'framework = "jax"']


@pytest.mark.parametrize("attack", ['a"]\\n[store]\\nurl = "x', "a\\x1b[31m", "", "${HOME}"])
def test_a_script_writes_nothing_but_a_plain_name_into_jpo_toml(config: Path, attack: str) -> None:
    Path("train.py").write_text(f"RunLog(name='{attack}', parameters={{}}, settings={{}})\n")
    assert [tomllib.loads(line) for line in identity_lines(config, NOTHING)] == [{"name": "street-signs"}]


def test_the_framework_is_what_the_script_imports(config: Path) -> None:
    config.write_text(f"[data]\ndataset_name = imdb\n[model]\nmodel_name_or_path = distilbert\n{NUMBERS}")
    Path("train.py").write_text("import torch\nfrom transformers.trainer import Trainer\n")
    assert lines(config) == ['framework = "transformers"']
    Path("train.py").write_text("print()\n")
    assert lines(config) == ['framework = "python"']


def test_of_two_options_the_first_is_chosen_and_what_only_the_team_frees_stays(config: Path) -> None:
    config.write_text("[job]\ndataset=d\nmodel=m\nframework=f\n[a]\nbatch_size=1\nepochs=2\n[b]\nbatch_size=3\nepochs=4\n")
    assert lines(config) == ['batch_size = { key = "a.batch_size" }', 'epochs = { key = "a.epochs", freeze = true }']


def test_a_batch_that_deepspeed_checks_against_all_its_parts_stays(config: Path) -> None:
    parts = "train_batch_size = 64\ntrain_micro_batch_size_per_gpu = 8\n"
    config.write_text(f"[job]\ndataset=d\nmodel=m\nframework=f\nlr=0.1\n{parts}")
    assert lines(config) == ['batch_size = { key = "job.train_batch_size" }']
    config.write_text(f"[job]\ndataset=d\nmodel=m\nframework=f\nlr=0.1\n{parts}gradient_accumulation_steps = 2\n")
    assert lines(config) == ['batch_size = { key = "job.train_batch_size", freeze = true }']
