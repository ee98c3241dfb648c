"""The rows of a dataset, as docs/schema has them.

Made by python/generate.py of docs/schema: change that, and run it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar

from kernelmill.tables import Table

R = TypeVar("R")


@dataclass(frozen=True)
class Cuda:
    """The CUDA kernel."""

    # 32 hexadecimal digits over repository, commit, path, first line, SHA-256 and JSON pointer
    id: str
    # the source's name
    repository: str
    # where the source is on the web
    repository_url: str | None
    # 40 digits; of a package or a folder sha256:...
    commit: str
    # from the root of the source
    path: str
    # from 1; the first decorator's
    first_line: int
    # inclusive
    last_line: int
    # of a kernel in a string of a JSON file: which string; lines and texts are then the string's
    json_pointer: str | None
    # the lines on the web, at the commit; of a JSON file the file
    url: str | None
    # of `source`, as the file has it
    sha256: str
    # the kernel language
    dsl: Literal["triton", "gluon", "pallas", "cuda"]
    # launched from the host, or called by kernels; null of a template
    role: Literal["kernel", "device"] | None
    # how it was recognized as a kernel; file: it is none, but a whole file
    form: Literal["decorated", "wrapped", "called", "kernel_argument", "string", "template", "qualified", "file"]
    # of the function
    name: str


@dataclass(frozen=True)
class Triton:
    """The Triton kernel."""

    # 32 hexadecimal digits over repository, commit, path, first line, SHA-256 and JSON pointer
    id: str
    # the source's name
    repository: str
    # where the source is on the web
    repository_url: str | None
    # 40 digits; of a package or a folder sha256:...
    commit: str
    # from the root of the source
    path: str
    # from 1; the first decorator's
    first_line: int
    # inclusive
    last_line: int
    # of a kernel in a string of a JSON file: which string; lines and texts are then the string's
    json_pointer: str | None
    # the lines on the web, at the commit; of a JSON file the file
    url: str | None
    # of `source`, as the file has it
    sha256: str
    # the kernel language
    dsl: Literal["triton", "gluon", "pallas", "cuda"]
    # launched from the host, or called by kernels; null of a template
    role: Literal["kernel", "device"] | None
    # how it was recognized as a kernel; file: it is none, but a whole file
    form: Literal["decorated", "wrapped", "called", "kernel_argument", "string", "template", "qualified", "file"]
    # of the function
    name: str


@dataclass(frozen=True)
class Signals:
    """That the score is made of; null where it is."""

    # 0 to 1
    names: float | None
    # 0 to 1
    operations: float | None
    # 0 to 1
    parameters: float | None


@dataclass(frozen=True)
class Shared:
    """What the two have in common; null where the score is."""

    # of the names
    words: tuple[str, ...]
    # of the operations
    tags: tuple[str, ...]
    # by name
    parameters: tuple[str, ...]


@dataclass(frozen=True)
class NotUtf8:
    """An object of a row."""

    # the field, an RFC 6901 pointer into the row: /source, /launcher/text
    field: str
    # its exact bytes
    base64: str


@dataclass(frozen=True)
class Pair:
    """CUDA kernels and the Triton kernels that do the same."""

    # the CUDA kernel
    cuda: Cuda
    # the Triton kernel
    triton: Triton
    # it is of the job's list of pairs, or a review accepted it
    curated: bool
    # the side of the dataset that it is on
    split: Literal["train", "validation", "test"]
    # 0 to 1; null where the two are of different sources
    score: float | None
    # that the score is made of; null where it is
    signals: Signals | None
    # what the two have in common; null where the score is
    shared: Shared | None
    # of a curated one: Jaccard of the words of its two texts, 0.8 to 1; null where it is less
    word_overlap: float | None
    # the paths and whole texts of the row that are not UTF-8: a field has U+FFFD for broken bytes
    not_utf8: tuple[NotUtf8, ...]


@dataclass(frozen=True)
class Tokens:
    """Of `text`."""

    # as tiktoken counts them
    cl100k_base: int
    # likewise
    o200k_base: int


@dataclass(frozen=True)
class Found:
    """An object of a row."""

    # what it says, SPDX; null where that could not be understood
    expression: str | None
    # of the file that says so; null of metadata and the job file
    path: str | None
    # from 1
    first_line: int | None
    # inclusive
    last_line: int | None
    # tag, text, phrase, notice, name, annotation, aggregate, field, classifier or job
    rule: str
    # what was recognized
    text: str | None
    # 0 to 1
    score: float


@dataclass(frozen=True)
class AdaptedFrom:
    """An object of a row."""

    # as written: a URL, owner/name, or a name
    origin: str
    # of the file that says so
    path: str
    # from 1
    line: int


@dataclass(frozen=True)
class License:
    """The licence and what says so."""

    # SPDX; NOASSERTION where nothing is known
    expression: str
    # where it was found: spdx-tag, header, annotation:REUSE.toml, file:LICENSE, metadata, job
    evidence: str | None
    # 0 to 1
    confidence: float
    # all that the expression was made of
    found: tuple[Found, ...]
    # the lines of the copyright holders
    copyrights: tuple[str, ...]
    # the paths of the NOTICE files; notices.jsonl has their texts
    notices: tuple[str, ...]
    # where the file says in words that its code comes from
    adapted_from: tuple[AdaptedFrom, ...]
    # the folder of other people's code, or the submodule, that the file lies in
    vendored: str | None


@dataclass(frozen=True)
class Sensitive:
    """An object of a row."""

    # email, or a secret's: aws_access_key, private_key, ...
    kind: str
    # which text has it
    text: Literal["source", "module", "launcher"]
    # offset in bytes
    begin: int
    # bytes
    size: int
    # its letters and digits are x
    redacted: bool


@dataclass(frozen=True)
class Holdout:
    """The holdout's kernel."""

    # 32 hexadecimal digits over repository, commit, path, first line, SHA-256 and JSON pointer
    id: str
    # the source's name
    repository: str
    # where the source is on the web
    repository_url: str | None
    # 40 digits; of a package or a folder sha256:...
    commit: str
    # from the root of the source
    path: str
    # from 1; the first decorator's
    first_line: int
    # inclusive
    last_line: int
    # of a kernel in a string of a JSON file: which string; lines and texts are then the string's
    json_pointer: str | None
    # the lines on the web, at the commit; of a JSON file the file
    url: str | None


