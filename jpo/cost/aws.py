"""Today's AWS prices: sizes and spot prices from EC2, on-demand prices from the Price List, through boto3.

Credentials and endpoints are those of AWS' own tools, and never part of a message. Needs `pip install "jpo[aws]"`. It only reads.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

from jpo.cost.catalogue import Instance
from jpo.errors import TelemetryError, UsageError
from jpo.files.reading import number
from jpo.http.aws import CREDENTIALS, REQUEST_SECONDS, ROLE, code_of, session
from jpo.http.quoting import quote
from jpo.timeouts import NoAnswerInTime, within

PRICE_LIST_REGION = "us-east-1"
"""Region that serves the Price List, which has the prices of all regions."""
SPOT_DAYS = 7.0
AT_ONCE = 8
"""Questions to the Price List side by side: it is asked for one type at a time, and has a hundred of them."""
FAMILIES = ("p3", "p3dn", "p4d", "p4de", "p5", "g4dn", "g5", "g6")
"""Those whose prices are read where none are named: with the GPUs that training uses."""
LACKING = "the role needs pricing:GetProducts, ec2:DescribeInstanceTypes and ec2:DescribeSpotPriceHistory"
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Offers:
    """The answer of AWS.

    `instances`: those with an on-demand price; where there was a spot price within the last week, one for each zone.
    `unpriced`: instance types of the region without exactly one on-demand price for Linux; they are left out.
    """

    instances: tuple[Instance, ...]
    unpriced: tuple[str, ...]


def read_offers(region: str, families: Sequence[str], *, seconds: float, now: float) -> Offers:
    """The instances of some families in a region, as AWS offers them now.

    Args:
        families: e.g. "g5", "p4d".
        seconds: for all requests together.
        now: unix seconds; spot prices are the mean of the week before, by how long each was in force.

    Raises:
        UsageError: JPO-E804, boto3 is missing; JPO-E805, no credentials, or AWS does not accept them; JPO-E801, no such region.
        TelemetryError: JPO-E806, AWS cannot be reached or takes too long; JPO-E807, it has no price, or its answer is malformed.
    """
    place = f"AWS {region:.40}"
    return _asked(place, lambda: _offers(region, families, min(seconds, REQUEST_SECONDS), now), seconds)


def _offers(region: str, families: Sequence[str], request_seconds: float, now: float) -> Offers:
    connection = session(attempts=2, request_seconds=request_seconds)
    if not region:
        raise UsageError("--region", "is empty", "write e.g. --region eu-central-1", code="JPO-E801")
    ec2, pricing = connection.client("ec2", region), connection.client("pricing", PRICE_LIST_REGION)
    today = datetime.fromtimestamp(now, UTC)
    wanted = [{"Name": "instance-type", "Values": [f"{family}.*" for family in families]}]
    pages = ec2.get_paginator("describe_instance_types").paginate(Filters=wanted)
    types = {kind["InstanceType"]: kind for page in pages for kind in page["InstanceTypes"]}
    names = sorted(types)
    several = [names[start::AT_ONCE] for start in range(min(AT_ONCE, len(names)))]
    asked = [partial(lambda some: {name: _on_demand(pricing, name, region) for name in some}, some) for some in several]
    answers = within(request_seconds * len(names), asked) if asked else ()
    on_demand = {name: price for some in answers for name, price in some.items()}
    priced = {name: price for name, price in on_demand.items() if price is not None}
    if not priced:
        finding = f"has no on-demand price for Linux of {', '.join(families):.80}"
        raise TelemetryError(f"AWS {region}", finding, "name other --families or another --region", code="JPO-E807")
    spot = _spot(ec2, list(priced), today)
    offers = [_instance(types[name], price, region, today) for name, price in priced.items()]
    instances = [each for offer in offers for each in in_zones(offer, spot.get(offer.instance, {}), today)]
    instances.sort(key=lambda each: (each.family, each.usd_per_hour, each.instance, each.usd_per_hour_spot or 0.0))
    return Offers(tuple(instances), tuple(sorted(name for name, price in on_demand.items() if price is None)))


def _on_demand(pricing: Any, instance: str, region: str) -> float | None:
    """USD per hour of a shared Linux machine without further software; None where there is not exactly one such price."""
    exact = {
        "instanceType": instance,
        "regionCode": region,
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
        "operation": "RunInstances",
    }
    filters = [{"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in exact.items()]
    pages = pricing.get_paginator("get_products").paginate(ServiceCode="AmazonEC2", FormatVersion="aws_v1", Filters=filters)
    prices = {price for page in pages for product in page["PriceList"] for price in _hourly(json.loads(product))}
    return prices.pop() if len(prices) == 1 else None


def _hourly(product: Mapping[str, Any]) -> list[float]:
    """The hourly prices in one entry of the Price List; capacity that is paid for otherwise has 0 there."""
    terms = product.get("terms", {}).get("OnDemand", {}).values()
    dimensions = [dimension for term in terms for dimension in term["priceDimensions"].values()]
    prices = [number(dimension["pricePerUnit"]["USD"]) for dimension in dimensions if dimension["unit"] == "Hrs"]
    return [price for price in prices if price > 0]


Changes = list[tuple[datetime, float]]
"""Spot prices of one zone, each with the moment from which it was in force."""


def _spot(ec2: Any, instances: Sequence[str], today: datetime) -> dict[str, dict[str, Changes]]:
    """The last week's spot prices by instance type and zone, the price with which it began included."""
    pages = ec2.get_paginator("describe_spot_price_history").paginate(
        InstanceTypes=list(instances),
        ProductDescriptions=["Linux/UNIX", "Linux/UNIX (Amazon VPC)"],
        StartTime=today - timedelta(days=SPOT_DAYS),
        EndTime=today,
    )
    found: dict[str, dict[str, Changes]] = {}
    for entry in (entry for page in pages for entry in page["SpotPriceHistory"]):
        zones = found.setdefault(entry["InstanceType"], {})
        zones.setdefault(entry["AvailabilityZone"], []).append((entry["Timestamp"], number(entry["SpotPrice"])))
    return found


