// Each question about a file is answered in two steps, the cheap one first: nearly all files of a
// repository have nothing to do with kernels. HasMarker runs over every byte of every file;
// MayHoldExtracted and MayHoldCounted run over those that have a marker; only then is a file
// parsed.
#include "common/dsl/languages.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/text.h"

namespace kernelmill::dsl {
namespace {

// Names that say by themselves that they are Pallas's, whatever module they come from.
constexpr absl::string_view kPallasWords[] = {"pallas_call", "emit_pipeline",
                                              "emit_pipeline_with_allocations",
                                              "emit_pipeline_warp_specialized"};

std::vector<absl::string_view> PallasMakers() {
  std::vector<absl::string_view> names(std::begin(kPallasWords), std::end(kPallasWords));
  names.insert(names.end(), {"core_map", "kernel"});
  return names;
}

// The extracted languages come first, then the counted ones by name. A language whose kernels are
// found by makers needs a marker in every file that uses it, or the fetcher would skip the file.
std::vector<Language> MakeLanguages() {
  return {
      {.name = "triton",
       .dsl = v1::DSL_TRITON,
       .makers = {{"triton",
                   {"jit", "runtime.jit", "runtime.jit.jit", "runtime.jit.JITFunction",
                    "runtime.JITFunction", "JITFunction"}},
                  {"triton_dist", {"jit"}}},
       .markers = {"triton"},
       .template_markers = {kTemplateClass, kTemplateHook},
       .hints = {"tl.load", "tl.store", "tl.program_id", "tl.constexpr", "tl.arange", "@jit",
                 "_jit"},
       .decorator = "@triton.jit",
       .compiles_as_triton = true},
      {.name = "gluon",
       .dsl = v1::DSL_GLUON,
       .makers = {{"triton.experimental.gluon", {"jit", "_runtime.jit"}}},
       .markers = {"gluon"},
       .hints = {"ttgl."},
       .decorator = "@gluon.jit",
       .compiles_as_triton = true},
      // The makers are jax.experimental.pallas.pallas_call,
      // jax.experimental.pallas.mosaic_gpu.kernel and the like. Names below `ops` are those of
      // operations that use Pallas.
      {.name = "pallas",
       .dsl = v1::DSL_PALLAS,
       .makers = {{"jax.experimental.pallas", PallasMakers(), true, "ops"},
                  {"jax._src.pallas", PallasMakers(), true, "ops"}},
       .markers = {"pallas", "emit_pipeline"},
       .hints = {"pltpu.", "plgpu.", "plsc.", "pl.kernel("}},
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
      // "from numba import cuda" has no dot, and code calls numba by any name.
      {.name = "numba", .makers = {{"numba.cuda", {"jit"}}}, .markers = {"numba"}},
      {.name = "taichi", .makers = {{"taichi", {"kernel", "func"}}}, .markers = {"taichi"}},
      {.name = "tilelang",
       .makers = {{"tilelang", {"jit", "lazy_jit", "language.prim_func", "language.macro"}},
                  {.module = "T", .names = {"prim_func", "macro"}, .as_written = true}},
       .markers = {"tilelang", "prim_func", "T.macro"}},
      {.name = "tvm",
       .makers = {{"tvm.script.tir", {"prim_func", "macro"}}},
       .markers = {"tvm.script", "tvm import script"}},
      // "warp" is a word of half of all GPU code, so only its import is a marker.
      {.name = "warp",
       .makers = {{"warp", {"kernel", "func"}}},
       .markers = {"import warp", "from warp"}},
  };
}

// Returns whether a resolved name is one of the makers: module and "." before it, and the rest one
// of the names. If submodules count too, only the last part must be a name.
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

// Adds a word to a list; a text must hold one word of the list. A word that contains another one of
// the list is not needed.
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

// The words of several languages for a first look at a text.
struct Words {
  std::vector<absl::string_view> makers;  // the makers' last parts
  std::vector<absl::string_view> markers;

