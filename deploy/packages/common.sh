# shellcheck shell=bash
# Functions of build_deb.sh and build_wheel.sh, which source it in the project's root.

# The date of all packed files: the commit's.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 1767225600)}
export SOURCE_DATE_EPOCH

# need COMMAND DEBIAN_PACKAGE: exits if the command is missing.
need() {
  command -v "$1" >/dev/null || {
    echo "$(basename "$0"): $1 is missing (Debian package: $2)" >&2
    exit 1
  }
}

# Prints the folder of the programs: KERNELMILL_BIN, or else build/release's, which it builds first, without tests.
programs() {
  if [[ -n "${KERNELMILL_BIN:-}" ]]; then
    echo "$KERNELMILL_BIN"
    return 0
  fi
  if [[ -f build/release/CMakeCache.txt ]]; then
    cmake --build build/release --target kernelmill kernelmill-{store,coordinator,fetcher,extractor,compiler,runner,validator,deduplicator} \
      -- --quiet >&2
  else
    deploy/build.sh release -DKERNELMILL_TESTS=OFF -DKERNELMILL_UNITY=ON >&2
  fi
  echo "$PWD/build/release/bin"
}

project_version() { sed -n 's/^project(kernelmill VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt; }

# Prints a file's name, size and digest.
report() {
  printf '%s  %d bytes  sha256 %s\n' "$1" "$(stat -c %s "$1")" "$(sha256sum "$1" | cut -d' ' -f1)"
}
