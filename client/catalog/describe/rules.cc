#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/catalog/describe/description.h"
#include "common/base/text.h"

// The table of rules, at the end, is all that descriptions are made of. A rule answers nothing
// where it does not hold; what it says is in the row, or in the text of the kernel or of its
// launcher.

namespace kernelmill::client {
namespace {

using Texts = std::vector<std::string>;

constexpr size_t kMaxListed = 12;
constexpr size_t kMaxQuote = 600;

struct Said {
  std::string text;  // empty: the rule does not hold
  std::string evidence = {};
};

std::string Code(absl::string_view text) { return absl::StrCat("`", text, "`"); }

// "a, b and c".
std::string And(const Texts& texts) {
  if (texts.empty()) return "";
  const Texts head(texts.begin(), texts.end() - 1);
  return head.empty() ? texts[0] : absl::StrCat(absl::StrJoin(head, ", "), " and ", texts.back());
}

std::string AndCode(const Texts& texts) {
  Texts quoted;
  for (size_t i = 0; i < std::min(texts.size(), kMaxListed); ++i) quoted.push_back(Code(texts[i]));
  if (texts.size() > kMaxListed) {
    quoted.push_back(absl::StrCat(texts.size() - kMaxListed, " more"));
  }
  return And(quoted);
}

std::string Count(size_t count, absl::string_view one) {
  return absl::StrCat(count, " ", one, count == 1 ? "" : "s");
}

// A docstring's first paragraph, on one line; of a long one its first sentences.
std::string Opening(absl::string_view docstring) {
  std::string text;
  for (absl::string_view line : absl::StrSplit(docstring, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() && !text.empty()) break;
    absl::StrAppend(&text, text.empty() ? "" : " ", line);
  }
  if (text.size() <= kMaxQuote) return text;
  const size_t end = text.rfind(". ", kMaxQuote);
  return end == std::string::npos ? "" : text.substr(0, end + 1);
}

Said Docstring(const CatalogKernel& kernel, const CodeFacts&) {
  const std::string text = Opening(kernel.docstring);
  if (text.empty()) return {};
  return {absl::StrCat("Its docstring: \"", text, "\"")};
}

Said LauncherDocstring(const CatalogKernel& kernel, const CodeFacts& facts) {
  const std::string text = Opening(facts.launcher_docstring);
  if (text.empty() || text == Opening(kernel.docstring)) return {};
  return {absl::StrCat("The docstring of its launcher: \"", text, "\""), kernel.launcher->qualname};
}

Said Comment(const CatalogKernel& kernel, const CodeFacts& facts) {
  if (!kernel.docstring.empty() || facts.comment.empty()) return {};
  return {absl::StrCat("It begins with the comment: \"", facts.comment, "\"")};
}

Said Tags(const CatalogKernel& kernel, const CodeFacts&) {
  const Texts phrases = OperationPhrases(kernel);
  if (phrases.empty()) return {};
  Texts evidence;
  for (const auto& [tag, rule] : kernel.tag_rules) {
    if (tag != "backward") evidence.push_back(absl::StrCat(tag, " by ", rule));
  }
  return {absl::StrCat("It computes, or is a step of: ", And(phrases), "."),
          absl::StrJoin(evidence, ", ")};
}

Said Direction(const CatalogKernel& kernel, const CodeFacts&) {
  if (!kernel.is_backward()) return {};
  for (const auto& [tag, rule] : kernel.tag_rules) {
    if (tag == "backward") return {"It belongs to a backward pass: it computes gradients.", rule};
  }
  return {"It belongs to a backward pass: it computes gradients."};
}

Said Role(const CatalogKernel& kernel, const CodeFacts&) {
  if (kernel.role == "device")
    return {"It is taken for a device function: no launch of it was seen."};
  return {};
}

Said Returns(const CatalogKernel&, const CodeFacts& facts) {
  if (facts.returned.empty()) return {};
  return {absl::StrCat("It returns ", Code(facts.returned), ".")};
}

Said Decorators(const CatalogKernel& kernel, const CodeFacts&) {
  const Texts own = OwnDecorators(kernel);
  if (own.empty()) return {};
  return {absl::StrCat("It is decorated by ", AndCode(own), ", which is not the language's own.")};
}

Said Target(const CatalogKernel& kernel, const CodeFacts&) {
  if (kernel.target.empty() || kernel.target == "generic" || kernel.dsl == "cuda") return {};
  return {absl::StrCat("It is written for hardware of ", kernel.target, " alone.")};
}

// Functions by what they do; a call is known by its last part.
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

Said Operations(const CatalogKernel& kernel, const CodeFacts&) {
  Texts words;
  Texts calls;
  for (const std::string& call : kernel.calls) {
    // Of Python what is Triton's or JAX's; a function of the repository may do anything.
    const absl::string_view package = FirstPart(call);
    const bool own = kernel.dsl == "cuda" || package == "triton" || package == "jax";
    const auto at = Computations().find(LastPart(call));
    if (!own || at == Computations().end()) continue;
    const std::string word(at->second);
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    calls.push_back(call);
  }
  if (words.empty()) return {};
  return {absl::StrCat("It calls for ", And(words), "."), absl::StrJoin(calls, ", ")};
}

Said Loops(const CatalogKernel&, const CodeFacts& facts) {
  if (facts.loops.empty()) return {};
  return {absl::StrCat("It loops over ", AndCode(facts.loops), ".")};
}

Texts ParametersOf(const CatalogKernel& kernel, absl::string_view role) {
  Texts names;
  for (const CatalogParameter& parameter : kernel.parameters) {
    if (parameter.role == role && !parameter.name.empty()) names.push_back(parameter.name);
  }
  return names;
}

Said Parameters(const CatalogKernel& kernel, const CodeFacts&) {
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
    const Texts names = ParametersOf(kernel, role.role);
    if (names.empty()) continue;
    parts.push_back(absl::StrCat(Count(names.size(), role.word), " (", AndCode(names), ")"));
  }
  if (parts.empty()) return {};
  return {absl::StrCat("It takes ", And(parts), ".")};
}

std::string Types(const Texts& types) {
  return absl::StrCat(types.size() == 1 ? "the type " : "the types ", And(types));
}

Said Dtypes(const CatalogKernel&, const CodeFacts& facts) {
  if (facts.dtypes.empty()) return {};
  return {absl::StrCat("Its code names ", Types(facts.dtypes), ".")};
}

Said Accumulator(const CatalogKernel&, const CodeFacts& facts) {
  if (facts.accumulators.empty()) return {};
  return {absl::StrCat("It fills blocks of ", And(facts.accumulators), " to begin with.")};
}

Said ElementType(const CatalogKernel&, const CodeFacts& facts) {
  if (facts.store_casts.empty()) return {};
  return {absl::StrCat("It goes by the type that the elements of ", AndCode(facts.store_casts),
                       " have.")};
}

Said LauncherDtypes(const CatalogKernel&, const CodeFacts& facts) {
  if (facts.launcher_dtypes.empty()) return {};
  return {absl::StrCat("Its launcher names ", Types(facts.launcher_dtypes), ".")};
}

Said Masks(const CatalogKernel& kernel, const CodeFacts&) {
  if (kernel.dsl == "cuda" || kernel.loads + kernel.stores == 0) return {};
  return {absl::StrCat("With its helpers it has ", Count(static_cast<size_t>(kernel.loads), "load"),
                       ", ", kernel.masked_loads, " of them masked, and ",
                       Count(static_cast<size_t>(kernel.stores), "store"), ", ",
                       kernel.masked_stores, " of them masked."),
          "quality"};
}

Said Requirements(const CatalogKernel& kernel, const CodeFacts& facts) {
  if (facts.requirements.empty()) return {};
  return {absl::StrCat("Its launcher asserts ", AndCode(facts.requirements), "."),
          kernel.launcher->qualname};
}

Said Refusals(const CatalogKernel& kernel, const CodeFacts& facts) {
  if (facts.refusals.empty()) return {};
  return {
      absl::StrCat("Its launcher refuses where ", AndCode(facts.refusals), ".",
                   facts.bounds.empty() ? "" : absl::StrCat(" There ", AndCode(facts.bounds), ".")),
      kernel.launcher->qualname};
}

Said ProgramAxes(const CatalogKernel&, const CodeFacts& facts) {
  if (facts.program_axes.empty()) return {};
  return {absl::StrCat("Each program asks for its number along ",
                       facts.program_axes.size() == 1 ? "axis " : "axes ",
                       AndCode(facts.program_axes), ".")};
}

Said Grid(const CatalogKernel& kernel, const CodeFacts& facts) {
  if (facts.grid.empty()) return {};
  return {absl::StrCat("Its launcher's grid is ", Code(facts.grid), "."),
          kernel.launcher->qualname};
}

// The values of one keyword in all configurations, in their order, each once.
Said Autotune(const CatalogKernel& kernel, const CodeFacts&) {
  if (!kernel.autotune.has_value()) return {};
  const CatalogAutotune& autotune = *kernel.autotune;
  if (!autotune.resolved)
    return {"It is autotuned over configurations that the file does not tell."};
  std::vector<std::pair<std::string, Texts>> values;
  for (const CatalogConfig& config : autotune.configs) {
    for (const auto& kwarg : config.kwargs) {
      auto at = std::find_if(values.begin(), values.end(),
                             [&](const auto& entry) { return entry.first == kwarg.first; });
      if (at == values.end()) at = values.insert(at, {kwarg.first, {}});
      Texts& seen = at->second;
      if (std::find(seen.begin(), seen.end(), kwarg.second) == seen.end()) {
        seen.push_back(kwarg.second);
      }
    }
  }
  Texts parts;
  for (const auto& [name, of] : values) {
    if (of.size() <= kMaxListed) {
      parts.push_back(absl::StrCat(Code(name), " (", absl::StrJoin(of, ", "), ")"));
    }
  }
  std::string text =
      absl::StrCat("It is autotuned over ", Count(autotune.configs.size(), "configuration"));
  if (!parts.empty()) absl::StrAppend(&text, " of ", And(parts));
  if (!autotune.key.empty()) absl::StrAppend(&text, ", anew for each ", AndCode(autotune.key));
  return {text + "."};
}

Said Heuristics(const CatalogKernel& kernel, const CodeFacts&) {
  if (kernel.heuristics.empty()) return {};
  return {absl::StrCat("Heuristics set ", AndCode(kernel.heuristics), ".")};
}

Said Features(const CatalogKernel& kernel, const CodeFacts&) {
  if (kernel.features.empty()) return {};
  return {absl::StrCat("Of the language it uses ", And(kernel.features), ".")};
}

Said Launcher(const CatalogKernel& kernel, const CodeFacts&) {
  if (!kernel.launcher.has_value()) return {};
  const CatalogLauncher& launcher = *kernel.launcher;
  std::string text =
      launcher.qualname.empty()
          ? absl::StrCat("A statement of ", launcher.path, " launches it")
          : absl::StrCat(Code(launcher.qualname), " of ", launcher.path, " launches it");
  if (launcher.count > 1) absl::StrAppend(&text, ", the first of ", launcher.count, " that do");
  return {text + ".", absl::StrCat(launcher.path, ":", launcher.first_line)};
}

Said Closure(const CatalogKernel& kernel, const CodeFacts&) {
  if (kernel.self_contained) return {"Its module has all that it needs of its repository."};
  Texts names;
  for (const auto& [name, reason] : kernel.unresolved_names) names.push_back(name);
  if (names.empty()) return {};
  return {absl::StrCat("Its module goes without ", AndCode(names), "."), "unresolved_names"};
}

Said Generated(const CatalogKernel& kernel, const CodeFacts&) {
  if (kernel.generated.empty()) return {};
  return {"A program wrote it.", kernel.generated};
}

Said Kind(const CatalogKernel& kernel, const CodeFacts&) {
  if (kernel.kind.empty() || kernel.kind == "operation" || kernel.kind == "generated") return {};
  return {
      kernel.kind == "broken"
          ? "It is broken, or a stub."
          : absl::StrCat(kernel.kind == "example" ? "It is an " : "It is a ", kernel.kind, ".")};
}

Said Compiles(const CatalogKernel& kernel, const CodeFacts&) {
  if (!kernel.compile.has_value()) return {};
  Texts ok;
  for (const CompileResult& result : kernel.compile->results) {
    if (result.status == "ok") ok.push_back(absl::StrCat(result.target, " by ", result.toolchain));
  }
  if (ok.empty()) return {};
  return {absl::StrCat("It was compiled for ", And(ok), "."), "compile"};
}

struct Rule {
  const char* name;
  Said (*says)(const CatalogKernel&, const CodeFacts&);
};

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

std::string Capitalized(std::string text) {
  if (!text.empty()) text[0] = absl::ascii_toupper(static_cast<unsigned char>(text[0]));
  return text;
}

}  // namespace

