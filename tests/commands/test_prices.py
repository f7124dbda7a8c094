from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from made import a_run

from jpo.cli.output import rendered
from jpo.commands import prices as command
from jpo.commands.prices import refresh, show
from jpo.cost import Instance, Prices
from jpo.cost.aws import Offers
from jpo.cost.catalogue import COLUMNS, as_csv, read_catalogue
from jpo.errors import TelemetryError, UsageError
from jpo.project.collect import without_energy
from jpo.project.load import load
from jpo.project.prices import currency_of, prices_of
from jpo.records import Outcome, Preference
from jpo.report import prices as subject

if TYPE_CHECKING:
    from user_project import Project

NOW = 1_795_300_000.0  # 2026-11-21
CONFIG = """\
[workload]
dataset = digits
model = cnn
framework = pytorch
[training]
batch_size = 16
[resources]
gpus = 1
cpus = 4
"""
Show = Callable[..., str]


@pytest.fixture
def shown(tmp_path: Path) -> Show:
    """`jpo prices show` with these lines in [prices]."""

    def shown(
        lines: str = "", *, config: str | None = CONFIG, gpu_type: str | None = None, form: str = "text", now: float = NOW
    ) -> str:
        if config:
            (tmp_path / "config.ini").write_text(config)
        (tmp_path / "jpo.toml").write_text(f"[prices]\n{lines}\n")
        loaded = load(tmp_path / "config.ini", tmp_path / "jpo.toml", {}, {})
        path = tmp_path / "config.ini" if config else None
        return rendered(subject, show(path, loaded, gpu_type=gpu_type, now=now), form, columns=200)

    return shown


def test_without_prices_it_is_unknown_and_says_what_to_write(shown: Show) -> None:
    text = shown()
    assert [" ".join(line.split()) for line in text.split("\n") if line.startswith("  ") and "with" not in line] == [
        "on demand unknown in force",
        "spot unknown",
    ]
    assert 'write [prices] usd_per_gpu_hour, usd_per_cpu_hour, usd_per_gib_hour, or catalogue = "aws" [JPO-W803]' in text
    assert " 0" not in text.replace("gpus = 1, cpus = 4", "")


def test_a_type_next_to_the_one_in_force_is_listed_too(shown: Show) -> None:
    text = shown('catalogue = "aws"\ngpu_type = "a10g"', gpu_type="v100")
    assert ("p3.2xlarge" in text, "g5.xlarge  in force" in text) == (True, True)


def test_named_prices_stand_with_their_origin(shown: Show, tmp_path: Path) -> None:
    text = shown("usd_per_gpu_hour = 2.1\nusd_per_cpu_hour = 0.04\nspot_share = 0.5\nspot = true")
    assert f"2.10 USD  {tmp_path}/jpo.toml" in text
    assert [" ".join(line.split()) for line in text.split("\n") if "  on demand" in line or "  spot" in line] == [
        "on demand 2.26 USD/h",
        "spot 1.13 USD/h in force",
    ]


def test_a_catalogue_says_which_instance_and_since_when(shown: Show) -> None:
    document = json.loads(shown('catalogue = "aws"\ngpu_type = "a10g"', form="json"))
    assert document["today"]["on_demand"] == {"usd_per_hour": 1.006, "instance": "g5.xlarge"}
    assert document["today"]["spot"] == {"usd_per_hour": None, "instance": None}
    assert {one["gpu_type"] for one in document["instances"]} == {"a10g"}
    assert document["sources"] == ["instances.vantage.sh as kept in github.com/tsaol/aws-gpu at 18aebd1: 2026-08-26"]
    assert document["notes"] == []


def test_amounts_are_shown_in_the_currency_and_stay_in_usd_in_json(shown: Show) -> None:
    lines = 'catalogue = "aws"\ncurrency = "EUR"\nper_usd = 0.5'
    assert "0.263 EUR/h  g4dn.xlarge  in force" in shown(lines)
    assert json.loads(shown(lines, form="json"))["today"]["on_demand"]["usd_per_hour"] == 0.526


def test_prices_older_than_a_year_are_called_so(shown: Show) -> None:
    assert "JPO-W801" not in shown('catalogue = "aws"')
    assert "were read on 2026-08-26, more than a year ago" in shown('catalogue = "aws"', now=NOW + 300 * 86400)


