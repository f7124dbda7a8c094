"""What AWS offers, as `jpo suggest` and `jpo predict` name it: read by the user's credentials, kept with its day."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("boto3")
pytest.importorskip("moto")

from amazon import Amazon, amazon_before
from launches import DIGITS
from price_list import moto_server, price_list_server, prices

from jpo.plugins.launch.engines.aws.market import lost_share
from jpo.plugins.launch.job import JobState, JobStatus, LaunchJob
from jpo.plugins.launch.ledger import Entry, write

if TYPE_CHECKING:
    from user_project import Project

TOML = """\
[csv]
logs = ["runs/*.csv"]
[parameters]
epochs = { key = "training.epochs", freeze = true }
[launch]
on = "aws"
[launch.aws]
region = ["us-east-1", "eu-central-1"]
families = ["g5"]
"""
ON_DEMAND = {"g5.xlarge": 1.006, "g5.2xlarge": 1.212}
KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"


@pytest.fixture(scope="module")
def door() -> Iterator[Amazon]:
    with moto_server() as moto, amazon_before(moto) as server:
        yield server


@pytest.fixture
def amazon(door: Amazon, monkeypatch: pytest.MonkeyPatch) -> Iterator[Amazon]:
    """Spot prices of a week: cheaper in Frankfurt, where one zone was above the price on demand for a day."""
    for name in ("AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    now = datetime.now(UTC)

    def ago(days: float) -> str:
        return (now - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S.000Z")

    door.spot[:] = [
        ("g5.xlarge", "us-east-1a", ago(9), "0.60"),
        ("g5.xlarge", "us-east-1b", ago(9), "0.50"),
        ("g5.2xlarge", "us-east-1a", ago(9), "0.70"),
        ("g5.xlarge", "eu-central-1a", ago(9), "0.35"),
        ("g5.xlarge", "eu-central-1a", ago(3), "2.00"),
        ("g5.xlarge", "eu-central-1a", ago(2), "0.35"),
        ("g5.xlarge", "eu-central-1b", ago(9), "0.90"),
    ]
    door.asked.clear()
    with price_list_server(prices(ON_DEMAND)) as price_list:
        for name, value in {**door.environment, "AWS_ENDPOINT_URL_PRICING": price_list.url}.items():
            monkeypatch.setenv(name, value)
        yield door


@pytest.fixture
def on_aws(project: Project) -> Project:
    """One GPU, two regions, no prices in jpo.toml."""
    (project.folder / "jpo.toml").write_text(TOML)
    project.config.write_text(project.config.read_text() + "gpus = 1\n")
    return project


def said(project: Project, *words: str) -> str:
    answer = project.jpo(*words)
    assert answer.code == 0, answer.err
    assert KEY not in answer.out + answer.err
    return " ".join((answer.out + answer.err).split())


def test_suggest_and_predict_name_the_cheapest_instance_of_all_regions_with_zone_price_and_risk(
    on_aws: Project, amazon: Amazon
) -> None:
    told = said(on_aws, "suggest", "config.ini")
    spot = "0.4437 USD/h spot in eu-central-1a, at most 2 USD/h within a week"
    cheapest = f"g5.xlarge in eu-central-1 (1.006 USD/h on demand, {spot}"
    assert cheapest in told
    assert "14% of the time above on demand, interruptions here unknown" in told
    asked = amazon.asked.count("DescribeSpotPriceHistory")
    assert asked == 4, "two pages of each region"
    assert cheapest in said(on_aws, "predict", "config.ini")
    assert cheapest in said(on_aws, "suggest", "config.ini", "--offline")
    said(on_aws, "suggest", "config.ini")
    assert amazon.asked.count("DescribeSpotPriceHistory") == asked, "read once a day"


def test_costs_are_known_without_a_price_in_jpo_toml(on_aws: Project, amazon: Amazon) -> None:
    said(on_aws, "prices", "refresh")
    row = json.loads(said(on_aws, "predict", "config.ini", "-o", "json"))["rows"][0]
    hours = row["forecast"]["duration_seconds"]["mean"] / 3600
    assert row["forecast"]["cost_usd"]["mean"] == pytest.approx(hours * 0.4437, rel=0.01)
    assert (row["instance"]["zone"], row["instance"]["spot"]) == ("eu-central-1a", True)
    assert "eu-central-1a" in said(on_aws, "prices", "show")


def test_what_was_read_last_counts_with_its_day_where_aws_is_away(
    on_aws: Project, amazon: Amazon, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(on_aws, "prices", "refresh")
    file = on_aws.folder / ".jpo/aws_prices.csv"
    today = datetime.now(UTC).date()
    file.write_text(file.read_text().replace(str(today), str(today - timedelta(days=3))))
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    told = said(on_aws, "suggest", "config.ini")
    assert f"prices of {today - timedelta(days=3)}, 3 days old" in told
    assert "found no AWS credentials" in told


def test_without_credentials_the_shipped_prices_count_and_the_hint_says_how_to_read_more(
    on_aws: Project, amazon: Amazon, monkeypatch: pytest.MonkeyPatch
) -> None:
    (on_aws.folder / "jpo.toml").write_text(TOML.replace('["us-east-1", "eu-central-1"]', '"us-east-1"'))
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    told = said(on_aws, "suggest", "config.ini")
    assert "g5.xlarge in us-east-1 (1.006 USD/h on demand, spot price unknown; prices of 2026-08-26" in told
    assert "give this job an AWS role or profile" in told
    assert "`jpo prices refresh` reads them" in said(on_aws, "predict", "config.ini")


@pytest.mark.parametrize("region", ["nowhere-1", "eu-central-1"])
def test_a_region_without_prices_is_no_error(on_aws: Project, amazon: Amazon, region: str) -> None:
    (on_aws.folder / "jpo.toml").write_text(TOML.replace('["us-east-1", "eu-central-1"]', f'"{region}"'))
    assert f"What instances cost in {region} is unknown" in said(on_aws, "predict", "config.ini")


def test_prices_of_jpo_toml_count_and_nobody_is_asked(on_aws: Project, amazon: Amazon) -> None:
    (on_aws.folder / "jpo.toml").write_text(TOML + "[prices]\nusd_per_gpu_hour = 2.0\n")
    assert "g5.xlarge" not in said(on_aws, "suggest", "config.ini")
    assert amazon.asked == []
    answer = on_aws.jpo("prices", "refresh")
    assert (answer.code, "JPO-E808" in answer.err) == (2, True)


def test_hours_lost_to_interruptions_are_said_from_five_runs_on(tmp_path: Path) -> None:
    for number in range(5):
        assert lost_share(tmp_path) is None
        reason = "Server.SpotInstanceTermination: AWS takes its spot instance back" if number == 0 else ""
        end = JobStatus(JobState.ENDED, reason=reason, place="i-1 g5.xlarge spot us-east-1a", started_at=1.0, ended_at=3601.0)
        job = LaunchJob(f"run-{number}", DIGITS, ("true",), tmp_path)
        (tmp_path / job.run_id).mkdir()
        write(tmp_path, Entry(job, "aws", 1.0, engine_id="x", end=end))
    assert lost_share(tmp_path) == 0.2
