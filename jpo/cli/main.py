"""The command line: all commands, grouped in the help as people meet them. Results go to stdout, all else to stderr."""

from __future__ import annotations

from collections.abc import Mapping

import click

from jpo.cli.audit import audit
from jpo.cli.check import check
from jpo.cli.config import config
from jpo.cli.doctor import doctor
from jpo.cli.explain import explain
from jpo.cli.history import history
from jpo.cli.learn import learn
from jpo.cli.observe import observe
from jpo.cli.pareto import pareto
from jpo.cli.predict import predict
from jpo.cli.prices import prices
from jpo.cli.rollback import rollback
from jpo.cli.sla import sla
from jpo.cli.state import state
from jpo.cli.suggest import suggest
from jpo.plugins.ci.cli.comment import comment
from jpo.plugins.ci.cli.init import init
from jpo.plugins.ci.cli.persist import persist
from jpo.plugins.cluster.cli import cluster
from jpo.plugins.imports.cli import import_
from jpo.plugins.lab.cli.logs import logs
from jpo.plugins.lab.cli.replay import replay
from jpo.plugins.lab.cli.simulate import simulate
from jpo.plugins.launch.cli.optimize import optimize
from jpo.plugins.launch.cli.run import run
from jpo.plugins.launch.cli.watch import watch
from jpo.plugins.page.cli import report
from jpo.plugins.phases.cli.phases import phases
from jpo.version import __version__

COMMANDS: Mapping[str, tuple[click.Command, ...]] = {
    "Every day": (suggest, check, explain, history, rollback, doctor),
    "Look ahead": (predict, pareto, sla, prices),
    "Run": (run, watch, optimize, observe, import_),
    "Operate": (init, report, comment, persist, learn, audit, state, config),
    "Lab": (simulate, replay, phases, cluster, logs),
}
"""Every command, by its group in the help."""
SUMMARY = 60
"""Characters of a command's summary in the help; tests/cli/test_main.py holds all of them to it."""


class GroupedHelp(click.Group):
    """A group whose help lists its commands under the headings of COMMANDS, and that knows what people type in their place."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named first; a file in its place was meant for the one of every day."""
        word = args[0]
        if self.get_command(ctx, word) is None and (word.endswith(".ini") or word == "help"):
            meant = f"jpo suggest {word}" if word != "help" else " ".join(["jpo", *args[1:2], "--help"])
            ctx.fail(f"No such command {word!r}. Did you mean {meant!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, commands in COMMANDS.items():
            with formatter.section(heading):
                formatter.write_dl([(command.name or "", command.get_short_help_str(SUMMARY)) for command in commands])


@click.group(cls=GroupedHelp, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="jpo")
def cli() -> None:
    """Suggest the next parameters of a recurring training job from what its earlier runs cost.

    \b
    Start with:  jpo suggest config.ini --dry-run
    """


for _commands in COMMANDS.values():
    for _command in _commands:
        cli.add_command(_command)
