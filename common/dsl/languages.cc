#include "common/dsl/languages.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "common/base/text.h"

namespace kernelmill::dsl {
namespace {

std::vector<Language> MakeLanguages() {
  return {
      {.name = "triton",
       .dsl = v1::DSL_TRITON,
       .makers = {{"triton", {"jit", "runtime.jit", "runtime.jit.jit", "runtime.jit.JITFunction"}}},
       .markers = {"triton"},
       .template_markers = {kTemplateClass, kTemplateHook},
       .decorator = "@triton.jit"},
      {.name = "gluon",
       .dsl = v1::DSL_GLUON,
       .makers = {{"triton.experimental.gluon", {"jit", "_runtime.jit"}}},
       .markers = {"gluon"},
       .decorator = "@gluon.jit"},
      // jax.experimental.pallas.pallas_call, jax.experimental.pallas.mosaic_gpu.kernel and their
      // like. What stands below ops uses Pallas: its names are those of operations.
      {.name = "pallas",
       .dsl = v1::DSL_PALLAS,
       .makers = {{"jax.experimental.pallas", {"pallas_call", "core_map", "kernel"}, true, "ops"},
                  {"jax._src.pallas", {"pallas_call", "core_map", "kernel"}, true, "ops"}},
       .markers = {"pallas"}},
      {.name = "cuda", .dsl = v1::DSL_CUDA, .markers = {"__global__", "__device__"}},
      {.name = "cute",
       .makers = {{"cutlass.cute", {"jit", "kernel"}},
                  {.module = "cute", .names = {"jit", "kernel"}, .as_written = true}},
       .markers = {"cutlass", "cute."}},
      {.name = "cutile",
       .makers = {{"cuda.tile", {"kernel", "function"}}},
       .markers = {"cuda.tile", "cuda import tile"}},
      {.name = "flydsl",
       .makers = {{"flydsl.compiler", {"jit", "kernel"}},
                  {.module = "flyc", .names = {"jit", "kernel"}, .as_written = true}},
       .markers = {"flydsl", "flyc"}},
      {.name = "helion", .makers = {{"helion", {"kernel", "jit"}}}, .markers = {"helion"}},
      {.name = "nki",
       .makers = {{"neuronxcc.nki", {"jit"}}, {"nki", {"jit"}}},
       .markers = {"neuronxcc", "nki.jit", "import nki", "from nki"}},
      // "from numba import cuda" has no dot, and code has numba by any name.
      {.name = "numba", .makers = {{"numba.cuda", {"jit"}}}, .markers = {"numba"}},
      {.name = "taichi", .makers = {{"taichi", {"kernel", "func"}}}, .markers = {"taichi"}},
      {.name = "tilelang",
       .makers = {{"tilelang", {"jit", "lazy_jit", "language.prim_func", "language.macro"}},
                  {.module = "T", .names = {"prim_func", "macro"}, .as_written = true}},
       .markers = {"tilelang", "prim_func", "T.macro"}},
      {.name = "tvm",
       .makers = {{"tvm.script.tir", {"prim_func", "macro"}}},
       .markers = {"tvm.script", "tvm import script"}},
      // Alone it is a word of half of all GPU code.
      {.name = "warp",
       .makers = {{"warp", {"kernel", "func"}}},
       .markers = {"import warp", "from warp"}},
  };
}

bool IsMaker(const Makers& makers, absl::string_view resolved) {
  if (!absl::ConsumePrefix(&resolved, makers.module) || !absl::ConsumePrefix(&resolved, ".")) {
    return false;
  }
  if (makers.in_submodules) {
    if (FirstPart(resolved) == makers.but_not_below && resolved != makers.but_not_below) {
      return false;
    }
    resolved = LastPart(resolved);
  }
  return std::find(makers.names.begin(), makers.names.end(), resolved) != makers.names.end();
}

bool HoldsAny(absl::string_view text, const std::vector<absl::string_view>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](absl::string_view word) { return Contains(text, word); });
}

