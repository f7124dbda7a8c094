#!/usr/bin/env bash
# An hour on a machine with an NVIDIA GPU: what JPO assumes of nvidia-smi, examples/vision on the GPU, jpo optimize beside TPE.
#
#     benchmarks/gpu/hour.sh OUT [MORE OPTIONS OF benchmarks/optimize.py, e.g. --seeds 2 --runs 6]
#
# Needs jpo[replay] and a torch with CUDA in the Python that runs here (PYTHON=...). Each file of OUT is whole as soon as its step
# is done, so that what was measured stays when the hour ends. Docker, DCGM and Prometheus are not needed.
set -euo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd); shift
cd "$(dirname "$0")/../.."
PYTHON=${PYTHON:-python3}

# 1. The card, in the words that jpo/inventory/gpus.py asks for, next to what JPO reads of them.
nvidia-smi > "$out/nvidia-smi.txt"
nvidia-smi -L > "$out/cards.txt"
"$PYTHON" - <<'EOF' > "$out/read.txt"
import os, subprocess
from jpo.inventory.gpus import FIELDS, detect_gpus
print(subprocess.run(["nvidia-smi", f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits"], capture_output=True, text=True).stdout)
print(detect_gpus(os.environ))
EOF

# 2. Utilisation, power and memory of the card once a second while all that follows runs: idle seconds between runs included.
nvidia-smi --query-gpu=timestamp,utilization.gpu,power.draw,memory.used --format=csv,noheader,nounits -l 1 > "$out/card.csv" &
card=$!
trap 'kill "$card"' EXIT

# 3. One run of examples/vision, and what the doctor says of the GPU meanwhile.
work=$(mktemp -d)
cp examples/vision/* "$work"
sed -i 's/^gpus .*/gpus = 1/' "$work/config.ini"
(cd "$work" && "$PYTHON" train.py config.ini --run-id one > "$out/run.txt" 2>&1) &
run=$!
sleep 20
(cd "$work" && "$PYTHON" -m jpo doctor -o json > "$out/doctor.json") || true
wait "$run"
cp "$work/runs/one.csv" "$out"

# 4. Batch size, learning rate and threads: time per model by jpo, TPE and keeping the values.
"$PYTHON" benchmarks/optimize.py --start gpu --clock wall --cpus 4 --target 0.9 --policies keep,jpo,tpe --json "$@" > "$out/optimize.json"
