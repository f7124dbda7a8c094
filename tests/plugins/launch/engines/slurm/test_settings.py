"""Options of sbatch that a team may give, and those that would break what JPO promises."""

from __future__ import annotations

import pytest

from jpo.errors import UsageError
from jpo.plugins.launch.engines.slurm.settings import REFUSED, SlurmTable, arguments


def test_options_stand_before_what_jpo_says_itself() -> None:
    given = ("--exclusive", "--constraint=a100&nvlink", "--mem=4G", "--export=NONE")
    table = SlurmTable(partition="main,spare", account="ml", qos="normal", options=given)
    assert arguments(table) == [*given, "--partition=main,spare", "--account=ml", "--qos=normal"]
    assert arguments(SlurmTable()) == []


@pytest.mark.parametrize("option", [f"--{name}=1" for name in REFUSED])
def test_an_option_that_breaks_the_contract_is_refused_by_name(option: str) -> None:
    with pytest.raises(UsageError, match=r"is not taken: .") as caught:
        arguments(SlurmTable(options=("--exclusive", option)))
    assert caught.value.code == "JPO-E760"
    assert caught.value.place.startswith("[launch.slurm] options, '--")


@pytest.mark.parametrize("option", ["--wra=touch /tmp/x", "--arr=0-9", "--outp=x", "--job=x", "--cluster=other", "--ti=1"])
def test_beginnings_of_refused_options_are_refused_as_sbatch_takes_them(option: str) -> None:
    with pytest.raises(UsageError, match="is not taken"):
        arguments(SlurmTable(options=(option,)))


@pytest.mark.parametrize("option", ["-J", "-Jname", "night", "", "--", "--=x", "--nice\n--wrap=x", "--comment\0", ":", "--a\x7f"])
def test_what_is_no_long_option_in_one_line_is_refused(option: str) -> None:
    with pytest.raises(UsageError, match=r"not a long option|is not taken"):
        arguments(SlurmTable(options=(option,)))
