"""Identity of the job that a config.ini describes: dataset, model and framework, and its hardware where the file names it."""

import re
from collections.abc import Sequence

from jpo.config.interpolation import Interpolation
from jpo.config.locate import IniOption, OptionNames, Undecided, ambiguous, keyed, named
from jpo.config.values import QUOTED
from jpo.errors import UsageError, quoted
from jpo.records import Identity

PARTS = ("dataset", "model", "framework")
EXAMPLES = {"dataset": "street-signs", "model": "resnet50", "framework": "pytorch"}
REFERS = re.compile(r"%\(|\$\{")

HARDWARE_SECTION = "workload"
"""Only here `hardware` is part of the identity: elsewhere it may be anything, and a job would lose its history."""
LONGEST = 200
"""Characters. Longer text is not a name, and would end up in labels, tables and file names."""


def find_identity(options: Sequence[IniOption], names: OptionNames, references: Interpolation, place: str) -> Identity:
    """The identity of the job; of the well-known names, the most usual one in the file counts, and its values must agree.
    Where none is there, a section of such a name counts that has a `name` (or `class_path`, as Lightning has it).

    Raises UsageError: one is unclear or no plain name; Undecided: one is missing.
    """
    labels = {part: names.said.get(part) or _find(part, options, names, references, place) for part in PARTS}
    if not all(labels.values()):  # a name says all of it, so it does not mix with what the file says
        labels = {
            part: (len(names.unsaid) < len(PARTS) and label) or names.unsaid.get(part, "") for part, label in labels.items()
        }
    if missing := [part for part, label in labels.items() if not label]:
        nothing = len(missing) == len(PARTS)
        finding = "does not say which job this is" + ("" if nothing else f": no {' and no '.join(missing)}")
        line = 'name = "street-signs"' if nothing else " and ".join(f'{part} = "{EXAMPLES[part]}"' for part in missing)
        remedy = f"add e.g. {line} below [workload] in jpo.toml; `jpo init` does it"
        raise Undecided(place, finding, remedy, code="JPO-E204", missing=missing)
    return Identity(**labels, hardware=_find("hardware", options, names, references, place) or None)


def _find(part: str, options: Sequence[IniOption], names: OptionNames, references: Interpolation, place: str) -> str:
    """The label of one part, or of the hardware; empty text when there is none."""
    if key := names.identity_keys.get(part):
        return _label(keyed(options, f"workload.identity.{part}", key, place), references, place)
    known = names.known_identity.get(part, ())
    candidates = next(filter(None, (named(options, {name}) for name in known)), [])
    # Else the option `name` of a section that is called as an identity's part: [model] name = resnet18.
    sections = ([option for option in named(options, {"name", "class_path"}) if option.section.lower() == name] for name in known)
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
