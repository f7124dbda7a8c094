"""`python -m constraints` as a pipeline runs it: a copy of the folder alone, nothing but Python."""

import datetime
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import constraints
from constraints.rules import RULES
from constraints.second_look import RULES_OF_FILES, main

ALL = len(RULES) + RULES_OF_FILES
BEFORE = """\
[workload]
dataset = digits
password = hunter2

[training]
batch_size = 64   # samples, over all GPUs
lr = 0.01 ; Adam
epochs = 20

[resources]
gpus = 2
memory = 16Gi
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Path:
    """An empty folder but for a copy of the package."""
    folder = tmp_path_factory.mktemp("alone")
    source = Path(constraints.__file__).parent
    shutil.copytree(source, folder / "constraints", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture
def review(tmp_path, capsys):
    """Write the files and look at them; return (exit code, stdout, stderr)."""

    def run(after: str | bytes, before: str | bytes = BEFORE, limits: str | bytes | None = None, *more: str):
        paths = write(tmp_path, before=before, after=after, limits=limits)
        try:
            code = main([*paths, *more], datetime.date(2026, 12, 31))
        except SystemExit as end:  # argparse
            code = end.code
        return code, *capsys.readouterr()

    return run


def write(folder: Path, **contents: str | bytes | None) -> list[str]:
    """Write the files that have a content; return the arguments that name them."""
    arguments = []
    for name, option in (("before", []), ("after", []), ("limits", ["--limits"])):
        content = contents.get(name)
        if content is not None:
            path = folder / ("jpo.toml" if name == "limits" else f"{name}.ini")
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            arguments += [*option, str(path)]
    return arguments


def process(folder: Path, *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env={}, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("how", [["-S", "-m", "constraints"], ["-I", "-S", "constraints"]])
def test_a_copy_of_the_folder_alone_approves_and_rejects(how, alone, tmp_path):
    fine = write(tmp_path, before=BEFORE, after=BEFORE.replace("= 64", "= 128"))
    assert process(alone, *how, *fine) == (0, f"approved: batch_size 64 -> 128; {ALL} rules\n", "")
    code, out, err = process(alone, *how, *write(tmp_path, before=BEFORE, after=BEFORE.replace("= 64", "= 1000")))
    assert (code, err) == (1, "")
    assert "violated: largest_change: batch_size = 1000 is too far from today's 64" in out


def test_another_package_of_the_same_name_is_not_taken_for_the_guard(alone, tmp_path):
    (tmp_path / "constraints.py").write_text("raise SystemExit(0)")
    files = write(tmp_path, before=BEFORE, after=BEFORE.replace("= 64", "= 1000"))
    assert process(tmp_path, "-I", "-S", str(alone / "constraints"), *files)[0] == 1


def test_a_terminal_that_cannot_show_a_name_does_not_end_the_check(alone, tmp_path):
    files = write(tmp_path, before="[größe]\nx = 1\n", after="[größe]\nx = 2\n")
    environment = {"PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-S", "-m", "constraints", *files]
    done = subprocess.run(command, cwd=alone, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "gr\\xf6\\xdfe.x was changed" in done.stdout


def test_limits_may_stand_in_pyproject_toml(tmp_path, capsys):
    (tmp_path / "pyproject.toml").write_text("[tool.jpo.parameters]\nbatch_size = { max = 100 }\n")
    files = write(tmp_path, before=BEFORE, after=BEFORE.replace("= 64", "= 128"))
    assert main([*files, "--limits", str(tmp_path / "pyproject.toml")], datetime.date(2026, 12, 31)) == 1
    assert "above 100" in capsys.readouterr().out


def test_the_checker_of_a_team_runs_in_a_process_of_its_own(alone, tmp_path):
    limits = '[check]\ncommand = ["grep", "-q", "batch_size = 96", "{config}"]\n'
    files = write(tmp_path, before=BEFORE, after=BEFORE.replace("= 64", "= 128"), limits=limits)
    assert process(alone, "-I", "-S", "constraints", *files)[0] == 1


def test_the_same_file_is_approved(review):
    assert review(BEFORE) == (0, f"approved: no value changes; {ALL} rules\n", "")


def test_each_broken_rule_is_named_in_words_on_a_line_of_its_own(review):
    limits = "[parameters]\nlearning_rate = { max = 0.1 }\n"
    code, out, _ = review(BEFORE.replace("= 64", "= 100001").replace("0.01", "0.5"), BEFORE, limits)
    assert code == 1
    too_far = "violated: largest_change: {} is too far from today's {}: one step is at most a factor of {}"
    assert out.splitlines() == [
        f"rejected: batch_size 64 -> 100001, learning_rate 0.01 -> 0.5; 3 of {ALL} rules broken",
        "violated: at_most_max: learning_rate = 0.5 is above 0.1, the largest value allowed",
        too_far.format("batch_size = 100001", 64, "4, so 16 to 256"),
        too_far.format("learning_rate = 0.5", 0.01, "10, so 0.001 to 0.1"),
        "violated: batch_divisible_by_gpus: batch_size = 100001 cannot be divided evenly among gpus = 2",
        "allowed: batch_size = 256, learning_rate = 0.1, epochs = 20, gpus = 2, memory_gib = 16",
    ]


def test_the_limits_of_jpo_toml_count(review):
    limits = '[parameters]\nbatch_size = { key = "training.batch_size", max = 100 }\n'
    code, out, _ = review(BEFORE.replace("= 64", "= 128"), BEFORE, limits)
    assert code == 1
    assert "at_most_max: batch_size = 128 is above 100" in out


def test_another_key_that_changes_is_named_and_its_value_is_not_shown(review):
    code, out, _ = review(BEFORE.replace("hunter2", "hunter3"))
    assert code == 1
    assert "violated: nothing_else_changes: workload.password was changed" in out
    assert "hunter" not in out


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("epochs = 20\n", "", "training.epochs was removed"),
        ("epochs = 20\n", "epochs = 20\nextra = 1\n", "training.extra was added"),
        ("[resources]\ngpus = 2\nmemory = 16Gi\n", "", "[resources] was removed"),
        ("[resources]", "[more]\n[resources]", "[more] was added"),
        ("# samples, over all GPUs", "", "the comment of training.batch_size was changed"),
        ("dataset = digits", "dataset = digits # x", "workload.dataset was changed"),
        ("[workload]", "[DEFAULT]\nbatch_size = 1\n[workload]", "[DEFAULT] was added"),
    ],
)
def test_nothing_but_values_of_parameters_may_differ(review, old, new, what):
    code, out, _ = review(BEFORE.replace(old, new))
    assert code == 1
    assert f"nothing_else_changes: {what}; " in out


def test_a_value_that_became_unreadable_is_a_violation(review):
    code, out, _ = review(BEFORE.replace("= 64", "= auto"))
    assert code == 1
    assert "readable_value: " in out
    assert "batch_size = 'auto' is not a whole number" in out


@pytest.mark.parametrize(
    ("comment", "why"),
    [("# jpo: pin", "pinned in config.ini"), ("; jpo: ignore until 2027-01-01", "frozen in config.ini until 2027-01-01")],
)
def test_a_comment_holds_the_value_on_its_line(review, comment, why):
    before = BEFORE.replace("# samples, over all GPUs", comment)
    code, out, _ = review(before.replace("= 64", "= 128"), before)
    assert code == 1
    assert "not_held: batch_size = 128 must stay 64: it is " in out
    assert why in out


def test_a_value_that_is_not_understood_today_is_no_parameter_and_must_not_change(review):
    before = BEFORE.replace("16Gi", "16")
    code, out, _ = review(before, before)
    assert code == 0
    assert "resources.memory = '16' has no unit" in out
    assert review(before.replace("= 16", "= 32"), before)[0] == 1


def test_a_name_in_two_sections_is_no_parameter_until_jpo_toml_says_which(review):
    before = BEFORE + "[evaluation]\nbatch_size = 256\n"
    code, out, _ = review(before.replace("= 64", "= 128"), before)
    assert code == 1
    assert "batch_size is in training.batch_size and evaluation.batch_size; say which in [parameters] batch_size key" in out
    assert review(before.replace("= 64", "= 128"), before, '[parameters]\nbatch_size = { key = "training.batch_size" }')[0] == 0


def test_json_says_the_same(review):
    code, out, _ = review(BEFORE.replace("= 64", "= 1000"), BEFORE, None, "-o", "json")
    answer = json.loads(out)
    assert (code, answer["approved"], answer["rules"]) == (1, False, ALL)
    assert answer["changes"] == [{"parameter": "batch_size", "key": "training.batch_size", "old": 64, "new": 1000}]
    assert [violation["rule"] for violation in answer["violations"]] == ["largest_change"]
    assert answer["parameters"]["batch_size"] == 256


def test_the_teams_checker_has_the_last_word(review):
    limits = '[check]\ncommand = ["sh", "-c", "grep -q 96 $0 || { echo only 96; exit 1; }", "{config}"]\ntimeout = "10s"\n'
    assert review(BEFORE.replace("= 64", "= 96"), BEFORE, limits)[:2] == (0, f"approved: batch_size 64 -> 96; {ALL + 1} rules\n")
    code, out, _ = review(BEFORE.replace("= 64", "= 128"), BEFORE, limits)
    assert code == 1
    assert "violated: workload_checker: sh rejects with exit code 1: only 96" in out


@pytest.mark.parametrize(
    ("after", "limits", "message"),
    [
        ("batch_size = 1\n", None, "after.ini:1: no section yet; put a line like [training] before it"),
        ("[a]\nx = 1\nx = 2\n", None, "after.ini:3: 'a.x' appears again; keep one of them"),
        ("[a]\n[a]\n", None, "after.ini:2: section 'a' appears again; keep one of them"),
        ("[a]\nflag\n  more\n", None, "after.ini: an indented line continues an option that has no value; remove its blanks"),
        ("[a]\n= 1\n", None, "after.ini:2: is not option = value; correct or remove the line"),
        (BEFORE, "x = ", "jpo.toml: is not TOML"),
        (BEFORE, b"x = '\xff'", "jpo.toml: is not UTF-8 at byte 5; save it as UTF-8"),
        (BEFORE, "x = " + "[" * 5000, "jpo.toml: is not TOML"),
        (
            BEFORE,
            "[limit]\nbatch_size = { max_change = 2 }",
            "jpo.toml: [limit]: unknown section; limits of parameters belong in",
        ),
        (BEFORE, "[quota]\ngpus = true", "jpo.toml: [quota] gpus: True is not a number; "),
        (
            BEFORE,
            '[check]\ncommand = ["no-such-program", "{config}"]',
            "'no-such-program' cannot be run (No such file or directory); ",
        ),
    ],
)
def test_input_that_cannot_be_used_is_one_line_and_exit_code_2(review, after, limits, message):
    code, out, err = review(after, BEFORE, limits)
    assert (code, out) == (2, "")
    assert message in err
    assert err.startswith("constraints: ")
    assert err.count("\n") == 1


def test_files_that_are_missing_or_no_files_are_exit_code_2(tmp_path, capsys):
    finding = {
        tmp_path / "missing.ini": "cannot be read",
        tmp_path: "is not a plain file",
        Path("/dev/zero"): "is not a plain file",
    }
    for place, found in finding.items():
        assert main([str(place), str(place)], datetime.date(2026, 12, 31)) == 2
        assert f"{place}: {found}" in capsys.readouterr().err


def test_unknown_options_are_exit_code_2_and_help_says_what_the_codes_mean(review):
    assert review(BEFORE, BEFORE, None, "--nonsense")[0] == 2
    code, out, _ = review(BEFORE, BEFORE, None, "--help")
    assert code == 0
    assert "0 approved, 1 a rule is broken, 2 unusable input" in out


def test_control_characters_in_a_file_do_not_reach_the_terminal(review):
    before = "[a\x1b[31mb]\nbatch_size = 8\x07\nk\x9b = 1\n"
    code, out, _ = review(before.replace("= 1", "= 2"), before)
    assert code == 1
    assert out.replace("\n", "").isprintable()


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_text_of_a_file_or_of_the_command_line_steers_a_ci(review, form):
    attack = "##[error]a ##vso[b]c @d \x85\u202e"
    before = f"[{attack}]\nbatch_size = 8\n::error::{attack} = 1\n  ::warning::x\n"
    for code, out, err in (
        review(before, before.replace("= 1", "= 2"), None, "-o", form),
        review(before, before.replace("= 8", f"= 8{attack}"), None, "-o", form),
        review(BEFORE, BEFORE, None, f"--nonsense\n::error::{attack}\n::b"),
        review(BEFORE, BEFORE, None, "-o", f"\n::error::{attack}"),
    ):
        assert code in (1, 2)
        for line in (out + err).split("\n"):
            assert line.isprintable()
            assert not re.search(r"^\s*::|##[\w]*\[", line), line


def test_awkward_files_are_read_as_the_training_script_reads_them(review):
    for before in (
        BEFORE.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + BEFORE.encode(),
        BEFORE.replace("digits", "größe").encode("latin-1"),
        BEFORE.replace("batch_size = 64 ", "BATCH_SIZE:64 ").encode(),
        BEFORE.replace("password = hunter2", "password = 100%\nflag").encode(),
    ):
        code, out, err = review(before.replace(b"64", b"128"), before)
        assert (code, out, err) == (0, f"approved: batch_size 64 -> 128; {ALL} rules\n", "")


REFERRING = "[DEFAULT]\nlr = 0.01\n[training]\nlearning_rate = %(lr)s\n"


def test_an_edit_of_the_origin_is_an_edit_of_the_parameter(review):
    assert review(REFERRING.replace("0.01", "0.02"), REFERRING)[0] == 0
    code, out, _ = review(REFERRING.replace("0.01", "0.2"), REFERRING)
    assert (code, "largest_change: learning_rate = 0.2 is too far" in out) == (1, True)


def test_a_reference_must_stay_one(review):
    code, out, _ = review(REFERRING.replace("%(lr)s", "0.02"), REFERRING)
    assert (code, "training.learning_rate was changed" in out) == (1, True)


@pytest.mark.parametrize("other", ["warmup = %(lr)s", "half = x%(learning_rate)s"])
def test_no_other_option_changes_with_the_origin_unless_it_is_named(review, other):
    before = f"{REFERRING}{other}\n"
    code, out, _ = review(before.replace("0.01", "0.02"), before)
    assert (code, "was changed with DEFAULT.lr, to which it refers" in out) == (1, True)
    assert review(before.replace("0.01", "0.02"), before, '[parameters]\nlearning_rate = { key = "DEFAULT.lr" }\n')[0] == 0


@pytest.mark.parametrize("text", ["%(nowhere)s", "%(learning_rate)s", "${a:b}", "1e-%(lr)s"])
def test_a_reference_that_leads_to_no_number_must_not_change(review, text):
    before = f"[training]\nlearning_rate = {text}\n"
    assert "it must not change" in review(before, before)[1]


IN_FORCE = BEFORE.replace("= 64", "= 1024").replace("lr = 0.01", "lr = 0.5")


def between(tmp_path: Path, content: str) -> tuple[str, str]:
    path = tmp_path / "in-force.ini"
    path.write_text(content)
    return "--in-force", str(path)


def test_many_steps_are_judged_as_many_where_the_values_in_force_are_at_hand(review, tmp_path):
    after = IN_FORCE.replace("= 1024", "= 4096")
    assert review(after)[0] == 1
    code, out, err = review(after, BEFORE, None, *between(tmp_path, IN_FORCE))
    first = f"approved: committed to in force: batch_size 64 -> 1024, learning_rate 0.01 -> 0.5; {ALL} rules\n"
    assert (code, out, err) == (0, f"{first}approved: batch_size 1024 -> 4096; {ALL} rules\n", "")


def test_the_step_from_the_values_in_force_keeps_to_every_limit(review, tmp_path):
    code, out, _ = review(IN_FORCE.replace("= 1024", "= 8192"), BEFORE, None, *between(tmp_path, IN_FORCE))
    assert (code, "largest_change: batch_size = 8192 is too far from today's 1024" in out) == (1, True)


@pytest.mark.parametrize(
    ("forged", "limits", "rule"),
    [
        (("= 64", "= 100000"), "[parameters]\nbatch_size = { max = 4096 }", "at_most_max"),
        (("= 64", "= 100"), '[parameters]\nbatch_size = { step = "pow2" }', "power_of_two"),
        (("= 64", "= 128"), "[parameters]\nbatch_size = { freeze = true }", "not_held"),
        (("gpus = 2", "gpus = 16"), "[quota]\ngpus = 8", "within_quota"),
        (("gpus = 2", "gpus = 3"), "", "batch_divisible_by_gpus"),
        (("hunter2", "hunter3"), "", "nothing_else_changes"),
        (("# samples, over all GPUs", "# jpo: ignore until 2030-01-01"), "", "nothing_else_changes"),
        (("epochs = 20", "epochs = 20\nepochs_more = 1"), "", "nothing_else_changes"),
        (("[resources]", "[hidden]\nx = 1\n[resources]"), "", "nothing_else_changes"),
        (("epochs = 20", "epochs = many"), "", "readable_value"),
    ],
)
def test_a_forged_file_of_values_in_force_gets_nothing_past_the_limits_but_the_size_of_a_step(
    review, tmp_path, forged, limits, rule
):
    """Nor does the last step matter then: it is the same file."""
    text = BEFORE.replace(*forged)
    code, out, _ = review(text, BEFORE, limits, *between(tmp_path, text))
    assert (code, f"violated: {rule}: " in out) == (1, True)


def test_a_pinned_value_stays_pinned_on_the_way(review, tmp_path):
    pinned = BEFORE.replace("# samples, over all GPUs", "# jpo: pin")
    text = pinned.replace("= 64", "= 128")
    code, out, _ = review(text, pinned, None, *between(tmp_path, text))
    assert (code, "must stay 64: it is pinned in config.ini" in out) == (1, True)


def test_without_a_change_since_the_commit_the_answer_is_that_of_one_step(review, tmp_path):
    after = BEFORE.replace("= 64", "= 128")
    code, out, _ = review(after, BEFORE, None, *between(tmp_path, BEFORE))
    assert (code, out.splitlines()[1]) == (0, review(after)[1].strip())


def test_the_json_says_both_steps(review, tmp_path):
    step = between(tmp_path, IN_FORCE)
    code, out, _ = review(IN_FORCE.replace("= 1024", "= 2048"), BEFORE, None, *step, "-o", "json")
    said = json.loads(out)
    assert (code, said["approved"], said["in_force"]["approved"]) == (0, True, True)
    assert [change["new"] for change in (*said["in_force"]["changes"], *said["changes"])] == [1024.0, 0.5, 2048.0]
    forged = between(tmp_path, BEFORE.replace("hunter2", "hunter3"))
    code, out, _ = review(BEFORE.replace("hunter2", "hunter3"), BEFORE, None, *forged, "-o", "json")
    said = json.loads(out)
    assert (code, said["approved"], said["in_force"]["approved"], said["violations"]) == (1, False, False, [])


def test_the_checker_is_not_asked_about_what_the_rules_refuse_on_the_way(review, tmp_path):
    marker = tmp_path / "asked"
    limits = f'[check]\ncommand = ["touch", "{marker}", "{{config}}"]\n[parameters]\nbatch_size = {{ max = 512 }}\n'
    assert review(IN_FORCE, BEFORE, limits, *between(tmp_path, IN_FORCE))[0] == 1
    assert not marker.exists()


def test_a_file_in_force_that_cannot_be_read_is_unusable(review, tmp_path):
    code, out, err = review(BEFORE, BEFORE, None, "--in-force", str(tmp_path / "missing.ini"))
    assert (code, out, err.count("\n")) == (2, "", 1)
