"""Options that several commands share, each written once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

FILE = click.Path(path_type=Path)
config_ini = click.argument("given", type=FILE, required=False, metavar="[CONFIG.INI]")
toml_option = click.option(
    "--config", "toml", type=FILE, metavar="jpo.TOML", help="Settings file; default: jpo.toml beside config.ini."
)
verbose_option = click.option("-v", "--verbose", is_flag=True, help="Show a traceback for internal errors.")
colour_option = click.option("--no-color", is_flag=True, help="No colours, also on a terminal (or set NO_COLOR).")
seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Same seed and history, same answer."
)
network_options = (
    click.option("--offline", is_flag=True, help="Ask no server for runs; the store and CSV logs alone."),
    click.option("--prometheus-url", metavar="URL", help="Prometheus to ask for finished runs."),
    click.option("--timeout", metavar="DURATION", help="Deadline for all requests together, e.g. 10s."),
    click.option("--since", metavar="DURATION", help="How far back to look at first contact, e.g. 90d."),
)


def options(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, in the order of the help."""

    def decorate(command: F) -> F:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate
