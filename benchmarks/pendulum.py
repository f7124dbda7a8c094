"""Steps of Pendulum-v1 needed to learn to swing up: JPO's soft actor-critic compared with that of Stable-Baselines3.

Stop rule: after every 250 steps in the environment, counted from the first random one, ten episodes of 200 steps are played with
the deterministic policy, from starts that are new at each evaluation and the same for all who are compared. The figure is the
number of steps at the first evaluation whose mean return is -200 or more. Evaluations do not count and are not learnt from.

Three learners, three seeds each: JPO (64 x 64, batch 128, 20 updates per step), Stable-Baselines3 as it comes (256 x 256, batch
256, one update per step), and Stable-Baselines3 with JPO's sizes, batches, updates per step and learning rate, which tells what
is due to those. What remains is the smaller last layer of the first actor, and that JPO scales rewards by their size.

    python benchmarks/pendulum.py [--seeds 3] [--limit 6000] [--quick] [--json]

Takes about ten minutes of one core. Exit code 1 if the claim does not hold.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))

import sac_adapter

try:
    import gymnasium
    from stable_baselines3 import SAC
    from stable_baselines3.common.callbacks import BaseCallback
except ImportError as missing:
    raise SystemExit(f'pendulum needs {missing.name}, which is not installed: pip install "jpo[bench]"') from missing

ENVIRONMENT, LARGEST_TORQUE = "Pendulum-v1", 2.0
GOAL = -200.0
HIDDEN, BATCH, UPDATES_PER_STEP = (64, 64), 128, 20
RANDOM_STEPS = 100  # before learning begins, as Stable-Baselines3 does
FIRST_START = 10_000  # evaluations start from these seeds on; training from small ones
OURS, PEER, PEER_ALIKE = "JPO", "Stable-Baselines3, defaults", "Stable-Baselines3, sizes and updates as JPO"
MOST = 1500  # steps which every seed of ours may take, as documented

Act = Callable[[np.ndarray], np.ndarray]
"""What the deterministic policy does with the environment."""


@dataclass
class Progress:
    """Evaluations of one learner so far, as the stop rule says."""

    every: int
    episodes: int
    curve: list[tuple[int, float]] = field(default_factory=list)

    def reached(self, step: int, act: Act) -> bool:
        """Evaluate if it is time; True ends the training."""
        if step % self.every:
            return False
        first = FIRST_START + len(self.curve) * self.episodes
        self.curve.append((step, statistics.fmean(episode(act, first + i) for i in range(self.episodes))))
        return self.curve[-1][1] >= GOAL

    @property
    def steps(self) -> int | None:
        """Steps to the goal; None if it was not reached."""
        return self.curve[-1][0] if self.curve and self.curve[-1][1] >= GOAL else None


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Steps of Pendulum-v1 until ten evaluation episodes have a mean return of -200.")
    parser.add_argument("--seeds", type=int, default=3, help="seeds of each learner, from 0 on (default: 3)")
    parser.add_argument("--limit", type=int, default=6000, help="steps after which a learner gives up (default: 6000)")
    parser.add_argument("--quick", action="store_true", help="one seed, 120 steps, one evaluation episode: shows that it runs")
    parser.add_argument("--json", action="store_true", help="figures and learning curves as JSON instead of a table")
    options = parser.parse_args(argv)
    seeds, limit, every, episodes = (1, 120, 60, 1) if options.quick else (options.seeds, options.limit, 250, 10)
    torch.set_num_threads(1)
    runs: dict[str, list[Progress]] = {name: [] for name in LEARNERS}
    for seed in range(seeds):
        for name, train in LEARNERS.items():
            runs[name].append(Progress(every, episodes))
            train(seed, limit, runs[name][-1])
            print(f"{name}, seed {seed}: {runs[name][-1].steps or 'not reached'}", file=sys.stderr)
    steps = {name: [seed.steps for seed in progress] for name, progress in runs.items()}
    holds = claim(steps)
    if options.json:
        curves = {name: [seed.curve for seed in progress] for name, progress in runs.items()}
        print(json.dumps({"steps": steps, "curves": curves, "most": MOST, "holds": holds}))
    else:
        print(table(steps, limit, holds))
    return 0 if holds else 1


def train_ours(seed: int, limit: int, progress: Progress) -> None:
    agent = sac_adapter.make(3, 1, HIDDEN, seed)
    environment, rng = gymnasium.make(ENVIRONMENT), np.random.default_rng(seed)
    obs, _ = environment.reset(seed=seed)
    for step in range(1, limit + 1):
        action = rng.uniform(-1, 1, 1) if step <= RANDOM_STEPS else agent.act(obs)
        next_obs, reward, terminated, truncated, _ = environment.step(LARGEST_TORQUE * action)
        agent.add(obs, action, reward, next_obs, terminated)
        obs = environment.reset()[0] if terminated or truncated else next_obs
        if step > RANDOM_STEPS:
            for _ in range(UPDATES_PER_STEP):
                agent.update(BATCH)
        if progress.reached(step, lambda seen: LARGEST_TORQUE * agent.act(seen, deterministic=True)):
            return


def train_peer(seed: int, limit: int, progress: Progress, **settings: Any) -> None:
    class Watch(BaseCallback):
        def _on_step(self) -> bool:
            return not progress.reached(self.num_timesteps, lambda seen: self.model.predict(seen, deterministic=True)[0])

    SAC("MlpPolicy", ENVIRONMENT, seed=seed, device="cpu", **settings).learn(limit, callback=Watch())


def train_peer_alike(seed: int, limit: int, progress: Progress) -> None:
    alike = {"policy_kwargs": {"net_arch": list(HIDDEN)}, "batch_size": BATCH, "gradient_steps": UPDATES_PER_STEP}
    train_peer(seed, limit, progress, learning_rate=sac_adapter.RATE, tau=sac_adapter.TAU, **alike)


LEARNERS = {OURS: train_ours, PEER: train_peer, PEER_ALIKE: train_peer_alike}


def episode(act: Act, seed: int) -> float:
    """Return of one episode from the start that belongs to this seed."""
    environment = gymnasium.make(ENVIRONMENT)
    obs, _ = environment.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        obs, reward, terminated, truncated, _ = environment.step(act(obs))
        total, over = total + float(reward), terminated or truncated
    return total


def claim(steps: Mapping[str, Sequence[int | None]]) -> bool:
    """Every seed of ours reached the goal within the promised steps."""
    return all(count is not None and count <= MOST for count in steps[OURS])


def table(steps: Mapping[str, Sequence[int | None]], limit: int, holds: bool) -> str:
    rows = [
        f"| {name} | {' / '.join(str(count or f'> {limit}') for count in steps_needed)} |" for name, steps_needed in steps.items()
    ]
    return "\n".join(
        [
            "## Pendulum-v1",
            "",
            f"Steps until the mean return of ten evaluation episodes is {GOAL:.0f} or more; evaluated every 250 steps.",
            "",
            f"| | steps, seeds 0 to {len(steps[OURS]) - 1} |",
            "|---|---:|",
            *rows,
            "",
            f"{OURS} takes at most {MOST} steps with every seed: {'holds' if holds else 'DOES NOT HOLD'}.",
        ]
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
