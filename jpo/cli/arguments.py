"""From words on the command line to values: settings, the config.ini that is meant, NAME=VALUE pairs, numbers, deadlines."""

import math
import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jpo.cli.output import track
from jpo.errors import UsageError
from jpo.files.reading import number_or_nan
from jpo.inventory.caller import author_of
from jpo.project.checkout.branch import side_branch_of

if TYPE_CHECKING:
    from jpo.project.load import LoadedSettings

SET_BY_JPO = "JPO_SET_FOR_ITSELF"
"""Variable that names those which jpo/__main__.py has set."""


def load_settings(
    config: Path | None, toml: Path | None, flags: Mapping[str, Any], *, of_its_own: bool = False
) -> "LoadedSettings":
    """Effective settings, and who asks; flags that were not given do not count. `of_its_own`: as for `load`."""
    from jpo.project.load import load

    given = {
        section: {k: v for k, v in table.items() if v is not None} if isinstance(table, Mapping) else table
        for section, table in flags.items()
        if table is not None
    }
    settings = load(config, toml, os.environ, given, of_its_own=of_its_own)
    return replace(settings, author=author_of(os.environ), side_branch=side_branch_of(os.environ), track=track)


def settings_beside(given: Path | None, toml: Path | None) -> "LoadedSettings":
    """Settings of a command that needs no more of config.ini; UsageError JPO-E201: the one that was named cannot be read."""
    from jpo.config.source import contents

    if given:
        contents(given)
    return load_settings(given, toml, {})


def config_of(given: Path | None, settings: "LoadedSettings") -> Path:
    """The config.ini that was named, else the one that jpo.toml names; UsageError JPO-E322 if that is outside of the project."""
    from jpo.project.secrets import check_config

    if not given:
        check_config(settings)
    return given or settings.config_ini


def new_id(now: float) -> str:
    """The id of a suggestion that is made now."""
    return f"{datetime.fromtimestamp(now, UTC).strftime('%Y%m%d-%H%M%S')}-{uuid.uuid4().hex[:6]}"


def pairs(option: str, given: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE texts as a mapping."""
    values = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (equals and name.strip()):
            raise UsageError(option, f"{text!r} is not NAME=VALUE", f"write e.g. {option} batch_size=128", code="JPO-E305")
        if name.strip() in values:
            raise UsageError(option, f"{name.strip()} is given twice", "name it once", code="JPO-E305")
        values[name.strip()] = value.strip()
    return values


def as_number(name: str, text: str, option: str = "--set") -> float:
    value = number_or_nan(text)
    if not math.isfinite(value):
        raise UsageError(option, f"{name} = {text!r} is not a finite number", f"write e.g. {option} {name}=32", code="JPO-E305")
    return value


def seconds_until(option: str, text: str, now: float) -> float:
    """How long there is left: '6h' is a duration, '2026-11-22T06:00Z' a moment.

    Raises UsageError: JPO-E305, it is neither, has no time zone, or is past.
    """
    from jpo.project.durations import seconds_or_nan

    if math.isnan(left := seconds_or_nan(text)):
        left = _moment(option, text) - now
    if not (math.isfinite(left) and left > 0):
        raise UsageError(option, f"{text!r:.80} leaves no time", "write e.g. 6h, or a moment to come", code="JPO-E305")
    return left


def duration(option: str, text: str) -> float:
    """The seconds of '6h' or '90 min'; UsageError JPO-E305 for what is none, or not above 0."""
    from jpo.project.durations import seconds_or_nan

    found = seconds_or_nan(text)
    if not 0 < found < math.inf:
        raise UsageError(option, f"{text!r:.80} is not a duration", f"write e.g. {option} 6h", code="JPO-E305")
    return found


def as_started(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment with which JPO was started, for processes that are not JPO's: without what it sets for itself."""
    own = environ.get(SET_BY_JPO, "").split()
    return {name: text for name, text in environ.items() if name not in (*own, SET_BY_JPO)}


def settings_for_once(
    config: Path | None, toml: Path | None, flags: Mapping[str, Any], deadline: str | None, max_cost: str | None, *, now: float
) -> "tuple[LoadedSettings, LoadedSettings]":
    """The settings with [sla] as --deadline and --max-cost say, and those that last, without these and without --prefer.

    Raises UsageError: JPO-E305, no deadline; JPO-E803, no amount in a currency that [prices] knows.
    """
    from jpo.project.prices import currency_of, usd_of_text

    settings = load_settings(config, toml, flags)
    lasting = settings if flags["preference"] is None else load_settings(config, toml, {**flags, "preference": None})
    if deadline is None and max_cost is None:
        return settings, lasting
    targets = {
        "time_max": None if deadline is None else f"{seconds_until('--deadline', deadline, now):f}",  # 1e+17 is not a duration
        "cost_max": None if max_cost is None else usd_of_text(max_cost, currency_of(settings), option="--max-cost"),
    }
    return load_settings(config, toml, {**flags, "sla": targets}), lasting  # guard and agent alike go by them


def _moment(option: str, text: str) -> float:
    """An ISO 8601 moment in unix seconds."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        finding = f"{text!r:.80} is neither a duration nor a moment"
        raise UsageError(option, finding, "write e.g. 6h, 45m or 2026-11-22T06:00Z", code="JPO-E305") from error
    if moment.tzinfo is None:
        raise UsageError(option, f"{text!r} has no time zone", "write e.g. 2026-11-22T06:00Z or +01:00", code="JPO-E305")
    return moment.timestamp()
