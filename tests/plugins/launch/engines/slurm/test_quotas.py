"""Quotas in sacctmgr's words; lines as SLURM 22.05 prints them."""

from __future__ import annotations

import pytest

from jpo.plugins.launch.engines.slurm.nodes import QOS_FIELDS, exceeded, quotas_of, rows
from jpo.plugins.launch.job import Needs

(SMALL,) = rows("small|cpu=8,node=2|gres/gpu=1,gres/gpu:a100=1|mem=4G\n", QOS_FIELDS)
QUOTAS = quotas_of("QOS small", SMALL)


def test_each_limit_is_told_with_its_owner() -> None:
    assert [str(quota) for quota in QUOTAS] == [
        "MaxTRES of QOS small: cpu=8, node=2",
        "MaxTRESPU of QOS small: gres/gpu=1, gres/gpu:a100=1",
        "GrpTRES of QOS small: mem=4096",
    ]
    assert quotas_of("QOS normal", {"Name": "normal", "MaxTRES": "", "GrpTRES": "billing=-1"}) == []
    assert rows("", QOS_FIELDS) == []


@pytest.mark.parametrize(
    ("needs", "limit"),
    [
        (Needs(gpus=2), "MaxTRESPU"),
        (Needs(gpus=2, gpu_type="a100"), "MaxTRESPU"),
        (Needs(cpus=9), "MaxTRES"),
        (Needs(nodes=3), "MaxTRES"),
        (Needs(memory_gib=4.5), "GrpTRES"),
        (Needs(gpus=1, gpu_type="a100", cpus=8, memory_gib=4), None),
    ],
)
def test_what_one_run_may_never_have_is_found(needs: Needs, limit: str | None) -> None:
    found = exceeded(needs, QUOTAS)
    assert (found and found.split()[0]) == limit
