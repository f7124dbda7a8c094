"""Parameters on the command line by the names that the file has for them: bs=512 and training.memory=64G, besides JPO's own.

JPO's own names mean JPO's quantities (memory_gib in GiB, batch_size over all GPUs). By any other name a value is read as the file
would read it, units and terms included.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from constraints import names
from jpo.cli.arguments import as_number, pairs
from jpo.errors import UsageError
from jpo.project.load import LoadedSettings
from jpo.records import COUNTS, PARAMETERS, Parameter, Word, Workload


def values_given(option: str, given: Sequence[str], config: Path, settings: LoadedSettings) -> dict[str, float]:
    """NAME=VALUE texts as values by JPO's names; of one that nobody knows the number, by the name that was given.

    `config` is read only where a name is not JPO's. Raises UsageError: JPO-E305, a text is no pair or no value, or two mean one
    parameter; or config.ini cannot be read.
    """
    values: dict[str, float] = {}
    for name, text, meant in _with_parameters(option, given, config, settings):
        term, table = meant.term if meant else name, settings.values.parameters.get(name)
        if meant:
            said = value_of_file(meant, name, text, option)
        else:
            said = Word(text) if table and table.worded else as_number(name, text, option)
        if term in values:
            finding = f"{name} means {term}, and another value is given for it"
            raise UsageError(option, finding, "set one of them", code="JPO-E305")
        values[term] = said
    return values


def lists_given(option: str, given: Sequence[str], config: Path, settings: LoadedSettings) -> dict[str, str]:
    """NAME=A,B,... texts by JPO's names; raises as `values_given` does."""
    lists: dict[str, str] = {}
    for name, text, meant in _with_parameters(option, given, config, settings):
        if meant:
            said = [value_of_file(meant, name, one.strip(), option) for one in text.split(",")]
            name, text = meant.term, ",".join(one.word if isinstance(one, Word) else repr(one) for one in said)
        if name in lists:
            raise UsageError(option, f"another list of {name} is given, too", "name it once", code="JPO-E305")
        lists[name] = text
    return lists


def parameter_named(name: str, workload: Workload) -> Parameter | None:
    """The parameter of the file that a name means: its key, the last part of its key, else another usual name of it."""
    wanted = name.lower()
    if keyed := [p for p in workload.parameters if p.key.lower() == wanted or p.key.lower().endswith(f".{wanted}")]:
        return keyed[0] if len(keyed) == 1 else None
    if any(key.lower() == wanted or key.lower().endswith(f".{wanted}") for key, _, _ in workload.others):
        return None  # the file means something else by it
    return next((p for p in workload.parameters if wanted in names.WELL_KNOWN.get(p.term, ())), None)


def value_of_file(parameter: Parameter, name: str, text: str, option: str) -> float:
    """The value that the file would mean by a text; memory without a unit is in that of the file.

    Raises UsageError: JPO-E305, it is none.
    """
    if isinstance(parameter.value, Word):
        return Word(text)
    if parameter.name != "memory_gib":
        return as_number(name, text, option)
    try:
        if (memory := names.parse_value("memory_gib", name, text)) is not None:
            return memory
    except ValueError as error:
        raise UsageError(option, str(error), code="JPO-E305") from error
    number = names.NUMBER.match(parameter.text.strip("\"'"))
    unit = parameter.value / float(number[1]) if number and float(number[1]) else 1.0
    return as_number(name, text, option) * unit


def _with_parameters(
    option: str, given: Sequence[str], config: Path, settings: LoadedSettings
) -> Iterator[tuple[str, str, Parameter | None]]:
    """Each name with its text, and the parameter of the file that it means where it is not one of JPO's own names."""
    texts = pairs(option, given)
    foreign = texts.keys() - {*PARAMETERS, *COUNTS, *settings.values.parameters}
    workload = None
    if foreign:
        from jpo.project.workload import read_workload

        workload = read_workload(config, settings, now=time.time())
    for name, text in texts.items():
        yield name, text, parameter_named(name, workload) if workload and name in foreign else None
