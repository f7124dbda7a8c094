"""Options files of HDeepRM through the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hdeeprm_files import OPTIONS, PLATFORM, changed
from plugins.cluster.story.test_evaluate import answer

PAGE = Path(__file__).parents[4] / "docs/plugins/cluster.md"
LOG = "".join(
    f"{job} {job} -1 {10 * job} {1 + job % 3} -1 -1 -1 {20 * job} 1048576 1 1 -1 -1 -1 -1 -1 -1\n" for job in range(1, 31)
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.swf").write_text(LOG)
    Path("platform.json").write_text(json.dumps(PLATFORM))


def options(**agent: object) -> None:
    Path("options.json").write_text(json.dumps(changed(changed(OPTIONS, "pybatsim.agent", agent), "nb_jobs", 20)))


def test_a_classic_pair_is_evaluated_and_its_decisions_are_logged(capsys: pytest.CaptureFixture[str]) -> None:
    options(type="CLASSIC", policy_pair="shortest-high_gflops")
    code, out, err = answer(capsys, "test", "--options", "options.json", "-o", "json")
    assert code == 0
    found = json.loads(out)
    assert (found["jobs"], found["policy"], found["procs"]) == (20, "sjf-high_gflops", 12)
    assert found["energy_joules"] > 0
    assert err.count("starts on") == 20
    assert answer(capsys, "test", "--options", "options.json", "-o", "json")[2] == err


def test_a_learning_agent_is_trained_and_tested(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason='torch not found: pip install "jpo[learn]"')
    options(type="LEARNING", run="train", hidden=8, lr=0.01, gamma=0.99)
    code, out, _ = answer(capsys, "train", "m.safetensors", "--options", "options.json", "--rounds", "2")
    assert (code, "kept in m.safetensors" in out) == (0, True)
    options(type="LEARNING", run="test", input_model="m.safetensors")
    code, out, _ = answer(capsys, "test", "--options", "options.json", "-o", "json")
    assert (code, json.loads(out)["objective"]) == (0, "energy")


def test_the_files_of_the_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason='torch not found: pip install "jpo[learn]"')
    section = PAGE.read_text().partition("## HDeepRM's files")[2].partition("\n## ")[0]
    documents = re.findall(r"```json\n(.*?)```", section, re.DOTALL)
    for name, document in zip(("train.json", "test.json", "platform.json"), documents, strict=True):
        Path(name).write_text(document)
    train, test = re.findall(r"^jpo cluster (.*)$", section, re.MULTILINE)
    assert answer(capsys, *train.split(), "--rounds", "1")[0] == 0
    code, out, err = answer(capsys, *test.split(), "-o", "json")
    assert (code, err.count("starts on")) == (0, 30)
    found = json.loads(out)
    assert (found["policy"], found["procs"]) == ("smallest-high_mem", 24)
    assert found["energy_joules"] > 0
    assert answer(capsys, "test", "--options", "train.json", "--model", "model.safetensors")[0] == 0


def test_the_seed_draws_the_jobs(capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for seed in (1, 2):
        document = changed(changed(OPTIONS, "pybatsim.agent", {"type": "CLASSIC", "policy_pair": "first-random"}), "seed", seed)
        Path("options.json").write_text(json.dumps(changed(document, "nb_jobs", 5)))
        found.append(json.loads(answer(capsys, "test", "--options", "options.json", "-o", "json")[1])["avg_turnaround_seconds"])
    assert found[0] != found[1]


def test_a_log_without_a_job_of_that_size_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    options(type="CLASSIC", policy_pair="first-random")
    Path("log.swf").write_text(LOG.split("\n")[1] + "\n")
    document = json.loads(Path("options.json").read_text())
    Path("options.json").write_text(json.dumps({**document, "nb_resources": 1}))
    code, out, err = answer(capsys, "test", "--options", "options.json")
    assert (code, out) == (2, "")
    assert "has no job for 1 cores" in err


def test_code_that_only_the_options_name_does_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.py").write_text(
        "open('ran', 'w')\nfrom jpo.plugins.cluster.agents.base import LearningAgent\nclass Mine(LearningAgent): pass\n"
    )
    options(type="LEARNING", run="train", file="mine.py")
    for words in (("test",), ("train", "m.safetensors")):
        code, _, err = answer(capsys, *words, "--options", "options.json")
        assert (code, Path("ran").exists()) == (2, False)
        assert "pybatsim.agent.file = 'mine.py' is code" in err
    code, _, err = answer(capsys, "test", "--options", "options.json", "--agent", "mine.py:Mine")
    assert (code, Path("ran").exists()) == (2, True)
    assert "NotImplementedError" in err
