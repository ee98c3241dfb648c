#!/usr/bin/env python3
"""Fine-tunes a model on a dataset of kernelmill with TRL: QLoRA as the seed's write-up has it (4-bit NF4, rank 32 on all
projections, cosine, packing to 1024 tokens, one epoch, batches of 16).

    trl/qlora.py --dataset my-dataset --model Qwen/Qwen3-8B --view fim --out qwen3-8b-kernels

--full trains all weights and no adapter: of a model that knows nothing yet (tiny_model.py). Writes the adapter or the
model, and losses.jsonl: a line for each report, in steps."""

import argparse
import json
import pathlib
import sys

import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig
from trl import SFTConfig, SFTTrainer

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import rows  # noqa: E402

LORA = LoraConfig(r=32, lora_alpha=32, lora_dropout=0.05, bias="none", task_type="CAUSAL_LM",
                  target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", required=True, help="an exported folder")
    parser.add_argument("--model", required=True, help="a model's name or folder")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--view", choices=rows.VIEWS, nargs="+", default=["fim"])
    parser.add_argument("--fim", choices=sorted(rows.FIM_TOKENS), default="qwen", help="the model's tokens for gaps")
    parser.add_argument("--full", action="store_true", help="all weights, no adapter, nothing quantized")
    parser.add_argument("--epochs", type=float, default=1)
    parser.add_argument("--max-steps", type=int, default=-1)
    parser.add_argument("--batch", type=int, default=1, help="sequences on the device at a time")
    parser.add_argument("--accumulate", type=int, default=16)
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--report", type=int, default=10, help="steps between two reports of the loss")
    parser.add_argument("--heldout", type=int, default=200, help="held-out rows to measure on, at most")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()



def dataset_of(options, tokenizer, part):
    """Returns the rows of all views, train (0) or held out (1), as text; the model's template converts conversations to text."""
    texts = []
    for view in options.view:
        for row in rows.split(rows.examples(options.dataset, view, options.fim))[part]:
            if view == "instruct":
                prompt = tokenizer.apply_chat_template(row["messages"][:-1], tokenize=False, add_generation_prompt=True)
                whole = tokenizer.apply_chat_template(row["messages"], tokenize=False)
                shared = prompt if whole.startswith(prompt) else ""
                texts.append({"prompt": shared, "completion": whole[len(shared):]})
            else:
                texts.append({"prompt": row["prompt"], "completion": row["completion"]})
    return Dataset.from_list(texts)


def main():
    options = arguments()
    gpu = torch.cuda.is_available()
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    quantized = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16)
    model = AutoModelForCausalLM.from_pretrained(options.model, dtype=torch.bfloat16 if gpu and not options.full else torch.float32,
                                                 quantization_config=None if options.full else quantized,
                                                 device_map={"": 0} if gpu else None)
    train, heldout = (dataset_of(options, tokenizer, part) for part in (0, 1))
    heldout = heldout.shuffle(seed=0).select(range(min(options.heldout, len(heldout))))
    config = SFTConfig(
        output_dir=str(options.out), num_train_epochs=options.epochs, max_steps=options.max_steps,
        per_device_train_batch_size=options.batch, per_device_eval_batch_size=options.batch,
        gradient_accumulation_steps=options.accumulate, learning_rate=options.rate, lr_scheduler_type="cosine",
        warmup_steps=0.02, packing=True, packing_strategy="wrapped", eval_packing=False, max_length=options.length,
        completion_only_loss=not options.full, bf16=gpu, gradient_checkpointing=not options.full, use_cpu=not gpu,
        logging_steps=options.report, eval_strategy="steps", eval_steps=options.report * 5, eval_on_start=True,
        save_strategy="no", report_to="none", seed=options.seed, disable_tqdm=True)
    trainer = SFTTrainer(model=model, args=config, train_dataset=train, eval_dataset=heldout, processing_class=tokenizer,
                         peft_config=None if options.full else LORA)
    weights = sum(p.numel() for p in trainer.model.parameters())
    trained = sum(p.numel() for p in trainer.model.parameters() if p.requires_grad)
    print(f"{len(train)} rows to train on, {len(heldout)} held out; {trained} of {weights} weights are trained")
    trainer.train()
    trainer.save_model()
    with open(options.out / "losses.jsonl", "w", encoding="utf-8") as out:
        for entry in trainer.state.log_history:
            line = {key: entry[key] for key in ("step", "loss", "eval_loss", "train_runtime", "train_loss") if key in entry}
            if len(line) > 1:
                out.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
