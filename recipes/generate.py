#!/usr/bin/env python3
"""usage: generate.py MODEL DATASET GENERATIONS.jsonl [--adapter DIR] [--rows N] [--samples N]

Has a model complete the held-out kernels, and writes a line for each: task_id (the kernel's id), prompt, completion,
reference."""

import argparse
import json

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import rows


def stop_of(text):
    """Returns a completion up to the next definition in the first column: there the next kernel begins."""
    kept = []
    for line in text.splitlines(keepends=True):
        if kept and line.strip() and not line[0].isspace() and not line.startswith((")", "#")):
            break
        kept.append(line)
    return "".join(kept)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[2])
    parser.add_argument("model")
    parser.add_argument("dataset")
    parser.add_argument("out")
    parser.add_argument("--adapter")
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--batch", type=int, default=10)
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--temperature", type=float, default=0.2)
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = AutoTokenizer.from_pretrained(options.model, padding_side="left", truncation_side="left")
    model = AutoModelForCausalLM.from_pretrained(options.model, dtype=torch.bfloat16 if device == "cuda" else torch.float32)
    if options.adapter:
        from peft import PeftModel
        model = PeftModel.from_pretrained(model, options.adapter)
    model.to(device).eval()
    torch.manual_seed(0)
    _, tasks = rows.split(rows.examples(options.dataset, "complete"))
    with open(options.out, "w", encoding="utf-8") as out:
        for first in range(0, min(options.rows, len(tasks)), options.batch):
            batch = tasks[first:min(first + options.batch, options.rows)]
            given = tokenizer([task["prompt"] for task in batch], return_tensors="pt", truncation=True, max_length=1024, padding=True)
            given = given.to(device)
            made = model.generate(input_ids=given["input_ids"], attention_mask=given["attention_mask"], do_sample=options.temperature > 0,
                                  temperature=options.temperature or None, max_new_tokens=options.tokens,
                                  num_return_sequences=options.samples, pad_token_id=tokenizer.pad_token_id)
            for number, sample in enumerate(made):
                task = batch[number // options.samples]
                text = stop_of(tokenizer.decode(sample[given["input_ids"].shape[1]:], skip_special_tokens=True))
                out.write(json.dumps({"task_id": task["id"], "prompt": task["prompt"], "completion": text,
                                      "reference": task["completion"]}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
