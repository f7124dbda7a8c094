"""Runs that were to follow a suggestion and report other values: they count where they really were, and judge no suggestion."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from jpo.history.runs import RecordedRun, follows, latest_start
from jpo.history.store import Store
from jpo.records import Contradictions, Identity, Parameters, Reach, Run, Stray, Suggestion, as_given

LOOKED_BACK = 100
"""Newest suggestions, and runs, in which contradictions are looked for."""
REPEATED, UNRELATED = 2, 3
"""Contradictions in one parameter after which JPO acts on them: alike ones, and such as have nothing in common."""
CLOCKS_DIFFER_SECONDS = 300.0
"""By which a run may seem to begin before the suggestion whose values it has."""
LIMITED = frozenset({"batch_size", "gpus", "cpus", "memory_gib"})
"""Parameters to which quotas, nodes and scripts set limits; what else comes out different is scaled, or not understood."""


def behind(run: Run, suggestions: Sequence[Suggestion]) -> str | None:
    """Id of the newest of these suggestions that was made before a run started and with whose values it ran."""
    before = (made for made in reversed(suggestions) if made.created_at <= latest_start(run))
    return next((made.suggestion_id for made in before if follows(run, made)), None)


def contradictions(
    store: Store, identity: Identity, now: Parameters | None, recorded: Sequence[RecordedRun] | None = None
) -> Contradictions:
    """As `contradicted`, of the newest of a workload; `recorded`: its runs, where they are on record under several names."""
    suggestions = store.suggestions_of(identity, limit=LOOKED_BACK)
    if not suggestions:
        return Contradictions()
    newest = store.recorded_runs(identity, limit=LOOKED_BACK) if recorded is None else recorded[-LOOKED_BACK:]
    return contradicted(suggestions, [entry.run for entry in newest], now)


@dataclass(slots=True)
class _Answers:
    """What runs did with one parameter: the values that they took as given, and strays which no later run disproved."""

    taken: list[float] = field(default_factory=list)
    strays: list[Stray] = field(default_factory=list)
    newest: Stray | None = None

    def took(self, given: float) -> None:
        self.taken.append(given)
        self.strays = [stray for stray in self.strays if not _beyond(given, stray)]
        self.newest = None


def contradicted(suggestions: Sequence[Suggestion], runs: Sequence[Run], now: Parameters | None) -> Contradictions:
    """What runs say against the values that they were given.

    A run is held against the suggestion before it only where it is certain that it was given its values: no other run before the
    next suggestion ran with them, nobody has committed another value meanwhile, and it did not simply run with the values from
    before, as while a change waits to be merged.

    Both are of one workload, oldest first, without withdrawn suggestions; `now`: the values in config.ini, None: not known.
    """
    answers: dict[str, _Answers] = defaultdict(_Answers)
    every: list[Stray] = []
    for made, after, its_runs in _each_with_runs(suggestions, runs, now):
        for name, suggested in made.values.suggested.items():
            answer, as_run = answers[name], name in made.kept_as_run
            said = [run for run in its_runs if name in run.parameters and name not in run.assumed]
            if not said or (as_run and not answer.strays):
                continue
            given, last = answer.strays[-1].given if as_run else suggested, said[-1]
            if any(as_given(name, given, run.parameters[name]) for run in said):
                answer.took(given)
            elif not as_given(name, suggested, last.parameters[name]) and (as_run or _was_given(made, name, after, last)):
                answer.newest = _stray(made, name, given, last)
                answer.strays.append(answer.newest)
                every.append(answer.newest)
    reaches = tuple(reach for name, answer in answers.items() if (reach := _reach(name, answer)))
    newest = {answer.newest for answer in answers.values()} | {stray for reach in reaches for stray in reach.strays}
    return Contradictions(tuple(every), tuple(stray for stray in every if stray in newest), reaches)


def _each_with_runs(
    suggestions: Sequence[Suggestion], runs: Sequence[Run], now: Parameters | None
) -> Iterator[tuple[Suggestion, Parameters | None, list[Run]]]:
    """Each suggestion, the values of config.ini when it was read next, and the runs that began in between."""
    its_runs = defaultdict[int, list[Run]](list)
    for run in sorted(runs, key=lambda run: (latest_start(run), run.ended_at, run.run_id)):
        its_runs[_last_before(run, suggestions)].append(run)
    for at, (made, later) in enumerate(zip_longest(suggestions, suggestions[1:])):
        yield made, file_after(made, later) if later else now, its_runs[at]


def _last_before(run: Run, suggestions: Sequence[Suggestion]) -> int:
    """Index of the last suggestion made before a run began, -1 for none. A run with all that the next one changed, and changed
    just then, was given that: its clock is behind ours."""
    start = latest_start(run)
    at = bisect_right(suggestions, start, key=lambda made: made.created_at) - 1
    later = suggestions[at + 1] if at + 1 < len(suggestions) else None
    if not later or not later.changes or later.created_at - start > CLOCKS_DIFFER_SECONDS:
        return at
    return at + 1 if run.ended_at > later.created_at and follows(run, later) else at


def file_after(made: Suggestion, later: Suggestion) -> Parameters:
    """The values of config.ini when the later suggestion was made. Of what it names as run the file had kept its own."""
    return {
        **later.values.current,
        **{name: made.values.suggested[name] for name in later.kept_as_run if name in made.values.suggested},
    }


def _was_given(made: Suggestion, name: str, after: Parameters | None, run: Run) -> bool:
    """Whether a run with another value was certainly given this suggestion's."""
    given, before, reported = made.values.suggested[name], made.values.current.get(name), run.parameters[name]
    if after is not None and name in after:
        if as_given(name, after[name], given):
            return True
        if before is None or not as_given(name, after[name], before):
            return False  # somebody has committed a third value
    # From here on config.ini has the old value again, or is not known: a checkout of each run's own, or a change never merged.
    return before is None or not as_given(name, reported, before) or _partly(made, name, run)


