"""Price lists of clouds as CSV files: what an instance has, what an hour of it costs, since when, and where that was read.

    instance,family,gpu_type,gpus,gpu_memory_gib,vcpus,memory_gib,region,usd_per_hour,usd_per_hour_spot,date,source

`data/aws.csv` came with JPO; `jpo prices refresh` writes files of the same form, and people may write their own. A file that is
not understood whole is refused whole: a price that was mistyped must not become a price that is missing.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from io import StringIO
from pathlib import Path

from jpo.errors import UsageError

SHIPPED: Mapping[str, Path] = {"aws": Path(__file__).with_name("data") / "aws.csv"}
"""Catalogues that came with JPO, by the name which jpo.toml gives them."""
MOST = 1e6
"""Of dollars an hour, CPUs or GiB: a machine with more is a slip of the pen."""
MAX_BYTES = 8 << 20
"""All instances of all regions of one cloud are about 2 MB; more is something else."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A machine that can be rented; only whole ones can.

    Attributes:
        gpu_type: lower case, as the cloud calls it ("a10g"); empty for one without GPUs.
        gpu_memory_gib: of one GPU; 0 without.
        vcpus: what the cloud calls a CPU, mostly a hyper-thread.
        usd_per_hour: on demand, Linux.
        usd_per_hour_spot: None where it is not known.
        date: when the price was read.
        source: where.
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

    @property
    def gpu_label(self) -> str:
        """Type and memory, e.g. "a100-80gb": where one type comes with two sizes, the name alone means both."""
        return f"{self.gpu_type}-{self.gpu_memory_gib:.0f}gb"


COLUMNS = tuple(f.name for f in fields(Instance))


def read_catalogue(file: Path) -> tuple[Instance, ...]:
    """The instances of a catalogue, in its order.

    Raises:
        UsageError: JPO-E802, the file or one of its lines cannot be used; names the line.
    """
    return parsed(_text(file), str(file))


def parsed(text: str, place: str) -> tuple[Instance, ...]:
    """The instances in a text of that form; raises like `read_catalogue`."""
    lines = csv.reader(StringIO(text), strict=True)
    found: dict[tuple[str, str], Instance] = {}
    try:
        head = next(lines, [])
        if sorted(head) != sorted(COLUMNS):
            odd = sorted(set(head) ^ set(COLUMNS)) or ["a column twice"]
            raise _refused(place, 1, f"the columns are not those of a catalogue: {odd[0]!r:.40}", f"write {','.join(COLUMNS)}")
        for cells in lines:
            if not cells:
                continue
            if len(cells) != len(head):
                raise _refused(place, lines.line_num, f"{len(cells)} cells under {len(head)} columns", "mend the line")
            one = _instance(dict(zip(head, cells, strict=True)), place, lines.line_num)
            if (one.instance, one.region) in found:
                raise _refused(place, lines.line_num, f"{one.instance} stands twice for {one.region}", "keep one of them")
            found[one.instance, one.region] = one
    except csv.Error as error:
        raise _refused(place, lines.line_num, f"is not CSV ({error})", "mend the line") from error
    if not found:
        raise _refused(place, 1, "names no instance", "`jpo prices refresh FILE.csv` writes one")
    return tuple(found.values())