  Words(std::initializer_list<const Language*> languages) {
    for (const Language* language : languages) Add(*language);
  }
  void Add(const Language& language) {
    for (const Makers& of : language.makers) {
      for (const absl::string_view name : of.names) AddWord(LastPart(name), makers);
    }
    for (const absl::string_view marker : language.markers) AddWord(marker, markers);
  }
  // Returns whether the text has a marker and a maker's last part. The shorter list is looked for
  // first, since it usually decides.
  bool MayBeIn(absl::string_view text) const {
    const bool few = markers.size() < makers.size();
    return HoldsAny(text, few ? markers : makers) && HoldsAny(text, few ? makers : markers);
  }
};

const Language* FindLanguage(v1::Dsl dsl) {
  if (dsl == v1::DSL_UNSPECIFIED) return nullptr;  // languages that are only counted have it
  for (const Language& language : Languages()) {
    if (language.dsl == dsl) return &language;
  }
  return nullptr;
}

// Returns the words of all languages that are only counted.
Words CountedWords() {
  Words words({});
  for (const Language& language : Languages()) {
    if (language.dsl == v1::DSL_UNSPECIFIED) words.Add(language);
  }
  return words;
}

// A word by which code calls a module of Triton, and what may follow it; anything if empty.
struct Word {
  absl::string_view word;
  absl::string_view module;
  std::vector<absl::string_view> members;
};

const std::vector<Word>& TritonWords() {
  static const auto& words = *new std::vector<Word>{
      {"tl", "triton.language", {}},
      {"ttgl", "triton.experimental.gluon.language", {}},
      {"triton",
       "triton",
       {"Config", "JITFunction", "autotune", "cdiv", "constexpr_function", "experimental",
        "heuristics", "jit", "language", "next_power_of_2", "reinterpret", "runtime", "testing",
        "tools"}},
      {"gluon",
       "triton.experimental.gluon",
       {"_runtime", "constexpr_function", "jit", "language", "nvidia", "amd"}},
  };
  return words;
}

// Finds whether a text holds a marker of any language.
//
// The basic idea: three bytes at every second place are looked up in a small table that says which
// markers they may be part of. A marker has four bytes or more, so it holds three such bytes at its
// first or its second byte, and is never missed. Nearly all places end with the one look.
class MarkerFinder {
 public:
  MarkerFinder() {
    for (const Language& language : Languages()) {
      for (const absl::string_view marker : language.markers) Add(marker);
      for (const absl::string_view marker : language.template_markers) Add(marker);
      for (const absl::string_view hint : language.hints) Add(hint);
    }
  }

  // Looks at every second place; IsAt compares the markers that have these three bytes.
  bool FindIn(absl::string_view text) const {
    for (size_t at = 0; at + kBytes <= text.size(); at += kStep) {
      const uint8_t first = buckets_[Hash(text.data() + at)];
      if (first != 0 && IsAt(text, at, first)) return true;
    }
    return false;
  }

 private:
  static constexpr size_t kStep = 2;
  static constexpr size_t kBytes = 3;

  struct Part {
    absl::string_view marker;
    size_t offset;
    uint8_t next;
  };

  void Add(absl::string_view marker) {
    for (size_t offset = 0; offset < kStep; ++offset) {
      uint8_t& first = buckets_[Hash(marker.data() + offset)];
      parts_.push_back({marker, offset, first});
      first = static_cast<uint8_t>(parts_.size());  // from 1; 0 ends a chain
    }
  }

  // Multiplies by a large odd number and takes the upper bits; 13 of them, for 8,192 buckets.
  static size_t Hash(const char* bytes) {
    const auto byte = [&](int at) { return uint32_t{static_cast<unsigned char>(bytes[at])}; };
    return ((byte(0) | byte(1) << 8 | byte(2) << 16) * 0x9e3779b1u) >> 19;
  }

  bool IsAt(absl::string_view text, size_t at, uint8_t part) const {
    for (; part != 0; part = parts_[part - 1].next) {
      const auto& [marker, offset, next] = parts_[part - 1];
      if (at >= offset && absl::StartsWith(text.substr(at - offset), marker)) return true;
    }
    return false;
  }