def _stray(made: Suggestion, name: str, given: float, run: Run) -> Stray:
    reported = run.parameters[name]
    before = name in made.values.current and as_given(name, made.values.current[name], reported) and not _partly(made, name, run)
    return Stray(run.run_id, made.suggestion_id, name, given, reported, as_before=before)


def _partly(made: Suggestion, but: str, run: Run) -> bool:
    return any(
        change.parameter != but
        and change.parameter in run.parameters
        and as_given(change.parameter, change.new, run.parameters[change.parameter])
        for change in made.changes
    )


def _beyond(taken: float, stray: Stray) -> bool:
    """Whether a value that a run took as given lies beyond what the stray's run had instead: the limit is gone."""
    name, reported = stray.parameter, stray.reported
    if as_given(name, taken, reported):
        return False
    return taken > reported if stray.given > reported else taken < reported


def _reach(name: str, answer: _Answers) -> Reach | None:
    """How far a parameter can be set; None while too little speaks against the values given.

    A limit it is where the same came of different values, or what lies within was taken as given: a script that multiplies or
    divides what it is given never does that. What came of one value alone may be either.
    """
    strays = tuple(stray for stray in answer.strays if not stray.in_gb)
    if len(strays) < REPEATED:
        return None
    before, last = strays[-2:]
    if before.as_before and last.as_before and not as_given(name, before.reported, last.reported):
        return None  # the job follows, one suggestion late: a queue, or an image with config.ini in it
    down = last.given > last.reported
    if name in LIMITED and down == (before.given > before.reported) and as_given(name, before.reported, last.reported):
        within = [taken for taken in answer.taken if (taken < last.reported if down else taken > last.reported)]
        exact = [taken for taken in answer.taken if as_given(name, taken, last.reported)]
        if within or exact or not as_given(name, before.given, last.given):
            alike = tuple(stray for stray in strays if as_given(name, stray.reported, last.reported))
            return Reach(name, alike, most=last.reported) if down else Reach(name, alike, least=last.reported)
    if as_given(name, before.reported, last.reported):
        return Reach(name, strays)
    scaled = as_given(name, last.reported * before.given, before.reported * last.given)
    return Reach(name, strays) if scaled or len(strays) >= UNRELATED else None
