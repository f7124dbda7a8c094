"""`jpo prices show|refresh`: prices of resources with their source; AWS' prices of today into a catalogue file."""

import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from jpo.cost.aws import SPOT_DAYS, read_offers
from jpo.cost.catalogue import Instance, as_csv, is_head
from jpo.cost.price_list import PriceList, price_list
from jpo.errors import UsageError
from jpo.files import whole
from jpo.files.reading import beginning
from jpo.project.durations import seconds
from jpo.project.load import LoadedSettings
from jpo.project.prices import currency_of, market_of, prices_of
from jpo.project.shown_prices import catalogue_shown, named_prices
from jpo.project.workload import read_workload
from jpo.wording.numbers import counted

MOST_SECONDS = 3600.0
LONGEST_HEAD = 1000


def show(config: Path | None, settings: LoadedSettings, *, gpu_type: str | None, now: float) -> PriceList:
    """The prices in force, today's hourly price, and the catalogue's instances.

    Without a config.ini it is the prices alone; without a catalogue in [prices] JPO's own if a GPU type is asked for. Raises
    UsageError: JPO-E801, an unknown GPU type or region; JPO-E802, the catalogue cannot be read.
    """
    workload = None if config is None else read_workload(config, settings, now=now)
    prices, today = prices_of(settings), datetime.fromtimestamp(now, UTC).date()
    catalogue = catalogue_shown(settings, prices, gpu_type)
    return price_list(list(named_prices(settings)), prices, catalogue, workload, currency_of(settings), today=today)


def refresh_market(settings: LoadedSettings) -> list[str]:
    """Read the prices of the instances on which [launch] starts runs, and keep them in the project; says what is known now.

    Raises UsageError: JPO-E808, [launch] rents none, or [prices] says what an hour costs.
    """
    market = market_of(settings, fresh_seconds=0.0)
    if market is None:
        remedy = 'name a FILE.csv, or write [launch] on = "aws" and no price in [prices]'
        raise UsageError(settings.place, "says nothing of what AWS offers", remedy, code="JPO-E808")
    regions = dict.fromkeys(each.region for each in market[0].instances)
    known = (said_of(region, [each for each in market[0].instances if each.region == region]) for region in regions)
    return [*known, *(note.text for note in market[1])]


def said_of(place: str, instances: Sequence[Instance]) -> str:
    """How much is known of instances, and since when."""
    spot = {each.instance for each in instances if each.usd_per_hour_spot is not None}
    about, read = counted(len({each.instance for each in instances}), "instance"), sorted({str(each.date) for each in instances})
    return f"{place}: {about}, {len(spot)} with a spot price (mean of {SPOT_DAYS:g} days), read on {', '.join(read)}"


def refresh(file: Path, *, region: str, families: Sequence[str], timeout: str, now: float) -> list[str]:
    """Write AWS' instances with their prices of today to a catalogue file, whole or not at all; says what it holds.

    Raises UsageError: JPO-E808, the file is something else, or a family is none; JPO-E307, it cannot be written. UsageError,
    TelemetryError: as `read_offers`.
    """
    wanted = [family.strip() for family in families if family.strip()]
    odd = [family for family in wanted if not re.fullmatch(r"[a-z0-9-]+", family)]
    if odd or not wanted:
        finding = f"{odd[0]!r:.40} is not a family of instances" if odd else "names no family"
        raise UsageError("--families", finding, "write e.g. --families g5,p4d", code="JPO-E808")
    refuse_other_files(file)
    offers = read_offers(region, wanted, seconds=limit_of(timeout), now=now)
    with whole(file) as new:
        new.write(as_csv(offers.instances).encode())
    lines = [said_of(f"{file}: {region}", offers.instances)]
    if offers.unpriced:
        lines.append(f"left out, no price on demand: {', '.join(offers.unpriced)}")
    return lines


def limit_of(timeout: str) -> float:
    """Seconds of a duration above 0."""
    try:
        limit = seconds(timeout)
    except ValueError as error:
        raise UsageError("--timeout", str(error), code="JPO-E808") from error
    if not 0 < limit <= MOST_SECONDS:
        raise UsageError("--timeout", f"{timeout!r:.40} is not a time to wait", "write e.g. 60s, at most 1h", code="JPO-E808")
    return limit


def refuse_other_files(file: Path) -> None:
    """A file that is no catalogue is not replaced by one."""
    if not os.path.exists(file):  # noqa: PTH110 - Path.exists raises for a name that is too long
        return
    begins = beginning(file, LONGEST_HEAD, partial(_no_catalogue, file)).decode("utf-8-sig", errors="replace").partition("\n")[0]
    if not is_head([name.strip() for name in begins.split(",")]):
        raise _no_catalogue(file, "begins otherwise")


def _no_catalogue(file: Path, why: str) -> UsageError:
    finding = f"exists and is not a catalogue ({why})"
    return UsageError(str(file), finding, "name another file, or remove it", code="JPO-E808")