@dataclass(frozen=True)
class Contamination:
    """An object of a row."""

    # the holdout's kernel
    holdout: Holdout
    # by which it matches
    rule: Literal["exact", "near", "structural", "overlap", "contained"]
    # 0 to 1
    score: float
    # the kernel's text that matches
    text: Literal["source", "module", "launcher"]
    # which of the holdout's
    holdout_text: Literal["source", "launcher"]
    # of the holdout's text in holdouts, itself included
    copies: int


@dataclass(frozen=True)
class SourceFile:
    """Whole files, of sources that keep files, by source and path."""

    # 32 hexadecimal digits over repository, commit, path and SHA-256
    id: str
    # the source's name
    repository: str
    # where the source is on the web
    repository_url: str | None
    # 40 digits; of a package or a folder sha256:...
    commit: str
    # the file on the web, at the commit
    url: str | None
    # from the root of the source
    path: str
    # of the file as the source has it
    sha256: str
    # by the file's name: python, c++, ...; null where it tells none
    language: str | None
    # the source's, from the job file
    category: str
    # the source's `tier` in the job file; 1 is best
    source_tier: int
    # the source's sampling weight
    weight: float
    # the side of the dataset that it is on
    split: Literal["train", "validation", "test"]
    # all of the file
    text: str
    # of the file
    bytes: int
    # of the file
    lines: int
    # of `text`
    tokens: Tokens
    # the licence and what says so
    license: License
    # what says that a program wrote it
    generated: str | None
    # secrets and e-mail addresses
    sensitive: tuple[Sensitive, ...]
    # ids of the kept kernels that stand in it
    kernels: tuple[str, ...]
    # ids of the files that are duplicates of it
    duplicates: tuple[str, ...]
    # the matches with holdouts, the gravest first; at most eight
    contamination: tuple[Contamination, ...]
    # how many other kernels of holdouts it has something in common with
    contamination_weak_matches: int
    # the highest score of these
    contamination_weak_score: float | None
    # the paths and whole texts of the row that are not UTF-8: a field has U+FFFD for broken bytes
    not_utf8: tuple[NotUtf8, ...]


