#!/usr/bin/env bash
# usage: demo_repository.sh DIR.git
# Makes a bare git repository of tests/data/kernels-repo, on branch main, and prints its commit. Author and
# dates are fixed, so that the commit is always the same.
set -euo pipefail

[[ $# -eq 1 ]] || {
  echo "usage: demo_repository.sh DIR.git" >&2
  exit 2
}
files="$(cd "$(dirname "${BASH_SOURCE[0]}")/../tests/data/kernels-repo" && pwd)"
into="$1"
part="$into.part"

# Ignore the user's settings: line ends, hooks and signatures would change the commit.
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
export GIT_AUTHOR_NAME=kernelmill GIT_AUTHOR_EMAIL=kernelmill@example.org
export GIT_COMMITTER_NAME=kernelmill GIT_COMMITTER_EMAIL=kernelmill@example.org
export GIT_AUTHOR_DATE=2026-01-01T00:00:00Z GIT_COMMITTER_DATE=2026-01-01T00:00:00Z
# Otherwise `git init` would use the repository around this script.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

rm -rf "$part"
mkdir -p "$(dirname "$into")"
git init --quiet --bare --initial-branch=main "$part"
git --git-dir="$part" --work-tree="$files" add --all --force .
git --git-dir="$part" --work-tree="$files" commit --quiet --message="Demo kernels"
# Allow partial fetches.
git --git-dir="$part" config uploadpack.allowFilter true
git --git-dir="$part" config uploadpack.allowAnySHA1InWant true
rm -rf "$into"
mv "$part" "$into"
git --git-dir="$into" rev-parse main
