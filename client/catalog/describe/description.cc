// Descriptions of kernels. The basic idea: a table of rules (kRules, near the end) makes them. Each
// rule looks at one thing in the row, the kernel's text or the launcher's text, and returns one
// sentence, or nothing if it does not apply. A rule only says what it found, so that no sentence
// can be wrong.

#include "client/catalog/describe/description.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/text.h"
#include "common/code/lexer.h"
#include "common/code/python.h"
#include "common/dsl/labels.h"
#include "common/dsl/languages.h"
#include "common/text/safe_text.h"
#include "common/words/counted.h"
#include "common/words/enum_words.h"

namespace kernelmill::client {
namespace {

constexpr size_t kMaxHolders = 8;

// Returns the string that a text assigns to __author__; otherwise empty.
// The search for the word saves the lexer for most texts.
std::string AuthorString(absl::string_view text) {
  if (!absl::StrContains(text, "__author__")) return "";
  const std::vector<code::Token> tokens = code::Lex(text, code::Language::kPython);
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (tokens[i].text == "__author__" && tokens[i + 1].text == "=" &&
        tokens[i + 2].kind == code::Token::kString) {
      return std::string(code::PythonStringContent(tokens[i + 2].text));
    }
  }
  return "";
}

// Removes a word from the front, in any case.
// Returns whether it removed something, as ConsumeYear does.
bool ConsumeWord(absl::string_view word, absl::string_view* text) {
  if (!absl::StartsWithIgnoreCase(*text, word)) return false;
  text->remove_prefix(word.size());
  return true;
}

bool ConsumeYear(absl::string_view* text) {
  size_t digits = 0;
  while (digits < text->size() && absl::ascii_isdigit(static_cast<unsigned char>((*text)[digits])))
    ++digits;
  if (digits != 4 && digits != 2) return false;
  text->remove_prefix(digits);
  return true;
}

// Returns the owner in a forge's URL of a repository; empty if the URL has no such part.
std::string Owner(const std::string& url) {
  if (WebUrl(url).empty()) return "";
  const std::vector<absl::string_view> parts = absl::StrSplit(url, '/');
  return parts.size() >= 5 ? std::string(parts[3]) : "";  // https: // HOST / OWNER / NAME
}

// A tag in words.
struct Phrase {
  absl::string_view tag;
  absl::string_view words;
  absl::string_view broader = {};  // a tag that this one implies
};

// docs/dataset.md describes the tags.
constexpr Phrase kPhrases[] = {
    {"activation", "an activation function"},
    {"attention", "attention"},
    {"backward", "a backward pass"},
    {"batch_norm", "batch normalization", "norm"},
    {"batched_gemm", "batched matrix products", "matmul"},
    {"cast", "a conversion of types"},
    {"communication", "communication between devices"},
    {"concat", "concatenation"},
    {"convolution", "convolution"},
    {"copy", "copying"},
    {"cross_entropy", "cross entropy", "loss"},
    {"dequantization", "dequantization"},
    {"dropout", "dropout"},
    {"elementwise", "arithmetic on elements"},
    {"embedding", "embeddings"},
    {"fft", "a Fourier transform"},
    {"fill", "filling with values"},
    {"gather", "gathering by index"},
    {"group_norm", "group normalization", "norm"},
    {"grouped_gemm", "grouped matrix products", "matmul"},
    {"hadamard", "a Hadamard transform"},
    {"hashing", "hashing"},
    {"histogram", "a histogram"},
    {"instance_norm", "instance normalization", "norm"},
    {"interpolation", "interpolation"},
    {"jagged", "sequences of different lengths"},
    {"kv_cache", "a cache of keys and values"},
    {"l2_norm", "L2 normalization", "norm"},
    {"layer_norm", "layer normalization", "norm"},
    {"layout", "a change of layout"},
    {"linear_algebra", "linear algebra"},
    {"linear_attention", "linear attention"},
    {"lora", "low-rank adapters (LoRA)"},
    {"loss", "a loss"},
    {"masking", "masking"},
    {"matmul", "a matrix product"},
    {"moe", "a mixture of experts"},
    {"norm", "normalization"},
    {"optimizer", "an optimizer's step"},
    {"padding", "padding"},
    {"permutation", "permutation"},
    {"pooling", "pooling"},
    {"quantization", "quantization, or quantized values"},
    {"random", "random numbers"},
    {"reduction", "a reduction"},
    {"rms_norm", "RMS normalization", "norm"},
    {"rope", "rotary position embedding"},
    {"sampling", "sampling"},
    {"scan", "a scan (running sums or the like)"},
    {"scatter", "scattering by index"},
    {"scheduling", "scheduling of other kernels' work"},
    {"search", "search"},
    {"select", "selection"},
    {"softmax", "softmax"},
    {"sort", "sorting"},
    {"sparse", "sparse matrices"},
    {"state_space", "a state space model"},
    {"topk", "top-k selection"},
    {"transpose", "transposition"},
};

const Phrase* FindPhrase(const std::string& tag) {
  const auto* const at = std::find_if(std::begin(kPhrases), std::end(kPhrases),
                                      [&](const Phrase& phrase) { return phrase.tag == tag; });
  return at == std::end(kPhrases) ? nullptr : at;
}

// Returns whether a narrower tag of the kernel says the same: layer_norm implies norm.
bool IsImplied(const v1::KernelRow& kernel, const std::string& tag) {
  return std::any_of(kernel.tags().begin(), kernel.tags().end(), [&](const std::string& other) {
    const Phrase* const phrase = FindPhrase(other);
    return phrase != nullptr && phrase->broader == tag;
  });
}

using Texts = std::vector<std::string>;

constexpr size_t kMaxListed = 12;
constexpr size_t kMaxQuote = 600;

// A rule's answer: the sentence and its evidence.
struct Said {
  std::string text;  // empty: the rule does not hold
  std::string evidence = {};
};

std::string Code(absl::string_view text) { return absl::StrCat("`", text, "`"); }

Texts ToTexts(const google::protobuf::RepeatedPtrField<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

// Returns "a, b and c".
std::string And(const Texts& texts) {
  if (texts.empty()) return "";
  const Texts head(texts.begin(), texts.end() - 1);
  return head.empty() ? texts[0] : absl::StrCat(absl::StrJoin(head, ", "), " and ", texts.back());
}

// Returns texts as code: the first kMaxListed of them, and the number of the others.
std::string AndCode(const Texts& texts) {
  Texts quoted;
  for (size_t i = 0; i < std::min(texts.size(), kMaxListed); ++i) quoted.push_back(Code(texts[i]));
  if (texts.size() > kMaxListed) {
    quoted.push_back(absl::StrCat(texts.size() - kMaxListed, " more"));
  }
  return And(quoted);
}

// Returns the place of the dot that ends the first sentence, or npos. "w.r.t. x" and "e.g. A" end
// none.
size_t FindSentenceEnd(absl::string_view text) {
  for (size_t at = text.find(". "); at != absl::string_view::npos; at = text.find(". ", at + 1)) {
    const absl::string_view before = text.substr(0, at);
    const absl::string_view word = before.substr(before.rfind(' ') + 1);
    if (!absl::StrContains(word, '.') && !absl::ascii_islower(text[at + 2])) return at;
  }
  return absl::string_view::npos;
}

// Returns whether the opening of a docstring says what a kernel does: not with "Computes the
// following: 1. ...", nor with a heading.
bool HasSentence(absl::string_view opening) {
  static constexpr absl::string_view kHeadings[] = {
      "args:", "arguments:", "grid:", "note:", "param", "reference", "returns:", "see "};
  const std::string low = absl::AsciiStrToLower(opening.substr(0, 16));
  return !opening.empty() && !absl::StrContains(opening, ": 1") &&
         std::none_of(std::begin(kHeadings), std::end(kHeadings),
                      [&](absl::string_view heading) { return absl::StartsWith(low, heading); });
}

// Returns the first paragraph of a docstring on one line; its first sentences if it is long.
std::string Opening(absl::string_view docstring) {
  std::string text;
  for (absl::string_view line : absl::StrSplit(docstring, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() && !text.empty()) break;
    absl::StrAppend(&text, text.empty() ? "" : " ", line);
  }
  if (text.size() <= kMaxQuote) return text;
  // Cut after a sentence; a long sentence alone is not quoted, because a part of it could mislead.
  const size_t end = text.rfind(". ", kMaxQuote);
  return end == std::string::npos ? "" : text.substr(0, end + 1);
}

// The rules follow, one function each. Docstrings and comments are quoted and marked as such: they
// are the author's words, and may be wrong.
Said Docstring(const v1::KernelRow& kernel, const CodeFacts&) {
  const std::string text = Opening(kernel.docstring());
  if (text.empty()) return {};
  return {absl::StrCat("Docstring: \"", text, "\"")};
}

// A launcher often repeats the kernel's docstring; then it is not quoted twice.
Said LauncherDocstring(const v1::KernelRow& kernel, const CodeFacts& facts) {
  const std::string text = Opening(facts.launcher_docstring);
  if (text.empty() || text == Opening(kernel.docstring())) return {};
  return {absl::StrCat("Launcher's docstring: \"", text, "\""), kernel.launcher().qualname()};
}

// A docstring makes the opening comment unnecessary.
Said Comment(const v1::KernelRow& kernel, const CodeFacts& facts) {
  if (!kernel.docstring().empty() || facts.comment.empty()) return {};
  return {absl::StrCat("Opening comment: \"", facts.comment, "\"")};
}

// Tags say what a kernel belongs to, which may be only a step of it, so the sentence says both.
Said Tags(const v1::KernelRow& kernel, const CodeFacts&) {
  const Texts phrases = OperationPhrases(kernel);
  if (phrases.empty()) return {};
  Texts evidence;
  for (const auto& tag : kernel.tag_rules()) {
    if (tag.name() != "backward") {
      evidence.push_back(absl::StrCat(tag.name(), " by ", tag.rule()));
    }
  }
  return {absl::StrCat("Computes ", And(phrases),
                       phrases.size() == 1 ? ", or a step of it." : ", or steps of them."),
          absl::StrJoin(evidence, ", ")};
}

// The tag's rule is the evidence. A kernel without the tag may be a forward pass or unknown, so
// nothing is said.
Said Direction(const v1::KernelRow& kernel, const CodeFacts&) {
  if (!HasTag(kernel, "backward")) return {};
  for (const auto& tag : kernel.tag_rules()) {
    if (tag.name() == "backward") return {"Backward pass: computes gradients.", tag.rule()};
  }
  return {"Backward pass: computes gradients."};
}

Said Role(const v1::KernelRow& kernel, const CodeFacts&) {
  if (kernel.role() == v1::KERNEL_ROLE_DEVICE) return {"Device function: no launch was found."};
  return {};
}

Said Returns(const v1::KernelRow&, const CodeFacts& facts) {
  if (facts.returned.empty()) return {};
  return {absl::StrCat("Returns ", Code(facts.returned), ".")};
}

Said Decorators(const v1::KernelRow& kernel, const CodeFacts&) {
  const Texts own = OwnDecorators(kernel);
  if (own.empty()) return {};
  return {absl::StrCat("Decorated with ", AndCode(own), ", not a decorator of the language.")};
}

// A CUDA kernel's target says nothing new.
Said Target(const v1::KernelRow& kernel, const CodeFacts&) {
  if (kernel.target().empty() || kernel.target() == "generic" || dsl::IsC(kernel.dsl())) return {};
  return {absl::StrCat("Targets ", dsl::HardwareName(kernel.target()), " only.")};
}

// Functions with the words for their results. A call is found by its last part.
const absl::flat_hash_map<absl::string_view, absl::string_view>& Computations() {
  static const auto* const kWords = new absl::flat_hash_map<absl::string_view, absl::string_view>{
      {"dot", "products of tiles"},
      {"dot_scaled", "scaled products of tiles"},
      {"dot_general", "products of tiles"},
      {"exp", "exponentials"},
      {"exp2", "exponentials"},
      {"fast_expf", "exponentials"},
      {"expf", "exponentials"},
      {"__expf", "exponentials"},
      {"log", "logarithms"},
      {"log2", "logarithms"},
      {"logf", "logarithms"},
      {"sqrt", "square roots"},
      {"sqrtf", "square roots"},
      {"sqrt_rn", "square roots"},
      {"rsqrt", "reciprocal square roots"},
      {"rsqrtf", "reciprocal square roots"},
      {"sum", "sums along an axis"},
      {"max", "maxima along an axis"},
      {"min", "minima along an axis"},
      {"argmax", "positions of maxima"},
      {"argmin", "positions of minima"},
      {"reduce", "a reduction by a function of its own"},
      {"cumsum", "running sums"},
      {"cumprod", "running products"},
      {"associative_scan", "a scan by a function of its own"},
      {"sort", "sorting"},
      {"topk", "top-k selection"},
      {"histogram", "a histogram"},
      {"sigmoid", "sigmoids"},
      {"tanh", "hyperbolic tangents"},
      {"erf", "error functions"},
      {"sin", "sines"},
      {"cos", "cosines"},
      {"softmax", "softmax"},
      {"rand", "random numbers"},
      {"randn", "random numbers"},
      {"randint", "random numbers"},
      {"rand4x", "random numbers"},
      {"randn4x", "random numbers"},
      {"randint4x", "random numbers"},
      {"philox", "random numbers"},
      {"trans", "transposition of tiles"},
      {"atomic_add", "atomic additions"},
      {"atomicAdd", "atomic additions"},
      {"atomic_max", "atomic maxima"},
      {"atomic_min", "atomic minima"},
      {"atomic_cas", "atomic compare-and-swap"},
      {"atomic_xchg", "atomic exchange"},
  };
  return *kWords;
}

// Lists what the kernel's calls compute, each word once, with the calls as evidence.
Said Operations(const v1::KernelRow& kernel, const CodeFacts&) {
  Texts words;
  Texts calls;
  for (const std::string& call : kernel.calls()) {
    // In Python only calls of Triton and JAX count: a function of the repository may do anything.
    const absl::string_view package = FirstPart(call);
    const bool own = dsl::IsC(kernel.dsl()) || package == "triton" || package == "jax";
    const auto at = Computations().find(LastPart(call));
    if (!own || at == Computations().end()) continue;
    const std::string word(at->second);
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    calls.push_back(call);
  }
  if (words.empty()) return {};
  return {absl::StrCat("Uses ", And(words), "."), absl::StrJoin(calls, ", ")};
}

Said Loops(const v1::KernelRow&, const CodeFacts& facts) {
  if (facts.loops.empty()) return {};
  return {absl::StrCat("Loops over ", AndCode(facts.loops), ".")};
}

// Returns the names of the parameters that the extractor gave this role.
Texts NamesWithRole(const v1::KernelRow& kernel, absl::string_view role) {
  Texts names;
  for (const v1::KernelRow::Parameter& parameter : kernel.parameters()) {
    if (ToWord(parameter.role()) == role && !parameter.name().empty())
      names.push_back(parameter.name());
  }
  return names;
}

// Counts the parameters by role and names them: pointers, sizes, strides and constants, in this
// order.
Said Parameters(const v1::KernelRow& kernel, const CodeFacts&) {
  struct Role {
    const char* role;
    const char* word;
  };
  constexpr Role kRoles[] = {{"pointer", "pointer"},
                             {"size", "size"},
                             {"stride", "stride"},
                             {"constexpr", "compile-time constant"}};
  Texts parts;
  for (const Role& role : kRoles) {
    const Texts names = NamesWithRole(kernel, role.role);
    if (names.empty()) continue;
    parts.push_back(absl::StrCat(Counted(static_cast<int64_t>(names.size()), role.word), " (",
                                 AndCode(names), ")"));
  }
  if (parts.empty()) return {};
  return {absl::StrCat("Takes ", And(parts), ".")};
}

// Returns "Types in the code: float32 and int8."
std::string TypesText(absl::string_view where, const Texts& types) {
  return absl::StrCat(types.size() == 1 ? "Type" : "Types", " in the ", where, ": ", And(types),
                      ".");
}

Said Dtypes(const v1::KernelRow&, const CodeFacts& facts) {
  if (facts.dtypes.empty()) return {};
  return {TypesText("code", facts.dtypes)};
}

Said Accumulator(const v1::KernelRow&, const CodeFacts& facts) {
  if (facts.accumulators.empty()) return {};
  return {absl::StrCat("Initializes blocks of ", And(facts.accumulators), ".")};
}

Said ElementType(const v1::KernelRow&, const CodeFacts& facts) {
  if (facts.store_casts.empty()) return {};
  return {absl::StrCat("Uses the element type of ", AndCode(facts.store_casts), ".")};
}

Said LauncherDtypes(const v1::KernelRow&, const CodeFacts& facts) {
  if (facts.launcher_dtypes.empty()) return {};
  return {TypesText("launcher", facts.launcher_dtypes)};
}

// Counts loads and stores with and without a mask, as the validator saw them.
Said Masks(const v1::KernelRow& kernel, const CodeFacts&) {
  if (dsl::IsC(kernel.dsl()) || kernel.quality().loads() + kernel.quality().stores() == 0)
    return {};
  return {absl::StrCat("Loads: ", kernel.quality().loads(), " (", kernel.quality().masked_loads(),
                       " masked). Stores: ", kernel.quality().stores(), " (",
                       kernel.quality().masked_stores(), " masked). Helpers are included."),
          "quality"};
}

Said Requirements(const v1::KernelRow& kernel, const CodeFacts& facts) {
  if (facts.requirements.empty()) return {};
  return {absl::StrCat("The launcher asserts ", AndCode(facts.requirements), "."),
          kernel.launcher().qualname()};
}

Said Refusals(const v1::KernelRow& kernel, const CodeFacts& facts) {
  if (facts.refusals.empty()) return {};
  return {
      absl::StrCat("The launcher raises an error if ", AndCode(facts.refusals),
                   facts.bounds.empty() ? "" : absl::StrCat(", with ", AndCode(facts.bounds)), "."),
      kernel.launcher().qualname()};
}

// The highest axis gives the number of dimensions. If an axis is an expression, the axes are listed
// instead.
Said ProgramAxes(const v1::KernelRow&, const CodeFacts& facts) {
  if (facts.program_axes.empty()) return {};
  const std::string evidence =
      absl::StrCat("program_id of ", absl::StrJoin(facts.program_axes, ", "));
  int dimensions = 0;
  for (const std::string& axis : facts.program_axes) {
    int number = 0;
    if (!absl::SimpleAtoi(axis, &number)) {
      return {absl::StrCat("Launch grid with the axes ", AndCode(facts.program_axes), ".")};
    }
    dimensions = std::max(dimensions, number + 1);
  }
  return {absl::StrCat(dimensions, "-D launch grid."), evidence};
}

Said Grid(const v1::KernelRow& kernel, const CodeFacts& facts) {
  if (facts.grid.empty()) return {};
  return {absl::StrCat("Launch grid: ", Code(facts.grid), "."), kernel.launcher().qualname()};
}

// Lists the values of each keyword in all configurations, in order, each once.
Said Autotune(const v1::KernelRow& kernel, const CodeFacts&) {
  if (!kernel.has_autotune()) return {};
  const v1::KernelRow::Autotune& autotune = kernel.autotune();
  if (!autotune.resolved()) return {"Autotuned; the configurations are not in the file."};
  std::vector<std::pair<std::string, Texts>> values;
  for (const v1::KernelRow::Autotune::Config& config : autotune.configs()) {
    for (const auto& kwarg : config.kwargs()) {
      auto at = std::find_if(values.begin(), values.end(),
                             [&](const auto& entry) { return entry.first == kwarg.name(); });
      if (at == values.end()) at = values.insert(at, {kwarg.name(), {}});
      Texts& seen = at->second;
      if (std::find(seen.begin(), seen.end(), kwarg.value()) == seen.end()) {
        seen.push_back(kwarg.value());
      }
    }
  }
  Texts parts;
  // A keyword with very many values is left out; the page's table has all.
  for (const auto& [name, of] : values) {
    if (of.size() <= kMaxListed) {
      parts.push_back(absl::StrCat(Code(name), " (", absl::StrJoin(of, ", "), ")"));
    }
  }
  std::string text =
      absl::StrCat("Autotuned over ", Counted(autotune.configs().size(), "configuration"));
  if (!parts.empty()) absl::StrAppend(&text, " of ", And(parts));
  if (!autotune.key().empty())
    absl::StrAppend(&text, ", again for each ", AndCode(ToTexts(autotune.key())));
  return {text + "."};
}

Said Heuristics(const v1::KernelRow& kernel, const CodeFacts&) {
  if (kernel.heuristics().names().empty()) return {};
  return {absl::StrCat("Heuristics set ", AndCode(ToTexts(kernel.heuristics().names())), ".")};
}

Said Features(const v1::KernelRow& kernel, const CodeFacts&) {
  if (kernel.features().empty()) return {};
  return {absl::StrCat("Language features: ", And(ToTexts(kernel.features())), ".")};
}

// Names the launcher and its place. A kernel with several launchers shows the first.
Said Launcher(const v1::KernelRow& kernel, const CodeFacts&) {
  if (!kernel.has_launcher()) return {};
  const v1::KernelRow::Launcher& launcher = kernel.launcher();
  std::string text =
      launcher.qualname().empty()
          ? absl::StrCat("Launched by a statement in ", launcher.path())
          : absl::StrCat("Launched by ", Code(launcher.qualname()), " in ", launcher.path());
  if (launcher.count() > 1)
    absl::StrAppend(&text, ", the first of ", launcher.count(), " launchers");
  return {text + ".", absl::StrCat(launcher.path(), ":", launcher.first_line())};
}

// Says if the module runs alone, or which names it lacks.
Said Closure(const v1::KernelRow& kernel, const CodeFacts&) {
  if (kernel.self_contained()) return {"The module is self-contained."};
  Texts names;
  for (const auto& missing : kernel.unresolved_names()) names.push_back(missing.name());
  if (names.empty()) return {};
  return {absl::StrCat("The module lacks ", AndCode(names), "."), "unresolved_names"};
}

Said Generated(const v1::KernelRow& kernel, const CodeFacts&) {
  if (kernel.quality().generated().empty()) return {};
  return {"Generated code.", kernel.quality().generated()};
}

// An operation is the usual kind, and Generated says more about a generated one.
Said Kind(const v1::KernelRow& kernel, const CodeFacts&) {
  if (kernel.kind().empty() || kernel.kind() == "operation" || kernel.kind() == "generated")
    return {};
  return {kernel.kind() == "broken"
              ? "Broken, or a stub."
              : absl::StrCat(kernel.kind() == "example" ? "This is an " : "This is a ",
                             kernel.kind(), ".")};
}

Said Compiles(const v1::KernelRow& kernel, const CodeFacts&) {
  if (!kernel.has_compile()) return {};
  Texts ok;
  for (const v1::KernelRow::Compile::Result& result : kernel.compile().results()) {
    if (result.status() == v1::COMPILE_STATUS_OK)
      ok.push_back(absl::StrCat(result.target(), " by ", result.toolchain()));
  }
  if (ok.empty()) return {};
  return {absl::StrCat("Compiled for ", And(ok), "."), "compile"};
}

// A rule, with its name on pages. triton_index.cc chooses sentences by these names.
struct Rule {
  const char* name;
  Said (*says)(const v1::KernelRow&, const CodeFacts&);
};

// In the order of the sentences: first what the kernel computes, then how, then how it is launched.
constexpr Rule kRules[] = {
    {"docstring", Docstring},
    {"comment", Comment},
    {"tags", Tags},
    {"direction", Direction},
    {"launcher-docstring", LauncherDocstring},
    {"returns", Returns},
    {"role", Role},
    {"decorators", Decorators},
    {"kind", Kind},
    {"target", Target},
    {"generated", Generated},
    {"operations", Operations},
    {"loops", Loops},
    {"parameters", Parameters},
    {"dtypes", Dtypes},
    {"accumulator", Accumulator},
    {"element-type", ElementType},
    {"launcher-dtypes", LauncherDtypes},
    {"masks", Masks},
    {"assertions", Requirements},
    {"refusals", Refusals},
    {"programs", ProgramAxes},
    {"grid", Grid},
    {"autotune", Autotune},
    {"heuristics", Heuristics},
    {"features", Features},
    {"launcher", Launcher},
    {"closure", Closure},
    {"compiled", Compiles},
};

}  // namespace

std::vector<std::string> OwnDecorators(const v1::KernelRow& kernel) {
  Texts own;
  for (const std::string& decorator : kernel.decorators()) {
    absl::string_view name = absl::StripPrefix(decorator, "@");
    name = absl::StripAsciiWhitespace(name.substr(0, name.find('(')));
    const absl::string_view first = FirstPart(name);
    // Decorators of the languages and of Python do not change what the function is.
    const bool known = first == "triton" || first == "gluon" || first == "tl" || first == "jax" ||
                       name == "jit" || name == "autotune" || name == "heuristics" ||
                       name == "staticmethod";
    if (!known && !dsl::IsC(kernel.dsl())) own.emplace_back(name);
  }
  return own;
}

std::vector<Sentence> Describe(const v1::KernelRow& kernel, const CodeFacts& facts) {
  std::vector<Sentence> sentences;
  for (const Rule& rule : kRules) {
    Said said = rule.says(kernel, facts);
    if (said.text.empty()) continue;
    sentences.push_back({rule.name, std::move(said.text), std::move(said.evidence)});
  }
  return sentences;
}

// A docstring is the best summary, because a person wrote it for this kernel. Tags are next; the
// calls in the code come last.
std::string Summary(const v1::KernelRow& kernel) {
  const std::string opening = Opening(kernel.docstring());
  if (HasSentence(opening)) return opening.substr(0, FindSentenceEnd(opening));
  const Texts phrases = OperationPhrases(kernel);
  if (!phrases.empty()) {
    return Capitalized(absl::StrCat(And(phrases), HasTag(kernel, "backward") ? ", backward" : ""));
  }
  return Operations(kernel, {}).text;
}

std::string Capitalized(std::string text) {
  if (!text.empty()) text[0] = absl::ascii_toupper(static_cast<unsigned char>(text[0]));
  return text;
}

std::string TagPhrase(const std::string& tag) {
  const Phrase* const phrase = FindPhrase(tag);
  return phrase == nullptr ? absl::StrReplaceAll(tag, {{"_", " "}}) : std::string(phrase->words);
}

std::vector<std::string> OperationPhrases(const v1::KernelRow& kernel) {
  std::vector<std::string> phrases;
  for (const std::string& tag : kernel.tags()) {
    if (tag != "backward" && !IsImplied(kernel, tag)) phrases.push_back(TagPhrase(tag));
  }
  return phrases;
}

std::string CopyrightHolder(absl::string_view line) {
  // Remove words and marks at the begin of the line that belong to no name.
  for (bool moved = true; moved;) {
    line = absl::StripLeadingAsciiWhitespace(line);
    moved = absl::ConsumePrefix(&line, "#") || absl::ConsumePrefix(&line, "*") ||
            absl::ConsumePrefix(&line, "/") || absl::ConsumePrefix(&line, ":") ||
            absl::ConsumePrefix(&line, ",") || absl::ConsumePrefix(&line, "-") ||
            absl::ConsumePrefix(&line, "\xe2\x80\x93") || absl::ConsumePrefix(&line, "\xc2\xa9") ||
            ConsumeWord("spdx-filecopyrighttext", &line) || ConsumeWord("copyright", &line) ||
            ConsumeWord("(c)", &line) || ConsumeWord("present,", &line) ||
            ConsumeWord("present ", &line) || ConsumeWord("by ", &line) || ConsumeYear(&line);
  }
  // The holder ends before these words, in any case.
  for (const absl::string_view end : {"all rights reserved", "licensed under", "email:", "<"}) {
    const auto at = std::search(
        line.begin(), line.end(), end.begin(), end.end(),
        [](char a, char b) { return absl::ascii_tolower(static_cast<unsigned char>(a)) == b; });
    line = line.substr(0, static_cast<size_t>(at - line.begin()));
  }
  while (!line.empty() && absl::StrContains(" .,;(*/", line.back())) line.remove_suffix(1);
  return std::string(line);
}

Author FindAuthor(const v1::KernelRow& kernel) {
  // The strongest evidence first: what the file says of itself, then copyright lines, then the
  // owner of the repository.
  for (const std::string* text : {&kernel.source(), &kernel.module()}) {
    const std::string author = AuthorString(*text);
    if (!author.empty()) return {author, "__author__"};
  }
  // The file and the licence often name the same holder.
  std::vector<std::string> holders;
  for (const std::string& line : kernel.license().copyrights()) {
    for (const std::string& holder :
         std::vector<std::string>(absl::StrSplit(CopyrightHolder(line), ", "))) {
      const bool known = std::find(holders.begin(), holders.end(), holder) != holders.end();
      if (!holder.empty() && !known && holders.size() < kMaxHolders) holders.push_back(holder);
    }
  }
  if (!holders.empty()) return {absl::StrJoin(holders, ", "), "copyright"};
  const std::string owner = Owner(kernel.repository_url());
  return owner.empty() ? Author() : Author{owner, "owner"};
}

}  // namespace kernelmill::client
