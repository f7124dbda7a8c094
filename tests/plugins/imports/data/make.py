"""Makes the files beside it, with the tools that write them: `python make.py huggingface|lightning|mlflow FOLDER`.

They are committed because the tools are heavy (torch, transformers, accelerate, pytorch-lightning: half a gigabyte;
mlflow-skinny: 26 packages, decision 0048), so that tests install none of them. Made with transformers 5.23.0, accelerate 1.15.0,
pytorch-lightning 2.6.6 and mlflow-skinny 3.17.2 on a CPU.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sqlite3
import sys
from pathlib import Path

import torch
from torch import nn

SAMPLES, EPOCHS, BATCH, ACCUMULATED, RATE = 512, 3, 8, 2, 0.05


def data(seed: int) -> list[dict[str, torch.Tensor]]:
    """A linear problem with noise."""
    torch.manual_seed(seed)
    weights = torch.randn(4)
    inputs = torch.randn(SAMPLES, 4)
    targets = inputs @ weights + 0.1 * torch.randn(SAMPLES)
    return [{"x": x, "labels": y} for x, y in zip(inputs, targets, strict=True)]


class Linear(nn.Module):
    """One layer, with the loss as the Trainer wants it."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        out = self.layer(x).squeeze(-1)
        return {"loss": nn.functional.mse_loss(out, labels), "logits": out}


def huggingface(folder: Path) -> None:
    """trainer_state.json, all_results.json, training_args.json and the state of a checkpoint."""
    from transformers import Trainer, TrainingArguments

    arguments = TrainingArguments(
        output_dir=str(folder / "work"),
        per_device_train_batch_size=BATCH,
        gradient_accumulation_steps=ACCUMULATED,
        num_train_epochs=EPOCHS,
        learning_rate=RATE,
        eval_strategy="epoch",
        save_strategy="epoch",
        logging_steps=10,
        use_cpu=True,
        report_to=[],
        disable_tqdm=True,
    )
    trainer = Trainer(model=Linear(), args=arguments, train_dataset=data(0), eval_dataset=data(0)[:64])
    done = trainer.train()
    trainer.save_state()
    trainer.save_metrics("all", done.metrics)
    work = folder / "work"
    first = min(work.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]))
    keep = {
        work / "trainer_state.json": folder / "run" / "trainer_state.json",
        work / "all_results.json": folder / "run" / "all_results.json",
        first / "trainer_state.json": folder / "run" / first.name / "trainer_state.json",
    }
    for source, target in keep.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
    told = re.sub(r'"[^"]*/[^"]*"', '"work"', arguments.to_json_string())  # paths and the name of this machine
    (folder / "run" / "training_args.json").write_text(told, encoding="utf-8")


def lightning(folder: Path) -> None:
    """metrics.csv and hparams.yaml of CSVLogger."""
    import pytorch_lightning as pl
    from pytorch_lightning.loggers import CSVLogger

    logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)

    class Module(pl.LightningModule):
        def __init__(self, learning_rate: float, batch_size: int, max_epochs: int, optimizer: dict[str, object]) -> None:
            super().__init__()
            self.save_hyperparameters()
            self.layer = nn.Linear(4, 1)

        def _loss(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
            return nn.functional.mse_loss(self.layer(batch["x"]).squeeze(-1), batch["labels"])

        def training_step(self, batch: dict[str, torch.Tensor], _: int) -> torch.Tensor:
            loss = self._loss(batch)
            self.log("train_loss", loss, on_step=True, on_epoch=True)
            return loss

        def validation_step(self, batch: dict[str, torch.Tensor], _: int) -> None:
            self.log("val_loss", self._loss(batch))

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), lr=self.hparams["learning_rate"])

    module = Module(learning_rate=RATE, batch_size=BATCH, max_epochs=5, optimizer={"name": "sgd", "momentum": 0.0})
    trainer = pl.Trainer(
        max_epochs=5,
        accelerator="cpu",
        logger=CSVLogger(folder, name="lightning_logs"),
        callbacks=[pl.callbacks.LearningRateMonitor()],
        log_every_n_steps=20,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    load = torch.utils.data.DataLoader
    trainer.fit(module, load(data(0), batch_size=BATCH), load(data(0)[:64], batch_size=BATCH))


def mlflow(folder: Path) -> None:
    """A file store, and the tables of an SQLite database as SQL; in each two ended runs, one that runs, and a deleted one."""
    os.environ |= {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true", "MLFLOW_ALLOW_FILE_STORE": "true"}
    import mlflow

    for uri in ((folder / "mlruns").as_uri(), f"sqlite:///{folder / 'mlflow.db'}"):
        mlflow.set_tracking_uri(uri)
        mlflow.set_experiment("digits-nightly")
        client = mlflow.MlflowClient()
        for batch_size, status in ((32, "FINISHED"), (64, "FAILED")):
            with mlflow.start_run(run_name=f"night-{batch_size}") as run:
                mlflow.log_params({"batch_size": batch_size, "lr": 2e-5, "epochs": 4, "optimizer": "adam", "seed": None})
                mlflow.set_tag("dataset", "digits")
                for epoch in range(1, 5):
                    mlflow.log_metric("val_loss", 1 / epoch, step=epoch)
                    mlflow.log_metric("train_loss", 2 / epoch, step=epoch)
                    mlflow.log_metric("learning_rate", 2e-5 / epoch, step=epoch)
                    mlflow.log_metric("system/gpu_0_utilization_percentage", 40.0 + 10 * epoch, step=epoch)
            client.set_terminated(run.info.run_id, status=status)
        running = mlflow.start_run(run_name="now")
        mlflow.end_run()
        client.update_run(running.info.run_id, status="RUNNING")
        deleted = mlflow.start_run(run_name="gone")
        mlflow.end_run()
        mlflow.delete_run(deleted.info.run_id)
        if uri.startswith("file:"):
            mlflow.search_runs(experiment_names=["digits-nightly"]).to_csv(folder / "search_runs.csv", index=False)
    with contextlib.closing(sqlite3.connect(folder / "mlflow.db")) as database:
        kept = re.compile(
            r'(CREATE TABLE|CREATE INDEX \S+ ON|INSERT INTO) "?(experiments|runs|params|metrics|latest_metrics|tags)"?[ (]'
        )
        dump = "".join(f"{statement}\n" for statement in database.iterdump() if kept.match(statement))
    (folder / "mlflow.db").unlink()
    (folder / "mlflow.sql").write_text(dump)
    for file in (path for path in folder.rglob("*") if path.is_file()):  # no paths of this machine
        text = (
            file.read_text()
            .replace(sys.argv[0], "train.py")
            .replace(str(folder), "/home/user")
            .replace(str(Path.cwd()), "/home/user")
        )
        file.write_text(text)


if __name__ == "__main__":
    {"huggingface": huggingface, "lightning": lightning, "mlflow": mlflow}[sys.argv[1]](Path(sys.argv[2]).absolute())
