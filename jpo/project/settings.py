"""Settings as jpo.toml may have them: one model per table, with defaults, units and limits.

Everything has a default, so that no jpo.toml is needed. Only commands read settings; parts get the values they need. How the
sources of settings are merged is in load.py. A new key stands here or in tables/; of a table that the guard reads
([parameters], [quota], [card], [prices], [sla]) in constraints/ too (limits.py, sla.py); then in docs/jpo-toml.md.
project/request.py hands values on: of [agent] in agent/budget.Boldness or optimizer/request.Goals or Request, which
optimizer/problem.py reads (learn_budget, start_from and explore_branches: where they are used);
plugins/launch/project/boldness.py sets those of `jpo optimize`; advisor/advisor.py does where the library has them.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationInfo, field_validator, model_validator

from constraints.sla import WITH_PRICES
from jpo.errors import quoted
from jpo.project.durations import Duration, ResetRule
from jpo.project.tables.naming import WorkloadTable
from jpo.project.tables.parameters import ParameterTable, Positive
from jpo.project.tables.prices import PricesTable
from jpo.project.tables.promises import Limit, MetricTable, SlaTable
from jpo.records import NAMED_PREFERENCES, PolicyName, Preference


def weights(given: object, named: Mapping[str, Preference] = NAMED_PREFERENCES) -> object:
    """'cost' or 'time=0.3,cost=0.7' -> weights; a table stays as it is, and what it leaves out counts 0."""
    if isinstance(given, str) and given in named:
        return asdict(named[given])
    if isinstance(given, str):
        pairs = [part.partition("=") for part in given.split(",")]
        if not all(equals for _, equals, _ in pairs):
            raise ValueError(f"{quoted(given)} is not a preference; write {', '.join(named)} or e.g. 'time=0.3,cost=0.7'")
        return {name.strip(): weight.strip() for name, _, weight in pairs}
    return given


def word_or_number(word: str, least: int) -> BeforeValidator:
    """A word, or a whole number, in one message for both."""

    def checked(given: object) -> object:
        if given != word and not (re.fullmatch("[0-9]+", str(given)) and int(str(given)) >= least):
            raise ValueError(f"{quoted(given)} is neither {word} nor a whole number of at least {least}")
        return given

    return BeforeValidator(checked)


def or_a_name(schema: dict[str, Any]) -> None:
    """The published schema of a preference: its table, or the name of one."""
    table = {"$ref": schema.pop("$ref")} if "$ref" in schema else schema.pop("allOf")[0]  # until pydantic 2.8
    schema["anyOf"] = [table, {"type": "string"}]


MOST_RUNS = 10**9
"""No job runs more often."""


class SettingsTable(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class PreferenceTable(SettingsTable):
    """Weights of time, cost, efficiency, validation loss and energy; they sum to 1. Cost or energy, not both.

    `usd_per_saved_hour`: what an hour less is worth; alone, the weights are balanced. What trades time and money at a price that
    is not acceptable by it is not written, unless `explore` is on.
    """

    time: float = 0.0
    cost: float = 0.0
    efficiency: float = 0.0
    loss: float = 0.0
    energy: float = 0.0
    usd_per_saved_hour: Limit | None = None

    @model_validator(mode="after")
    def valid(self) -> Self:
        self.record()
        return self

    def record(self) -> Preference:
        only_an_hour = self.usd_per_saved_hour is not None and not self.model_fields_set & {f.name for f in fields(Preference)}
        return Preference() if only_an_hour else Preference(self.time, self.cost, self.efficiency, self.loss, self.energy)


class AuthTable(SettingsTable):
    """Authentication of JPO to Prometheus. `token` and `password` are accepted from the environment alone.

    sigv4 signs requests for Amazon's managed Prometheus in `region`, with the credentials which AWS' own tools would find.
    """

    type: Literal["none", "basic", "bearer", "sigv4"] = "none"
    username: str | None = None
    token: SecretStr | None = None
    token_file: str | None = None
    password: SecretStr | None = None
    password_file: str | None = None
    region: str | None = None

    @model_validator(mode="before")
    @classmethod
    def is_a_table(cls, given: object) -> object:
        if isinstance(given, str):
            raise ValueError('auth is a table; write e.g. auth = { type = "bearer", token_file = "/run/secrets/prometheus" }')
        return given

    @model_validator(mode="after")
    def complete(self) -> Self:
        if self.type == "bearer" and not (self.token or self.token_file):
            raise ValueError("bearer needs token_file, or JPO_PROMETHEUS__AUTH__TOKEN in the environment")
        if self.type == "basic" and not (self.username and (self.password or self.password_file)):
            raise ValueError("basic needs username and password_file, or JPO_PROMETHEUS__AUTH__PASSWORD in the environment")
        if self.type in ("none", "sigv4") and (self.token_file or self.password_file):
            raise ValueError(f'type "{self.type}" uses no token_file or password_file; write type = "bearer" or "basic"')
        if self.type == "sigv4" and not self.region:
            raise ValueError('sigv4 needs a region, e.g. region = "eu-central-1"')
        return self


class PrometheusTable(SettingsTable):
    """Prometheus server that records finished runs; without a url JPO uses its own history and CSV logs.

    `since`: how far back its history is read at first contact. `late`: how far back each look asks for runs that were not there
    before, because they became visible after younger ones; 0: not at all. `cert_file` and `key_file` are JPO's own certificate
    (mTLS); `insecure` trusts any server, and every report says so. `metrics` and `labels` rename what a site calls otherwise
    (telemetry/prometheus/names.py has the roles); `container` is the trainer's, where pods have several. `pod_labels`: labels
    by which pods without instrumentation say what they train, by Kubernetes' key (app.kubernetes.io/name) or Prometheus' name.
    """

    url: str | None = None
    timeout: Annotated[Duration, Field(gt=0, le=86400)] = 10.0
    since: Duration = 90 * 86400.0
    late: Duration = 7 * 86400.0
    auth: AuthTable = AuthTable()
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    insecure: bool = False
    headers: dict[str, SecretStr] = {}
    metrics: dict[str, str] = {}
    labels: dict[str, str] = {}
    pod_labels: dict[str, str] = {}
    container: str | None = None

    @model_validator(mode="after")
    def unambiguous(self) -> Self:
        if self.insecure and self.ca_file:
            raise ValueError("insecure trusts any server, ca_file only its own; keep one of them")
        return self


class CsvTable(SettingsTable):
    """CSV logs of finished runs: file names or patterns, relative to jpo.toml."""

    logs: tuple[str, ...] = ()


class StoreTable(SettingsTable):
    """Database in which the history is stored; a relative path starts at jpo.toml, else at config.ini.

    A PostgreSQL URL with a password comes from the environment (JPO_STORE__URL) alone. `jpo state gc` forgets how CPU, memory and
    GPUs of a run went that ended longer than `keep_series` ago; and runs before a workload's newest `keep_runs` that tell nothing
    any more. `timeout`: the longest wait for a lock, a server that starts, and each answer. `deadline`: for all that took longer.
    """

    url: str = "sqlite:///.jpo/jpo.db"
    timeout: Duration = 10.0
    deadline: Duration = 60.0
    keep_series: Duration = 180 * 86400.0
    keep_runs: Annotated[Literal["all"] | Annotated[int, Field(ge=2300)], word_or_number("all", 2300)] = "all"  # decision 0021


class AgentTable(SettingsTable):
    """Boldness of the agent, and the time that it may learn inside `jpo suggest`.

    `quality`: by what models are judged: "val_loss", "val_accuracy", the name in [metric], or "auto": the first of them that runs
    measure. `quality_floor`: by which share the validation loss (of another quality its error, 1 - accuracy) may become worse
    than with the values before the agent's first change; "off": as the preference weighs it. `quality_risk`: chance of a loss
    below it that holds back what was run, and of one five times as far below that holds a trial back.
    `min_confidence`: least chance to be better, with the loss kept, with which a change is an improvement under "safe"; other
    changes are trials: five of a job's first 20 runs, later the share `trials`.
    `horizon_runs`: how many runs the job will have in all, those on record included; `auto`: not known. `exploration_runs`: how
    many configurations besides the first are to be tried, even where none is expected to pay off. `baseline_runs`: how many runs
    with today's values are waited for before the first change, so that there is a "before" to compare with. `budget`: how many
    runs of today's configuration exploring may cost in 20 runs. `policy`: who decides; what is not sac decides though no release
    test put it in charge. `resets`: when the agent begins anew, on evidence of a changed world, when a run breaks the SLA, or
    regularly.
    `goal`: whether what all runs cost counts, or what the best model of them is worth.
    `start_from`: where a checkout has the values that a suggestion has replaced, whether the applied or the committed ones count.
    `explore_branches`: besides the default one, branches in whose pipelines `explore` holds; in others it is off.
    """

    policy: PolicyName = "sac"
    explore: Literal["off", "safe", "on"] = "safe"
    goal: Literal["recurring", "search"] = "recurring"
    confidence: Annotated[float, Field(ge=0.5, lt=1)] = 0.9
    learn_budget: Duration = 5.0
    quality: str = "auto"
    quality_floor: Annotated[float, Field(ge=0, lt=10)] | Literal["off"] = 0.02
    quality_risk: Annotated[float, Field(gt=0, le=1)] = 0.2
    min_confidence: Annotated[float, Field(ge=0, lt=1)] = 0.7
    trials: Annotated[float, Field(ge=0, le=1)] = 0.1
    horizon_runs: Annotated[Literal["auto"] | Annotated[int, Field(ge=1, le=MOST_RUNS)], word_or_number("auto", 1)] = "auto"
    exploration_runs: Annotated[int, Field(ge=0, le=MOST_RUNS)] = 0
    baseline_runs: Annotated[int, Field(ge=0, le=MOST_RUNS)] = 0
    budget: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 2.0
    resets: ResetRule = "evidence"
    start_from: Literal["applied", "committed"] = "applied"
    explore_branches: tuple[str, ...] = ()


class CheckTable(SettingsTable):
    """The team's own checker; `{config}` becomes the path of a copy of the proposed file."""

    command: tuple[str, ...] = ()
    timeout: Annotated[Duration, Field(gt=0)] = 60.0

    @model_validator(mode="after")
    def sees_the_file(self) -> Self:
        if self.command and not any("{config}" in word for word in self.command):
            raise ValueError('the command never sees the file; write e.g. ["workload_checker", "{config}"]')
        return self


