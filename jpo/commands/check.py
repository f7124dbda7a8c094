"""`jpo check config.ini`: is this file readable, does it name its workload, and does it keep to the limits?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from jpo.cost import Prices, usd_per_hour
from jpo.project.load import LoadedSettings
from jpo.project.prices import prices_of
from jpo.project.workload import judged_today, limits_of, read_workload
from jpo.report.check import CheckedConfig, Remark
from jpo.wording.numbers import plain


def check(path: Path, settings: LoadedSettings, *, now: float) -> CheckedConfig:
    """What JPO understands of the file.

    Raises:
        UsageError: the file or jpo.toml is invalid.
    """
    workload, prices = read_workload(path, settings, now=now), prices_of(settings)
    judged = judged_today(workload, limits_of(settings), prices)
    broken = (Remark(f"{finding}; suggest leaves it as it is, or brings it back", "JPO-W403") for finding in judged.broken)
    said = (*broken, *remarks(workload.current, prices))
    return CheckedConfig(path, workload.identity, workload.parameters, said, judged.kept, judged.rules)


def remarks(values: Mapping[str, float], prices: Prices) -> Iterator[Remark]:
    """How batch size, GPUs, CPUs and prices go together; none of it is forbidden. Uneven batches are, by the guard."""
    gpus, batch, cpus = values.get("gpus", 0.0), values.get("batch_size"), values.get("cpus")
    if gpus > 1 and batch is not None:
        yield Remark(f"batch_size counts over all GPUs: {plain(batch / gpus)} samples on each of {plain(gpus)}")
    if gpus >= 1 and cpus is not None and cpus < gpus:
        yield Remark(f"cpus = {plain(cpus)} for gpus = {plain(gpus)}: less than one to feed each GPU", "JPO-W869")
    if gpus >= 1 and prices != Prices() and usd_per_hour(values, prices) is None:
        yield Remark(f"gpus = {plain(gpus)}, and [prices] does not say what that costs: the cost of runs is unknown", "JPO-I861")
    if values.get("gpus") == 0 and prices.usd_per_gpu_hour is not None:
        sentence = "gpus = 0, and [prices] has a price of GPUs: runs are taken to cost what their CPUs and memory do"
        yield Remark(sentence, "JPO-I862")
