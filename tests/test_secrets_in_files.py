"""Any file can be named on a command line: a table of passwords, a key, settings of others. No command repeats what is in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jpo.__main__ import run

SECRETS = ("Zq9tr0ub4dorX77kcdPW", "Tr0ub4dor&3:x/Zq9+w==")
CONFIG = """\
[workload]
dataset = d
model = m
framework = f
[training]
batch_size = 32
dropout = 0.1
[resources]
cpus = 2
memory = 16Gi
"""
PLATFORM = """\
name = "lab"

[processor.epyc]
kind = "cpu"
cores = 64
watts = 3.0
bandwidth_gbps = 200.0

[processor.a100]
kind = "gpu"
watts = 400

[processor.v100]
kind = "gpu"
speed = 0.5
speeds = { bert = 0.3 }
watts = 300

[node.dgx]
processors = [{ type = "epyc", count = 2 }, { type = "a100", count = 8 }]
memory_gib = 1024
usd_per_hour = 20.0

[node.old]
processors = [{ type = "epyc" }, { type = "v100", count = 4 }]
memory_gib = 256
usd_per_hour = 6.0

[[cluster]]
name = "train"
nodes = [{ type = "dgx", count = 2 }, { type = "old", count = 4 }]

[slowdowns]
nodes = 1.2
clusters = 1.5
conflict = 0.75

[power]
beside_busy = 0.15
idle = 0.05
"""
OTHERS = {
    "shadow": "root:$y$j9T${1}:19000:0:99999:7:::\ndaemon:{0}:1\n",
    "key.pem": "-----BEGIN PRIVATE KEY-----\n{0}{0}\n{1}\n-----END PRIVATE KEY-----\n",
    ".env": "DB_PASSWORD={0}\nAPI={1}\n",
    "a.json": '{{"password": "{0}", "{1}": 1}}',
    "lines.jsonl": '{{"{0}": "{1}"}}\n',
    "a.yaml": "users:\n- name: x\n  token: {0}\n",
    "cut.toml": '[auth]\npassword = "{0}\n',
    "a.toml": '[auth]\npassword = "{0}"\n"{1}" = "{0}"\n',
    "twice.toml": '["{0}"]\n["{0}"]\n',
    "inline.toml": 'a = {{ "{1}" = 1, "{1}" = 2 }}\n',
    "a.ini": "[auth]\npassword = {0}\n{1}\n",
    "hparams.yaml": "a: *{0}\n",
    "a.py": "# -*- coding: {0} -*-\n",
    "a.csv": "user,{0}\nme,{1}\n",
    "tabs": "{0}\t{1}\n1\t2\n",
    "a.swf": "{0} 2 {1}\n",
    "times.csv": "time,{0}\n{1},3\n",
    "graph.csv": "Time,{1},{1}\n1700000000,1,2\n1700000060,1,2\n",
    "series.csv": "time,value,pod\n1700000000,{0},a\n1700000060,{1},a\n",
    "answer.json": '{{"resultType": "{0}", "result": []}}',
    "error.json": '{{"status": "error", "errorType": "{0}", "error": "{1}"}}',
    "values.json": '[{{"metric": {{"a": "{0}"}}, "values": [[1, "1"], [2, "{1}"]]}}]',
    "names.json": '[{{"metric": {{"a": "{0}"}}, "values": [[1, "1"], [2, "1"]]}}]',
    "printed": "{{pod}} =>\n{0}\n",
}
READERS = (
    *(
        "suggest --dry-run FILE",
        "check FILE",
        "explain FILE",
        "predict FILE",
        "history FILE",
        "rollback FILE",
        "report FILE",
        "learn FILE",
    ),
    *(
        "check config.ini --config FILE",
        "config show --config FILE",
        "observe config.ini --csv FILE",
        "lab logs FILE",
        "import config.ini FILE",
        "lab replay FILE",
    ),
    *("audit verify config.ini --head FILE", "state import config.ini FILE", "phases predict FILE FILE", "run FILE"),
    "phases fit FILE -o x.model",
    *("cluster describe --workload FILE", "cluster evaluate --workload FILE", "cluster evaluate --draw 5 --platform FILE"),
    *("cluster convert FILE --from philly", "cluster convert FILE --from pollux", "cluster train --options FILE"),
)
TRACE = """\
time,execution,cpu_cores,memory_bytes
1700000000,a,1,300000000
1700000060,a,2,200000000
1700000120,a,1,200000000
1700000180,a,2,300000000
"""
TABLES = {
    "observe config.ini --csv x.csv": """\
