"""A plugin of 40 lines: the command `jpo night-shift`, its table of jpo.toml, and an engine that only says what it would run."""

from pathlib import Path

import click

from jpo.plugin import Plugin
from jpo.plugins.launch.job import JobState, JobStatus, LaunchJob, Needs, Room
from jpo.project.settings import SettingsTable
from jpo.records import RunStatus

PLUGIN = Plugin(
    "night_shift",
    summary="when nobody waits for a GPU",
    commands={"night-shift": "night_shift:night_shift"},
    settings={"night_shift": "night_shift:NightShift"},
)


class NightShift(SettingsTable):
    """[plugins.night_shift] of jpo.toml."""

    begins: int = 22


@click.command("night-shift")
def night_shift() -> None:
    """Say when the night shift begins."""
    from jpo.cli.arguments import load_settings

    table = load_settings(None, None, {}).table("night_shift", NightShift)
    click.echo(f"the night shift begins at {table.begins}:00")


class DryEngine:
    """`jpo run --on dry`: every job succeeds at once, and its folder says what would have been run."""

    name = "dry"

    def __init__(self, settings: object, here: object) -> None: ...

    def room(self, needs: Needs) -> Room:
        return Room()

    def refuse(self, job: LaunchJob) -> None: ...

    def submit(self, job: LaunchJob, folder: Path) -> str:
        (folder / "output.log").write_text(" ".join(job.command) + "\n")
        return job.run_id

    def find(self, job: LaunchJob, folder: Path) -> str | None:
        return job.run_id if (folder / "output.log").exists() else None

    def status(self, engine_id: str) -> JobStatus:
        return JobStatus(JobState.ENDED, exit_code=0, ended_as=RunStatus.SUCCEEDED)

    def cancel(self, engine_id: str) -> None: ...

    def collect(self, engine_id: str, folder: Path) -> None: ...
