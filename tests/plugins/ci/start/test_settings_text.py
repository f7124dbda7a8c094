"""The text of jpo.toml; what commands make of it is in tests/plugins/ci/story/test_init.py."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from jpo.plugins.ci.start.settings_text import missing_lines, parameter_lines, quoted, settings_text
from jpo.project.load import LoadedSettings, load
from jpo.project.workload import read_workload
from jpo.records import Workload

CONFIG = """\
[workload]
dataset = d
model = m
framework = f
[DEFAULT]
rate = 0.1
[training]
batch_size = 16  # jpo: pin
lr = %(rate)s
epochs = 3
"""


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Workload, LoadedSettings]:
    monkeypatch.chdir(tmp_path)
    Path("config.ini").write_text(CONFIG)
    settings = load(Path("config.ini"), None, {}, {})
    return read_workload(Path("config.ini"), settings, now=1.7e9), settings


def test_a_line_frees_nothing_that_is_held(opened: tuple[Workload, LoadedSettings]) -> None:
    assert [line for _, line in parameter_lines(*opened, now=1.7e9)] == [
        '# batch_size = { key = "training.batch_size" }  # stays 16: pinned in config.ini',
        'learning_rate = { key = "DEFAULT.rate" }  # min = 1e-8, max = 100, max_change = 10',
        '# epochs = { key = "training.epochs" }  # stays 3: not freed in jpo.toml; take the first # away to free it',
    ]


def test_lines_that_are_there_are_not_missing(opened: tuple[Workload, LoadedSettings]) -> None:
    workload, _ = opened
    Path("jpo.toml").write_text("[parameters]\nepochs = { freeze = true }\nlearning_rate = { max = 1 }\n")
    lines = missing_lines(workload, load(Path("config.ini"), None, {}, {}), now=1.7e9)
    assert [line[:12] for line in lines] == ["# batch_size"]


def test_an_address_is_named_or_left_to_the_environment(opened: tuple[Workload, LoadedSettings]) -> None:
    for url in ("http://prometheus:9090", None):
        text = settings_text(*opened, config="config.ini", prometheus_url=url, now=1.7e9)
        assert tomllib.loads(text).get("prometheus") == ({"url": url} if url else None)


@pytest.mark.parametrize("text", ["a b", 'say "x" \\ y', "tab\t nl\n nul\0 del\x7f ls\u2028", "ü 数字 🦀", "\u202eabc"])
def test_a_quoted_text_is_the_text(text: str) -> None:
    assert tomllib.loads(f"a = {quoted(text)}")["a"] == text
    assert quoted(text).isprintable()


def test_half_a_character_has_no_toml() -> None:
    assert quoted("a\udcff") == ""


def test_lines_are_those_of_the_config_ini_that_was_read(opened: tuple[Workload, LoadedSettings]) -> None:
    before = list(parameter_lines(*opened, now=1.7e9))
    Path("config.ini").unlink()  # or a disk that fails for a moment: a line that is guessed stays in jpo.toml
    assert list(parameter_lines(*opened, now=1.7e9)) == before
