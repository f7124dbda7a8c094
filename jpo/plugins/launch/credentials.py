"""Credentials in what an engine would show to others: a config.ini in a ConfigMap or user data, the arguments of a command.

What looks like one is refused before a start. A reference to one is none: "${TOKEN}", "%(token)s", "/run/secrets/token".
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from jpo.errors import LaunchError
from jpo.files.reading import beginning
from jpo.plugins.launch.job import LaunchJob
from jpo.wording.hidden import is_secret

MOST_BYTES = 2**21
"""Of a config.ini that are looked at: more than any engine takes."""


def refuse_credentials(job: LaunchJob, config: bytes, where: str, remedy: str) -> None:
    """LaunchError JPO-E770 for a job that would show a credential in e.g. "a ConfigMap"; its value is in no message."""
    for place, name, value in (*_settings(config), *_arguments(job)):
        if is_secret(name, value):
            finding = f"{name:.80} looks like a credential, which would be written to {where}"
            raise LaunchError(place, finding, remedy, code="JPO-E770")


def config_of(job: LaunchJob) -> bytes:
    """The config.ini that a job is to run with, as it is here before the start; empty where there is none."""
    file = Path(job.config_ini)
    if not file.is_file():
        return b""
    return beginning(file, MOST_BYTES, lambda finding: LaunchError(str(file), finding, code="JPO-E770"))


def _settings(config: bytes) -> Iterator[tuple[str, str, str]]:
    """Place, name and value of each line; comments travel, too."""
    for number, line in enumerate(config.decode("utf-8", "replace").splitlines(), start=1):
        name, sign, value = re.match(r"[\s#;]*([^=:]*)([=:]?)(.*)", line).groups()  # type: ignore[union-attr] # matches anything
        yield f"config.ini:{number}", name.strip() if sign else "a line", re.split(r"\s[#;]", value)[0] if sign else name
        yield f"config.ini:{number}", "a line", line.strip()  # "postgresql://me:..." has a sign, too


def _arguments(job: LaunchJob) -> Iterator[tuple[str, str, str]]:
    """The same of "--name=value", "--name value" and "NAME=value"."""
    place = f"command of run {job.run_id}"
    for word, following in pairwise((*job.command, "")):
        name, sign, value = word.partition("=")
        if sign or word.startswith("-"):
            yield place, name.lstrip("-"), value if sign else following
        else:
            yield place, "an argument", word
