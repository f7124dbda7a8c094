"""All commands of `jpo` as click has them."""

from __future__ import annotations

from collections.abc import Iterator

import click

from jpo.cli.main import cli

CONTEXT = click.Context(cli)


def command(name: str) -> click.Command:
    """A command by its name."""
    found = cli.get_command(CONTEXT, name)
    assert found is not None, name
    return found


def group(name: str) -> click.Group:
    """A command that has commands."""
    found = command(name)
    assert isinstance(found, click.Group)
    return found


def commands() -> list[click.Command]:
    """Those behind `jpo`, of plugins too."""
    return [command(name) for name in cli.list_commands(CONTEXT)]


def leaves() -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, by all its words."""
    for each in commands():
        inner = each.commands.values() if isinstance(each, click.Group) else ()
        yield from [(f"{each.name} {one.name}", one) for one in inner] or [(str(each.name), each)]
