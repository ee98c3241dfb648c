#include "dataset/pairs/identifier_words.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::dataset {
namespace {

using absl::string_view;

constexpr size_t kMaxWords = 32;
constexpr size_t kMaxNameBytes = 1024;
constexpr size_t kLongWord = 5;  // letters; shorter ones with digits are names: fp8, int4

// Sorted by the first.
constexpr std::pair<string_view, string_view> kSynonyms[] = {
    {"act", "activation"},  {"attention", "attn"},     {"backward", "bwd"},
    {"bw", "bwd"},          {"cat", "concat"},         {"dequantize", "dequant"},
    {"embed", "embedding"}, {"forward", "fwd"},        {"fw", "fwd"},
    {"gemm", "matmul"},     {"grad", "bwd"},           {"ids", "index"},
    {"idx", "index"},       {"indices", "index"},      {"ln", "layernorm"},
    {"mm", "matmul"},       {"quantization", "quant"}, {"quantize", "quant"},
    {"rms", "rmsnorm"},     {"rotary", "rope"},
};

constexpr string_view kFillers[] = {
    "and",      "cu",     "cuda",    "device", "fn",  "for", "from", "func",
    "function", "fuse",   "fused",   "global", "gpu", "hip", "impl", "in",
    "is",       "kernel", "kernels", "naive",  "of",  "op",  "ops",  "opt",
    "the",      "to",     "triton",  "v1",     "v2",  "v3",  "v4",   "with",
};

constexpr string_view kCompounds[] = {"allgather", "allreduce", "groupnorm", "layernorm",
                                      "logsumexp", "rmsnorm",   "softmax",   "topk"};

constexpr string_view kPassing[] = {"d", "n", "num", "p", "pointer", "ptr", "size", "stride"};

template <size_t N>
bool IsIn(const string_view (&words)[N], string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool IsUpper(char c) { return absl::ascii_isupper(static_cast<unsigned char>(c)); }
bool IsLower(char c) { return absl::ascii_islower(static_cast<unsigned char>(c)); }
bool IsAlnum(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }
bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }

// Whether a word begins at the capital name[i], which follows a letter or a digit.
bool BeginsWord(string_view name, size_t i) {
  if (!IsUpper(name[i])) return false;
  if (!IsUpper(name[i - 1])) return true;
  return i + 1 < name.size() && IsLower(name[i + 1]);
}

std::string Finished(std::string word) {
  size_t letters = word.size();
  while (letters > 0 && IsDigit(word[letters - 1])) --letters;
  const bool only_letters = std::none_of(word.begin(), word.begin() + letters, IsDigit);
  if (only_letters && letters >= kLongWord) word.resize(letters);
  return word;
}

}  // namespace

std::vector<std::string> IdentifierWords(string_view name) {
  name = name.substr(0, kMaxNameBytes);
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty() && words.size() < kMaxWords) words.push_back(Finished(std::move(word)));
    word.clear();
  };
  for (size_t i = 0; i < name.size(); ++i) {
    if (!IsAlnum(name[i]) || (!word.empty() && BeginsWord(name, i))) end_word();
    if (IsAlnum(name[i])) word += absl::ascii_tolower(static_cast<unsigned char>(name[i]));
  }
  end_word();
  return words;
}

string_view FoldSynonym(string_view word) {
  const auto at = std::lower_bound(std::begin(kSynonyms), std::end(kSynonyms), word,
                                   [](const std::pair<string_view, string_view>& entry,
                                      string_view w) { return entry.first < w; });
  return at != std::end(kSynonyms) && at->first == word ? at->second : word;
}

bool IsKnownCompound(string_view word) { return IsIn(kCompounds, word); }

bool IsFiller(string_view word) { return word.size() < 2 || IsIn(kFillers, word); }

std::string FoldParameter(string_view name) {
  std::string folded;
  for (const std::string& word : IdentifierWords(name)) {
    if (folded.empty() && word == "block") return "";
    if (!IsIn(kPassing, word)) absl::StrAppend(&folded, folded.empty() ? "" : "_", word);
  }
  return folded;
}

}  // namespace kernelmill::dataset
