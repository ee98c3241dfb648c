#!/usr/bin/env bash
# The image's entry point: the first argument is the role of a server; anything else is the client's.
set -euo pipefail

case "${1:-}" in
  store | coordinator | fetcher | extractor | compiler | validator | deduplicator)
    role=$1
    shift
    exec "kernelmill-$role" "$@"
    ;;
  *) exec kernelmill "$@" ;;
esac
