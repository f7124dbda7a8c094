"""The machine's GPUs, CPUs and memory in words, and whether config.ini asks for more than that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jpo.commands.doctor.case import Case
from jpo.commands.doctor.this_machine import cpus_and_memory, gpus, gpus_in_words, room
from jpo.inventory.gpus import Gpu

if TYPE_CHECKING:
    from user_project import Project

V100 = Gpu("Tesla V100-SXM2-16GB", "v100", 15.78, 0.97, 10.2)
OLD = Gpu("Quadro 600", "quadro 600", None, None, None)


@pytest.mark.parametrize(
    ("cards", "why", "words"),
    [
        ((V100, replace(V100, utilisation=0.0)), "", "2 × Tesla V100-SXM2-16GB (v100, 15.8 GiB); utilisation now: 97%, 0%"),
        ((V100, OLD), "", "1 × Tesla V100-SXM2-16GB (v100, 15.8 GiB), 1 × Quadro 600 (quadro 600); utilisation now: 97%, ?"),
        ((OLD, OLD), "2 of 3", "2 × Quadro 600 (quadro 600); 2 of 3"),
    ],
)
def test_equal_gpus_are_counted_and_what_is_not_known_of_them_is_left_out(cards: tuple[Gpu, ...], why: str, words: str) -> None:
    assert gpus_in_words(cards, why) == words


def test_no_gpu_is_not_the_same_as_an_unknown_number_of_gpus(on_machine: Callable[..., Case]) -> None:
    (none,) = gpus(on_machine(gpus=(), why_gpus="no GPU device"))
    assert (none.status, none.finding) == ("ok", "none: no GPU device")


def test_an_unknown_number_of_gpus_is_a_warning_only_where_it_should_limit_jobs(
    on_machine: Callable[..., Case], empty: Project
) -> None:
    case = on_machine(gpus=None, why_gpus="no answer")
    (line,) = gpus(case)
    assert (line.status, line.finding, line.code) == ("unknown", "no answer", None)
    (empty.folder / "jpo.toml").write_text("[quota]\nthis_machine = true\n")
    (line,) = gpus(replace(case))
    assert (line.status, line.code) == ("warning", "JPO-W862")


def test_what_limits_cpus_and_memory_is_named(on_machine: Callable[..., Case]) -> None:
    assert [line.finding for line in cpus_and_memory(on_machine())] == ["3 of 4: cgroup quota", "8.0 GiB of 16.0: cgroup limit"]


def test_the_whole_machine_is_limited_by_nothing_and_memory_may_be_unknown(on_machine: Callable[..., Case]) -> None:
    lines = list(cpus_and_memory(on_machine(cpus=4.0, cpus_held_by="", memory_gib=None)))
    assert [(line.status, line.finding) for line in lines] == [("ok", "4"), ("unknown", "/proc/meminfo does not say")]


def test_a_machine_that_is_too_small_is_a_warning_only_where_jobs_train_on_it(
    on_machine: Callable[..., Case], empty: Project
) -> None:
    case = on_machine(cpus=1.0)
    (line,) = room(case)
    assert (line.status, line.finding.endswith("config.ini asks for more (cpus 2 > 1)")) == ("ok", True)
    (empty.folder / "jpo.toml").write_text("[quota]\nthis_machine = true\n")
    (line,) = room(replace(case))
    assert (line.status, line.finding, line.code) == (
        "warning",
        "config.ini asks for more than this machine has: cpus 2 > 1",
        "JPO-W861",
    )
    (line,) = room(replace(on_machine(cpus=2.0)))
    assert (line.status, line.finding) == ("ok", "what config.ini asks for is there; suggestions keep to it")
