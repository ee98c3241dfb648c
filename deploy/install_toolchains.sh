#!/usr/bin/env bash
# usage: install_toolchains.sh [--into FOLDER] [NAME...]
# Installs the pinned compilers (deploy/toolchains/NAME.txt; default: all) from the Python package index, each into its own
# Python environment, FOLDER/NAME, checked by hash. Default FOLDER: $KERNELMILL_TOOLCHAINS, or else
# /var/lib/kernelmill/toolchains for root, since compilers run as another user, and ~/.cache/kernelmill/toolchains for others.
# Skips installed compilers. Exits with 77, and a reason, if this machine cannot install them.
#
# To update such a file: uv pip compile --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11
# --python-platform x86_64-manylinux_2_28 --only-binary :all:, for triton==VERSION, numpy and packaging; for the others --no-deps and
# the packages of their files.
# common/toolchains has its hash.
set -euo pipefail
pins=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/toolchains

folder=${KERNELMILL_TOOLCHAINS:-}
if [[ "${1:-}" == --into ]]; then
  folder=${2:?"--into needs a folder"}
  shift 2
fi
if [[ -z "$folder" && $EUID -eq 0 ]]; then
  folder=/var/lib/kernelmill/toolchains
elif [[ -z "$folder" ]]; then
  folder=${XDG_CACHE_HOME:-$HOME/.cache}/kernelmill/toolchains
fi
if [[ $# -eq 0 ]]; then
  for file in "$pins"/*.txt; do set -- "$@" "$(basename "$file" .txt)"; done
fi

skip() {
  echo "install_toolchains.sh: skipped: $1" >&2
  exit 77
}

# Finds the interpreter that the wheels need; Debian's first, whose path never changes.
find_python() {
  local python
  for python in /usr/bin/python3 python3.11 python3; do
    if [[ "$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" == 3.11 ]]; then
      command -v "$python"
      return
    fi
  done
}

# install NAME PYTHON
install() {
  local into=$folder/$1 requirements=$pins/$1.txt wanted
  [[ -f "$requirements" ]] || {
    echo "install_toolchains.sh: unknown toolchain $1" >&2
    exit 1
  }
  wanted=$(sha256sum <"$requirements" | cut -d ' ' -f 1)
  if [[ -f "$into/.requirements" && "$(<"$into/.requirements")" == "$wanted" ]]; then return; fi
  [[ -n "$2" ]] || skip "needs Python 3.11"
  # The interpreter's pip, or that of an active environment: Debian's Python has none without python3-pip.
  local pip=("$2" -m pip)
  if ! "${pip[@]}" --version >/dev/null 2>&1; then pip=(python3 -m pip --python "$2"); fi
  "${pip[@]}" --version >/dev/null 2>&1 || skip "needs pip: apt-get install python3-pip, or a Python environment that is active"
  rm -rf "$into"
  mkdir -p "$folder"
  work=$(mktemp -d "$folder/.install.XXXXXX")
  echo "install_toolchains.sh: installing $1 into $into, up to 1 GB; it takes a few minutes" >&2
  "$2" -m venv --without-pip "$into"
  # The environment gets no pip, since compiling does not need it.
  if ! "${pip[@]}" install --quiet --disable-pip-version-check --no-cache-dir --no-deps --only-binary :all: --require-hashes \
    --target "$into/lib/python3.11/site-packages" --requirement "$requirements" >"$work/log" 2>&1; then
    tail -n 3 "$work/log" >&2
    rm -rf "$into"
    skip "pip cannot install $requirements for this Python"
  fi
  chmod -R go+rX "$into" # compilers run as another user
  echo "$wanted" >"$into/.requirements"
  rm -rf "$work"
}

work=
trap '[[ -z "$work" ]] || rm -rf "$work"' EXIT
python=$(find_python)
for name in "$@"; do
  install "$name" "$python"
  echo "$folder/$name"
done
