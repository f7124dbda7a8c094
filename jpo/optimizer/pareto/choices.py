"""Choices of the agent from what is on record: what it would suggest now, and where it would go under other preferences."""

from collections.abc import Mapping
from dataclasses import dataclass

from jpo.agent.policy import Policy
from jpo.errors import NothingAdmissible
from jpo.optimizer.advise import advise, choose, problem_within_sla
from jpo.optimizer.request import Request
from jpo.optimizer.surrogate import Surrogate, surrogate_of
from jpo.records import Known, Note, Parameters, Preference


@dataclass(frozen=True, eq=False, slots=True)
class AgentChoices:
    """Choices that the agent would make from what is on record, as rows of the surrogate's candidates.

    Attributes:
        suggested: None where nothing is admissible.
        because: the first reason of the decision, or why nothing is admissible.
        preferred: by the name of each preference; without those of which nothing can be said.
    """

    surrogate: Surrogate
    suggested: int | None
    because: Note
    preferred: Mapping[str, int]

    @property
    def suggested_parameters(self) -> Parameters | None:
        """The values that would be suggested now; None where nothing is admissible."""
        return None if self.suggested is None else self.surrogate.candidates.parameters(self.suggested)

    @property
    def preferred_parameters(self) -> dict[str, Parameters]:
        """The values to which each preference leads."""
        return {name: self.surrogate.candidates.parameters(row) for name, row in self.preferred.items()}

    @property
    def marks(self) -> dict[int, list[str]]:
        """Row -> what is to be found there, but for `preferred`: "today", "suggested"."""
        marks = {self.surrogate.candidates.current: ["today"]}
        if self.suggested is not None:
            marks.setdefault(self.suggested, []).append("suggested")
        return marks


def choices_of(
    request: Request, known: Known, policy: Policy | None, preferences: Mapping[str, Preference], *, seed: int
) -> AgentChoices:
    """What would be suggested now, and where one and the same agent would go under other preferences."""
    try:
        advice = advise(request, known, policy, seed=seed)
    except NothingAdmissible as error:
        return AgentChoices(surrogate_of(request, known, seed=seed), None, Note(error.code, str(error)), {})
    surrogate, decision = advice.surrogate, advice.decision
    assert surrogate is not None
    rows = {name: _preferred(surrogate, known, request.preferring(p), policy) for name, p in preferences.items()}
    preferred = {name: row for name, row in rows.items() if row is not None}
    return AgentChoices(surrogate, decision.choice, decision.reasons[0], preferred)


def _preferred(surrogate: Surrogate, known: Known, request: Request, policy: Policy | None) -> int | None:
    """The row that is chosen under a preference; None where nothing may be used, or nothing is known of what it prefers."""
    if surrogate.belief.duration_seconds is None or not surrogate.knows(request.wanted.preference):
        return None
    try:
        return choose(problem_within_sla(surrogate, request, known), request, policy, len(known.runs)).choice
    except NothingAdmissible:
        return None