def test_what_fits_no_instance_and_gpus_without_a_price_are_explained(shown: Show) -> None:
    assert "JPO-W804" in shown('catalogue = "aws"', config=CONFIG.replace("gpus = 1", "gpus = 64"))
    assert "write [prices] usd_per_gpu_hour [JPO-W803]" in shown("usd_per_cpu_hour = 0.04")


def test_what_it_says_to_write_would_give_a_price(shown: Show) -> None:
    on_cpus = CONFIG.replace("gpus = 1\n", "")
    assert "write [prices] usd_per_cpu_hour [JPO-W803]" in shown("usd_per_gpu_hour = 2.0", config=on_cpus)
    assert "names no GPUs, CPUs or memory" in shown('catalogue = "aws"', config=on_cpus.replace("cpus = 4\n", ""))


def test_a_spot_price_that_is_in_force_and_unknown_is_explained(shown: Show) -> None:
    assert "no spot price of it is known; write [prices] spot_share" in shown('catalogue = "aws"\nspot = true')
    assert "JPO-W803" not in shown('catalogue = "aws"\nspot = true\nspot_share = 0.4')


def test_without_a_gpu_type_the_cheapest_counts_and_says_so(shown: Show) -> None:
    assert "write [prices] gpu_type, one of a100, a10g" in shown('catalogue = "aws"')
    assert "JPO-W805" not in shown('catalogue = "aws"\ngpu_type = "t4"')


def test_a_priced_kwh_is_said_to_come_on_top(shown: Show) -> None:
    assert "JPO-W802" in shown("usd_per_gpu_hour = 1.0\nusd_per_kwh = 0.3")


def test_one_type_is_listed_even_where_no_catalogue_is_in_force(shown: Show) -> None:
    text = shown("usd_per_cpu_hour = 0.04", gpu_type="v100")
    assert "Catalogue aws, which is not in force" in text
    assert "p3dn.24xlarge" in text
    assert "g5.xlarge" not in text


def test_prices_are_shown_without_a_config(shown: Show) -> None:
    assert "An hour of" not in shown("usd_per_cpu_hour = 0.04", config=None)


def test_a_price_for_each_type(shown: Show) -> None:
    lines = 'gpu_type = "A10G"\n[prices.usd_per_gpu_hour_of]\na10g = 1.0\nt4 = 0.5'
    text = shown(lines)
    assert "GPU hour, t4    0.50 USD" in text
    assert "not in force" in next(line for line in text.split("\n") if "t4" in line)
    assert "not in force" not in next(line for line in text.split("\n") if "a10g" in line)


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ("usd_per_gpu_hour = -1", "JPO-E302"),
        ("usd_per_kwh = nan", "JPO-E302"),
        ("spot_share = 0", "JPO-E302"),
        ("spot = true", "JPO-E302"),
        ('catalogue = "aws"\nusd_per_gpu_hour = 1', "JPO-E302"),
        ('currency = "EUR"', "JPO-E302"),
        ('currency = "EUR"\nper_usd = 0', "JPO-E302"),
        ("usd_per_gpu_hour = 1\nusd_per_gpu_hour_of = { t4 = 1.0 }", "JPO-E302"),
        ("usd_per_gpu_hour_of = { t4 = 1.0 }", "JPO-E302"),
        ("usd_per_gpu_hour_of = { t4 = 1.0, ' T4' = 2.0 }\ngpu_type = 't4'", "JPO-E302"),
        ("usd_per_gpu_hour = 1.0\nregion = 'us-east-1'", "JPO-E302"),
        ("usd_per_gpu_hour_of = { t4 = -1.0 }\ngpu_type = 't4'", "JPO-E302"),
        ("usd_per_gpu_hour_of = { t4 = 1.0 }\ngpu_type = 'v9'", "JPO-E801"),
        ('catalogue = "aws"\ngpu_type = "v9"', "JPO-E801"),
        ('catalogue = "aws"\nregion = "mars"', "JPO-E801"),
        ('catalogue = "none.csv"', "JPO-E802"),
        ('catalogue = ""', "JPO-E802"),
    ],
)
def test_wrong_prices_are_one_line_with_the_place(shown: Show, lines: str, code: str) -> None:
    with pytest.raises(UsageError, match=r"jpo\.toml|none\.csv|is a directory") as refused:
        shown(lines)
    assert refused.value.code == code


OFFER = Instance("g5.xlarge", "g5", "a10g", 1, 22.4, 4.0, 16.0, "us-east-1", 1.006, 0.4, date(2026, 11, 21), "a server")


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "read_offers", lambda *_, **__: Offers((OFFER,), ("g5.metal",)))


