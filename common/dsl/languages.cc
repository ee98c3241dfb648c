// Each question about a file is answered in two steps, the cheap one first: nearly all files of a
// repository have nothing to do with kernels. HasMarker runs over every byte of every file;
// MayHoldKernels runs over those that have a marker; only then is a file parsed.
#include "common/dsl/languages.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/text.h"
#include "common/code/c.h"
#include "common/dsl/language_list.h"
#include "common/dsl/names.h"

namespace kernelmill::dsl {
namespace {

// Names that say by themselves that they are Pallas's, whatever module they come from.
constexpr absl::string_view kPallasWords[] = {"pallas_call", "emit_pipeline",
                                              "emit_pipeline_with_allocations",
                                              "emit_pipeline_warp_specialized"};

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

// Returns the first makers that `fits` takes, and their language; nulls without any.
template <typename Fits>
std::pair<const Language*, const Makers*> FindFirst(Fits fits) {
  for (const Language& language : Languages()) {
    for (const Makers& makers : language.makers) {
      if (fits(makers)) return {&language, &makers};
    }
  }
  return {nullptr, nullptr};
}

bool HoldsAny(absl::string_view text, const std::vector<absl::string_view>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](absl::string_view word) { return Contains(text, word); });
}

bool HoldsAnyOf(std::vector<absl::string_view> Language::*words, absl::string_view text) {
  return std::any_of(Languages().begin(), Languages().end(),
                     [&](const Language& language) { return HoldsAny(text, language.*words); });
}

// Returns whether a text of C++ holds a word outside comments.
bool HoldsAnyInCode(absl::string_view text, const std::vector<absl::string_view>& words) {
  if (!HoldsAny(text, words)) return false;
  std::string code;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (const size_t comment = code::EndOfCComment(text, at); comment > at) {
      end = comment;
    } else {
      if (code::IsQuote(text[at])) end = code::EndOfCString(text, at, code::CPrefix::kNone);
      absl::StrAppend(&code, text.substr(at, end - at));
    }
    at = end;
  }
  return HoldsAny(code, words);
}

bool HasEnding(absl::string_view path, const std::vector<absl::string_view>& endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [path](absl::string_view ending) { return absl::EndsWith(path, ending); });
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

// The words of a language for a first look at a text.
struct Words {
  std::vector<absl::string_view> makers;  // the makers' last parts
  std::vector<absl::string_view> markers;

  explicit Words(const Language& language) {
    for (const Makers& of : language.makers) {
      for (const absl::string_view name : of.names) AddWord(LastPart(name), makers);
    }
    for (const absl::string_view marker : language.markers) AddWord(marker, markers);
  }
  // Returns whether the text has a marker and a maker's last part.
  bool MayBeIn(absl::string_view text) const {
    return HoldsAny(text, markers) && HoldsAny(text, makers);
  }
};

const Words& GetWords(const Language& language) {
  static const auto& words = *[] {
    auto* const all = new std::vector<Words>();
    for (const Language& each : Languages()) all->emplace_back(each);
    return all;
  }();
  return words[static_cast<size_t>(&language - Languages().data())];
}

// Returns whether a dotted module is one of the packages, or in one.
bool IsOneOf(absl::string_view module, const std::vector<absl::string_view>& packages) {
  return std::any_of(packages.begin(), packages.end(), [module](absl::string_view package) {
    absl::string_view rest = module;
    return absl::ConsumePrefix(&rest, package) && (rest.empty() || rest[0] == '.');
  });
}

