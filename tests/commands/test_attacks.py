"""Texts from outside that would steer a terminal, a CI, a spreadsheet or a page: attacks x outputs x commands.

They stand where anybody may write: names of runs and workloads on record, config.ini, CSV logs, names of files and folders,
jpo.toml, the caller's environment, a server's answers. Every command is run over them, in every form that it has.
"""

from __future__ import annotations

import csv
import http.server
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from attacks import (
    ATTACKS,
    LIVE,
    READABLE_NAMES,
    STEERING,
    check_csv,
    check_html,
    check_json,
    check_markdown,
    check_page,
    steered,
    too_long,
)
from click import Choice
from command_lines import leaves

from jpo.__main__ import run
from jpo.history import open_store
from jpo.plugins.launch.job import JobState, JobStatus, LaunchJob
from jpo.plugins.launch.ledger import Entry, write
from jpo.records import Finished, Identity, Outcome, Run, RunStatus

PLACE = "a\n::error::folder ##[error]\x1b[2J\u202e @admin"
"""Of the project: a folder may be called anything but "/" and NUL."""

WORKLOAD = Identity("=1+1 @admin|<img src=x>##[error]", "::notice::m `@b` https://evil.example", "section_start:1:a")
CONFIG = f"""\
[workload]
dataset = {WORKLOAD.dataset}
model = {WORKLOAD.model}
framework = {WORKLOAD.framework}
[##[error]section @admin]
title = ##vso[x] https://evil.example
[training]
note = it goes on
    ::warning::before
batch_size = 16
after = \u202e@admin\u200b
    ::warning::after \x1b[2J
[resources]
cpus = 2
"""
TOML = """\
[csv]
logs = ["logs/*.csv", "::error::none ##[error]@admin*.csv"]
[prices]
usd_per_cpu_hour = 0.04
[sla]
time_max = "90s"
[launch]
command = ["true"]
"""
LOG = """\
# run_id={name}
# dataset={name}
# model=m
# framework=f
# batch_size=16
# start=1700000000
time,epoch,samples,train_loss,val_loss
1700000100,1,1500,0.2,0.1
# end=1700000100
# status=succeeded
"""
TRACE = """\
# workload = "@toy ##[error] <b> $\\\\frac$"
# family = "zeus"
# default = { batch_size = 16, power_limit_w = 250 }
# knobs = ["batch_size", "power_limit_w"]
# cost_column = "energy_j"
batch_size,power_limit_w,rep,converged,time_to_target_s,energy_j,time_full_s,energy_full_j
16,250,1,1,100,1000,300,3000
32,250,1,1,60,700,300,3000
64,200,1,1,55,300,300,3000
"""
CALLER = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_ACTOR": "@admin\n::error::actor ##[error]",
    "GITHUB_REPOSITORY": "a/b\x1b[2J<b>",
    "GITHUB_RUN_ID": "=1+1\u202e",
    "GITHUB_HEAD_REF": "@admin/\n::error::branch ##[error]#12",
    "GITHUB_REF_NAME": "<b>\x1b[2J=1+1",
}


def hostile_runs() -> Iterator[Run]:
    """Runs with each attack as their id; and of workloads with each attack as their name."""
    for number, attack in enumerate(ATTACKS):
        size, seconds = [(16, 100.0), (64, 40.0), (32, 70.0)][number % 3]
        ended = 1_700_000_000.0 + 1000 * number
        outcome = Outcome(duration_seconds=seconds + number % 5, samples=1500.0, val_loss=0.1, train_loss=0.2)
        for identity in (WORKLOAD, Identity(attack, attack, attack, attack)):
            values = {"batch_size": float(size), "cpus": 2.0}
            yield Run(attack, identity, values, RunStatus.SUCCEEDED, ended - seconds, ended, outcome, "csv")


