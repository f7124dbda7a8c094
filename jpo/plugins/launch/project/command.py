"""The command of a run: what was typed, or a script with the values of config.ini where it reads them."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, pairwise
from pathlib import Path

from constraints.names import WELL_KNOWN
from jpo.errors import UsageError
from jpo.files.reading import beginning, same_file
from jpo.plugins.launch.engines import described
from jpo.plugins.launch.script import call
from jpo.plugins.launch.script.analysis import CONFIG_NAME, FRAMEWORKS, EntryFunction, TrainingScript, analysis_of, plain_name
from jpo.records import Parameter, Workload, plain
from jpo.records.notes import Note

SCRIPT = ".py"
ENDS_OF_MODULES = ("/__main__.py", ".py")
"""Files that `python -m NAME` runs."""
SUFFIXES = (".yaml", ".yml")
MOST_LOOKED_AT, MOST_FILES, MOST_BYTES = 100_000, 200, 2**20
"""Files among which settings in other formats are searched; of these how many are read, and how much of each."""
NOT_READ = "JPO-W775"
MEMORY = "memory_gib"
"""Whose names say the unit: only the one that config.ini uses is meant."""
HELD_BY_ENGINE = ("gpus", "cpus", "memory_gib")
"""What an engine gives or limits, whether or not the script knows."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """How a run is started.

    Attributes:
        command: program and arguments; empty: that of [launch] command.
        folder: where it starts; None: beside jpo.toml.
        environment: variables by which the script takes values.
        notes: what must be said of it.
    """

    command: tuple[str, ...]
    folder: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()


def invocation_of(
    words: Sequence[str], workload: Workload, folder: Path, environ: Mapping[str, str], *, engine: str
) -> Invocation:
    """What the words of a command line start.

    Args:
        words: SCRIPT.py and its arguments, or a command; none: that of [launch] command.
        folder: from which they were typed.
        engine: on which it is to run.

    Raises UsageError: JPO-E773, there is no such script; JPO-E774, it is no Python, or cannot be called.
    """
    if not words:
        return Invocation(())
    path = [folder / each for each in environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    if not words[0].endswith(SCRIPT):
        return _command_as_typed(words, workload, folder, path)
    script = (folder / words[0]).absolute()
    if not _is_file(script):
        raise UsageError(f"{words[0]:.200}", "is not a file", "name the script that trains", code="JPO-E773")
    below = script.parent != folder and script.is_relative_to(folder)  # else it is no `python -m PACKAGE` from here
    is_package = below and script.name == "__main__.py" and _is_file(script.parent / "__init__.py")
    package = script.parent.relative_to(folder) if is_package else None
    found = analysis_of(script, [*path, folder] if package else path)
    python = interpreter(environ) if described(engine).shares_files else "python3"
    names_config = found.config.option == "" and any(word.endswith(workload.path.suffix) for word in words[1:])
    given = given_by(found, workload)
    named = () if found.config.option is not None else found.config.names  # from where it finds its config.ini by this name
    places = (
        place for place in (folder, workload.path.absolute().parent) for name in named if same_file(place / name, workload.path)
    )
    started_in, folder = folder, next(places, folder)
    notes = remarks(found, workload, given, script.parent)
    if found.entry is None:
        arguments = given.arguments[1:] if names_config else given.arguments  # a path that was typed counts
        behind = [each for each in arguments if each.partition("=")[0] not in words] if found.subcommands and words[1:] else []
        program = ("-m", ".".join(package.parts)) if package and folder == started_in else (str(script),)
        words = (python, *program, *(() if behind else arguments), *words[1:], *behind)
        return Invocation(words, folder, given.environment, notes)
    keywords = called_with(found.entry, workload, script)
    if not described(engine).shares_files:
        finding = f"does nothing by itself, and its function {found.entry.name} can only be called on this machine"
        raise UsageError(str(script), finding, f'end it with `if __name__ == "__main__": {found.entry.name}()`', code="JPO-E774")
    caller = Path(call.__file__).absolute()
    return Invocation((python, str(caller), str(script), found.entry.name, keywords), folder, given.environment, notes)


def _command_as_typed(words: Sequence[str], workload: Workload, folder: Path, path: Sequence[Path]) -> Invocation:
    """A command, which is taken word by word; of a script in it is said what it does not get."""
    modules = [f"{name.replace('.', '/')}{end}" for option, name in pairwise(words) if option == "-m" for end in ENDS_OF_MODULES]
    script = next((folder / word for word in (*words[1:], *modules) if word.endswith(SCRIPT) and _is_file(folder / word)), None)
    try:
        found = analysis_of(script, [*path, folder] if modules else path) if script else None
    except UsageError:  # its Python will say
        found = None
    if script is None or found is None or found.entry is not None:
        return Invocation(tuple(words), folder)
    given, typed = given_by(found, workload), {word.partition("=")[0] for word in words}
    taken = [word.partition("=")[0] for word in given.arguments if word.startswith("-")]
    lacking = [option for option in taken if option not in typed and option != found.config.option]
    notes = remarks(found, workload, given, script.parent)
    if lacking:
        said = f"{script.name} takes {', '.join(lacking)}, which the command does not give it"
        text = f"{said}: `jpo run {os.path.relpath(script, folder)}` gives it what {workload.path.name} has"
        notes = (*notes, Note(NOT_READ, text, script.name))
    return Invocation(tuple(words), folder, given.environment, notes)


@dataclass(frozen=True, slots=True)
class Given:
    """How a script gets values: by arguments, by variables; `names` are all parameters that it gets, `unseen` those of them of
    which nobody sees how."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    names: frozenset[str]
    unseen: frozenset[str] = frozenset()


