from __future__ import annotations

from datetime import date

import pytest

from jpo.cost import Instance
from jpo.plugins.launch.engines.aws.offers import Attempt, largest, priced
from jpo.plugins.launch.job import Needs


def offer(
    name: str, gpus: int, gpu: tuple[str, float], vcpus: float, memory_gib: float, usd: float, spot: float | None
) -> Instance:
    family, day = name.partition(".")[0], date(2026, 11, 1)
    return Instance(name, family, gpu[0], gpus, gpu[1], vcpus, memory_gib, "us-east-1", usd, spot, day, "test")


T4, A100 = ("t4", 16), ("a100", 40)
SMALL = offer("g4dn.xlarge", 1, T4, 4, 16, 0.526, 0.2)
LARGE = offer("g4dn.12xlarge", 4, T4, 48, 192, 3.912, 1.2)
BIG = offer("p4d.24xlarge", 8, A100, 96, 1152, 32.77, None)
OFFERS = (BIG, LARGE, SMALL)


def tried(needs: Needs, *, spot: bool = True) -> list[str]:
    return [str(attempt).removesuffix(" us-east-1") for attempt in priced(OFFERS, needs, spot=spot)]


def test_prices_decide_the_order_whatever_the_market() -> None:
    dear = offer("g4dn.2xlarge", 1, T4, 8, 32, 0.752, 0.6)
    assert tuple(priced((dear, SMALL), Needs(gpus=1), spot=True)) == (
        Attempt("g4dn.xlarge", spot=True, where="us-east-1"),
        Attempt("g4dn.xlarge", spot=False, where="us-east-1"),
        Attempt("g4dn.2xlarge", spot=True, where="us-east-1"),
        Attempt("g4dn.2xlarge", spot=False, where="us-east-1"),
    )


def test_nothing_many_times_dearer_is_rented() -> None:
    assert tried(Needs(gpus=1)) == ["g4dn.xlarge spot", "g4dn.xlarge on-demand", "g4dn.12xlarge spot"]


def test_a_spot_price_that_is_unknown_is_at_most_the_one_on_demand() -> None:
    assert tried(Needs(gpus=8)) == ["p4d.24xlarge spot", "p4d.24xlarge on-demand"]


def test_without_spot_there_is_on_demand_alone() -> None:
    assert tried(Needs(gpus=4, gpu_type="T4"), spot=False) == ["g4dn.12xlarge on-demand"]


@pytest.mark.parametrize("needs", [Needs(gpus=16), Needs(gpus=1, gpu_type="h100"), Needs(cpus=200), Needs(memory_gib=2000)])
def test_what_none_holds_is_not_tried(needs: Needs) -> None:
    assert tried(needs) == []


def test_the_remedy_names_what_there_is() -> None:
    assert "p4d.24xlarge has 8 GPUs, 96 vCPUs and 1152 GiB" in largest(OFFERS, Needs(gpus=16))
    assert "g4dn.12xlarge has 4 GPUs" in largest(OFFERS, Needs(gpus=16, gpu_type="t4"))
    assert "a100, a100-40gb, t4, t4-16gb" in largest(OFFERS, Needs(gpus=1, gpu_type="h100"))
    assert "`jpo prices refresh`" in largest((), Needs())
