#!/usr/bin/env bash
# usage: small.sh DATASET WORK [cpu|gpu]
# The whole way at a small size: a model of Qwen3's architecture that knows nothing learns on an exported dataset, and
# writes held-out kernels. With a GPU its weights are then quantized to 4 bits, and an adapter learns the conversations (QLoRA,
# as for the real model). WORK/results has the losses, the generations and their checks; nothing is fetched.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly dataset=$1 work=$2 device=${3:-cpu}
readonly results=$work/results
export HF_HUB_OFFLINE=1 HF_DATASETS_OFFLINE=1 HF_DATASETS_DISABLE_PROGRESS_BARS=1 TOKENIZERS_PARALLELISM=true PYTHONUNBUFFERED=1
mkdir -p "$results"

# losses NAME ARGUMENT...: trains; the losses go to the results.
losses() {
  local name=$1
  shift
  python3 trl/qlora.py --dataset "$dataset" --out "$work/$name" "$@"
  cp "$work/$name/losses.jsonl" "$results/losses_$name.jsonl"
}

if [[ "$device" = gpu ]]; then
  python3 tiny_model.py "$dataset" "$work/nothing" --hidden 512 --layers 8 --vocabulary 8192
  losses base --model "$work/nothing" --full --view complete fim --batch 32 --accumulate 1 --rate 1e-3 --epochs 10
  losses adapter --model "$work/base" --view instruct --batch 16 --accumulate 1 --rate 3e-4 --epochs 1
  python3 generate.py "$work/base" "$dataset" "$results/base.jsonl" --rows 50 --batch 50
  python3 generate.py "$work/base" "$dataset" "$results/adapter.jsonl" --rows 50 --batch 50 --adapter "$work/adapter"
  python3 static_checks.py "$results/base.jsonl" "$results/adapter.jsonl" | tee "$results/checks.jsonl"
else
  python3 tiny_model.py "$dataset" "$work/nothing" --vocabulary 2048
  losses base --model "$work/nothing" --full --view complete fim --batch 8 --accumulate 1 --length 256 --rate 2e-3 \
    --max-steps 300 --heldout 40
  python3 generate.py "$work/base" "$dataset" "$results/base.jsonl" --rows 10 --tokens 128
  python3 static_checks.py "$results/base.jsonl" | tee "$results/checks.jsonl"
fi
