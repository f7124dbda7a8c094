"""Makes the files in wandb/ with W&B's client: `python make_wandb.py FOLDER`, then keep each run-*.wandb.

They are committed because the client is heavy (125 MB with what it needs). Made with wandb 0.31.0, which needs no server for it.
"""

from __future__ import annotations

import math
import os
import sys
import time
from pathlib import Path

import wandb


def main(folder: Path) -> None:
    """A run that went through, one that failed with a loss that is no number, and one that was killed."""
    os.environ |= {"WANDB_MODE": "offline", "WANDB_SILENT": "true"}
    no_paths = wandb.Settings(
        host="host", x_disable_meta=True, disable_git=True, disable_code=True, x_stats_sampling_interval=0.1
    )
    for batch_size, code in ((32, 0), (64, 1), (16, None)):
        config = {"batch_size": batch_size, "optimizer": {"name": "adam", "lr": 2e-5}, "epochs": 4, "dataset": "digits"}
        names = {"project": "nightly", "name": f"night-{batch_size}", "id": f"night{batch_size}"}
        run = wandb.init(**names, dir=folder, config=config, settings=no_paths)
        for epoch in range(1, 5):
            loss = math.nan if batch_size == 64 else 1 / epoch
            run.log(
                {"epoch": epoch, "val_loss": loss, "train/loss": 2 / epoch, "val/accuracy": 0.5 + epoch / 10, "lr": 2e-5 / epoch}
            )
            time.sleep(0.15)
        if code is None:
            time.sleep(3)
            os._exit(1)
        run.finish(exit_code=code)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
