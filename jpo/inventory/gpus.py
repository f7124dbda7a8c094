"""GPUs that a process may use here, and how busy they are, as nvidia-smi reports: it comes with every driver.

What it does not report of a card ("[N/A]" on MIG and old cards, "[Insufficient Permissions]") is None.
"""

import math
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jpo.files.reading import number_or_nan
from jpo.timeouts import NoAnswerInTime, answer_of

FIELDS = ("index", "uuid", "memory.total", "memory.used", "utilization.gpu", "name")
MIB_PER_GIB = 1024.0
DEVICES = ("nvidia*", "dxg", "kfd")
"""Below /dev: without one of these (NVIDIA, NVIDIA within WSL, AMD) no process can reach a GPU."""
NO_GPU = "No devices were found"
INFOROM = 14
"""Exit code with a complete answer: a card's infoROM is damaged, but the card works."""
MIG = re.compile(r"\s+MIG (?P<profile>(?:\d+c\.)?\d+g\.(?P<gib>\d+)gb\S*)\s.*\(UUID: (?P<uuid>MIG-[^)]+)\)")
CARD = re.compile(r"GPU \d+: .*\(UUID: (?P<uuid>GPU-[^)]+)\)")
BRANDS = re.compile(r"\b(nvidia|tesla|geforce|quadro|grid)\b")
FORM = re.compile(r"(?<![\s-])[\s-]++(sxm\w*|pcie|nvl|hbm\w*|\d+gb)\b.*")
"""What follows the type in a name: form factor and memory."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU, or one slice of a partitioned one (MIG).

    Attributes:
        name: the vendor's, e.g. "Tesla V100-SXM2-16GB".
        gpu_type: the same in one short word, e.g. "v100".
        memory_gib, memory_used_gib: of this card; None: not reported.
        utilisation: share (0..1) of the last second or less in which it computed anything; None: not reported.
        uuid: by which CUDA_VISIBLE_DEVICES can name it.
    """

    name: str
    gpu_type: str
    memory_gib: float | None
    utilisation: float | None
    memory_used_gib: float | None
    uuid: str = ""


def gpus_here(environ: Mapping[str, str], *, program: str = "nvidia-smi") -> tuple[Gpu, ...]:
    """GPUs that a process with these environment variables could use now; none also where that is unknown."""
    return detect_gpus(environ, program=program)[0] or ()


def detect_gpus(
    environ: Mapping[str, str], *, program: str = "nvidia-smi", timeout_seconds: float = 5.0, dev: Path = Path("/dev")
) -> tuple[tuple[Gpu, ...] | None, str]:
    """GPUs that a process could use, or None where that is unknown; and the reason why they are unknown, none or not all.

    Args:
        environ: CUDA_VISIBLE_DEVICES hides what it does not name; an empty one hides all.
        program: nvidia-smi; searched along PATH if it is not a path.
        timeout_seconds: the longest it may take to answer: it hangs where a card has failed.
        dev: folder of devices; without any, and without the program, there is no GPU.
    """
    wanted = environ.get("CUDA_VISIBLE_DEVICES")
    if wanted is not None and not wanted.strip():
        return (), "CUDA_VISIBLE_DEVICES is empty"
    executable = shutil.which(program, path=environ.get("PATH"))
    if executable is None:
        none_here = dev.is_dir() and not any(True for pattern in DEVICES for _ in dev.glob(pattern))
        return ((), "no GPU device") if none_here else (None, f"{program} is not installed")
    try:
        gpus = tuple(_reported_by(executable, timeout_seconds))
    except (ValueError, OSError) as error:
        return None, f"{program}: {error}"
    if wanted is None:
        return gpus, "" if gpus else f"{program} found none"
    return tuple(visible(gpus, wanted)), f"CUDA_VISIBLE_DEVICES={wanted}"


