from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from jpo.errors import UsageError
from jpo.plugins.launch.script.analysis import EntryFunction, TrainingScript, analysis_of


def script(folder: Path, text: str, name: str = "train.py") -> Path:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(dedent(text))
    return folder / name


def analysed(folder: Path, text: str) -> TrainingScript:
    return analysis_of(script(folder, text))


def test_options_of_argparse_are_found_by_every_spelling(tmp_path: Path) -> None:
    found = analysed(
        tmp_path,
        """
        import argparse
        p = argparse.ArgumentParser()
        p.add_argument("-b", "--batch-size", type=int)
        p.add_argument("--lr", dest="learning_rate")
        p.add_argument("--config", default="x.ini")
        p.parse_args()
        """,
    )
    assert found.options["batch_size"] == "--batch-size"
    assert found.options["learning_rate"] == found.options["lr"] == "--lr"
    assert found.config.option == "--config"


def test_options_of_click_and_absl_are_found(tmp_path: Path) -> None:
    found = analysed(
        tmp_path,
        """
        import click
        from absl import flags
        flags.DEFINE_integer("epochs", 3, "how many")
        @click.command()
        @click.argument("config_file")
        @click.option("--batch-size", "-b", "size", type=int)
        @click.option("--depth/--no-depth")
        def main(config_file, size, depth): ...
        main()
        """,
    )
    assert (found.options["batch_size"], found.options["epochs"], found.options["depth"]) == (
        "--batch-size",
        "--epochs",
        "--depth",
    )
    assert found.config.option == ""


@pytest.mark.parametrize(
    "text",
    [
        "import sys, configparser\nc = configparser.ConfigParser()\nc.read(sys.argv[1])",
        'import argparse\np = argparse.ArgumentParser()\np.add_argument("cfg")\np.parse_args()',
    ],
)
def test_the_path_of_a_config_may_be_an_argument_without_a_name(tmp_path: Path, text: str) -> None:
    assert analysed(tmp_path, text).config.option == ""


def test_an_argument_for_settings_in_another_format_is_not_given_a_config_ini(tmp_path: Path) -> None:
    text = "import argparse, yaml\np = argparse.ArgumentParser()\np.add_argument('--config')\np.parse_args()\n"
    assert analysed(tmp_path, text).config.option is None
    assert analysed(tmp_path, f"import configparser\n{text}").config.option == "--config"


def test_a_switch_takes_no_value(tmp_path: Path) -> None:
    text = "p.add_argument('--gpus', action='store_true')\noption('--epochs', is_flag=True)\noption('--lr', action='store')\n"
    assert set(analysed(tmp_path, text).options) == {"lr"}


def test_keys_variables_and_files_are_found(tmp_path: Path) -> None:
    found = analysed(
        tmp_path,
        """
        import configparser, os
        c = configparser.ConfigParser()
        c.read("conf/job.ini")
        a = c["training"]["Batch_Size"], c.getfloat("training", "lr"), c["model"].get("depth")
        b = os.environ["GPUS"], os.environ.get("EPOCHS"), os.getenv("SEED", "1")
        print(a, b)
        """,
    )
    assert found.config.names == ("conf/job.ini",)
    assert {"batch_size", "lr", "depth"} <= found.keys
    assert found.variables == {"GPUS", "EPOCHS", "SEED"}
    assert not found.reads_all
    assert found.config.is_read


@pytest.mark.parametrize(
    "text", ['dict(c["training"])', 'f(**c["training"])', 'c.items("training")', "c._sections", "import hydra", "import tyro"]
)
def test_what_is_taken_as_a_whole_is_not_taken_for_unread(tmp_path: Path, text: str) -> None:
    assert analysed(tmp_path, text).reads_all


def test_framework_and_gpu_are_found(tmp_path: Path) -> None:
    found = analysed(
        tmp_path,
        """
        import torch, torchvision
        from sklearn.datasets import load_digits
        net = torchvision.models.resnet18()
        data = torchvision.datasets.CIFAR10("x")
        if torch.cuda.is_available(): net.to("cuda")
        """,
    )
    assert found.frameworks == ("pytorch", "scikit-learn")
    assert found.uses_gpu
    assert not analysed(tmp_path, "import torch\nprint(config['gpus'])").uses_gpu
    assert analysed(tmp_path, "import tensorflow\nprint(1)").uses_gpu  # by itself


def test_modules_beside_the_script_are_read_with_it_and_nothing_is_executed(tmp_path: Path) -> None:
    script(tmp_path, "import os\nos.abort()\nx = os.environ['BATCH']\nimport train", "options.py")
    script(tmp_path, "import os\ny = os.environ['EPOCHS']", "pack/__init__.py")
    found = analysed(tmp_path, "import options, pack\nfrom . import nowhere\nprint('hello')")
    assert found.variables == {"BATCH", "EPOCHS"}


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        (
            "def train(batch_size, lr=0.1, *, epochs): ...",
            EntryFunction("train", ("batch_size", "lr", "epochs"), ("batch_size", "epochs")),
        ),
        ("def run(): ...\ndef main(**values): ...", EntryFunction("main", (), (), takes_any=True)),
        ("def train_model(): ...\nLR = float('0.1')", EntryFunction("train_model", (), ())),
        ("def main(): ...\nif __name__ == '__main__':\n    main()", None),
        ("def main(): ...\nraise SystemExit(main())", None),
        ("def train(): ...\nfor _ in range(3): print(1)", None),
        ("print('it runs')", None),
        ("def other(): ...", None),
    ],
)
def test_only_a_file_that_does_nothing_by_itself_has_a_function_to_call(tmp_path: Path, text: str, entry: EntryFunction) -> None:
    assert analysed(tmp_path, text).entry == entry


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"def f(:", "JPO-E774"),
        (b"a\0b", "JPO-E774"),
        (b"(" * 100_000, "JPO-E774"),
        (b"\xff\xfe\x00", "JPO-E774"),
        (b"x" * (5 * 2**20), "JPO-E773"),
    ],
)
def test_what_is_no_python_is_refused_in_one_line(tmp_path: Path, content: bytes, code: str) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        analysis_of(file)
    assert caught.value.code == code
    assert "\n" not in str(caught.value)
