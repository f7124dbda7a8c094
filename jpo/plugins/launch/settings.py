"""[launch] of jpo.toml: what starts a run, on which engine, and what each engine must be told."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, WithJsonSchema

from jpo.plugin import of_package
from jpo.plugins.launch.engines import GROUP, OWN
from jpo.project.durations import Duration
from jpo.project.load import LoadedSettings
from jpo.project.settings import SettingsTable


def installed(name: str) -> str:
    """The engine, if it is JPO's or one that another package brings."""
    if name not in OWN and not of_package(GROUP, name):
        raise ValueError(f"input should be {', '.join(map(repr, OWN[:-1]))} or {OWN[-1]!r}, or an engine of a package")
    return name


Engine = Annotated[str, AfterValidator(installed), WithJsonSchema({"anyOf": [{"enum": [*OWN]}, {"type": "string"}]})]
Name = Annotated[str, Field(min_length=1, max_length=253, pattern=r"^[^\x00-\x20]+$")]


class SlurmTable(SettingsTable):
    """Submission to SLURM; what is left out is the cluster's default. `options` are further ones of sbatch: "--exclusive"."""

    partition: Name | None = None
    account: Name | None = None
    qos: Name | None = None
    options: tuple[str, ...] = ()


class KubernetesTable(SettingsTable):
    """Jobs on Kubernetes: the image that holds the training code, and where they go.

    `workdir` is the folder of the image from which the code is started. `queue` is a LocalQueue of Kueue. `environment_from`
    names Secrets whose keys the container gets as variables. `user` is the id that it runs as; 0 allows root. `metrics_port` is
    what Prometheus scrapes. `claims`: PersistentVolumeClaim -> where it is mounted. `gpu_types`: GPU type -> what the label
    `gpu_label` says on nodes that have it. `tolerations` are taints of nodes, "KEY" or "KEY=VALUE". `autoscaled`: nodes come when
    they are asked for.
    """

    image: Name | None = None
    workdir: Name | None = None
    namespace: Name | None = None
    context: Name | None = None
    queue: Name | None = None
    service_account: Name | None = None
    environment_from: tuple[Name, ...] = ()
    node_selector: dict[str, str] = {}
    image_pull_secrets: tuple[Name, ...] = ()
    tolerations: tuple[Name, ...] = ()
    user: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    metrics_port: Annotated[int, Field(ge=1, le=65535)] | None = None
    claims: dict[Name, Name] = {}
    gpu_resource: Name = "nvidia.com/gpu"
    gpu_types: dict[Name, Name] = {}
    gpu_label: Name = "nvidia.com/gpu.product"
    autoscaled: bool = False


class AwsTable(SettingsTable):
    """Instances of AWS: the machine image that holds the training code, and where they start. `spot` falls back to on demand.

    `bucket` gets output and run logs: a name, and a prefix perhaps ("ml-runs/nightly"). `folder`: of the code on the image.
    """

    region: Name | None = None
    image: Name | None = None
    bucket: Name | None = None
    folder: Annotated[str, Field(pattern=r"^/[^\x00-\x1f]*$", max_length=1000)] | None = None
    subnet: Name | None = None
    security_groups: tuple[Name, ...] = ()
    instance_profile: Name | None = None
    families: tuple[Name, ...] = ()
    spot: bool = True


class LaunchTable(SettingsTable):
    """Command that trains (program and arguments, never a shell's line), the engine, and after how long a run is ended.

    `stop_at`: multiple of what runs usually took to their target after which one is ended, in `jpo optimize` of the shortest one;
    0: never. `keep`: how long output and files of a run stay after its end, once it is on record; 0: for ever.
    """

    command: tuple[str, ...] = ()
    on: Engine = "local"
    timeout: Annotated[Duration, Field(gt=0)] | None = None
    stop_at: Annotated[float, Field(ge=0, le=1000)] = 2.0
    keep: Annotated[Duration, Field(ge=0)] = 90 * 86400.0
    slurm: SlurmTable = SlurmTable()
    kubernetes: KubernetesTable = KubernetesTable()
    aws: AwsTable = AwsTable()


def launch_table(settings: LoadedSettings) -> LaunchTable:
    """[launch] as it is in force."""
    return settings.table("launch", LaunchTable)
