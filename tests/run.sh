#!/usr/bin/env bash
# usage: run.sh [--toolchains] [--compose] [--packages] [--kubernetes] [--trainers] [--analyze] [CTEST_ARGUMENT...]
#        run.sh --unit NAME... [CTEST_ARGUMENT...]
# Installs what is missing, builds release, and runs every test; ctest's summary comes last.
# --unit builds and runs only the tests of folders (services/store/core: those below it too) or tests (store_core_test,
# docs_test). A folder without a test of its own is built only.
# --compose also brings the cluster up on this machine's Docker engine (tests/integration/compose.sh), --packages installs
# the Debian packages and the wheel in clean containers there (tests/packages/run.sh), --kubernetes builds a Kubernetes of its
# Go modules and has its pods deleted, drained and killed in the middle of jobs (tests/kubernetes/run.sh), --trainers installs
# what people train with, 6 GB (tests/peers/install_trainers.sh), --toolchains the compilers of jobs with `compile:`, 6 GB
# (deploy/install_toolchains.sh): what is to be compiled in tests skips without them. tidy_test runs clang-tidy for two
# minutes, on changed files first; --analyze also follows every path through the functions, for ten minutes
# (tests/style/check_tidy.py --analyze).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# run_unit NAME... [CTEST_ARGUMENT...]: never returns.
run_unit() {
  local targets=() tests=() files found
  while [[ $# -gt 0 && "$1" != -* ]]; do
    local name=${1%/}
    shift
    if [[ ! -d "$name" ]]; then
      targets+=("$name")
      tests+=("$name")
      continue
    fi
    mapfile -t files < <(find "$name" -name CMakeLists.txt)
    [[ ${#files[@]} -gt 0 ]] || {
      echo "run.sh: $name has no CMakeLists.txt" >&2
      exit 2
    }
    mapfile -t found < <(sed -nE 's/^ *km_test\( *(\w+).*/\1/p' "${files[@]}")
    tests+=("${found[@]}")
    [[ ${#found[@]} -gt 0 ]] || mapfile -t found < <(sed -nE 's/^ *km_(test_)?(library|binary|program)\( *(\w+).*/\3/p' "${files[@]}")
    targets+=("${found[@]}")
  done
  [[ ${#targets[@]} -gt 0 ]] || {
    echo "run.sh: --unit needs a folder with a target, or a target" >&2
    exit 2
  }
  grep -qs '^KERNELMILL_TESTS:BOOL=ON' build/release/CMakeCache.txt || cmake --preset release -DKERNELMILL_TESTS=ON >/dev/null
  # In a variable, so that a tree that cannot be configured ends the run instead of testing old programs.
  local known
  known=$(cmake --build --preset release --target help)
  mapfile -t found < <(sed -n 's/^\([a-zA-Z0-9_-]*\): phony.*/\1/p' <<<"$known" | grep -Fx "$(printf '%s\n' "${targets[@]}")")
  [[ ${#found[@]} -eq 0 ]] || cmake --build --preset release --target "${found[@]}" # a script's test builds nothing
  if [[ ${#tests[@]} -eq 0 ]]; then
    echo "run.sh: built ${targets[*]}; no tests of their own"
    exit 0
  fi
  exec ctest --preset release --output-on-failure --parallel 2 --tests-regex "^($(IFS='|' && echo "${tests[*]}"))\$" "$@"
}

if [[ "${1:-}" == --unit ]]; then
  shift
  run_unit "$@"
fi

analyze=""
toolchains=""
compose=""
packages=""
kubernetes=""
trainers=""
while true; do
  case "${1:-}" in
    --toolchains) toolchains=yes ;;
    --compose) compose=yes ;;
    --packages) packages=yes ;;
    --kubernetes) kubernetes=yes ;;
    --trainers) trainers=yes ;;
    --analyze) analyze=yes ;;
    *) break ;;
  esac
  shift
done

deploy/install.sh
deploy/build.sh release -DKERNELMILL_TESTS=ON
for tool in peers/install_bazel_remote peers/install_execution peers/install_figures peers/install_object_stores peers/install_readers peers/install_tiktoken \
  peers/install_tokenizers packages/install_python kubernetes/install_tools \
  catalog/install_browser catalog/install_typescript style/install_actionlint style/install_clang_format style/install_clang_tidy \
  ${trainers:+peers/install_trainers}; do
  "tests/$tool.sh" >/dev/null || {
    status=$?
    [[ $status -eq 77 ]] || exit "$status" # 77: cannot be had here, and it said so; its tests skip
  }
done

if [[ -n "$toolchains" ]]; then
  deploy/install_toolchains.sh || [[ $? -eq 77 ]]
fi

tests/dashboards/install_sdk.sh >/dev/null || [[ $? -eq 77 ]]

# on_docker ASKED FLAG SCRIPT [ARGUMENT...]
on_docker() {
  local status=0
  if [[ -z "$1" ]]; then
    echo "run.sh: $3 skipped: not asked for ($2)"
    return 0
  fi
  "${@:3}" || status=$?
  [[ $status -eq 0 || $status -eq 77 ]] || exit "$status" # 77: no Docker engine, and it said so
}
if [[ -n "$analyze" ]]; then
  tests/style/check_tidy.py --analyze --seconds 600 || [[ $? -eq 77 ]]
fi
on_docker "$compose" --compose tests/integration/compose.sh ${toolchains:+--compiler}
on_docker "$packages" --packages tests/packages/run.sh
on_docker "$kubernetes" --kubernetes tests/kubernetes/run.sh

exec ctest --preset release --output-on-failure --parallel 2 "$@"
