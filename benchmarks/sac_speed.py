"""Gradient updates per second of JPO's soft actor-critic, compared with those of Stable-Baselines3.

One update is one step of critics, actor, temperature and targets. Both have networks of the same hidden widths, learn from the
same transitions in batches of the same size on one thread, and are measured in turn, so that a slow moment meets both.

    python benchmarks/sac_speed.py [--rounds 9] [--updates 300] [--json]

Exit code 1 if the claim does not hold.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))

import sac_adapter

HIDDEN, BATCH = (64, 64), 64
PEER, OURS = "Stable-Baselines3", "JPO"
TRANSITIONS = 500
LEAST = 4.0  # times the peer's updates per second, as documented

Update = Callable[[int], None]
"""Makes so many updates."""


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description="Updates per second of JPO's soft actor-critic compared with Stable-Baselines3's."
    )
    parser.add_argument("--rounds", type=int, default=9, help="measurements of each (default: 9)")
    parser.add_argument("--updates", type=int, default=300, help="updates per measurement (default: 300)")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    measured = measure(contestants(), options.rounds, options.updates)
    ratios, holds = claim(measured)
    if options.json:
        print(json.dumps({"updates_per_second": measured, "ratios": ratios, "least": LEAST, "holds": holds}))
    else:
        print(table(measured, ratios, options.updates, holds))
    return 0 if holds else 1


def contestants() -> dict[str, Update]:
    """Both with the same transitions of Pendulum-v1 under random actions."""
    try:
        from stable_baselines3 import SAC
    except ImportError as error:
        raise SystemExit('sac_speed needs stable-baselines3, which is not installed: pip install "jpo[bench]"') from error
    peer = SAC(
        "MlpPolicy", "Pendulum-v1", policy_kwargs={"net_arch": list(HIDDEN)}, batch_size=BATCH, learning_starts=TRANSITIONS,
        seed=0, device="cpu",
    )  # fmt: skip
    peer.learn(TRANSITIONS)
    agent = sac_adapter.make(3, 1, HIDDEN, 0)
    stored = peer.replay_buffer
    agent.add(
        *(part[:TRANSITIONS, 0] for part in (stored.observations, stored.actions, stored.rewards, stored.next_observations))
    )

    def update_ours(updates: int) -> None:
        for _ in range(updates):
            agent.update(BATCH)

    return {PEER: lambda updates: peer.train(updates, BATCH), OURS: update_ours}


def measure(updates: Mapping[str, Update], rounds: int, n: int) -> dict[str, list[float]]:
    """Updates per second of CPU time, one figure for each round, after a round unmeasured."""
    measured: dict[str, list[float]] = {name: [] for name in updates}
    for _ in range(rounds + 1):
        for name, update in updates.items():
            start = time.process_time()
            update(n)
            measured[name].append(n / (time.process_time() - start))
    return {name: figures[1:] for name, figures in measured.items()}


def claim(measured: Mapping[str, Sequence[float]]) -> tuple[list[float], bool]:
    """Ours over the peer's in each round, and whether their median meets the target."""
    ratios = [ours / theirs for ours, theirs in zip(measured[OURS], measured[PEER], strict=True)]
    return ratios, statistics.median(ratios) >= LEAST


def table(measured: Mapping[str, Sequence[float]], ratios: Sequence[float], n: int, holds: bool) -> str:
    rows = [
        f"| {name} | {statistics.median(figures):,.0f} | {min(figures):,.0f} to {max(figures):,.0f} |"
        for name, figures in measured.items()
    ]
    median = (
        f"{statistics.median(ratios):.2f} times as many updates ({min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} rounds)"
    )
    return "\n".join(
        [
            "## Updates of the soft actor-critic",
            "",
            f"Hidden layers {HIDDEN[0]} x {HIDDEN[1]}, batch {BATCH}, one thread; {n} updates a round.",
            "",
            "| | updates per CPU second, median | least to most |",
            "|---|---:|---:|",
            *rows,
            "",
            f"{OURS} makes {median}. At least {LEAST} times: {'holds' if holds else 'DOES NOT HOLD'}.",
        ]
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
