from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from jpo.cli.main import cli
from jpo.cli.options import Network, network_options, options, output_options, verbose_option
from jpo.cli.output import Output


def test_options_of_the_network_arrive_as_one_record():
    seen: list[Network] = []

    @click.command()
    @network_options
    def command(network: Network) -> None:
        seen.append(network)

    assert CliRunner().invoke(command, ["--offline", "--since", "90d"]).exit_code == 0
    assert seen == [Network(True, None, None, "90d")]
    assert seen[0].flags == {"url": None, "timeout": None, "since": "90d"}


def test_options_of_the_output_arrive_as_one_record_and_the_first_form_is_the_default():
    seen: list[Output] = []

    @click.command()
    @output_options("text", "json", files=True)
    def command(output: Output) -> None:
        seen.append(output)

    runner = CliRunner()
    assert runner.invoke(command, ["--output-file", "a.json", "--output-file", "b.md"]).exit_code == 0
    assert runner.invoke(command, ["-o", "json", "--no-color"]).exit_code == 0
    assert [(one.form, [file.name for file in one.files]) for one in seen] == [("text", ["a.json", "b.md"]), ("json", [])]
    assert runner.invoke(command, ["-o", "yaml"]).exit_code == 2


def test_verbose_is_accepted_and_passed_to_nobody():
    @click.command()
    @options(verbose_option)
    def command() -> None:
        """Has no argument for it."""

    assert CliRunner().invoke(command, ["-v"]).exit_code == 0


SHARED = ("--config", "--no-color", "--offline", "--prometheus-url", "--since", "--timeout", "--verbose")


def help_of(words: str) -> str:
    return CliRunner().invoke(cli, [*words.split(), "--help"], prog_name="jpo", terminal_width=200).output


def test_the_help_of_a_command_names_shared_options_in_one_line():
    lines = [" ".join(line.split()) for line in help_of("doctor").split("\n") if "--offline" in line]
    assert lines == [
        "jpo doctor config.ini --offline",
        f"Settings and network: {', '.join(SHARED)} (jpo config --help)",
    ]


@pytest.mark.parametrize("option", SHARED)
def test_the_help_of_config_explains_each_shared_option(option: str):
    assert any(option in line and len(line.split(option)[1].split()) > 2 for line in help_of("config").split("\n"))


def test_options_of_workloads_are_explained_once():
    assert "Only the earliest jobs of each log." in help_of("cluster")
    assert "Only the earliest jobs of each log." not in help_of("cluster evaluate")
    assert "--draw, --first, --kill, --load, --oversized, --platform, --procs, --workload" in help_of("cluster evaluate")


def test_a_shared_option_that_has_none_beside_it_is_explained_there():
    assert "Show a traceback for internal errors." in help_of("prices refresh")
