"""Price catalogues of clouds as CSV files: resources of an instance, price of an hour, date and source.

    instance,family,gpu_type,gpus,gpu_memory_gib,vcpus,memory_gib,region,usd_per_hour,usd_per_hour_spot,date,source

and, of spot prices, their zone and how they moved (OF_SPOT); a file may lack these columns.

`data/aws.csv` comes with JPO; `jpo prices refresh` writes files of the same form, and people may write their own. One bad line
refuses the whole file: a mistyped price must not become a missing price.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from io import StringIO
from pathlib import Path

from jpo.errors import UsageError, quoted
from jpo.files.reading import contents, number_or_nan
from jpo.tables.csv_rows import rows_of

SHIPPED: Mapping[str, Path] = {"aws": Path(__file__).with_name("data") / "aws.csv"}
"""Catalogues that come with JPO, by their name in jpo.toml."""
MOST = 1e6
"""Largest number of dollars an hour, CPUs or GiB: more is a typing error."""
MAX_BYTES = 8 << 20
"""All instances of all regions of one cloud take about 2 MB; a larger file is no catalogue."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A machine that can be rented, always as a whole.

    Attributes:
        gpu_type: lower case, as the cloud calls it ("a10g"); empty for one without GPUs.
        gpu_memory_gib: of one GPU; 0 without GPUs.
        vcpus: CPUs as the cloud counts them, mostly hyper-threads.
        usd_per_hour: on demand, Linux.
        usd_per_hour_spot: the week's mean in its zone, where it was above the price on demand that one; None where it is unknown.
        date: when the price was read.
        source: where it was read.
        zone: of the spot price; empty: it is the region's.
        usd_per_hour_spot_highest, spot_above_share: the highest of the week, and the share of its time in which the spot price
            was above the one on demand, so that nothing could be had; None: unknown.
    """

    instance: str
    family: str
    gpu_type: str
    gpus: int
    gpu_memory_gib: float
    vcpus: float
    memory_gib: float
    region: str
    usd_per_hour: float
    usd_per_hour_spot: float | None
    date: date
    source: str
    zone: str = ""
    usd_per_hour_spot_highest: float | None = None
    spot_above_share: float | None = None

    @property
    def gpu_label(self) -> str:
        """Type and memory, e.g. "a100-80gb": where a type comes in two sizes, its name alone means both."""
        return f"{self.gpu_type}-{self.gpu_memory_gib:.0f}gb"


COLUMNS = tuple(f.name for f in fields(Instance))
OF_SPOT = ("zone", "usd_per_hour_spot_highest", "spot_above_share")
"""Columns that a catalogue may lack."""


def read_catalogue(file: Path) -> tuple[Instance, ...]:
    """The instances of a catalogue, in its order; UsageError JPO-E802, naming the line, where it cannot be used."""
    remedy = f"name a catalogue, or one of {', '.join(SHIPPED)}; `jpo prices refresh` writes one"
    data = contents(file, MAX_BYTES, lambda finding: UsageError(str(file), finding, remedy, code="JPO-E802"))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(str(file), "is not a text in UTF-8", "name another file", code="JPO-E802") from error
    return parse(text, str(file))


def parse(text: str, place: str) -> tuple[Instance, ...]:
    """The instances in the text of a catalogue; raises like `read_catalogue`."""

    def broken(line: int, words: str) -> UsageError:
        return _refused(place, line, f"is not CSV ({words})", "fix the line")

    rows = rows_of(StringIO(text), broken)
    instances: dict[tuple[str, str, str], Instance] = {}
    _, head = next(rows, (1, []))
    if not is_head(head):
        odd = sorted(({*COLUMNS} - {*OF_SPOT} - {*head}) | ({*head} - {*COLUMNS})) or ["a column twice"]
        raise _refused(place, 1, f"the columns are not those of a catalogue: {quoted(odd[0])}", f"write {','.join(COLUMNS)}")
    for line, cells in rows:
        if len(cells) != len(head):
            raise _refused(place, line, f"{len(cells)} cells under {len(head)} columns", "fix the line")
        instance = _instance(dict(zip(head, cells, strict=True)), place, line)
        key = instance.instance, instance.region, instance.zone
        if key in instances:
            raise _refused(place, line, f"{instance.instance} is listed twice for {instance.region}", "keep one of them")
        instances[key] = instance
    if not instances:
        raise _refused(place, 1, "names no instance", "`jpo prices refresh FILE.csv` writes one")
    return tuple(instances.values())


def is_head(names: Sequence[str]) -> bool:
    """Whether a file that begins with these names is a catalogue."""
    return {*COLUMNS} - {*OF_SPOT} <= {*names} <= {*COLUMNS} and len({*names}) == len(names)


def as_csv(instances: Sequence[Instance]) -> str:
    """The text of a catalogue, which `read_catalogue` reads back."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for instance in instances:
        writer.writerow("" if (value := getattr(instance, name)) is None else value for name in COLUMNS)
    return text.getvalue()


