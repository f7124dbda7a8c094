"""The command line: the core's commands and those of plugins, each imported when it is used. Results go to stdout, all else to
stderr.
"""

import difflib
from collections.abc import Mapping

import click

from jpo import plugin
from jpo.cli.gate import complain
from jpo.version import __version__

EVERY_DAY = ("suggest", "check", "explain", "history", "rollback", "doctor")
ALSO: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "ahead": ("what runs will take and cost", ("predict", "pareto", "sla", "prices")),
    "record": ("store, settings", ("observe", "learn", "audit", "state", "config", "completion")),
}
"""The core's other commands, by the heading of their line in the help, with what they are for."""
CORE = (*EVERY_DAY, *(name for _, names in ALSO.values() for name in names))
SUMMARY = 60
"""Characters of a command's summary; tests/cli/test_main.py holds all of them to it."""


class FrontDoor(click.Group):
    """All commands by name, and a help of one screen: what one uses every day, then a line for each group and plugin."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*CORE, *(name for each in plugin.plugins(of_others=True) for name in each.commands)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command of the core, of JPO's own plugins, else of others'; None where nobody has it."""
        if cmd_name in CORE:
            command: click.Command = plugin.load(f"jpo.cli.{cmd_name}:{cmd_name}")
            return command
        found = plugin_command(cmd_name, others=False) or plugin_command(cmd_name, others=True)
        return found if isinstance(found, click.Command) else None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named first; a file in its place was meant for the one of every day."""
        word = args[0]
        if self.get_command(ctx, word) is None and not (word.startswith("-") or ctx.resilient_parsing):
            for failure in (*plugin.broken(of_others=True), plugin_command(word, others=True)):
                if isinstance(failure, plugin.Broken):
                    complain(f"{failure} [{plugin.CODE}]")
            near = difflib.get_close_matches(word, self.list_commands(ctx))
            if word.endswith(".ini"):
                near = [f"jpo suggest {word}"]
            elif word == "help":
                near = [" ".join(["jpo", *args[1:2], "--help"])]
            ctx.fail(f"No such command {word!r}.{did_you_mean(near)}")
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Instead of the options, which stand in the line of the usage, all commands."""
        with formatter.section("Every day"):
            commands = [(name, self.get_command(ctx, name)) for name in EVERY_DAY]
            formatter.write_dl([(name, command.get_short_help_str(SUMMARY)) for name, command in commands if command])
        with formatter.section("More (jpo COMMAND --help)"):
            lines = [(heading, f"{', '.join(names)}: {what}") for heading, (what, names) in ALSO.items()]
            lines += [(each.name, line_of(each)) for each in plugin.plugins(of_others=True) if each.commands]
            formatter.write_dl(lines)


def line_of(each: plugin.Plugin) -> str:
    """A plugin's line in the help: its commands, unless the plugin has their name, and what they are for."""
    return each.summary if [*each.commands] == [each.name] else f"{', '.join(each.commands)}: {each.summary}"


def plugin_command(name: str, *, others: bool) -> click.Command | plugin.Broken | None:
    """The plugins' command of this name, or why it cannot be imported; None where no plugin has it."""
    found = (plugin.part_of(each, each.commands[name]) for each in plugin.plugins(of_others=others) if name in each.commands)
    return next(found, None)


def did_you_mean(meant: list[str]) -> str:
    """What may have been meant, as click says it; "" where nothing is similar."""
    if not meant:
        return ""
    return f" Did you mean {meant[0]!r}?" if not meant[1:] else f" (Did you mean one of: {', '.join(map(repr, sorted(meant)))}?)"


@click.group(
    cls=FrontDoor,
    options_metavar="[-h] [--version]",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="jpo")
def cli() -> None:
    """Suggest the next parameters of a recurring training job from what its earlier
    runs cost. Start with:  jpo suggest config.ini --dry-run
    """
    for failure in plugin.broken():
        complain(f"{failure} [{plugin.CODE}]")
