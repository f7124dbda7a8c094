"""nvidia-smi's words -> the GPUs that a process may use."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from jpo.inventory.gpus import Gpu, detect_gpus, gpus_here, type_of

V100 = """\
0, GPU-5c5c4d3f-1e23-5b0e-8c7e-2b9a1f0e7d11, 16160, 10412, 97, Tesla V100-SXM2-16GB
1, GPU-0d4b1a9c-77aa-4c8e-9e3f-9b1c2d3e4f50, 16160, 0, 0, Tesla V100-SXM2-16GB
2, GPU-9a3e2b11-6c5d-4f7e-8a9b-0c1d2e3f4a5b, 16160, 303, 0, Tesla V100-SXM2-16GB"""
T4 = "0, GPU-7e1f3a52-2b6c-9d4e-1f0a-8b7c6d5e4f3a, 15360, 2, 0, Tesla T4"
PARTITIONED = """\
0, GPU-7fdaf0a5-179b-f636-d15d-daf243e3ff16, 81920, 87, [N/A], NVIDIA A100-SXM4-80GB
1, GPU-d8594bd4-0fc3-8595-e355-7c98138f3b95, 81920, 41002, 88, NVIDIA A100-SXM4-80GB"""
LISTED = """\
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-7fdaf0a5-179b-f636-d15d-daf243e3ff16)
  MIG 1g.10gb     Device  0: (UUID: MIG-feb88891-0321-5fef-9c87-d4af3b54259e)
  MIG 3g.40gb     Device  1: (UUID: MIG-a25704ba-3a06-5299-a795-fd7cf4d13973)
GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-d8594bd4-0fc3-8595-e355-7c98138f3b95)"""
NO_DRIVER = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
    "Make sure that the latest NVIDIA driver is installed and running."
)

Smi = Callable[..., str]


def test_each_card_is_listed_with_its_type_memory_and_work(smi: Smi) -> None:
    busy, idle, _ = gpus_here({}, program=smi(V100))
    assert (busy.name, busy.gpu_type, busy.memory_gib) == ("Tesla V100-SXM2-16GB", "v100", 15.78125)
    assert (busy.utilisation, busy.memory_used_gib) == (0.97, 10412 / 1024)
    assert (idle.utilisation, idle.memory_used_gib) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Tesla V100-SXM2-16GB", "v100"),
        ("NVIDIA A100-SXM4-40GB", "a100"),
        ("NVIDIA A100 80GB PCIe", "a100"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA H100 NVL", "h100"),
        ("NVIDIA A10G", "a10g"),
        ("NVIDIA L40S", "l40s"),
        ("Tesla T4", "t4"),
        ("NVIDIA GeForce RTX 3080 Ti", "rtx3080ti"),
        ("GRID T4-16Q", "t4-16q"),
        ("", ""),
    ],
)
def test_a_name_is_brought_down_to_its_type(name: str, kind: str) -> None:
    assert type_of(name) == kind


def test_what_a_card_does_not_tell_is_not_zero(smi: Smi) -> None:
    (gpu,) = gpus_here({}, program=smi("0, GPU-1, [Insufficient Permissions], [N/A], [Not Supported], GeForce GT 710", "GPU 0"))
    assert gpu == Gpu("GeForce GT 710", "gt710", None, None, None, "GPU-1")


def test_slices_of_a_partitioned_card_stand_in_its_place(smi: Smi) -> None:
    small, large, whole = gpus_here({}, program=smi(PARTITIONED, LISTED))
    assert (small.gpu_type, small.memory_gib, small.utilisation) == ("a100-1g.10gb", 10.0, None)
    assert (large.name, large.memory_gib) == ("NVIDIA A100-SXM4-80GB MIG 3g.40gb", 40.0)
    assert (whole.gpu_type, whole.memory_gib, whole.utilisation) == ("a100", 80.0, 0.88)


@pytest.mark.parametrize(
    ("wanted", "seen"),
    [
        ("0,2", [0.97, 0.0]),
        ("2, 0", [0.0, 0.97]),
        ("GPU-5c5c4d3f", [0.97]),
        ("GPU-5c5c4d3f-1e23-5b0e-8c7e-2b9a1f0e7d11,1", [0.97, 0.0]),
        ("0,7,1", [0.97]),
        ("0,-1,1", [0.97]),
        ("-1", []),
        ("NoDevFiles", []),
        ("GPU-", []),
        ("0,0", [0.97]),
        ("²", []),
        ("9" * 5000, []),
    ],
)
def test_cuda_visible_devices_hides_what_it_does_not_name(smi: Smi, wanted: str, seen: list[float]) -> None:
    gpus = gpus_here({"CUDA_VISIBLE_DEVICES": wanted}, program=smi(V100))
    assert [gpu.utilisation for gpu in gpus] == seen


def test_parts_of_a_slice_are_listed_one_by_one(smi: Smi) -> None:
    listed = LISTED.replace("MIG 1g.10gb ", "MIG 1c.3g.40gb").replace("MIG 3g.40gb ", "MIG 1c.3g.40gb")
    kinds = [gpu.gpu_type for gpu in gpus_here({}, program=smi(PARTITIONED, listed))]
    assert kinds == ["a100-1c.3g.40gb", "a100-1c.3g.40gb", "a100"]


def test_cuda_visible_devices_may_name_a_slice(smi: Smi) -> None:
    environ = {"CUDA_VISIBLE_DEVICES": "MIG-a25704ba-3a06-5299-a795-fd7cf4d13973"}
    assert [gpu.gpu_type for gpu in gpus_here(environ, program=smi(PARTITIONED, LISTED))] == ["a100-3g.40gb"]


@pytest.mark.parametrize("wanted", ["", "  "])
def test_an_empty_cuda_visible_devices_means_none_without_asking(tmp_path: Path, wanted: str) -> None:
    found = detect_gpus({"CUDA_VISIBLE_DEVICES": wanted}, program=str(tmp_path / "not there"))
    assert found == ((), "CUDA_VISIBLE_DEVICES is empty")


def test_a_warning_among_the_lines_is_no_card(smi: Smi) -> None:
    program = smi(f"{T4}\nWARNING: infoROM is corrupted at gpu 0000:00:1E.0, ask, the, vendor, or, not")
    assert [gpu.gpu_type for gpu in gpus_here({}, program=program)] == ["t4"]


def test_a_damaged_record_of_a_card_hides_no_card(smi: Smi) -> None:
    program = smi(f"{T4}\nWARNING: infoROM is corrupted at gpu 0000:00:1E.0", ends_with=14)
    assert [gpu.gpu_type for gpu in gpus_here({}, program=program)] == ["t4"]


@pytest.mark.parametrize(
    "answer", ["", "hello", "0, GPU-1, Tesla T4", "Unable to determine the device handle for GPU 0000:3B:00.0"]
)
def test_an_answer_that_lists_no_card_and_does_not_say_so_is_unknown(smi: Smi, answer: str) -> None:
    gpus, why = detect_gpus({}, program=smi(answer))
    assert (gpus, why.endswith(f"no card in its answer, {answer or 'and no output'}")) == (None, True)


def test_no_program_and_no_device_is_no_gpu(tmp_path: Path) -> None:
    (tmp_path / "null").touch()
    assert detect_gpus({"PATH": str(tmp_path)}, dev=tmp_path) == ((), "no GPU device")


def test_a_number_with_an_underscore_is_none(smi: Smi) -> None:
    (gpu,) = gpus_here({}, program=smi("0, GPU-1, 81_920, 8_7, 1_0, NVIDIA A100-SXM4-80GB", "GPU 0"))
    assert (gpu.memory_gib, gpu.utilisation) == (None, None)


@pytest.mark.parametrize("device", ["nvidia0", "kfd", "dxg"])
def test_a_device_without_the_program_is_unknown(tmp_path: Path, device: str) -> None:
    (tmp_path / device).touch()
    assert detect_gpus({"PATH": str(tmp_path)}, dev=tmp_path) == (None, "nvidia-smi is not installed")
    assert gpus_here({"PATH": str(tmp_path)}) == ()


def test_a_program_that_finds_none_means_none(smi: Smi) -> None:
    gpus, why = detect_gpus({}, program=smi("No devices were found", ends_with=6))
    assert (gpus, why.endswith("found none")) == ((), True)


def test_a_driver_that_does_not_run_is_unknown_with_its_words(smi: Smi) -> None:
    program = smi(NO_DRIVER, ends_with=9)
    gpus, why = detect_gpus({}, program=program)
    assert (gpus, why.partition(" Make")[0]) == (None, f"{program}: exit code 9, {NO_DRIVER.partition(' Make')[0]}")
    assert gpus_here({}, program=program) == ()


def test_a_program_that_hangs_is_given_up(smi: Smi) -> None:
    start = time.monotonic()
    gpus, why = detect_gpus({}, program=smi(T4, first="exec sleep 30"), timeout_seconds=0.2)
    assert (gpus, why.endswith("no answer within 0.2 s"), time.monotonic() - start < 10) == (None, True, True)


def test_a_file_that_is_no_program_is_unknown(tmp_path: Path) -> None:
    file = tmp_path / "nvidia-smi"
    file.write_bytes(b"\x7fELF of another machine")
    file.chmod(0o755)
    gpus, why = detect_gpus({"PATH": str(tmp_path)})
    assert (gpus, "Exec format error" in why) == (None, True)
