"""Sizes of a workload by its phases: request and limit, next to what was measured, and as lines to be copied."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from jpo.plugins.phases.requests.rightsize import Sizes
from jpo.report.document import Cell, Column, Document, Row, Section, Span, Table, Verbatim
from jpo.wording.numbers import counted


@dataclass(frozen=True, slots=True)
class Sized:
    """Sizes of a workload, and how config.ini and Kubernetes say them."""

    place: str
    sizes: Sizes
    config: Sequence[str]
    patch: Sequence[str]


def document(sized: Sized) -> Document:
    sizes = sized.sizes
    rested = f"{counted(sizes.executions, 'execution')}, {counted(sizes.samples, 'sample')}"
    columns = (
        *(Column("resource"), Column("peak", "figure"), Column("request", "figure"), Column("limit", "figure")),
        Column("idle on average", "figure", "share"),
    )
    cores = (Cell(value, "cpu_cores_mean") for value in (sizes.cpu_peak, sizes.cpu_request, sizes.cpu_limit))
    gib = (Cell(value, "memory_gib") for value in (sizes.memory_peak_gib, sizes.memory_gib, sizes.memory_gib))
    rows: tuple[Row, ...] = (("CPU (cores)", *cores, sizes.idle_cpu), ("memory", *gib, sizes.idle_memory))
    return Document(
        ("Sizes by ", Span(sized.place), f": {rested}"),
        (
            Table(columns, rows, "sizes"),
            f"Phase {sizes.decisive} decides over the request of CPU.",
            Section("config.ini", (Verbatim("\n".join(sized.config), "ini"),)),
            Section("Kubernetes", (Verbatim("\n".join(sized.patch), "yaml"),)),
        ),
    )


def as_json(sized: Sized) -> dict[str, object]:
    """`{"schema_version", "sizes": {...}, "config", "patch"}`; cores and GiB."""
    return {
        "schema_version": 1,
        "sizes": {**asdict(sized.sizes), "whole_cpus": sized.sizes.whole_cpus},
        "config": list(sized.config),
        "patch": list(sized.patch),
    }


def patch_text(sized: Sized) -> str:
    return "\n".join((f"# by jpo phases rightsize from {counted(sized.sizes.executions, 'execution')}", *sized.patch, ""))
