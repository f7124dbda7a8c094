#!/usr/bin/env bash
# Installs PyTorch's CPU build into $RUNNER_TEMP/jpo, for learning: from the wheels in $RUNNER_TEMP/jpo-wheels, which the workflow's cache
# keeps, else from the index JPO_INPUT_TORCH_INDEX and no other. Every file is checked against its hash each time, so that neither a
# cache nor a mirror is trusted. Where that fails, JPO suggests all the same, and learns nothing.
set -euo pipefail

locks="$(dirname -- "${BASH_SOURCE[0]}")/../../requirements"
wheels="$RUNNER_TEMP/jpo-wheels"
pip=("$RUNNER_TEMP/jpo/bin/python" -I -m pip --quiet --disable-pip-version-check)
torch=(--require-hashes --no-deps -r "$locks/lock-torch.txt")
mkdir -p -- "$wheels"

cached() { "${pip[@]}" install --no-index --find-links "$wheels" "${torch[@]}"; }
fetched() { "${pip[@]}" download --dest "$wheels" --index-url "$JPO_INPUT_TORCH_INDEX" "${torch[@]}" && cached; }

if ! { "${pip[@]}" install --require-hashes -r "$locks/lock-learn.txt" && { cached 2>/dev/null || fetched; }; }; then
  rm -rf -- "$wheels"  # or the cache would keep what is of no use
  printf '::warning title=JPO::PyTorch was not installed, so nothing is learnt: it takes Python 3.11 on Linux and the index %s\n' \
    'in torch-index (learn: false where that is meant)'
fi
