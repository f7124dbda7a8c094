from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jpo.errors import UsageError
from jpo.plugins.launch.project.command import Invocation, interpreter, invocation_of
from jpo.plugins.launch.script import call
from jpo.project.workload import read_workload
from jpo.records.notes import Note

if TYPE_CHECKING:
    from opened_repository import Repository

ARGPARSE = """
import argparse
p = argparse.ArgumentParser()
p.add_argument("--batch-size", type=int)
p.add_argument("--lr", type=float)
p.add_argument("-g", type=int, dest="gpus")
p.parse_args()
"""
CONFIGPARSER = """
import argparse, configparser, torch
p = argparse.ArgumentParser()
p.add_argument("config")
p.add_argument("--batch-size", help="in place of that in config.ini")
c = configparser.ConfigParser()
c.read(p.parse_args().config)
print(c["training"]["batch_size"], c.getfloat("training", "learning_rate"), torch.cuda.device_count())
"""
FUNCTION = "import torch\ndef train(batch_size, lr=1.0, dataset='x'): torch.cuda.init()\n"


def invoked(repository: Repository, text: str, *words: str, engine: str = "local", toml: str = "") -> Invocation:
    path, settings = repository(toml)
    (path.parent / "train.py").write_text(text)
    workload = read_workload(path, settings, now=0.0)
    return invocation_of(["train.py", *words], workload, path.parent, {}, engine=engine)


def test_values_go_to_options_where_a_script_has_them(repository: Repository, tmp_path: Path) -> None:
    made = invoked(repository, ARGPARSE, "--verbose")
    script = str(tmp_path / "train.py")
    assert made.command == (sys.executable, script, "--batch-size=32", "--lr=0.1", "-g", "2", "--verbose")
    assert made.folder == tmp_path


def test_a_config_that_a_script_reads_comes_before_options(repository: Repository, tmp_path: Path) -> None:
    made = invoked(repository, CONFIGPARSER)
    assert made.command[1:] == (str(tmp_path / "train.py"), str(tmp_path / "config.ini"))
    assert made.notes == ()
    mine = invoked(repository, CONFIGPARSER, "other.ini", "--batch-size", "3")
    assert mine.command[2:] == ("other.ini", "--batch-size", "3")


def test_values_go_to_variables_that_a_script_reads(repository: Repository) -> None:
    made = invoked(repository, "import os\nprint(os.environ['BATCH_SIZE'], os.getenv('JPO_LEARNING_RATE'), 'cuda')\n")
    assert made.environment == {"BATCH_SIZE": "32", "JPO_LEARNING_RATE": "0.1"}
    assert made.notes == ()


def test_a_function_is_called_with_the_values_that_it_names(repository: Repository, tmp_path: Path) -> None:
    made = invoked(repository, FUNCTION)
    _, caller, script, function, arguments = made.command
    assert (caller, script, function) == (call.__file__, str(tmp_path / "train.py"), "train")
    assert json.loads(arguments) == {"batch_size": 32, "lr": 0.1, "dataset": "digits"}
    with pytest.raises(UsageError, match="__main__"):
        invoked(repository, FUNCTION, engine="kubernetes")


def test_an_argument_that_nothing_fills_is_told(repository: Repository) -> None:
    with pytest.raises(UsageError, match="needs loader") as caught:
        invoked(repository, "def train(loader): ...\n")
    assert caught.value.code == "JPO-E774"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("print('cuda')", "does not read batch_size, learning_rate:"),
        ("batch_size = lr = 1\nprint('done')", "asks for 2 GPUs, and nothing in the script uses one"),
        ("import keras\nbatch_size = lr = 1\nprint('gpu')", "framework = pytorch, and the script uses keras"),
        ("import os\nbatch_size = lr = 1\nopen('other.ini')\nprint('gpu')", "reads other.ini"),
    ],
)
def test_what_a_person_should_know_is_told(repository: Repository, text: str, words: str) -> None:
    notes = invoked(repository, text).notes
    assert {note.code for note in notes} == {"JPO-W775"}
    assert words in "\n".join(note.text for note in notes)


@pytest.mark.parametrize(
    "text",
    [
        "BATCH_SIZE = 64\nlearning_rate = 0.5\nprint('cuda')",
        "class Config:\n    batch_size: int = 64\n    lr = 0.1\nprint(Config.batch_size, Config.lr, 'cuda')",
    ],
)
def test_values_that_a_script_sets_itself_are_not_read(repository: Repository, text: str) -> None:
    (said,) = invoked(repository, text).notes
    assert said.text.startswith("The script does not read batch_size, learning_rate:")


def test_of_settings_in_other_formats_is_said_how_they_get_values(repository: Repository, tmp_path: Path) -> None:
    script = "import hydra\n@hydra.main()\ndef main(cfg): print(cfg.batch_size, cfg.lr, 'cuda')\nmain()\n"
    (said,) = invoked(repository, script).notes
    assert "from settings that it reads by hydra" in said.text
    assert "${oc.env:JPO_BATCH_SIZE}" in said.text
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/train.yaml").write_text("batch_size: ${oc.env:JPO_BATCH_SIZE}\n")
    assert not invoked(repository, script).notes


