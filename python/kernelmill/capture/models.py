"""The sources of models: timm, torchvision, transformers, torchbench, the modules of a checkout, a file of one's own. Nothing is
downloaded: a model is built from its configuration, with random weights."""

# mypy: disable-error-code="import-not-found,import-untyped"
from __future__ import annotations

import ast
import fnmatch
import importlib
import importlib.util
import inspect
import pathlib
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from kernelmill.errors import RequestError


class NotBuilt(Exception):
    """A model that cannot be built, or has no inputs that fit; the message begins with the reason."""


@dataclass(frozen=True)
class Name:
    """A model: the library that has it, its name there, and for a checkout the file that defines it."""

    library: str
    model: str
    file: str = ""


@dataclass(frozen=True)
class Sizes:
    """The sizes of inputs, and whether the model computes a loss by itself where it can."""

    batch: int = 2
    length: int = 32
    training: bool = False


@dataclass
class Built:
    """A module and what it is called with."""

    module: Any
    arguments: tuple[Any, ...] = ()
    keywords: dict[str, Any] | None = None


# The licence of the code that a library's graphs come from.
LICENSES = {"timm": "Apache-2.0", "torchbench": "BSD-3-Clause", "torchvision": "BSD-3-Clause", "transformers": "Apache-2.0"}


def list_models(specs: Iterable[str]) -> tuple[list[Name], list[str]]:
    """Returns the models that specs name, each once, in their order, and what was found wrong: a library that is not installed, a
    pattern that fits no model. RequestError: a spec is wrong, or nothing is left."""
    names: dict[Name, None] = {}
    problems = []
    for spec in specs:
        library, colon, pattern = spec.partition(":")
        if not colon and pathlib.Path(spec).is_dir():
            raise RequestError(f"{spec} is a folder: --from takes a debug folder, checkout:FOLDER the modules of a repository")
        if not colon or library not in LISTS:
            raise RequestError(f"a model must be LIBRARY:NAME, and a library one of {', '.join(LISTS)}: {spec}")
        try:
            found = LISTS[library](pattern)
        except ModuleNotFoundError as error:
            problems.append(f"{spec}: {error}")
            continue
        if not found:
            problems.append(f"{spec}: names no model")
        names.update(dict.fromkeys(found))
    if not names:
        raise RequestError("no model is left: " + "; ".join(problems))
    return list(names), problems


def build(name: Name, sizes: Sizes) -> Built:
    """Builds a model. NotBuilt: it cannot be."""
    return BUILDERS[name.library](name, sizes)


# timm


def _list_timm(pattern: str) -> list[Name]:
    import timm

    return [Name("timm", each) for each in timm.list_models(pattern or "*")]


def _build_timm(name: Name, sizes: Sizes) -> Built:
    import timm
    import torch

    module = timm.create_model(name.model, pretrained=False)
    return Built(module, (torch.randn(sizes.batch, *module.default_cfg["input_size"]),))


# torchvision


def _list_torchvision(pattern: str) -> list[Name]:
    import torchvision

    return [Name("torchvision", each) for each in torchvision.models.list_models() if fnmatch.fnmatchcase(each, pattern or "*")]


def _build_torchvision(name: Name, sizes: Sizes) -> Built:
    import torch
    import torchvision

    keywords: dict[str, Any] = {"weights": None}
    builder = torchvision.models.get_model_builder(name.model)
    if "weights_backbone" in inspect.signature(builder).parameters:
        keywords["weights_backbone"] = None
    if name.model.startswith(("inception", "googlenet")):
        keywords["init_weights"] = False
    module = builder(**keywords)
    place = builder.__module__
    if "detection" in place:
        images = [torch.rand(3, 128, 128) for _ in range(sizes.batch)]
        boxes = {"boxes": torch.tensor([[8.0, 8.0, 64.0, 64.0]]), "labels": torch.tensor([1]),
                 "masks": torch.ones(1, 128, 128, dtype=torch.uint8), "keypoints": torch.ones(1, 17, 3)}
        return Built(module, (images, [boxes] * sizes.batch) if sizes.training else (images,))
    if "optical_flow" in place:
        return Built(module, (torch.randn(1, 3, 128, 128), torch.randn(1, 3, 128, 128)))
    if "video" in place:
        side = 224 if name.model.startswith(("mvit", "swin")) else 112
        return Built(module, (torch.randn(1, 3, 16, side, side),))
    side = 299 if name.model.startswith("inception") else 224
    return Built(module, (torch.randn(sizes.batch, 3, side, side),))