bool MayBeIn(const Language& language, absl::string_view text) {
  if (language.syntax != code::Language::kPython) return false;
  if (GetWords(language).MayBeIn(text) || HoldsAny(text, language.hints)) return true;
  // A function of references may be a kernel by a call in another file.
  return language.name == kPallas && Contains(text, "_ref") && HoldsAny(text, language.markers);
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
      for (const BodyMaker& maker : language.body_makers) Add(maker.function);
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

const Language* FindLanguage(absl::string_view dsl) {
  const std::vector<Language>& all = Languages();
  const auto found = std::lower_bound(
      all.begin(), all.end(), dsl,
      [](const Language& language, absl::string_view name) { return language.name < name; });
  return found != all.end() && found->name == dsl ? &*found : nullptr;
}

const Language* FindMakerLanguage(absl::string_view resolved) {
  return FindFirst([resolved](const Makers& makers) { return IsMaker(makers, resolved); }).first;
}

absl::string_view FindMakerDsl(absl::string_view resolved) {
  const Language* language = FindMakerLanguage(resolved);
  return language == nullptr ? "" : language->name;
}

const Makers* FindMakers(absl::string_view resolved) {
  return FindFirst([resolved](const Makers& makers) { return IsMaker(makers, resolved); }).second;
}

bool HasMakers(absl::string_view dotted) {
  const auto found = FindFirst(
      [dotted](const Makers& makers) { return FirstPart(makers.module) == FirstPart(dotted); });
  return found.second != nullptr;
}

bool IsMakerModule(absl::string_view dotted) {
  const auto found = FindFirst(
      [dotted](const Makers& makers) { return !makers.as_written && makers.module == dotted; });
  return found.second != nullptr;
}

bool IsMakerWord(absl::string_view word) {
  const auto found = FindFirst([word](const Makers& makers) {
    return std::any_of(makers.names.begin(), makers.names.end(),
                       [word](absl::string_view name) { return LastPart(name) == word; });
  });
  return found.second != nullptr;
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

absl::string_view FindSaidDsl(absl::string_view dotted) {
  if (const auto said = FindSaidName(dotted)) return FindMakerDsl(said->resolved);
  const absl::string_view root = FirstPart(dotted);
  const bool own = root == "triton" || root == "jax" || root == "jaxlib";
  const absl::string_view last = LastPart(dotted);
  const bool says =
      std::find(std::begin(kPallasWords), std::end(kPallasWords), last) != std::end(kPallasWords);
  return says && !own ? kPallas : "";
}

bool HasMarker(absl::string_view text) {
  static const auto& finder = *new MarkerFinder();
  return finder.FindIn(text);
}

uint8_t GetNumber(absl::string_view dsl) {
  const Language* const language = FindLanguage(dsl);
  return language == nullptr ? 0 : static_cast<uint8_t>(language - Languages().data() + 1);
}

absl::string_view GetName(uint8_t number) {
  return number == 0 || number > Languages().size() ? "" : Languages()[number - 1u].name;
}

std::string GetTitle(absl::string_view dsl) {
  const Language* const language = FindLanguage(dsl);
  return std::string(language == nullptr ? dsl : language->title);
}

code::Language GetSyntax(absl::string_view dsl) {
  const Language* const language = FindLanguage(dsl);
  return language == nullptr ? code::Language::kPython : language->syntax;
}

const Language& FindCLanguage(absl::string_view path, absl::string_view text) {
  static const Language& cuda = *FindLanguage(kCuda);
  static const auto& python = *new std::vector<absl::string_view>{".py", ".ipynb"};
  const bool in_string = HasEnding(path, python);
  for (const Language& language : Languages()) {
    const auto& markers = in_string ? language.string_markers : language.markers;
    if ((in_string || HasEnding(path, language.endings)) && HoldsAny(text, markers)) {
      const bool is_cuda =
          in_string ? HoldsAny(text, cuda.markers) : HoldsAnyInCode(text, cuda.markers);
      return is_cuda ? cuda : language;
    }
  }
  return cuda;
}

bool MayBeCString(absl::string_view string) {
  return HasMarkerOf(kCuda, string) || HoldsAnyOf(&Language::string_markers, string);
}

bool MayHoldCStrings(absl::string_view text) {
  return MayBeCString(text) ||
         std::any_of(Languages().begin(), Languages().end(), [text](const Language& language) {
           return std::any_of(
               language.body_makers.begin(), language.body_makers.end(),
               [text](const BodyMaker& maker) { return Contains(text, maker.function); });
         });
}

const BodyMaker* FindBodyMaker(absl::string_view resolved) {
  for (const Language& language : Languages()) {
    for (const BodyMaker& maker : language.body_makers) {
      if (FirstPart(resolved) == maker.package && LastPart(resolved) == maker.function) {
        return &maker;
      }
    }
  }
  return nullptr;
}

const Language* FindLibraryLanguage(absl::string_view header) {
  for (const Language& language : Languages()) {
    const auto& beginnings = language.library.headers;
    const bool has = std::any_of(
        beginnings.begin(), beginnings.end(),
        [header](absl::string_view beginning) { return absl::StartsWith(header, beginning); });
    if (has) return &language;
  }
  return nullptr;
}

bool HasMarkerOfC(absl::string_view text) {
  return std::any_of(Languages().begin(), Languages().end(), [text](const Language& language) {
    return language.syntax == code::Language::kC &&
           (HoldsAny(text, language.markers) || HoldsAny(text, language.hints));
  });
}

bool IsC(absl::string_view dsl) { return GetSyntax(dsl) == code::Language::kC; }

bool ComesWith(absl::string_view dsl, absl::string_view module) {
  const Language* const language = FindLanguage(dsl);
  if (language == nullptr) return false;
  return IsOneOf(module, language->packages) ||
         (language->installs_numpy && FirstPart(module) == "numpy");
}

bool LaunchesArgument(absl::string_view resolved) {
  const absl::string_view name = LastPart(resolved);
  return std::any_of(Languages().begin(), Languages().end(), [&](const Language& language) {
    if (!IsOneOf(name, language.launchers)) return false;
    return std::any_of(language.packages.begin(), language.packages.end(),
                       [resolved](absl::string_view package) {
                         return absl::StartsWith(resolved, absl::StrCat(package, "."));
                       });
  });
}

bool PreparesKernel(absl::string_view method) {
  return std::any_of(Languages().begin(), Languages().end(), [method](const Language& language) {
    return IsOneOf(method, language.preparing_methods);
  });
}

bool RunsKernel(absl::string_view method) {
  return std::any_of(Languages().begin(), Languages().end(), [method](const Language& language) {
    return IsOneOf(method, language.running_methods);
  });
}

bool CompilesAsTriton(absl::string_view dsl) {
  const Language* const language = FindLanguage(dsl);
  return language != nullptr && language->compiles_as_triton;
}

bool HasMarkerOf(absl::string_view dsl, absl::string_view text) {
  const Language* language = FindLanguage(dsl);
  return language != nullptr &&
         (HoldsAny(text, language->markers) || HoldsAny(text, language->template_markers));
}

bool MayHoldKernels(absl::string_view text) {
  return std::any_of(Languages().begin(), Languages().end(),
                     [text](const Language& language) { return MayBeIn(language, text); });
}

LanguageSet::LanguageSet() {
  for (const Language& language : Languages()) {
    if (language.by_default) languages_.push_back(&language);
  }
}

absl::StatusOr<LanguageSet> LanguageSet::MakeFrom(const std::vector<std::string>& names) {
  LanguageSet set;
  if (names.empty()) return set;
  set.languages_.clear();
  for (const Language& language : Languages()) {
    if (std::find(names.begin(), names.end(), language.name) != names.end()) {
      set.languages_.push_back(&language);
    }
  }
  for (const std::string& name : names) {
    if (FindLanguage(name) == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(JsonString(name), ": no kernel language"));
    }
  }
  return set;
}

bool LanguageSet::Has(absl::string_view dsl) const {
  return std::any_of(languages_.begin(), languages_.end(),
                     [dsl](const Language* language) { return language->name == dsl; });
}

bool LanguageSet::MayBeIn(absl::string_view text) const {
  return std::any_of(languages_.begin(), languages_.end(),
                     [text](const Language* language) { return dsl::MayBeIn(*language, text); });
}

bool LanguageSet::ComesWithOne(absl::string_view module) const {
  return std::any_of(languages_.begin(), languages_.end(), [module](const Language* language) {
    return IsOneOf(module, language->packages);
  });
}

// A decorator from one of these packages is never a project's own wrapper around a maker.
bool IsLibrary(absl::string_view package) {
  static constexpr absl::string_view kLibraries[] = {"triton", "torch", "jax"};
  if (std::find(std::begin(kLibraries), std::end(kLibraries), package) != std::end(kLibraries)) {
    return true;
  }
  return std::any_of(Languages().begin(), Languages().end(), [package](const Language& language) {
    const auto& own = language.packages;
    return std::find(own.begin(), own.end(), package) != own.end();
  });
}

bool IsOtherJit(absl::string_view name) {
  static constexpr absl::string_view kOthers[] = {"numba", "nb",   "jax",     "torch",
                                                  "cuda",  "cute", "tilelang"};
  return std::find(std::begin(kOthers), std::end(kOthers), name) != std::end(kOthers);
}

}  // namespace kernelmill::dsl
