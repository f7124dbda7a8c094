"""The house: seven floors, small rooms, one word for one thing. Each rule was seen red once."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
JPO = sorted((ROOT / "jpo").rglob("*.py"))
SOURCES = [*JPO, *sorted((ROOT / "constraints").rglob("*.py"))]
DANGEROUS_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve"}
DANGEROUS_CALLS = {"eval", "exec", "compile", "__import__", "system", "popen"}
CLOCK_AND_ENVIRONMENT = {"time.time", "os.environ", "datetime.now", "datetime.datetime.now", "date.today", "os.getenv"}
MAY_READ_CLOCK = {"__main__.py", "cli", "commands", "project", "runlog.py"}
UPPER_FLOORS_OF_PLUGINS = {
    "cli": "cli",
    "cli.py": "cli",
    "cli_workloads.py": "cli",
    "story": "commands",
    "story.py": "commands",
    "project": "project",
    "project.py": "project",
    "watching": "project",
    "start": "project",
    "code_host": "project",
    "settings.py": "project",
    "doctor.py": "commands",
}
"""Folders and files of a plugin that stand on a floor of the core's, by its name; all others are parts."""
SEE_THE_CLOCK = {
    "jpo/plugins/launch/engines/local/supervisor.py": "a process of its own, beside a run that takes real time",
    "jpo/plugins/launch/engines/local/launcher.py": "the same machine: whether a supervisor elsewhere still writes",
    "jpo/plugins/launch/engines/aws/supervisor.py": "a program of its own, which runs on the instance",
}
"""Modules below that may read the clock, and why."""
MOST_PARAMETERS = 7
MOST_FIELDS = 12
_MIRRORS_TABLE = "a table of jpo.toml, key for key"
_MEASURED = "what a run measures, one quantity each; the store has a column for each"
LARGE_RECORDS = {
    "Settings": "jpo.toml, table for table",
    "PrometheusTable": _MIRRORS_TABLE,
    "AgentTable": _MIRRORS_TABLE,
    "KubernetesTable": _MIRRORS_TABLE,
    "PricesTable": _MIRRORS_TABLE,
    "SuggestionDocument": "the published JSON of a suggestion, whose fields lie flat",
    "Outcome": _MEASURED,
    "Running": _MEASURED,
    "MeasuredValues": _MEASURED,
    "Belief": "a posterior: every quantity that is believed, as an array over the same candidates",
    "Known": "all that is collected of a workload before a decision",
    "PhaseModel": "all that a model's file says, for whoever follows a run by it",
    "Instance": "a line of a catalogue, by its columns",
    "Job": "a simulated job while it is played: what is true of it, and what each of its runs brought, branched by `copy` as one",
}
"""Records of more than MOST_FIELDS, each with what it mirrors or why its parts are not told apart."""
PRIVATE_WORDS = {*["told", "nobody", "befall", "lest", "whatever", "hindsight", "upkeep", "ahead", "lives", "near", "look"]}
"""What no name says (DESIGN.md, Words); near-identical is a word of the field."""
MOST_MODULES = 18
MOST_FILES_IN_JPO = 8
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "told"}
PLACES_OF_SETTINGS = {
    "place",
    "root",
    "toml",
    "origins",
    "said_by",
    "store_url",
    "store_place",
    "store_at_root",
    "store_beside",
    "store_file",
    "store_files",
    "csv_logs",
    "config_ini",
}
"""Where settings and files are: what messages name. What settings say is read by jpo/project alone."""
PUBLIC_SIGNATURES = {"jpo/advisor/advisor.py:__init__"}
"""What users of the library call by keyword: its arguments are theirs, not ours to gather."""
JSON_FUNCTIONS = {"json.dumps", "json.dump"}
JSON_WRITERS = {
    "jpo/report/forms/json.py": "the one place for people and programs",
    "jpo/history/canonical.py": "canonical JSON, which hashes are made of",
    "jpo/agent/sealed.py": "the header of a file of weights, whose bytes are hashed",
    "jpo/plugins/phases/model_file.py": "the head of a model of phases, whose bytes are hashed",
    "jpo/plugins/launch/ledger.py": "launch.json, which nobody but JPO reads",
    "jpo/plugins/launch/project/command.py": "keyword arguments for a function of the user's script",
    "jpo/plugins/launch/engines/local/supervisor.py": "what JPO tells a supervisor, through a pipe",
    "jpo/plugins/launch/engines/local/state_file.py": "the page of a run, which nobody but JPO reads",
    "jpo/plugins/launch/engines/aws/request.py": "cloud-init's user data: JSON is YAML, and quotes all values",
    "jpo/plugins/launch/engines/aws/supervisor.py": "runs on the instance; the record of a run's end, for JPO to read",
    "jpo/plugins/launch/watching/account.py": "adjustments.json, which nobody but JPO reads",
    "jpo/telemetry/csv/remembered.py": "a cache of thousands of logs, compressed, which nobody but JPO reads",
}
"""Modules that may serialise JSON, and why."""
WRITING = re.compile(
    r"\b(write_text|write_bytes|savefig|os\.rename|os\.replace|os\.link|mkstemp|NamedTemporaryFile|shutil\.(copy|move)\w*)\("
    r"|\bopen\((?:[^()]|\([^()]*\))*['\"][wax]b?\+?['\"]|\bO_(WRONLY|CREAT)\b"
)
MAY_WRITE_FILES = {
    "jpo/commands/doctor/drill.py": "a copy of the project in a temporary folder",
    "jpo/files/writer.py": "the one writer",
    "jpo/report/forms/picture.py": "matplotlib draws into a file of the writer",
    "jpo/runlog.py": "runs in training jobs and imports nothing of JPO; appends to its own log",
    "jpo/history/sqlite.py": "an empty file with the right mode, before SQLite opens it",
    "jpo/__main__.py": "/dev/null in place of a closed stdout, and the log file of an internal error",
    "jpo/cli/gate.py": "/dev/null in place of a closed stdout",
    "constraints/workload_checker.py": "the checker's private copy",
    "jpo/plugins/phases/following/cgroup.py": "limits of a cgroup, which are files of the kernel's",
    "jpo/plugins/launch/ledger.py": "an empty file that is locked; what stands in the ledger goes through the writer",
    "jpo/plugins/launch/engines/local/leases.py": "empty files that are locked",
    "jpo/plugins/launch/engines/local/cgroup.py": "limits of a run, into files of the kernel",
    "jpo/plugins/launch/engines/local/output.py": "appends what a run prints to its output.log, which nobody else writes",
    "jpo/plugins/launch/engines/local/state_file.py": "one block, rewritten in place: a full disk must still take a run's end",
    "jpo/plugins/launch/engines/aws/supervisor.py": "runs on the instance, without JPO: a run's output and its end",
}
"""Modules that may create or replace files, and why; what config.ini, results and exports go through is jpo/files."""
STARTING = re.compile(
    r"\bimport subprocess\b|\bfrom subprocess\b|\bos\.(fork|forkpty|exec[lv]\w*|posix_spawnp?|spawn\w+)\b|\bProcessPool"
)
MAY_START_PROCESSES = {
    "jpo/commands/doctor/drill.py": "JPO itself, on a copy, to be killed there",
    "jpo/timeouts.py": "programs that are asked something, each with a limit, and ended with all that they start",
    "jpo/plugins/launch/engines/local/launcher.py": "the supervisor of a run",
    "jpo/plugins/launch/engines/local/supervisor.py": "the run, which it watches",
    "jpo/plugins/launch/engines/aws/supervisor.py": "the same on the instance, and the AWS CLI there",
    "jpo/plugins/cluster/agents/guarded.py": "a user's agent, with a limit, and a keeper that ends what it leaves",
    "jpo/cli/workers.py": "processes that take pieces of work, ended with the context",
    "constraints/workload_checker.py": "the supervisor of the team's own checker",
    "constraints/supervisor.py": "that checker, with a limit",
}
"""Modules that may start processes, and what keeps these from being left behind."""
STREAMS = {"sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__", "sys.excepthook", "sys.unraisablehook"}
WAYS_OUT = STREAMS | {
    "print",
    "input",
    "breakpoint",
    "click.echo",
    "click.secho",
    "os.write",
    "os.writev",
    "os.dup2",
    "os.fdopen",
}
LOUD_MODULES = {
    "logging",
    "warnings",
    "faulthandler",
    "syslog",
    "traceback",
    "rich.console",
    "rich.progress",
    "rich.live",
    "rich",
}
"""What writes to stdout or stderr by itself, or may."""
AT_THE_GATE = {
    "jpo/cli/gate.py": "the gate",
    "jpo/cli/output.py": "a bar behind the gate, where stderr is a terminal",
    "jpo/report/progress_bar.py": "the same, with notes in it; lines go through the gate",
    "jpo/plugins/launch/report/watch/screen.py": "a text that changes in its place, behind the gate",
    "jpo/report/forms/text.py": "rich lays out a text in memory",
    "jpo/__main__.py": "traceback makes a text for the gate",
    "jpo/http/session.py": "silences what requests would warn of",
    "jpo/history/postgres/session.py": "silences what psycopg would warn of",
    "jpo/plugins/cluster/agents/guarded.py": "sends what a user's agent prints nowhere",
    "constraints/supervisor.py": "hands the answer of the checker on, through a pipe",
    "jpo/plugins/launch/engines/kubernetes/session.py": "silences what Kubernetes' client would log",
    "jpo/plugins/launch/engines/local/cgroup.py": "limits of a run, into files of the kernel",
    "jpo/plugins/launch/engines/local/output.py": "a run's output, from a pipe into its own file",
    "jpo/plugins/launch/engines/local/supervisor.py": "a process of its own: one line to JPO through a pipe, then /dev/null",
    "jpo/cli/workers.py": "silences Ray, which writes to stdout what becomes of its processes",
    "jpo/plugins/lab/replay/policies/gp_ei.py": "silences what scikit-learn would warn of",
    "jpo/runlog.py": "a logger of the training script, which is another process; it quotes what it names",
    "jpo/plugins/launch/engines/aws/supervisor.py": "runs on the instance, whose console it tells what cannot be brought home",
    "constraints/second_look.py": "the guard's own process, which has a gate of its own",
    "constraints/__main__.py": "how its streams write what they have no sign for",
}
"""Modules that may name these, and why."""
WRITTEN = {
    "jpo/cli/gate.py": "results in one of the forms, and config.ini as it was in force",
    "jpo/plugins/cluster/story/agents.py": "weights",
    "jpo/plugins/phases/following/cgroup.py": "limits of a cgroup: numbers, or what stood there",
    "jpo/plugins/launch/story/run.py": "a task of SkyPilot: YAML, with every value quoted",
    "jpo/plugins/lab/story/simulate.py": "config.ini and jpo.toml of simulated jobs, by JPO's own names",
    "jpo/plugins/lab/story/logs.py": "the extended table, made of csv_line",
    "jpo/commands/prices.py": "a catalogue: what instances AWS has",
    "jpo/commands/state.py": "an archive of harmless JSON lines",
    "jpo/commands/learn.py": "weights",
    "jpo/plugins/ci/start/new_files.py": "the files of `jpo init`, where none is",
    "jpo/project/tables/toml_writer.py": "jpo.toml: numbers and durations of JPO's own, read back before they are written",
    "jpo/report/forms/picture.py": "pictures",
    "jpo/__main__.py": "the log of a bug, released",
    "jpo/files/writer.py": "how a file is replaced whole, config.ini among them",
    "jpo/plugins/launch/ledger.py": "launch.json and adjustments.json, for JPO to read; a run's config.ini, byte for byte",
    "jpo/plugins/launch/engines/local/cgroup.py": "limits of a run, into files of the kernel",
    "jpo/plugins/launch/engines/slurm/run_files.py": "what batch.sh reads, words ended by NUL; an empty output file",
    "jpo/plugins/launch/engines/kubernetes/output.py": "what a run's pods printed, for the user alone, and its run log",
    "jpo/plugins/launch/engines/aws/attempts.py": "instance types that were asked for, and AWS' codes",
    "jpo/plugins/launch/engines/aws/market.py": "prices that AWS publishes",
    "jpo/plugins/launch/engines/aws/bucket.py": "output and run log of a run, for the user alone",
    "jpo/plugins/launch/engines/aws/supervisor.py": "the same, on the instance",
    "jpo/runlog.py": "the log of a run, for JPO to read",
    "constraints/workload_checker.py": "what the team's checker reads",
}
"""Modules that write files, and which."""
WRITERS = {"write_text", "write_bytes", "savefig", "mkstemp", "NamedTemporaryFile", "TemporaryFile"}
MODES = {repr(kind + suffix) for kind in ("w", "a", "x", "r+", "w+") for suffix in ("", "b", "t")}
HTTP_LIBRARIES = {"requests", "urllib3", "http.client", "urllib.request", "httpx", "aiohttp", "ssl"}
SPEAK_HTTP = {
    "jpo/plugins/launch/engines/kubernetes/session.py": "the errors of urllib3, by which Kubernetes' own client asks",
    "jpo/plugins/launch/engines/aws/supervisor.py": "runs on the instance, without JPO; asks AWS' own link",
    "jpo/runlog.py": "runs in training jobs and imports nothing of JPO",
}
"""Modules outside of jpo/http that know how servers are asked, and why."""
UNTESTED = {
    "jpo/errors.py": "a tree of classes without behaviour; tests/commands/test_exit_codes.py raises each",
    "jpo/http/answers.py": "kinds of trouble; tests/http/test_session.py meets each",
    "jpo/policies.py": "names alone; tests/agent/alternatives/test_named.py makes each",
    "jpo/plugins/launch/launcher.py": "a Protocol; tests/launches.py is the suite of all that follow it",
    "jpo/records/arrays.py": "shapes alone; tests/forecast and tests/agent build each",
    "jpo/records/knowledge.py": "one record; tests/project/test_collect.py fills it",
    "jpo/plugins/launch/during/progress.py": "records alone; tests/plugins/launch/during/test_stop.py fills each",
    "jpo/plugins/launch/report/optimize/record.py": "records alone; test_result.py beside fills each",
    "jpo/plugins/page/report/record.py": "records alone; tests/plugins/page/test_story.py fills each",
    "jpo/plugins/launch/cli/engine.py": "one option; tests/test_plugin.py uses it with an engine of another package",
    "jpo/records/from_plugins.py": "records alone; test_queued.py and test_events.py of tests/plugins/launch fill each",
    "jpo/version.py": "one constant; tests/test_packaging.py holds it to pyproject.toml",
    "jpo/history/archive.py": "tests/contracts/test_archive.py, against both databases",
    "jpo/history/decision_log.py": "tests/contracts/test_store.py, against both databases",
    "jpo/history/store.py": "tests/contracts/test_store.py, against both databases",
}
"""Modules without a test file of their name, and which tests hold them."""