# transformers

# A small configuration has the widths and depths of the library's own tests, a little wider.
SMALL = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "embed_dim", "d_embed", "embedding_size", "decoder_hidden_size"), 128),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers", "num_decoder_layers",
                     "num_encoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads", "decoder_attention_heads"), 4),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "d_ff", "hidden_dim", "n_inner"), 256),
    **dict.fromkeys(("num_key_value_heads",), 2), **dict.fromkeys(("head_dim", "d_kv"), 32), **dict.fromkeys(("vocab_size",), 1024),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 4), **dict.fromkeys(("num_experts_per_tok",), 2),
    **dict.fromkeys(("moe_intermediate_size",), 128)}
HEADS = ("MODEL_FOR_CAUSAL_LM_MAPPING", "MODEL_FOR_MASKED_LM_MAPPING", "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING",
         "MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING", "MODEL_MAPPING")
LANGUAGE_HEADS = HEADS[:3]


def _list_transformers(pattern: str) -> list[Name]:
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    return [Name("transformers", each) for each in CONFIG_MAPPING_NAMES if fnmatch.fnmatchcase(each, pattern or "*")]


def _is_computed(kind: type[Any], key: str) -> bool:
    """Says whether an attribute of a configuration follows from others, and so cannot be given."""
    found = getattr(kind, key, None)
    return isinstance(found, property) and found.fset is None


def _small_config(kind: type[Any]) -> Any:
    """Returns a small configuration; the default one if it does not take small sizes."""
    default = kind()
    sizes = {key: value for key, value in SMALL.items() if not _is_computed(kind, key) and isinstance(getattr(default, key, None), int)}
    if isinstance(getattr(default, "hidden_sizes", None), list):
        sizes = {}  # a pyramid, whose sizes depend on each other
    tokens = {key: number for number, key in enumerate(("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id"), 1)
              if isinstance(getattr(default, key, None), int)}
    try:
        config = kind(**sizes, **tokens)
    except Exception:  # pylint: disable=broad-except  # libraries check configurations by whatever they like
        config = default
    config.use_cache = False
    return config


def _build_transformers(name: Name, sizes: Sizes) -> Built:
    import torch
    import transformers
    from transformers.models.auto import modeling_auto
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    config = _small_config(CONFIG_MAPPING[name.model])
    head = next((each for each in HEADS if type(config) in getattr(modeling_auto, each, ())), None)
    if head is None:
        raise NotBuilt("no_model: transformers has no model for this configuration")
    module = getattr(modeling_auto, head)[type(config)](config)
    parameters = inspect.signature(module.forward).parameters
    keywords: dict[str, Any] = {}
    main = module.main_input_name
    if main == "input_ids":
        keywords["input_ids"] = torch.randint(4, min(getattr(config, "vocab_size", 1024), 1024), (sizes.batch, sizes.length))
        if sizes.training and "labels" in parameters and head in LANGUAGE_HEADS:
            keywords["labels"] = keywords["input_ids"].clone()
        elif config.is_encoder_decoder and "decoder_input_ids" in parameters:
            keywords["decoder_input_ids"] = keywords["input_ids"].clone()
    elif main == "pixel_values":
        side = getattr(config, "image_size", 224)
        high, wide = side if isinstance(side, (list, tuple)) else (side, side)
        keywords[main] = torch.randn(sizes.batch, getattr(config, "num_channels", 3), high, wide)
    elif main == "input_features":
        frames = 2 * getattr(config, "max_source_positions", 150)
        keywords[main] = torch.randn(sizes.batch, getattr(config, "num_mel_bins", 80), frames)
        if "decoder_input_ids" in parameters:
            keywords["decoder_input_ids"] = torch.randint(4, 100, (sizes.batch, sizes.length))
    elif main == "input_values":
        keywords[main] = torch.randn(sizes.batch, 8000)
    else:
        raise NotBuilt(f"no_input: the model's main input is {main}")
    if "return_dict" in parameters and issubclass(transformers.PreTrainedModel, object):
        keywords["return_dict"] = False
    return Built(module, (), keywords)