@dataclass(frozen=True)
class Fim:
    """Kernels with a gap to fill, by source, path and line; equal ones once."""

    # a kernel up to its body, with what it uses above it
    prompt: str
    # the body
    completion: str
    # the same text, cut at statements of the body: what stands before the gap
    prefix: str
    # what fills the gap; never empty
    middle: str
    # what follows it
    suffix: str
    # the identity: SHA-1 of normalized prompt, |||, normalized completion
    sha1: str
    # of the kernel, as in kernels.jsonl
    id: str
    # the source's name
    repository: str
    # of the kernel: an SPDX expression
    license: str
    # the source's, from the job file
    category: str
    # the source's sampling weight
    weight: float
    # the side of the dataset that it is on
    split: Literal["train", "validation", "test"]


@dataclass(frozen=True)
class Messages:
    """An object of a row."""

    # who says it
    role: Literal["system", "user", "assistant"]
    # what is said
    content: str


@dataclass(frozen=True)
class Instruct:
    """Questions about kernels and the answers that their repositories give, by source, path, line and template."""

    # which template made the question
    template: Literal["write", "complete", "launch", "document"]
    # a conversation: system, user, assistant
    messages: tuple[Messages, ...]
    # of the kernel, as in kernels.jsonl
    id: str
    # the source's name
    repository: str
    # of the kernel: an SPDX expression
    license: str
    # the source's, from the job file
    category: str
    # the source's sampling weight
    weight: float
    # the side of the dataset that it is on
    split: Literal["train", "validation", "test"]


@dataclass(frozen=True)
class IrText:
    """What compilers made of kept kernels on the way to machine code, of jobs that keep it, by source, path, line,
    toolchain, target and form."""

    # of the kernel, as in kernels.jsonl
    kernel_id: str
    # the source's name
    repository: str
    # of the function
    name: str
    # the compiler
    toolchain: str
    # cuda:90, hip:gfx942, ...
    target: str
    # ttir, ttgir, llir, ptx or amdgcn
    form: str
    # of the text as the compiler made it
    sha256: str
    # all of it
    text: str
    # of the kernel: an SPDX expression
    license: str
    # the source's, from the job file
    category: str
    # the source's sampling weight
    weight: float
    # the side of the dataset that it is on
    split: Literal["train", "validation", "test"]
    # the paths and whole texts of the row that are not UTF-8: a field has U+FFFD for broken bytes
    not_utf8: tuple[NotUtf8, ...]


@dataclass(frozen=True)
class Pieces:
    """An object of a row."""

    # null of a generated line
    path: str | None
    # from 1
    first_line: int | None
    # inclusive
    last_line: int | None
    # of code
    kind: Literal["import", "constant", "function", "class"]
    # a line of no file that stands for an import
    generated: bool
    # that it comes from where that is not the kernel's own
    used_source: str | None


@dataclass(frozen=True)
class UnresolvedNames:
    """An object of a row."""

    # as the code has it
    name: str
    # what became of it
    reason: Literal["undefined", "repository_import", "package_import", "wildcard_import", "too_large"]


@dataclass(frozen=True)
class DroppedDecorators:
    """An object of a row."""

    # without @, as written
    text: str
    # that it decorates
    function: str
    # from 1
    first_line: int
    # inclusive
    last_line: int
    # what it is
    reason: Literal["host_machinery", "autotune_configs", "heuristics"]


@dataclass(frozen=True)
class ReplacedTexts:
    """An object of a row."""

    # as written
    original: str
    # as `module` has it
    replacement: str
    # from 1
    first_line: int
    # inclusive
    last_line: int
    # what it is
    reason: Literal["autotune_configs"]


@dataclass(frozen=True)
class Parameters:
    """An object of a row."""

    # as written; null of one of CUDA without
    name: str | None
    # as written
    annotation: str | None
    # as written
    default: str | None
    # what it is for
    role: Literal["pointer", "stride", "size", "constexpr", "other"]
    # that gave the role
    rule: str


