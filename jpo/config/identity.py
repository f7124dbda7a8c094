"""Identity of the job that a config.ini describes: dataset, model and framework, and its hardware where the file names it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jpo.config.interpolation import Interpolation
from jpo.config.locate import IniOption, OptionNames, ambiguous, keyed, named
from jpo.config.values import QUOTED
from jpo.errors import UsageError, quoted
from jpo.records import Identity

REFERS = re.compile(r"%\(|\$\{")

HARDWARE_SECTION = "workload"
"""Only here `hardware` is part of the identity: elsewhere it may be anything, and a job would lose its history."""
LONGEST = 200
"""Characters. Longer text is not a name, and would end up in labels, tables and file names."""


def find_identity(options: Sequence[IniOption], names: OptionNames, references: Interpolation, place: str) -> Identity:
    """The identity of the job; of the well-known names, the most usual one in the file counts, and its values must agree.
    Where none is there, a section of such a name counts that has a `name`.

    Raises UsageError: one is missing, unclear or no plain name.
    """
    labels = {part: _find(part, options, names, references, place) for part in ("dataset", "model", "framework")}
    missing = [part for part, label in labels.items() if not label]
    if missing:
        finding = f"no {' and no '.join(missing)} found"
        example = f'[workload] identity = {{ {missing[0]} = "section.option" }}'
        remedy = f"add {missing[0]} = ... to one of its sections, or name the option in jpo.toml: {example}"
        raise UsageError(place, finding, remedy, code="JPO-E204")
    return Identity(**labels, hardware=_find("hardware", options, names, references, place) or None)


def _find(part: str, options: Sequence[IniOption], names: OptionNames, references: Interpolation, place: str) -> str:
    """The label of one part, or of the hardware; empty text when there is none."""
    if key := names.identity_keys.get(part):
        return _label(keyed(options, f"workload.identity.{part}", key, place), references, place)
    known = names.known_identity.get(part, ())
    candidates = next(filter(None, (named(options, {name}) for name in known)), [])
    # Else the option `name` of a section that is called as an identity's part: [model] name = resnet18.
    sections = ([option for option in named(options, {"name"}) if option.section.lower() == name] for name in known)
    candidates = candidates or next(filter(None, sections), [])
    if part == "hardware":
        candidates = [option for option in named(options, {part}) if option.section == HARDWARE_SECTION]
    labels = {_label(option, references, place): option for option in candidates}
    if len(labels) > 1:
        raise ambiguous(part, labels.values(), place, f"[workload] identity = {{ {part} = KEY }}")
    return next(iter(labels), "")


def _label(option: IniOption, references: Interpolation, place: str) -> str:
    """The option's text, where it refers to another one that one's, without quotes around it."""
    text = references.read(option).text if option.one_line and "%(" in option.text else option.text
    in_quotes = QUOTED.fullmatch(text)
    label = (in_quotes[2] if in_quotes else text).strip()
    if not option.one_line or not label.isprintable() or len(label) > LONGEST or REFERS.search(label):
        finding = f"{quoted(option.key)} = {quoted(label)} is not a plain name"
        remedy = f"write it out on one line, in at most {LONGEST} characters"
        raise UsageError(f"{place}:{option.line}", finding, remedy, code="JPO-E204")
    return label
