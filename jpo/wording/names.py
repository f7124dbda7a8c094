"""Names of quantities, SLA targets and parameters: what people call them, their unit, and how their values are written.

One table for all reports, so that a quantity has one name. The keys are the names in records and in jpo.toml. It is data alone;
wording/numbers.py writes the values.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from jpo.records import OBJECTIVE, TRAINED

Format = Literal[
    "plain",
    "duration",
    "money",
    "money_per_hour",
    "gib",
    "percent",
    "energy",
    "kilograms",
    "change",
    "points",
    "difference",
    "moment",
]
"""A way to write a number; wording/numbers.py has the function of each."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity as reports show it.

    Attributes:
        long: its name in a sentence.
        short: its name as the heading of a column or a row.
        unit: of the number in records, e.g. "s" or "USD"; empty for counts and ratios.
        form: how its values are written for people.
    """

    long: str
    short: str
    unit: str = ""
    form: Format = "plain"


@dataclass(frozen=True, slots=True)
class Target:
    """The meaning of a target of [sla].

    Attributes:
        quantity: the field of Outcome and Forecast that it limits.
        at_most: the limit is the largest value that meets it; else the smallest.
        at_best: what is said of configurations that keep another target, before the value that comes nearest.
        only_grows: a run that did not reach its end may have broken it already; about other targets such a run says nothing.
    """

    quantity: str
    at_most: bool
    at_best: str
    only_grows: bool = False

    @property
    def sign(self) -> Literal["≤", "≥"]:
        return "≤" if self.at_most else "≥"


OUTCOMES: Mapping[str, Quantity] = {
    "duration_seconds": Quantity("duration", "duration", "s", "duration"),
    "cost_usd": Quantity("cost", "cost", "USD", "money"),
    "energy_joules": Quantity("energy", "energy", "J", "energy"),
    "samples": Quantity("samples", "samples"),
    "throughput_samples_per_second": Quantity("throughput in samples/s", "samples/s", "samples/s"),
    "train_loss": Quantity("training loss", "train loss"),
    "val_loss": Quantity("validation loss", "val loss"),
    "gpu_utilisation": Quantity("GPU utilisation", "GPU utilisation", "", "percent"),
    "cpu_utilisation": Quantity("CPU utilisation", "CPU utilisation", "", "percent"),
    "memory_gib": Quantity("memory", "memory", "GiB", "gib"),
    "gpu_memory_gib": Quantity("memory of a GPU", "GPU memory", "GiB", "gib"),
    "cpu_cores_mean": Quantity("busy CPU cores, mean", "CPU cores", "cores"),
    "cpu_cores_p95": Quantity("busy CPU cores, 95th percentile", "CPU cores p95", "cores"),
    "memory_mean_gib": Quantity("memory, mean", "memory mean", "GiB", "gib"),
    "memory_p95_gib": Quantity("memory, 95th percentile", "memory p95", "GiB", "gib"),
    "converged": Quantity("target reached", "converged"),
    "stopped": Quantity("stopped from outside", "stopped"),
    "loss_slope": Quantity("slope of the learning curve", "loss slope"),
    "loss_slope_error": Quantity("standard error of the slope", "loss slope error"),
    "epochs": Quantity("finished epochs", "finished epochs"),
    "val_accuracy": Quantity("validation accuracy", "accuracy"),
}
"""What a run has, and what is forecast of one: every field of records.Outcome, and so of records.Forecast."""

PARAMETERS: Mapping[str, Quantity] = {
    "batch_size": Quantity("batch size", "batch"),
    "learning_rate": Quantity("learning rate", "lr"),
    "num_layers": Quantity("layers", "layers"),
    "epochs": Quantity("epochs", "epochs"),
    "gpus": Quantity("GPUs", "gpus"),
    "cpus": Quantity("CPUs", "cpus"),
    "memory_gib": Quantity("memory", "memory", "GiB", "gib"),
}
"""What a run is given, in the order of records.PARAMETERS."""

TARGETS: Mapping[str, Target] = {
    "time_max": Target("duration_seconds", True, "takes at least", only_grows=True),
    "cost_max": Target("cost_usd", True, "costs at least", only_grows=True),
    "throughput_min": Target("throughput_samples_per_second", False, "does at most, in samples/s,"),
    "memory_max_gib": Target("memory_gib", True, "needs at least, in GiB,", only_grows=True),
    "gpu_util_min": Target("gpu_utilisation", False, "has a GPU utilisation of at most"),
    "cpu_util_min": Target("cpu_utilisation", False, "has a CPU utilisation of at most"),
    "val_loss_max": Target("val_loss", True, "ends with a validation loss of at least"),
    "accuracy_min": Target("val_accuracy", False, "ends with a validation accuracy of at most"),
    "energy_max": Target("energy_joules", True, "takes at least", only_grows=True),
}
"""The targets that [sla] can have, in the order of reports; people know a target by its name in jpo.toml. cost/sla.py says where
else a new one stands."""

DERIVED: Mapping[str, Quantity] = {
    "failed": Quantity("runs that failed", "failed", "", "percent"),
    "share": Quantity("share", "share", "", "percent"),
    "change": Quantity("change", "change", "", "change"),
    "points": Quantity("change", "change", "", "points"),
    "difference": Quantity("change", "change", "", "difference"),
    OBJECTIVE: Quantity("objective", "weighed", "", "change"),
    "moment": Quantity("time (UTC)", "time (UTC)", "unix seconds", "moment"),
    "co2_kg": Quantity("CO2", "CO2", "kg", "kilograms"),
    "usd_per_hour": Quantity("price of an hour", "price", "USD/h", "money_per_hour"),
}
"""What reports derive: shares in 0..1; changes as the ratio after / before, as a difference of shares, or of other numbers."""

NUMBER = Quantity("", "")
"""A number of no particular quantity."""


def quantity(name: str) -> Quantity:
    """The quantity of an outcome, parameter, SLA target or derived number; NUMBER for other names."""
    bounded = TARGETS[name].quantity if name in TARGETS else name
    return OUTCOMES.get(bounded) or PARAMETERS.get(bounded) or DERIVED.get(bounded) or NUMBER


def heading(name: str) -> str:
    """What stands over the values of a quantity, and of a metric of the user's own its name."""
    return quantity(name).short or name


