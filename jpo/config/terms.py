"""Terms of a config.ini: whether it says the global batch and all GPUs, or the batch per device and the GPUs of a node."""

from collections.abc import Mapping
from dataclasses import dataclass

from jpo.config.locate import IniOption, Undecided, key_of
from jpo.errors import quoted
from jpo.records import COUNTS, PARAMETERS, Note, Parameter, Terms

TOTALS = {"gpus": "gpus_per_node", "batch_size": "batch_size_per_device"}
"""Quantity of JPO -> what a file may say in its place."""
YIELDS = "devices"
"""Lightning's name; elsewhere it may be anything, so it yields to an option that says all GPUs."""


@dataclass(frozen=True, slots=True)
class Found:
    """A number of the file.

    Attributes:
        name: of the option that the training code reads.
        option: the one that holds the text, and is edited.
        value: in JPO's unit.
        held: why it must stay, or None.
        lines: of all options that are read for it.
    """

    name: str
    option: IniOption
    value: float
    held: Note | None
    lines: tuple[int, ...]


def in_terms(found: Mapping[str, Found | None], keys: Mapping[str, str], place: str) -> tuple[tuple[Parameter, ...], Terms]:
    """The parameters in JPO's quantities, and the terms in which the file says them.

    Args:
        found: by the names of PARAMETERS and COUNTS, and of the team's own parameters.
        keys: what jpo.toml names; of two options for one quantity, the one it names counts.

    Raises UsageError: JPO-E206, the file says a quantity in both terms.
    """
    here = {name: one for name, one in found.items() if one}
    for total, term in TOTALS.items():
        if not {total, term} <= here.keys():
            continue
        if total in keys or (term not in keys and here[term].name.lower() == YIELDS):
            del here[term]
        elif term in keys:
            del here[total]
        else:
            options = {total: here[total].option, term: here[term].option}
            raise _said_twice(options, place, all_said=total == "batch_size" and "gradient_accumulation_steps" in here)
    accumulation, nodes = (here[name].value if name in here else None for name in ("gradient_accumulation_steps", "nodes"))
    terms = Terms("batch_size_per_device" in here, "gpus_per_node" in here, accumulation, nodes)
    own = (name for name in found if name not in (*PARAMETERS, *COUNTS))
    said = {name: here.get(TOTALS.get(name, name)) or here.get(name) for name in (*PARAMETERS, *own)}
    values = terms.in_all({name: one.value for name, one in said.items() if one})
    parameters = []
    for name, one in said.items():
        if one:
            counted = (TOTALS[name], one.value) if TOTALS.get(name) in here else None
            option = one.option
            parameters.append(Parameter(name, option.key, values[name], option.text, option.line, one.held, counted))
    return tuple(parameters), terms


def _said_twice(options: Mapping[str, IniOption], place: str, *, all_said: bool) -> Undecided:
    """The error that a file says a quantity in both terms, of which one alone would be changed.

    `all_said`: the steps that lead from one to the other as well, so that DeepSpeed refuses any change: it must stay.
    """
    (total, of_all), (_, share) = options.items()
    each = "per node" if total == "gpus" else "per device"
    said = f"{quoted(of_all.key)} (line {of_all.line}) in all and {quoted(share.key)} (line {share.line}) {each}"
    stays = ", freeze = true" if all_said else ""
    lines = [f"{name} = {{ key = {key_of(option)}{stays} }}" for name, option in options.items()]
    remedy = f"say in jpo.toml which the job reads: [parameters] {' or '.join(lines)}"
    finding = f"says {total} twice, {said}, and one alone would be changed"
    return Undecided(place, finding, remedy, code="JPO-E206", choices=[f"[parameters] {line}" for line in lines])