@dataclass(frozen=True)
class Kwargs:
    """An object of a row."""

    # what it is given as
    name: str
    # as Python's repr() has it; where it is not known, as written
    value: str


@dataclass(frozen=True)
class Options:
    """An object of a row."""

    # what it is given as
    name: str
    # as Python's repr() has it; where it is not known, as written
    value: str


@dataclass(frozen=True)
class Configs:
    """An object of a row."""

    # of the kernel's parameters
    kwargs: tuple[Kwargs, ...]
    # num_warps, num_stages and the like
    options: tuple[Options, ...]


@dataclass(frozen=True)
class Autotune:
    """What the autotuner is given; null without one."""

    # its name as written
    decorator: str
    # the configurations
    configs: tuple[Configs, ...]
    # `configs` are all that there are
    resolved: bool
    # where they are not: what is given instead, as written
    expression: str | None
    # the parameters whose change tunes anew
    key: tuple[str, ...]
    # what is given as key where that is no list of strings
    key_expression: str | None


@dataclass(frozen=True)
class Heuristics:
    """Of @triton.heuristics; null without."""

    # that are computed
    names: tuple[str, ...]
    # given instead of a literal dictionary, as written
    expressions: tuple[str, ...]


@dataclass(frozen=True)
class Launcher:
    """The smallest function that launches the kernel; null where there is none."""

    # of the file that it is in
    path: str
    # of the function; null of a statement of the module
    qualname: str | None
    # from 1
    first_line: int
    # inclusive
    last_line: int
    # those whole lines; null above 16 KiB, and where a holdout has it
    text: str | None
    # how many functions launch the kernel
    count: int


@dataclass(frozen=True)
class TagRules:
    """An object of a row."""

    # the tag
    name: str
    # the first rule that gave it
    rule: str


@dataclass(frozen=True)
class ModuleTokens:
    """Of `module`."""

    # as tiktoken counts them
    cl100k_base: int
    # likewise
    o200k_base: int


@dataclass(frozen=True)
class Inductor:
    """Where TorchInductor got the kernel from; null of all others."""

    # the debug folder's name for it
    model: str | None
    # its number in that name
    graph: str | None
    # the comment before the kernel
    kernel_path: str | None
    # likewise
    source_node: str | None
    # it stood in a string of async_compile.triton
    in_string: bool


@dataclass(frozen=True)
class Launches:
    """An object of a row."""

    # from 1
    first_line: int
    # inclusive
    last_line: int
    # of the expression; null where it is long
    text: str | None
    # that it stands in; null outside of all
    host_function: str | None
    # of that function
    host_first_line: int | None
    # inclusive
    host_last_line: int | None


@dataclass(frozen=True)
class KernelCuda:
    """What a CUDA function has beside a Python one; null of all others."""

    # of each template header; "" of template <>
    template_parameters: tuple[str, ...]
    # between the parentheses of __launch_bounds__
    launch_bounds: str | None
    # launches in the same file
    launches: tuple[Launches, ...]


@dataclass(frozen=True)
class Checks:
    """The outcome of each check."""

    # its outcome
    has_triton_jit: Literal["pass", "fail", "exempt"]
    # its outcome
    has_bounds_masking: Literal["pass", "fail", "exempt"]
    # its outcome
    has_program_id: Literal["pass", "fail", "exempt"]
    # its outcome
    has_block_size: Literal["pass", "fail", "exempt"]
    # its outcome
    has_load_store: Literal["pass", "fail", "exempt"]
    # its outcome
    has_docstring: Literal["pass", "fail", "exempt"]
    # its outcome
    license_permissive: Literal["pass", "fail", "exempt"]
    # its outcome
    parses: Literal["pass", "fail", "exempt"]
    # its outcome
    handwritten: Literal["pass", "fail", "exempt"]
    # its outcome
    readable: Literal["pass", "fail", "exempt"]
    # its outcome
    self_contained: Literal["pass", "fail", "exempt"]
    # its outcome; null where the job compiles nothing
    compiles: Literal["pass", "fail", "exempt"] | None
    # its outcome; null where the job compiles nothing
    imports: Literal["pass", "fail", "exempt"] | None


