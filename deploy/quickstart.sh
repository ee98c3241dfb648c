#!/usr/bin/env bash
# Makes a dataset from a fresh clone on Debian 12: installs packages, builds the programs without tests, and
# crawls two wheels and a small git repository. Run it again at any time: it skips finished work.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly out=quickstart-out/dataset
readonly data=quickstart-out/data
readonly kernelmill=build/release/bin/kernelmill

echo "quickstart.sh: installs Debian packages, builds the programs, makes a dataset: 5 to 12 minutes on two cores, 3 GB of disk, 4 GB of memory"
deploy/install.sh build run
# Lines in stack traces would take the compiler a tenth more time.
deploy/build.sh release -DKERNELMILL_TESTS=OFF -DKERNELMILL_UNITY=ON -DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2
commit=$(deploy/demo_repository.sh build/quickstart/kernels-repo.git)
echo "quickstart.sh: the demo repository is at ${commit:0:12}"

mkdir -p quickstart-out
"$kernelmill" crawl deploy/jobs/quickstart.yaml --out "$out" --data "$data" || {
  status=$?
  echo "quickstart.sh: the crawl ended with exit code $status" >&2
  exit "$status"
}

# Counts the ledger's decisions by fate.
fates() { grep -o '"fate": *"[a-z]*"' "$out/ledger.jsonl" | cut -d'"' -f4 | sort | uniq -c; }
kept=$(wc -l <"$out/kernels.jsonl")
echo
echo "The dataset is in $out: $kept kernels."
fates | while read -r count fate; do printf '  %6d %s\n' "$count" "$fate"; done
cat <<NEXT

What to try next
  less $out/report.json                   the ledger, in sums
  head -n 1 $out/kernels.jsonl            a kernel, with licence and provenance
  $kernelmill catalog $out --out quickstart-out/site    a site to search them: open its index.html
  $kernelmill validate tests/data/kernels-repo    what is kept of a folder, and why not
  $kernelmill similar tests/data/kernels-repo/kernels/softmax.py --out $out --data $data
  $kernelmill toolchains --install    then a job with a line \`compile: {}\` says which kernels compile
  $kernelmill crawl deploy/jobs/triton-seeds.yaml --out seeds    (needs github.com)
  docker compose up -d --build            the same as a cluster
NEXT