# torchbench


def _list_torchbench(pattern: str) -> list[Name]:
    from torchbenchmark import _list_model_paths

    names = sorted(pathlib.Path(each).name for each in _list_model_paths())
    return [Name("torchbench", each) for each in names if fnmatch.fnmatchcase(each, pattern or "*")]


def _build_torchbench(name: Name, sizes: Sizes) -> Built:
    from torchbenchmark import load_model_by_name

    test, load = "train" if sizes.training else "eval", load_model_by_name(name.model)
    try:
        made = load(test=test, device="cpu", batch_size=sizes.batch)
    except NotImplementedError:  # it takes its own size alone
        made = load(test=test, device="cpu")
    module, inputs = made.get_module()
    return Built(module, (), dict(inputs)) if isinstance(inputs, dict) else Built(module, tuple(inputs))


# A checkout

MOST_FILE_BYTES = 1 << 20
SKIPPED_FOLDERS = {"test", "tests", "node_modules", "build", "dist", ".git"}
# A value for a parameter without a default, by words of its name. The first that fits counts.
GUESSES: tuple[tuple[str, Any], ...] = (
    (r"drop|(^|_)prob(s|ability)?(_|$)|^p$", 0.0), (r"^eps|_eps$", 1e-5), (r"bias", True), (r"(^|_)(idx|index)$", 0),
    (r"stride|dilation|reduction|ratio|expansion|scale|^pad(ding)?$", 1), (r"top_?k$|(layers?|depth|blocks)$", 2), (r"kernel(_size)?$|^ks?$", 3),
    (r"^dim_head$|^head_(dim|size)$|^d_[kqv]$", 16), (r"heads?$|groups$|experts$", 4), (r"(patch|window)_(size|height|width)$", 8),
    (r"classes|vocab|num_embeddings|(image|img|fmap)_(size|height|width)$|resolution$|(seq|context)\w*_len|max_\w*len|(^|_)frames$", 32),
    (r"(^|_)(dims?|channels?|chans?|features?|sizes?|width|(in)?planes|in|out|ch|hidden|embd?|nc|filters|shape)$|^dim_|^d_(model|inner|ff)$|^c[12]$|"
     r"^(in|out)_c$", 64))
SHAPES = ((2, 64, 16, 16), (2, 32, 64), (4, 64), (2, 3, 32, 32), (2, 64, 32), (2, 64, 8, 8, 8), (2, 1, 32, 32))
MOST_INPUTS = 3


def _list_checkout(pattern: str) -> list[Name]:
    folder, _, glob = pattern.partition(":")
    root = pathlib.Path(folder).resolve()
    if not root.is_dir():
        raise RequestError(f"checkout:{pattern}: no such folder")
    names = []
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).parts
        if SKIPPED_FOLDERS & set(parts) or path.is_symlink() or path.stat().st_size > MOST_FILE_BYTES:
            continue
        place = ".".join((*parts[:-1], path.stem))
        names += [Name("checkout", f"{place}.{each}", f"{root}:{path}") for each in _modules_of(path)
                  if fnmatch.fnmatchcase(each, glob or "*")]
    return names