// Adds a word to a list of which a text is to hold one, unless it is there in part.
void AddWord(absl::string_view word, std::vector<absl::string_view>& words) {
  for (const absl::string_view known : words) {
    if (absl::StrContains(word, known)) return;
  }
  words.erase(
      std::remove_if(words.begin(), words.end(),
                     [&](absl::string_view known) { return absl::StrContains(known, word); }),
      words.end());
  words.push_back(word);
}

// What some languages have in common for a first look at a text.
struct Words {
  std::vector<absl::string_view> makers;  // their last parts
  std::vector<absl::string_view> markers;

  explicit Words(std::initializer_list<const Language*> languages) {
    for (const Language* language : languages) Add(*language);
  }
  void Add(const Language& language) {
    for (const Makers& of : language.makers) {
      for (const absl::string_view name : of.names) AddWord(LastPart(name), makers);
    }
    for (const absl::string_view marker : language.markers) AddWord(marker, markers);
  }
  bool MayBeIn(absl::string_view text) const {
    const bool few = markers.size() < makers.size();
    return HoldsAny(text, few ? markers : makers) && HoldsAny(text, few ? makers : markers);
  }
};

const Language* LanguageOf(v1::Dsl dsl) {
  for (const Language& language : Languages()) {
    if (language.dsl == dsl) return &language;
  }
  return nullptr;
}

Words CountedWords() {
  Words words({});
  for (const Language& language : Languages()) {
    if (language.dsl == v1::DSL_UNSPECIFIED) words.Add(language);
  }
  return words;
}

}  // namespace

const std::vector<Language>& Languages() {
  static const auto& languages = *new std::vector<Language>(MakeLanguages());
  return languages;
}

const Language* LanguageOfMaker(absl::string_view resolved) {
  for (const Language& language : Languages()) {
    for (const Makers& makers : language.makers) {
      if (IsMaker(makers, resolved)) return &language;
    }
  }
  return nullptr;
}

v1::Dsl ExtractedDslOf(absl::string_view resolved) {
  const Language* language = LanguageOfMaker(resolved);
  return language == nullptr ? v1::DSL_UNSPECIFIED : language->dsl;
}

absl::string_view CountedDslOf(absl::string_view resolved) {
  const Language* language = LanguageOfMaker(resolved);
  return language == nullptr || language->dsl != v1::DSL_UNSPECIFIED ? "" : language->name;
}

bool HasMarkerOf(v1::Dsl dsl, absl::string_view text) {
  const Language* language = LanguageOf(dsl);
  return language != nullptr &&
         (HoldsAny(text, language->markers) || HoldsAny(text, language->template_markers));
}

bool MayHoldExtracted(absl::string_view text) {
  static const auto& triton = *new Words({LanguageOf(v1::DSL_TRITON), LanguageOf(v1::DSL_GLUON)});
  static const auto& pallas = *new Words({LanguageOf(v1::DSL_PALLAS)});
  return triton.MayBeIn(text) || pallas.MayBeIn(text);
}

bool MayHoldCounted(absl::string_view text) {
  static const auto& counted = *new Words(CountedWords());
  return Contains(text, "@") && counted.MayBeIn(text);
}

bool IsLibrary(absl::string_view package) {
  static constexpr absl::string_view kLibraries[] = {"triton", "torch", "jax", "numba"};
  return std::find(std::begin(kLibraries), std::end(kLibraries), package) != std::end(kLibraries);
}

bool IsOtherJit(absl::string_view name) {
  static constexpr absl::string_view kOthers[] = {"numba", "nb",   "jax",     "torch",
                                                  "cuda",  "cute", "tilelang"};
  return std::find(std::begin(kOthers), std::end(kOthers), name) != std::end(kOthers);
}

}  // namespace kernelmill::dsl
