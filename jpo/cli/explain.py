"""`jpo explain`: its options and help."""

from __future__ import annotations

from pathlib import Path

import click

from jpo.cli.arguments import load_settings
from jpo.cli.options import colour_option, options, toml_option, verbose_option
from jpo.cli.output import coloured, put, width


@click.command()
@click.argument("suggestion_id", required=False)
@click.option("-o", "--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
@options(toml_option, colour_option, verbose_option)
def explain(suggestion_id: str | None, form: str, toml: Path | None, *, no_color: bool) -> None:
    """Why these values? Retells a suggestion, by default the newest.

    Evidence, alternatives, limits, who decided, and what came of it.

    \b
    Examples:
      jpo explain
      jpo explain 20261121-060000-3fa9c1 -o markdown
    """
    from jpo.commands.explain import explain as command

    put(command(suggestion_id, load_settings(None, toml, {}), form=form, width=width(), colour=coloured(no_color)))
