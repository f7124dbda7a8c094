"""Parameters of a team's own: any other option of config.ini that [parameters] declares, a number or one of some words.

Nothing is known of them but what the table says, so it must say what is allowed; and a name that JPO or its logs use for
something else would mix two things up.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import replace
from math import ceil, inf

from constraints.limit import Limit
from constraints.names import LONGEST, NUMBER, WELL_KNOWN
from constraints.numbers import number_of
from constraints.quoted import quoted
from constraints.unknown import table_of
from constraints.words import Word

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
WORD = re.compile(r"(?=.*(?:[^\W\d_]|\d[,:/]))[\w.+/:,@()-]+(?: [\w.+/:,@()-]+)*")
"""Words, and lists of numbers, that every reader of a config.ini takes as they stand; no number, which has a letter, comma, colon
or slash nowhere; no comment, quote, interpolation or line end."""
QUOTED = re.compile(r"""(["'])(.*)\1""")
NEAR = 0.87
"""Of difflib: from here on a name is one of JPO's, misspelt."""
KEYS = ("key", "min", "max", "choices", "step", "multiple_of", "integer", "max_change", "freeze", "scale")
RESERVED = frozenset(
    {
        *("run_id", "dataset", "model", "framework", "hardware", "status", "source", "workload", "identity", "suggestion_id"),
        *("start", "end", "started_at", "ended_at", "recorded_at", "time", "epoch", "seed", "data_fraction", "texts", "metrics"),
        *("job", "instance", "pod", "namespace", "container", "node", "hostname", "gpu", "id", "uuid", "le", "quantile"),
        *("duration_seconds", "cost_usd", "energy_joules", "samples", "throughput_samples_per_second", "cpu_seconds"),
        *("train_loss", "val_loss", "val_accuracy", "loss_slope", "loss_slope_error", "converged", "stopped", "memory_bytes"),
        *("gpu_utilisation", "cpu_utilisation", "gpu_memory_gib", "cpu_cores_mean", "cpu_cores_p95", "memory_mean_gib"),
        *("memory_p95_gib", "parameters", "decided_by", "duration", "cost", "loss", "accuracy", "throughput", "fell_silent"),
        "assumed",
    }
)
"""Names of what is recorded of a run, or says which run it is: in its log, its labels, or a column of a report."""


def own_limit(name: str, parameters: Mapping[str, object]) -> Limit:
    """The limit of a parameter of the team's own: its line of [parameters], which must say all of it.

    Raises:
        ValueError: the name cannot be one, or the line allows nothing, contradicts itself, or leaves open what is allowed.
    """
    place = f"[parameters] {name:.80}"
    given = table_of(parameters, name, KEYS, place=place)
    key, frozen = given.get("key"), given.get("freeze") in (True, "true")
    _refuse_name(name, place, key)
    if key is not None and not (isinstance(key, str) and re.fullmatch(r".+\..+", key)):
        raise ValueError(f'{place} key: {quoted(key)} is not section.option; write e.g. key = "model.{name}"')
    for switch in ("freeze", "integer"):
        if given.get(switch) not in (None, True, False, "true", "false"):
            raise ValueError(f"{place} {switch}: {quoted(given[switch])} is neither true nor false; write {switch} = true")
    held = "frozen in jpo.toml" if frozen else None
    words = _words(given.get("choices"), f"{place} choices")
    if words:
        if more := [name for name in KEYS if name in given and name not in ("key", "choices", "freeze")]:
            raise ValueError(f"{place} {more[0]}: words have none; take it out")
        return Limit(choices=tuple(map(Word, words)), held=held, key=key, worded=True)
    return _of_numbers(name, given, place, held)


def _of_numbers(name: str, given: Mapping[str, object], place: str, held: str | None) -> Limit:
    low, high = (number_of(given.get(end), f"{place} {end}") for end in ("min", "max"))
    multiple, most = (
        number_of(given.get(entry), f"{place} {entry}", above=at) for entry, at in (("multiple_of", 0), ("max_change", 1))
    )
    whole, step, scale = given.get("integer") in (True, "true"), given.get("step"), given.get("scale")
    choices = _numbers(given.get("choices"), f"{place} choices")
    if choices is None and (low is None or high is None) and held is None:
        missing = " and ".join(end for end, value in (("min", low), ("max", high)) if value is None)
        raise ValueError(
            f"{place}: nothing is known of it, and {missing} not given; write min = ..., max = ..., or choices = [...]"
        )
    if low is not None and high is not None and low > high:
        raise ValueError(f"{place}: min = {low:g} is above max = {high:g}; swap them")
    if step not in (None, "pow2"):
        raise ValueError(f'{place} step: {quoted(step)} is not known; write step = "pow2" or leave it out')
    if scale not in (None, "linear", "log"):
        raise ValueError(f'{place} scale: {quoted(scale)} is not known; write scale = "log" or leave it out')
    if scale == "log" and low is not None and low <= 0:
        raise ValueError(f"{place}: a logarithmic scale begins above 0, found min = {low:g}; raise min, or take scale out")
    if most is not None and low is not None and low < 0:
        raise ValueError(f"{place} max_change: is a factor, which values below 0 (min = {low:g}) do not have; take it out")
    if whole and any(value % 1 for value in (*(choices or ()), multiple or 0.0)):
        raise ValueError(f"{place}: integer = true, and not all numbers are whole; write whole numbers only")
    unit = multiple or (1.0 if whole else None)
    if low is not None and high is not None and choices is None and unit and unit * ceil(low / unit - 1e-9) > high * (1 + 1e-9):
        raise ValueError(f"{place}: no multiple of {unit:g} is in {low:g} to {high:g}; change min, max or multiple_of")
    limit = Limit(choices=choices, power_of_two=step == "pow2", multiple_of=multiple, max_change=most, held=held)
    key = given.get("key")
    return _within(limit, low, high, place, whole=whole, key=key if isinstance(key, str) else None)


def _within(limit: Limit, low: float | None, high: float | None, place: str, *, whole: bool, key: str | None) -> Limit:
    """The limit with its ends; ValueError where no choice is between them."""
    low, high = -inf if low is None else low, inf if high is None else high
    made = replace(limit, low=low, high=high, whole=whole, key=key)
    if made.choices and not any(made.low <= choice <= made.high for choice in made.choices):
        raise ValueError(f"{place} choices: none is within {made.low:g} to {made.high:g}; change choices, min or max")
    return made


def _refuse_name(name: str, place: str, key: object) -> None:
    if meant(name, key):
        remedy = f'one of your own by this name needs key = "section.{name}"'
        raise ValueError(f"[parameters]: unknown key {quoted(name)}; known are {', '.join(WELL_KNOWN)}; {remedy}")
    if not NAME.fullmatch(name):
        tame = re.sub("[^a-z0-9_]+", "_", name.lower()).strip("_")[:40] or "my_parameter"
        entry = f'{tame} = {{ key = "section.option", ... }}'
        raise ValueError(f"{place}: a name is made of a-z, 0-9 and _, and begins with a letter; write e.g. {entry}")
    if name in RESERVED:
        raise ValueError(
            f'{place}: JPO uses this name for something else; write e.g. my_{name} = {{ key = "section.{name}", ... }}'
        )


def meant(name: str, key: object) -> str | None:
    """The parameter of JPO's that another name means: one of its spellings, or a misspelling where no key says what it is."""
    spelt = [known for known, spellings in WELL_KNOWN.items() if name.lower() in spellings]
    near = difflib.get_close_matches(name, WELL_KNOWN, n=1, cutoff=NEAR) if key is None else []
    return next(iter((*spelt, *near)), None)


def _words(value: object, place: str) -> tuple[str, ...]:
    """The choices where they are words; empty where they are numbers or not given."""
    if not isinstance(value, list | tuple) or all(_as_number(item) is not None for item in value):
        return ()
    for item in value:
        if isinstance(item, bool):
            raise ValueError(f'{place}: {str(item).lower()} is not a word; write it in quotes, as config.ini has it, e.g. "True"')
        if not isinstance(item, str):
            raise ValueError(f"{place}: {quoted(item)} is not a word, but others are; write all of them in quotes")
        if len(item) > LONGEST or not WORD.fullmatch(item):
            remedy = f"write letters and . + - _ / : , @ ( ), digits and single blanks between, at most {LONGEST} characters"
            raise ValueError(f"{place}: {quoted(item)} cannot be written to a config.ini as it is; {remedy}")
        if value.count(item) > 1:
            raise ValueError(f"{place}: {quoted(item)} is listed twice; remove one")
    if len({float(Word(item)) for item in value}) < len(value):
        raise ValueError(f"{place}: JPO cannot tell two of them apart ({', '.join(value)}); take one out")
    return tuple(value)


def _numbers(value: object, place: str) -> tuple[float, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f'{place}: {quoted(value)} is not a list; write e.g. choices = [0.1, 0.2], or ["adam", "sgd"]')
    return tuple(sorted({n for item in value if (n := number_of(item, place)) is not None}))


def _as_number(item: object) -> float | None:
    """A number, or the text of one: values from the environment are texts."""
    try:
        return float(item) if isinstance(item, int | float | str) and not isinstance(item, bool) else None
    except (ValueError, OverflowError):
        return None


def read_value(option: str, text: str, limit: Limit) -> float | str:
    """The number or the word of a value's text, without quotes around it.

    Args:
        option: the option's name in the file.
        text: the value without comment and surrounding blanks.

    Raises:
        ValueError: it is none, or a choice but for its case.
    """
    in_quotes = QUOTED.fullmatch(text)
    said = (in_quotes[2] if in_quotes else text).strip()
    if not said:
        raise ValueError(f"{option} has no value; write {option} = {example(limit)}")
    if not limit.worded:
        return _number(option, said, limit)
    words = [str(word) for word in limit.choices or ()]
    if said not in words and (meant := [word for word in words if word.lower() == said.lower()]):
        remedy = "write it alike in both, as the training code reads it"
        raise ValueError(f"{option} = {quoted(said)} is the choice {quoted(meant[0])} of [parameters] but for its case; {remedy}")
    if len(said) > LONGEST or not said.isprintable():
        raise ValueError(f"{option} = {quoted(said)} is not a word; write e.g. {option} = {example(limit)}")
    return said


def _number(option: str, said: str, limit: Limit) -> float:
    match = NUMBER.fullmatch(said) if len(said) <= LONGEST else None
    value = None if match is None or match[2] else float(match[1])
    if value is None or value - value != 0 or (limit.whole and value % 1):
        kind = "whole number" if limit.whole else "finite number"
        remedy = f'write e.g. {option} = {example(limit)}, or name its choices as words, e.g. choices = ["{said[:20]}"]'
        raise ValueError(f"{option} = {quoted(said)} is not a {kind}; {remedy}")
    return value


def example(limit: Limit) -> str:
    """A value that the limit allows."""
    return str(limit.choices[0]) if limit.worded and limit.choices else f"{(limit.choices or (max(limit.low, 0.0),))[0]:g}"
