"""`jpo completion`: its argument and help."""

import click
from click.shell_completion import get_completion_class

from jpo.cli.gate import COMPLETING, put


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that completes commands, options and files.

    \b
    Once, for all shells that start from now on:
      jpo completion bash >> ~/.bashrc
      jpo completion zsh >> ~/.zshrc                                  after the line with compinit
      jpo completion fish > ~/.config/fish/completions/jpo.fish
    Example, for this shell alone:
      eval "$(jpo completion bash)"
    """
    known = get_completion_class(shell)
    assert known is not None, "one of click's own"
    put(known(ctx.find_root().command, {}, "jpo", COMPLETING).source())
