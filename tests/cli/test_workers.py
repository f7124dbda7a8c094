"""Work spread over processes of this machine and of a real Ray, which is begun once: the same results as in one process."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest
from safetensors.numpy import load_file

from jpo.cli.workers import workers
from jpo.errors import StoreError, UsageError
from jpo.records.progress import Spread

Jpo = Callable[..., str]


def square(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def die_once(number: int, mark: str) -> int:
    """The first who comes here is killed, as by a machine that has run out of memory."""
    if number == 3 and not Path(mark).exists():
        Path(mark).write_text(str(os.getpid()), encoding="ascii")
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def refuse(number: int) -> int:
    raise StoreError("here", f"number {number} is refused", "take another", code="JPO-E501")


@pytest.fixture(scope="module")
def ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A Ray of two processes, as JPO begins one; what it said on stdout and stderr meanwhile."""
    if find_spec("ray") is None:  # JPO imports it, with what it must read then
        pytest.skip("ray is not installed: pip install ray")
    said = tmp_path_factory.mktemp("ray") / "said"
    with said.open("wb") as file, ExitStack() as until_done:
        kept = [(number, os.dup(number)) for number in (1, 2)]
        for number, _ in kept:
            os.dup2(file.fileno(), number)
        try:
            until_done.enter_context(workers(2, "ray", 1))
        finally:
            for number, copy in kept:
                os.dup2(copy, number)
                os.close(copy)
        yield said


@pytest.fixture(params=["local", "ray"])
def two(request: pytest.FixtureRequest) -> Spread:
    """Two processes of each kind."""
    if request.param == "ray":
        request.getfixturevalue("ray")
    return partial(workers, 2, request.param)


def test_results_come_in_the_order_of_the_pieces_from_other_processes(two: Spread) -> None:
    with two(100) as on:
        found = list(on(square, ((number,) for number in range(100))))
    assert [result for result, _ in found] == [number * number for number in range(100)]
    assert os.getpid() not in {process for _, process in found}


def test_an_error_is_the_same_as_in_one_process(two: Spread) -> None:
    with two(9) as on, pytest.raises(StoreError, match="here: number 0 is refused; take another") as refused:
        list(on(refuse, ((number,) for number in range(9))))
    assert (type(refused.value), refused.value.code) == (StoreError, "JPO-E501")


def test_work_that_is_not_asked_for_is_not_waited_for(two: Spread) -> None:
    with two(10_000) as on:
        results = on(square, ((number,) for number in range(10_000)))
        assert [next(results)[0] for _ in range(3)] == [0, 1, 4]


def test_one_piece_or_one_process_stays_here() -> None:
    for processes, pieces in ((2, 1), (1, 9)):
        with workers(processes, "local", pieces) as on:
            assert {process for _, process in on(square, [(number,) for number in range(pieces)])} == {os.getpid()}


def test_a_lost_process_of_ray_is_replaced_and_its_work_redone(
    ray: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    mark = tmp_path / "killed"
    with workers(2, "ray", 20) as on:
        assert list(on(die_once, ((number, str(mark)) for number in range(20)))) == list(range(20))
    assert mark.exists()
    assert capfd.readouterr().out == "", "a result may stand there"


def test_ray_begins_without_a_word_and_listens_on_loopback_alone(ray: Path) -> None:
    assert ray.read_bytes() == b""
    table = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout
    below = descendants(os.getpid())
    listening = [line.split()[3] for line in table.splitlines() if {int(pid) for pid in re.findall(r"pid=(\d+)", line)} & below]
    assert listening
    assert {address.rpartition(":")[0] for address in listening} <= {"127.0.0.1", "[::ffff:127.0.0.1]", "[::1]"}


def descendants(pid: int) -> set[int]:
    children = [int(word) for file in Path(f"/proc/{pid}/task").glob("*/children") for word in file.read_text().split()]
    return {pid}.union(*(descendants(child) for child in children))


@pytest.mark.usefixtures("ray")
def test_ray_leaves_the_end_by_a_signal_to_the_command() -> None:
    """Its own handler, which stays after its end, let a process that was terminated exit as if it had asked to."""
    assert not getattr(signal.getsignal(signal.SIGTERM), "__module__", "").startswith("ray")


def test_without_ray_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jpo.cli.workers.find_spec", lambda _name: None)
    with pytest.raises(UsageError, match="needs ray, which is not installed; pip install"), workers(2, "ray", 2):
        pass


COMMANDS = {
    "replay": ("lab", "replay", "--runs", "2,3", "--seeds", "9", "--policies", "jpo,random", "-o", "json", "config.ini"),
    "simulate": ("lab", "simulate", "--workloads", "2", "--runs", "3", "--policies", "belief,sac", "-o", "json"),
    "evaluate": (
        "cluster",
        "evaluate",
        "--draw",
        "200",
        "--procs",
        "16",
        "--seeds",
        "2",
        "--policy",
        "random,saf+easy",
        "-o",
        "json",
    ),
}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.usefixtures("ray")
def test_a_command_has_the_same_result_on_ray(words: tuple[str, ...], jpo: Jpo) -> None:
    one, on_ray = (json.loads(jpo(*words, *more)) for more in (processes(words, 1), (*processes(words, 2), "--backend", "ray")))
    assert without_speed(one) == without_speed(on_ray)


def processes(words: tuple[str, ...], count: int) -> tuple[str, str]:
    return "--processes" if words[1] in ("simulate", "train") else "--jobs", str(count)


def without_speed(found: object) -> object:
    """A result without what the clock says."""
    if isinstance(found, dict):
        return {name: without_speed(value) for name, value in found.items() if name != "jobs_per_second"}
    return [without_speed(value) for value in found] if isinstance(found, list) else found


@pytest.mark.usefixtures("ray")
def test_an_agent_of_a_cluster_learns_the_same_on_ray(jpo: Jpo) -> None:
    pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    words = (
        "--draw",
        "300",
        "--procs",
        "16",
        "--length",
        "16",
        "--rounds",
        "2",
        "--episodes",
        "2",
        "--hidden",
        "8",
        "--tries",
        "2",
    )
    for name, more in (("one", ("--processes", "1")), ("two", ("--processes", "2", "--backend", "ray"))):
        jpo("cluster", "train", f"{name}.safetensors", *words, *more)
    one, two = (load_file(f"{name}.safetensors") for name in ("one", "two"))
    assert one.keys() == two.keys()
    assert all((one[name] == two[name]).all() for name in one)


@pytest.mark.usefixtures("ray")
def test_a_policy_practises_and_is_tested_the_same_on_ray() -> None:
    pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    from jpo.learning.pretraining import pretrain

    one, on_ray = (pretrain(jobs=2, seed=3, test_jobs=4, spread=partial(workers, *how)) for how in ((1, "local"), (2, "ray")))
    assert one[0] == on_ray[0]
    assert one[1] == on_ray[1]
