"""Every reader of JPO with real files that it reads: for fuzz.py and for the tests.

A reader gets the bytes of one file of a small project. It may read them, or refuse them with a JpoError of one line that ends
within a screen; everything else is a bug.
"""

from __future__ import annotations

import datetime
import gzip
import hashlib
import io
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from apparatus.foreign_files import foreign_files
from constraints import second_look
from jpo.__main__ import run
from jpo.agent.alternatives.named import OF_FILES
from jpo.agent.policy import SHIPPED, load_policy
from jpo.agent.sealed import BLANK, SEAL
from jpo.cost.catalogue import SHIPPED as CATALOGUES
from jpo.cost.catalogue import read_catalogue
from jpo.errors import JpoError
from jpo.history import open_store, verify
from jpo.history.archive import import_lines, read_lines
from jpo.http.tls import check_files
from jpo.inventory.gpus import _card, _slices
from jpo.plugins.lab.replay.traces import read_trace
from jpo.plugins.lab.story.logs import ours
from jpo.project.load import load
from jpo.project.settings import AuthTable
from jpo.project.sources import secret
from jpo.project.tables.effective import effective
from jpo.project.trial_logs import read_trials
from jpo.project.workload import limits_of, read_workload
from jpo.records import Identity
from jpo.telemetry.csv.follow import Tail
from jpo.telemetry.csv.log import read_log
from jpo.telemetry.prometheus import answers

NOW = 1_795_000_000.0
TODAY = datetime.date(2026, 11, 22)
DIGITS = Identity("digits", "cnn", "pytorch")
LONGEST_MESSAGE = 6500
"""Characters: a place and a finding of 2000 each, shortened, twice where one message quotes another."""

CONFIG = b"""\
[workload]
dataset = digits
model = cnn
framework = pytorch

[training]
batch_size = 16      # from the tutorial
learning_rate = 1e-2
epochs = 40          # jpo: ignore until 2027-01-01

[resources]
cpus = 2
memory = 16Gi
"""
TOML = b"""\
[csv]
logs = ["runs/*.csv"]
[parameters]
batch_size = { key = "training.batch_size", min = 8, max = 512, step = "pow2", max_change = 4.0 }
epochs = { key = "training.epochs", freeze = true }
[sla]
time_max = "6h"
cost_max = 25.0
[preference]
time = 0.5
cost = 0.5
[prices]
usd_per_cpu_hour = 0.04
[quota]
cpus = 64
[agent]
explore = "safe"
budget = 2.0
horizon_runs = 30
[prometheus]
timeout = "10s"
headers = { X-Scope-OrgID = "team" }
"""
LOG = b"""\
# run_id=run-%d
# dataset=digits
# model=cnn
# framework=pytorch
# batch_size=16
# learning_rate=0.01
# epochs=40
# cpus=2
# start=1700000000.0
time,epoch,samples,train_loss,val_loss
1700000025.5,1,1500,0.41,0.33
1700000051.0,2,3000,0.32,0.21
1700000102.0,3,4500,0.21,0.12
# end=1700000103.5
# status=succeeded
# converged=true
# cpu_seconds=91.7
# memory_bytes=310000000
"""
TRACE = b"""\
# workload = "ncf"
# family = "zeus"
# knobs = ["batch_size"]
# default = { batch_size = 8 }
# cost_column = "energy_j"
batch_size,rep,converged,time_to_target_s,time_full_s,energy_j,energy_full_j
8,1,1,100,200,1000,2000
16,1,1,80,160,900,1800
16,2,0,,150,,1700
"""
ANSWER = b"""\
{"status":"success","data":{"resultType":"vector","result":[{"metric":{"run_id":"run-1","dataset":"digits","model":"cnn",\
"framework":"pytorch","seen":"run","batch_size":"32"},"value":[1700000000.5,"1700000100"]}]},"warnings":["partial"]}"""
NVIDIA = b"""\
0, GPU-1f2e, 40960, 1024, 17, NVIDIA A100-SXM4-40GB
1, GPU-2a3b, 40960, 0, [N/A], NVIDIA A100-SXM4-40GB
"""


class Misread(Exception):
    """A reader did what none may do."""