@dataclass(frozen=True)
class CheckReasons:
    """An object of a row."""

    # its name
    check: str
    # why it failed or is exempt
    reason: str


@dataclass(frozen=True)
class Quality:
    """Measures."""

    # 0 to 1
    score: float
    # 1 (best) to 3, by the score
    tier: int
    # with the helpers in `module`
    loads: int
    # of these
    masked_loads: int
    # with the helpers in `module`
    stores: int
    # of these
    masked_stores: int
    # bytes
    longest_line: int
    # bytes of a line that is not blank
    mean_line: float
    # the share of comments and docstring, 0 to 1
    comment_ratio: float
    # what says that a program wrote it
    generated: str | None
    # secrets and e-mail addresses
    sensitive: tuple[Sensitive, ...]


@dataclass(frozen=True)
class Imports:
    """An object of a row."""

    # the compiler
    toolchain: str
    # it could be loaded
    ok: bool
    # why not
    error: str | None
    # of `module`, from 1
    line: int | None


@dataclass(frozen=True)
class Arguments:
    """An object of a row."""

    # of the parameter
    name: str
    # as Triton writes it: *fp16, i32
    type: str
    # that gave it
    rule: str
    # as a compiler is told
    divisible_by_16: bool


@dataclass(frozen=True)
class Constexprs:
    """An object of a row."""

    # as the code has it
    name: str
    # as Python's repr() has it
    value: str
    # that gave it
    rule: str


@dataclass(frozen=True)
class SignaturesOptions:
    """An object of a row."""

    # as the code has it
    name: str
    # as Python's repr() has it
    value: str
    # that gave it
    rule: str


@dataclass(frozen=True)
class Signatures:
    """An object of a row."""

    # from 1: which try of the rules it was
    attempt: int
    # in the order of the parameters, constexpr ones aside
    arguments: tuple[Arguments, ...]
    # likewise, the constexpr ones
    constexprs: tuple[Constexprs, ...]
    # num_warps, num_stages and the like, by name
    options: tuple[SignaturesOptions, ...]


@dataclass(frozen=True)
class Forms:
    """An object of a row."""

    # ttir, ttgir, llir, ptx, cubin, amdgcn or hsaco
    form: str
    # of it
    size_bytes: int
    # of it
    sha256: str


@dataclass(frozen=True)
class Results:
    """An object of a row."""

    # the compiler
    toolchain: str
    # cuda:90, hip:gfx942, ...
    target: str
    # unknown: what it is called with could not be told
    status: Literal["ok", "error", "unknown"]
    # its place in `signatures`; null where there was none to try
    signature: int | None
    # where it was refused: import, frontend, passes, assembler or limit
    stage: str | None
    # what the compiler said then
    message: str | None
    # of `module`, from 1
    line: int | None
    # of unknown: what could not be told
    missing: str | None
    # of ok: a thread's; of hip vector registers
    registers: int | None
    # of ok: a block's shared memory; more than the target has cannot be launched
    shared_bytes: int | None
    # of ok: a thread's, stores and loads together
    spill_bytes: int | None
    # of ok: of the machine code
    instructions: int | None
    # of ok: another try reached a bound of time, memory or files; a faster machine may take that one
    limited: bool
    # what the compiler made, in that order
    forms: tuple[Forms, ...]


@dataclass(frozen=True)
class Compile:
    """What compilers say of it; null where the job compiles nothing."""

    # why nothing was tried; null where something was
    not_attempted: str | None
    # whether `module` could be loaded, one a toolchain
    imports: tuple[Imports, ...]
    # types and values that results refer to
    signatures: tuple[Signatures, ...]
    # one a toolchain and target
    results: tuple[Results, ...]