def target(name: str) -> Target:
    """The target of a name in [sla]; of another name, NAME_min or NAME_max, that of a metric of the user's own."""
    metric, at_most = name[: -len("_min")], name.endswith("_max")
    return TARGETS.get(name) or Target(metric, at_most, f"ends with {metric} of {'at least' if at_most else 'at most'}")


def objectives(known: Collection[str]) -> tuple[str, ...]:
    """What nearly every report shows: time, cost, and what is known of the model; its validation loss where nothing is."""
    own = sorted(set(known) - OUTCOMES.keys() - DERIVED.keys())
    of_model = [name for name in ("val_loss", "val_accuracy") if name in known] + own
    return "duration_seconds", "cost_usd", *(of_model or ["val_loss"])


OBJECTIVES: Mapping[str, str] = {"duration_seconds": "time", "cost_usd": "cost", "val_loss": "loss"}
"""What nearly every report shows, by the name that a preference has for it: time -22%  cost +51%  loss ±0%."""

DECIDERS: Mapping[str, str] = {
    "sac": "the SAC agent",
    "belief": "the belief rule",
    **{name: f"the policy {name}" for name in TRAINED if name != "sac"},
    "user": "you",
    "rollback": "a rollback",
    "recovery": "recovery from failure",
    "waiting": "the last suggestion, whose run JPO is waiting for",
    "no evidence": "the lack of evidence",
}
"""Who decided, by the name in Suggestion.decided_by."""


def short(parameter: str) -> str:
    """Column heading of a parameter, which leaves room for the values; a team's own has none but its name."""
    return PARAMETERS[parameter].short if parameter in PARAMETERS else parameter