def in_zones(offer: Instance, zones: Mapping[str, Changes], today: datetime) -> list[Instance]:
    """An instance in each zone with a spot price, the cheapest first; the instance itself where there is none."""
    begun, priced = today - timedelta(days=SPOT_DAYS), list[Instance]()
    for zone, changes in zones.items():
        moments = [max(begun, moment) for moment, _ in sorted(changes)] + [today]
        lasting = [(after - before).total_seconds() for before, after in pairwise(moments)]
        weights = lasting if sum(lasting) > 0 else [1.0] * len(lasting)
        usd, total = [price for _, price in sorted(changes)], sum(weights)
        mean = sum(weight * min(price, offer.usd_per_hour) for weight, price in zip(weights, usd, strict=True)) / total
        above = sum(weight for weight, price in zip(weights, usd, strict=True) if price > offer.usd_per_hour) / total
        highest, share = max(usd), round(above, 4)
        of_zone = replace(offer, zone=zone, usd_per_hour_spot=round(mean, 6))
        priced.append(replace(of_zone, usd_per_hour_spot_highest=highest, spot_above_share=share))
    return sorted(priced, key=lambda each: each.usd_per_hour_spot or 0.0) or [offer]


def _instance(kind: Mapping[str, Any], price: float, region: str, today: datetime) -> Instance:
    gpus = kind.get("GpuInfo", {}).get("Gpus", [])
    return Instance(
        instance=kind["InstanceType"],
        family=kind["InstanceType"].partition(".")[0],
        gpu_type="-".join(gpus[0]["Name"].lower().split()) if gpus else "",
        gpus=sum(gpu["Count"] for gpu in gpus),
        gpu_memory_gib=round(gpus[0]["MemoryInfo"]["SizeInMiB"] / 1024, 1) if gpus else 0.0,
        vcpus=kind["VCpuInfo"]["DefaultVCpus"],
        memory_gib=kind["MemoryInfo"]["SizeInMiB"] / 1024,
        region=region,
        usd_per_hour=price,
        usd_per_hour_spot=None,
        date=today.date(),
        source="AWS Price List and EC2 API",
    )


def _asked(place: str, question: Callable[[], Answer], seconds: float) -> Answer:
    """The answer to a question; errors of boto3 become a JpoError that repeats neither addresses nor credentials.

    In time: boto3 limits single reads, not their number, and no credential_process.
    """
    try:
        import boto3  # noqa: F401 - here, not above: an extra, and 0.2 s
        from botocore import exceptions as aws
        from botocore.parsers import ResponseParserError
    except ImportError as error:
        raise UsageError("jpo prices refresh", "boto3 is not installed", 'pip install "jpo[aws]"', code="JPO-E804") from error
    try:
        return within(seconds, [question])[0]
    except NoAnswerInTime:
        raise TelemetryError(place, f"no complete answer within {seconds:g}s", "raise --timeout", code="JPO-E806") from None
    except aws.ClientError as error:
        code, said = code_of(error), quote(code_of(error), longest=60)
        if code.startswith(CREDENTIALS):
            raise UsageError(place, f"does not accept the credentials ({said})", LACKING, code="JPO-E805") from None
        raise TelemetryError(place, f"refuses ({said})", "try again later, or another --region", code="JPO-E806") from None
    except (aws.NoCredentialsError, aws.PartialCredentialsError, aws.CredentialRetrievalError, aws.ProfileNotFound) as error:
        raise UsageError(place, f"found no AWS credentials ({type(error).__name__})", ROLE, code="JPO-E805") from None
    except (aws.InvalidRegionError, aws.ParamValidationError, aws.NoRegionError) as error:
        raise UsageError(place, "is not a region", "write e.g. --region eu-central-1", code="JPO-E801") from error
    except (aws.HTTPClientError, aws.ConnectionError) as error:
        remedy = "check the network and the name of the region, or raise --timeout"
        raise TelemetryError(place, f"cannot be reached ({type(error).__name__})", remedy, code="JPO-E806") from None
    except aws.BotoCoreError as error:
        remedy = "check the configuration of AWS"
        raise TelemetryError(place, f"cannot be asked ({type(error).__name__})", remedy, code="JPO-E806") from None
    except (ResponseParserError, KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise TelemetryError(place, "answers with data of an unexpected shape", "update jpo", code="JPO-E807") from error
