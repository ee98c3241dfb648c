#include "client/catalog/search/kernel_words.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/catalog/search/words.h"

namespace kernelmill::client {
namespace {

constexpr size_t kMaxCodeWords = 4000;

bool IsNumber(absl::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return absl::ascii_isdigit(c); });
}

enum class Pairs { kNo, kYes };

// The words of a field, each once.
absl::flat_hash_set<std::string> FieldWords(absl::string_view text, Pairs pairs) {
  const std::vector<std::string> words = Words(text);
  absl::flat_hash_set<std::string> unique(words.begin(), words.end());
  if (pairs == Pairs::kNo) return unique;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    std::string pair = absl::StrCat(words[i], words[i + 1]);
    if (pair.size() <= kMaxWord) unique.insert(std::move(pair));
  }
  return unique;
}

void AddField(const absl::flat_hash_set<std::string>& words, uint8_t weight, WordUses* uses) {
  for (const std::string& word : words) {
    if (!IsStopWord(word)) (*uses)[word].fields += weight;
  }
}

// Words of several texts of a field count once.
absl::flat_hash_set<std::string> TagWords(const std::vector<std::string>& tags) {
  absl::flat_hash_set<std::string> words;
  for (const std::string& tag : tags) words.merge(FieldWords(tag, Pairs::kYes));
  return words;
}

}  // namespace

KernelWords WordsOf(const CatalogKernel& kernel, absl::string_view summary) {
  KernelWords made;
  AddField(FieldWords(kernel.qualname, Pairs::kYes), kNameWeight, &made.uses);
  AddField(TagWords(kernel.tags), kTagWeight, &made.uses);
  absl::flat_hash_set<std::string> description =
      FieldWords(absl::StrCat(kernel.docstring, "\n", summary), Pairs::kNo);
  description.merge(TagWords(kernel.features));
  AddField(description, kDescriptionWeight, &made.uses);
  AddField(FieldWords(kernel.repository, Pairs::kYes), kRepositoryWeight, &made.uses);
  AddField(FieldWords(absl::StrCat(kernel.path, " ", kernel.dsl), Pairs::kNo), kPathWeight,
           &made.uses);
  size_t different = 0;
  for (const std::string& word : Words(kernel.source)) {
    if (IsStopWord(word) || IsNumber(word)) continue;
    ++made.length;
    if (different == kMaxCodeWords && !made.uses.contains(word)) continue;
    WordUse& use = made.uses[word];
    if (use.code == 0) ++different;
    if (use.code < 255) ++use.code;
  }
  return made;
}

}  // namespace kernelmill::client