def select(instances: Sequence[Instance], *, region: str | None, gpu_type: str | None, place: str) -> tuple[Instance, ...]:
    """The instances of one region; with a GPU type, those with such GPUs and those without any.

    `region`: None: the only one in the catalogue; `place`: where region and type are named, for messages.

    Raises UsageError: JPO-E801, the catalogue does not have the region or the type, or has several regions; names those it has.
    """
    regions = list(dict.fromkeys(instance.region for instance in instances))
    if region is None and len(regions) > 1:
        raise UsageError(place, f"the catalogue has {len(regions)} regions", f"write region: {_listed(regions)}", code="JPO-E801")
    if region is not None and region not in regions:
        finding = f"region {quoted(region)} is not in the catalogue"
        raise UsageError(place, finding, f"known are {_listed(regions)}", code="JPO-E801")
    in_region = tuple(instance for instance in instances if instance.region == (region or regions[0]))
    return in_region if gpu_type is None else with_gpu_type(in_region, gpu_type, place=place)


def with_gpu_type(instances: Sequence[Instance], gpu_type: str, *, place: str) -> tuple[Instance, ...]:
    """The instances with some GPUs ("a100" or "a100-80gb") or none; raises UsageError JPO-E801 if the type is missing."""
    wanted = gpu_type.strip().lower()
    if not any(instance.gpus and wanted in (instance.gpu_type, instance.gpu_label) for instance in instances):
        types = _listed(sorted({instance.gpu_type for instance in instances if instance.gpus}))
        finding = f"gpu_type {quoted(gpu_type)} is not in the catalogue"
        raise UsageError(place, finding, f"known are {types}" if types else "it has no GPUs", code="JPO-E801")
    return tuple(instance for instance in instances if not instance.gpus or wanted in (instance.gpu_type, instance.gpu_label))


def _listed(names: Sequence[str]) -> str:
    """The first names of a list; a catalogue of all regions has dozens."""
    return ", ".join(quoted(name).strip("'") for name in names[:12]) + (" ..." if len(names) > 12 else "")


def _instance(cells: Mapping[str, str], place: str, line: int) -> Instance:
    def number(name: str, *, whole: bool = False) -> float:
        value = number_or_nan(cells[name].strip())
        if not 0 <= value <= MOST or (whole and value % 1):
            kind = "whole number" if whole else "number"
            raise _refused(place, line, f"{name} = {quoted(cells[name])} is not a {kind} in 0..{MOST:g}", "fix the line")
        return value

    def perhaps(name: str) -> float | None:
        return number(name) if cells.get(name, "").strip() else None

    texts = {name: cells[name].strip() for name in ("instance", "family", "gpu_type", "region", "source")}
    missing = [name for name, text in texts.items() if not text and name != "gpu_type"]
    if missing:
        raise _refused(place, line, f"{missing[0]} is empty", "every price needs it")
    gpus = int(number("gpus", whole=True))
    if bool(gpus) != bool(texts["gpu_type"]):
        raise _refused(place, line, f"gpus = {gpus} and gpu_type = {quoted(texts['gpu_type'])}", "write both, or 0 and nothing")
    return Instance(
        instance=texts["instance"],
        family=texts["family"],
        gpu_type=texts["gpu_type"].lower(),
        gpus=gpus,
        gpu_memory_gib=number("gpu_memory_gib"),
        vcpus=number("vcpus"),
        memory_gib=number("memory_gib"),
        region=texts["region"],
        usd_per_hour=number("usd_per_hour"),
        usd_per_hour_spot=perhaps("usd_per_hour_spot"),
        date=_date(cells["date"], place, line),
        source=texts["source"],
        zone=cells.get("zone", "").strip(),
        usd_per_hour_spot_highest=perhaps("usd_per_hour_spot_highest"),
        spot_above_share=perhaps("spot_above_share"),
    )


def _date(text: str, place: str, line: int) -> date:
    try:
        return date.fromisoformat(text.strip())
    except ValueError as error:
        raise _refused(place, line, f"date = {quoted(text)} is not a date", "write e.g. 2026-08-26") from error


def _refused(place: str, line: int, finding: str, remedy: str) -> UsageError:
    return UsageError(f"{place}:{line}", finding, remedy, code="JPO-E802")
