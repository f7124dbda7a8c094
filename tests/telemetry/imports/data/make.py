"""Makes the files beside it, with the tools that write them: `python make.py huggingface|lightning|tensorboard|mlflow FOLDER`.

They are committed because the tools are heavy (torch, transformers, accelerate, pytorch-lightning: half a gigabyte): what tests a
fresh machine installs none of them. Made with transformers 5.23.0, accelerate 1.15.0 and pytorch-lightning 2.6.6 on a CPU.
"""

from __future__ import annotations

import logging
import re
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


if __name__ == "__main__":
    {"huggingface": huggingface, "lightning": lightning}[sys.argv[1]](Path(sys.argv[2]).absolute())
