#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_ORIGIN_WORDS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_ORIGIN_WORDS_H_

#include "absl/strings/string_view.h"

// The words by which origins.cc tells "adapted from vLLM" from "copied from shared memory".
namespace kernelmill::validator {

enum class Verb {
  kNone,
  kAuthorship,  // about an author's work: any name may follow
  kTaking,      // also used for values and memory: a known project must follow
  kNoun,        // "a port of": as kTaking
  kBase,        // "based on": as kTaking, if the sentence begins with it
  kWeak,        // an address must follow
};

struct VerbWord {
  const char* word;
  Verb verb;
};

// Words before "from".
inline constexpr VerbWord kVerbs[] = {
    {"adapted", Verb::kAuthorship},
    {"adapt", Verb::kAuthorship},
    {"adopted", Verb::kAuthorship},
    {"adopt", Verb::kAuthorship},
    {"modified", Verb::kAuthorship},
    {"modify", Verb::kAuthorship},
    {"ported", Verb::kAuthorship},
    {"port", Verb::kAuthorship},
    {"backported", Verb::kAuthorship},
    {"borrowed", Verb::kAuthorship},
    {"borrow", Verb::kAuthorship},
    {"forked", Verb::kAuthorship},
    {"translated", Verb::kAuthorship},
    {"rewritten", Verb::kAuthorship},
    {"vendored", Verb::kAuthorship},
    {"transcribed", Verb::kAuthorship},
    {"originally", Verb::kAuthorship},
    {"originated", Verb::kAuthorship},
    {"originates", Verb::kAuthorship},
    {"copied", Verb::kTaking},
    {"copy", Verb::kTaking},
    {"copypasted", Verb::kTaking},
    {"copy-pasted", Verb::kTaking},
    {"copy-paste", Verb::kTaking},
    {"copypasted", Verb::kTaking},
    {"copypaste", Verb::kTaking},
    {"pasted", Verb::kTaking},
    {"taken", Verb::kTaking},
    {"derived", Verb::kTaking},
    {"extracted", Verb::kTaking},
    {"lifted", Verb::kTaking},
    {"stolen", Verb::kTaking},
    {"reproduced", Verb::kTaking},
    {"cherry-picked", Verb::kTaking},
    {"code", Verb::kWeak},
    {"kernel", Verb::kWeak},
    {"kernels", Verb::kWeak},
    {"implementation", Verb::kWeak},
    {"function", Verb::kWeak},
    {"helpers", Verb::kWeak},
    {"snippet", Verb::kWeak},
    {"tutorial", Verb::kWeak},
};

// Words before "of".
inline constexpr absl::string_view kNouns[] = {"port",        "fork",       "copy",
                                               "version",     "adaptation", "modification",
                                               "translation", "backport",   "copy-paste"};

// Words between a verb and its "from".
inline constexpr absl::string_view kBetween[] = {
    "and",     "or",         "adapted",  "modified",      "copied",  "ported",      "with",
    "some",    "minor",      "slight",   "slightly",      "heavily", "partially",   "mostly",
    "largely", "directly",   "verbatim", "modifications", "changes", "over",        "almost",
    "code",    "in",         "part",     "small",         "edits",   "shamelessly", "straight",
    "taken",   "simplified", "as-is",    "here",
};

// Words with which such a sentence may begin.
inline constexpr absl::string_view kOpening[] = {
    "this",
    "the",
    "code",
    "file",
    "kernel",
    "kernels",
    "module",
    "these",
    "function",
    "functions",
    "implementation",
    "implementations",
    "class",
    "is",
    "was",
    "are",
    "were",
    "has",
    "have",
    "been",
    "some",
    "part",
    "parts",
    "portions",
    "of",
    "in",
    "heavily",
    "partially",
    "partly",
    "mostly",
    "largely",
    "slightly",
    "originally",
    "initially",
    "directly",
    "simply",
    "loosely",
    "below",
    "following",
    "and",
    "note",
    "it",
    "triton",
    "cuda",
    "version",
    "all",
    "most",
    "much",
    "which",
    "forward",
    "backward",
    "test",
    "tests",
    "a",
    "an",
    "logic",
    "credit",
    "credits",
    "-",
    "*",
    "todo",
    "adapted",
    "copied",
    "modified",
    "ported",
    "algorithm",
    "routines",
    "utilities",
    "helpers",
};

// Words before the name of the origin.
inline constexpr absl::string_view kArticles[] = {
    "the",        "a",     "an",       "this",     "these",          "that",
    "code",       "codes", "kernel",   "kernels",  "implementation", "implementations",
    "of",         "in",    "original", "official", "following",      "repo",
    "repository", "file",  "files",    "project",  "function",       "here",
    "and",        "from",  "great",    "awesome",  "excellent",      "existing",
    "link",       "at",    "by",       "upstream", "open-source",    "version",
    "github",
};

// Words that end a name.
inline constexpr absl::string_view kNameEnds[] = {
    "with",  "by",     "and", "to",   "for",  "which", "that", "in",  "at",    "under",
    "using", "but",    "on",  "from", "as",   "is",    "are",  "was", "where", "we",
    "it",    "commit", "via", "so",   "when", "while", "into", "or",
};

// Projects from which kernels are often taken, in lower case and without signs. A name in lower
// case must be one of them to be told from an ordinary word.
inline constexpr absl::string_view kProjects[] = {
    "aiter",
    "aitemplate",
    "apex",
    "attorch",
    "autoawq",
    "autogptq",
    "bitblas",
    "bitsandbytes",
    "causalconv1d",
    "causalconv1dcuda",
    "ck",
    "colossalai",
    "composablekernel",
    "cublas",
    "cudnn",
    "cupy",
    "cutedsl",
    "cutlass",
    "cutorch",
    "deepep",
    "deepgemm",
    "deepseek",
    "deepseekv3",
    "deepspeed",
    "diffusers",
    "dlblas",
    "efficientcrossentropy",
    "exllama",
    "exllamav2",
    "exllamav3",
    "fairseq",
    "fastertransformer",
    "fbgemm",
    "fla",
    "flaggems",
    "flashattention",
    "flashattention2",
    "flashattn",
    "flashdecoding",
    "flashinfer",
    "flashlinearattention",
    "flashmla",
    "flashnn",
    "fms",
    "gemlite",
    "ggml",
    "gptfast",
    "gptq",
    "gptqforllama",
    "gptqtriton",
    "gsplat",
    "hqq",
    "huggingface",
    "iree",
    "jaxtriton",
    "kraken",
    "lightllm",
    "liger",
    "ligerkernel",
    "llamacpp",
    "llmawq",
    "llmc",
    "llmfoundry",
    "lmdeploy",
    "machete",
    "mamba",
    "mambassm",
    "marlin",
    "megablocks",
    "megatron",
    "megatronlm",
    "mlcllm",
    "mslk",
    "nemo",
    "openai",
    "peft",
    "quack",
    "quiptools",
    "rocmtriton",
    "sageattention",
    "scattermoe",
    "sgl",
    "sglang",
    "sglkernel",
    "sonicmoe",
    "stk",
    "tensorflow",
    "tensorrtllm",
    "thunderkittens",
    "tilelang",
    "tinygrad",
    "torchao",
    "torchscale",
    "torchtitan",
    "torchtune",
    "transformerengine",
    "transformers",
    "tritonbench",
    "tritonkernels",
    "tritonlang",
    "trtllm",
    "turbomind",
    "tutel",
    "tvm",
    "unsloth",
    "vllm",
    "xformers",
    "xla",
    "lingbot",
    "hopperfa3",
};

// Projects whose names are also languages or platforms. A word that means their own code must
// follow.
inline constexpr absl::string_view kPlatforms[] = {"triton", "torch", "pytorch", "jax",
                                                   "numpy",  "cuda",  "cub",     "nvidia"};
inline constexpr absl::string_view kOfPlatforms[] = {
    "tutorial", "tutorials", "repo",    "repository", "project",  "source",   "sources",
    "codebase", "library",   "package", "master",     "main",     "examples", "example",
    "fused",    "matmul",    "samples", "flash",      "language", "ops"};

// Proper names that are not projects.
inline constexpr absl::string_view kNoProjects[] = {
    "algorithm", "appendix", "ascend",  "blackwell", "eq",     "equation", "figure",   "hopper",
    "listing",   "python",   "section", "table",     "tensor", "theorem",  "wikipedia"};

// Addresses of papers, documentation and videos.
inline constexpr absl::string_view kNoCode[] = {
    "arxiv.org",           "doi.org",          "openreview.net",
    "wikipedia.org",       "docs.nvidia.com",  "readthedocs",
    "youtube.com",         "youtu.be",         "dl.acm.org",
    "semanticscholar.org", "//docs.",          "/docs/stable",
    "papers.nips.cc",      "aclanthology.org", "apache.org/licenses",
    "twitter.com",         "x.com/",           "discord",
    "pytorch.org/docs",    "openaccess.",      "developer.nvidia.com",
    "ieeexplore"};

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_ORIGIN_WORDS_H_
