"""Options that several commands share, each written and explained once; those that travel together arrive as one record."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import click

from jpo.cli.output import Output, coloured
from jpo.errors import UsageError
from jpo.plugin import from_package

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])


def path(text: str) -> Path:
    """The path that an option names, whether or not there is a file. Raises UsageError: JPO-E309, no file can have this name."""
    found = Path(text)
    try:
        found.lstat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass  # whoever reads or writes it says so
    except (OSError, ValueError) as error:
        finding = f"is not a name that a file can have ({getattr(error, 'strerror', None) or error})"
        raise UsageError(f"{text!r:.80}", finding, "check the path", code="JPO-E309") from error
    return found


def files(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """What the shell completes: names of files, which need not be UTF-8; click's answer is."""
    from click.shell_completion import CompletionItem  # here: other commands start without it

    return [CompletionItem(incomplete.encode(errors="replace").decode(), type="file")]


class FileType(click.types.FuncParamType):  # type: ignore[type-arg]  # click 8.1 has none
    """A path by the function that checks it."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        return files(ctx, param, incomplete)


FILE = FileType(path)


class SharedOption(click.Option):
    """An option of many commands: the help of each names those of a kind in one line, and `where` explains them."""

    heading: ClassVar[str] = "Settings and network"
    where: ClassVar[str] = "jpo config --help"

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """At the last one of its kind the line of all; what a command has only one of is explained there."""
        alike = [option for option in ctx.command.params if type(option) is type(self)]
        if alike == [self]:
            return self.explained(ctx)
        names = ", ".join(sorted(option.opts[-1] for option in alike))
        return (f"{self.heading}:", f"{names}  ({self.where})") if alike[-1] is self else None

    def explained(self, ctx: click.Context) -> tuple[str, str] | None:
        """Its own line, with what it does."""
        return super().get_help_record(ctx)


class ExplainingGroup(click.Group):
    """A group whose help explains options that its commands, or those of all JPO, share."""

    def __init__(self, *args: Any, shared: Callable[[F], F], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        holder = click.command()(shared(cast(F, lambda: None)))
        self.shared = [option for option in holder.params if isinstance(option, SharedOption)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """After the group's own options and commands, those that are shared."""
        super().format_options(ctx, formatter)
        with formatter.section(f"{self.shared[0].heading} (options of several commands)"):
            formatter.write_dl([record for option in self.shared if (record := option.explained(ctx))])


shared = partial(click.option, cls=SharedOption)
toml_help = "Settings file; default: jpo.toml next to config.ini or above."
toml_option = shared("--config", "toml", type=FILE, metavar="JPO.TOML", help=toml_help)
colour_option = shared("--no-color", is_flag=True, help="No colours, even on a terminal (or set NO_COLOR).")
# __main__ reads it from the arguments: an error may come before any option has been parsed
verbose_option = shared("-v", "--verbose", is_flag=True, expose_value=False, help="Show a traceback for internal errors.")
seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Same seed and history, same answer."
)


class ChoiceOrInstalled(click.Choice[str]):
    """One of JPO's own words, or the name of an entry point that another package offers."""

    def __init__(self, own: Sequence[str], group: str) -> None:
        super().__init__(own)
        self.group = group

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return value if value not in self.choices and from_package(self.group, value) else super().convert(value, param, ctx)


@dataclass(frozen=True, slots=True)
class Network:
    """Options of requests to servers of runs; None: as the settings say."""

    offline: bool
    prometheus_url: str | None
    timeout: str | None
    since: str | None

    @property
    def flags(self) -> Mapping[str, str | None]:
        """The table [prometheus] that the options make."""
        return {"url": self.prometheus_url, "timeout": self.timeout, "since": self.since}


def options(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, in the order of the help."""

    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


settings_options = options(toml_option, verbose_option)


def network_options(function: F) -> F:
    """--offline, --prometheus-url, --timeout and --since, as the argument `network`."""
    return options(
        shared("--offline", is_flag=True, help="Ask no server for runs; use only the store and CSV logs."),
        shared("--prometheus-url", metavar="URL", help="Prometheus to ask for finished runs."),
        shared("--timeout", metavar="DURATION", help="Deadline for all requests to servers, e.g. 10s."),
        shared("--since", metavar="DURATION", help="How far back to ask at first contact, e.g. 90d."),
    )(gathered(function, "network", Network, ("offline", "prometheus_url", "timeout", "since")))


def output_options(*forms: str, files: bool = False) -> Callable[[F], F]:
    """-o/--format, --output-file where `files`, and --no-color, as the argument `output`; the first form is the default."""
    choice = click.option("-o", "--format", "form", type=click.Choice(forms), default=forms[0], show_default=True)
    said = "Also write it to this file: .json, .md or .html."
    file = click.option("--output-file", "files", type=FILE, multiple=True, help=said)

    def record(form: str, no_color: bool, files: tuple[Path, ...] = ()) -> Output:
        return Output(form, files, colour=coloured(no_color))

    def decorate(function: F) -> F:
        names = ("form", "no_color", *(["files"] if files else []))
        return options(choice, *([file] if files else []), colour_option)(gathered(function, "output", record, names))

    return decorate


def writes_with(name: str, what: str) -> Callable[[F], F]:
    """The option without which a command writes nothing, and --dry-run, which says so; UsageError JPO-E308 if both are given."""

    def decorate(function: F) -> F:
        @wraps(function)
        def with_one(*args: object, dry_run: bool, **kwargs: object) -> object:
            if dry_run and kwargs[name.lstrip("-")]:
                raise UsageError("--dry-run", f"writes nothing, and {name} does", "leave one of them out", code="JPO-E308")
            return function(*args, **kwargs)

        dry = click.option("--dry-run", is_flag=True, help=f"Write nothing, as without {name}.")
        return click.option(name, is_flag=True, help=what)(dry(with_one))  # type: ignore[return-value]

    return decorate


def gathered(function: F, name: str, record: Callable[..., object], names: tuple[str, ...]) -> F:
    """The function with the options of these names handed over as one record."""

    @wraps(function)
    def with_record(*args: object, **kwargs: object) -> object:
        kwargs[name] = record(**{option: kwargs.pop(option) for option in names})
        return function(*args, **kwargs)

    return with_record  # type: ignore[return-value]
