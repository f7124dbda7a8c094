"""A fresh process for a file that does nothing by itself: one of its functions is called, with keyword arguments.

    python call.py SCRIPT FUNCTION '{"batch_size": 64}'

It runs in the environment of the training job, which may have no JPO: standard library only, Python 3.9 or newer.
"""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path


def main(script: str, function: str, arguments: str) -> None:
    """Call it; what it returns is the exit code where that is a whole number or a text, as of a script's main()."""
    sys.path[0] = str(Path(script).absolute().parent)
    sys.argv = [script]
    returned = runpy.run_path(script, run_name=Path(script).stem)[function](**json.loads(arguments))
    sys.exit(returned if isinstance(returned, (int, str)) and not isinstance(returned, bool) else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
