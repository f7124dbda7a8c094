"""Which agent decides here, by whom it was released or withdrawn, and whether what learns can be read?"""

from collections.abc import Iterator

from jpo.agent.policy import Policy
from jpo.agent.sealed import unseal_agent
from jpo.commands.doctor.case import Case
from jpo.errors import StoreError
from jpo.history import Store
from jpo.learning.continual import progress_of
from jpo.learning.prequential import LAST
from jpo.learning.serving import AGENT, own_policy, policy_for, unreadable
from jpo.project.load import LoadedSettings
from jpo.project.request import decider_of
from jpo.report.before_after import sac_in_words
from jpo.report.doctor import Line
from jpo.telemetry.diagnosis.similar_names import span
from jpo.wording.numbers import counted

LEARN = "`jpo learn config.ini` tests what was learnt, and saves it anew"
REBUILD = "`jpo learn config.ini --rebuild` makes it anew from the recorded runs"
SHORT = 12
"""Hexadecimal digits of a policy's digest that are shown; the audit log has all."""


def agent(case: Case) -> Iterator[Line]:
    """Who decides, and why not the policy that learnt here, where there is one."""
    with case.history() as store:
        yield decides(store, case.settings)
        if said := sac_in_words(made.decision for made in store.suggestions_of(limit=LAST)):
            yield Line("effect of SAC", "ok", f"{said} (newest {LAST} suggestions of all workloads)")
        if why := unreadable(store):
            yield Line("learnt policy", "warning", why, LEARN, "JPO-W636")


def decides(store: Store, settings: LoadedSettings) -> Line:
    name, explore, situations = decider_of(settings)
    asked = f'[agent] policy = "{name}"'
    if explore == "off":
        return Line("agent", "ok", 'no agent decides: with [agent] explore = "off" only measured values are used')
    if name == "belief":
        return Line("agent", "ok", f"the belief rule decides, as {asked} asks")
    policy = policy_for(store, explore, name)
    if policy is None:
        finding = "the belief rule decides: the policy that comes with JPO was taken out, and none was learnt here"
        return Line("agent", "ok", finding)
    own = own_policy(store)
    learnt_here = own is not None and own.digest == policy.digest
    version = f"{'learnt here' if learnt_here else 'as it came with JPO'}, version {policy.digest[:SHORT]}"
    if policy.withdrawn:
        return Line("agent", "warning", f"the belief rule decides. {policy.withdrawn} ({version})", LEARN, "JPO-W633")
    if not policy.decides(*situations):
        finding = f"the belief rule decides: SAC ({version}) was not released for {' and '.join(situations)}"
        return Line("agent", "ok", finding)
    if policy.name != "sac":
        return Line("agent", "ok", f"{policy.name} decides, as {asked} asks; on top of SAC, {version}")
    not_yet = "; what was learnt here has not passed its release test" if own and not learnt_here else ""
    return Line("agent", "ok", f"SAC decides: {version}, {released(policy)}{not_yet}")


def released(policy: Policy) -> str:
    """For what it was released, and by which figure."""
    test = policy.card.get("release_test")
    pooled = test.get("pooled") if isinstance(test, dict) else None
    figure = f": {pooled['ratio']:.3f} of the belief rule's cost" if isinstance(pooled, dict) and "ratio" in pooled else ""
    return f"released for {', '.join(policy.released)}{figure}"


def learnt(case: Case) -> Iterator[Line]:
    """What learns here: from how much, and when it last did."""
    with case.history() as store:
        saved = store.load_agent(AGENT)
        if saved is None:
            yield Line("learnt", "ok", "nothing yet")
            return
        try:
            _, header = unseal_agent(saved[0])
            runs, _, updates = progress_of(header)
        except StoreError as error:
            finding = f"the agent that learns here {error.finding}; suggestions keep using the released policy"
            yield Line("learnt", "warning", finding, REBUILD, "JPO-W605")
            return
        held = header["replays"]["real"][1]
        when = next((record.at for record in store.audit_records(kind="learnt", limit=1)), None)
        ago = "" if when is None else f", last {span(max(0.0, case.now - when))} ago"
        of = f"{counted(runs, 'run')} of {counted(len(header['progress']), 'workload')}"
        yield Line("learnt", "ok", f"from {of}, {counted(held, 'transition')} in its memory, {counted(updates, 'update')}{ago}")
