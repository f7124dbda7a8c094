"""Runs that a real server shows after it showed younger ones, and servers that change their address, through the command line."""

from __future__ import annotations

import sqlite3
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from user_project import Project

Arrives = Callable[..., None]

DAY = 86400.0


@pytest.fixture(scope="module")
def server(start_victoria: Callable[[Path], str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """A VictoriaMetrics: it takes samples of any age at any time, as a backlog brings them. Each test has its own dataset."""
    return start_victoria(tmp_path_factory.mktemp("late"))


@pytest.fixture
def asking(empty: Project, server: str, request: pytest.FixtureRequest) -> Project:
    (empty.folder / "jpo.toml").write_text(f'[prometheus]\nurl = "{server}"\n')
    empty.config.write_text(empty.config.read_text().replace("dataset = digits", f"dataset = {request.node.name}"))
    return empty


@pytest.fixture
def arrives(server: str, request: pytest.FixtureRequest) -> Arrives:
    """`arrives(run_id, days_ago)`: a run that ended some days ago reaches the server now."""
    name_here = request.node.name

    def arrives(
        run_id: str, days_ago: float, *, batch_size: str = "64", reports: range = range(41), dataset: str = name_here
    ) -> None:
        labels = f'dataset="{dataset}",model="cnn",framework="pytorch",job="train",instance="a:1"'
        end, lines = time.time() - days_ago * DAY, []
        for i in reports:
            at = 1000 * (end - 600 + 15 * i)
            values = {
                "jpo_run_info": 1.0,
                "jpo_samples_total": 100.0 * i,
                "jpo_epoch": i // 13,
                "jpo_run_start_time_seconds": end - 600,
                "jpo_val_loss": 0.3,
            }
            values |= {"jpo_run_end_time_seconds": end, "jpo_run_status": 1.0} if i == 40 else {}
            own = {"jpo_run_info": f',batch_size="{batch_size}",epochs="3"', "jpo_run_status": ',status="succeeded"'}
            lines += [
                f'{name}{{run_id="{run_id}",{labels}{own.get(name, "")}}} {value!r} {at:.0f}\n' for name, value in values.items()
            ]
        for path, body in (("/api/v1/import/prometheus", "".join(lines).encode()), ("/internal/force_flush", None)):
            urllib.request.urlopen(server + path, data=body, timeout=30).close()  # noqa: S310 (our own address)

    return arrives


def recorded(project: Project, *options: str) -> list[str]:
    """Ids of the runs that an `observe` recorded."""
    answer = project.jpo("observe", *options)
    assert answer.code == 0, answer.err
    return [line.split()[1].rstrip(":") for line in answer.out.splitlines() if line.startswith("recorded ")]


def on_record(project: Project) -> list[str]:
    return sorted(line.split(",")[0] for line in project.jpo("history", "--format", "csv").out.splitlines()[1:])


def test_a_run_that_becomes_visible_after_a_younger_one_is_recorded_once(asking: Project, arrives: Arrives) -> None:
    arrives("young", 0.5)
    assert recorded(asking) == ["young"]
    arrives("late", 3)
    arrives("later", 6)
    assert recorded(asking) == ["later", "late"]
    before = asking.jpo("history", "--format", "csv").out
    assert recorded(asking) == []
    assert asking.jpo("history", "--format", "csv").out == before


def test_what_came_later_still_is_found_by_looking_again(asking: Project, arrives: Arrives) -> None:
    arrives("young", 0.5)
    assert recorded(asking) == ["young"]
    arrives("old", 20)
    arrives("older", 35)
    assert recorded(asking) == []
    assert recorded(asking, "--again", "30d") == ["old"]
    assert recorded(asking, "--since", "60d") == ["older"]
    arrives("ancient", 120)
    assert recorded(asking, "--again", "150d") == ["ancient"]
    assert [recorded(asking, "--again", "150d"), recorded(asking)] == [[], []]


def status_of(project: Project, run_id: str) -> list[str]:
    lines = project.jpo("history", "--format", "csv").out.splitlines()
    place = lines[0].split(",").index("status")
    return [line.split(",")[place] for line in lines[1:] if line.startswith(f"{run_id},")]


def test_a_run_that_only_fell_silent_is_told_anew_when_the_rest_arrives(asking: Project, arrives: Arrives) -> None:
    arrives("stalled", 0.5, reports=range(20))
    assert (recorded(asking), status_of(asking, "stalled")) == (["stalled"], ["failed"])
    arrives("stalled", 0.5, reports=range(20, 41))
    assert (recorded(asking), status_of(asking, "stalled")) == (["stalled"], ["succeeded"])
    assert recorded(asking, "--again", "7d") == []


def test_also_where_it_lies_behind_the_watermark(asking: Project, arrives: Arrives) -> None:
    arrives("young", 0.5)
    assert recorded(asking) == ["young"]
    arrives("stalled", 3, reports=range(20))
    assert (recorded(asking), status_of(asking, "stalled")) == (["stalled"], ["failed"])
    arrives("stalled", 3, reports=range(20, 41))
    assert recorded(asking) == [], "it is looked at once a day"
    assert (recorded(asking, "--again", "7d"), status_of(asking, "stalled")) == (["stalled"], ["succeeded"])


def test_with_late_off_only_looking_again_finds_it(asking: Project, arrives: Arrives, server: str) -> None:
    (asking.folder / "jpo.toml").write_text(f'[prometheus]\nurl = "{server}"\nlate = "0s"\n')
    arrives("young", 0.5)
    assert recorded(asking) == ["young"]
    arrives("late", 3)
    assert [recorded(asking), recorded(asking, "--again", "7d")] == [[], ["late"]]


def test_a_run_that_cannot_be_used_is_named_once_per_cause_and_then_left_alone(asking: Project, arrives: Arrives) -> None:
    arrives("young", 0.5)
    assert recorded(asking) == ["young"]
    for n, text in enumerate(("3_2", "\u0663\u0662", " 32 ", "1e400")):
        arrives(f"odd-{n}", 2 + n, batch_size=text)
    answer = asking.jpo("observe")
    (line,) = [line for line in answer.out.splitlines() if line.startswith("skipped ")]
    assert line.startswith(
        "skipped odd-0, odd-1, odd-2 and 1 more: 4 runs with values that cannot be, the first: batch_size = '3_2'"
    )
    assert line.endswith("[JPO-W121]")
    assert "skipped" not in asking.jpo("observe").out
    assert "JPO-W121" in asking.jpo("observe", "--again", "7d").out
    assert on_record(asking) == ["young"]


def test_another_address_is_read_from_its_start_and_says_so(asking: Project, arrives: Arrives, server: str) -> None:
    arrives("old", 40)
    arrives("young", 0.5)
    assert recorded(asking) == ["old", "young"]
    before = asking.jpo("history", "--format", "csv").out
    answer = asking.jpo("observe", "--prometheus-url", server.replace("127.0.0.1", "localhost"))
    assert "nothing new" in answer.out
    assert "note: http://localhost:" in answer.out
    assert "its history is read from the start, and runs on record are not recorded twice" in answer.out
    assert asking.jpo("history", "--format", "csv").out == before
    assert "note: http" not in asking.jpo("observe", "--prometheus-url", server.replace("127.0.0.1", "localhost")).out
    assert "note: http" not in asking.jpo("observe").out


def test_a_watermark_from_before_addresses_is_taken_over_with_a_word(asking: Project, arrives: Arrives) -> None:
    arrives("old", 40)
    arrives("young", 0.5)
    assert recorded(asking) == ["old", "young"]
    with sqlite3.connect(asking.folder / ".jpo" / "jpo.db") as store:
        store.execute("UPDATE watermarks SET source = 'prometheus' WHERE source <> 'csv'")
    answer = asking.jpo("observe")
    assert ("nothing new" in answer.out, "is taken to be of http://127.0.0.1:" in answer.out) == (True, True)
    assert "is taken to be of" not in asking.jpo("observe").out
    with sqlite3.connect(asking.folder / ".jpo" / "jpo.db") as store:
        assert store.execute("SELECT count(*) FROM watermarks WHERE source = 'prometheus'").fetchone() == (0,)


def test_looking_again_needs_a_server_that_is_named(empty: Project) -> None:
    answer = empty.jpo("observe", "--again", "7d")
    assert (answer.code, "none is named" in answer.err) == (2, True)


@pytest.mark.parametrize(
    "words", [("--again", "soon"), ("--again", "0d"), ("--again", "7d", "--offline"), ("run-1", "--again", "7d")]
)
def test_looking_again_takes_a_duration_and_a_server(empty: Project, words: tuple[str, ...]) -> None:
    answer = empty.jpo("observe", *words)
    assert (answer.code, "--again" in answer.err) == (2, True)


def test_runs_under_another_spelling_are_named_and_joined(asking: Project, arrives: Arrives) -> None:
    spelt = "Test-Runs-Under-Another-Spelling-Are-Named-And-Joined"
    arrives("ours", 2)
    arrives("theirs", 3, dataset=spelt)
    assert "recorded ours" in asking.jpo("observe").out
    named = asking.jpo("doctor").out
    assert "JPO-W163" in named
    assert f'dataset = ["{spelt}"]' in " ".join(named.split())
    with (asking.folder / "jpo.toml").open("a") as toml:
        toml.write(f'[workload.aliases]\ndataset = ["{spelt}"]\n')
    recorded = asking.jpo("observe").out
    assert f"recorded theirs: {spelt}/cnn/pytorch, succeeded" in recorded
    assert asking.jpo("observe").out.startswith("nothing new")
    assert "2 finished runs used" in asking.jpo("suggest", "config.ini", "--dry-run", "--no-learn").out
