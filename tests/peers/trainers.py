"""Training tools read what we export, each by its own loader: TRL, torchtune, axolotl and LLaMA-Factory take instruct.jsonl
and fim.jsonl, of each all rows, with their text whole; and the configurations in recipes/ are what these tools take. Skipped
where they are not installed (tests/peers/install_trainers.sh). KERNELMILL_DATASET: an export other than the demo's."""

import json
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPES = ROOT / "recipes"
FOLDER = pathlib.Path(os.environ.get("KERNELMILL_TRAINERS", ROOT / "build/peers/trainers"))


# ---------------------------------------------------------------- in a tool's own process

def load_rows(file):
    with open(file, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def tokenizer_of(work):
    from transformers import AutoTokenizer
    return AutoTokenizer.from_pretrained(work / "tiny")


def yaml_of(name):
    import yaml
    return yaml.safe_load((RECIPES / name).read_text())


def whole(texts, rows, parts):
    """Counts the rows whose text contains all their parts, in their order."""
    count = 0
    for text, row in zip(texts, rows):
        at = 0
        for part in parts(row):
            found = text.find(part.strip(), at)
            at = -1 if found < 0 else found + len(part.strip())
            if at < 0:
                break
        count += at >= 0
    return count


def spoken(row):
    return [message["content"] for message in row["messages"]]


def trl(dataset, work):
    """The trainer's own preparation of both files, down to the tokens."""
    from datasets import Dataset
    from transformers import AutoModelForCausalLM
    from trl import SFTConfig, SFTTrainer
    tokenizer = tokenizer_of(work)

    def prepared(rows):
        config = SFTConfig(output_dir=str(work / "trl"), max_length=None, use_cpu=True, bf16=False, report_to="none")
        trainer = SFTTrainer(model=AutoModelForCausalLM.from_pretrained(work / "tiny"), args=config, processing_class=tokenizer,
                             train_dataset=Dataset.from_list(rows))
        return [tokenizer.decode(row["input_ids"]) for row in trainer.train_dataset]

    instruct, fim = load_rows(dataset / "instruct.jsonl"), load_rows(dataset / "fim.jsonl")
    spoken_texts = prepared([{"messages": row["messages"]} for row in instruct])
    fim_texts = prepared([{"prompt": row["prompt"], "completion": row["completion"]} for row in fim])
    return {"instruct": [len(spoken_texts), whole(spoken_texts, instruct, spoken)],
            "fim": [len(fim_texts), whole(fim_texts, fim, lambda row: [row["prompt"] + row["completion"]])]}


def torchtune(dataset, work):
    """The data sets that the configuration names; its components take the arguments that it gives them."""
    from omegaconf import OmegaConf
    from torchtune import config
    from torchtune.modules.transforms.tokenizers import BaseTokenizer  # noqa: F401  # a part of the tool that tokenizers are
    settings = OmegaConf.load(RECIPES / "torchtune/qlora.yaml")
    config.validate(settings)
    tokenizer = tokenizer_of(work)

    class Ours:
        """Our tokenizer as torchtune calls one: messages to tokens, and text to tokens."""
        max_seq_len = None

        def encode(self, text, add_bos=True, add_eos=True):
            return tokenizer(text)["input_ids"]

        def __call__(self, sample, inference=False):
            texts = [message.text_content for message in sample["messages"]]
            return {"tokens": tokenizer("\n".join(texts))["input_ids"], "mask": []}

    def read(node, file):
        made = config.instantiate(OmegaConf.merge(node, {"packed": False, "data_files": str(work / "data" / file)}), Ours())
        return made

    chats, texts = read(settings.dataset, "train.jsonl"), read(settings.fim, "fim_train.jsonl")
    instruct, fim = load_rows(work / "data/train.jsonl"), load_rows(work / "data/fim_train.jsonl")
    spoken_texts = ["\n".join(m.text_content for m in chats._message_transform(chats._data[i])["messages"]) for i in range(len(chats))]
    fim_texts = [tokenizer.decode(texts[i]["tokens"]) for i in range(len(texts))]
    return {"instruct": [len(spoken_texts), whole(spoken_texts, instruct, spoken)],
            "fim": [len(fim_texts), whole(fim_texts, fim, lambda row: [row["text"]])]}


def axolotl(dataset, work):
    """Its loader, its check of the configuration and its prompt strategies, down to the tokens."""
    from axolotl.prompt_strategies import load as load_strategy
    from axolotl.utils.config import validate_config
    from axolotl.utils.data.shared import load_dataset_with_config
    from axolotl.utils.dict import DictDefault
    settings = DictDefault(yaml_of("axolotl/qlora.yaml"))
    for part in [*settings.datasets, *settings.test_datasets]:
        part["path"] = str(work / part["path"])
    settings["base_model"] = str(work / "tiny")
    settings = validate_config(settings, capabilities={"bf16": True, "tf32": True, "fp8": True, "n_gpu": 1, "n_node": 1, "compute_capability": "sm_90"},
                               env_capabilities={"torch_version": "2.11.0"})
    tokenizer = tokenizer_of(work)
    texts = []
    for part in settings.datasets:
        rows = load_dataset_with_config(DictDefault(part), False, streaming=False)
        rows = rows["train"] if "train" in rows else rows
        strategy = load_strategy(part["type"], tokenizer, DictDefault({**settings, "sequence_len": 1 << 20}), DictDefault(part))
        texts.append([tokenizer.decode(_tokens(strategy, row)) for row in rows])
    instruct, fim = load_rows(work / "data/train.jsonl"), load_rows(work / "data/fim_train.jsonl")
    return {"instruct": [len(texts[0]), whole(texts[0], instruct, spoken)],
            "fim": [len(texts[1]), whole(texts[1], fim, lambda row: [row["text"]])]}


def _tokens(strategy, row):
    if getattr(strategy, "supports_batched", False):
        ids = strategy.tokenize_prompt({key: [value] for key, value in row.items()})["input_ids"]
        return [token for chunk in ids for token in chunk]
    return strategy.tokenize_prompt(row)["input_ids"]


def llamafactory(dataset, work):
    """The exported folder as it is, by its dataset_info.json; and the arguments of the configuration."""
    os.environ.update(DISABLE_VERSION_CHECK="1")
    from llamafactory.data.loader import _get_merged_dataset
    from llamafactory.hparams import DataArguments, FinetuningArguments, ModelArguments
    from transformers import HfArgumentParser, Seq2SeqTrainingArguments
    settings = {**yaml_of("llamafactory/qlora.yaml"), "dataset_dir": str(dataset), "model_name_or_path": str(work / "tiny"),
                "output_dir": str(work / "llamafactory"), "bf16": False, "use_cpu": True}
    parser = HfArgumentParser((ModelArguments, DataArguments, Seq2SeqTrainingArguments, FinetuningArguments))
    model, data, training, _ = parser.parse_dict(settings, allow_extra_keys=False)

    def text(row):
        return "\n".join([row["_system"] or "", *(m["content"] for m in [*row["_prompt"], *row["_response"]])])

    def read(name, stage):
        return [text(row) for row in _get_merged_dataset([name], model, data, training, stage)]

    instruct, fim, kernels = (load_rows(dataset / f"{name}.jsonl") for name in ("instruct", "fim", "kernels"))
    chats, gaps, modules = read(data.dataset[0], "sft"), read("kernelmill_complete", "sft"), read("kernelmill_kernels", "pt")
    return {"instruct": [len(chats), whole(chats, instruct, spoken)],
            "fim": [len(gaps), whole(gaps, fim, lambda row: [row["prompt"], row["completion"]])],
            "kernels": [len(modules), whole(modules, kernels, lambda row: [row["module"]])]}


# ---------------------------------------------------------------- the test

@unittest.skipUnless((FOLDER / ".requirements").is_file(), "no trainers: tests/peers/install_trainers.sh")
class Trainers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sys.path.insert(0, str(ROOT / "tests/integration"))
        import harness
        cls.harness = harness
        cls.work = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.dataset = pathlib.Path(os.environ.get("KERNELMILL_DATASET", cls.work / "dataset"))
        if not cls.dataset.exists():
            job = cls.work / "job.yaml"
            job.write_text(f"name: trainers\nsources:\n  - {{path: {harness.DEMO_SOURCES}, name: demo}}\n")
            harness.crawl(job, cls.dataset, cls.work / "store")
        cls.counts = {name: len(load_rows(cls.dataset / f"{name}.jsonl")) for name in ("instruct", "fim", "kernels")}
        cls.python("tiny", RECIPES / "tiny_model.py", cls.dataset, cls.work / "tiny", "--vocabulary", "1024", "--layers", "1")
        cls.python("tiny", RECIPES / "prepare.py", cls.dataset, cls.work / "data")
        cls.prepared = {"instruct": len(load_rows(cls.work / "data/train.jsonl")), "fim": len(load_rows(cls.work / "data/fim_train.jsonl"))}

    @classmethod
    def python(cls, tool, *argv):
        env = {**os.environ, "PYTHONPATH": str(FOLDER / tool), "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1",
               "HF_HOME": str(cls.work / "hf"), "AXOLOTL_DO_NOT_TRACK": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}
        return cls.harness.run(FOLDER / "base/bin/python", *argv, env=env, timeout=900, cwd=cls.work)

    def rows(self, tool):
        """{file: [rows read, rows whose text arrived whole]}, as the tool has them."""
        return json.loads(self.python(tool, __file__, tool, self.dataset, self.work).stdout.splitlines()[-1])

    def check(self, tool, counts):
        found = self.rows(tool)
        for name, count in counts.items():
            self.assertGreater(count, 0)
            self.assertEqual(found[name], [count, count], f"{tool}: {name}.jsonl")

    def test_trl_reads_all_of_both(self):
        self.check("trl", {name: self.counts[name] for name in ("instruct", "fim")})

    def test_torchtune_reads_all_of_both(self):
        self.check("torchtune", self.prepared)

    def test_axolotl_reads_all_of_both(self):
        self.check("axolotl", self.prepared)

    def test_llamafactory_reads_the_exported_folder(self):
        self.check("llamafactory", self.counts)


if __name__ == "__main__":
    if len(sys.argv) > 3:
        print(json.dumps(globals()[sys.argv[1]](pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))))
    else:
        unittest.main(verbosity=2)