def must(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Misread(otherwise)


@dataclass(frozen=True)
class Reader:
    """One reader: the real files it reads, how it reads their bytes, and the commands that read such a file.

    Attributes:
        file: what the file is called in the project.
        read: reads it in the project; raises JpoError if it refuses it.
        commands: command lines of `jpo` that read it, too.
    """

    file: str
    seeds: tuple[bytes, ...]
    read: Callable[[Path], object]
    commands: tuple[str, ...] = ()

    def play(self, project: Path, data: bytes) -> bool:
        """Whether these bytes are accepted; Misread, or any other error than a JpoError, is a bug."""
        path = project / self.file
        path.write_bytes(data)
        try:
            with chdir(project):
                self.read(Path(self.file))
        except JpoError as refusal:
            must(len(str(refusal)) < LONGEST_MESSAGE, f"a message of {len(str(refusal))} characters")
            must(refusal.exit_code > 1, f"{refusal}: no exit code of its own")
            return False
        return True

    def command(self, project: Path, data: bytes, command: str) -> int:
        """The exit code of a command in a fresh copy of the project; Misread is a bug."""
        folder = project.with_name(f"{project.name}-copy")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(project, folder)
        (folder / self.file).write_bytes(data)
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="replace") for _ in range(2))
        with chdir(folder), redirect_stdout(out), redirect_stderr(err):
            code = run(command.split())
        err.flush()
        said = err.buffer.getvalue().decode()  # type: ignore[attr-defined]
        must(code in (0, 2, 3, 4, 5, 6, 10), f"jpo {command}: exit code {code}: {said:.500}")
        must("JPO-E001" not in said, said)
        must(len(said) < 2 * LONGEST_MESSAGE, f"jpo {command}: {len(said)} characters on stderr")
        return code


def project(folder: Path) -> Path:
    """A project with a history, in which every reader finds its file."""
    folder.mkdir(parents=True)
    (folder / "config.ini").write_bytes(CONFIG)
    (folder / "jpo.toml").write_bytes(TOML)
    (folder / "runs").mkdir()
    for number in range(4):
        (folder / "runs" / f"run-{number}.csv").write_bytes(LOG % number)
    with chdir(folder), redirect_stdout(io.StringIO()):
        for command in (
            "observe --offline",
            "suggest config.ini --offline --no-learn",
            "state export history.jsonl",
            "lab logs --extended all.csv",
        ):
            must(run(command.split()) == 0, command)
    shutil.copytree(folder / ".jpo", folder / "stored")
    return folder


