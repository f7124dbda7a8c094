"""The command line, continued: what keeps JPO in order. Commands are imported when called."""

from __future__ import annotations

from pathlib import Path

import click

from jpo.arguments import settings
from jpo.console import put
from jpo.options import options, toml_option, verbose_option


@click.group()
def audit() -> None:
    """The append-only log of what JPO decided, wrote and learnt."""


@audit.command()
@click.option("-o", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--limit", type=click.IntRange(1), help="Only the newest so many.")
@options(toml_option, verbose_option)
def show(form: str, limit: int | None, toml: Path | None, *, verbose: bool) -> None:
    """Print the log, oldest first."""
    from jpo.commands.audit import show as command

    put(command(settings(None, toml, {}), form=form, limit=limit))


@audit.command()
@click.option("--head", metavar="HASH", help="A head noted earlier: it must still be in the log.")
@options(toml_option, verbose_option)
def verify(head: str | None, toml: Path | None, *, verbose: bool) -> None:
    """Verify the hash chain; names the first bad record (exit 5)."""
    from jpo.commands.audit import verify_log as command

    put(command(settings(None, toml, {}), expected_head=head))


@click.group("config")
def settings_group() -> None:
    """Effective settings and their JSON Schema."""


@settings_group.command("check")
@options(toml_option, verbose_option)
def check_settings(toml: Path | None, *, verbose: bool) -> None:
    """Are jpo.toml and the environment valid?"""
    from jpo.commands.settings import check as command

    put(command(settings(None, toml, {})))


@settings_group.command("show")
@options(toml_option, verbose_option)
def show_settings(toml: Path | None, *, verbose: bool) -> None:
    """Every effective setting and where it comes from; secrets are hidden."""
    from jpo.commands.settings import show as command

    put(command(settings(None, toml, {})))


@settings_group.command("schema")
@click.option("--output", type=click.Choice(["settings", "suggestion"]), default="settings", show_default=True)
def schema(output: str) -> None:
    """JSON Schema of jpo.toml, or of `jpo suggest -o json`."""
    from jpo.commands.settings import schema as command

    put(command(output))