  std::array<uint8_t, 1 << 13> buckets_ = {};
  std::vector<Part> parts_;
};

}  // namespace

const std::vector<Language>& Languages() {
  static const auto& languages = *new std::vector<Language>(MakeLanguages());
  return languages;
}

const Language* FindMakerLanguage(absl::string_view resolved) {
  for (const Language& language : Languages()) {
    for (const Makers& makers : language.makers) {
      if (IsMaker(makers, resolved)) return &language;
    }
  }
  return nullptr;
}

v1::Dsl FindExtractedDsl(absl::string_view resolved) {
  const Language* language = FindMakerLanguage(resolved);
  return language == nullptr ? v1::DSL_UNSPECIFIED : language->dsl;
}

bool HasMakers(absl::string_view dotted) {
  for (const Language& language : Languages()) {
    for (const Makers& makers : language.makers) {
      const bool extracted = language.dsl != v1::DSL_UNSPECIFIED;
      if (extracted && FirstPart(makers.module) == FirstPart(dotted)) return true;
    }
  }
  return false;
}

absl::string_view FindCountedDsl(absl::string_view resolved) {
  const Language* language = FindMakerLanguage(resolved);
  return language == nullptr || language->dsl != v1::DSL_UNSPECIFIED ? "" : language->name;
}

// The last word counts: sglang.srt.layers.triton.tl is about tl.
std::optional<SaidName> FindSaidName(absl::string_view dotted) {
  const absl::string_view root = FirstPart(dotted);
  if (root == "triton" || root == "jax" || root == "jaxlib") return std::nullopt;
  for (size_t end = dotted.size(); end != absl::string_view::npos && end > 0;) {
    const size_t dot = dotted.substr(0, end).rfind('.');
    if (dot == absl::string_view::npos) return std::nullopt;  // the first name is the code's own
    const absl::string_view part = dotted.substr(dot + 1, end - dot - 1);
    const absl::string_view rest = dotted.substr(end);
    for (const Word& word : TritonWords()) {
      if (part != word.word) continue;
      const absl::string_view member = rest.empty() ? "" : FirstPart(rest.substr(1));
      const bool known =
          rest.empty() || word.members.empty() ||
          std::find(word.members.begin(), word.members.end(), member) != word.members.end();
      if (!known) continue;
      const bool relative = dotted.find_first_not_of('.') > dot;
      return SaidName{absl::StrCat(word.module, rest), relative ? dot + 1 : dot, end};
    }
    end = dot;
  }
  return std::nullopt;
}

v1::Dsl FindSaidDsl(absl::string_view dotted) {
  if (const auto said = FindSaidName(dotted)) return FindExtractedDsl(said->resolved);
  const absl::string_view root = FirstPart(dotted);
  const bool own = root == "triton" || root == "jax" || root == "jaxlib";
  const absl::string_view last = LastPart(dotted);
  const bool says =
      std::find(std::begin(kPallasWords), std::end(kPallasWords), last) != std::end(kPallasWords);
  return says && !own ? v1::DSL_PALLAS : v1::DSL_UNSPECIFIED;
}

bool HasMarker(absl::string_view text) {
  static const auto& finder = *new MarkerFinder();
  return finder.FindIn(text);
}

bool CompilesAsTriton(v1::Dsl dsl) {
  const Language* const language = FindLanguage(dsl);
  return language != nullptr && language->compiles_as_triton;
}

absl::string_view DslName(v1::Dsl dsl) {
  const Language* const language = FindLanguage(dsl);
  return language == nullptr ? "unknown" : language->name;
}

bool HasMarkerOf(v1::Dsl dsl, absl::string_view text) {
  const Language* language = FindLanguage(dsl);
  return language != nullptr &&
         (HoldsAny(text, language->markers) || HoldsAny(text, language->template_markers));
}

bool MayHoldExtracted(absl::string_view text) {
  static const auto& triton =
      *new Words({FindLanguage(v1::DSL_TRITON), FindLanguage(v1::DSL_GLUON)});
  static const auto& pallas = *new Words({FindLanguage(v1::DSL_PALLAS)});
  if (triton.MayBeIn(text) || pallas.MayBeIn(text)) return true;
  // A function of references may be a kernel by a call in another file.
  if (Contains(text, "_ref") && HoldsAny(text, pallas.markers)) return true;
  return HoldsAny(text, FindLanguage(v1::DSL_TRITON)->hints) ||
         HoldsAny(text, FindLanguage(v1::DSL_GLUON)->hints) ||
         HoldsAny(text, FindLanguage(v1::DSL_PALLAS)->hints);
}

bool MayHoldCounted(absl::string_view text) {
  static const auto& counted = *new Words(CountedWords());
  return Contains(text, "@") && counted.MayBeIn(text);
}

// A decorator from one of these packages is never a project's own wrapper around a maker.
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