def readers(folder: Path) -> Mapping[str, Reader]:
    """All readers by name; the seeds of some are made in this project."""
    export, extended, database = ((folder / name).read_bytes() for name in ("history.jsonl", "all.csv", "stored/jpo.db"))
    lines = CATALOGUES["aws"].read_bytes().splitlines(keepends=True)
    weights = SHIPPED.with_name("steering.safetensors").read_bytes()
    settings = load(folder / "config.ini", None, {}, {})
    dry = "suggest config.ini --dry-run --offline --no-learn"
    return {
        "config.ini": Reader("config.ini", (CONFIG,), lambda path: read_workload(path, settings, now=NOW), ("check", dry)),
        "config.ini, second look": Reader("after.ini", (CONFIG,), lambda path: guard(Path("config.ini"), path, Path("jpo.toml"))),
        "jpo.toml": Reader("jpo.toml", (TOML,), settled, ("config show", "check", dry)),
        "jpo.toml, second look": Reader("guard.toml", (TOML,), lambda path: guard(Path("config.ini"), Path("config.ini"), path)),
        "pyproject.toml": Reader("pyproject.toml", (pyproject(TOML),), lambda path: settled(None), ("config show",)),
        "JPO_... variables": Reader("variable", (b"JPO_SLA__TIME_MAX=6h", b'JPO_CSV__LOGS=["a", "b"]', *VARIABLES), variable),
        "values of options": Reader("options", OPTIONS, option),
        "price catalogue": Reader("prices.csv", (b"".join(lines[:12]),), read_catalogue),
        "CSV log": Reader(
            "runs/run-3.csv", (LOG % 3,), lambda path: read_log(path, now=NOW), ("lab logs", "observe --offline", dry)
        ),
        "CSV log, followed": Reader("runs/run-3.csv", (LOG % 3,), followed, ("observe --csv runs/run-3.csv",)),
        "extended CSV": Reader("all.csv", (extended,), lambda path: ours(path, ["run_id"]), ("lab logs --extended all.csv",)),
        "trial log": Reader(
            "trial.csv",
            (LOG % 9, (LOG % 9).replace(b"# cpus", b"# data_fraction=0.1\n# cpus")),
            lambda path: read_trials([path], DIGITS, None, now=NOW),
            ("predict config.ini --trials trial.csv",),
        ),
        "state import": Reader("import.jsonl", (export,), imported),
        "state import, packed": Reader("import.jsonl.gz", (gzip.compress(export, mtime=0),), imported),
        "store": Reader("damaged.db", (database,), stored),
        "trace": Reader(
            "trace.csv", (TRACE,), read_trace, ("lab replay trace.csv --policies default --seeds 1 --runs 2 --jobs 1",)
        ),
        "weights": Reader("policy.safetensors", (weights,), lambda path: load_policy(path, OF_FILES["steering"][1])),
        "weights, sealed again": Reader(
            "policy.safetensors", (weights,), lambda path: load_policy(sealed(path.read_bytes()), OF_FILES["steering"][1])
        ),
        **{name: Reader(*entry) for name, entry in foreign_files().items()},
        "answer of Prometheus": Reader("answer.json", (ANSWER,), answer),
        "answer of nvidia-smi": Reader("answer.txt", (NVIDIA,), cards),
        "token file": Reader("token", (b"t0ken\n",), token),
        "certificate": Reader("ca.pem", (b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",), certificate),
    }


VARIABLES = (b"PROMETHEUS_URL=http://prometheus:9090", b"JPO_PREFERENCE=time=0.3,cost=0.7", b"JPO_STORE__URL=sqlite:///x.db")
OPTIONS = (
    b"suggest config.ini --dry-run --offline --no-learn --set batch_size=32 --prefer time=0.3,cost=0.7 --deadline 6h",
    b"suggest config.ini --dry-run --offline --no-learn --max-cost 20USD --since 90d --timeout 10s --seed 7",
    b"predict config.ini --set batch_size=32 --vary cpus=1,2,4 --deadline 2026-11-22T06:00Z",
    b"pareto config.ini --objectives time,cost --reference time=1.5,cost=2",
    b"observe run-77 --metric val_loss=0.4 --metric duration_seconds=12.5 --status succeeded",
    b"rollback --pin 7 --dry-run",
)


def guard(before: Path, after: Path, limits: Path) -> None:
    """The second look, which refuses with exit code 2 and a line."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = second_look.main([str(before), str(after), "--limits", str(limits)], TODAY)
    said = err.getvalue()
    must(code in (0, 1, 2) and (code == 2) == said.startswith("constraints: "), f"exit code {code}: {said:.500}")
    must(len(said) < LONGEST_MESSAGE, f"a message of {len(said)} characters")


def pyproject(toml: bytes) -> bytes:
    return toml.replace(b"\n[", b"\n[tool.jpo.").replace(b"[csv]", b"[project]\nname = 'x'\n[tool.jpo.csv]", 1)


def settled(toml: Path | None) -> None:
    """What a command makes of settings before it begins."""
    settings = load(Path("config.ini"), toml, {}, {})
    dict.fromkeys(str(entry) for entry in effective(settings))
    limits_of(settings)


def variable(path: Path) -> None:
    """An environment with one variable more; bytes that are not UTF-8 arrive as the operating system hands them over."""
    name, _, value = os.fsdecode(path.read_bytes().replace(b"\0", b"")).partition("=")
    settings = load(Path("config.ini"), None, {name: value}, {})
    limits_of(settings)


def option(path: Path) -> None:
    """A command line with strange values. click's own errors are exit code 2."""
    words = os.fsdecode(path.read_bytes().replace(b"\0", b"")).split(" ")
    words += ["--no-learn"] if words[0] == "suggest" else []  # a lost --no-learn means five seconds of learning
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="replace") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        code = run(words if words[0] in ("suggest", "predict", "pareto", "observe", "rollback") else ["check"])
    err.flush()
    must(code != 1, err.buffer.getvalue()[:500].decode("utf-8", "replace"))  # type: ignore[attr-defined]


def followed(path: Path) -> None:
    """A log that is read while it is written."""
    with Tail(path) as tail:
        while tail.poll().bytes_read:
            pass
        tail.run(NOW)


def imported(path: Path) -> None:
    """An import into a new store, and whether its chain holds."""
    with open_store("sqlite:///:memory:") as store, path.open("rb") as stream:
        import_lines(store, read_lines(stream, str(path)), str(path))


def stored(path: Path) -> None:
    """Everything that commands ask a store."""
    with open_store(f"sqlite:///{path.resolve()}", read_only=True) as store:
        store.recorded_runs()
        store.suggestions_of()
        store.audit_records()
        verify(store)


def sealed(data: bytes) -> bytes:
    """The same bytes with a seal that holds: what somebody who means harm would write."""
    start = data.find(SEAL) + len(SEAL)
    blank = data[:start] + BLANK + data[start + 64 :]
    return data[:start] + hashlib.sha256(blank).hexdigest().encode() + data[start + 64 :] if start >= len(SEAL) else data


def answer(path: Path) -> None:
    """An answer of a server, as far as its series."""
    body = path.read_bytes()
    data = answers.check("prometheus", 200, {"Content-Type": "application/json"}, body).data
    answers.rows("prometheus", data, "vector")


def cards(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    for line in text.splitlines():
        _card(line)
    _slices(text)


def token(path: Path) -> None:
    secret(AuthTable(type="bearer", token_file=str(path)), "token", Path())


def certificate(path: Path) -> None:
    check_files(path, None)
