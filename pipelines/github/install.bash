#!/usr/bin/env bash
# Installs the JPO of these sources into $RUNNER_TEMP/jpo, dependencies checked against their hashes; JPO_INPUT_PYTHON is the Python,
# or empty for the one that actions/setup-python found (JPO_SETUP_PYTHON).
set -euo pipefail

sources="$(dirname -- "${BASH_SOURCE[0]}")/../.."
# -I: the workspace is not searched, where a file might be called pip.py, and PYTHONPATH does not count.
"${JPO_INPUT_PYTHON:-$JPO_SETUP_PYTHON}" -I -m venv "$RUNNER_TEMP/jpo"
install=("$RUNNER_TEMP/jpo/bin/python" -I -m pip --quiet --disable-pip-version-check install)
"${install[@]}" --require-hashes -r "$sources/requirements/lock-build.txt" -r "$sources/requirements/lock.txt"
"${install[@]}" --no-deps --no-build-isolation "$sources"
