from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jpo.errors import UsageError
from jpo.project.load import load

if TYPE_CHECKING:
    from collections.abc import Mapping


def refused(folder: Path, toml: str = "", environ: Mapping[str, str] | None = None) -> str:
    (folder / "jpo.toml").write_text(toml)
    with pytest.raises(UsageError) as caught:
        load(folder / "config.ini", None, environ or {}, {})
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("[agnet]\n", "jpo.toml:1: unknown section [agnet]; did you mean agent?"),
        ("[agent]\n\nexplor = 'on'\n", "jpo.toml:3: unknown key [agent] explor; did you mean explore?"),
        ("[parameters]\nbatchsize = { min = 1 }\n", "jpo.toml:2: unknown key [parameters] batchsize; did you mean batch_size?"),
        ("[parameters.epochs]\nmim = 1\n", "jpo.toml:2: unknown key [parameters] epochs.mim; did you mean min?"),
        ("[agent]\nexplore = 'wild'\n", "jpo.toml:2: agent.explore: "),
        ("[parameters]\nepochs = { min = 9, max = 3 }\n", "jpo.toml:2: parameters.epochs: min = 9 is above max = 3"),
        ("[preference]\ntime = 0.7\ncost = 0.4\n", "weights sum to 1.1; they must sum to 1"),
        ("[preferences.night]\ntime = 0.7\n", "jpo.toml:1: preferences.night: weights sum to 0.7; they must sum to 1"),
        ("[preferences.night]\nspeed = 1\n", "jpo.toml:2: unknown key [preferences] night.speed; known are time, cost"),
        (
            "[limit]\nbatch_size = { max = 2 }\n",
            "jpo.toml:1: unknown section [limit]; limits of parameters belong in [parameters]",
        ),
        ("[batch_size]\nmax_change = 2\n", "unknown section [batch_size]; did you mean [parameters.batch_size]?"),
        ("[launch.slurm]\nparttion = 'a'\n", "unknown key [launch] slurm.parttion; did you mean partition?"),
        ("[workload]\nidentity = { datset = 'a.b' }\n", "unknown key [workload] identity.datset; did you mean dataset?"),
        ("[prometheus.auth]\ntokn_file = 'a'\n", "unknown key [prometheus] auth.tokn_file; did you mean token_file?"),
        ("[preferences.cost]\ntime = 1\n", "'cost' cannot be the name of a preference of your own"),
        ('[preferences."a b"]\ntime = 1\n', "<3 characters> cannot be the name of a preference of your own"),
        ("[preferences]\nnight = 1\n", "jpo.toml:2: preferences.night: "),
        ("[prometheus]\ntimeout = '10x'\n", "'10x' is not a duration; write e.g. '10s'"),
        ("[prometheus.auth]\ntype = 'bearer'\n", "bearer needs token_file"),
        ("agent = 3\n", "jpo.toml:1: agent: "),
        ("x = [\n", "is not TOML"),
    ],
)
def test_what_is_wrong_in_jpo_toml_is_named_with_place_and_remedy(tmp_path: Path, toml: str, message: str) -> None:
    assert message in refused(tmp_path, toml)


def test_an_unknown_section_in_the_environment_is_named(tmp_path: Path) -> None:
    assert "environment JPO_AGNT__EXPLORE: unknown section [agnt]" in refused(tmp_path, environ={"JPO_AGNT__EXPLORE": "on"})


def test_one_name_where_a_list_is_wanted_is_answered_by_the_list(tmp_path: Path) -> None:
    said = refused(tmp_path, '[workload.aliases]\ndataset = "CIFAR-10"\n')
    assert 'workload.aliases.dataset: input should be a list, such as ["CIFAR-10"]' in said


def test_auth_as_a_word_is_answered_by_how_it_is_written(tmp_path: Path) -> None:
    assert 'auth = { type = "bearer"' in refused(tmp_path, '[prometheus]\nauth = "bearer"\n')


@pytest.mark.parametrize("variable", ["JPO_QUOTA_GPUS", "JPO_SLA_TIME_MAX", "JPO_AGENT_EXPLORE"])
def test_a_limit_in_the_environment_that_nobody_would_read_is_refused(tmp_path: Path, variable: str) -> None:
    section, _, key = variable.removeprefix("JPO_").partition("_")
    assert f"environment {variable}: is read by nobody" in (said := refused(tmp_path, environ={variable: "1"}))
    assert f"write JPO_{section}__{key}" in said


def test_other_variables_of_jpo_are_left_alone(tmp_path: Path) -> None:
    load(tmp_path / "config.ini", None, {"JPO_STORE_URL": "x", "JPO_RUN_ID": "a", "JPO_CHECK": "1", "JPO_BATCH_SIZE": "64"}, {})


def test_a_table_of_pyproject_in_other_letters_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.Jpo.parameters]\nbatch_size = { max = 64 }\n")
    with pytest.raises(UsageError, match=r"unknown section \[tool\.Jpo\]; write \[tool\.jpo\]"):
        load(tmp_path / "config.ini", None, {}, {})


def test_a_file_that_cannot_be_read_again_costs_an_error_its_line_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> str:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "read_text", fails)
    assert refused(tmp_path, "[agent]\nexplore = 'wild'\n").startswith(f"{tmp_path}/jpo.toml: agent.explore: ")
    (tmp_path / "jpo.toml").write_text("[parameters]\nepochs = { freeze = true }\n")
    load(tmp_path / "config.ini", None, {}, {})  # which is no error at all
