"""`jpo cluster train` and `test` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plugins.cluster.story.test_evaluate import answer

from jpo.cli import output

EXAMPLE = Path(__file__).parents[4] / "examples/cluster/shortest_first.py"
WORK = ("--draw", "300", "--procs", "16", "--load", "1.2", "--length", "32")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(output, "SECONDS_BETWEEN_LINES", 1e9)  # however slow the machine is


@pytest.mark.parametrize("learner", ["cross-entropy", "reinforce", "actor-critic"])
def test_what_is_learnt_is_kept_and_judged(learner: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason='torch not found: pip install "jpo[learn]"')
    words = ("--rounds", "2", "--episodes", "2", "--slots", "8", "--hidden", "8", "--learner", learner)
    code, out, err = answer(capsys, "train", "m.safetensors", *WORK, *words)
    assert (code, err) == (0, "")
    assert "on validation (-1: as the rule)\nkept in m.safetensors\n" in out
    assert answer(capsys, "train", "n.safetensors", *WORK, *words, "--begin", "m.safetensors")[0] == 0
    code, out, err = answer(capsys, "test", "--model", "n.safetensors", *WORK, "--sequences", "4", "-o", "json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert list(found["means"]) == ["n", "saf+easy", "f1+easy"]
    assert found["agent_less"]["saf+easy"]["low"] <= found["agent_less"]["saf+easy"]["high"]
    assert len(found["values"]["n"]) == 4


def test_an_agent_of_ones_own_is_judged_and_learns(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = answer(capsys, "test", "--agent", f"{EXAMPLE}:ShortestFirst", *WORK, "--sequences", "3")
    assert (code, err) == (0, "")
    assert "ShortestFirst on 3 sequences of 32 jobs: drawn" in out
    own = ("--agent", f"{EXAMPLE}:Weighing", "--rounds", "3", "--episodes", "2")
    assert answer(capsys, "train", "w.safetensors", *WORK, *own)[0] == 0
    words = ("--agent", f"{EXAMPLE}:Weighing", "--model", "w.safetensors", "--sequences", "2")
    assert answer(capsys, "test", *words, *WORK)[0] == 0
    assert answer(capsys, "train", "w.safetensors", *WORK, *own, "--tries", "2")[0] == 0


METERED = """
[processor.cpu]
kind = "cpu"
cores = 16
watts = 5
[node.box]
processors = [{ type = "cpu" }]
[[cluster]]
name = "c"
nodes = [{ type = "box" }]
"""


def test_the_energy_of_an_agent_is_that_of_its_jobs_too(capsys: pytest.CaptureFixture[str]) -> None:
    Path("lab.toml").write_text(METERED)
    words = ("--draw", "300", "--platform", "lab.toml", "--length", "32", "--sequences", "3", "--objective", "energy")
    code, out, _ = answer(capsys, "test", "--agent", f"{EXAMPLE}:ShortestFirst", *words, "--against", "saf+easy", "-o", "json")
    means = json.loads(out)["means"]
    assert (code, means["ShortestFirst"]) == (0, pytest.approx(means["saf+easy"], rel=0.1))


@pytest.mark.parametrize("objective", ["energy", "edp"])
@pytest.mark.parametrize("machine", [("--procs", "16"), ("--platform", "lab.toml")])
def test_energy_that_nothing_tells_is_unknown(
    machine: tuple[str, str], objective: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("lab.toml").write_text(METERED.replace("watts = 5\n", ""))
    told = f"--objective: {objective} is unknown: nothing says what the processors draw"
    work = ("--draw", "300", *machine, "--length", "32", "--objective", objective)
    for words in (("test", "--agent", f"{EXAMPLE}:ShortestFirst"), ("train", "m.safetensors")):
        code, out, err = answer(capsys, *words, *work)
        assert (code, out, told in err) == (2, "", True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("test",), "has no agent"),
        (("test", "--model", "x", "--agent", f"{EXAMPLE}:ShortestFirst"), "--model: ShortestFirst learns nothing"),
        (("test", "--model", "absent.safetensors"), "absent.safetensors: cannot be read"),
        (("test", "--agent", "absent.py:Mine"), "absent.py: cannot be read"),
        (("test", "--agent", "mine.py"), "names no class of a file"),
        (("test", "--agent", f"{EXAMPLE}:ShortestFirst", "--objective", "joy"), "--objective: 'joy' is not a metric"),
        (("test", "--agent", f"{EXAMPLE}:ShortestFirst", "--split", "0.94"), "is shorter than 32"),
        (("train", "m.safetensors", "--learner", "dqn"), "--learner: 'dqn' is unknown"),
        (("train", "m.safetensors", "--order", "wfp3"), "--order: wfp3 changes with time"),
        (("train", "m.safetensors", "--agent", f"{EXAMPLE}:ShortestFirst"), "ShortestFirst does not learn"),
    ],
)
def test_what_cannot_be_done_is_one_line(words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = answer(capsys, *words, *WORK)
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1


def test_an_agent_that_raises_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    head = "from jpo.plugins.cluster.agents.base import ClassicAgent\nclass Mine(ClassicAgent):\n"
    text = f"{head}    def decide(self, episode, mask):\n"
    for body, told in (("return 1 / 0", "raised ZeroDivisionError"), ("return 999", "raised ValueError: action 999 is not open")):
        Path("mine.py").write_text(f"{text}        {body}\n")
        code, out, err = answer(capsys, "test", "--agent", "mine.py:Mine", *WORK, "--sequences", "2")
        assert (code, out) == (2, "")
        assert told in err


def test_an_agent_that_never_answers_ends_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.py").write_text("while True: pass\n")
    for words in (("test", "--sequences", "2"), ("train", "m.safetensors", "--rounds", "1")):
        code, out, err = answer(capsys, *words, *WORK, "--agent", "mine.py:Mine", "--agent-limit", "0.2")
        assert (code, out) == (2, "")
        assert err.startswith("jpo: mine.py:Mine: gave no answer within 0.2 s; ")


def test_an_anchored_agent_says_how_far_it_left_the_rule(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason='torch not found: pip install "jpo[learn]"')
    short = ("--rounds", "1", "--episodes", "2", "--slots", "8", "--hidden", "8")
    assert answer(capsys, "train", "m.safetensors", *WORK, *short)[0] == 0
    words = ("test", "--model", "m.safetensors", *WORK, "--length", "16", "--sequences", "3", "--anchored")
    code, out, _ = answer(capsys, *words)
    assert code == 0
    assert "m stayed the rule that it began with" in out or "m left the rule where" in out
    assert "margin" in json.loads(answer(capsys, *words, "-o", "json")[1])
    for more, told in ((("--split", "0"), "has no first part"), (("--agent", f"{EXAMPLE}:Weighing"), "is for models")):
        code, _, err = answer(capsys, *words, *more)
        assert (code, told in err) == (2, True)


GPUS = str(Path(__file__).parents[4] / "examples/cluster/gpus.toml")


def test_the_model_that_comes_along_beats_the_rules_on_gpu_jobs_that_it_has_not_seen(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--draw", "2600", "--seed", "77", "--platform", GPUS, "--split", "0", "--sequences", "8")
    code, out, err = answer(capsys, "test", "--model", "shipped", *words, "-o", "json")
    assert (code, err) == (0, "")
    means = json.loads(out)["means"]
    assert means["shipped"] < min(means["saf+easy"], means["f1+easy"])


def test_on_a_log_the_model_that_comes_along_is_not_worse_than_the_rule_beyond_noise(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--draw", "4000", "--seed", "5", "--procs", "128", "--load", "0.6", "--sequences", "6", "--anchored")
    code, out, _ = answer(capsys, "test", "--model", "shipped", *words, "-o", "json")
    assert code == 0
    assert json.loads(out)["agent_less"]["saf+easy"]["low"] <= 0


def test_a_reserve_is_learnt_where_nothing_else_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("train", "m.safetensors", *WORK, "--rounds", "1", "--episodes", "2")
    code, out, err = answer(capsys, *words)
    assert (code, err) == (0, "")
    assert "kept in m.safetensors" in out
    assert b"cross-entropy" in Path("m.safetensors").read_bytes()
    code, _, err = answer(capsys, *words, "--mode", "pair", "--learner", "cross-entropy")
    assert (code, "'cross-entropy' is unknown; known are actor-critic, reinforce" in err) == (2, True)
