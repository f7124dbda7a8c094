"""Analysis of a training script by its syntax tree: by which names it takes values, what it uses, and where it begins.

Nothing of it is imported or executed. Modules beside it are read with it, since scripts keep arguments and settings there. What
cannot be seen (names that are computed, libraries that read files by themselves) is never taken for absent: `reads_all`.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from jpo.errors import UsageError
from jpo.files.reading import contents
from jpo.plugins.launch.script.bindings import field_options, field_variables, hands_on_settings, name_of, own_values, text_of

LARGEST_BYTES = 4 * 2**20
MOST_MODULES = 40
"""Beside a script that are read with it."""
ENTRIES = ("main", "train", "train_model", "run")
"""Functions that train, in the order in which they are looked for."""
FRAMEWORKS = dict.fromkeys(("torch", "pytorch_lightning", "lightning", "torchvision"), "pytorch")
FRAMEWORKS |= {"tensorflow": "tensorflow", "keras": "keras", "jax": "jax", "flax": "jax", "sklearn": "scikit-learn"}
FRAMEWORKS |= {name: name for name in ("xgboost", "lightgbm", "mxnet", "paddle")}
"""Modules -> the framework that they are or come with."""
GPU_WORDS = re.compile(r"\b(cuda|gpu|nccl|mps|rocm|xla|accelerators?|devices?)\b", re.IGNORECASE)
"""`gpus` is not among them: that may be no more than a key of config.ini."""
FINDS_GPUS = {"tensorflow", "keras", "jax", "flax", "transformers", "accelerate", "lightning", "pytorch_lightning", "deepspeed"}
"""Modules that use a GPU where there is one without being told."""
CONFIG_NAME = re.compile(r"(?:.*_)?(?:config|configuration|cfg|conf|ini|settings)(?:_(?:file|path|ini))?", re.IGNORECASE)
"""Names of arguments that mean the file with the values."""
INI = re.compile(r"[^\s*?]+\.(?:ini|cfg|conf)", re.IGNORECASE)
GETTERS = {"get", "getint", "getfloat", "getboolean", "pop", "setdefault", "has_option"}
OPTION_MAKERS = {"add_argument", "option", "Option"}
FLAG_MAKERS = re.compile(r"DEFINE_(?:integer|float|string|bool|boolean|enum)")
OTHER_SETTINGS = {"yaml", "ruamel", "toml", "tomli", "tomllib", "omegaconf", "hydra", "jsonargparse", "ml_collections"}
"""Modules that read settings in other formats: an argument `--config` of a script with one of them is for such a file."""
READS_FOR_ITSELF = {"hydra", "fire", "omegaconf", "jsonargparse", "simple_parsing", "tyro", "typer", "gin"}
"""Modules that make arguments or settings of names which the syntax tree shows elsewhere, or not at all."""


@dataclass(frozen=True, slots=True)
class EntryFunction:
    """A function that trains, of a file that does nothing by itself: its arguments, and those that it must be given."""

    name: str
    arguments: tuple[str, ...]
    required: tuple[str, ...]
    takes_any: bool = False


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """How a script comes to its config.ini: by an option ("": an argument without a name), or by names that it has."""

    option: str | None
    names: tuple[str, ...]

    @property
    def is_read(self) -> bool:
        return self.option is not None or bool(self.names)


@dataclass(frozen=True, slots=True)
class TrainingScript:
    """What a script shows of itself.

    Attributes:
        options: name of an argument, in lower case with _, -> the option as it is typed ("--batch-size").
        keys: names that it looks up in settings.
        variables: of the environment that it reads.
        words: every name and text in it, in lower case: what is not among them it cannot mean.
        reads_all: it takes settings as a whole, or leaves that to a library: what it reads of them is not seen.
        own_values: names, in lower case, that it sets to nothing but values written in the code.
        settings_by: modules by which it reads settings in other formats, where it reads none in that of config.ini.
        subcommands: its options stand behind the name of a subcommand.
        uses_gpu: whether anything in it speaks of a GPU.
        entry: None: it runs by itself.
    """

    options: dict[str, str]
    config: ConfigFile
    keys: frozenset[str]
    variables: frozenset[str]
    words: frozenset[str]
    reads_all: bool
    own_values: frozenset[str]
    settings_by: tuple[str, ...]
    subcommands: bool
    frameworks: tuple[str, ...]
    uses_gpu: bool
    entry: EntryFunction | None


def analysis_of(script: Path, path: Sequence[Path] = ()) -> TrainingScript:
    """What a script shows of itself and of the modules that it finds beside it, or in the folders of a path (PYTHONPATH).

    Raises UsageError: JPO-E773, it cannot be read; JPO-E774, it is no Python of this version.
    """
    trees = tuple(trees_of(script, path))
    nodes = [node for tree in trees for node in ast.walk(tree)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    imported = {name.split(".")[0] for node in nodes for name in _imported(node)}
    options = {**dict(field_options(nodes, OPTION_MAKERS)), **dict(_options(calls))}
    texts = [text for node in nodes if (text := text_of(node)) is not None]
    words = frozenset(word.lower() for node in nodes for word in _words(node))
    foreign = bool(imported & OTHER_SETTINGS) and "configparser" not in imported
    config_names = [name for name in options if CONFIG_NAME.fullmatch(name) and not foreign]
    used = {name.split(".")[0]: FRAMEWORKS[name.split(".")[0]] for name in imported if name in FRAMEWORKS}
    return TrainingScript(
        options=options,
        config=ConfigFile(
            options[config_names[0]] if config_names else _argv(nodes),
            tuple(dict.fromkeys(text for text in texts if INI.fullmatch(text))),
        ),
        keys=frozenset(name.lower() for node in nodes for name in _keys(node)),
        variables=frozenset([*field_variables(nodes), *(name for node in nodes for name in _variables(node))]),
        words=words,
        reads_all=bool(imported & READS_FOR_ITSELF) or any(map(_reads_all, nodes)) or hands_on_settings(nodes),
        own_values=own_values(nodes),
        settings_by=tuple(sorted(imported & OTHER_SETTINGS)) if foreign else (),
        subcommands=any(name_of(call.func) == "add_subparsers" for call in calls),
        frameworks=tuple(dict.fromkeys(used[name] for name in FRAMEWORKS if name in used)),
        uses_gpu=bool(imported & FINDS_GPUS) or any(GPU_WORDS.search(word.replace("_", " ")) for word in words),
        entry=_entry(trees[0]),
    )


def trees_of(script: Path, folders: Sequence[Path] = ()) -> Iterator[ast.Module]:
    """The script, then modules that it imports from its own folder, each once."""
    rest, seen = [script], {script.resolve()}
    while rest and len(seen) <= MOST_MODULES:
        path = rest.pop(0)
        try:
            tree = _parsed(path)
        except UsageError:
            if path is script:
                raise
            continue  # whoever runs it will see
        yield tree
        for name in (name for node in ast.walk(tree) for name in _imported(node)):
            for module in (file for folder in (path.parent, script.parent, *folders) for file in _modules(folder, name)):
                if module.resolve() not in seen:
                    seen.add(module.resolve())
                    rest.append(module)


def _modules(folder: Path, name: str) -> list[Path]:
    parts = name.split(".") if all(part.isidentifier() for part in name.split(".")) else []
    places = [folder.joinpath(*parts[:depth]) for depth in range(1, len(parts) + 1)]
    return [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()]


def _parsed(path: Path) -> ast.Module:
    refusal = partial(UsageError, str(path), remedy="name the Python script that trains", code="JPO-E773")
    try:
        return ast.parse(contents(path, LARGEST_BYTES, refusal))
    except SyntaxError as error:
        place = f"{path}:{error.lineno}" if error.lineno else str(path)
        raise UsageError(place, f"is not valid Python ({error.msg.partition(': ')[0]})", "correct it", code="JPO-E774") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise UsageError(str(path), f"cannot be read as Python ({error})", "correct it", code="JPO-E774") from error


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        return [module, *(f"{module}.{alias.name}".lstrip(".") for alias in node.names)] if module or node.level else []
    return []


def _options(calls: Sequence[ast.Call]) -> Iterator[tuple[str, str]]:
    """Arguments of argparse, click and absl: name, and the option as it is typed; "" for one without a name of its own."""
    for call in calls:
        name = name_of(call.func)
        texts = [text for arg in call.args if (text := text_of(arg)) is not None]
        if (name in OPTION_MAKERS or name == "argument") and not _is_switch(call):
            flags = [flag.split("/")[0] for flag in texts if flag.startswith("-")]
            long = max(flags, key=lambda flag: (flag.startswith("--"), len(flag)), default="")
            given = (keyword.value for keyword in call.keywords if keyword.arg == "dest")
            dest = [str(value.value) for value in given if isinstance(value, ast.Constant)]
            for text in [*flags, *dest] if long else texts[:1]:
                yield plain_name(text), "" if not long else text if text.startswith("--") else long
        elif name and FLAG_MAKERS.fullmatch(name) and texts:
            yield plain_name(texts[0]), f"--{texts[0]}"


def _is_switch(call: ast.Call) -> bool:
    """Whether an option takes no value."""
    said = {keyword.arg: keyword.value.value for keyword in call.keywords if isinstance(keyword.value, ast.Constant)}
    return str(said.get("action", "store")) not in ("store", "append", "extend") or said.get("is_flag") is True


def _argv(nodes: Sequence[ast.AST]) -> str | None:
    """ "" where a script takes the path of its settings from sys.argv by itself; None where it does not."""
    reads_ini = any(name_of(node.func) == "ConfigParser" for node in nodes if isinstance(node, ast.Call))
    indexed = (node for node in nodes if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant))
    return "" if reads_ini and any(name_of(node.value) == "argv" and node.slice.value == 1 for node in indexed) else None  # type: ignore[attr-defined]


def _keys(node: ast.AST) -> Iterator[str]:
    """Texts by which something is looked up."""
    getter = isinstance(node, ast.Call) and name_of(node.func) in GETTERS
    keys = [node.slice] if isinstance(node, ast.Subscript) else node.args[:2] if getter else []  # type: ignore[attr-defined]
    yield from (text for key in keys if (text := text_of(key)) is not None)


def _variables(node: ast.AST) -> Iterator[str]:
    """Variables of the environment that are read by name."""
    looked_up: ast.expr | None = None
    if isinstance(node, ast.Subscript) and name_of(node.value) == "environ":
        looked_up = node.slice
    elif isinstance(node, ast.Call) and node.args:
        by_get = isinstance(node.func, ast.Attribute) and name_of(node.func.value) == "environ"
        looked_up = node.args[0] if by_get or name_of(node.func) == "getenv" else None
    if (text := text_of(looked_up)) is not None:
        yield text


def _reads_all(node: ast.AST) -> bool:
    """Whether settings are taken as a whole here: dict(config["training"]), **config["training"], config.items("training")."""
    if isinstance(node, ast.Call):
        if name_of(node.func) == "HfArgumentParser":  # whose TrainingArguments are not seen
            return True
        whole = name_of(node.func) == "dict" and any(isinstance(arg, ast.Subscript) for arg in node.args)
        spread = any(keyword.arg is None and not isinstance(keyword.value, ast.Dict) for keyword in node.keywords)
        items = name_of(node.func) == "items" and isinstance(node.func, ast.Attribute)
        return whole or spread or (items and (bool(node.args) or isinstance(node.func.value, ast.Subscript)))  # type: ignore[attr-defined]
    return isinstance(node, ast.Attribute) and node.attr == "_sections"


def _words(node: ast.AST) -> Iterator[str]:
    if (text := text_of(node)) is not None:
        yield from (text, plain_name(text)) if len(text) < 200 else ()
    elif isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.arg) or (isinstance(node, ast.keyword) and node.arg):
        yield str(node.arg)


def _entry(tree: ast.Module) -> EntryFunction | None:
    """The function to call in a file that does nothing by itself; None for a script."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    named = next((functions[name] for name in ENTRIES if name in functions), None)
    if named is None or any(_acts(node, set(functions)) for node in tree.body):
        return None
    arguments = named.args
    positional = [arg.arg for arg in (*arguments.posonlyargs, *arguments.args)]
    by_name = {arg.arg: default for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)}
    required = positional[: len(positional) - len(arguments.defaults)]
    required += [name for name, default in by_name.items() if default is None]
    return EntryFunction(named.name, (*positional, *by_name), tuple(required), arguments.kwarg is not None)


def _acts(node: ast.stmt, functions: set[str]) -> bool:
    """Whether a statement at the top of a file does something: a guard, a loop, or a call of one of its own functions."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    guards = isinstance(node, ast.If) and any(isinstance(p, ast.Name) and p.id == "__name__" for p in ast.walk(node.test))
    calls = any(isinstance(part, ast.Call) and name_of(part.func) in functions for part in ast.walk(node))
    return guards or calls or isinstance(node, ast.For | ast.While | ast.With)


def plain_name(text: str) -> str:
    """A name as all spell it: --batch-size -> batch_size."""
    return text.lstrip("-").replace("-", "_").lower()
