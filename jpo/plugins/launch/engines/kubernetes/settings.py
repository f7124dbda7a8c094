"""[launch.kubernetes]: the image of the training code, and on which nodes and with which rights its pods run."""

from typing import Annotated

from pydantic import Field

from jpo.plugins.launch.engines.base_table import EngineTable, Name


class KubernetesTable(EngineTable):
    """Jobs on Kubernetes: the image that holds the training code, and where they go.

    `workdir` is the folder of the image from which the code is started. `queue` is a LocalQueue of Kueue. `environment_from`
    names Secrets whose keys the container gets as variables. `user` is the id that it runs as; 0 allows root. `metrics_port` is
    what Prometheus scrapes. `claims`: PersistentVolumeClaim -> where it is mounted. `gpu_types`: GPU type -> what the label
    `gpu_label` says on nodes that have it. `tolerations` are taints of nodes, "KEY" or "KEY=VALUE". `autoscaled`: nodes come when
    they are asked for.
    """

    image: Name | None = None
    workdir: Name | None = None  # None: the image's own, and then the command must name config.ini
    namespace: Name | None = None
    context: Name | None = None
    queue: Name | None = None  # None: the scheduler alone decides
    service_account: Name | None = None  # None: the namespace's default one, whose token the pod then does not get
    environment_from: tuple[Name, ...] = ()
    node_selector: dict[str, str] = {}
    image_pull_secrets: tuple[Name, ...] = ()  # for the registry, where the service account has none
    tolerations: tuple[Name, ...] = ()
    user: Annotated[int, Field(ge=0, lt=2**31)] | None = None  # None: the image's own, which may not be root
    metrics_port: Annotated[int, Field(ge=1, le=65535)] | None = None
    claims: dict[Name, Name] = {}
    gpu_resource: Name = "nvidia.com/gpu"
    gpu_types: dict[Name, Name] = {}
    gpu_label: Name = "nvidia.com/gpu.product"
    autoscaled: bool = False

    def tolerated(self, gpus: int) -> tuple[str, ...]:
        """Taints that a run's nodes may have; that of its GPUs is always among them."""
        return (*self.tolerations, *((self.gpu_resource,) if gpus else ()))

    def selector(self, gpu_type: str | None) -> dict[str, str]:
        """Labels that a node must have. A GPU type that no setting translates chooses none: it may be that of a price."""
        chosen = self.gpu_types.get(gpu_type or "")
        return {**self.node_selector, **({self.gpu_label: chosen} if chosen else {})}
