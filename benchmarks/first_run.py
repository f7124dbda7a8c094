"""Rough forecasts before the first run, beside published measurements and beside kavier where it is installed.

    python benchmarks/first_run.py [--json]

Measurements: `MEMORY` of one GPU (Hugging Face, "Efficient training on a single GPU", 2022: BERT-large, V100, nvidia-smi),
`LARGEST` batches that fit on 12 GB (google-research/bert, README: TensorFlow 1.11) and `SPEED` (mosaicml/llm-foundry,
scripts/train/benchmarking/README.md at c90b9b3: MPT, micro-batches that fill the GPU, so that all of these fit). Nothing is
downloaded. kavier (PyPI) knows no memory, and of MPT 30B alone: elsewhere it is asked for the model of the nearest size that it
has. ado-autoconf, which judges memory, comes without its classifier: it trains it on a data set of a hub, so it is not here.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean, median, pstdev

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # kavier may be in an environment without jpo

from jpo.plugins.estimates.arithmetic import gpu_memory_gib, throughput
from jpo.plugins.estimates.planned_job import PlannedJob, gpu_named, setup_of
from jpo.records import Identity, Interval, Parameters, Terms

EAGER = {"attn_implementation": "eager"}
MEMORY: tuple[tuple[Mapping[str, str], int, float, float], ...] = (
    ({"fp16": "no", "optim": "adamw"}, 4, 14949, 8.86),
    ({"fp16": "no", "optim": "adamw"}, 1, 8681, 7.75),
    ({"fp16": "no", "optim": "adamw", "gradient_checkpointing": "true"}, 1, 6775, 5.99),
    ({"fp16": "true", "optim": "adamw"}, 4, 13939, math.nan),
    ({"fp16": "true", "optim": "adamw", "gradient_checkpointing": "true"}, 1, 7275, 10.09),
    ({"fp16": "no", "optim": "adafactor"}, 4, 12295, 7.96),
    ({"fp16": "true", "optim": "adafactor", "gradient_checkpointing": "true"}, 1, 4847, 9.06),
    ({"fp16": "no", "optim": "adamw_bnb_8bit"}, 4, 13085, 9.15),
    ({"fp16": "true", "optim": "adamw_bnb_8bit", "gradient_checkpointing": "true"}, 1, 5363, 10.35),
)
"""Options, batch, MiB and samples a second of BERT-large with 512 tokens; what is not said there was off."""
LARGEST: Mapping[str, Mapping[int, int]] = {
    "bert-base": {64: 64, 128: 32, 256: 16, 320: 14, 384: 12, 512: 6},
    "bert-large": {64: 12, 128: 6, 256: 2, 320: 1, 384: 0, 512: 0},
}
"""Tokens -> the largest batch."""
MPT: Mapping[str, tuple[int, int, int, str]] = {
    "125m": (12, 768, 12, "granite-4.0-350m"),
    "350m": (24, 1024, 16, "granite-4.0-350m"),
    "760m": (24, 1536, 12, "llama3.2-1b"),
    "1b": (24, 2048, 16, "llama3.2-1b"),
    "3b": (32, 2560, 20, "granite-3.1-2b"),
    "7b": (32, 4096, 32, "llama-7b"),
    "13b": (40, 5120, 40, "llama-13b"),
    "30b": (48, 7168, 56, "MPT-30B"),
    "70b": (80, 8192, 64, "llama2-70b"),
}
"""Layers, width, heads, and which model kavier is asked for."""
SPEED = """
70b 2048 64 h100 8 1039 mixed yes
70b 2048 32 h100 2 882 mixed yes
30b 8192 8 h100 1 1384 mixed yes
30b 2048 8 h100 3 2002 mixed yes
13b 32768 8 h100 1 1976 mixed yes
13b 4096 8 h100 10 4717 mixed yes
13b 2048 64 h100 2 4800 mixed no
13b 2048 8 h100 2 4792 mixed no
13b 1024 8 h100 40 5502 mixed yes
7b 65536 8 h100 1 1956 mixed yes
7b 8192 8 h100 8 6935 mixed yes
7b 2048 8 h100 6 10643 mixed no
3b 16384 8 h100 1 11152 mixed no
3b 4096 8 h100 5 20964 mixed no
3b 512 8 h100 40 27965 mixed no
1b 8192 8 h100 3 29157 mixed no
1b 2048 8 h100 14 45455 mixed no
1b 512 8 h100 56 52275 mixed no
760m 16384 8 h100 3 27815 mixed no
760m 4096 8 h100 12 55459 mixed no
760m 32768 8 a100-80gb 1 8802 mixed no
760m 8192 8 a100-80gb 6 20933 mixed no
760m 2048 8 a100-80gb 24 32434 mixed no
760m 512 8 a100-80gb 96 29446 mixed no
350m 8192 8 a100-80gb 8 36569 mixed no
350m 2048 8 a100-80gb 32 58782 mixed no
350m 512 8 a100-80gb 128 69330 mixed no
125m 16384 8 a100-80gb 4 60040 mixed no
125m 2048 8 a100-80gb 40 142830 mixed no
125m 512 8 a100-80gb 128 165681 mixed no
70b 2048 128 a100-40gb 4 376 pure yes
70b 2048 64 a100-40gb 2 276 pure yes
30b 2048 32 a100-40gb 4 857 pure yes
13b 8192 8 a100-40gb 1 1407 pure yes
13b 2048 8 a100-40gb 4 1668 pure yes
13b 512 8 a100-40gb 16 1763 pure yes
7b 16384 8 a100-40gb 1 2249 pure yes
7b 2048 128 a100-40gb 18 3623 pure yes
7b 2048 8 a100-40gb 12 3679 pure yes
3b 8192 8 a100-40gb 1 7149 pure no
3b 2048 8 a100-40gb 5 10065 pure no
1b 16384 8 a100-40gb 1 9715 pure no
1b 2048 8 a100-40gb 8 19271 pure no
760m 8192 8 a100-40gb 3 20106 pure no
350m 2048 8 a100-40gb 16 55995 pure no
125m 4096 8 a100-40gb 13 115162 pure no
"""
"""Model, tokens, GPUs, GPU, samples on each, measured tokens a second on each, numbers, activations recomputed."""
KAVIER = {"h100": "H100-SXM", "a100-80gb": "A100-80GB", "a100-40gb": "A100-40GB"}


def forecast(
    model: str, options: Mapping[str, str], values: Parameters, gpu: str = "v100-16gb"
) -> tuple[Interval, Interval | None]:
    """Memory of a GPU in GiB, and samples a second on all of them."""
    job = PlannedJob(Identity("published", model, "pytorch"), options, {}, Terms(), gpu_named(gpu))
    setup = setup_of(job, values)
    if setup is None:
        raise ValueError(f"{model} is not known")
    return gpu_memory_gib(setup), throughput(setup, job)


def memory() -> Iterator[dict[str, object]]:
    for options, batch, mib, _ in MEMORY:
        off = {"gradient_checkpointing": "false", **EAGER}
        need, _ = forecast("bert-large", {**off, **options, "max_length": "512"}, {"batch_size": float(batch), "gpus": 1.0})
        name = ", ".join(f"{key} {value}" for key, value in options.items())
        yield {"of": f"batch {batch}, {name}", "measured": mib / 1024, "mean": need.mean, "low": need.low, "high": need.high}


def fine_tuning() -> Iterator[dict[str, object]]:
    for options, batch, _, measured in MEMORY:
        _, rate = forecast("bert-large", {**options, "max_length": "512"}, {"batch_size": float(batch), "gpus": 1.0})
        if rate and not math.isnan(measured):
            yield {"of": f"BERT-large, {options}", "measured": measured, "mean": rate.mean, "low": rate.low, "high": rate.high}


def largest() -> Iterator[dict[str, object]]:
    """What is said of the largest batch that ran and of the next one that did not: both are near 12 GB."""
    options = {"precision": "fp32", "optimizer": "adam", "gradient_checkpointing": "false", **EAGER}
    for model, batches in LARGEST.items():
        for tokens, batch in batches.items():
            ran = max(batch, 1)
            need, _ = forecast(model, {**options, "max_length": f"{tokens}"}, {"batch_size": float(ran), "gpus": 1.0})
            yield {
                "of": f"{model}, {tokens} tokens, batch {ran}",
                "ran": batch > 0,
                "mean": need.mean,
                "low": need.low,
                "high": need.high,
            }


def speed() -> Iterator[dict[str, object]]:
    for line in SPEED.split("\n")[1:-1]:
        name, tokens, gpus, gpu, samples, measured, numbers, recomputes = line.split()
        layers, width, heads, other = MPT[name]
        widths = {"hidden_size": f"{width}", "num_heads": f"{heads}", "vocab_size": "50432", "max_seq_len": tokens}
        said = {"precision": f"bf16-{'true' if numbers == 'pure' else 'mixed'}", "optimizer": "adamw", "attn_impl": "flash"}
        options = {**widths, **said, "activation_checkpointing": recomputes, "sharding_strategy": "FULL_SHARD"}
        values = {"batch_size": float(samples) * int(gpus), "gpus": float(gpus), "num_layers": float(layers)}
        need, rate = forecast("mpt", options, values, gpu)
        bounds = (rate.mean, rate.low, rate.high) if rate else (math.nan,) * 3
        ours, low, high = (bound * int(tokens) / int(gpus) for bound in bounds)
        peer = kavier(other, KAVIER[gpu], int(tokens), int(samples), int(gpus))
        has = gpu_named(gpu).memory_gib
        row = {
            "of": f"{name}, {tokens} tokens, {gpus} {gpu}",
            "measured": float(measured),
            "mean": ours,
            "low": low,
            "high": high,
        }
        yield {**row, "kavier": peer, "need": need.mean, "need_low": need.low, "has": has}


def kavier(model: str, gpu: str, tokens: int, samples: int, gpus: int) -> float | None:
    """Tokens a second on each GPU; None where it is not installed."""
    try:
        from kavier.sdk.training.core.engine import simulate_training_step
    except ImportError:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        step = simulate_training_step(model, gpu, tokens, samples, "full", num_gpus=gpus, num_nodes=max(1, gpus // 8))
    return float(step["tokens_per_second"]) / gpus


def errors(rows: list[dict[str, object]], by: str) -> dict[str, float]:
    """Of the forecasts in one column: median factor between forecast and measurement, and mean and deviation of its ln."""
    logs = [math.log(row["measured"] / row[by]) for row in rows if row[by]]  # type: ignore[operator]
    if not logs:
        return {}
    return {"median_factor": math.exp(median(map(abs, logs))), "mean_log": fmean(logs), "sd_log": pstdev(logs), "rows": len(logs)}


def judged() -> dict[str, object]:
    memories, largests, speeds, tuned = list(memory()), list(largest()), list(speed()), list(fine_tuning())

    def inside(rows: list[dict[str, object]]) -> int:
        return sum(row["low"] <= row["measured"] <= row["high"] for row in rows)  # type: ignore[operator]

    return {
        "memory": {**errors(memories, "mean"), "inside": inside(memories)},
        "largest": {
            "warned_of_what_ran": sum(row["mean"] > 12 for row in largests if row["ran"]),  # type: ignore[operator]
            "warned_of_what_did_not": sum(row["mean"] > 12 for row in largests if not row["ran"]),  # type: ignore[operator]
            "did_not": sum(not row["ran"] for row in largests),
        },
        "fits": {
            "rows": len(speeds),
            "said_that_it_may_not": sum(row["need"] > row["has"] for row in speeds),  # type: ignore[operator]
            "said_that_it_will_not": sum(row["need_low"] > row["has"] for row in speeds),
        },  # type: ignore[operator]
        "speed": {**errors(speeds, "mean"), "inside": inside(speeds)},
        "speed_fine_tuning": {**errors(tuned, "mean"), "inside": inside(tuned)},
        "speed_kavier": errors(speeds, "kavier"),
        "speed_kavier_one_node": errors([row for row in speeds if " 8 " in str(row["of"])], "kavier"),
        "speed_one_node": errors([row for row in speeds if " 8 " in str(row["of"])], "mean"),
        "rows": [*memories, *largests, *speeds, *tuned],
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--json", action="store_true")
    asked, found = options.parse_args(), judged()
    if asked.json:
        print(json.dumps(found, indent=1))
        return
    for row in found.pop("rows"):  # type: ignore[attr-defined]
        numbers = "  ".join(f"{name} {value:.4g}" for name, value in row.items() if isinstance(value, float))
        print(f"{row['of']:60} {numbers}")
    for name, figures in found.items():
        print(name, {key: round(value, 2) for key, value in figures.items()})  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
