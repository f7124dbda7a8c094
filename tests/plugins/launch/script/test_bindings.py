from __future__ import annotations

import ast

import pytest

from jpo.plugins.launch.script.bindings import field_options, field_variables, hands_on_settings, own_values


def nodes(text: str) -> list[ast.AST]:
    return [*ast.walk(ast.parse(text))]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("BATCH_SIZE = 32\nlr: float = -0.1", {"batch_size", "lr"}),
        ("class Config:\n    epochs = 9\n    name: str = 'adam'", {"epochs", "name"}),
        ("a, (b, c) = 1, (2, f())", {"a", "b"}),
        ("batch_size = 32\nbatch_size = int(given)", set()),
        ("batch_size = 32\nconfig.batch_size = read()", set()),
        ("batch_size = 32\nbatch_size *= 2", set()),
        ("batch_size = 32\nfor batch_size in (1, 2): pass", set()),
        ("batch_size = 32\nwith f() as batch_size: pass", set()),
        ("batch_size = 32\nif (batch_size := f()): pass", set()),
        ("batch_size = 32\nsetattr(here, name, value)", set()),
        ("batch_size = 32\nglobals().update(found)", set()),
        ("batch_size: int\nlr = None", set()),
    ],
)
def test_names_that_a_script_sets_to_values_of_its_own(text: str, names: set[str]) -> None:
    assert own_values(nodes(text)) == names


FIELDS = "class Args:\n    batch_size: int = 32\n    lr: float = 0.1\n"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("p.add_argument(f'--{f.name}')", {"batch_size": "--batch_size", "lr": "--lr"}),
        ("p.add_argument('--' + f.name.replace('_', '-'))", {"batch_size": "--batch-size", "lr": "--lr"}),
        ("HfArgumentParser(Args)", {"batch_size": "--batch_size", "lr": "--lr"}),
        ("p.add_argument('--seed')", {}),
    ],
)
def test_fields_are_options_where_options_are_made_of_names(text: str, options: dict[str, str]) -> None:
    assert dict(field_options(nodes(FIELDS + text), {"add_argument"})) == options


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("for n, d in {'lr': 0.1, 'epochs': 3}.items(): p.add_argument('--' + n, default=d)", ["lr", "epochs"]),
        ("D = {'lr': 0.1}\nfor n in D:\n    p.add_argument(f'--{n}')", ["lr"]),
        ("for n, kind in [('lr', float), ('epochs', int)]:\n    p.add_argument(f'--{n}', type=kind)", ["lr", "epochs"]),
        ("for n in ('lr', 'epochs'): p.add_argument(f'--{n}')", ["lr", "epochs"]),
        ("for n in names(): p.add_argument(f'--{n}')\nlog({'lr': 0.1})\nfor n in {'epochs': 3}: print(n)", []),
        ("for n in {'lr': 0.1, None: 2, **more}: p.add_argument(f'--{n}')", ["lr"]),
    ],
)
def test_words_of_a_table_are_options_where_a_loop_over_it_makes_them(text: str, names: list[str]) -> None:
    assert [name for name, _ in field_options(nodes(text), {"add_argument"})] == names


@pytest.mark.parametrize(
    ("text", "hands_on"),
    [
        ("c = configparser.ConfigParser()\nlib.train(c)", True),
        ("c = ConfigParser()\nc.read('config.ini')\nprint(c['training']['lr'])", False),
        ("c = ConfigParser()\nlib.train(config=c)", True),
        ("class A:\n    def __init__(self): self.c = ConfigParser()\n    def go(self): lib.train(self.c)", True),
        ("def load():\n    c = ConfigParser()\n    return c\nlib.train(load())", True),
        ("def load():\n    return ConfigParser()\nsettings = load()\nlib.train(settings)", True),
        ("def load():\n    return ConfigParser()\nprint(load()['training']['lr'])", False),
        ("lib.train(other)", False),
    ],
)
def test_settings_that_are_handed_on_may_be_read_where_nobody_sees_it(text: str, hands_on: bool) -> None:
    assert hands_on_settings(nodes(text)) is hands_on


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("class S(BaseSettings):\n    lr: float = 0.1\n    epochs: int", {"LR", "EPOCHS"}),
        (
            "class S(pydantic.BaseSettings):\n    model_config = SettingsConfigDict(env_prefix='JPO_')\n    lr: float = 0.1",
            {"JPO_LR"},
        ),
        ("class S(BaseSettings):\n    class Config:\n        env_prefix = 'T_'\n    lr: float = 0.1", {"T_LR"}),
        ("class S(BaseModel):\n    lr: float = 0.1", set()),
    ],
)
def test_fields_of_settings_are_read_from_variables(text: str, variables: set[str]) -> None:
    assert set(field_variables(nodes(text))) == variables
