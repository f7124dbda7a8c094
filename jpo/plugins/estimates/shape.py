"""Shapes of language models: how many parameters, operations and saved activations one has, from its table or from config.ini."""

import csv
import math
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jpo.forecast.descriptors import SIZES

WIDTH_PER_LAYER, VOCABULARY = 80.0, 50_000.0
"""Of language models whose widths nobody says."""
DOUBT = 0.25
"""Of the models of models.csv, inferred from their parameters, the root mean square is 0.09 for memory and 0.17 for operations;
others may be unlike them."""


@dataclass(frozen=True, slots=True)
class Transformer:
    """Transformer of a transformer.

    Attributes:
        hidden, intermediate: width of the model and of its feed-forward layers.
        heads, keys: width of all queries together, and of all keys.
        attention: number of heads.
        kind: "encoder" (no logits over the vocabulary), "plain", or "gated" (feed-forward layers of three matrices);
            "inferred": as plain, from its number of parameters.
        embeddings: matrices of vocabulary x hidden: 1 where input and output share one, else 2.
    """

    name: str
    layers: float
    hidden: float
    intermediate: float
    attention: float
    heads: float
    keys: float
    vocabulary: float
    kind: str = "plain"
    embeddings: float = 1.0

    @property
    def doubt(self) -> float:
        """Standard deviation of ln memory and operations, since the shape is inferred; 0 where it is known."""
        return DOUBT if self.kind == "inferred" else 0.0

    @property
    def layer_parameters(self) -> float:
        """Parameters of one layer, without biases and norms (1% at most)."""
        matrices = 3 if self.kind == "gated" else 2
        return 2 * self.hidden * (self.heads + self.keys) + matrices * self.hidden * self.intermediate

    @property
    def parameters(self) -> float:
        return self.layers * self.layer_parameters + self.embeddings * self.vocabulary * self.hidden

    def operations(self, tokens: float) -> float:
        """Floating-point operations to train on one sample of so many tokens.

        Source: Chowdhery et al., "PaLM", 2022, appendix B: 6 for each parameter and token, and those of attention. Looking up an
        embedding takes none.
        """
        multiplied = self.layers * self.layer_parameters + (self.kind != "encoder") * self.vocabulary * self.hidden
        return tokens * (6 * multiplied + 12 * self.layers * self.heads * tokens)

    @property
    def saved(self) -> float:
        """Numbers that one layer keeps of one token for the backward pass, attention scores left out.

        Source: Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 2022, section 4.1, without
        masks. Gated: in and out of two norms, queries, keys, values and what attention makes of them, and four tensors of the
        feed-forward layer.
        """
        if self.kind != "gated":
            return 8 * self.hidden + 2 * self.intermediate
        return 4 * self.hidden + 2 * self.heads + 2 * self.keys + 4 * self.intermediate


def inferred(parameters: float, layers: float | None) -> Transformer:
    """A transformer of GPT's form by its number of parameters, and of layers where it is known."""
    depth = layers or (parameters / (12 * WIDTH_PER_LAYER**2)) ** (1 / 3)
    hidden = (math.sqrt(VOCABULARY**2 + 48 * depth * parameters) - VOCABULARY) / (24 * depth)  # 12 L h^2 + V h are all
    said = f" in {layers:g} layers" if layers else ""
    name = f"a transformer of {parameters / 1e6:.4g} million parameters{said}, as a run or the script here says"
    return Transformer(name, depth, hidden, 4 * hidden, max(1.0, hidden / 64), hidden, hidden, VOCABULARY, "inferred")


@cache
def table() -> dict[str, Transformer]:
    """The models of models.csv by name."""
    shapes = {}
    for row in rows_of("models.csv"):
        layers, hidden, intermediate, heads, keys = (float(row[name]) for name in list(row)[2:7])
        size = float(row["head"] or hidden / heads)
        widths = heads, size * heads, size * keys, float(row["vocabulary"])
        embeddings = 1.0 if row["tied"] == "yes" else 2.0
        shapes[row["name"]] = Transformer(row["name"], layers, hidden, intermediate, *widths, row["kind"], embeddings)
    return shapes


def rows_of(name: str) -> list[dict[str, str]]:
    """The rows of a table beside this file, without its comments."""
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def named(model: str) -> Transformer | None:
    """The model of the table whose words stand one after the other in a name, the longest; None where a word says another size.

    "meta-llama/Llama-3.1-8B-Instruct" is llama-3.1-8b; bert-tiny is none.
    """
    words = re.sub(r"[^a-z0-9.]+", "-", model.lower().rpartition("/")[2]).strip("-")
    found = max((name for name in table() if f"-{name}-" in f"-{words}-"), key=len, default=None)
    if found is None or SIZES & {*words.split("-")} - {*found.split("-")}:
        return None
    return table()[found]