def floor(path: Path) -> str:
    """The floor that a module of jpo stands on: `cli`, `commands`, `project`, ...; of a part the part."""
    first, *rest = path.relative_to(ROOT / "jpo").parts
    return UPPER_FLOORS_OF_PLUGINS.get(rest[1], rest[0]) if first == "plugins" and len(rest) > 1 else first


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imported_names(node: ast.AST) -> set[str]:
    """`from time import time` -> {"time.time"}; nothing for other nodes."""
    return {f"{node.module}.{alias.name}" for alias in node.names} if isinstance(node, ast.ImportFrom) else set()


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    arguments = function.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def module_of(path: Path) -> str:
    return name_of(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imported_modules(path: Path, modules: set[str]) -> set[str]:
    """The modules among these that a file imports, wherever in it: in a function and for types, too."""
    found = set[str]()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {full if (full := f"{node.module}.{alias.name}") in modules else node.module for alias in node.names}
    return found & modules


def test_no_files_import_each_other_in_a_circle() -> None:
    """An import in a function, or for types alone, hides a circle; it does not open it."""
    modules = {module_of(path): path for path in SOURCES}
    try:
        TopologicalSorter({name: imported_modules(path, {*modules}) for name, path in modules.items()}).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_imports_keep_to_the_contracts() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-logo", "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_root_of_the_package_is_small() -> None:
    assert len(list((ROOT / "jpo").glob("*.py"))) <= MOST_FILES_IN_JPO


def test_no_folder_has_more_modules_than_one_keeps_in_mind() -> None:
    folders = Counter(path.parent.relative_to(ROOT) for path in JPO if path.name != "__init__.py")
    one_per_command = {Path("jpo/cli"), Path("jpo/commands")}
    assert {
        str(folder): count for folder, count in folders.items() if count > MOST_MODULES and folder not in one_per_command
    } == {}


@pytest.mark.parametrize("init", sorted((ROOT / "jpo").rglob("__init__.py")), ids=lambda init: str(init.parent.relative_to(ROOT)))
def test_a_map_of_a_folder_names_all_that_is_in_it(init: Path) -> None:
    drawn = ast.get_docstring(ast.parse(init.read_text("utf-8"))) or ""
    if not re.search(r"^ *\w+\.py  ", drawn, re.MULTILINE):
        return  # a sentence, not a map
    modules = {path.stem for path in init.parent.glob("*.py")} | {path.parent.name for path in init.parent.glob("*/__init__.py")}
    assert [name for name in sorted(modules - {"__init__", "__main__"}) if not re.search(rf"\b{name}\b", drawn)] == []


def test_no_module_has_a_vague_name() -> None:
    assert [name_of(path) for path in SOURCES if path.stem in VAGUE_NAMES] == []


def names_of(path: Path) -> Iterator[str]:
    """The names that a module gives: its own, its functions, their parameters, its records and their fields."""
    yield path.stem
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def test_names_say_what_things_are_in_words_of_the_field() -> None:
    """A function `of_x` names neither what it does nor what it returns."""
    functions = [node.name for path in JPO for node in nodes(path) if isinstance(node, ast.FunctionDef)]
    assert [name for name in functions if name.lstrip("_").startswith("of_")] == []
    given = ((path, name) for path in JPO for name in names_of(path) if name != "near_identical")
    words = ((name_of(path), name, re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_")) for path, name in given)
    assert [(place, name) for place, name, parts in words if PRIVATE_WORDS & {*parts}] == []


def test_each_class_name_means_one_thing() -> None:
    names = Counter(node.name for path in JPO for node in nodes(path) if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == []


def test_no_parameter_list_is_longer_than_one_reads_at_a_glance() -> None:
    long = [
        f"{name_of(path)}:{node.name}"
        for path in SOURCES
        if path not in JPO or floor(path) != "cli"
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and parameters(node) > MOST_PARAMETERS
    ]
    assert set(long) <= PUBLIC_SIGNATURES


def fields_of(record: ast.ClassDef) -> int:
    """How many values one must give, or may, to build it: of dataclasses, pydantic models and all that is written like them."""
    shared = {"ClassVar", "InitVar"}
    named = [part for part in record.body if isinstance(part, ast.AnnAssign)]
    return sum(not shared & {name.id for name in ast.walk(part.annotation) if isinstance(name, ast.Name)} for part in named)


def test_records_name_what_they_are_in_few_fields() -> None:
    """What has more is several things, and functions take all of it for one; the exceptions have a reason, and are needed."""
    records = [node for path in JPO for node in nodes(path) if isinstance(node, ast.ClassDef)]
    assert {record.name for record in records if fields_of(record) > MOST_FIELDS} == LARGE_RECORDS.keys()


def test_every_module_has_a_test_file_of_its_name() -> None:
    """tests/ mirrors jpo/; a module that is one file of tests is found by its name alone."""
    missing = [
        name_of(path)
        for path in SOURCES
        if path.name not in ("__init__.py", "__main__.py")
        and not (ROOT / "tests" / mirrored(path)).exists()
        and name_of(path) not in UNTESTED
    ]
    assert missing == []


def test_the_list_of_untested_modules_is_no_longer_than_it_must_be() -> None:
    found = {name_of(path) for path in SOURCES if (ROOT / "tests" / mirrored(path)).exists()}
    assert [name for name in UNTESTED if name in found or not (ROOT / name).exists()] == []


def mirrored(path: Path) -> Path:
    """The place of a module's test file under tests/. A command line is tested where its command is."""
    inside = path.relative_to(ROOT)
    folder = inside.parent if inside.parts[0] == "constraints" else inside.parent.relative_to("jpo")
    of_plugin = folder.parts[:1] == ("plugins",)
    if inside.parts[0] == "jpo" and floor(path) == "cli":
        stories = folder / "story" if inside.stem == "cli" else folder.with_name("story") if of_plugin else Path("commands")
        if inside.stem == "cli" and (ROOT / "jpo" / stories).with_suffix(".py").exists():
            return folder / "test_story.py"
        command = stories / (folder.name if inside.stem == "cli" else inside.stem)
        if (ROOT / "jpo" / command).is_dir():
            return command / f"test_{inside.stem}.py"
        if inside.stem == "cli" and (ROOT / "jpo" / stories).is_dir():
            return stories / f"test_{folder.name}.py"
        if (ROOT / "jpo" / command).with_suffix(".py").exists():
            return stories / f"test_{inside.stem}.py"
    return folder / f"test_{path.name}"


def test_only_the_project_and_the_command_line_read_settings() -> None:
    """`.values.` of loaded settings stops there; commands and parts get what they need."""
    readers = [
        f"{name_of(path)}:{node.lineno}"
        for path in JPO
        if floor(path) not in ("project", "cli", "runlog.py")
        for node in nodes(path)
        if isinstance(node, ast.Attribute)
        and (found := re.search(r"\bsettings\.(\w+)$", ast.unparse(node)))
        and found[1] not in PLACES_OF_SETTINGS
    ]
    assert readers == []


def test_reports_compute_nothing() -> None:
    """Arithmetic belongs to the part that owns the quantity; a report only says it. Joining texts and tuples is none."""
    operators = (ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow, ast.Mod)
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in sorted((ROOT / "jpo/report").glob("*.py"))
        for node in nodes(path)
        if isinstance(node, ast.BinOp) and isinstance(node.op, operators)
    ]
    assert found == []


def test_json_is_written_in_one_place() -> None:
    writers = {
        name_of(path)
        for path in JPO
        for node in nodes(path)
        if (isinstance(node, ast.Call) and ast.unparse(node.func) in JSON_FUNCTIONS and not from_forms(path))
        or imported_names(node) & JSON_FUNCTIONS
    }
    assert writers <= set(JSON_WRITERS)


def names_in(node: ast.AST) -> set[str]:
    """What a node names or imports: {"a.b"} for `import a.b` and `a.b`, {"a", "a.b"} for `from a import b`."""
    if isinstance(node, ast.ImportFrom):
        return {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    return {ast.unparse(node)} & WAYS_OUT if isinstance(node, ast.Attribute | ast.Name) else set()


def test_text_leaves_the_process_through_the_gate_alone() -> None:
    found = {name_of(path) for path in SOURCES if any(names_in(node) & (WAYS_OUT | LOUD_MODULES) for node in nodes(path))}
    assert found == set(AT_THE_GATE)


def test_what_a_secret_looks_like_is_said_in_one_place() -> None:
    """By a pattern of its own a module would hide what others show. The page of settings names them, and asks that place."""
    patterns = {
        name_of(path): [
            node.args[0].value
            for node in nodes(path)
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.") and node.args
            if isinstance(node.args[0], ast.Constant)
        ]
        for path in SOURCES
    }
    shapes = re.compile("passw|secret|token|AKIA|ghp_|PRIVATE", re.IGNORECASE)
    found = {name for name, texts in patterns.items() if any(shapes.search(str(text)) for text in texts)}
    refuses_settings, leaves_out_variables = "jpo/project/load.py", "jpo/plugins/launch/engines/slurm/programs.py"
    assert found == {"jpo/wording/hidden.py", refuses_settings, leaves_out_variables}


def test_servers_are_asked_in_one_place() -> None:
    """By jpo/http, which has deadlines, limits and no secret in its messages; a library that is named is imported."""
    found = {name_of(path) for path in JPO if any(libraries_in(node) & HTTP_LIBRARIES for node in nodes(path))}
    assert {name for name in found if not name.startswith("jpo/http/")} == {*SPEAK_HTTP}


def libraries_in(node: ast.AST) -> set[str]:
    """What a node imports, {"urllib.request"} for `from urllib import request`, or names in quotes, but for words of English."""
    if isinstance(node, ast.ImportFrom):
        return {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module), str(node.module).partition(".")[0]}
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names} | {alias.name.partition(".")[0] for alias in node.names}
    return {node.value} - {"requests"} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def test_no_child_process_inherits_stdout_or_stderr() -> None:
    """What it says there would pass no gate."""
    loose = [
        f"{name_of(path)}:{node.lineno}"
        for path in SOURCES
        for node in nodes(path)
        if isinstance(node, ast.Call)
        and re.fullmatch(r"subprocess\.\w+|Popen|(asyncio\.)?create_subprocess_\w+", ast.unparse(node.func))
        and not {"stdout", "stderr"} <= {keyword.arg for keyword in node.keywords}
    ]
    assert loose == []


def test_files_are_written_where_it_is_known_what_is_in_them() -> None:
    writers = {
        name_of(path)
        for path in SOURCES
        for node in nodes(path)
        if "jpo.files.whole" in imported_names(node)
        or (
            isinstance(node, ast.Call)
            and (
                ast.unparse(node.func).rpartition(".")[2] in WRITERS
                or (ast.unparse(node.func).endswith("open") and any(ast.unparse(mode) in MODES for mode in node.args[:2]))
            )
        )
    }
    assert writers == set(WRITTEN)


def from_forms(path: Path) -> bool:
    """Whether `json` is report/forms/json.py in this module."""
    return any(
        isinstance(node, ast.ImportFrom) and node.module == "jpo.report.forms" and any(name.name == "json" for name in node.names)
        for node in nodes(path)
    )


def test_files_are_written_in_one_place() -> None:
    found = {name_of(path) for path in SOURCES if WRITING.search(without_texts(path))}
    assert found == {*MAY_WRITE_FILES}


def test_whoever_starts_a_process_ends_it() -> None:
    assert {name_of(path) for path in SOURCES if STARTING.search(without_texts(path))} == {*MAY_START_PROCESSES}


@cache
def without_texts(path: Path) -> str:
    """A module's code without docstrings and comments."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = None
    return ast.unparse(tree)


def test_nothing_is_executed_from_data() -> None:
    assert [f"{name_of(path)}:{getattr(node, 'lineno', '?')}" for path in SOURCES for node in nodes(path) if executes(node)] == []


def executes(node: ast.AST) -> bool:
    """Whether a node imports what runs data, calls it, or hands a command to a shell."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        modules = {*(alias.name for alias in node.names), getattr(node, "module", None) or ""}
        return bool({name.split(".")[0] for name in modules} & DANGEROUS_MODULES)
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    dangerous = name in DANGEROUS_CALLS and not (name == "compile" and isinstance(node.func, ast.Attribute))
    return dangerous or any(keyword.arg == "shell" for keyword in node.keywords)


def test_only_the_program_itself_catches_everything() -> None:
    broad = [
        name_of(path)
        for path in SOURCES
        for node in nodes(path)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or {"Exception", "BaseException"} & {n.id for n in ast.walk(node.type) if isinstance(n, ast.Name)})
    ]
    assert set(broad) == {"jpo/__main__.py", "jpo/plugin.py"}, "the program itself, and the import of others' code"


def test_nothing_below_commands_and_project_reads_clock_or_environment() -> None:
    found = [
        f"{name_of(path)}:{getattr(node, 'lineno', '?')}"
        for path in JPO
        if floor(path) not in MAY_READ_CLOCK and name_of(path) not in SEE_THE_CLOCK
        for node in nodes(path)
        if (isinstance(node, ast.Attribute) and ast.unparse(node) in CLOCK_AND_ENVIRONMENT)
        or imported_names(node) & CLOCK_AND_ENVIRONMENT
    ]
    assert found == []


def test_the_story_fits_on_one_screen() -> None:
    tree = ast.parse((ROOT / "jpo/commands/suggest.py").read_text(encoding="utf-8"))
    (story,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "suggest"]
    assert story.end_lineno is not None
    assert story.end_lineno - story.lineno < 25


def test_no_file_is_longer_than_what_one_reads_at_a_sitting() -> None:
    long = {name_of(path): count for path in SOURCES if (count := len(path.read_text(encoding="utf-8").split("\n"))) > 350}
    assert long == {}


def test_what_an_older_python_runs_does_not_evaluate_its_annotations() -> None:
    """`list[int]` is an error when Python 3.8 defines a function, `X | None` when 3.9 does; who may be run by them says so."""
    said = {
        path: re.search(r"standard library(?: only)?, Python 3\.(\d+) or newer", " ".join(_docstring(path).split()))
        for path in JPO
    }
    older = {path: int(found[1]) for path, found in said.items() if found and int(found[1]) < 11}
    assert {path.name for path in older} == {"runlog.py", "supervisor.py", "processes.py", "call.py"}
    for path, minor in older.items():
        tree = ast.parse(path.read_text("utf-8"), feature_version=(3, minor))
        assert any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body), path


def _docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
