"""Market: today's prices of the instances on which runs may start, read with the user's credentials and kept in the project.

`.jpo/aws_prices.csv` is a catalogue (jpo/cost/catalogue.py): each line has the day on which it was read. Whoever cannot read
prices gets those that were read last, else those that came with JPO, and a note: a price is never worth an exit code.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from jpo.cost import Instance, Prices
from jpo.cost.aws import FAMILIES, read_offers
from jpo.cost.catalogue import as_csv, with_gpu_type
from jpo.errors import JpoError, TelemetryError, UsageError
from jpo.files import whole
from jpo.plugins.launch.engines import Surroundings
from jpo.plugins.launch.engines.aws.settings import AwsTable, file_of, in_regions, offers_of, read_last
from jpo.plugins.launch.ledger import entries
from jpo.records import Note
from jpo.timeouts import within

SECONDS_PER_DAY = 86400
LONGEST_SECONDS = 20.0
"""For the prices of all regions together."""
FEWEST_RUNS = 5
"""On spot instances, ended here, from which on the share of lost hours is said: one of two would say nothing."""


def market(
    table: AwsTable, here: Surroundings, gpu_type: str | None, fresh_seconds: float | None
) -> tuple[Prices, tuple[Note, ...]]:
    """The prices of instances that may be rented, and what must be said of them.

    `fresh_seconds`: prices that are older are read anew; None: AWS is not asked.
    """
    places = in_regions(table, here)
    notes, offers = [*read_anew(places, here, fresh_seconds)] if fresh_seconds is not None else list[Note](), list[Instance]()
    for place in places:
        try:
            there = offers_of([place], here)
            offers += there if gpu_type is None else with_gpu_type(there, gpu_type, place="[prices]")
        except UsageError as error:
            notes.append(Note(error.code, f"What instances cost in {place.region or 'AWS'} is unknown: {error}"))
    known = any(offer.usd_per_hour_spot is not None for offer in offers)
    if table.spot and offers and not known and not notes:
        notes.append(Note("JPO-W803", "No spot prices are known, so costs are those on demand: `jpo prices refresh` reads them"))
    return Prices(instances=tuple(offers), spot=table.spot and known, spot_lost_share=lost_share(here.ledger)), tuple(notes)


def read_anew(places: Sequence[AwsTable], here: Surroundings, fresh_seconds: float) -> Iterator[Note]:
    """Read the prices of regions whose prices are too old, all at once; a region that cannot be read keeps those that it had."""
    file, now, kept = file_of(here), here.clock(), read_last(here)
    today = datetime.fromtimestamp(now, UTC).date()
    fresh = [each for each in kept if (today - each.date).days * SECONDS_PER_DAY < fresh_seconds]
    there = {place: {each.family for each in fresh if each.region == place.region} for place in places}
    old = [place for place, families in there.items() if place.region and not (families and families >= {*place.families})]
    answers = within(2 * LONGEST_SECONDS, [partial(_offers, place, now) for place in old]) if old else []
    found = {offer.region: answer for answer in answers if not isinstance(answer, JpoError) for offer in answer}
    troubles = [answer for answer in answers if isinstance(answer, JpoError)]
    if found:
        new = (*(each for each in kept if each.region not in found), *(each for offers in found.values() for each in offers))
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with whole(file, remedy="check disk and mode") as written:
                written.write(as_csv(new).encode())
        except (UsageError, OSError) as error:
            yield Note("JPO-E307", f"Prices of AWS could not be kept: {error}")
    for trouble in troubles:
        yield Note(trouble.code, f"Prices of AWS were not read, the last known count: {trouble}")


def lost_share(ledger: Path) -> float | None:
    """Share of the hours on spot instances of runs here that were lost when AWS took the instance back; None: too few runs."""
    ends = [entry.end for entry in entries(ledger) if entry.engine == "aws" and entry.end and " spot " in entry.end.place]
    hours = [
        (end.ended_at - end.started_at, end.reason.startswith("Server.Spot")) for end in ends if end.started_at and end.ended_at
    ]
    total = sum(each for each, _ in hours)
    return sum(each for each, lost in hours if lost) / total if len(hours) >= FEWEST_RUNS and total > 0 else None


def _offers(place: AwsTable, now: float) -> tuple[Instance, ...] | JpoError:
    try:
        return read_offers(str(place.region), place.families or FAMILIES, seconds=LONGEST_SECONDS, now=now).instances
    except (UsageError, TelemetryError) as error:
        return error
