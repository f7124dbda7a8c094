"""`jpo config`: its options and help."""

from pathlib import Path

import click

from jpo.cli.arguments import settings_beside
from jpo.cli.gate import answer, put
from jpo.cli.options import ExplainingGroup, colour_option, network_options, options, settings_options
from jpo.cli.subject import job_options


@click.group("config", cls=ExplainingGroup, shared=options(network_options, colour_option, settings_options))
def config() -> None:
    """Effective settings and their JSON Schema."""


@config.command("check")
@job_options
def check_settings(given: Path | None, toml: Path | None) -> None:
    """Are jpo.toml and the environment valid?

    \b
    Example:
      jpo config check
    """
    from jpo.commands.config import check as command

    answer(command(settings_beside(given, toml)))


@config.command("show")
@job_options
def show_settings(given: Path | None, toml: Path | None) -> None:
    """Every effective setting, and where it comes from.

    It is a jpo.toml that means the same; secrets are hidden.

    \b
    Example:
      JPO_PROMETHEUS__TIMEOUT=30s jpo config show
    """
    from jpo.commands.config import show as command

    put(command(settings_beside(given, toml)))


@config.command("schema")
@click.option("--output", type=click.Choice(["settings", "suggestion"]), default="settings", show_default=True)
def schema(output: str) -> None:
    """JSON Schema of jpo.toml, or of `jpo suggest -o json`.

    \b
    Example:
      jpo config schema > jpo.schema.json
    """
    from jpo.commands.config import schema as command

    put(command(output))
