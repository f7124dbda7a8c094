"""What the golden files record: three projects, and every command on them that prints something for programs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from golden.harness import Scenario, Step
from golden.projects import FIRST_NIGHT, TOML, empty, quickstart, team, write_log

MORNING = 1795327200.0
"""2026-11-22T06:00Z: the day after the quickstart's runs, and days after the team's."""


def edited(name: str, *texts: str) -> Callable[[Path], None]:
    """Someone replaces texts in a file of the project, byte for byte: old, new, old, new ..."""

    def edit(project: Path) -> None:
        content = (project / name).read_bytes()
        for old, new in zip(texts[::2], texts[1::2], strict=True):
            assert old.encode() in content, f"{old} is not in {name}:\n{content.decode()}"
            content = content.replace(old.encode(), new.encode())
        (project / name).write_bytes(content)

    return edit


def quickstart_run(run_id: str, hour: float, seconds: float, val_loss: float, **parameters: object) -> Callable[[Path], None]:
    """A run with config.ini as it is now ends; what it takes is made up."""

    def ends(project: Path) -> None:
        head = (project / "runs" / "digits-20261121-141229.csv").read_text().splitlines()[:11]
        known = dict(line.removeprefix("# ").split("=") for line in head if line.startswith("# "))
        start = MORNING + 3600 * hour
        known |= {"run_id": run_id, "start": str(start), **{name: str(value) for name, value in parameters.items()}}
        lines = [*(f"# {name}={value}" for name, value in known.items()), "time,epoch,samples,train_loss,val_loss"]
        lines += [f"{start + seconds},8,11496,0.05,{val_loss}", f"# end={start + seconds}", "# status=succeeded"]
        lines += ["# converged=true", f"# cpu_seconds={1.9 * seconds}", "# memory_bytes=450000000"]
        (project / "runs" / f"{run_id}.csv").write_text("\n".join(lines) + "\n")

    return ends


def team_run(number: int, hour: float, *changes: object) -> Callable[[Path], None]:
    """A run of the team's ends, as given in the order of projects.RUNS."""
    return lambda project: write_log(project, f"new-{number:02}", "cifar10", MORNING + 3600 * hour, *changes)  # type: ignore[arg-type]


def odd_logs(hour: float) -> Callable[[Path], None]:
    """Logs that cannot be used next to those that can: a copy, one that is not over by then, one that is no log; and a trial."""

    def write(project: Path) -> None:
        runs = project / "runs"
        shutil.copy(runs / "night-01.csv", runs / "night-01-copy.csv")
        write_log(project, "night-90", "cifar10", MORNING + 3600 * (hour - 2), 64, 0.02, 2, "succeeded", 14400.0, 0.4, True)
        (runs / "night-90.csv").write_text((runs / "night-90.csv").read_text().partition("# end=")[0])
        (runs / "notes.csv").write_text("who,what\nme,nothing\n")
        write_log(project, "trial-1", "cifar10", FIRST_NIGHT, 64, 0.02, 2, "succeeded", 700.0, 1.1, None, "data_fraction=0.1")
        (project / "trials").mkdir()
        (runs / "trial-1.csv").rename(project / "trials" / "trial-1.csv")

    return write


def no_odd_logs(project: Path) -> None:
    for name in ("night-01-copy", "night-90", "notes"):
        (project / "runs" / f"{name}.csv").unlink()


def hide(project: Path) -> None:
    """The logs are elsewhere for a while."""
    (project / "runs").rename(project / "archive")


def show(project: Path) -> None:
    (project / "archive").rename(project / "runs")


def only_failures(project: Path) -> None:
    """All logs of the other workload say that memory ran out."""
    for log in (project / "runs").glob("other-*.csv"):
        log.write_text(log.read_text().replace("status=succeeded", "status=oom_killed").replace("# converged=true\n", ""))


def remove(project: Path, run_id: str) -> None:
    (project / "runs" / f"{run_id}.csv").unlink()


def spoil(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"no database, " * 500)


def refusal(code: str, command: str, *environment: tuple[str, str], before: Callable[[Path], object] | None = None) -> Step:
    """A command that ends with this error; what follows the code in the name distinguishes it from others."""
    return Step(code, command, "none", before=before, environment=environment)


