from __future__ import annotations

import os
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from jpo.cost import read_catalogue
from jpo.cost.catalogue import COLUMNS, OF_SPOT, SHIPPED, as_csv, parse, select, with_gpu_type
from jpo.errors import UsageError

HEAD = ",".join(name for name in COLUMNS if name not in OF_SPOT)
SMALL = "small,x,t4,1,16,4,16,here,0.5,0.2,2026-08-26,a list"
LARGE = "large,x,a100,8,80,96,1152,here,32.0,,2026-08-26,a list"
BARE = "bare,c,,0,0,8,32,here,0.3,,2026-08-26,a list"


def catalogue(*lines: str) -> str:
    return "\n".join((HEAD, *lines)) + "\n"


def test_what_came_with_jpo_has_a_source_a_date_and_the_families() -> None:
    instances = read_catalogue(SHIPPED["aws"])
    assert {instance.family for instance in instances} == {"p3", "p3dn", "p4d", "p4de", "p5", "g4dn", "g5", "g6"}
    assert all(instance.date == date(2026, 8, 26) and instance.source and instance.usd_per_hour > 0 for instance in instances)
    by_name = {instance.instance: instance for instance in instances}
    assert (by_name["g5.12xlarge"].gpus, by_name["g5.12xlarge"].usd_per_hour) == (4, 5.672)
    assert by_name["g5.xlarge"].usd_per_hour_spot is None


def test_a_larger_instance_of_the_same_kind_is_not_cheaper() -> None:
    instances = [instance for instance in read_catalogue(SHIPPED["aws"]) if instance.family in ("g4dn", "g5", "g6", "p3")]
    for instance in instances:
        for other in instances:
            if instance.family == other.family and (instance.gpus, instance.vcpus) == (other.gpus * 2, other.vcpus * 2):
                assert instance.usd_per_hour >= 1.6 * other.usd_per_hour


def test_a_catalogue_is_read_back_as_it_was_written() -> None:
    instances = parse(catalogue(SMALL, LARGE, BARE), "file")
    assert parse(as_csv(instances), "file") == instances
    in_zones = tuple(replace(instances[0], zone=zone, usd_per_hour_spot_highest=0.3, spot_above_share=0.1) for zone in ("a", "b"))
    assert parse(as_csv(in_zones), "file") == in_zones
    assert (instances[0].usd_per_hour_spot, instances[1].usd_per_hour_spot, instances[2].gpus) == (0.2, None, 0)


@pytest.mark.parametrize(
    ("line", "finding"),
    [
        (SMALL.replace("0.5", "-0.5"), "file:3: usd_per_hour = '-0.5' is not a number in 0..1e+06"),
        (SMALL.replace("0.5", ""), "file:3: usd_per_hour = '' is not a number"),
        (SMALL.replace("0.5", "nan"), "file:3: usd_per_hour = 'nan' is not a number"),
        (SMALL.replace("0.5", "1e308"), "file:3: usd_per_hour = '1e308' is not a number in 0..1e+06"),
        (SMALL.replace("0.2", "-1"), "file:3: usd_per_hour_spot = '-1' is not a number"),
        (SMALL.replace("t4,1", "t4,1.5"), "file:3: gpus = '1.5' is not a whole number"),
        (SMALL.replace("t4,1", "t4,0"), "file:3: gpus = 0 and gpu_type = 't4'"),
        (SMALL.replace("here", " "), "file:3: region is empty"),
        (SMALL.replace("a list", ""), "file:3: source is empty"),
        (SMALL.replace("2026-08-26", "August"), "file:3: date = 'August' is not a date"),
        (SMALL + ",more", "file:3: 13 cells under 12 columns"),
        (LARGE, "file:3: large is listed twice for here"),
        ('"' + SMALL, "file:3: is not CSV"),
    ],
)
def test_a_wrong_line_is_named(line: str, finding: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse(catalogue(LARGE, line), "file")
    assert str(refused.value).startswith(finding)
    assert refused.value.code == "JPO-E802"


@pytest.mark.parametrize("text", ["", "\n", HEAD, HEAD.replace(",date", ""), f"{HEAD},colour\n", HEAD.replace("date", "gpus")])
def test_missing_unknown_and_doubled_columns_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"^file:1: "):
        parse(text, "file")


def test_what_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes(b"\xff\xfe\x00")
    for name, finding in (
        ("none.csv", "No such file"),
        ("", "is a directory"),
        ("latin.csv", "not a text in UTF-8"),
        ("\0", "null"),
    ):
        with pytest.raises(UsageError, match=finding) as refused:
            read_catalogue(tmp_path / name)
        assert refused.value.code == "JPO-E802"


def test_a_pipe_that_never_ends_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="is not a regular file") as refused:
        read_catalogue(tmp_path / "pipe")
    assert refused.value.code == "JPO-E802"


def test_regions_and_types_that_are_not_there_name_those_that_are() -> None:
    both = parse(catalogue(SMALL, SMALL.replace("here", "there"), LARGE, BARE), "file")
    assert [instance.instance for instance in select(both, region="here", gpu_type="T4", place="jpo.toml")] == ["small", "bare"]
    assert [instance.instance for instance in with_gpu_type(both, "a100-80gb", place="jpo.toml")] == ["large", "bare"]
    for region, gpu_type, message in (
        (None, None, "write region: here, there"),
        ("mars", None, "known are"),
        ("here", "v9", "a100, t4"),
    ):
        with pytest.raises(UsageError, match=message) as refused:
            select(both, region=region, gpu_type=gpu_type, place="jpo.toml")
        assert refused.value.code == "JPO-E801"