@dataclass(frozen=True)
class Kernel:
    """The kept kernels, by source, path and line."""

    # 32 hexadecimal digits over repository, commit, path, first line, SHA-256 and JSON pointer
    id: str
    # the source's name
    repository: str
    # where the source is on the web
    repository_url: str | None
    # 40 digits; of a package or a folder sha256:...
    commit: str
    # from the root of the source
    path: str
    # from 1; the first decorator's
    first_line: int
    # inclusive
    last_line: int
    # of a kernel in a string of a JSON file: which string; lines and texts are then the string's
    json_pointer: str | None
    # the lines on the web, at the commit; of a JSON file the file
    url: str | None
    # of `source`, as the file has it
    sha256: str
    # the kernel language
    dsl: Literal["triton", "gluon", "pallas", "cuda"]
    # launched from the host, or called by kernels; null of a template
    role: Literal["kernel", "device"] | None
    # how it was recognized as a kernel; file: it is none, but a whole file
    form: Literal["decorated", "wrapped", "called", "kernel_argument", "string", "template", "qualified", "file"]
    # of the function
    name: str
    # with enclosing classes and functions
    qualname: str
    # the name that makes it a kernel: triton.jit; null of CUDA
    found_by: str | None
    # of a kernel without a decorator: the statement that makes it one
    applied_by: str | None
    # the source's, from the job file
    category: str
    # the source's `tier` in the job file; 1 is best
    source_tier: int
    # the source's sampling weight
    weight: float
    # the side of the dataset that it is on
    split: Literal["train", "validation", "test"]
    # its own id
    cluster: str
    # ids of the kernels that are duplicates of it
    duplicates: tuple[str, ...]
    # whole lines of the file
    source: str
    # self-contained text: imports, constants, helpers, then the kernel
    module: str
    # what a fill-in-the-middle prompt shows above the kernel; null where that is nothing, and of CUDA
    prompt_context: str | None
    # what `module` is made of, in its order
    pieces: tuple[Pieces, ...]
    # nothing but Triton, torch, JAX and Python is left outside `module`; of CUDA nothing but C++ and the toolkit
    self_contained: bool
    # names that `module` lacks
    free_names: tuple[str, ...]
    # why `module` does not stand alone
    unresolved_names: tuple[UnresolvedNames, ...]
    # machinery of the host that `module` goes without
    dropped_decorators: tuple[DroppedDecorators, ...]
    # texts for which `module` has others that come to the same
    replaced_texts: tuple[ReplacedTexts, ...]
    # from def to the colon, as written
    signature: str
    # as written, without quotes
    docstring: str | None
    # as written, outermost first
    decorators: tuple[str, ...]
    # dotted names that the body calls, resolved through the imports
    calls: tuple[str, ...]
    # in order
    parameters: tuple[Parameters, ...]
    # what the autotuner is given; null without one
    autotune: Autotune | None
    # of @triton.heuristics; null without
    heuristics: Heuristics | None
    # the smallest function that launches the kernel; null where there is none
    launcher: Launcher | None
    # the Triton that the repository asks for, PEP 440, as written
    requires_triton: str | None
    # the file that says so
    requires_triton_path: str | None
    # the operation
    tags: tuple[str, ...]
    # one for each tag
    tag_rules: tuple[TagRules, ...]
    # what it uses of the language beyond the plain
    features: tuple[str, ...]
    # of `source`
    tokens: Tokens
    # of `module`
    module_tokens: ModuleTokens
    # of Python or C in `source`, without comments
    lexical_tokens: int
    # the identity of its row in fim_sft.csv; null where it has none
    fim_sha1: str | None
    # why it has no row in fim_sft.csv; null where it has one
    fim_excluded: Literal["language", "template", "syntax_error", "indentation", "signature_line", "no_body", "trivial",
        "short"] | None
    # where TorchInductor got the kernel from; null of all others
    inductor: Inductor | None
    # what a CUDA function has beside a Python one; null of all others
    cuda: KernelCuda | None
    # the licence and what says so
    license: License
    # the outcome of each check
    checks: Checks
    # of the checks that failed or are exempt
    check_reasons: tuple[CheckReasons, ...]
    # measures
    quality: Quality
    # what the kernel is there for
    kind: Literal["operation", "helper", "test", "example", "benchmark", "broken", "generated"]
    # the rule that gave it
    kind_rule: str
    # whose hardware it is written for
    target: str
    # the rule that gave it; null of generic
    target_rule: str | None
    # what compilers say of it; null where the job compiles nothing
    compile: Compile | None
    # the matches with holdouts, the gravest first; at most eight
    contamination: tuple[Contamination, ...]
    # how many other kernels of holdouts it has something in common with
    contamination_weak_matches: int
    # the highest score of these
    contamination_weak_score: float | None
    # Jaccard of the words of prompt and completion, 0.8 to 1; null where it is less
    word_overlap: float | None
    # the paths and whole texts of the row that are not UTF-8: a field has U+FFFD for broken bytes
    not_utf8: tuple[NotUtf8, ...]


