"""On which nodes the pods of a run may be, by [launch.kubernetes]."""

from __future__ import annotations

from jpo.plugins.launch.engines.kubernetes.settings import KubernetesTable

TABLE = KubernetesTable(node_selector={"pool": "gpu"}, tolerations=("spot",), gpu_types={"a100": "NVIDIA-A100"})


def test_a_gpu_type_chooses_nodes_where_a_setting_translates_it() -> None:
    assert TABLE.selector("a100") == {"pool": "gpu", "nvidia.com/gpu.product": "NVIDIA-A100"}
    assert TABLE.selector("h100") == TABLE.selector(None) == {"pool": "gpu"}


def test_the_taint_of_gpus_is_tolerated_with_them() -> None:
    assert TABLE.tolerated(1) == ("spot", "nvidia.com/gpu")
    assert TABLE.tolerated(0) == ("spot",)