def as_csv(instances: Sequence[Instance]) -> str:
    """The file that `read_catalogue` reads back."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in instances:
        writer.writerow("" if (value := getattr(one, name)) is None else value for name in COLUMNS)
    return text.getvalue()


def select(instances: Sequence[Instance], *, region: str | None, gpu_type: str | None, place: str) -> tuple[Instance, ...]:
    """Those of one region; with a GPU type, those with such GPUs and those without any.

    Args:
        region: None: the only one that the catalogue has.
        place: who names region and type, for messages.

    Raises:
        UsageError: JPO-E801, the catalogue does not have the region or the type, or has several regions; names those it has.
    """
    regions = list(dict.fromkeys(one.region for one in instances))
    if region is None and len(regions) > 1:
        raise UsageError(place, f"the catalogue has {len(regions)} regions", f"write region: {_told(regions)}", code="JPO-E801")
    if region is not None and region not in regions:
        raise UsageError(place, f"region {region!r:.40} is not in the catalogue", f"known are {_told(regions)}", code="JPO-E801")
    there = tuple(one for one in instances if one.region == (region or regions[0]))
    return there if gpu_type is None else of_type(there, gpu_type, place=place)


def of_type(instances: Sequence[Instance], gpu_type: str, *, place: str) -> tuple[Instance, ...]:
    """Those with these GPUs ("a100" or "a100-80gb"), and those without any; raises UsageError JPO-E801 if none has them."""
    wanted = gpu_type.strip().lower()
    if not any(one.gpus and wanted in (one.gpu_type, one.gpu_label) for one in instances):
        known = _told(sorted({one.gpu_type for one in instances if one.gpus}))
        finding = f"gpu_type {gpu_type!r:.40} is not in the catalogue"
        raise UsageError(place, finding, f"known are {known}" if known else "it has no GPUs", code="JPO-E801")
    return tuple(one for one in instances if not one.gpus or wanted in (one.gpu_type, one.gpu_label))


def _told(names: Sequence[str]) -> str:
    """The first names; a catalogue of all regions has dozens."""
    return ", ".join(names[:12]) + (" ..." if len(names) > 12 else "")


def _text(file: Path) -> str:
    try:
        if file.exists() and not (file.is_file() or file.is_dir()):
            raise UsageError(str(file), "is no file that ends", "name another one", code="JPO-E802")  # a pipe, a device
        if file.is_file() and file.stat().st_size > MAX_BYTES:
            raise UsageError(str(file), "is too large for a catalogue", "name another file", code="JPO-E802")
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(str(file), "is not a text in UTF-8", "name another file", code="JPO-E802") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = getattr(error, "strerror", None) or error
        remedy = f"name a file, or one of {', '.join(SHIPPED)}; `jpo prices refresh` writes one"
        raise UsageError(str(file), f"the catalogue cannot be read ({why})", remedy, code="JPO-E802") from error


def _instance(cells: Mapping[str, str], place: str, line: int) -> Instance:
    """One line of the file."""

    def number(name: str, *, whole: bool = False) -> float:
        try:
            value = float(cells[name])
        except ValueError:
            value = math.nan
        if not 0 <= value <= MOST or (whole and value % 1):
            kind = "whole number" if whole else "number"
            raise _refused(place, line, f"{name} = {cells[name]!r:.40} is not a {kind} in 0..{MOST:g}", "mend the line")
        return value

    texts = {name: cells[name].strip() for name in ("instance", "family", "gpu_type", "region", "source")}
    missing = [name for name, text in texts.items() if not text and name != "gpu_type"]
    if missing:
        raise _refused(place, line, f"{missing[0]} is empty", "every price needs it")
    gpus = int(number("gpus", whole=True))
    if bool(gpus) != bool(texts["gpu_type"]):
        raise _refused(place, line, f"gpus = {gpus} and gpu_type = {texts['gpu_type']!r:.40}", "write both, or 0 and nothing")
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
        usd_per_hour_spot=number("usd_per_hour_spot") if cells["usd_per_hour_spot"].strip() else None,
        date=_date(cells["date"], place, line),
        source=texts["source"],
    )


def _date(text: str, place: str, line: int) -> date:
    try:
        return date.fromisoformat(text.strip())
    except ValueError as error:
        raise _refused(place, line, f"date = {text!r:.40} is not a date", "write e.g. 2026-08-26") from error


def _refused(place: str, line: int, finding: str, remedy: str) -> UsageError:
    return UsageError(f"{place}:{line}", finding, remedy, code="JPO-E802")
