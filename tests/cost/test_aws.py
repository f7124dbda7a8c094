from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("boto3")
pytest.importorskip("moto")

from left_running import alive, end, hanging
from price_list import Handler, PriceList, moto_server, price_list_server, prices, product

from jpo.cost import Instance
from jpo.cost.aws import Offers, in_zones, read_offers
from jpo.errors import JpoError, TelemetryError, UsageError

NOW = 1_795_300_000.0  # 2026-11-21
SECRET = "wJalrXUtnFEMI/K7MDENG"
G5 = {"g5.xlarge": 1.006, "g5.2xlarge": 1.212, "g5.48xlarge": 16.288}


@pytest.fixture(scope="module")
def ec2() -> Iterator[str]:
    with moto_server() as address:
        yield address


@pytest.fixture
def price_list(ec2: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[PriceList]:
    """A Price List which knows three instances; AWS' own settings lead there and to moto."""
    nowhere = dict.fromkeys(("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"), "/nowhere")
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    with price_list_server(prices(G5)) as server:
        endpoints = {"AWS_ENDPOINT_URL_EC2": ec2, "AWS_ENDPOINT_URL_PRICING": server.url, "AWS_EC2_METADATA_DISABLED": "true"}
        for name, value in {**nowhere, **endpoints, "AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": SECRET}.items():
            monkeypatch.setenv(name, value)
        yield server


def ask(region: str = "us-east-1", *families: str, seconds: float = 300.0) -> Offers:
    return read_offers(region, families or ("g5",), seconds=seconds, now=NOW)


def test_instances_come_with_size_price_spot_price_date_and_source(price_list: PriceList) -> None:
    cheapest = ask().instances[0]
    assert (cheapest.instance, cheapest.family, cheapest.gpu_type, cheapest.gpus) == ("g5.xlarge", "g5", "a10g", 1)
    assert (cheapest.gpu_memory_gib, cheapest.vcpus, cheapest.memory_gib) == (22.4, 4, 16.0)
    assert (cheapest.region, cheapest.usd_per_hour, cheapest.usd_per_hour_spot) == ("us-east-1", 1.006, 0.00001)  # as moto has it
    assert (str(cheapest.date), cheapest.source) == ("2026-11-21", "AWS Price List and EC2 API")


def test_spot_prices_are_those_of_each_zone_with_how_they_moved_in_the_week() -> None:
    """Of the week one zone had 0.4 for 2 days (from before it began), 0.5 for 4, 1.5 for one: more than on demand."""
    end = datetime(2026, 11, 21, tzinfo=UTC)
    changes = {"b": [(end - timedelta(days=days), usd) for days, usd in ((1, 1.5), (5, 0.5), (30, 0.4))], "a": [(end, 0.9)]}
    offer = Instance("g5.xlarge", "g5", "a10g", 1, 24, 4, 16, "us-east-1", 1.0, None, end.date(), "test")
    first, second = in_zones(offer, changes, end)
    assert (first.zone, first.usd_per_hour_spot, first.usd_per_hour_spot_highest) == ("b", round((0.8 + 2.0 + 1.0) / 7, 6), 1.5)
    assert (first.spot_above_share, second.zone, second.usd_per_hour_spot, second.spot_above_share) == (0.1429, "a", 0.9, 0.0)
    assert in_zones(offer, {}, end) == [offer]


def test_what_has_no_price_on_demand_is_left_out_and_named(price_list: PriceList) -> None:
    offers = ask()
    assert [*dict.fromkeys(one.instance for one in offers.instances)] == ["g5.xlarge", "g5.2xlarge", "g5.48xlarge"]
    assert "g5.12xlarge" in offers.unpriced


def test_the_price_is_that_of_a_shared_linux_machine_of_the_region(price_list: PriceList) -> None:
    ask("eu-west-1")
    assert {"regionCode": "eu-west-1", "operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA"}.items() <= dict(
        price_list.asked[0]
    ).items()


def test_two_prices_of_one_instance_are_none(price_list: PriceList) -> None:
    def twice(handler: Handler) -> None:
        one = G5.get(handler.filters["instanceType"], 1.0)
        prices({handler.filters["instanceType"]: one})(handler) if one == 1.006 else handler.send(
            {"PriceList": [product(1), product(2)]}
        )

    price_list.answer = twice
    assert {one.instance for one in ask().instances} == {"g5.xlarge"}


def refused(kind: type[JpoError], code: str, **how: object) -> str:
    with pytest.raises(kind) as offers:
        ask(**how)  # type: ignore[arg-type]
    assert offers.value.code == code
    assert SECRET not in str(offers.value)
    assert "\n" not in str(offers.value)
    return str(offers.value)


@pytest.mark.parametrize(
    ("answer", "kind", "code"),
    [
        (({"__type": "AccessDeniedException", "Message": f"no {SECRET}"}, 400), UsageError, "JPO-E805"),
        (({"__type": "ExpiredTokenException"}, 400), UsageError, "JPO-E805"),
        (({"__type": "NotFoundException", "Message": SECRET}, 400), TelemetryError, "JPO-E806"),
        (({"PriceList": []}, 200), TelemetryError, "JPO-E807"),
        (({"PriceList": ["{"]}, 200), TelemetryError, "JPO-E807"),
        (({"PriceList": ["[]"]}, 200), TelemetryError, "JPO-E807"),
        (([], 200), TelemetryError, "JPO-E807"),
    ],
)
def test_refusals_and_nonsense_are_one_line(
    price_list: PriceList, answer: tuple[object, int], kind: type[JpoError], code: str
) -> None:
    price_list.answer = lambda handler: handler.send(*answer)
    refused(kind, code)


def test_an_answer_that_hangs_ends_with_the_deadline(price_list: PriceList) -> None:
    price_list.answer = lambda handler: handler.server.over.wait(60) or None
    assert "no complete answer within 1s" in refused(TelemetryError, "JPO-E806", seconds=1.0)


def test_a_credential_process_that_hangs_ends_with_the_deadline(
    price_list: PriceList, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = str(tmp_path / "mark")
    (tmp_path / "config").write_text(f"[default]\ncredential_process = {hanging(tmp_path / 'login', mark)}\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    try:
        assert "no complete answer within 1s" in refused(TelemetryError, "JPO-E806", seconds=1.0)
        assert alive(mark) == 0
    finally:
        end(mark)


def test_an_address_where_nobody_is_cannot_be_reached(price_list: PriceList, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        monkeypatch.setenv("AWS_ENDPOINT_URL_EC2", f"http://127.0.0.1:{unused.getsockname()[1]}")
        assert "cannot be reached" in refused(TelemetryError, "JPO-E806")


def test_without_credentials_it_says_so(price_list: PriceList, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    assert "found no AWS credentials" in refused(UsageError, "JPO-E805")


@pytest.mark.parametrize("region", ["x y", "", "a/b"])
def test_what_is_no_region_is_said_so(price_list: PriceList, region: str) -> None:
    refused(UsageError, "JPO-E801", region=region)


def test_without_boto3_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    assert 'pip install "jpo[aws]"' in refused(UsageError, "JPO-E804")
