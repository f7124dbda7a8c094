"""Facts of a model where they plainly stand: in what frameworks print before training, and in numbers of the script."""

import ast
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from jpo.errors import UsageError
from jpo.plugins.launch.script.analysis import trees_of
from jpo.plugins.launch.script.bindings import name_of

HEAD_BYTES = 2**16
PRINTED: Mapping[str, str] = {
    "model_parameters": "(?:total|all) params",
    "trainable_parameters": "trainable params|number of trainable parameters",
}
"""In summaries of Keras and torchinfo, Lightning's table, lines of PEFT and Hugging Face; the number on either side."""
NUMBER = r"(\d[\d,]*(?:\.\d+)?) ?([KMB]?)\b"
UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9}
ROUNDING = 1.06
"""By how much two of a kind may differ: Lightning prints 1.1 M."""
LAYERS = {"num_hidden_layers", "num_layers", "n_layers", "n_layer"}


def printed(output: Path) -> dict[str, float]:
    """What the head of a run's output says of its model; of what it says in two ways, nothing."""
    output_text, facts = "", dict[str, float]()
    with suppress(OSError), output.open("rb") as file:
        output_text = file.read(HEAD_BYTES).decode("utf-8", "replace")
    for name, words in PRINTED.items():
        form = rf"(?:{NUMBER}[ \t]+)?(?<![-\w])(?:{words})\b(?:\s*[:=] *{NUMBER})?"
        said = sorted((unit or later, text or after) for text, unit, after, later in re.findall(form, output_text, re.IGNORECASE))
        values = [float(number.replace(",", "")) * UNITS[unit.upper()] for unit, number in said if number]
        if values and max(values) <= ROUNDING * min(values):
            facts[name] = values[0]  # one without a unit is exact
    return facts


def written(script: Path) -> dict[str, float]:
    """The number of layers that a script, with the modules beside it, writes out; of several, nothing."""
    found = set[float]()
    with suppress(UsageError):
        for node in (node for tree in trees_of(script) for node in ast.walk(tree) if isinstance(node, ast.keyword | ast.Assign)):
            names = [node.arg] if isinstance(node, ast.keyword) else [name_of(each) for each in node.targets]
            if LAYERS & {*names} and isinstance(node.value, ast.Constant) and type(node.value.value) is int:
                found.add(float(node.value.value))
    return {"model_layers": found.pop()} if len(found) == 1 else {}
