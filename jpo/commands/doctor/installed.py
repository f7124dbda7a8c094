"""Is JPO itself installed whole, and where does it run?"""

import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import constraints
from jpo.commands.doctor.case import Case
from jpo.errors import JpoError, UsageError
from jpo.inventory.caller import author_of
from jpo.learning.serving import LEARNING
from jpo.project.request import decider_of, learn_seconds_of
from jpo.report.doctor import Line
from jpo.timeouts import answer_of
from jpo.version import __version__

PACKAGES = ("click", "configupdater", "numpy", "prometheus-api-client", "pydantic", "rich", "safetensors")
GUARD_SECONDS = 20.0


def python(_case: Case) -> Iterator[Line]:
    yield Line("python", "ok", f"{'.'.join(map(str, sys.version_info[:3]))} in {sys.prefix}, jpo {__version__}")


def packages(_case: Case) -> Iterator[Line]:
    """The packages that JPO needs."""
    versions = {name: version_of(name) for name in PACKAGES}
    if missing := [name for name, version in versions.items() if version is None]:
        raise UsageError("Python", f"{', '.join(missing)} not installed", "pip install jpo", code="JPO-E140")
    yield Line("packages", "ok", ", ".join(f"{name} {version}" for name, version in versions.items()))


def learning(case: Case) -> Iterator[Line]:
    """torch, without loading it; that it is missing is a warning where the agent would learn."""
    if torch := version_of("torch"):
        yield Line("learning", "ok", f"torch {torch}")
    elif wanted(case):
        finding = "off, because torch is not installed: JPO suggests, and learns from no run"
        meant = 'if that is meant, or `jpo learn` runs elsewhere: [agent] learn_budget = "0s"'
        yield Line("learning", "warning", finding, f'pip install "jpo[learn]", in pipelines the full image; {meant}', "JPO-W650")
    else:
        finding = "off, as [agent] asks: JPO suggests, and learns nothing new here"
        yield Line("learning", "ok", finding, 'pip install "jpo[learn]" where JPO should learn', "JPO-I140")


def wanted(case: Case) -> bool:
    """Whether the settings want the agent to learn, as JPO does by itself; what is wrong with them another check says."""
    try:
        return learn_seconds_of(case.settings) > 0 and decider_of(case.settings)[0] in LEARNING
    except JpoError:
        return True


def version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def guard(_case: Case) -> Iterator[Line]:
    """Another project is imported as `constraints` too; with that one the command line refuses to start at all."""
    folder = Path(constraints.__file__).parent
    if why := not_alone():
        remedy = "pipelines could not look again: install jpo anew, where `python -I -m constraints` finds it"
        finding = f"constraints is JPO's own, {folder}, but no process of its own: {why}"
        yield Line("guard", "warning", finding, remedy, "JPO-W155")
    else:
        yield Line("guard", "ok", f"constraints is JPO's own, {folder}, and starts as a process of its own")


def not_alone() -> str:
    """Why the guard does not start as pipelines start it, in a process without the checkout; "" where it does."""
    command = [sys.executable, "-I", "-m", "constraints", "--help"]
    try:
        done = answer_of(command, seconds=GUARD_SECONDS)
    except OSError as error:  # NoAnswerInTime among them
        return type(error).__name__
    said = (done.stdout + done.stderr).decode("utf-8", "replace").strip().rpartition("\n")[2]
    return "" if done.exit_code == 0 and b"before" in done.stdout else said or f"exit code {done.exit_code}"


def pipeline(case: Case) -> Iterator[Line]:
    """Where JPO runs."""
    author = author_of(case.environ)
    where = ", ".join(author[key] for key in ("repository", "pipeline", "job") if key in author)
    if author["where"] == "local":
        yield Line("pipeline", "ok", "none: started by hand")
    else:
        yield Line("pipeline", "ok", f"{author['where']}{f': {where}' if where else ''}")
