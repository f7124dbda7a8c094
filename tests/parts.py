"""The parts in which the tests run, each of which has a target in the Makefile.

- `units` and `rest` are `make test`: first what takes milliseconds each, then commands, servers and pipelines.
- `slow` is all that is marked so: it trains for real, makes installations, or plays a benchmark. CI runs it behind the others.
- `quick` are the units of the core that need neither torch nor a service: for every change.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

PARTS = ("units", "rest", "slow", "quick")
MARK = "pytest.mark.slow"
TESTS = Path(__file__).parent
NO_UNITS = (
    "benchmarks/",
    "commands/",
    "contracts/",
    "end_to_end/",
    "examples/",
    "golden/",
    "learning/",
    "pipelines/",
    "plugins/ci/",
    "plugins/launch/engines/",
    "plugins/launch/story/",
    "plugins/page/",
    "test_docs.py",
    "test_packaging.py",
    "test_website.py",
    "test_website_in_a_browser.py",
)
"""Tests of commands, servers, installations, learning; all others are unit tests, of which a thousand take a few seconds."""
SERVICES = {
    "start_prometheus",
    "start_victoria",
    "start_postgres",
    "slurm_cluster",
    "chromium",
    "mlflow_server",
    "kubectl",
    "shellcheck",
    "zsh_and_fish",
    "gitlab_ci_local",
    "github_language",
    "ec2",
    "ray",
}
"""Fixtures that start a server, or stand for what Debian or npm brings; all others that need one ask these."""
LONGEST = (
    "commands/test_attacks",
    "plugins/launch/engines/aws/test_launcher",
    "plugins/launch/engines/aws/test_faults",
    "pipelines/test_gitlab",
    "plugins/page/test_report_page",
    "plugins/launch/engines/slurm/test_launcher",
    "plugins/launch/story/optimize/test_loop",
    "pipelines/test_github",
    "plugins/launch/engines/kubernetes/test_faults",
    "golden/test_golden",
    "contracts/test_store",
    "test_website_in_a_browser",
    "commands/test_faults",
)
"""Modules of half a minute and more, which begin first, the longest before all: so none of them is left at the end, alone."""


class WithoutTorch(PathFinder):
    """Finds what is installed but torch: it takes seconds to import, and its tests are skipped as where it is missing."""

    @classmethod
    def find_spec(cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        return None if fullname == "torch" else PathFinder.find_spec(fullname, path, target)


def is_unit(module: Path) -> bool:
    return not module.relative_to(TESTS).as_posix().startswith(NO_UNITS)


def may_hold(part: str, module: Path) -> bool:
    """Whether a file has tests of this part; what has none is not even imported."""
    if part == "slow":
        return not is_unit(module) and MARK in module.read_text(encoding="utf-8")
    return is_unit(module) == (part != "rest") and not (part == "quick" and module.is_relative_to(TESTS / "plugins"))


def belongs(part: str, item: pytest.Item) -> bool:
    """Whether a test of such a file is of this part."""
    return (item.get_closest_marker("slow") is not None) == (part == "slow")


def refused(part: str | None, fixture: str) -> bool:
    """Whether a test that asks for this fixture is skipped in this part, if it is asked for only while the test runs, too."""
    return part == "quick" and fixture in SERVICES


def longest_first(items: list[pytest.Item]) -> Sequence[str]:
    """Puts the modules of LONGEST before all others; the names in it that no module has."""
    place = {TESTS / f"{name}.py": number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path, len(place)))
    return [str(path) for path in place if not path.exists()]
