from __future__ import annotations

import click
from click.testing import CliRunner

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
