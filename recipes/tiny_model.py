#!/usr/bin/env python3
"""usage: tiny_model.py DATASET OUT [--hidden N] [--layers N] [--vocabulary N]

Makes a model that knows nothing, of Qwen3's architecture and with random weights, and a tokenizer that is trained on the
dataset's own text: byte-level BPE with Qwen's special tokens. To try a recipe with where the real weights cannot be had,
or would be too large."""

import argparse
import pathlib

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

import rows

TEMPLATE = ("{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
            "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")
SPECIAL = [*rows.FIM_TOKENS["qwen"][:3], "<|im_start|>", "<|im_end|>", "<|endoftext|>"]


def tokenizer_of(dataset, vocabulary):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=vocabulary, special_tokens=SPECIAL, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    train, _ = rows.split(rows.examples(dataset, "complete"))
    tokenizer.train_from_iterator((row["prompt"] + row["completion"] for row in train), trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>", pad_token="<|endoftext|>",
                                   extra_special_tokens=SPECIAL[:5])
    fast.chat_template = TEMPLATE
    return fast


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[2])
    parser.add_argument("dataset", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--vocabulary", type=int, default=4096)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    tokenizer = tokenizer_of(options.dataset, options.vocabulary)
    torch.manual_seed(options.seed)
    heads = max(2, options.hidden // 64)
    model = Qwen3ForCausalLM(Qwen3Config(
        vocab_size=len(tokenizer), hidden_size=options.hidden, intermediate_size=options.hidden * 3, num_hidden_layers=options.layers,
        num_attention_heads=heads, num_key_value_heads=heads // 2, head_dim=64, max_position_embeddings=4096,
        tie_word_embeddings=True, bos_token_id=None, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id))
    model.save_pretrained(options.out)
    tokenizer.save_pretrained(options.out)
    print(f"{options.out}: {sum(p.numel() for p in model.parameters())} weights, {len(tokenizer)} tokens")


if __name__ == "__main__":
    main()
