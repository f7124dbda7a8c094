"""Credentials in what an engine would show to others: a config.ini in a ConfigMap or user data, the arguments of a command.

What looks like one is refused before a start. A reference to one is none: "${TOKEN}", "%(token)s", "/run/secrets/token".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from jpo.errors import LaunchError
from jpo.files.reading import beginning
from jpo.plugins.launch.job import LaunchJob

MOST_BYTES = 2**21
"""Of a config.ini that are looked at: more than any engine takes."""
ALWAYS = {"password", "passwd", "passphrase", "secret", "credential", "credentials"}
"""Words of a name whose value is a credential whatever it looks like."""
PERHAPS = {"token", "apikey", "dsn"}
KINDS_OF_KEY = {"api", "access", "secret", "private", "account", "auth", "license", "ssh"}
"""Words that make a key a credential: "key = val_loss" is none."""
SHORTEST_CREDENTIAL = 6
RANDOM = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w.~+/=:-]{12,}")
"""A value as machines make them; "[PAD]" and "</s>" are tokens of another kind."""
IN_ADDRESS = re.compile(r"://[^/\s:@]*:[^@\s/$%<{]+@")
REFERENCES = ("$", "%(", "/", "~", "<", "{", "[", "*")


def refuse_credentials(job: LaunchJob, config: bytes, where: str, remedy: str) -> None:
    """LaunchError JPO-E770 for a job that would show a credential in e.g. "a ConfigMap"; its value is in no message."""
    for place, name, value in (*_settings(config), *_arguments(job)):
        if _is_credential(name, value):
            finding = f"{name:.80} looks like a credential, which would be written to {where}"
            raise LaunchError(place, finding, remedy, code="JPO-E770")


def config_of(job: LaunchJob) -> bytes:
    """The config.ini that a job is to run with, as it is here before the start; empty where there is none."""
    file = Path(job.config_ini)
    if not file.is_file():
        return b""
    return beginning(file, MOST_BYTES, lambda finding: LaunchError(str(file), finding, code="JPO-E770"))


def _settings(config: bytes) -> Iterator[tuple[str, str, str]]:
    """Place, name and value of each line that has them; comments travel, too."""
    for number, line in enumerate(config.decode("utf-8", "replace").splitlines(), start=1):
        name, sign, value = re.match(r"[\s#;]*([^=:]*)([=:]?)(.*)", line).groups()  # type: ignore[union-attr] # matches anything
        if sign:
            yield f"config.ini:{number}", name.strip(), re.split(r"\s[#;]", value)[0]


def _arguments(job: LaunchJob) -> Iterator[tuple[str, str, str]]:
    """The same of "--name=value", "--name value" and "NAME=value"."""
    place = f"command of run {job.run_id}"
    for word, following in pairwise((*job.command, "")):
        name, sign, value = word.partition("=")
        if sign or word.startswith("-"):
            yield place, name.lstrip("-"), value if sign else following
        else:
            yield place, "an argument", word


def _is_credential(name: str, value: str) -> bool:
    value = value.strip().strip("\"'")
    if IN_ADDRESS.search(value):
        return True
    if len(value) < SHORTEST_CREDENTIAL or value.startswith(REFERENCES):
        return False
    words = {*re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower())}
    perhaps = words & PERHAPS or ("key" in words and words & KINDS_OF_KEY)
    return bool(words & ALWAYS or (perhaps and RANDOM.fullmatch(value)))
