from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from jpo.__main__ import run
from jpo.plugins.lab.cli.simulate import INSTALLATIONS
from jpo.simulate.installations import KINDS

SMALL = ("lab", "simulate", "--workloads", "2", "--runs", "3")


@pytest.fixture
def jpo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(list(arguments))
        return code, *capsys.readouterr()

    return call


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    """A fleet that was kept, and its JSON."""
    folder = tmp_path_factory.mktemp("fleet")
    before = Path.cwd()
    os.chdir(folder)
    try:
        arguments = ("--workloads", "3", "--runs", "6", "--explore", "on", "--drift", "--prefer", "cost", "--keep", "kept")
        assert (
            run(
                [
                    "lab",
                    "simulate",
                    *arguments,
                    "--output-file",
                    "fleet.json",
                    "--output-file",
                    "fleet.txt",
                    "--plot",
                    "fleet.svg",
                ]
            )
            == 0
        )
    finally:
        os.chdir(before)
    return folder, json.loads((folder / "fleet.json").read_text())


def test_the_table_shows_every_workload_and_what_must_be_known(fleet: tuple[Path, dict[str, object]]) -> None:
    text = (fleet[0] / "fleet.txt").read_text()
    assert "3 simulated workloads × 6 runs; preference cost 1; explore on, with drift" in text
    assert [line[:2] for line in text.split("\n") if line[3:6] in ("gpu", "cpu")] == ["00", "01", "02"]
    for sentence in ("Worse than unchanged in the end:", "all runs", "expect less from real ones"):
        assert sentence in text


def test_every_run_is_in_the_json_next_to_itself_unchanged(fleet: tuple[Path, dict[str, object]]) -> None:
    workloads = fleet[1]["workloads"]
    assert isinstance(workloads, list)
    for workload in workloads:
        assert len(workload["runs"]) == 6
        assert all(pair["unchanged"]["parameters"] == workload["first"] for pair in workload["runs"])
        first = workload["runs"][0]
        assert first["with_jpo"]["outcome"] == first["unchanged"]["outcome"], "the reference run is the same run"
    assert any(pair["with_jpo"]["parameters"] != w["first"] for w in workloads for pair in w["runs"]), "JPO changed something"


def test_totals_are_the_sums_of_the_runs(fleet: tuple[Path, dict[str, object]]) -> None:
    document = fleet[1]
    runs = [pair["with_jpo"] for workload in document["workloads"] for pair in workload["runs"]]  # type: ignore[attr-defined]
    total = document["overall"]["all_runs"]["with_jpo"]  # type: ignore[index]
    assert total["cost_usd"] == pytest.approx(sum(one["outcome"]["cost_usd"] for one in runs))
    assert total["failed"] == sum(one["status"] != "succeeded" for one in runs)


