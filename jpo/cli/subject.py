"""What a command is about: CONFIG.INI stands first in every one, and a suggestion or a run comes after it.

Either may be left out. A word is a path by its ending, or by the file that is there; else it is an id.
"""

import re
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path

import click

from jpo.cli.options import FILE, F, FileType, files, options, path, settings_options
from jpo.errors import UsageError

SUGGESTION_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}")
ENDINGS = (".ini", ".cfg", ".conf")
"""Of what is meant to be a config.ini, though it is not there."""


def config_file(text: str) -> Path:
    """The path of a config.ini; UsageError JPO-E311 for what is the id of a suggestion, or a jpo.toml."""
    found = path(text)
    if SUGGESTION_ID.fullmatch(text) and not is_file(text):
        finding = "is the id of a suggestion, where CONFIG.INI is expected"
        raise UsageError(text, finding, f"name the file; `jpo explain {text}` explains the suggestion", code="JPO-E311")
    if found.suffix == ".toml":
        finding = "is a file of settings, where CONFIG.INI is expected"
        raise UsageError(f"{text!r:.200}", finding, f"did you mean --config {text:.200}?", code="JPO-E311")
    return found


config_ini = click.argument("given", type=FileType(config_file), required=False, metavar="[CONFIG.INI]")
config_inis = click.argument("given", type=FileType(config_file), nargs=-1, metavar="[CONFIG.INI]...")
"""Several of them, each a job of its own."""
job_options = options(config_ini, settings_options)
"""What names a job and its settings."""


def config_and_suggestion(function: F) -> F:
    """[CONFIG.INI] [ID], as the arguments `given` and `suggestion_id`."""
    return _words("suggestion_id", "ID", looks_like_config)(function)


def config_and_run(function: F) -> F:
    """[CONFIG.INI] [RUN], as the arguments `given` and `run`; a run may have slashes in its name."""
    return _words("run", "RUN", looks_like_config_file)(function)


def config_and_file(metavar: str) -> Callable[[F], F]:
    """[CONFIG.INI] FILE, as the arguments `given` and `file`."""

    def decorate(function: F) -> F:
        @wraps(function)
        def with_both(*args: object, words: tuple[str, ...], **kwargs: object) -> object:
            given, files = config_first(words, 1)
            if len(files) != 1:
                raise UsageError(f"{' '.join(words)!r:.200}", f"is not [CONFIG.INI] {metavar}", "name one file", code="JPO-E311")
            return function(*args, given=given, file=path(files[0]), **kwargs)

        words = click.argument("words", nargs=-1, required=True, metavar=f"[CONFIG.INI] {metavar}", shell_complete=files)
        return words(with_both)  # type: ignore[return-value]

    return decorate


def looks_like_config(word: str) -> bool:
    """Whether a word that may be an id is a path: ids have no slash and no ending, and no file is called like one."""
    return looks_like_config_file(word) or "/" in word or word.endswith(".toml")


def looks_like_config_file(word: str) -> bool:
    """Whether a word is called like a config.ini, or is the name of a file."""
    return word.lower().endswith(ENDINGS) or is_file(word)


def is_file(word: str) -> bool:
    try:
        return Path(word).is_file()
    except OSError:  # longer than names may be, or in a closed folder
        return False


def config_and_id(words: Sequence[str], metavar: str, is_config: Callable[[str], bool]) -> tuple[Path | None, str | None]:
    """CONFIG.INI and the id that the words of a command name.

    Raises UsageError: JPO-E311, there are more words, or they are not in this order.
    """
    config, rest = (words[0], words[1:]) if words and is_config(words[0]) else (None, words)
    if len(rest) > 1 or (rest and metavar == "ID" and is_config(rest[0])):
        turned = len(words) == 2 and config is None and is_config(words[1])
        remedy = f"write CONFIG.INI first: {words[1]} {words[0]}" if turned else f"write [CONFIG.INI] [{metavar}]"
        raise UsageError(f"{' '.join(words)!r:.200}", f"is not [CONFIG.INI] [{metavar}]", remedy, code="JPO-E311")
    if rest and any("\ud800" <= character <= "\udfff" for character in rest[0]):  # bytes that are no text, as Python keeps them
        raise UsageError(f"{rest[0]!r:.200}", f"is not UTF-8, as each {metavar} is", "see `jpo history`", code="JPO-E311")
    return None if config is None else config_file(config), rest[0] if rest else None


def config_first(words: Sequence[str], others: int) -> tuple[Path | None, Sequence[str]]:
    """CONFIG.INI, if it is the first of the words and at least `others` come after it; and the others."""
    if len(words) > others and words[0].lower().endswith(ENDINGS):
        return config_file(words[0]), words[1:]
    return None, words


def named_once(given: Path | None, by_option: Path | None) -> Path | None:
    """The file that stands first, or the one of --for, which is the same by its older name."""
    if given and by_option and given != by_option:
        raise UsageError("--for", f"names {by_option}, and the command {given}", "name one of them", code="JPO-E311")
    return given or by_option


for_option = click.option("--for", "by_option", type=FILE, metavar="CONFIG.INI", help="The same as CONFIG.INI.")


def _words(name: str, metavar: str, is_config: Callable[[str], bool]) -> Callable[[F], F]:
    """The words of a command as its two arguments; with `for_option` on it, that says CONFIG.INI, too."""

    def decorate(function: F) -> F:
        @wraps(function)
        def with_both(*args: object, words: tuple[str, ...], by_option: Path | None = None, **kwargs: object) -> object:
            given, kwargs[name] = config_and_id(words, metavar, is_config)
            return function(*args, given=named_once(given, by_option), **kwargs)

        return click.argument("words", nargs=-1, metavar=f"[CONFIG.INI] [{metavar}]", shell_complete=files)(with_both)  # type: ignore[return-value]

    return decorate
