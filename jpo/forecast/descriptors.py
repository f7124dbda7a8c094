"""Descriptors of models, data sets and processors by name, and the arithmetic of a training run that follows from them.

The table is descriptors.csv, with a source in every row. For a name that is not in it nothing is guessed.
"""

import csv
import re
from functools import cache
from pathlib import Path

from jpo.records import Identity

FILE = Path(__file__).with_name("descriptors.csv")
SMALL_PICTURE, USUAL_PICTURE, NO_STEM = 64, 224, 16.0
"""Networks made for 224 pixels leave out two reductions where pictures have 64 or fewer: 4 x 4 times the work of mere scaling."""
SIZES = frozenset(("tiny", "mini", "small", "medium", "base", "large", "xl", "huge"))
TRAINING = 6.0
"""Operations of a training step per forward multiply-add: 2 each, and the backward pass takes twice the forward one."""

Row = dict[str, str]


@cache
def table() -> dict[tuple[str, str], Row]:
    """The rows of descriptors.csv by (kind, name)."""
    lines = [line for line in FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {(row["kind"], row["name"]): row for row in csv.DictReader(lines)}


def plain_name(name: str) -> str:
    """The name in lower case without punctuation: ResNet-18 and resnet_18 are the same."""
    return re.sub(r"[\W_]", "", name.lower()) or name


def family(name: str) -> str:
    """The family of a model, its name before the first digit: resnet of resnet18."""
    return re.split(r"\d", plain_name(name), maxsplit=1)[0]


def described(kind: str, name: str) -> Row | None:
    """The row of a name: of the whole name, of one of its words, or for a model of its longest prefix that no digit follows.

    A word for a size that the row does not have makes it another model: gpt2-xl is not gpt2.
    """
    words = [plain_name(name), *map(plain_name, re.split(r"[\W_]+", name))]
    models = [model for of, model in table() if of == kind == "model" and len(model) > 3]
    prefixes = [model for model in models if re.match(rf"{model}(?!\d)", words[0])]
    names = [*(word for word in words if (kind, word) in table()), *sorted(prefixes, key=len, reverse=True)]
    sizes = SIZES.intersection(words)
    return next((table()[kind, known_name] for known_name in names if all(size in known_name for size in sizes)), None)


def samples_of(dataset: str) -> float | None:
    """Number of training samples of a data set."""
    row = described("data", dataset)
    return float(row["samples"]) if row else None


def size_of(dataset: str) -> float | None:
    """Size of one sample: pixels of a side, or tokens."""
    row = described("data", dataset)
    return float(row["size"]) if row else None


def operations_per_sample(identity: Identity) -> float | None:
    """Floating-point operations to train on one sample; None where model or data set are not in the table."""
    row, size = described("model", identity.model), size_of(identity.dataset)
    if row is None or size is None:
        return None
    usual = float(row["size"])
    power = 2 if usual in (224, 299, 380) else 1  # pictures have two sides
    stem = NO_STEM if usual >= USUAL_PICTURE and power == 2 and size <= SMALL_PICTURE else 1.0
    return TRAINING * 1e9 * float(row["multiply_adds_billions"]) * (size / usual) ** power * stem
