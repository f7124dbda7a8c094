from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from phase_traces import as_csv, made_traces

from jpo.__main__ import run
from jpo.history import open_store
from jpo.records import Finished, Series

if TYPE_CHECKING:
    from user_project import Project

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Traces to fit, traces to predict, and a model."""
    folder = tmp_path_factory.mktemp("phases")
    as_csv(made_traces(runs=4)[0], folder / "train.csv")
    as_csv(made_traces(runs=2, seed=9)[0], folder / "new.csv")
    assert run(["phases", "fit", str(folder / "train.csv"), "-o", str(folder / "phases.model")]) == 0
    return folder


@pytest.fixture
def jpo(made: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    monkeypatch.chdir(made)

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(["phases", *arguments])
        return code, *capsys.readouterr()

    return call


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_a_fit_shows_its_phases(jpo: Call, tmp_path: Path) -> None:
    code, out, err = jpo("fit", "train.csv", "-o", str(tmp_path / "m"), "--format", "json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["executions"] == 4
    assert len(found["phases"]) == 5
    assert (tmp_path / "m").read_bytes() == Path("phases.model").read_bytes()


def test_phases_of_each_sample_go_to_a_file(jpo: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = jpo("predict", "phases.model", "new.csv", "-o", str(tmp_path / "p.csv"))
    assert (code, max(map(len, out.splitlines())) <= 80) == (0, True)
    assert "run-0      0" in out
    rows = rows_of(tmp_path / "p.csv")
    assert len(rows) == made_traces(runs=2, seed=9)[0].samples
    assert [*rows[0]] == ["exec_id", "t", "phase", "probability"]


def test_requests_go_to_a_file_and_their_figures_to_people(jpo: Call, tmp_path: Path) -> None:
    code, out, _ = jpo("allocate", "phases.model", "new.csv", "-o", str(tmp_path / "a.csv"))
    assert code == 0
    assert "resizes/h" in out
    rows = rows_of(tmp_path / "a.csv")
    assert [*rows[0]] == ["exec_id", "t", "cpu_alloc", "mem_alloc"]
    assert {row["exec_id"] for row in rows} == {"run-0", "run-1"}
    assert jpo("allocate", "phases.model", "new.csv")[1] == (tmp_path / "a.csv").read_text()


def test_allocate_takes_another_promise_than_the_fit(jpo: Call) -> None:
    def requested(*options: str) -> float:
        rows = jpo("allocate", "phases.model", "new.csv", *options)[1].splitlines()[1:]
        return sum(float(row.split(",")[2]) for row in rows)

    assert requested("--met", "99.9%") > requested() == requested("--met", "95%")
    assert jpo("allocate", "phases.model", "new.csv", "--met", "95")[0] == 2


def test_ways_to_allocate_are_compared(jpo: Call) -> None:
    code, out, _ = jpo("evaluate", "phases.model", "new.csv", "--training", "train.csv", "--format", "json")
    assert code == 0
    ways = json.loads(out)["allocations"]
    assert next(iter(ways)) == "phases"
    assert ways["phases"]["met"]["mean"] >= 0.9
    code, out, _ = jpo("evaluate", "train.csv", "--execution", "run-0", "--execution", "run-1")
    assert code == 0
    assert "clairvoyant" in out


def test_a_picture_shows_what_other_promises_cost(jpo: Call, tmp_path: Path) -> None:
    some = ("--execution", "run-0", "--execution", "run-1", "--execution", "run-2")
    assert jpo("evaluate", "train.csv", *some, "--plot", str(tmp_path / "met.svg"))[0] == 0
    assert "phases by --met" in (tmp_path / "met.svg").read_text()
    code, _, err = jpo("evaluate", "train.csv", *some, "--plot", str(tmp_path / "met.pdf"))
    assert code == 2
    assert "JPO-E712" in err


def test_columns_can_be_named(jpo: Call, tmp_path: Path) -> None:
    text = Path("train.csv").read_text().replace("cpu.usage.cores", "C").replace("pod.id", "who")
    (tmp_path / "t.csv").write_text(text)
    named = ("--column", "cpu_cores=C", "--column", "execution=who")
    assert jpo("fit", str(tmp_path / "t.csv"), "-o", str(tmp_path / "m"), *named)[0] == 0
    code, _, err = jpo("fit", str(tmp_path / "t.csv"), "-o", str(tmp_path / "m"))
    assert code == 2
    assert "--column cpu_cores=HEADER" in err
    assert jpo("fit", "train.csv", "-o", str(tmp_path / "m"), "--column", "cpu_cores")[0] == 2


def test_a_picture_or_lines_are_drawn(jpo: Call, tmp_path: Path) -> None:
    code, out, _ = jpo("plot", "phases.model", "new.csv", "--execution", "run-1", "--feature", "cpu_cores")
    assert code == 0
    assert "run-1 cpu_cores  ▁" in out
    assert "memory" not in out
    assert jpo("plot", "phases.model", "new.csv", "-o", str(tmp_path / "a.svg"), "--palette", "gray")[0] == 0
    assert jpo("plot", "phases.model", "new.csv", "-o", str(tmp_path / "b.png"), "--kind", "variance")[0] == 0
    assert {path.name for path in tmp_path.iterdir()} == {"a.svg", "b.png"}
    assert jpo("plot", "phases.model", "new.csv", "-o", str(tmp_path / "c.pdf"))[0] == 2


def test_a_model_learns_more_and_stays_as_it_is(jpo: Call, tmp_path: Path) -> None:
    before = Path("phases.model").read_bytes()
    code, out, _ = jpo("expand", "phases.model", "new.csv", "-o", str(tmp_path / "more.model"))
    assert code == 0
    assert "0 of the 5 phases are new" in out
    assert jpo("allocate", str(tmp_path / "more.model"), "new.csv")[0] == 0
    assert Path("phases.model").read_bytes() == before
    assert jpo("expand", "phases.model", "new.csv")[0] == 2


def test_a_workload_is_sized_for_config_ini_and_kubernetes(jpo: Call, tmp_path: Path) -> None:
    code, out, _ = jpo("rightsize", "phases.model", "new.csv", "-o", str(tmp_path / "p.yaml"), "--container", "job")
    assert code == 0
    assert "memory_gib = " in out
    assert "- name: job" in (tmp_path / "p.yaml").read_text()
    assert jpo("rightsize", "phases.model", "new.csv", "--container", "A B")[0] == 2


def test_kinds_of_executions_and_what_comes_next_are_shown(jpo: Call) -> None:
    _, out, _ = jpo("predict", "phases.model", "new.csv", "--format", "json")
    found = json.loads(out)
    assert sum(kind["executions"] for kind in found["kinds"]) == 2
    assert [one["execution"] for one in found["ahead"]] == ["run-0", "run-1"]
    assert {one["like"] for one in found["ahead"]} == {kind["medoid"] for kind in found["kinds"]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("fit", "train.csv", "-o", "train.csv"), "is a file that is read here"),
        (("fit", "train.csv", "-o", "absent/m"), "JPO-E307"),
        (("fit", "train.csv", "-o", "config.ini"), "JPO reads files of this name"),
        (("fit", "absent.csv", "-o", "m"), "absent.csv: cannot be read"),
        (("predict", "train.csv", "new.csv"), "train.csv: is not a model of jpo phases"),
        (("allocate", "phases.model", "phases.model"), "phases.model"),
        (("allocate", "phases.model", "new.csv", "-o", "phases.model"), "is a file that is read here"),
        (("predict", "phases.model", "new.csv", "--execution", "x"), "has no execution 'x'"),
        (("evaluate", "new.csv", "--execution", "run-0"), "has one execution only"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(jpo: Call, arguments: tuple[str, ...], said: str) -> None:
    before = {path: path.read_bytes() for path in Path.cwd().iterdir()}
    code, out, err = jpo(*arguments)
    assert (code, out) == (2, "")
    assert said in err or said == "JPO-E307"
    assert err.count("\n") == 1
    assert {path: path.read_bytes() for path in Path.cwd().iterdir()} == before


def test_a_fit_needs_to_know_where_the_model_goes(jpo: Call) -> None:
    assert jpo("fit", "train.csv")[0] == 2


def test_a_fitted_model_works_without_the_packages_of_a_fit(made: Path, tmp_path: Path) -> None:
    for name in ("sklearn", "scipy", "torch", "hmmlearn", "ruptures", "matplotlib"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise ImportError('not here')\n")
    command = [sys.executable, "-m", "jpo", "phases", "allocate", "phases.model", "new.csv"]
    done = subprocess.run(
        command, cwd=made, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_runs_on_record_are_traces_too(project: Project, tmp_path: Path) -> None:
    project.jpo("observe")
    with open_store(f"sqlite:///{project.folder}/.jpo/jpo.db") as store:
        runs = [one.run for one in store.recorded_runs()][:3]
        series = []
        for run, execution in zip(runs, made_traces(runs=3)[0].executions, strict=True):
            times, (cpu, memory) = tuple(execution.times.tolist()), execution.values.T.tolist()
            series.append(Series(run.run_id, "cpu_cores", times, tuple(cpu)))
            series.append(Series(run.run_id, "memory_gib", times, tuple(one / 2**30 for one in memory)))
        store.record(Finished(tuple(runs), series=tuple(series)), now=2e9)
    answer = project.jpo("phases", "fit", "config.ini", "-o", str(tmp_path / "m"))
    assert (answer.code, answer.err) == (0, "")
    assert "5 phases by markov in 3 executions" in answer.out
    assert project.jpo("phases", "allocate", str(tmp_path / "m"), "config.ini", "--execution", runs[0].run_id).code == 0


def test_a_workload_that_nobody_measured_has_no_traces(project: Project, tmp_path: Path) -> None:
    answer = project.jpo("phases", "fit", "config.ini", "-o", str(tmp_path / "m"))
    assert answer.code == 2
    assert "has no run on record with time series of CPU and memory" in answer.err


def test_a_suggestion_asks_for_no_less_than_the_phases_need(project: Project) -> None:
    project.jpo("observe")
    with open_store(f"sqlite:///{project.folder}/.jpo/jpo.db") as store:
        runs = [one.run for one in store.recorded_runs()][-3:]
        series = []
        for run, execution in zip(runs, made_traces(runs=3)[0].executions, strict=True):
            times, (cpu, memory) = tuple(execution.times.tolist()), execution.values.T.tolist()
            series.append(Series(run.run_id, "cpu_cores", times, tuple(cpu)))
            series.append(Series(run.run_id, "memory_gib", times, tuple(one / 2**30 for one in memory)))
        store.record(Finished(tuple(runs), series=tuple(series)), now=2e9)
    ask = ("suggest", "config.ini", "--dry-run", "--prefer", "cost=1", "-o", "json")
    before = json.loads(project.jpo(*ask).out)
    assert project.jpo("phases", "fit", "config.ini", "-o", "phases.model").code == 0
    toml = project.folder / "jpo.toml"
    toml.write_text(toml.read_text() + '\n[phases]\nmodel = "phases.model"\n')
    after = json.loads(project.jpo(*ask).out)
    assert "JPO-I871" in after["reason_codes"]
    assert "JPO-I871" not in before["reason_codes"]
    assert (before["suggested"]["cpus"], after["suggested"]["cpus"]) == (1.0, 2.0)  # they kept three cores busy


def test_parts_are_kept_and_taken_over_one_by_one(jpo: Call, tmp_path: Path) -> None:
    method = ("--method", "crbm-kmeans", "--epochs", "3")
    options = {name: str(tmp_path / name) for name in ("scaler", "crbm", "clusters")}
    named = [word for name, path in options.items() for word in (f"--{name}", path)]
    assert jpo("fit", "train.csv", "-o", str(tmp_path / "m"), *method)[0] == 0
    assert jpo("parts", str(tmp_path / "m"), *named) == (0, "", "")
    assert jpo("fit", "train.csv", "-o", str(tmp_path / "again"), *method, *named)[0] == 0
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()
    assert jpo("fit", "new.csv", "-o", str(tmp_path / "other"), "--scaler", options["scaler"])[0] == 0


@pytest.mark.parametrize(
    ("arguments", "finding"),
    [
        (("parts", "phases.model", "--crbm", "x"), "the model is by markov, which has none"),
        (("parts", "phases.model"), "say which part goes where"),
        (("parts", "phases.model", "--scaler", "x", "--clusters", "x"), "two parts would go into one file"),
        (("parts", "phases.model", "--scaler", "phases.model"), "is a file that is read here"),
        (("fit", "train.csv", "-o", "x", "--scaler", "phases.model"), "is not a scaler of jpo phases"),
        (("fit", "train.csv", "-o", "x", "--scaler", "x", "--crbm", "x"), "x: "),
    ],
)
def test_parts_that_cannot_be_are_refused_and_nothing_is_written(jpo: Call, arguments: tuple[str, ...], finding: str) -> None:
    code, out, err = jpo(*arguments)
    assert code != 0
    assert out == ""
    assert finding in err
    assert not Path("x").exists()


def test_exports_are_read_and_joined_by_every_command(jpo: Call, tmp_path: Path) -> None:
    rows = rows_of(Path("train.csv"))
    files = {"cpu.csv": ("cpu.usage.cores", ""), "memory.csv": ("mem.working.set", " B")}
    for name, (column, unit) in files.items():
        lines = [f"{float(row['timestamp']) * 1000:.0f},{row['pod.id']},{float(row[column]):.3f}{unit}" for row in rows]
        (tmp_path / name).write_text("\n".join(["Time,pod,Value", *lines]))
    both, model = [str(tmp_path / name) for name in files], str(tmp_path / "m")
    code, out, err = jpo("fit", *both, "-o", model)
    assert (code, "5 phases by markov in 4 executions" in out) == (0, True)
    assert err.count("milliseconds") == 2
    for command in ("predict", "allocate", "plot", "rightsize", "evaluate"):
        assert jpo(command, model, *both)[0] == 0
    assert jpo("expand", model, *both, "-o", str(tmp_path / "more"))[0] == 0
    assert jpo("evaluate", *both)[0] == 0
    code, _, err = jpo("fit", both[0], "-o", model)
    assert (code, err.count("\n"), "run-0 has cpu_cores" in err) == (2, 1, True)
    assert jpo("fit", "train.csv", "config.ini", "-o", model)[0] == 2


@pytest.mark.parametrize("feature", ["mem.current", "cpu.usage.cores"])
def test_a_model_knows_the_features_that_it_was_fitted_on(jpo: Call, tmp_path: Path, feature: str) -> None:
    text = Path("train.csv").read_text().replace(",1,", ",{},")
    (tmp_path / "t.csv").write_text("\n".join(line.format(at % 7) for at, line in enumerate(text.splitlines())))
    traces, model = str(tmp_path / "t.csv"), str(tmp_path / "m")
    assert jpo("fit", traces, "-o", model, "--feature", "cpu_cores", "--feature", "memory_bytes", "--feature", feature)[0] == 0
    for command in ("predict", "allocate", "plot", "rightsize", "evaluate"):
        code, out, _ = jpo(command, model, traces)
        assert (command, code) == (command, 0)
        assert feature in out or command not in ("predict", "plot")
    assert jpo("expand", model, traces, "-o", str(tmp_path / "more"))[0] == 0
    assert jpo("plot", model, traces, "--feature", "cpu_cores")[0] == 0