std::vector<std::string> OwnDecorators(const CatalogKernel& kernel) {
  Texts own;
  for (const std::string& decorator : kernel.decorators) {
    absl::string_view name = absl::StripPrefix(decorator, "@");
    name = absl::StripAsciiWhitespace(name.substr(0, name.find('(')));
    const absl::string_view first = FirstPart(name);
    const bool known = first == "triton" || first == "gluon" || first == "tl" || first == "jax" ||
                       name == "jit" || name == "autotune" || name == "heuristics" ||
                       name == "staticmethod";
    if (!known && kernel.dsl != "cuda") own.emplace_back(name);
  }
  return own;
}

std::vector<Sentence> Describe(const CatalogKernel& kernel, const CodeFacts& facts) {
  std::vector<Sentence> sentences;
  for (const Rule& rule : kRules) {
    Said said = rule.says(kernel, facts);
    if (said.text.empty()) continue;
    sentences.push_back({rule.name, std::move(said.text), std::move(said.evidence)});
  }
  return sentences;
}

std::string Summary(const CatalogKernel& kernel) {
  const std::string opening = Opening(kernel.docstring);
  if (!opening.empty()) return opening.substr(0, opening.find(". "));
  const Texts phrases = OperationPhrases(kernel);
  if (!phrases.empty()) {
    return Capitalized(absl::StrCat(And(phrases), kernel.is_backward() ? ", backward" : ""));
  }
  return Operations(kernel, {}).text;
}

}  // namespace kernelmill::client