def _modules_of(path: pathlib.Path) -> list[str]:
    """Returns the classes at the top of a file that derive from a Module by name."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError, ValueError, RecursionError):
        return []
    bases = {"Module"}
    found = []
    for each in tree.body:
        if not isinstance(each, ast.ClassDef):
            continue
        if any(ast.unparse(base).rsplit(".", 1)[-1] in bases for base in each.bases):
            bases.add(each.name)
            found.append(each.name)
    return found


def _load_file(path: str, root: str) -> Any:
    if root not in sys.path:
        sys.path.insert(0, root)
    parts = pathlib.Path(path).relative_to(root).with_suffix("").parts
    if all(part.isidentifier() for part in parts):
        try:
            return importlib.import_module(".".join(parts))
        except ImportError:
            pass  # it may be no package: then the file alone
    spec = importlib.util.spec_from_file_location("captured_" + re.sub(r"\W", "_", parts[-1]), path)
    if spec is None or spec.loader is None:
        raise NotBuilt(f"not_imported: {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _build_checkout(name: Name, sizes: Sizes) -> Built:
    root, _, path = name.file.partition(":")
    try:
        file = _load_file(path, root)
    except Exception as error:  # pylint: disable=broad-except  # a file of a stranger
        raise NotBuilt(f"not_imported: {type(error).__name__}: {error}") from error
    kind = getattr(file, name.model.rsplit(".", 1)[-1])
    # KernelBench's form, which other benchmarks share.
    if hasattr(file, "get_inputs") and hasattr(file, "get_init_inputs"):
        return Built(kind(*file.get_init_inputs()), tuple(file.get_inputs()))
    module = _construct(kind)
    return Built(module, _find_inputs(module, sizes))


def _guess(name: str) -> Any:
    for pattern, value in GUESSES:
        if re.search(pattern, name):
            return value
    raise NotBuilt(f"no_literal: no value is known for the parameter {name}")


def _required(function: Callable[..., Any]) -> list[inspect.Parameter]:
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_ONLY)
    return [each for each in inspect.signature(function).parameters.values() if each.default is each.empty and each.kind in plain]


def _construct(kind: type[Any]) -> Any:
    arguments = {each.name: _guess(each.name) for each in _required(kind)}
    try:
        return kind(**arguments)
    except Exception as error:  # pylint: disable=broad-except
        raise NotBuilt(f"not_constructed: {type(error).__name__}: {error}") from error


def _find_inputs(module: Any, sizes: Sizes) -> tuple[Any, ...]:
    """Returns inputs that the module takes: for each required parameter the same shape, found by trying."""
    import torch

    count = len(_required(module.forward))
    if not 1 <= count <= MOST_INPUTS:
        raise NotBuilt(f"no_input: forward() has {count} required parameters")
    tried = ""
    for shape in SHAPES:
        for make in (torch.randn, lambda *size: torch.randint(0, 16, size[:2])):
            inputs = tuple(make(*shape) for _ in range(count))
            try:
                with torch.no_grad():
                    module(*inputs)
                return inputs
            except Exception as error:  # pylint: disable=broad-except
                tried = f"{type(error).__name__}: {error}"
    raise NotBuilt(f"no_input: no shape fits: {tried}")


# A file


def _list_file(pattern: str) -> list[Name]:
    path = str(pathlib.Path(pattern).resolve())
    return [Name("file", each, path) for each in _load_file(path, str(pathlib.Path(path).parent)).MODELS]


def _build_file(name: Name, sizes: Sizes) -> Built:
    made = _load_file(name.file, str(pathlib.Path(name.file).parent)).MODELS[name.model]()
    module, inputs = made
    return Built(module, (), inputs) if isinstance(inputs, dict) else Built(module, tuple(inputs))


LISTS: dict[str, Callable[[str], list[Name]]] = {
    "timm": _list_timm, "torchvision": _list_torchvision, "transformers": _list_transformers, "torchbench": _list_torchbench,
    "checkout": _list_checkout, "file": _list_file}
BUILDERS: dict[str, Callable[[Name, Sizes], Built]] = {
    "timm": _build_timm, "torchvision": _build_torchvision, "transformers": _build_transformers, "torchbench": _build_torchbench,
    "checkout": _build_checkout, "file": _build_file}
