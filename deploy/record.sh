#!/usr/bin/env bash
# usage: record.sh (--lock REQUIREMENTS | --python PYTHON) DATASET NAME=CHECKOUT... [-- FLAG...]
# Runs `kernelmill record` in a container (bubblewrap): a repository's tests see the system's programs, Python and its packages, the
# dataset and the checkouts, all read-only, and write to --evidence's folder and a /tmp of their own. They have no network, no other
# processes and no home. The packages that REQUIREMENTS pins by hash are installed first, outside of the container, and kept for the next
# run in ${XDG_CACHE_HOME:-~/.cache}/kernelmill/record. FLAG...: those of `kernelmill record`. With --device cuda:N tests use the GPUs.
set -euo pipefail

fail() {
  echo "record.sh: $1" >&2
  exit 2
}

lock='' python='' dataset='' repositories=() flags=() evidence=evidence.jsonl gpu=''
while [[ $# -gt 0 && $1 != -- ]]; do
  case $1 in
    --lock) lock=$(realpath -e "$2") && shift 2 ;;
    --python) python=$2 && shift 2 ;;
    *=*) repositories+=("$1") && shift ;;
    *) dataset=$(realpath -e "$1") && shift ;;
  esac
done
shift || true
while [[ $# -gt 0 ]]; do
  case $1 in
    --evidence) evidence=$2 && shift 2 ;;
    --device) [[ $2 == cpu ]] || gpu=1 && flags+=("$1" "$2") && shift 2 ;;
    *) flags+=("$1") && shift ;;
  esac
done
[[ -n $dataset && ${#repositories[@]} -gt 0 ]] || fail "DATASET and NAME=CHECKOUT are required"
[[ -n $lock || -n $python ]] || fail "--lock or --python is required"
command -v bwrap >/dev/null || fail "bubblewrap is not installed: apt-get install bubblewrap"

if [[ -z $python ]]; then
  venv=${XDG_CACHE_HOME:-$HOME/.cache}/kernelmill/record/$(sha256sum "$lock" | cut -c1-16)
  if [[ ! -f $venv/.installed ]]; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --require-hashes --requirement "$lock"
    touch "$venv/.installed"
  fi
  python=$venv/bin/python
  flags+=(--lock "$lock")
fi
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
mkdir -p "$(dirname "$evidence")"
out=$(realpath "$(dirname "$evidence")")
prefixes=$("$python" -c 'import sys; print(sys.prefix); print(sys.base_prefix)')

seen=(--ro-bind /usr /usr --dev /dev --proc /proc --tmpfs /tmp)
for each in /bin /lib /lib64 /sbin /etc/ld.so.cache /etc/alternatives; do
  [[ ! -e $each ]] || seen+=(--ro-bind "$each" "$each")
done
while read -r each; do
  [[ $each == /usr ]] || seen+=(--ro-bind "$each" "$each")
done <<<"$prefixes"
for each in "$root/python" "$root/services/compiler/adapters" "$dataset" ${lock:+"$lock"}; do
  seen+=(--ro-bind "$each" "$each")
done
if [[ -n $gpu ]]; then
  seen+=(--ro-bind /sys /sys)
  for each in /dev/nvidia*; do
    [[ ! -e $each ]] || seen+=(--dev-bind "$each" "$each")
  done
fi
named=()
for each in "${repositories[@]}"; do
  checkout=$(realpath -e "${each#*=}")
  seen+=(--ro-bind "$checkout" "$checkout")
  named+=(--repository "${each%%=*}=$checkout")
done

exec bwrap --unshare-all --die-with-parent --new-session --clearenv "${seen[@]}" --bind "$out" "$out" \
  --ro-bind-data 3 /run/.containerenv --setenv PATH /usr/bin:/bin --setenv HOME /tmp --setenv PYTHONPATH "$root/python" --chdir /tmp \
  "$python" -m kernelmill.execution.command record "$dataset" "${named[@]}" --evidence "$out/$(basename "$evidence")" "${flags[@]}" \
  3</dev/null
