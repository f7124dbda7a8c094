"""The workload of config.ini and the limits of its guard, both as jpo.toml names them."""

import difflib
import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import constraints
from constraints import Counting, Facts, Limits, names
from constraints.own import own_limit, read_value
from jpo import config
from jpo.cost import Prices, usd_per_hour
from jpo.errors import UsageError
from jpo.project.load import LoadedSettings
from jpo.project.tables.parameters import is_own
from jpo.records import TOTAL_OF, WHOLE, Identity, Note, Parameters, Word, Workload

MODEL = ("num_layers", "epochs")
NOT_FREED = Note("not freed", "not freed in jpo.toml")
"""What the model is, and how long it trains, is the team's to say: these change only if [parameters] names them (or by --set)."""


def content_now(path: Path | str) -> bytes | None:
    """The bytes of a config.ini as they are now, None if it cannot be read."""
    try:
        return config.contents(Path(path))
    except UsageError:
        return None


def read_workload(path: Path, settings: LoadedSettings, *, now: float, content: bytes | None = None) -> Workload:
    """The workload of a config.ini, or of `content` in its place, read with the names that guard and jpo.toml know."""
    tables = settings.values.parameters
    own = {name: own_limit(name, settings.tables["parameters"]) for name in tables if is_own(name)}

    def parse_value(name: str, option: str, text: str) -> float | None:
        if name not in own:
            return names.parse_value(name, option, text)
        value = read_value(option, text, own[name])
        return Word(value) if isinstance(value, str) else value

    workload = config.read(
        path,
        names=config.OptionNames(
            known={**names.WELL_KNOWN, **{name: (name,) for name in own}},
            known_identity=names.IDENTITY,
            keys={name: table.key for name, table in tables.items() if table.key},
            identity_keys={str(part): key for part, key in settings.values.workload.identity.items()},
            **said_of(path, settings),
        ),
        parse_value=parse_value,
        frozen={name: Note("", "frozen in jpo.toml") for name, table in tables.items() if table.freeze}
        | {name: NOT_FREED for name in MODEL if name not in tables},
        today=datetime.fromtimestamp(now, UTC).date(),
        content=content,
    )
    whole = (replace(p, whole=p.name in own and tables[p.name].is_whole(p.text)) for p in workload.parameters)
    workload = replace(workload, parameters=tuple(whole)) if own else workload
    aliases = {str(part): names for part, names in settings.values.workload.aliases.items()}
    return replace(workload, aliases=workload.identity.also_called(aliases)) if aliases else workload


def said_of(path: Path, settings: LoadedSettings) -> dict[str, dict[str, str]]:
    """What [workload] says of the identity of a config.ini: of the one that it names all; of another one below the same jpo.toml
    only what that does not say itself, and never so that two files are one job: a name gets the folder behind it."""
    table = settings.values.workload
    place = Path(os.path.relpath(os.path.realpath(path), os.path.realpath(settings.root)))
    if place in (Path(os.path.normpath(table.config)), Path()) or ".." in place.parts:
        return {"said": table.said}
    whose = place.parent if place.name == "config.ini" else place.with_suffix("")
    if table.name:
        return {"unsaid": dict.fromkeys(table.said, "-".join((table.name, *whose.parts)))}
    return {"unsaid": table.said if len(table.said) < len(config.PARTS) else {}}


def refuse_unknown(by_hand: Parameters, workload: Workload, *, option: str = "--set") -> None:
    """Refuse (JPO-E305) values of --set, or of another option, that config.ini lacks, of another kind, or not whole."""
    for name, value in by_hand.items():
        total = TOTAL_OF.get(name, name)
        if total not in workload.current:
            keys = {p.key.rpartition(".")[2]: p.name for p in workload.parameters}
            near = difflib.get_close_matches(name.lower(), [*workload.current, *keys], n=1)
            remedy = f"did you mean {near[0]}?" if near else f"it has {', '.join(workload.current)}"
            raise UsageError(option, f"{workload.path} has no parameter {name}", remedy, code="JPO-E305")
        if name != total and total in by_hand:
            raise UsageError(option, f"{name} and {total} are one quantity", "set one of them", code="JPO-E305")
        parameter = workload.parameter(total)
        if isinstance(value, Word) != isinstance(parameter.value, Word):
            kind = "word" if isinstance(parameter.value, Word) else "number"
            remedy = f"write e.g. {name}={parameter.value:g}"
            raise UsageError(option, f"{name} = {value:g} is not a {kind}", remedy, code="JPO-E305")
        if (total in WHOLE or parameter.whole) and not value.is_integer():
            raise UsageError(option, f"{name} = {value:g} is not a whole number", f"write e.g. {name}=32", code="JPO-E305")


def only_of(config: Path | None, settings: LoadedSettings) -> Identity | None:
    """The workload of a config.ini that a command names, UsageError where that is not there or invalid; None, all, where none."""
    return None if config is None else read_workload(config, settings, now=0.0).identity  # no moment changes whose file it is


def limits_of(settings: LoadedSettings) -> Limits:
    """The guard's limits, which it reads from the same tables by rules of its own.

    With [quota] this_machine they include what this machine has; of `jpo optimize` what its engine has for one run, and where it
    goes back to what was measured, however far that is, no largest step. Raises UsageError: JPO-E302, a limit that cannot be.
    """
    try:
        limits = constraints.limits_from(settings.tables)
    except ValueError as error:
        raise UsageError(settings.place, str(error), code="JPO-E302") from error
    quota = limits.quota.within(settings.room, "its engine")
    if keeps_to_this_machine(settings):
        from jpo.inventory.machine import machine_here  # with what starts programs; few jobs train where JPO runs

        quota = quota.within(machine_here(os.environ).most)
    limits = replace(limits, quota=quota)
    return in_one_step(limits) if settings.fallback is not None else limits


def keeps_to_this_machine(settings: LoadedSettings) -> bool:
    """Whether jobs train here, so that what this machine has limits them: [quota] this_machine."""
    return settings.values.quota.this_machine


def with_pins(limits: Limits, workload: Workload) -> Limits:
    """The limits with the workload's pinned values held, in its terms; what is only not freed may be set by hand."""
    terms = workload.terms
    counting = Counting(terms.batch_per_device, terms.gpus_per_node, terms.accumulation_steps, terms.nodes)
    limits = replace(limits, counting=counting)
    for p in workload.parameters:
        if p.held and p.held.code != NOT_FREED.code:
            limits = limits.holding([p.term], p.held.text)
    return limits


def in_one_step(limits: Limits) -> Limits:
    """The same limits for values that config.ini had before: how far one step may lead is not asked of them."""
    return replace(limits, parameters={name: replace(limit, max_change=None) for name, limit in limits.parameters.items()})


@dataclass(frozen=True, slots=True)
class TodayJudged:
    """Today's values as the guard sees them.

    Attributes:
        kept: how many rules they keep.
        rules: how many there are.
        broken: what they break, a sentence for each; they may stay as they are, and that is what `jpo suggest` says, too.
    """

    kept: int
    rules: int
    broken: tuple[str, ...]


def judged_today(workload: Workload, limits: Limits, prices: Prices) -> TodayJudged:
    """The guard's word on today's values: the same as on a suggestion that leaves all of them."""
    today = workload.current
    rate = usd_per_hour(today, prices) if limits.prices.catalogue else None
    verdict = constraints.check(today, today, with_pins(limits, workload), Facts(usd_per_hour_next=rate))
    found = (*verdict.violations, *verdict.notices)
    return TodayJudged(verdict.rules - len({v.rule for v in found}), verdict.rules, tuple(v.message for v in found))
