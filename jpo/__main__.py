"""The program: runs the command line and turns every outcome into an exit code and one line on stderr."""

from __future__ import annotations

import gc
import io
import os
import re
import signal
import sys
import tempfile
import traceback
from contextlib import suppress

import click

from jpo.cli.main import cli
from jpo.errors import JpoError, UsageError

INTERRUPTED = 130


def main() -> None:
    """Entry point of `jpo` and `python -m jpo`."""
    gc.set_threshold(50_000, 20, 50)  # records of thousands of runs and few cycles: to look for these took a tenth of the time
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy loads: on arrays this small a second thread only spins
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # to look for plugins of others took a tenth of a short command
    signal.signal(signal.SIGTERM, interrupt)  # CI cancels with it; what was begun is cleaned up as after Ctrl-C
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an arrow on a terminal without arrows is no reason to fail
    sys.exit(run(sys.argv[1:]))


def interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def run(arguments: list[str]) -> int:
    """Run one command; its exit code (docs/exit-codes.md)."""
    try:
        own_guard()
        return int(cli.main(arguments, prog_name="jpo", standalone_mode=False) or 0)
    except JpoError as error:
        return complain(f"{error} [{error.code}]", error.exit_code)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return complain("interrupted; every file is the old one or the new one, whole", INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains again while it shuts down
        return 0
    except Exception as error:  # noqa: BLE001 - the one place that answers for bugs
        return bug(error, verbose=any(re.fullmatch("--verbose|-[a-z]*v[a-z]*", word) for word in arguments))


def own_guard() -> None:
    """Another project is also imported as `constraints`; a guard that is not ours is no guard."""
    import constraints

    if getattr(constraints, "JPO_GUARD", None) != "jpo":
        place = f"import constraints: {constraints.__file__}"
        raise UsageError(place, "is another project, not JPO's guard", "uninstall it, then reinstall jpo", code="JPO-E304")


def bug(error: Exception, *, verbose: bool) -> int:
    """An internal error: the traceback goes to a log file, and to stderr only with -v."""
    trace = "".join(traceback.format_exception(error))
    if verbose:
        sys.stderr.write(trace)
    place = "-v"
    with suppress(OSError), tempfile.NamedTemporaryFile("w", prefix="jpo-", suffix=".log", delete=False) as log:
        log.write(trace)
        place = log.name
    return complain(f"internal error ({type(error).__name__}); please report it with {place} [JPO-E001]", 1)


def complain(message: str, exit_code: int) -> int:
    """One line on stderr: control characters in names from files must not reach the terminal."""
    line = "".join(c if c.isprintable() else " " for c in message)
    sys.stderr.write(f"jpo: {line}\n")
    return exit_code


if __name__ == "__main__":
    main()