IDLE = "--metric duration_seconds=6000 --metric gpu_utilisation=0.04 --metric energy_joules=5000000 --metric val_loss=0.43"
PRICES = TOML[TOML.index("[prices]") : TOML.index("[quota]")]
YEARS_LATER = MORNING + 500 * 86400.0
"""When the catalogue's prices are out of date, and every run is long over."""
OFFLINE_PROMETHEUS = "--prometheus-url http://127.0.0.1:9 --timeout 2s"
QUICKSTART = Scenario(
    "quickstart",
    quickstart,
    MORNING + 2 * 3600,
    (
        Step("check_config", "check config.ini", "none"),
        Step("settings_from_environment", "config show", "lines", environment=(("JPO_AGENT__EXPLORE", "off"),)),
        Step("settings_check", "config check", "none"),
        Step("explain_without_suggestion", "explain -o json"),
        Step("history_empty", "history -o json"),
        Step("suggest_dry_run", "suggest config.ini --dry-run --diff --no-learn", "text", files=("config.ini",)),
        Step("suggest_check", "suggest config.ini --check --no-learn", "text"),
        Step("suggest_weights", "suggest --dry-run --no-learn --prefer time=0.2,efficiency=0.3,loss=0.5 --seed 7", "text"),
        Step("suggest_set", "suggest --dry-run --no-learn --set batch_size=32", "text"),
        Step("suggest_set_refused", "suggest --no-learn --set batch_size=3 -o json", files=("config.ini",)),
        Step("suggest_no_prometheus", f"suggest --dry-run --no-learn {OFFLINE_PROMETHEUS}", "text"),
        Step("suggest_no_prometheus_strict", f"suggest --dry-run --no-learn {OFFLINE_PROMETHEUS} --strict -o json"),
        Step(
            "suggest_changed",
            "suggest config.ini --no-learn -o json --output-file summary.md --output-file page.html",
            files=("config.ini", "summary.md", "page.html"),
        ),
        Step("suggest_waits", "suggest --no-learn", "text", files=("config.ini",)),
        Step("explain_untried", "explain", "text"),
        Step(
            "observe",
            "observe --csv runs/after-1.csv",
            "none",
            before=quickstart_run("after-1", 16, 1.9, 0.08, batch_size=32, learning_rate=0.03),
        ),
        Step("observe_metric", "observe by-hand --metric duration_seconds=2.1 --metric val_loss=0.081 --offline", "none"),
        Step(
            "suggest_again",
            "suggest --no-learn",
            "text",
            files=("config.ini",),
            before=quickstart_run("after-2", 18, 2.0, 0.079, batch_size=32, learning_rate=0.03),
        ),
        Step("explain", "explain -o json"),
        Step("explain_unknown", "explain 20260101-000000-abcdef -o json"),
        Step("history", "history", "text"),
        Step("history_markdown", "history -o markdown --limit 3", "text"),
        Step("history_newest", "history -o json --limit 2"),
        Step("history_compare", "history --compare --for config.ini -o json"),
        Step("rollback_dry_run", "rollback --dry-run --diff", "text", files=("config.ini",)),
        Step("rollback", "rollback --pin 14 -o json", files=("config.ini",)),
        Step("suggest_pinned", "suggest --no-learn", "text", files=("config.ini",)),
        Step("explain_rollback", "explain", "text"),
        Step("rollback_unpin", "rollback --unpin", "text"),
        Step("predict", "predict -o json"),
        Step(
            "predict_vary",
            "predict config.ini --vary cpus=1,2 --vary batch_size=16,64 -o json --output-file what-if.md",
            files=("what-if.md",),
        ),
        Step("predict_set", "predict --set learning_rate=0.01 --deadline 1h", "text"),
        Step("predict_impossible", "predict --max-cost 0.000001", "text"),
        Step("pareto", "pareto -o json"),
        Step("pareto_three", "pareto --objectives time,cost,loss --reference time=20,cost=0.001,loss=3", "text"),
        Step("sla_without_promises", "sla check -o json"),
        Step("sla_suggest", "sla suggest -o json"),
        Step("prices", "prices show -o json"),
        Step("logs", "lab logs -o json"),
        Step("logs_markdown", "lab logs runs -o markdown", "text"),
        Step("doctor", "doctor --offline -o json"),
        Step("audit", "audit show --limit 6", "text", environment=(("COLUMNS", "400"),)),
        Step("audit_events", "audit export --since 2026-11-23T10:30Z", "json lines"),
        Step("audit_csv", "audit export -o csv --since 2026-11-23T10:30Z", "csv"),
        Step("audit_verify", "audit verify", "none"),
        Step("audit_unknown_head", "audit verify --head nonsense", "none"),
        Step("state_export", "state export backup.jsonl", "none", files=("backup.jsonl",)),
        Step(
            "state_import",
            "state import backup.jsonl",
            "none",
            environment=(("JPO_STORE__URL", "sqlite:///.jpo/moved.db"),),
        ),
        Step("state_import_refused", "state import backup.jsonl", "none"),
        Step("state_gc", "state gc --dry-run", "none"),
        Step("replay_own_runs", "lab replay config.ini --policies jpo,default,hillclimb --runs 2,4 --seeds 2 --jobs 1 -o json"),
    ),
)
TABLES = "; ".join(
    (
        *("history --limit 4 config.ini", "history --compare", "predict --spot", "pareto --objectives time,cost,loss"),
        *("prices show --gpu-type v100", "lab logs runs/night-0[0-3].csv"),
    )
)
"""The tables whose layout depends on the width; at 80 columns others of these scenarios have them, and tables_80."""
TEAM = Scenario(
    "team",
    team,
    MORNING,
    (
        Step("settings", "config show", "lines"),
        Step("check_config", "check", "none"),
        Step("doctor_before", "doctor --offline", "none", before=odd_logs(2)),
        Step("logs_odd", "lab logs -o json"),
        Step("logs_csv", "lab logs runs/night-0[0-1].csv -o csv --extended all.csv", "csv", files=("all.csv",)),
        Step("prices", "prices show --gpu-type v100 -o json", before=no_odd_logs),
        Step("predict_by_trial", "predict --trials trials/trial-1.csv -o json"),
        Step("predict_by_arithmetic", "predict other.ini -o json"),
        Step("suggest_without_runs", "suggest other.ini --offline --no-learn", "text", before=hide),
        Step("sla_without_runs", "sla suggest -o json"),
        Step("suggest_explore_off", "suggest --dry-run --no-learn --explore off", "text", before=show),
        Step("suggest_impossible", "suggest --no-learn --deadline 1m -o json", files=("config.ini",)),
        Step("suggest_deadline", "suggest --dry-run --no-learn --deadline 2026-11-23T06:00Z --max-cost 20EUR", "text"),
        Step(
            "suggest_checker_refuses",
            "suggest --no-learn --prefer time -o json",
            files=("config.ini",),
            environment=(("JPO_CHECK__COMMAND", '["sh", "-c", "echo no; exit 1", "{config}"]'),),
        ),
        Step("suggest_changed", "suggest --no-learn --prefer time --diff", "text", files=("config.ini",)),
        Step("sla_check", "sla check -o json"),
        Step("sla_check_run", "sla check night-02 -o json"),
        Step(
            "sla_check_violated",
            "sla check --csv runs/new-01.csv --csv runs/night-00.csv -o json",
            before=team_run(1, 15.5, 128, 0.04, 4, "succeeded", 11000.0, 0.65, True),
        ),
        Step("suggest_undoes", "suggest --no-learn --prefer time", "text", files=("config.ini",)),
        Step("explain_undone", "explain", "text"),
        Step("rollback_nothing", "rollback -o json", files=("config.ini",), before=edited("config.ini", "gpus = 2", "gpus = 1")),
        Step("suggest_after_hand_edit", "suggest --no-learn", "text", files=("config.ini",)),
        Step("rollback_conflict", "rollback -o json", files=("config.ini",), before=edited("config.ini", "=  256", "=  96")),
        Step("rollback_forced", "rollback --force", "text", files=("config.ini",)),
        Step("predict_spot", "predict --vary gpus=1,2,4 --spot", "text"),
        Step("predict_max_cost", "predict --max-cost 10EUR", "text"),
        Step("predict_over_card", "predict --set batch_size=1024", "text"),
        Step("pareto", "pareto --objectives time,cost,loss", "text"),
        Step("sla_suggest", "sla suggest --keep 0.8 -o json"),
        Step("history", "history -o json --limit 4"),
        Step("history_csv", "history -o csv", "csv"),
        Step("history_compare", "history --compare", "text"),
        Step("doctor", "doctor --offline -o json"),
        Step("audit", "audit show", "text", environment=(("COLUMNS", "400"),)),
        Step("tables_80", "sla check; prices show --gpu-type v100; check; lab logs runs/night-0[0-3].csv", "tables"),
        *(Step(f"tables_{width}", TABLES, "tables", environment=(("COLUMNS", str(width)),)) for width in (100, 120)),
        Step("broken_settings", "suggest -o json", before=edited("jpo.toml", "max_change = 4.0", "max_chance = 4.0")),
        Step("doctor_broken_settings", "doctor --offline -o json"),
        Step("settings_broken", "config check", "none"),
        Step("no_config", "suggest absent.ini -o json"),
    ),
)
LEARNING = Scenario(
    "learning",
    team,
    MORNING,
    (
        Step("suggest", "suggest --dry-run", "text", environment=(("JPO_AGENT__LEARN_BUDGET", "10m"),)),
        Step("suggest_learns", "suggest", "text", files=("config.ini",), environment=(("JPO_AGENT__LEARN_BUDGET", "10m"),)),
        Step("audit", "audit show -o json --limit 3", "json lines"),
        Step("explain", "explain", "text"),
    ),
    needs="torch",
)
VARIANTS = Scenario(
    "variants",
    team,
    YEARS_LATER,
    (
        Step("prices_old", "prices show -o json"),
        Step("suggest_old_prices", "suggest --dry-run --no-learn", "text"),
        Step("suggest_bold", "suggest --dry-run --no-learn --explore on --prefer time", "text"),
        Step("suggest_no_prices", "suggest --dry-run --no-learn", "text", before=edited("jpo.toml", PRICES, "")),
        Step("predict_no_prices", "predict", "text"),
        Step("predict_no_prices_max_cost", "predict --max-cost 20 -o json"),
        Step("pareto_no_prices", "pareto", "text"),
        Step("pareto_no_prices_cost", "pareto --objectives time,cost -o json"),
        Step("prices_none", "prices show -o json"),
        Step("sla_suggest_no_prices", "sla suggest", "text"),
        Step(
            "suggest_cpu_price_only",
            "suggest --dry-run --no-learn",
            "text",
            before=edited("jpo.toml", "[quota]", "[prices]\nusd_per_cpu_hour = 0.04\n\n[quota]"),
        ),
        Step("prices_cpu_only", "prices show -o json"),
        Step(
            "prices_several_types",
            "prices show",
            "text",
            before=edited(
                "jpo.toml",
                "usd_per_cpu_hour = 0.04",
                'gpu_type = "v100"\nusd_per_gpu_hour_of = { v100 = 2.5, a10g = 1.1 }\nspot_share = 0.5\nusd_per_gib_hour = 0.005',
            ),
        ),
        Step("predict_several_types", "predict --vary gpus=1,2 --spot", "text"),
        Step(
            "prices_no_type",
            "prices show",
            "text",
            before=edited("jpo.toml", 'gpu_type = "v100"\nusd_per_gpu_hour_of = { v100 = 2.5, a10g = 1.1 }', "usd_per_kwh = 0.3"),
        ),
        Step(
            "suggest_at_the_best",
            "suggest --dry-run --no-learn --explore off",
            "text",
            before=edited("config.ini", "=  64", "=  128", "=0.02", "=0.04", "gpus = 2", "gpus = 1"),
        ),
        Step("suggest_not_run_yet", "suggest --dry-run --no-learn", "text", before=edited("config.ini", "=  128", "=  32")),
        Step("suggest_breaks_limit", "suggest --dry-run --no-learn", "text", before=edited("config.ini", "=  32", "=  1024")),
        Step("check_breaks_limit", "check", "none"),
        Step("doctor_breaks_limit", "doctor --offline -o json"),
        Step("observe_idle_gpus", f"observe idle-1 {IDLE} --offline", "none", before=edited("config.ini", "=  1024", "=  128")),
        Step("suggest_idle_gpus", "suggest --dry-run --no-learn", "text"),
        Step("doctor_idle_gpus", "doctor --offline -o json"),
        Step("history_energy", "history --limit 2", "text"),
        Step("suggest_only_failures", "suggest other.ini --dry-run --no-learn", "text", before=only_failures),
        Step("pareto_only_failures", "pareto other.ini", "text"),
        Step("sla_suggest_only_failures", "sla suggest other.ini", "text"),
    ),
)
REFUSALS = Scenario(
    "refusals",
    team,
    MORNING,
    (
        refusal("E305", "suggest --set batch_size"),
        refusal("E305_deadline", "suggest --deadline soon"),
        refusal("E306", "observe run-1 --metric beauty=1"),
        refusal("E307", "suggest --output-file config.ini -o json"),
        refusal("E307_folder", "predict --output-file absent/what-if.json"),
        refusal("E308", "learn config.ini --pretrain policy.safetensors"),
        refusal("E404", "suggest --no-learn --offline", ("JPO_CHECK__COMMAND", '["/absent/checker", "{config}"]')),
        refusal("E302", "config check", ("JPO_AGENT__EXPLORE", "wildly")),
        refusal("E509", "history -o json", ("JPO_STORE__URL", "mysql://jpo")),
        refusal("E110", "observe --csv jpo.toml"),
        refusal("E112", "observe --csv trials/trial-1.csv", before=odd_logs(10)),
        refusal("E111", "observe --csv runs/night-90.csv"),
        refusal("E131", "observe --follow"),
        refusal("E132", "lab logs runs --extended jpo.toml", before=no_odd_logs),
        refusal("E133", "lab logs -o json", ("JPO_CSV__LOGS", "[]")),
        refusal("E134", "lab logs jpo.toml -o json"),
        refusal("E701", "lab replay jpo.csv -o json", before=lambda project: (project / "jpo.csv").write_text("no trace\n")),
        refusal("E702", "lab replay other.ini -o json", before=lambda project: remove(project, "other-01")),
        refusal("E704", "lab replay config.ini --policies wizard"),
        refusal("E712", "lab simulate --plot fleet.txt"),
        refusal("E711", "lab simulate --keep runs --workloads 1 --runs 1"),
        refusal("E801", "prices show --gpu-type abacus"),
        refusal("E802", "prices show", ("JPO_PRICES__CATALOGUE", "other.ini")),
        refusal("E803", "suggest --max-cost 20CHF"),
        refusal("E808", "prices refresh jpo.toml"),
        refusal("E812", "sla check night-01 --csv runs/night-01.csv"),
        refusal("E813", "sla check --csv runs/other-00.csv"),
        refusal("E814", "sla check night-99"),
        refusal("E821", "predict --trials runs/other-00.csv"),
        refusal("E823", "predict --fraction 0.1"),
        refusal("E831", "pareto --objectives time"),
        refusal("E832", "pareto --reference beauty=1"),
        refusal("E845", "rollback --unpin --force"),
        refusal("E507", "rollback 20260101-000000-abcdef"),
        refusal("E853", "history --compare --limit 3"),
        refusal("E521", "audit export --since yesterday"),
        refusal("E516", "state import jpo.toml", ("JPO_STORE__URL", "sqlite:///new.db")),
        refusal("E504", "audit verify", ("JPO_STORE__URL", "sqlite:///absent/jpo.db")),
        refusal("E201", "check absent.ini"),
        refusal("E207_identity", "check", before=edited("config.ini", "model:", "modell:")),
        refusal("E203", "check", before=edited("config.ini", "gpus = 2", "gpus = 2\r\ngpus = 4")),
        refusal("E208", "check", before=edited("config.ini", "modell:", "model:", "gpus = 2\r\ngpus = 4", "gpus = all")),
        refusal("E207", "check", before=edited("config.ini", "gpus = all", "")),
        refusal("E211", "check", before=edited("config.ini", "# jpo: pin", "# jpo: sit")),
        refusal("E202", "check", before=lambda project: (project / "config.ini").write_bytes(b"\0")),
        refusal("E502", "history -o json", before=lambda project: spoil(project / ".jpo" / "jpo.db")),
        refusal("E301", "config show", before=edited("jpo.toml", "[workload]", "[workload")),
    ),
)
LABORATORY = Scenario(
    "laboratory",
    empty,
    MORNING,
    (
        Step("schema_settings", "config schema"),
        Step("schema_suggestion", "config schema --output suggestion"),
        Step("settings_built_in", "config show", "lines"),
        Step("doctor_nothing", "doctor -o json"),
        Step("simulate", "lab simulate --workloads 2 --runs 6 --seed 3", "text"),
        Step("simulate_drift", "lab simulate --workloads 1 --runs 4 --prefer cost --explore on --drift -o json"),
        Step("replay", "lab replay trace.csv --policies jpo,default,random,hillclimb,zeus --runs 2,5 --seeds 2 --jobs 1 -o json"),
        Step(
            "replay_objectives",
            "lab replay trace.csv --objective time,cost --knob power_limit_w --runs 3 --seeds 1 --jobs 1",
            "text",
        ),
        Step("unknown_command", "advise", "none"),
        Step("unknown_option", "suggest --often", "none"),
    ),
)
SCENARIOS = (QUICKSTART, TEAM, VARIANTS, LEARNING, REFUSALS, LABORATORY)