def visible(gpus: Sequence[Gpu], wanted: str) -> Iterator[Gpu]:
    """GPUs that CUDA_VISIBLE_DEVICES names, by number or by the start of a UUID.

    As CUDA does it, what follows the first name of no GPU is hidden. Numbers are taken in the order of the bus.
    """
    shown: list[Gpu] = []
    for word in map(str.strip, wanted.split(",")):
        if word.startswith(("GPU-", "MIG-")):
            named = [gpu for gpu in gpus if gpu.uuid.startswith(word)]
        else:
            named = [gpu for number, gpu in enumerate(gpus) if word == str(number)]
        if len(named) != 1 or named[0] in shown:
            return
        shown += named
        yield named[0]


def type_of(name: str) -> str:
    """The type of a GPU in one word: "NVIDIA A100-SXM4-80GB" -> "a100", "NVIDIA GeForce RTX 3080 Ti" -> "rtx3080ti"."""
    plain = BRANDS.sub(" ", name.lower()).strip(" -")
    return FORM.sub("", plain).replace(" ", "") or plain


def _reported_by(program: str, timeout_seconds: float) -> Iterator[Gpu]:
    """All GPUs in nvidia-smi's order, a partitioned one as its slices; errors as of `_answer`, ValueError for another answer."""
    query = [program, f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits"]
    answer = _answer(query, timeout_seconds)
    gpus = [gpu for line in answer.splitlines() if (gpu := _card(line))]
    if not gpus and NO_GPU not in answer:
        raise ValueError(f"no card in its answer, {_excerpt(answer)}")
    partitioned = any(gpu.utilisation is None for gpu in gpus)  # or some old cards
    slices = _slices(_answer([program, "-L"], timeout_seconds)) if partitioned else {}
    for gpu in gpus:
        if gpu.uuid not in slices:
            yield gpu
        for profile, memory_gib, uuid in slices.get(gpu.uuid, ()):
            yield Gpu(f"{gpu.name} MIG {profile}", f"{gpu.gpu_type}-{profile}", memory_gib, None, None, uuid)


def _card(line: str) -> Gpu | None:
    """One line of the query; None for a warning in between."""
    words = line.split(", ", len(FIELDS) - 1)
    if len(words) < len(FIELDS) or not words[0].strip().isdigit():
        return None
    _, uuid, total, used, busy, name = (word.strip() for word in words)
    memory, memory_used, percent = _number(total), _number(used), _number(busy)
    return Gpu(
        name=name,
        gpu_type=type_of(name),
        memory_gib=None if memory is None else memory / MIB_PER_GIB,
        utilisation=None if percent is None else min(1.0, percent / 100),
        memory_used_gib=None if memory_used is None else memory_used / MIB_PER_GIB,
        uuid=uuid,
    )


def _slices(listed: str) -> dict[str, list[tuple[str, float, str]]]:
    """(profile, GiB, UUID) of the slices of each partitioned GPU, by its UUID, out of `nvidia-smi -L`."""
    slices: dict[str, list[tuple[str, float, str]]] = {}
    card = ""
    for line in listed.splitlines():
        if found := CARD.match(line):
            card = found["uuid"]
        elif card and (found := MIG.match(line)):
            slices.setdefault(card, []).append((found["profile"], float(found["gib"]), found["uuid"]))
    return slices


def _number(text: str) -> float | None:
    value = number_or_nan(text)
    return value if math.isfinite(value) and value >= 0 else None


def _answer(arguments: Sequence[str], timeout_seconds: float) -> str:
    """Output of a program; ValueError: it fails, or does not answer in time; OSError: it cannot be started."""
    try:
        answer = answer_of(arguments, seconds=timeout_seconds)
    except NoAnswerInTime as error:
        raise ValueError(str(error)) from None
    text = (answer.stdout + answer.stderr).decode("utf-8", "replace").strip("\n")
    if answer.exit_code not in (0, INFOROM) and NO_GPU not in text:
        raise ValueError(f"exit code {answer.exit_code}, {_excerpt(text)}")
    return text


def _excerpt(text: str) -> str:
    return " ".join(text[:1000].split())[:200] or "and no output"
