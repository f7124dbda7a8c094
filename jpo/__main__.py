"""The program: runs the command line and turns every outcome into an exit code and one line on stderr."""

import gc
import os
import re
import signal
import sys
import tempfile
import traceback
from contextlib import suppress
from io import StringIO
from pathlib import Path

import click

from jpo.cli import gate
from jpo.errors import JpoError, UsageError
from jpo.wording.printable import printable, released

FOR_ITSELF = {
    "OPENBLAS_NUM_THREADS": "1",  # before numpy loads: on arrays this small a second thread only spins
    "PYDANTIC_DISABLE_PLUGINS": "__all__",  # to look for plugins of others took a tenth of a short command
}
INTERRUPTED = 130
READER_GONE = 141
"""What a shell says of a program that SIGPIPE ended."""


def main() -> None:
    """Entry point of `jpo` and `python -m jpo`."""
    gc.set_threshold(500_000, 20, 50)  # records of thousands of runs and few cycles: to look for these took a tenth of the time
    own = {name: text for name, text in FOR_ITSELF.items() if name not in os.environ}
    os.environ.update({**own, "JPO_SET_FOR_ITSELF": " ".join(own)})  # what JPO launches does not get them
    for name in ("COLUMNS", "LINES"):
        if not re.fullmatch("[0-9]{0,4}", os.environ.get(name, "")):
            del os.environ[name]  # of a size of thousands of digits rich makes an error, of millions a line that fills memory
    signal.signal(signal.SIGTERM, interrupt)  # CI cancels with it; what was begun is cleaned up as after Ctrl-C
    try:
        code = run(sys.argv[1:])
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, leave)
    except KeyboardInterrupt:  # another one, while the first was being told
        code = INTERRUPTED
    gc.freeze()  # what is left ends with the process: Python would look for cycles once more, a twentieth of a suggestion
    sys.exit(code)


def interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def leave(_number: int, _frame: object) -> None:
    """While Python shuts down there is nothing left to clean up, and a traceback would say nothing."""
    os._exit(INTERRUPTED)


def run(arguments: list[str]) -> int:
    """Run one command; its exit code (docs/codes.md)."""
    with gate.at_the_gate():
        try:
            from jpo.cli.main import cli  # here: half of the start, and whoever interrupts it shall read no traceback

            own_guard()
            if gate.COMPLETING in os.environ:  # by hand, without what a shell says of the line: all commands
                os.environ.update({"COMP_WORDS": "jpo", "COMP_CWORD": "1"} | os.environ)
            return int(cli.main(arguments, prog_name="jpo", standalone_mode=False) or 0)
        except JpoError as error:
            return complain(f"{error} [{error.code}]", error.exit_code)
        except click.ClickException as error:
            return misused(error)
        except (KeyboardInterrupt, click.Abort):
            return complain("interrupted; every file is the old one or the new one, whole", INTERRUPTED)
        except gate.ReaderGone:
            return READER_GONE
        except Exception as error:  # noqa: BLE001 - the one place that answers for bugs
            if isinstance(error, OSError) and not has_folder():
                return complain(
                    "the working directory: was removed; change to a folder that is there [JPO-E310]", UsageError.exit_code
                )
            return bug(error, verbose=any(re.fullmatch("--verbose|-[a-z]*v[a-z]*", word) for word in arguments))


def misused(error: click.ClickException) -> int:
    """How the command is used, and what was wrong in one line: click quotes what was typed, and a script may have typed it."""
    words = error.format_message()
    told = StringIO()
    error.show(told)
    gate.explain_at_length(told.getvalue().replace(f"Error: {words}", f"Error: {printable(words)}"))
    return error.exit_code


def own_guard() -> None:
    """Another project is also imported as `constraints`; a guard that is not ours is no guard."""
    import constraints

    if getattr(constraints, "JPO_GUARD", None) != "jpo":
        place = f"import constraints: {constraints.__file__}"
        raise UsageError(place, "is another project, not JPO's guard", "uninstall it, then reinstall jpo", code="JPO-E304")


def has_folder() -> bool:
    """Whether the working directory is still there: a job's may be cleaned up beneath it."""
    try:
        Path.cwd()
    except OSError:
        return False
    return True


def bug(error: Exception, *, verbose: bool) -> int:
    """An internal error: the traceback goes to a log file, and to stderr only with -v."""
    trace = "".join(traceback.format_exception(error))
    if verbose:
        gate.explain_at_length(trace)
    place = "-v"
    with suppress(OSError), tempfile.NamedTemporaryFile("w", prefix="jpo-", suffix=".log", delete=False) as log:
        log.write(released(trace))
        place = log.name
    return complain(f"internal error ({type(error).__name__}); please report it with {place} [JPO-E001]", 1)


def complain(message: str, exit_code: int) -> int:
    """One line on stderr."""
    gate.complain(message)
    return exit_code


if __name__ == "__main__":
    main()
