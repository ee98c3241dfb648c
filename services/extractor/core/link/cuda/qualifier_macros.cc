#include "services/extractor/core/link/cuda/qualifier_macros.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "common/code/line_index.h"
#include "common/dsl/languages.h"
#include "common/dsl/names.h"
#include "services/extractor/core/cuda/cuda_records.h"
#include "services/extractor/core/cuda/lexer.h"
#include "services/extractor/core/cuda/names.h"

namespace kernelmill::extractor::cuda {
namespace {

using absl::string_view;

// A hostile source could otherwise make every pass over its texts long.
constexpr size_t kMaxMacros = 1024;
constexpr int kMaxPasses = 8;  // a macro of a macro of a macro ...
// Functions within functions repeat text; real files have hardly any.
constexpr size_t kMaxOverlap = 16;

// All definitions of a name in a source, taken together.
struct Meaning {
  std::set<std::string> words;  // in all definitions
  bool is_value = false;        // a definition has something else than words: a number, a call
};

// Returns the meaning of each name that macros without parameters define, except keywords: a stub
// for another compiler may define __forceinline__ as __device__ inline.
std::map<std::string, Meaning> ReadMacros(const Source& source) {
  std::map<std::string, Meaning> meanings;
  for (uint32_t file = 0; file < source.size(); ++file) {
    for (const Item& item : source[file].items) {
      if (!item.is_macro || item.undefines || item.takes_arguments) continue;
      if (IsReserved(item.declaration.names[0])) continue;
      Meaning& meaning = meanings[item.declaration.names[0]];
      const Code code = Lex(item.rest);
      for (uint32_t at = 0; at < code.size(); ++at) {
        const bool of_attribute = code[at] == "(" || code[at] == ")" || code[at] == "\"C\"";
        if (code.IsWord(at)) {
          meaning.words.emplace(code[at]);
        } else if (!of_attribute) {
          meaning.is_value = true;
        }
      }
    }
  }
  return meanings;
}

// Returns the names that stand for one of `qualifiers`, also through one another; sorted.
std::vector<std::string> FindNames(const std::map<std::string, Meaning>& meanings,
                                   const std::vector<string_view>& qualifiers) {
  std::set<std::string> known(qualifiers.begin(), qualifiers.end());
  std::set<std::string> names;
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    const size_t before = names.size();
    for (const auto& [name, meaning] : meanings) {
      if (meaning.is_value || names.size() >= kMaxMacros) continue;
      const bool stands =
          std::any_of(meaning.words.begin(), meaning.words.end(),
                      [&](const std::string& word) { return known.contains(word); });
      if (stands && known.insert(name).second) names.insert(name);
    }
    if (names.size() == before) break;
  }
  return {names.begin(), names.end()};
}

// Adds to `found` the names that the text mentions.
void FindMentioned(const std::vector<std::string>& names, string_view text,
                   std::vector<string_view>& found) {
  for (const std::string& name : names) {
    if (absl::StrContains(text, name)) found.push_back(name);
  }
}

// The place of a function, by which the same one is known again.
using Place = std::tuple<std::string, int64_t, std::string>;

Place GetPlace(const v1::Kernel& kernel) {
  return {kernel.path(), kernel.first_byte(), kernel.signature()};
}

}  // namespace

QualifierMacros::QualifierMacros(const Source& source) {
  const dsl::Qualifiers& qualifiers = dsl::FindLanguage(dsl::kCuda)->qualifiers;
  const std::map<std::string, Meaning> meanings = ReadMacros(source);
  kernel_ = FindNames(meanings, qualifiers.kernel);
  device_ = FindNames(meanings, qualifiers.device);
}

int QualifierMacros::AddFunctions(v1::KernelShard& shard) const {
  if (kernel_.empty() && device_.empty()) return 0;
  std::set<Place> known;
  for (const v1::Kernel& kernel : shard.kernels()) known.insert(GetPlace(kernel));
  absl::flat_hash_map<std::string, v1::ExtractedFile*> files;
  for (v1::ExtractedFile& file : *shard.mutable_files()) files[file.path()] = &file;
  int added = 0;
  for (const v1::Definition& definition : shard.definitions()) {
    const string_view text = definition.text();
    const bool is_file = definition.kind() == v1::Definition::KIND_UNSPECIFIED &&
                         definition.string_begin() == 0 && files.contains(definition.path());
    if (!is_file) continue;
    // A file that CUDA shares with a language without qualifiers of its own may have such
    // functions.
    const dsl::Language& language = dsl::FindCLanguage(definition.path(), text);
    if (language.name != dsl::kCuda && !language.qualifiers.kernel.empty()) continue;
    dsl::Qualifiers macros;
    FindMentioned(kernel_, text, macros.kernel);
    FindMentioned(device_, text, macros.device);
    if (macros.kernel.empty() && macros.device.empty()) continue;
    const LineIndex lines(text);
    const TextPlace place(text, lines);
    CudaRecords records(definition.path(), text, place, kMaxOverlap * text.size(), macros);
    if (!records.InBounds()) continue;
    for (const Function& function : records.functions()) {
      v1::Kernel kernel;
      records.Describe(function, kernel);
      if (!known.insert(GetPlace(kernel)).second) continue;
      *shard.add_kernels() = std::move(kernel);
      v1::ExtractedFile& file = *files[definition.path()];
      file.set_kernels(file.kernels() + 1);
      ++added;
    }
  }
  return added;
}

}  // namespace kernelmill::extractor::cuda