def test_runs_went_through_the_real_spine_and_its_audit_log(
    fleet: tuple[Path, dict[str, object]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = fleet[0] / "kept" / "workload-00"
    monkeypatch.chdir(fleet[0] / "kept")  # where its store lies, which is beside the workloads
    toml = str(folder / "jpo.toml")
    assert run(["audit", "verify", "--config", toml]) == 0
    capsys.readouterr()
    assert run(["history", "--format", "json", "--config", toml]) == 0
    history = json.loads(capsys.readouterr().out)
    assert len(history["runs"]) == len(history["suggestions"]) == 18
    assert run(["suggest", str(folder / "config.ini"), "--dry-run", "--offline"]) == 0


def test_config_ini_holds_what_ran_last(fleet: tuple[Path, dict[str, object]]) -> None:
    last = fleet[1]["workloads"][1]["last"]  # type: ignore[index]
    text = (fleet[0] / "kept" / "workload-01" / "config.ini").read_text()
    assert f"batch_size = {last['batch_size']:g}\n" in text
    assert f"cpus = {last['cpus']:g}\n" in text


def test_the_picture_is_drawn(fleet: tuple[Path, dict[str, object]]) -> None:
    assert "<svg" in (fleet[0] / "fleet.svg").read_text()


def test_the_same_seed_gives_the_same_fleet_and_another_seed_another(jpo: Callable[..., tuple[int, str, str]]) -> None:
    first, again, other = (jpo(*SMALL, "--seed", seed, "-o", "json")[1] for seed in ("1", "1", "2"))
    assert first == again
    assert json.loads(first)["workloads"] != json.loads(other)["workloads"]


def test_in_an_installation_workloads_run_one_after_the_other_and_fail_where_they_did_not(
    jpo: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    arguments = ("lab", "simulate", "--workloads", "4", "--runs", "5", "--explore", "on", "--keep")
    as_simulated, strange = (
        json.loads(jpo(*arguments, kind, "--installation", kind, "-o", "json")[1]) for kind in ("none", "host-memory")
    )
    assert strange["plan"]["installation"] == "host-memory"
    assert [w["first"] for w in strange["workloads"]] == [w["first"] for w in as_simulated["workloads"]]
    failed = [fleet["overall"]["all_runs"]["with_jpo"]["failed"] for fleet in (as_simulated, strange)]
    assert failed[1] > failed[0]
    toml = str(tmp_path / "host-memory" / "workload-03" / "jpo.toml")
    runs = json.loads(jpo("history", "--format", "json", "--config", toml)[1])["runs"]
    in_time = sorted(runs, key=lambda one: one["ended_at"])
    assert [one["run_id"] for one in in_time] == [f"w0{workload}-r0{number}" for workload in range(4) for number in range(5)]


def test_policies_play_the_same_fleet_with_stores_of_their_own(jpo: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    code, out, _ = jpo(*SMALL, "--policies", "sac,belief", "--keep", "both", "-o", "json")
    document = json.loads(out)
    assert (code, document["reference"]) == (0, "sac")
    sac, belief = (document["policies"][name]["fleet"] for name in ("sac", "belief"))
    alone = json.loads(jpo(*SMALL, "-o", "json")[1])
    assert sac == alone, "a policy in a comparison is the policy alone"
    assert "sac" not in belief["overall"]["decided_by"]
    unchanged = [[[pair["unchanged"] for pair in one["runs"]] for one in fleet["workloads"]] for fleet in (sac, belief)]
    assert unchanged[0] == unchanged[1]
    assert sorted(path.name for path in (tmp_path / "both").iterdir()) == ["belief", "sac"]
    assert sum(belief["overall"]["decided_by"].values()) == 6


def test_the_command_line_knows_all_kinds_of_installations() -> None:
    assert INSTALLATIONS == KINDS


def test_nothing_is_left_behind_and_the_environment_does_not_count(
    jpo: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPO_STORE__URL", "sqlite:////nowhere/jpo.db")
    (tmp_path / "jpo.toml").write_text("nonsense")
    assert jpo(*SMALL)[0] == 0
    assert sorted(tmp_path.iterdir()) == [tmp_path / "jpo.toml"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--plot", "fleet.pdf"), "JPO-E712"),
        (("--plot", "gone/fleet.png"), "JPO-E307"),
        (("--output-file", "gone/fleet.json"), "JPO-E307"),
        (("--keep", "full"), "JPO-E711"),
        (("--keep", "full/file"), "JPO-E711"),
        (("--prefer", "speed"), "JPO-E302"),
        (("--policies", "belief,random"), "JPO-E714"),
        (("--policies", "sac,sac"), "JPO-E714"),
        (("--policies", "belief,sac", "--plot", "fleet.svg"), "JPO-E714"),
    ],
)
def test_what_cannot_work_is_said_before_anything_runs(
    arguments: tuple[str, ...], code: str, jpo: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("")
    exit_code, out, err = jpo(*SMALL, *arguments)
    assert (exit_code, out) == (2, "")
    assert code in err