@pytest.mark.usefixtures("offered")
def test_a_refreshed_file_is_a_catalogue_that_jpo_toml_can_name(tmp_path: Path) -> None:
    file = tmp_path / "aws.csv"
    told = refresh(file, region="us-east-1", families=["g5"], timeout="60s", now=NOW)
    assert told == [
        f"{file}: us-east-1: 1 instance, 1 with a spot price (mean of 7 days), read on 2026-11-21",
        "left out, no price on demand: g5.metal",
    ]
    assert read_catalogue(file) == (OFFER,)
    (tmp_path / "jpo.toml").write_text('[prices]\ncatalogue = "aws.csv"\nspot = true\ncurrency = "EUR"\nper_usd = 0.9\n')
    loaded = load(tmp_path / "config.ini", tmp_path / "jpo.toml", {}, {})
    assert prices_of(loaded).instances == (OFFER,)
    assert currency_of(loaded).code == "EUR"


@pytest.mark.usefixtures("offered")
def test_a_catalogue_is_replaced_and_another_file_is_not(tmp_path: Path) -> None:
    old = tmp_path / "old.csv"
    old.write_text(as_csv([OFFER]) * 2)
    refresh(old, region="us-east-1", families=["g5"], timeout="60s", now=NOW)
    assert old.read_text() == as_csv([OFFER])
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="exists and is not a catalogue"):
        refresh(tmp_path / "pipe", region="us-east-1", families=["g5"], timeout="60s", now=NOW)
    for name, content in (("config.ini", CONFIG), ("empty.csv", "")):
        (tmp_path / name).write_text(content)
        with pytest.raises(UsageError, match="exists and is not a catalogue") as refused:
            refresh(tmp_path / name, region="us-east-1", families=["g5"], timeout="60s", now=NOW)
        assert refused.value.code == "JPO-E808"
        assert (tmp_path / name).read_text() == content


def test_a_failed_refresh_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> Offers:
        raise TelemetryError("AWS us-east-1", "cannot be reached", code="JPO-E806")

    (tmp_path / "aws.csv").write_text(",".join(COLUMNS))
    monkeypatch.setattr(command, "read_offers", fails)
    with pytest.raises(TelemetryError):
        refresh(tmp_path / "aws.csv", region="us-east-1", families=["g5"], timeout="60s", now=NOW)
    assert (tmp_path / "aws.csv").read_text() == ",".join(COLUMNS)
    monkeypatch.setattr(command, "read_offers", lambda *_, **__: Offers((OFFER,), ()))
    monkeypatch.setattr("jpo.files.writer.os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(UsageError, match="No space left"):
        refresh(tmp_path / "aws.csv", region="us-east-1", families=["g5"], timeout="60s", now=NOW)
    assert [path.name for path in tmp_path.iterdir()] == ["aws.csv"]


@pytest.mark.parametrize(
    ("families", "timeout"), [([""], "60s"), (["g5*"], "60s"), (["G5"], "60s"), (["g5"], "0s"), (["g5"], "soon"), (["g5"], "2d")]
)
def test_wrong_families_and_timeouts_are_refused(tmp_path: Path, families: list[str], timeout: str) -> None:
    with pytest.raises(UsageError) as refused:
        refresh(tmp_path / "aws.csv", region="us-east-1", families=families, timeout=timeout, now=NOW)
    assert refused.value.code == "JPO-E808"


def test_costs_without_energy_are_named_where_it_has_a_price() -> None:
    prices = Prices(usd_per_gpu_hour=1.0, usd_per_kwh=0.3)
    measured = a_run("r2", outcome=Outcome(duration_seconds=50.0, energy_joules=10.0))
    (some,), (none,) = without_energy([a_run(), measured], prices, Preference()), without_energy([a_run()], prices, Preference())
    assert some.text.startswith("Energy has a price: 1 of 2 runs have not measured theirs")
    assert none.text == "Cost is without energy, which has a price: no run has measured it"
    assert (
        without_energy([measured], prices, Preference())
        == without_energy([a_run()], Prices(usd_per_gpu_hour=1.0), Preference())
        == ()
    )


def test_a_config_ini_that_is_named_must_be_there(empty: Project) -> None:
    (empty.folder / "config.ini").unlink()
    assert empty.jpo("prices", "show").code == 0
    answer = empty.jpo("prices", "show", "config.ini")
    assert (answer.code, "[JPO-E201]" in answer.err) == (2, True)
