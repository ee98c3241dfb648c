#!/usr/bin/env bash
# The image's entry point. If the first argument is a server's role, it starts that server; otherwise the client.
set -euo pipefail

case "${1:-}" in
  store | coordinator | fetcher | extractor | compiler | runner | validator | deduplicator)
    role=$1
    shift
    exec "kernelmill-$role" "$@"
    ;;
  *) exec kernelmill "$@" ;;
esac