@dataclass(frozen=True)
class LedgerRow:
    """Every kernel found, and every whole file of sources that keep files, by source, path and line."""

    # 32 hexadecimal digits over repository, commit, path, first line, SHA-256 and JSON pointer
    id: str
    # the source's name
    repository: str
    # where the source is on the web
    repository_url: str | None
    # 40 digits; of a package or a folder sha256:...
    commit: str
    # from the root of the source
    path: str
    # from 1; the first decorator's
    first_line: int
    # inclusive
    last_line: int
    # of a kernel in a string of a JSON file: which string; lines and texts are then the string's
    json_pointer: str | None
    # the lines on the web, at the commit; of a JSON file the file
    url: str | None
    # of `source`, as the file has it
    sha256: str
    # the kernel language; null of a whole file
    dsl: Literal["triton", "gluon", "pallas", "cuda"] | None
    # launched from the host, or called by kernels; null of a template
    role: Literal["kernel", "device"] | None
    # how it was recognized as a kernel; file: it is none, but a whole file
    form: Literal["decorated", "wrapped", "called", "kernel_argument", "string", "template", "qualified", "file"]
    # what became of it
    fate: Literal["kept", "rejected", "duplicate", "contaminated"]
    # why; null of what is kept
    reason: str | None
    # the id of the kernel that it repeats, of the holdout's that it matches, or of the opted-out one for whose sake it
    # goes
    of: str | None
    # to that kernel, 0 to 1
    similarity: float | None
    # the matches with holdouts, the gravest first; at most eight
    contamination: tuple[Contamination, ...]
    # how many other kernels of holdouts it has something in common with
    contamination_weak_matches: int
    # the highest score of these
    contamination_weak_score: float | None
    # the paths and whole texts of the row that are not UTF-8: a field has U+FFFD for broken bytes
    not_utf8: tuple[NotUtf8, ...]


@dataclass(frozen=True)
class Notice:
    """The licence and NOTICE files that must go along, once for each source."""

    # the source's name
    repository: str
    # where the source is on the web
    repository_url: str | None
    # as in kernels.jsonl
    commit: str
    # from the root of the source
    path: str
    # the file on the web, at the commit
    url: str | None
    # of the file
    sha256: str
    # all of it
    text: str
    # the paths and whole texts of the row that are not UTF-8: a field has U+FFFD for broken bytes
    not_utf8: tuple[NotUtf8, ...]


class Tables:
    """A table for each file of rows."""

    def _table(self, file: str, row: type[R]) -> Table[R]:
        raise NotImplementedError

    @property
    def pairs(self) -> Table[Pair]:
        """cuda_triton_pairs.jsonl."""
        return self._table("cuda_triton_pairs.jsonl", Pair)

    @property
    def files(self) -> Table[SourceFile]:
        """files.jsonl."""
        return self._table("files.jsonl", SourceFile)

    @property
    def fim(self) -> Table[Fim]:
        """fim.jsonl."""
        return self._table("fim.jsonl", Fim)

    @property
    def instruct(self) -> Table[Instruct]:
        """instruct.jsonl."""
        return self._table("instruct.jsonl", Instruct)

    @property
    def ir(self) -> Table[IrText]:
        """ir.jsonl."""
        return self._table("ir.jsonl", IrText)

    @property
    def kernels(self) -> Table[Kernel]:
        """kernels.jsonl."""
        return self._table("kernels.jsonl", Kernel)

    @property
    def ledger(self) -> Table[LedgerRow]:
        """ledger.jsonl."""
        return self._table("ledger.jsonl", LedgerRow)

    @property
    def notices(self) -> Table[Notice]:
        """notices.jsonl."""
        return self._table("notices.jsonl", Notice)