def test_options_of_a_subcommand_stand_behind_it(repository: Repository) -> None:
    text = ARGPARSE.replace("p.add", "s.add").replace("()\ns", "()\ns = p.add_subparsers().add_parser('train')\ns", 1)
    assert invoked(repository, text, "train", "--lr", "0.5").command[2:] == ("train", "--lr", "0.5", "--batch-size=32", "-g", "2")


def test_modules_are_looked_for_where_python_is_told_to(repository: Repository, tmp_path: Path) -> None:
    path, settings = repository()
    (tmp_path / "src").mkdir()
    (tmp_path / "src/mine.py").write_text(
        "import os\nbatch_size, lr = os.environ['BATCH_SIZE'], os.environ['LR']\nprint('cuda')\n"
    )
    (tmp_path / "train.py").write_text("import mine\nprint(mine)\n")
    workload = read_workload(path, settings, now=0.0)
    made = invocation_of(["train.py"], workload, tmp_path, {"PYTHONPATH": "/none:src"}, engine="local")
    assert (made.environment, made.notes) == ({"BATCH_SIZE": "32", "LR": "0.1"}, ())


def test_a_package_is_run_as_one(repository: Repository, tmp_path: Path) -> None:
    path, settings = repository()
    (tmp_path / "trainer").mkdir()
    (tmp_path / "trainer/__init__.py").touch()
    (tmp_path / "trainer/__main__.py").write_text("from trainer.core import go\ngo()\n")
    (tmp_path / "trainer/core.py").write_text(f"{ARGPARSE}\ndef go(): print('cuda')\n")
    workload = read_workload(path, settings, now=0.0)
    made = invocation_of(["trainer/__main__.py", "--fast"], workload, tmp_path, {}, engine="local")
    assert made.command == (sys.executable, "-m", "trainer", "--batch-size=32", "--lr=0.1", "-g", "2", "--fast")
    assert (made.folder, made.notes) == (tmp_path, ())
    (said,) = invocation_of(["python", "-m", "trainer", "--lr", "1"], workload, tmp_path, {}, engine="local").notes
    assert said.text.startswith(
        "__main__.py takes --batch-size, -g, which the command does not give it: `jpo run trainer/__main__.py`"
    )


def test_of_a_command_is_said_what_its_script_does_not_get(repository: Repository, tmp_path: Path) -> None:
    path, settings = repository()
    (tmp_path / "train.py").write_text(ARGPARSE + "print('cuda')\n")
    workload = read_workload(path, settings, now=0.0)
    words = ("torchrun", "--nproc-per-node=2", "train.py", "--lr=0.5", "-g", "2")
    made = invocation_of(words, workload, tmp_path, {}, engine="local")
    assert made.command == words
    said = "train.py takes --batch-size, which the command does not give it: `jpo run train.py` gives it what config.ini has"
    assert made.notes == (Note("JPO-W775", said, "train.py"),)
    by_path = invocation_of(("python", str(tmp_path / "train.py")), workload, tmp_path / "sub", {}, engine="local")
    assert "`jpo run ../train.py`" in by_path.notes[0].text
    (tmp_path / "train.py").write_text("no python")
    assert invocation_of(words, workload, tmp_path, {}, engine="local").notes == ()


def test_a_value_is_never_taken_for_an_option(repository: Repository) -> None:
    path, settings = repository('[parameters.optimizer]\nkey = "training.optimizer"\nchoices = ["-config", "adam"]\n')
    path.write_text(path.read_text().replace("[resources]", "optimizer = '-config'\n[resources]"))
    (path.parent / "train.py").write_text(
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--optimizer')\np.parse_args()\n"
    )
    workload = read_workload(path, settings, now=0.0)
    made = invocation_of(["train.py"], workload, path.parent, {}, engine="local")
    assert "--optimizer=-config" in made.command


def test_a_script_starts_where_it_finds_its_config(repository: Repository, tmp_path: Path) -> None:
    path, settings = repository()
    (tmp_path / "train.py").write_text("import configparser\nconfigparser.ConfigParser().read('config.ini')\n")
    workload = read_workload(path, settings, now=0.0)
    (tmp_path / "sub").mkdir()
    made = invocation_of([str(tmp_path / "train.py")], workload, tmp_path / "sub", {}, engine="local")
    assert made.folder == tmp_path


def test_a_command_is_taken_word_by_word(repository: Repository, tmp_path: Path) -> None:
    path, settings = repository()
    workload = read_workload(path, settings, now=0.0)
    assert invocation_of(["make", "a b;c"], workload, tmp_path, {}, engine="local") == Invocation(("make", "a b;c"), tmp_path)
    assert invocation_of([], workload, tmp_path, {}, engine="local") == Invocation(())
    with pytest.raises(UsageError) as caught:
        invocation_of(["none.py"], workload, tmp_path, {}, engine="local")
    assert caught.value.code == "JPO-E773"


def test_scripts_run_in_the_environment_that_is_active(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin/python"
    python.touch(mode=0o755)
    assert interpreter({"VIRTUAL_ENV": str(tmp_path)}) == str(python)
    assert interpreter({"VIRTUAL_ENV": str(tmp_path / "gone"), "CONDA_PREFIX": str(tmp_path)}) == str(python)
    assert interpreter({}) == sys.executable
