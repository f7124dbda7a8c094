import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.sac.adam import Adam  # noqa: E402

WITHOUT_THE_COMPILER = """
import sys
import torch
from jpo.agent.sac.candidate_set import new_learner
learner = new_learner(0)
learner.optimiser.step()
assert torch.equal(learner.optimiser.state[learner.critics["critics.w0"]]["step"], torch.ones(()))
print([name for name in sys.modules if name.startswith("torch._dynamo")][:3])
"""


def tensors(seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator) for shape in ((7, 33), (1, 33), (2, 64, 64))]


def test_every_step_is_that_of_torchs_class_to_the_bit() -> None:
    ours, theirs = tensors(1), tensors(1)
    mine, reference = Adam(ours, 3e-4), torch.optim.Adam(theirs, lr=3e-4, fused=True)
    for number in range(20):
        for mover, other, slope in zip(ours, theirs, tensors(100 + number), strict=True):
            mover.grad, other.grad = slope, slope.clone()
        mine.step()
        reference.step()
        assert all(map(torch.equal, ours, theirs))
    for mover, other in zip(ours, theirs, strict=True):
        assert mine.state[mover].keys() == reference.state[other].keys()
        assert all(torch.equal(value, reference.state[other][name]) for name, value in mine.state[mover].items())


def test_what_has_no_gradient_stays_and_has_no_state() -> None:
    moved, kept = torch.ones(3), torch.ones(3)
    moved.grad = torch.ones(3)
    mine = Adam([kept, moved], 0.1)
    mine.step()
    assert torch.equal(kept, torch.ones(3))
    assert torch.allclose(moved, torch.full((3,), 0.9))  # the first step is the rate, whatever the gradient
    assert list(mine.state) == [moved]


def test_a_process_that_learns_loads_no_compiler() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_THE_COMPILER], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")
