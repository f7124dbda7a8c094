from __future__ import annotations

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from jpo.errors import UsageError
from jpo.plugins.phases.requests.rightsize import LEAST_CORES, config_lines, patch_lines, rightsize
from jpo.plugins.phases.table import GIB
from jpo.plugins.phases.traces import CPU, MEMORY, ExecutionTrace, Traces


def traces(cpu: list[float], memory_gib: list[float]) -> Traces:
    values = np.stack([np.array(cpu), np.array(memory_gib) * GIB], axis=1)
    return Traces((CPU, MEMORY), (ExecutionTrace("a", np.arange(float(len(cpu))), values),))


BUSY = traces([0.1] * 50 + [2.0] * 49 + [3.0], [0.5] * 50 + [4.0] * 50)
PHASES = np.repeat([0, 1], 50)


def test_the_busiest_phase_and_the_peaks_decide() -> None:
    sizes = rightsize(BUSY, PHASES)
    assert sizes.decisive == 1
    assert sizes.cpu_request == pytest.approx(2.1)
    assert sizes.cpu_limit == pytest.approx(3.45)
    assert sizes.memory_gib == pytest.approx(4.609375)  # 4.6 in whole 16 MiB
    assert sizes.idle_memory == pytest.approx(1 - 2.25 / 4.609375)
    assert sizes.whole_cpus == 4


def test_a_rare_phase_decides_over_the_limit_alone() -> None:
    sizes = rightsize(BUSY, np.r_[np.repeat([0, 1], [50, 49]), 2])
    assert (sizes.decisive, sizes.cpu_limit) == (1, pytest.approx(3.45))


@given(st.lists(st.tuples(st.floats(0, 500), st.floats(0, 4000)), min_size=2, max_size=30), st.floats(0, 2))
def test_no_limit_is_below_what_was_used(samples: list[tuple[float, float]], headroom: float) -> None:
    used = traces([cpu for cpu, _ in samples], [memory for _, memory in samples])
    sizes = rightsize(used, np.arange(len(samples)) % 3, headroom=headroom)
    assert sizes.cpu_limit >= sizes.cpu_peak * (1 + headroom) * 0.999999
    assert sizes.memory_gib >= sizes.memory_peak_gib * (1 + headroom) * 0.999999
    assert LEAST_CORES <= sizes.cpu_request <= sizes.cpu_limit
    assert sizes.whole_cpus >= sizes.cpu_limit - 1e-6


def test_the_patch_is_yaml_and_the_lines_are_of_config_ini() -> None:
    sizes = rightsize(BUSY, PHASES)
    patch = yaml.safe_load("\n".join(patch_lines(sizes, "trainer")))
    (container,) = patch["spec"]["template"]["spec"]["containers"]
    assert container["name"] == "trainer"
    assert container["resources"]["requests"] == {"cpu": "2100m", "memory": "4720Mi"}
    assert container["resources"]["limits"] == {"cpu": "3450m", "memory": "4720Mi"}
    assert config_lines(sizes) == ("[resources]", "cpus = 4", "memory_gib = 4.61")


@pytest.mark.parametrize("name", ["", "A", "a b", "a\n  x: 1", "-a", "a-", "a" * 64])
def test_what_is_no_name_of_a_container_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is not a container name"):
        patch_lines(rightsize(BUSY, PHASES), name)


def test_headroom_is_not_below_nothing() -> None:
    with pytest.raises(UsageError, match="--headroom"):
        rightsize(BUSY, PHASES, headroom=-0.1)