class QuotaTable(SettingsTable):
    """The most that one run may ask for; `this_machine`: no more than the machine has on which jpo runs."""

    gpus: Positive | None = None
    cpus: Positive | None = None
    memory_gib: Positive | None = None
    usd_per_hour: Positive | None = None
    this_machine: bool = False


class CardTable(SettingsTable):
    """Memory of one GPU, and what a model needs of it: fixed, and per sample of the batch on one GPU."""

    memory_gib: Positive | None = None
    fixed_gib: Annotated[float, Field(ge=0)] | None = None
    gib_per_sample: Annotated[float, Field(ge=0)] | None = None


class Settings(SettingsTable):
    """All settings that jpo.toml can contain."""  # but for those of plugins, which plugins/tables.py adds

    workload: WorkloadTable = WorkloadTable()
    parameters: dict[str, ParameterTable] = {}
    prices: PricesTable = PricesTable()
    sla: SlaTable = SlaTable()
    metric: MetricTable = MetricTable()
    preferences: dict[str, PreferenceTable] = {}
    preference: Annotated[PreferenceTable, Field(json_schema_extra=or_a_name)] = PreferenceTable(time=0.5, cost=0.5)
    prometheus: PrometheusTable = PrometheusTable()
    csv: CsvTable = CsvTable()
    store: StoreTable = StoreTable()
    agent: AgentTable = AgentTable()
    check: CheckTable = CheckTable()
    quota: QuotaTable = QuotaTable()
    card: CardTable = CardTable()

    @model_validator(mode="before")
    @classmethod
    def search_is_for_the_best_model(cls, given: object) -> object:
        """The preference of a search where none is set: the loss alone."""
        if isinstance(given, Mapping) and isinstance(agent := given.get("agent"), Mapping) and agent.get("goal") == "search":
            return {**given, "preference": given.get("preference") or {"loss": 1.0}}
        return given

    @property
    def named_preferences(self) -> dict[str, Preference]:
        """JPO's own, then the team's, from [preferences.NAME]."""
        return {**NAMED_PREFERENCES, **{name: table.record() for name, table in self.preferences.items()}}

    @field_validator("sla", mode="before")
    @classmethod
    def in_own_units(cls, given: object, others: ValidationInfo) -> object:
        """cost_max in USD, of "12 EUR" by what [prices] says an EUR is worth; energy_max in joules."""
        prices: PricesTable | None = others.data.get("prices")
        if prices is None or not isinstance(given, Mapping):
            return given
        known = {name: read for name, read in WITH_PRICES.items() if not isinstance(given.get(name), bool | None)}
        return {**given, **{name: read(given[name], prices.model_dump(), name) for name, read in known.items()}}

    @field_validator("sla")
    @classmethod
    def can_be_kept(cls, given: SlaTable, others: ValidationInfo) -> SlaTable:
        """No promise may contradict what [parameters] demands."""
        tables: dict[str, ParameterTable] = others.data.get("parameters", {})
        gpus, memory = tables.get("gpus"), tables.get("memory_gib")
        if given.gpu_util_min and gpus and (gpus.max == 0 or gpus.values == (0,)):
            raise ValueError("gpu_util_min asks for busy GPUs, and [parameters] gpus allows none; take one of them out")
        most, least = given.memory_max_gib, max(memory.min or 0.0, min(memory.values or (0.0,))) if memory else 0.0
        if most is not None and most < least:
            finding = f"memory_max_gib = {most:g}, but [parameters] memory_gib lets no run ask for less than {least:g}"
            raise ValueError(f"{finding}; raise one, or lower the other")
        return given

    @field_validator("agent")
    @classmethod
    def known_quality(cls, given: AgentTable, others: ValidationInfo) -> AgentTable:
        metric: MetricTable | None = others.data.get("metric")
        known = ["auto", "val_loss", "val_accuracy", *([metric.name] if metric and metric.name else [])]
        if given.quality not in known:
            raise ValueError(f"quality = {quoted(given.quality)} is none of {', '.join(known)}; name one of your own in [metric]")
        return given

    @field_validator("preferences")
    @classmethod
    def own_names(cls, given: dict[str, PreferenceTable]) -> dict[str, PreferenceTable]:
        for name in given:
            if name in NAMED_PREFERENCES or not re.fullmatch(r"[A-Za-z][\w-]*", name):
                raise ValueError(f"{quoted(name)} cannot be the name of a preference of your own; write e.g. [preferences.night]")
        return given

    @field_validator("preference", mode="before")
    @classmethod
    def named_weights(cls, given: object, others: ValidationInfo) -> object:
        own: dict[str, PreferenceTable] = others.data.get("preferences", {})
        return weights(given, {**NAMED_PREFERENCES, **{name: table.record() for name, table in own.items()}})
