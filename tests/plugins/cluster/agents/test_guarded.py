"""What a hostile or broken agent does stays in its process; the command ends in time with one line."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from jpo.errors import StoreError, UsageError
from jpo.plugins.cluster.agents.base import ClassicAgent
from jpo.plugins.cluster.agents.guarded import AgentWatch, guarded


class Hostile(ClassicAgent):
    """Does at each decision what it is told."""

    def __init__(self, deed: Callable[[], object]) -> None:
        self.deed = deed

    def decide(self, *_: object) -> int:
        self.deed()
        return 7


def swallow() -> None:
    while True:
        with suppress(BaseException):
            time.sleep(60)


def leave_a_child() -> None:
    if os.fork():
        os._exit(3)
    swallow()


def leave_a_session(told: Path) -> None:
    """A child in a session of its own, whose parent is gone: no process group reaches it."""
    if os.fork():
        os.wait()
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    told.write_text(str(os.getpid()))
    swallow()


def close_all() -> None:
    os.closerange(3, 1024)
    swallow()


LIMIT_SECONDS = 1.0


@pytest.mark.parametrize(
    ("deed", "told"),
    [
        (lambda: sum(itertools.repeat(0)), "gave no answer within 1 s; fix the agent, or raise --agent-limit"),
        (swallow, "gave no answer within 1 s"),
        (leave_a_child, "ended its process with exit code 3"),
        (close_all, "closed its pipe to the command"),
        (lambda: os._exit(0), "ended its process with exit code 0"),
        (lambda: os.kill(os.getpid(), signal.SIGTERM), "was ended by signal 15"),
        (lambda: sys.exit(0), "raised SystemExit: 0"),
        (lambda: 1 / 0, "raised ZeroDivisionError"),
        (lambda: input("?"), "raised "),
        (lambda: os.fork() and os._exit(3), "ended its process with exit code 3"),
    ],
)
def test_whatever_an_agent_does_is_one_line_in_time(deed: Callable[[], object], told: str) -> None:
    began = time.monotonic()
    with pytest.raises(UsageError) as caught:
        guarded(lambda watch: watch.over(Hostile(deed)).decide(None, None), "mine.py:Mine", LIMIT_SECONDS, ())  # type: ignore[arg-type]
    assert str(caught.value).startswith(f"mine.py:Mine: {told}")
    assert caught.value.code == "JPO-E748"
    assert time.monotonic() - began < 5


def test_what_it_prints_is_dropped_and_what_forks_off_ends(capfd: pytest.CaptureFixture[str]) -> None:
    def deed() -> None:
        os.fork()
        os.write(1, b"{}\n")

    def work(watch: AgentWatch) -> list[int]:
        agent = watch.over(Hostile(deed))
        return [agent.decide(None, None) for _ in watch.turns(range(2))]  # type: ignore[arg-type]

    shown = iter(range(5))
    assert guarded(work, "mine", 5.0, shown) == [7, 7]
    assert next(shown) == 2  # as many as turns were told
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="adopting what is left behind is Linux'")
@pytest.mark.parametrize("ending", [lambda: 7, lambda: os._exit(3), swallow])
def test_what_an_agent_leaves_in_another_session_ends_with_it(ending: Callable[[], object], tmp_path: Path) -> None:
    told = tmp_path / "left"

    def deed() -> None:
        leave_a_session(told)
        while not told.exists() or not told.read_text():
            time.sleep(0.01)
        ending()

    with suppress(UsageError):
        guarded(lambda watch: watch.over(Hostile(deed)).decide(None, None), "mine", 2.0, ())  # type: ignore[arg-type]
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


def test_an_error_of_the_work_itself_stays_what_it_was() -> None:
    def work(watch: AgentWatch) -> None:
        raise StoreError("there", "was something", "do that", code="JPO-E500")

    with pytest.raises(StoreError, match="there: was something; do that"):
        guarded(work, "mine", 5.0, ())