def given_by(script: TrainingScript, workload: Workload) -> Given:
    """Every value where the script reads it: its config.ini first, then options of its own, then variables."""
    arguments, environment, names, unseen = list[str](), dict[str, str](), set[str](), set[str]()
    if script.config.option is not None:
        arguments += _option(script.config.option, str(workload.path.absolute()))
    for parameter in workload.parameters:
        key = plain_name(parameter.key.rpartition(".")[2])
        aliases = dict.fromkeys((key, *(map(plain_name, WELL_KNOWN.get(parameter.term, ())) if parameter.name != MEMORY else ())))
        variables = [name for name in script.variables if plain_name(name) in {*aliases, f"jpo_{parameter.name}"}]
        if script.config.is_read and (script.reads_all or key in {plain_name(name) for name in script.keys}):
            names.add(parameter.name)
        elif option := next((script.options[alias] for alias in aliases if script.options.get(alias)), None):
            arguments += _option(option, _text(parameter))
            names.add(parameter.name)
        elif variables:
            environment |= dict.fromkeys(variables, _text(parameter))
            names.add(parameter.name)
        elif script.reads_all or (set(aliases) & script.words and not set(aliases) & script.own_values):
            unseen.add(parameter.name)
    return Given(tuple(arguments), environment, frozenset(names | unseen), frozenset(unseen))


def called_with(entry: EntryFunction, workload: Workload, script: Path) -> str:
    """Keyword arguments of a function, as JSON; UsageError JPO-E774 where it needs one that config.ini does not have."""
    values: dict[str, object] = {}
    for parameter in workload.parameters:
        usual = (parameter.name, parameter.key.rpartition(".")[2], *WELL_KNOWN.get(parameter.term, ()))
        names = [name for name in map(plain_name, usual) if name in entry.arguments]
        value = plain(parameter.counted[1] if parameter.counted else parameter.value)
        if names or entry.takes_any:
            values[(names or [parameter.name])[0]] = int(value) if isinstance(value, float) and value.is_integer() else value
    path = next((name for name in entry.required if CONFIG_NAME.fullmatch(name)), None)
    texts = {**workload.identity.labels, **({path: str(workload.path.absolute())} if path else {})}
    values |= {name: text for name, text in texts.items() if name in entry.arguments and name not in values}
    if missing := [name for name in entry.required if name not in values]:
        finding = f"its function {entry.name} needs {', '.join(missing)}, which {workload.path} does not have"
        raise UsageError(str(script), finding, "give the argument a default value", code="JPO-E774")
    return json.dumps(values)


def remarks(script: TrainingScript, workload: Workload, given: Given, folder: Path) -> tuple[Note, ...]:
    """What a person should know before hours are spent; `folder` is the script's."""
    said, entry = list[str](), script.entry
    by_name = set(entry.arguments) if entry else set()
    unread = [p.name for p in workload.parameters if p.name not in given.names | by_name and p.name not in HELD_BY_ENGINE]
    if unread and not (entry and entry.takes_any):
        said.append(f"The script does not read {', '.join(unread)}: another value would change nothing")
    elsewhere = [p.name for p in workload.parameters if p.name in given.unseen and p.name not in HELD_BY_ENGINE]
    if elsewhere and script.settings_by and not entry and not script.config.is_read and not _has_ours(folder, script):
        ours = f"JPO_{elsewhere[0].upper()}"
        said.append(
            f"The script has {', '.join(elsewhere)} from settings that it reads by {', '.join(script.settings_by)}, and not from "
            f"{workload.path.name}: let them have {ours} and the like from the environment (OmegaConf: ${{oc.env:{ours}}})"
        )
    if workload.current.get("gpus") and not script.uses_gpu:
        said.append(f"config.ini asks for {workload.current['gpus']:g} GPUs, and nothing in the script uses one")
    framework = workload.identity.framework.lower()
    known = {*FRAMEWORKS, *FRAMEWORKS.values()}
    if script.frameworks and framework in known and FRAMEWORKS.get(framework, framework) not in script.frameworks:
        uses = ", ".join(script.frameworks)
        said.append(f"config.ini says framework = {workload.identity.framework}, and the script uses {uses}")
    named = [name for name in script.config.names if Path(name).name == workload.path.name]
    if script.config.names and not named and script.config.option is None:
        said.append(f"The script reads {script.config.names[0]}, and not {workload.path}")
    return tuple(Note(NOT_READ, text) for text in dict.fromkeys(said))


def _has_ours(folder: Path, script: TrainingScript) -> bool:
    """Whether a script, or a file of settings below its folder, names a variable of JPO's."""
    looked_at = islice(folder.rglob("*"), MOST_LOOKED_AT)  # a folder of data may have millions
    files = islice((file for file in looked_at if file.suffix in SUFFIXES and file.is_file()), MOST_FILES)
    read = (beginning(file, MOST_BYTES, partial(UsageError, str(file), code="JPO-E773")) for file in files)
    try:
        return any(word.startswith("jpo_") for word in script.words) or any(b"JPO_" in content for content in read)
    except UsageError:
        return False


def _option(option: str, text: str) -> list[str]:
    """An option with its value, which cannot be taken for another option; "" is an argument without a name."""
    if not option:
        return [text]
    return [f"{option}={text}"] if option.startswith("--") else [option, text]


def _text(parameter: Parameter) -> str:
    """A value as config.ini has it, without quotes: what a script expects that is given it another way."""
    text = parameter.text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # longer than names may be
        return False


def interpreter(environ: Mapping[str, str]) -> str:
    """The Python that scripts are started with: of the environment that is active, else the one that runs JPO."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        python = Path(environ.get(variable, "")) / "bin/python"
        if environ.get(variable) and os.access(python, os.X_OK):
            return str(python)
    return sys.executable
