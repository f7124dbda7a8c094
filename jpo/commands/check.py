"""`jpo check config.ini`: is this file readable, does it name its workload, and does it keep to the limits?"""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from jpo import config
from jpo.cost import Prices, usd_per_hour
from jpo.errors import StoreError, UsageError
from jpo.project.load import LoadedSettings
from jpo.project.plugins.hooks import estimates_of
from jpo.project.prices import prices_of
from jpo.project.tables.usual import usual_line
from jpo.project.workload import judged_today, limits_of, read_workload
from jpo.records import Note, Workload
from jpo.report.check import CheckedConfig
from jpo.wording.numbers import plain

COUNT = re.compile(r"[1-9][0-9]*")
MOST_LISTED = 10
"""Options that look like a parameter; who has more of them has a file of another kind."""


def check(path: Path, settings: LoadedSettings, *, now: float) -> CheckedConfig:
    """What JPO understands of the file. Raises UsageError: the file or jpo.toml is invalid."""
    workload, prices = read_workload(path, settings, now=now), prices_of(settings)
    judged = judged_today(workload, limits_of(settings), prices)
    broken = (Note("JPO-W403", f"{finding}; suggest leaves it as it is, or brings it back") for finding in judged.broken)
    said = (*broken, *config.caveats(path), *remarks(workload, prices), *first_run_notes(workload, settings))
    said = (*said, *islice(unrecognised(workload), MOST_LISTED))
    return CheckedConfig(path, workload.identity, workload.parameters, said, judged.kept, judged.rules)


def remarks(workload: Workload, prices: Prices) -> Iterator[Note]:
    """How batch size, GPUs, CPUs and prices go together; none of it is forbidden. Uneven batches are, by the guard."""
    values = workload.current
    gpus, cpus = values.get("gpus", 0.0), values.get("cpus")
    if sentence := shares(workload):
        yield Note("", sentence)
    if gpus >= 1 and cpus is not None and cpus < gpus:
        yield Note("JPO-W869", f"cpus = {plain(cpus)} for gpus = {plain(gpus)}: less than one to feed each GPU")
    if gpus >= 1 and prices != Prices() and usd_per_hour(values, prices) is None:
        yield Note("JPO-I861", f"gpus = {plain(gpus)}, and [prices] does not say what that costs: the cost of runs is unknown")
    if values.get("gpus") == 0 and prices.usd_per_gpu_hour is not None:
        sentence = "gpus = 0, and [prices] has a price of GPUs: runs are taken to cost what their CPUs and memory do"
        yield Note("JPO-I862", sentence)


def first_run_notes(workload: Workload, settings: LoadedSettings) -> tuple[Note, ...]:
    """What a first run would meet. The history is read only then: a run that ended well knows better."""
    if found := estimates_of(workload, settings, ())(workload.current).notes:
        from jpo.project.collect import on_record  # here: hardly any check needs the history, which takes long to import
        from jpo.project.project import open_history

        with suppress(StoreError, UsageError), open_history(settings, read_only=True) as store:
            return estimates_of(workload, settings, on_record(store, workload).runs)(workload.current).notes
    return found


def shares(workload: Workload) -> str | None:
    """How many samples are on each device at a time, and how they make the global batch; None where that is the batch itself."""
    values, terms, steps = workload.current, workload.terms, workload.terms.accumulation_steps or 1.0
    batch, gpus = values.get("batch_size"), values.get("gpus", 0.0)
    if batch is None or (gpus <= 1 and steps <= 1 and not terms.batch_per_device):
        return None
    devices = max(gpus, 1.0)
    share = batch / devices / steps
    samples = f"{plain(share)} {'sample' if share == 1 else 'samples'}"
    each = f"{samples} on one device" if devices == 1 else f"{samples} on each of {plain(devices)}"
    on_nodes = f" ({plain(terms.nodes or 1)} nodes)" if terms.gpus_per_node and (terms.nodes or 1) > 1 else ""
    in_steps = f", {plain(steps)} times before the weights change" if steps > 1 else ""
    if not terms.batch_per_device:
        return f"batch_size counts over all GPUs{' and accumulation steps' if steps > 1 else ''}: {each}{on_nodes}{in_steps}"
    unknown = "" if "gpus" in values else "; the file does not say how many devices, so one is assumed: add gpus = ..."
    return f"the batch is given per device: {each}{on_nodes}{in_steps}: batch_size {plain(batch)} in all{unknown}"


def unrecognised(workload: Workload) -> Iterator[Note]:
    """Options whose names look like a parameter that the file does not have otherwise, or like one that teams often tune, with
    the line that says so."""
    known = {name for p in workload.parameters for name in (p.term, p.name)}
    named = Counter(key.rpartition(".")[2].lower() for key, _, _ in workload.others)
    for key, line, text in workload.others:
        name = key.rpartition(".")[2].lower()
        meant = None if ANOTHER.fullmatch(name) else next((one for one, form in LOOKS.items() if form.fullmatch(name)), None)
        if meant == "gradient_accumulation_steps" and not COUNT.fullmatch(text):
            sentence = f"{key} = {text} (line {line}) is not a whole number of at least 1, so JPO takes it as 1"
            yield Note("JPO-I213", sentence)
        elif meant and meant not in known and re.match(r"[+-]?[.0-9]", text):
            entry = f'[parameters] {meant} = {{ key = "{key}" }}'
            yield Note("JPO-I213", f"{key} = {text} (line {line}) is not recognised; if it is {meant}, add {entry} to jpo.toml")
        elif usual := usual_line(key, text, alone=named[name] == 1):
            yield Note("JPO-I213", f"{key} = {text} (line {line}) stays as it is; to have it tuned, add [parameters] {usual}")


LOOKS = {
    "batch_size_per_device": re.compile(r"(?=.*batch).*(per|micro|local|device).*"),
    "batch_size": re.compile(r".*batch.?size.*|batch|bsz"),
    "learning_rate": re.compile(r".*learning.?rate|(.+[_-])?lr|eta0?"),
    "gradient_accumulation_steps": re.compile(r".*accum.*"),
    "epochs": re.compile(r"(.+[_-])?epochs?"),
    "nodes": re.compile(r".*nodes"),
    "gpus": re.compile(r".*(gpus?|devices?|accelerators)([_-]?(count|num|number))?"),
    "cpus": re.compile(r".*(cpus?|cores)([_-]?(count|num|number))?"),
    "num_layers": re.compile(r".*layers|depth"),
    "memory_gib": re.compile(r".*(memory|mem|ram)([_-](gi?b|mi?b|limit|request))?"),
}
"""Names of options that may be meant as a parameter, the more particular first."""
ANOTHER = re.compile(r".*(eval|val|test|warmup|min|max|decay|gamma|hidden|patience|save|log|seed).*")
"""Of these it is another one that is meant."""
