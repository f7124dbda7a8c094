"""What is asked outside is waited for so long, and ended with all that it has started."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from left_running import FOREVER, HANGS, alive, end

from jpo.timeouts import NoAnswerInTime, answer_of, within

HANGS_IN_A_SESSION = HANGS.replace("sys.argv[1]]", "sys.argv[1]], start_new_session=True")
LEAVES = HANGS.replace(".wait()", "; print('done', flush=True)")
LEAVES_A_SESSION = LEAVES.replace("sys.argv[1]]", "sys.argv[1]], start_new_session=True")


@pytest.fixture
def mark(tmp_path: Path) -> Iterator[str]:
    """An argument by which the processes of a test are known; none is left after it."""
    yield str(tmp_path)
    end(str(tmp_path))


def test_a_program_answers_with_what_it_printed_and_its_exit_code() -> None:
    said = answer_of([sys.executable, "-c", "import sys; print(7); sys.exit('no')"], seconds=20)
    assert (said.exit_code, said.stdout, said.stderr) == (1, b"7\n", b"no\n")
    assert answer_of([sys.executable, "-c", "print('x' * 10**6)"], seconds=20).stdout == b"x" * 10**6 + b"\n"


def test_a_program_gets_no_input_and_the_variables_that_it_is_given() -> None:
    program = "import os, sys; print(sys.stdin.read(), 'JPO_A' in os.environ)"
    assert answer_of([sys.executable, "-c", program], seconds=20, environment={"JPO_A": "1"}).stdout == b" True\n"


@pytest.mark.parametrize(
    "program", [HANGS, HANGS_IN_A_SESSION, HANGS.replace("import sub", "import os; os.close(1); os.close(2); import sub")]
)
def test_a_program_that_hangs_is_ended_with_all_that_it_started(program: str, mark: str) -> None:
    begun = time.monotonic()
    with pytest.raises(NoAnswerInTime, match=r"^no answer within 0\.5 s$"):
        answer_of([sys.executable, "-c", program, mark], seconds=0.5)
    assert (alive(mark), time.monotonic() - begun < 10) == (0, True)


def test_what_an_answer_leaves_behind_is_ended_and_not_waited_for(mark: str) -> None:
    assert answer_of([sys.executable, "-c", LEAVES, mark], seconds=60).stdout == b"done\n"
    assert alive(mark) == 0


def test_what_left_the_group_holds_no_answer_back(mark: str) -> None:
    assert answer_of([sys.executable, "-c", LEAVES_A_SESSION, mark], seconds=60).stdout == b"done\n"


def test_a_program_that_prints_without_end_is_ended(mark: str) -> None:
    with pytest.raises(OSError, match="prints more than 1000 bytes"):
        answer_of([sys.executable, "-c", "while True: print('y' * 999)", mark], seconds=60, most_bytes=1000)
    assert alive(mark) == 0


def test_calls_are_made_side_by_side_and_not_waited_for_any_longer() -> None:
    said, begun = list[str](), time.monotonic()
    with pytest.raises(NoAnswerInTime):
        within(0.5, [lambda: said.append("a"), lambda: time.sleep(5), lambda: said.append("b")])
    assert time.monotonic() - begun < 3
    assert sorted(said) == ["a", "b"]


def test_calls_return_in_their_order_and_what_one_raises_is_raised() -> None:
    assert within(5.0, [partial(time.sleep, 0.1), lambda: None]) == [None, None]
    assert within(5.0, [lambda: 1, lambda: 2]) == [1, 2]
    with pytest.raises(ZeroDivisionError):
        within(5.0, [lambda: 1 // 0])


def by_a_client(mark: str) -> None:
    """As the clients of Kubernetes and AWS ask a program: without a limit."""
    import subprocess

    subprocess.run([sys.executable, "-c", HANGS, mark], check=False, stdout=subprocess.PIPE)


def by_jpo(mark: str) -> None:
    for _ in range(9):
        with suppress(NoAnswerInTime):
            answer_of([sys.executable, "-c", HANGS, mark], seconds=60)


def nested(mark: str) -> None:
    within(60, [partial(by_a_client, mark)])


@pytest.mark.parametrize("ask", [by_a_client, by_jpo, nested])
def test_programs_of_calls_that_take_too_long_are_ended(ask: Callable[[str], None], mark: str) -> None:
    begun = time.monotonic()
    with suppress(NoAnswerInTime):  # what JPO itself asks is over a moment before
        within(1.0, [partial(ask, mark)])
    assert (alive(mark), time.monotonic() - begun < 10) == (0, True)


def test_programs_of_other_threads_go_on(mark: str) -> None:
    import subprocess

    other = subprocess.Popen([sys.executable, "-c", FOREVER, mark])
    with pytest.raises(NoAnswerInTime):
        within(0.5, [partial(by_a_client, f"{mark}2")])
    assert (alive(f"{mark}2"), other.poll()) == (0, None)
    other.kill()
    other.wait()