class Server(http.server.BaseHTTPRequestHandler):
    """Answers every question with an error in the words of an attacker."""

    def do_GET(self) -> None:
        error = "\n".join(STEERING[:12] + LIVE)
        body = json.dumps({"status": "error", "errorType": "bad_data ##[error]", "error": error}).encode()
        self.send_response(422, "##[error]no")
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 - its base class calls it so

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as one:
        threading.Thread(target=one.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{one.server_port}"
        one.shutdown()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an attack at every place, whose store holds suggestions and a rollback too."""
    folder = tmp_path_factory.mktemp("attacks") / PLACE
    (folder / "logs").mkdir(parents=True)
    (folder / "config.ini").write_text(CONFIG)
    (folder / "jpo.toml").write_text(TOML)
    (folder / "toy.csv").write_text(TRACE)
    for number, attack in enumerate(ATTACKS):
        name = attack.replace("\n", "\\n")
        (folder / "logs" / f"{number} {attack.replace('/', ' ')[:40]}.csv").write_text(LOG.format(name=name), newline="")
    (folder / "logs" / f"not usable {PLACE}.csv").write_text("# run_id=##[error]\ntime,time\n")
    (folder / f"followed {PLACE}").write_text(LOG.format(name=LIVE[0] + " ##[error]\x1b[2J"))
    (folder / "running.csv").write_text(LOG.format(name=LIVE[0] + " ##[error]\x1b[2J"))
    for number, attack in enumerate(STEERING):
        job = LaunchJob(f"night-{number}", Identity(attack, attack, attack), (attack.replace("\0", ""),), folder.absolute())
        end = JobStatus(JobState.ENDED, 1, reason=attack, place=attack) if number % 2 else None
        launched = Entry(job, attack, 1_700_000_000.0, attack, end)
        (folder / ".jpo" / "launches" / job.run_id).mkdir(parents=True)
        write(folder / ".jpo" / "launches", launched)
    (folder / "tables" / "huggingface").mkdir(parents=True)
    cells = [[attack, attack, attack, "f", "64", "2026-01-02T03:04:05Z", "90", "0.5"] for attack in ATTACKS]
    with (folder / "tables" / "@admin ##[error].csv").open("w", newline="") as table:
        writer = csv.writer(table)
        writer.writerow(["run_id", "dataset", "model", "framework", "batch_size", "ended_at", "duration_seconds", "val_loss"])
        writer.writerows(cells)
    log = [{"epoch": 1.0, attack: attack} for attack in LIVE]
    state = {"log_history": log, "best_model_checkpoint": STEERING[0], "global_step": 1}
    (folder / "tables" / "huggingface" / "trainer_state.json").write_text(json.dumps(state))
    with (folder / "@admin ##[error] lab.csv").open("w", newline="") as table:
        jobs = ([attack, 0, 60, 1, "", attack, attack] for attack in ATTACKS if "\0" not in attack)
        csv.writer(table).writerows([["id", "submit", "duration", "gpus", "gpu_type", "model_class", "user"], *jobs])
    with (folder / "pods.csv").open("w", newline="") as table:
        pods = ([attack, 1000, 1024, 1, attack, 10, 20] for attack in ATTACKS if "\0" not in attack)
        names = ["name", "cpu_milli", "memory_mib", "num_gpu", "gpu_spec", "creation_time", "deletion_time"]
        csv.writer(table).writerows([names, *pods])
    name = json.dumps(STEERING[0])
    platform = f'name = {name}\n[processor.{name}]\nkind = "gpu"\n[node.{name}]\nprocessors = [{{ type = {name}, count = 4 }}]\n'
    (folder / "lab.toml").write_text(f"{platform}[[cluster]]\nname = {name}\nnodes = [{{ type = {name} }}]\n")
    agent = "from jpo.plugins.cluster.agents.base import ClassicAgent\nclass Mine(ClassicAgent): pass\n"
    (folder / "mine.py").write_text(f"{agent}class Bad(ClassicAgent):\n    def decide(self, *seen): raise ValueError({name})\n")
    said = " ".join(text.replace("\n", " ").replace("\0", " ") for text in (*STEERING, *LIVE))[:8000]
    (folder / "loud.py").write_text(
        f"import sys\nopen({STEERING[0]!r} + '.ini') if not sys.argv else sys.exit({said[-280:]!r})\n"
    )
    (folder / "broken").mkdir()
    (folder / "broken" / "none.py").write_text(f"def {STEERING[0]} (")
    (folder / "broken" / "jpo.toml").write_text('["##[error] @admin\\n::error::x"]\n"\\u001b[2J" = 1\n')
    with (folder / "traces.csv").open("w", newline="") as table:
        writer = csv.writer(table)
        writer.writerow(["exec_id", "t", "cpu", "memory"])
        for attack in ATTACKS:
            writer.writerows([attack, t, 0.1 + t // 100 % 2, 1e8 + 1e9 * (t // 100 % 2)] for t in range(0, 400, 20))
    for metric, size in (
        ("container_cpu_usage_seconds_total", 1.0),
        ("container_memory_rss", 1e9),
        ("container_memory_cache", 1.0),
    ):
        values = [[t, str(size * t * (1 + t // 100 % 2))] for t in range(0, 400, 20)]
        series = [{"metric": {"__name__": metric, "pod": attack, "container": attack}, "values": values} for attack in ATTACKS]
        answer = {"status": "success", "data": {"resultType": "matrix", "result": series}}
        (folder / f"{metric}.json").write_text(json.dumps(answer))
    with (folder / "graph.csv").open("w", newline="") as table:
        short = [attack for attack in ATTACKS if len(attack) < 1000]
        csv.writer(table).writerows([["Time", *short], ["10", *("1" for _ in short)]])
    (folder / "@admin ##[error] group").mkdir()
    for name, text in GROUP.items():
        (folder / "@admin ##[error] group" / name).write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in CALLER.items():
            patch.setenv(name, value)
        with open_store("sqlite:///.jpo/jpo.db") as store:
            store.record(Finished(tuple(hostile_runs())), now=1_700_100_000.0)
        assert run(["suggest", "config.ini", "--offline", "--explore", "off", "--no-learn"]) == 0
        assert run(["rollback"]) == 0
        assert run(["suggest", "--offline", "--no-learn", "--set", "batch_size=32"]) == 0
        assert run(["phases", "fit", "traces.csv", "-o", "phases.model"]) == 0
    return folder


FORMS = ("text", "json", "markdown", "html")
SMALL = "--runs 2,4 --seeds 2 --jobs 1 --policies default,random"
LAB = "'@admin ##[error] lab.csv'"
GROUP = {"cgroup.events": "populated 0", "cpu.max": "max 100000", "cpu.stat": "usage_usec 0"}
GROUP |= {"memory.current": "0", "memory.high": "max", "memory.max": "max", "memory.stat": ""}
"""Files of a cgroup whose processes have ended."""
COMMANDS: dict[str, tuple[str, ...]] = {
    "suggest --dry-run --diff --offline --no-learn": FORMS,
    "suggest --dry-run --diff --offline --no-learn --set batch_size=64": FORMS,
    "rollback --dry-run --diff": FORMS,
    "explain": FORMS,
    "history": (*FORMS, "csv"),
    "history --compare": (*FORMS, "csv"),
    "check": FORMS,
    "doctor --offline": FORMS,
    "init --dry-run --ci none": FORMS,
    "init --dry-run --ci none --prometheus-url SERVER": FORMS,
    "doctor --prometheus-url SERVER": FORMS,
    "predict --vary batch_size=16,64": FORMS,
    "pareto": FORMS,
    "sla check": FORMS,
    "sla suggest": FORMS,
    "prices show": FORMS,
    "lab logs": (*FORMS, "csv"),
    "audit show": FORMS,
    "report": ("text", "json", "markdown"),
    f"lab replay toy.csv {SMALL}": FORMS,
    "lab simulate --workloads 1 --runs 2": FORMS,
    "optimize config.ini --name job --runs 0 --baseline 1 --offline": (*FORMS, "csv"),
    f"cluster evaluate --workload {LAB} --platform lab.toml --policy fcfs,saf": (*FORMS, "csv"),
    f"cluster describe --workload {LAB} --platform lab.toml": FORMS,
    "cluster test --agent mine.py:Mine --draw 60 --procs 8 --length 16 --sequences 2 --split 0": FORMS,
    "phases fit traces.csv -o /dev/null": FORMS,
    "phases fit container_cpu_usage_seconds_total.json container_memory_rss.json container_memory_cache.json -o /dev/null": FORMS,
    "phases predict phases.model traces.csv": FORMS,
    "phases plot phases.model traces.csv": FORMS,
    "phases expand phases.model traces.csv -o /dev/null": FORMS,
    "phases allocate phases.model traces.csv -o /dev/null": FORMS,
    "phases evaluate phases.model traces.csv": FORMS,
    "phases rightsize phases.model traces.csv": FORMS,
    "phases follow '@admin ##[error] group' --model phases.model": ("text", "json"),
    "run --dry-run loud.py": ("text", "json"),
    "watch": FORMS,
    "watch --csv running.csv --once": FORMS,
}
LINES = (
    *(
        "run ATTACK.py",
        "run --run-id ATTACK -- true",
        "run -- ATTACK",
        "run loud.py",
        "run broken/none.py",
        "run --dry-run -- env ATTACK",
    ),
    *("comment", "comment ATTACK", "comment --from ATTACK.json", "comment --link ATTACK --dry-run --from broken/jpo.toml"),
    *(
        "persist --dry-run",
        "persist ATTACK",
        "persist --from ATTACK.json",
        "persist --link ATTACK --dry-run",
        "explain ATTACK config.ini",
    ),
    *("audit export", "audit export -o csv", "audit verify", "audit verify --anchor"),
    *(
        "report ATTACK.ini",
        "config show",
        "config check",
        "config check --config broken/jpo.toml",
        "state gc --dry-run",
        "state export -",
    ),
    *("import tables", "import tables --write", "import tables/huggingface", "import tables/ATTACK.csv", "import broken"),
    *("import tables --for ATTACK", "import tables --set ATTACK", "import tables --dataset ATTACK"),
    "import http://SERVED --experiment ATTACK",
    *("state export DIR/backup.jsonl", "state export DIR/::error::a\n##[error].jsonl", "lab logs --extended DIR/runs.csv"),
    *(
        "watch ATTACK --once",
        "watch night-0 --once",
        "watch --csv ATTACK --once",
        "watch ATTACK.csv --apply",
        "watch --prometheus-url SERVER",
    ),
    *("observe --offline", "observe --follow --csv FOLLOWED", "observe --prometheus-url SERVER"),
    *("observe --csv logs/missing\n::error::a.csv", "learn ATTACK.ini --budget 0.1s"),
    *("observe RUN --metric ##[error]=a\n::b", "observe RUN --metric duration_seconds=1", "state import logs/PLACE.csv"),
    *("suggest --strict --prometheus-url SERVER --dry-run", "suggest --set ATTACK=1", "suggest --prefer ATTACK"),
    *(
        "explain ATTACK",
        "sla check ATTACK",
        "rollback ATTACK",
        "history ATTACK",
        "ATTACK",
        "history --ATTACK",
        "predict --set ATTACK",
    ),
    *(
        "lab replay ATTACK.csv",
        "lab replay toy.csv --policies ATTACK",
        "lab simulate --policies ATTACK",
        "prices refresh toy.csv",
    ),
    *("optimize config.ini --runs 0 --name ATTACK -- true", "optimize ATTACK.ini -- true", "optimize ATTACK -- true"),
    *("learn --pretrain ATTACK", "prices show --gpu-type ATTACK", "pareto --objectives ATTACK", "audit export --since ATTACK"),
    *(
        "cluster evaluate --workload ATTACK.swf",
        "cluster evaluate --workload config.ini",
        "cluster convert pods.csv --from openb",
        "cluster convert pods.csv --from phases --model ATTACK",
    ),
    *("cluster evaluate --draw 5 --procs 4 --policy ATTACK", "cluster evaluate --draw 5 --procs 4 --fail-if ATTACK"),
    *("cluster evaluate --workload pods.csv --platform ATTACK.toml", "cluster plot ATTACK.gif --draw 5 --procs 4"),
    *("cluster train ATTACK.safetensors --draw 5 --procs 4", "cluster test --draw 50 --procs 4 --agent ATTACK.py:Mine"),
    *("cluster test --model config.ini --draw 5 --procs 4", "cluster test --draw 50 --procs 4 --length 9 --agent mine.py:Bad"),
    *("phases fit ATTACK.csv -o /dev/null", "phases predict ATTACK traces.csv", "phases fit toy.csv -o /dev/null"),
    *("phases fit traces.csv -o /dev/null --column cpu_cores=ATTACK", "phases fit traces.csv -o /dev/null --column ATTACK"),
    *("phases predict phases.model traces.csv --execution ATTACK", "phases fit traces.csv -o /dev/null --feature ATTACK"),
    *("phases follow ATTACK --model phases.model", "phases follow ATTACK/ATTACK --model phases.model --apply"),
    *("phases rightsize phases.model traces.csv --container ATTACK", "phases fit ATTACK.ini -o /dev/null"),
    *(
        "phases fit graph.csv -o /dev/null",
        "phases fit graph.csv traces.csv -o /dev/null",
        "phases fit ATTACK ATTACK -o /dev/null",
    ),
    *("phases parts ATTACK --scaler /dev/null", "phases parts phases.model --clusters ATTACK", "phases parts phases.model"),
    *("phases parts phases.model --crbm ATTACK", "phases fit traces.csv -o /dev/null --scaler ATTACK"),
    *("audit verify --head ATTACK", "lab simulate --workloads 1 --runs 2", "suggest ATTACK.ini", "--config ATTACK history"),
)
"""Commands that answer in lines or in an error; ATTACK is put in the place of every attack on lines, in turn by the test."""
ON_LINES = (*STEERING, *(attack for attack in LIVE if re.search(r"\n|^[-!{']", attack)), READABLE_NAMES[-1])
"""What steers a terminal or a CI; of what is alive in a page alone, what might be taken for an option, a markup or two lines."""


@pytest.fixture
def inside(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project)
    for name in ("PROMETHEUS_URL", "NO_COLOR", "CI", "GITLAB_CI", "JENKINS_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in CALLER.items():
        monkeypatch.setenv(name, value)
    return project


def answers(capfd: pytest.CaptureFixture[str], words: list[str]) -> tuple[str, str]:
    """What left the process, on either stream, whoever wrote it."""
    capfd.readouterr()
    code = run(words)
    out, err = capfd.readouterr()
    assert "internal error" not in err, err
    assert code in (0, 2, 3, 4, 5, 6, 7), err
    return out, err


@pytest.mark.parametrize(("command", "form"), [(command, form) for command, forms in COMMANDS.items() for form in forms])
def test_no_report_is_steered_by_what_it_shows(
    command: str, form: str, inside: Path, capfd: pytest.CaptureFixture[str], server: str
) -> None:
    option = "--format" if command.startswith("phases") else "-o"
    words = shlex.split(command.replace("SERVER", server))
    out, err = answers(capfd, [*words, option, form])
    assert steered(out) + steered(err) == []
    assert out or err
    {"json": check_json, "csv": check_csv, "markdown": check_markdown, "html": check_html}.get(form, too_long)(out or "{}")


def test_names_stay_readable_and_data_exact(inside: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text, _ = answers(capfd, ["history", "-o", "text"])
    assert [name for name in READABLE_NAMES if name not in text] == []
    found, _ = answers(capfd, ["history", "-o", "json"])
    assert {entry["run_id"] for entry in json.loads(found)["runs"]} >= set(ATTACKS)


@pytest.mark.parametrize("command", LINES)
def test_no_answer_or_error_is_steered_by_what_it_names(
    command: str, inside: Path, capfd: pytest.CaptureFixture[str], server: str, tmp_path: Path
) -> None:
    for attack in ON_LINES if "ATTACK" in command else ("",):
        if "\0" in attack or len(os.fsencode(attack)) > 100_000:  # the system refuses arguments of more than 128 KiB
            continue
        told = {
            "SERVED": server.removeprefix("http://"),
            "SERVER": server,
            "DIR": str(tmp_path),
            "PLACE": PLACE,
            "FOLLOWED": f"followed {PLACE}",
            "RUN": STEERING[0],
            "ATTACK": attack,
        }
        words = [re.sub("|".join(told), lambda name: told[name[0]], word) for word in command.split(" ")]  # noqa: B023
        out, err = answers(capfd, words)
        assert steered(out) + steered(err) == [], words
        assert out or err
        if not command.startswith(("state export", "audit export")):  # data
            assert too_long(out + err) == []
        assert err.count("\n") <= 4, "an error is one line, or a line under how the command is used"


def test_files_for_people_are_as_harmless(inside: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = [tmp_path / f"a.{suffix}" for suffix in ("txt", "json", "md", "html")]
    options = [word for file in files for word in ("--output-file", str(file))]
    out, err = answers(capfd, ["suggest", "--dry-run", "--diff", "--offline", "--set", "batch_size=64", *options])
    assert err == ""
    assert [steered(file.read_text()) for file in files] == [[]] * 4
    check_markdown(files[2].read_text())
    check_html(files[3].read_text())
    assert "    ::warning::after \x1b[2J" in json.loads(files[1].read_text())["diff"]
    assert "after" in out
    answers(capfd, ["lab", "logs", "--extended", str(tmp_path / "r.csv")])
    assert steered((tmp_path / "r.csv").read_text()) == []
    check_csv((tmp_path / "r.csv").read_text())
    backup = tmp_path / "b.jsonl"
    answers(capfd, ["state", "export", str(backup)])
    assert steered(backup.read_text()) == []


def test_the_page_and_the_figures_of_the_report_are_as_harmless(
    inside: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out, err = answers(capfd, ["report", "--html", str(tmp_path / "r.html"), "--csv", str(tmp_path / "figures")])
    assert (err, steered(out)) == ("", [])
    page = (tmp_path / "r.html").read_text()
    assert steered(page) == []
    check_page(page)
    assert [name for name in READABLE_NAMES if name not in page] == []
    for file in (tmp_path / "figures").iterdir():
        assert steered(file.read_text()) == [], file
        check_csv(file.read_text())


@pytest.mark.parametrize("source", [[], ["--from", "s.json"]])
def test_the_note_is_as_harmless(inside: Path, capfd: pytest.CaptureFixture[str], source: list[str]) -> None:
    answers(capfd, ["suggest", "--dry-run", "--offline", "--set", "batch_size=64", "--output-file", "s.json"])
    for attack in ("https://ci.example/", *ATTACKS):
        if len(os.fsencode(attack)) < 100_000:
            out, err = answers(capfd, ["comment", "--dry-run", *source, "--link", attack])
            assert (err, steered(out)) == ("", [])
            marker, _, note = out.partition("\n\n")
            assert re.fullmatch("<!-- jpo:suggestion:[0-9a-f]{32} -->", marker)
            check_markdown(note.replace("[Report and log](<https://ci.example/>)", ""))


@pytest.mark.parametrize("source", [[], ["--from", "s.json"]])
def test_the_merge_request_is_as_harmless(inside: Path, capfd: pytest.CaptureFixture[str], source: list[str]) -> None:
    answers(capfd, ["suggest", "--dry-run", "--offline", "--set", "batch_size=64", "--output-file", "s.json"])
    for attack in ("https://ci.example/", *ATTACKS):
        if len(os.fsencode(attack)) < 100_000:
            out, err = answers(capfd, ["persist", "--dry-run", *source, "--link", attack])
            assert (err, steered(out)) == ("", [])
            branch, title, _, text = out.split("\n", 3)
            assert re.fullmatch(r"jpo/[a-z0-9_]+\.[0-9a-f]{12}", branch)
            assert re.fullmatch(r"JPO: values in force for [a-z0-9_]+", title)
            check_markdown(text.replace("[Report and log](<https://ci.example/>)", ""))


def test_every_command_is_attacked_in_every_form_that_it_has() -> None:
    missing = []
    for name, command in leaves():
        asked = {form for asked, forms in COMMANDS.items() for form in forms if f"{asked} ".startswith(f"{name} ")}
        choices = [one.type.choices for one in command.params if "--format" in one.opts and isinstance(one.type, Choice)]
        forms = {form for some in choices for form in some if "json" in some} - {"table"}  # another word for text
        missing += [f"{name} -o {form}" for form in forms - asked]
        if not asked and not any(f"{line} ".startswith(f"{name} ") for line in LINES):
            missing.append(name)
    assert sorted(missing) == ["completion", "config schema"], "which shows nothing from outside"


def test_tables_for_spreadsheets_are_as_harmless(inside: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for command in ("predict", "allocate"):
        answers(capfd, ["phases", command, "phases.model", "traces.csv", "-o", str(tmp_path / "phases.csv")])
        assert steered((tmp_path / "phases.csv").read_text()) == []
        check_csv((tmp_path / "phases.csv").read_text(), exact=True)  # of executions by their ids
    exported, _ = answers(capfd, ["audit", "export", "-o", "csv"])
    check_csv(exported, exact=True)  # the chain is verified from it
    answers(capfd, ["lab", "logs", "--extended", str(tmp_path / "runs.csv"), "--epochs", str(tmp_path / "epochs.csv")])
    for table in (tmp_path / "runs.csv", tmp_path / "epochs.csv"):
        assert steered(table.read_text()) == []
        check_csv(table.read_text())


def test_courses_in_a_picture_are_as_harmless(inside: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out, err = answers(capfd, ["phases", "plot", "phases.model", "traces.csv", "-o", str(tmp_path / "p.svg")])
    assert steered(out) + steered(err) == []
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.parse(tmp_path / "p.svg").iter()}  # noqa: S314 - our own file
    assert not tags & {"script", "a", "image", "foreignObject"}
    assert steered((tmp_path / "p.svg").read_text()) == []


@pytest.mark.parametrize("command", ["pareto", "history --compare", f"lab replay toy.csv {SMALL}"])
def test_pictures_are_as_harmless(command: str, inside: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    picture = tmp_path / "picture.svg"
    out, err = answers(capfd, [*command.split(), "--plot", str(picture)])
    assert steered(out) + steered(err) == []
    if picture.exists():  # nothing to draw is said
        tags = {element.tag.rpartition("}")[2] for element in ElementTree.parse(picture).iter()}  # noqa: S314 - our own file
        assert not tags & {"script", "a", "image", "foreignObject"}
        assert steered(picture.read_text()) == []


@pytest.mark.parametrize("command", ["suggest --dry-run --diff --offline", "explain", "history", "check", "logs", "suggest @x"])
def test_a_terminal_gets_colours_and_nothing_else(command: str, inside: Path) -> None:
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(Path(__file__).parents[2])}
    for name in ("GITHUB_ACTIONS", "CI", "NO_COLOR"):
        environment.pop(name, None)
    words = [sys.executable, "-P", "-m", "jpo", *command.split()]
    with subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b"".join(iter(lambda: read(ours), b"")).decode()
    os.close(ours)
    assert process.returncode in (0, 2)
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown).replace("\r\n", "\n")
    assert text
    assert steered(re.sub(r"\x1b\[\?25[hl]|\x1b\[2?K|\r|\x1b\[1A", "", text)) == [], "besides a progress bar's own"


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # EIO: the process is over, and Linux says so
        return b""