# run_id=a
# dataset=d
# model=m
# framework=f
# batch_size=16
# start=1700000000
# converged=true
time,epoch,samples,train_loss
1700000100,1,1500,0.2
# end=1700000100
# status=succeeded
""",
    "import config.ini x.csv --dataset d --model m --framework f": """\
run,start_seconds,duration_seconds,batch_size,val_loss,status
a,1700000000,100,16,0.1,finished
""",
    "lab replay x.csv --runs 1 --policies default --seeds 1 --jobs 1": """\
# workload = "toy"
# family = "zeus"
# default = { batch_size = 16, power_limit_w = 250 }
# knobs = ["batch_size", "power_limit_w"]
# cost_column = "energy_j"
batch_size,power_limit_w,rep,converged,time_to_target_s,energy_j,time_full_s,energy_full_j
16,250,1,1,100,1000,300,3000
32,250,1,1,60,700,300,3000
64,200,1,1,55,300,300,3000
""",
    "cluster describe --workload x.swf": "; MaxProcs: 4\n1 0 0 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n",
    "cluster evaluate --platform platform.toml --jobs 1 --policy fcfs --workload x.csv": """\
id,submit,duration,gpus,gpu_type,cpus,memory,phases
a,0,10,1,a100,1,1,10:3 5:2
""",
    "cluster convert x.csv --from pollux": "time,name,num_replicas,batch_size,duration\n10,bert-0,4,512,30\n",
    "check config.ini --config x.toml": """\
[prices]
usd_per_cpu_hour = 0.04
[sla]
time_max = "90s"
[parameters.batch_size]
min = 8
[parameters.dropout]
key = "training.dropout"
choices = [0.1, 0.2]
[csv]
logs = ["x/*.csv"]
""",
    "cluster evaluate --draw 5 --policy fcfs --jobs 1 --platform x.toml": PLATFORM,
    "check x.ini": CONFIG,
    "phases predict phases.model x.csv": TRACE,
    "phases predict phases.model x.csv memory.csv": """\
Time,cpu usage a
1700000000,1 cores
1700000060,2 cores
1700000120,1 cores
1700000180,2 cores
""",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    traces, found = (tmp_path_factory.mktemp("phases") / name for name in ("traces.csv", "phases.model"))
    traces.write_text(TRACE)
    assert run(["phases", "fit", str(traces), "--phases", "2", "-o", str(found)]) == 0
    return found.read_bytes()


@pytest.fixture(autouse=True)
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: bytes) -> None:
    monkeypatch.chdir(tmp_path)
    Path("phases.model").write_bytes(model)
    Path("memory.csv").write_text("Time,memory a\n1700000000,1 GiB\n1700000060,2 GiB\n1700000120,1 GiB\n1700000180,2 GiB\n")
    Path("config.ini").write_text(CONFIG)
    Path("platform.toml").write_text(PLATFORM)


@pytest.mark.parametrize("command", READERS)
def test_a_file_of_another_kind_is_not_repeated(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    for name, text in OTHERS.items():
        Path(name).write_text(text.format(*SECRETS))
        exit_code = run(command.replace("FILE", name).split())
        said = "".join(capfd.readouterr())
        assert exit_code != 1, said
        assert not [secret for secret in SECRETS if secret[:12] in said], said


@pytest.mark.parametrize("command", TABLES)
def test_what_stands_in_a_wrong_place_is_not_repeated(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    name = next(word for word in command.split() if word.startswith("x."))
    Path(name).write_text(TABLES[command])
    assert run(command.split()) == 0, capfd.readouterr()
    refused = 0
    for text in wrong(TABLES[command]):
        Path(name).write_text(text)
        exit_code = run(command.split())
        said = "".join(capfd.readouterr())
        assert exit_code != 1, said
        if exit_code > 1 and "JPO-E735" not in said:  # else it is a name: of a run, of a section; of executions that do not meet
            refused += 1
            assert not [secret for secret in SECRETS if secret[:12] in said], said
    assert refused > 3


def wrong(text: str) -> Iterator[str]:
    """A file with a secret in place of each value and each line."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        sign = "=" if "=" in line and not line.startswith("#") else "," if "," in line else " "
        cells = line.split(sign)
        for cell in range(len(cells)):
            changed = sign.join([*cells[:cell], SECRETS[cell % 2], *cells[cell + 1 :]])
            yield "\n".join([*lines[:number], changed, *lines[number + 1 :], ""])
        yield "\n".join([*lines[:number], SECRETS[number % 2], *lines[number:], ""])
