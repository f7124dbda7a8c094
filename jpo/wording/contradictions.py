"""Contradictions in sentences: a run that reports other values than it was given, and what JPO does about it."""

from collections.abc import Sequence

from jpo.records import Contradictions, Note, Parameters, Reach, Stray, advice
from jpo.wording.numbers import counted, plain, written

STRAYED, LIMITED, WITHIN = "JPO-W160", "JPO-W161", "JPO-I162"
"""Codes: a run was given other values than it reports; it happened again, and JPO acts on it; config.ini keeps to it already."""
MOST_NAMED = 3
"""Runs that a sentence names, the newest."""


def in_words(stray: Stray) -> str:
    """What a run reports, and what it was given."""
    name = stray.parameter
    reported, given = written(name, stray.reported), written(name, stray.given)
    found = f"run {stray.run_id} reports {name} {reported}, and suggestion {stray.suggestion_id} gave it {given}"
    return f"{found}; {given.split()[0]} GB are {reported}: let the job ask for Gi, not G" if stray.in_gb else found


def sentences(found: Contradictions, now: Parameters | None) -> tuple[Note, ...]:
    """What reports must say. `now`: the values in config.ini, None where it is not known."""
    limited = {reach.parameter for reach in found.reaches}
    values = now or {}
    kept = [reach for reach in found.reaches if reach.value is not None and reach.parameter in values]
    within = [reach for reach in kept if reach.allows(values[reach.parameter])]
    of_reaches = (advice(WITHIN if reach in within else LIMITED, *_in_words(reach), reach.parameter) for reach in found.reaches)
    alone = (advice(STRAYED, *_alone(stray), stray.parameter) for stray in found.open if stray.parameter not in limited)
    return (*of_reaches, *alone)


def _alone(stray: Stray) -> tuple[str, str]:
    counts = f"the run counts at {written(stray.parameter, stray.reported)}, and the suggestion as not carried out"
    if stray.in_gb:
        return in_words(stray), counts
    otherwise = "it began with config.ini as it was before" if stray.as_before else "somebody ran it by hand"
    why = f"does a quota, the pod or the training script change it? If {otherwise}, nothing is amiss"
    return f"{in_words(stray)}; {counts}", why


def _in_words(reach: Reach) -> tuple[str, str]:
    name, last = reach.parameter, reach.strays[-1]
    runs = _named(reach.strays)
    if reach.value is None:
        made = f"{written(name, last.reported)} of {written(name, last.given)}"
        what = f"{runs} did not take {name} as it was given, the last one made {made}"
        remedy = f"correct what the job does with it or reports, or write {name} as it means it"
        return f"{what}: JPO leaves it as it is", remedy
    value, bound = written(name, reach.value), "no more" if reach.least is None else "no less"
    what = f"{runs} had {name} {value} where {written(name, last.given)} was given: the job takes {bound} than {value}"
    remedy = f"once that limit is lifted, try it with `jpo suggest --set {name}={plain(last.given)}`"
    return f"{what}, and JPO suggests {bound}", remedy


def _named(strays: Sequence[Stray]) -> str:
    ids = [stray.run_id for stray in strays[-MOST_NAMED:]]
    which = ", ".join(ids) if len(ids) == len(strays) else f"the last: {', '.join(ids)}"
    return f"{counted(len(strays), 'run')} ({which})"
