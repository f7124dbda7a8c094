"""Records of platforms that cannot be built."""

from __future__ import annotations

import pytest

from jpo.plugins.cluster.platform.platform import NodeGroup, NodeType, Platform, ProcessorType, Slowdowns, equal_processors


def test_a_platform_without_nodes_a_node_without_processors_and_a_processor_without_cores_are_none() -> None:
    with pytest.raises(ValueError, match="no nodes"):
        Platform("p", ())
    with pytest.raises(ValueError, match="no processors"):
        NodeType("n", ())
    with pytest.raises(ValueError, match="at least one core"):
        ProcessorType("c", "cpu", 0)
    with pytest.raises(ValueError, match="bandwidth"):
        ProcessorType("c", "cpu", 1, bandwidth_gbps=0)
    with pytest.raises(ValueError, match="conflict"):
        Slowdowns(conflict=0.0)


def test_equal_processors_are_one_node() -> None:
    platform = equal_processors(8)
    assert (platform.cores("cpu"), platform.cores("gpu"), len(platform.nodes)) == (8, 0, 1)
    assert Platform("p", (NodeGroup("c", platform.groups[0].node, 3),)).cores("cpu") == 24
