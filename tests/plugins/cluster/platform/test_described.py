"""Platforms in TOML: what is read, and which key is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.plugins.cluster.platform.described import read_platform

TEXT = """\
name = "lab"
[processor.epyc]
kind = "cpu"
cores = 64
watts = 3.0
bandwidth_gbps = 200.0
[processor.a100]
kind = "gpu"
speed = 2.0
speeds = { bert = 3.0 }
[node.dgx]
processors = [{ type = "epyc", count = 2 }, { type = "a100", count = 8 }]
memory_gib = 1024
usd_per_hour = 20.0
[[cluster]]
name = "train"
nodes = [{ type = "dgx", count = 3 }]
[slowdowns]
nodes = 1.2
conflict = "proportional"
"""


def platform_file(folder: Path, text: str) -> Path:
    (folder / "p.toml").write_text(text)
    return folder / "p.toml"


def test_nodes_are_made_of_sockets_and_of_one_group_per_gpu_type(tmp_path: Path) -> None:
    platform = read_platform(platform_file(tmp_path, TEXT))
    (group,) = platform.groups
    assert (platform.name, group.cluster, group.count) == ("lab", "train", 3)
    assert [(one.name, one.kind, one.cores) for one in group.node.processors] == [
        *(("epyc", "cpu", 64), ("epyc", "cpu", 64)),
        ("a100", "gpu", 8),
    ]
    assert (platform.cores("gpu"), platform.cores("cpu"), len(platform.nodes)) == (24, 384, 3)
    assert (platform.slowdowns.nodes, platform.slowdowns.conflict) == (1.2, None)
    assert group.node.processors[2].speeds == {"bert": 3.0}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('[[cluster]]\nname = "train"\nnodes = [{ type = "dgx", count = 3 }]', "", "has no nodes"),
        ("count = 3", "count = 0", "cluster train: nodes: count = 0 is not a whole number from 1"),
        ("count = 8", "count = -1", "node.dgx.processors: count = -1"),
        ('type = "dgx"', 'type = "dgy"', "cluster train: there is no [node.dgy]"),
        ('type = "a100"', 'type = "h100"', "node.dgx: there is no [processor.h100]"),
        ('kind = "gpu"', 'kind = "tpu"', "processor.a100: kind = 'tpu' is neither cpu nor gpu"),
        ("cores = 64", "", "processor.epyc: cores is missing"),
        ("cores = 64", "cores = 6.4", "processor.epyc: cores = 6.4 is not a whole number"),
        ("speed = 2.0", "speed = 0.0", "a speed above 0"),
        ("speed = 2.0", "speed = nan", "processor.a100: speed = nan is not a number"),
        ("watts = 3.0", 'watts = "3"', "processor.epyc: watts = '3' is not a number"),
        ("watts = 3.0", "watts = 1e308", "processor.epyc: watts = 1e+308 is neither 0 nor between 1e-09 and 1e+15"),
        ("speed = 2.0", "speed = 1e-300", "processor.a100: speed = 1e-300 is neither"),
        ("memory_gib", "memory", "node.dgx: 'memory' is unknown"),
        ("nodes = 1.2", "nodes = 0.5", "slow-downs from 1"),
        ("[slowdowns]", "[elastic]\nserial_share = 1.5\n[slowdowns]", "elastic: serial_share = 1.5 is not a share from 0 to 1"),
        ("[slowdowns]", "[elastic]\nresize_seconds = -3\n[slowdowns]", "elastic: resize_seconds = -3 is not a number from 0"),
        ("[slowdowns]", "[elastic]\npause = 3\n[slowdowns]", "elastic: 'pause' is unknown; known are serial_share"),
        (
            "[slowdowns]",
            "[elastic]\ncooldown_seconds = 20\n[slowdowns]",
            "elastic: cooldown_seconds = 20 is less than resize_seconds = 30",
        ),
        (
            'conflict = "proportional"',
            'conflict = "half"',
            "conflict = 'half' is neither a number from 0 to 1 nor 'proportional'",
        ),
        ("[{ type", "[ type", "is not TOML"),
        ("count = 3", "count = 1000000", "cores, more than"),
    ],
)
def test_what_is_no_platform_is_refused_by_its_key(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert old in TEXT
    with pytest.raises(UsageError) as caught:
        read_platform(platform_file(tmp_path, TEXT.replace(old, new, 1)))
    assert told in str(caught.value)
    assert caught.value.code == "JPO-E742"
