"""Facts of a model from what frameworks print, and from numbers in scripts."""

from pathlib import Path

import pytest

from jpo.plugins.launch.script.model_facts import printed, written

KERAS = """Model: "sequential"
 Total params: 1,234 (4.82 KB)
 Trainable params: 1,200 (4.69 KB)
 Non-trainable params: 34 (136.00 B)
"""
LIGHTNING = """1 | layer | Linear | 1.1 M | train
1.2 M     Trainable params
0         Non-trainable params
11.7 M    Total params
46.758    Total estimated model params size (MB)
"""
TORCHINFO = "Total params: 11,689,512\nTrainable params: 11,689,512\nNon-trainable params: 0\nTotal mult-adds (G): 1.81\n"
PEFT = "trainable params: 294,912 || all params: 124,734,720 || trainable%: 0.2364\n"
TRAINER = "[INFO|trainer.py:2320] 2026-11-30 >>   Number of trainable parameters = 66,955,010\n"


def facts(total: float | None, trainable: float | None) -> dict[str, float]:
    both = {"model_parameters": total, "trainable_parameters": trainable}
    return {name: value for name, value in both.items() if value is not None}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (KERAS, facts(1234, 1200)),
        (LIGHTNING, facts(11.7e6, 1.2e6)),
        (TORCHINFO, facts(11689512, 11689512)),
        (PEFT, facts(124734720, 294912)),
        (TRAINER, facts(None, 66955010)),
        (LIGHTNING + TORCHINFO, facts(11689512, None)),
        (KERAS + TORCHINFO, {}),
        ("Total params: many\nall params\n", {}),
        ("", {}),
    ],
)
def test_what_frameworks_print_is_read_and_what_contradicts_itself_is_not_known(
    tmp_path: Path, text: str, found: dict[str, float]
) -> None:
    (tmp_path / "output.log").write_text(text)
    assert printed(tmp_path / "output.log") == pytest.approx(found)


def test_without_an_output_nothing_is_known(tmp_path: Path) -> None:
    assert printed(tmp_path / "output.log") == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("model = GPT(n_layer=12)", {"model_layers": 12.0}),
        ("num_layers = 6\nmodel = Net(num_layers=num_layers)", {"model_layers": 6.0}),
        ("num_layers = 6\nLSTM(num_layers=2)", {}),
        ("num_layers = True", {}),
        ("num_layers = config['num_layers']", {}),
        ("this is no Python", {}),
    ],
)
def test_the_layers_of_a_script_are_those_that_it_writes_out(tmp_path: Path, text: str, found: dict[str, float]) -> None:
    (tmp_path / "train.py").write_text(text)
    assert written(tmp_path / "train.py") == found


def test_without_a_script_nothing_is_known(tmp_path: Path) -> None:
    assert written(tmp_path / "nowhere.py") == {}
