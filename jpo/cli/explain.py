"""`jpo explain`: its options and help."""

from pathlib import Path

import click

from jpo.cli.arguments import load_settings
from jpo.cli.options import Network, network_options, options, output_options, settings_options
from jpo.cli.output import READABLE, Output
from jpo.cli.subject import config_and_suggestion


@click.command()
@config_and_suggestion
@click.option("--rules", "of_rules", is_flag=True, help="Only the rules of the decision: what each removed, and which one chose.")
@output_options(*READABLE)
@options(network_options, settings_options)
def explain(
    suggestion_id: str | None, given: Path | None, toml: Path | None, *, of_rules: bool, network: Network, output: Output
) -> None:
    """Why these values, and what came of them?

    Explains a suggestion, by default the newest (of CONFIG.INI): evidence, alternatives, limits, who decided, its
    outcome, and which run goes on.

    \b
    Examples:
      jpo explain
      jpo explain train/config.ini --rules
      jpo explain 20261121-060000-3fa9c1 -o markdown
    """
    from jpo.commands.explain import explain as command

    settings = load_settings(given, toml, {"prometheus": network.flags})
    if of_rules:
        from jpo.commands.explain import rules
        from jpo.report import rules as subject

        output.show(subject, rules(suggestion_id, settings, given))
        return
    from jpo.report import explanation

    output.show(explanation, command(suggestion_id, settings, given, offline=network.offline))
