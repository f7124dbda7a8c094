"""The published schemas of pipelines, as check-jsonschema has them; asked in this process, which imports it once."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner


def broken(schema: str, file: Path) -> str:
    """What is said of a file that does not follow `gitlab-ci`, `github-actions` or `github-workflows`; of others nothing."""
    from check_jsonschema import main  # a third of a second, of which most workers of pytest-xdist need none

    done = CliRunner().invoke(main, ["--builtin-schema", f"vendor.{schema}", str(file)])
    return done.output if done.exit_code else ""
