#!/usr/bin/env bash
# usage: install_trainers.sh [FOLDER]
# Installs what people train with, TRL, torchtune, axolotl and LLaMA-Factory, into FOLDER (default build/peers/trainers) from
# the Python package index, by requirements/trainers_*.txt, and prints where it is: some 6 GB, since the index has PyTorch with
# CUDA alone. base is a virtual environment; the others, which want other versions of the same packages, lie over it. Exit
# 77: it cannot be had here, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

lists=tests/peers/requirements/trainers_
folder=${1:-build/peers/trainers}
stamp=$(cat "$lists"*.txt | sha256sum)

# install FOLDER'S_PYTHON LIST [ARGUMENT...]
install() {
  local python=$1 list=$2
  shift 2
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement "$lists$list.txt" "$@"
}

if [[ ! -f "$folder/.requirements" || "$(<"$folder/.requirements")" != "$stamp" ]]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  { python3 -m venv "$folder/base" &&
    install "$folder/base/bin/python" base &&
    install "$folder/base/bin/python" torchtune --target "$folder/torchtune" &&
    install "$folder/base/bin/python" axolotl --target "$folder/axolotl" &&
    install "$folder/base/bin/python" llamafactory --target "$folder/llamafactory"; } >"$log" 2>&1 || {
    tail -n 3 "$log" >&2
    echo "install_trainers.sh: skipped: pip does not give ${lists}*.txt for this Python" >&2
    exit 77
  }
  echo "$stamp" >"$folder/.requirements"
fi
echo "$folder"
