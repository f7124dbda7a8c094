"""Run the second look: `python -m constraints ...`, or `python -I -S path/to/constraints ...` with nothing else within reach."""

import datetime
import io
import sys
from pathlib import Path

if not __package__:  # started as a folder: `constraints` is then this folder, not another package of that name
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from constraints.second_look import main

if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show must not end the check
    raise SystemExit(main(sys.argv[1:], datetime.date.today()))  # noqa: DTZ011 - the day where the pipeline runs
