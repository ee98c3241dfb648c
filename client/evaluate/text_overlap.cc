#include "client/evaluate/text_overlap.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/code/lexer.h"
#include "common/manifest/fim.h"

namespace kernelmill::client {
namespace {

// Returns at most kMaxEditTokens tokens without comments. The bound keeps the comparison, which is
// quadratic, to about 40 million steps of 64 columns.
std::vector<absl::string_view> LexTokens(absl::string_view text) {
  std::vector<absl::string_view> tokens;
  for (const code::Token& token : code::Lex(text, code::Language::kPython)) {
    if (tokens.size() == kMaxEditTokens) break;
    if (token.kind != code::Token::kComment) tokens.push_back(token.text);
  }
  return tokens;
}

// Returns the length of the longest common subsequence.
//
// The basic idea (Hyyrö 2004, "Bit-parallel LCS-length computation revisited"): of the row of the
// dynamic program only the differences between neighbours matter, which are 0 or 1. `rows` has one
// bit for each token of `a`, cleared if the length grows by one there. One token of `b` updates 64
// columns with an addition, whose carry moves the place of a growth to the next match.
size_t CommonSubsequence(const std::vector<absl::string_view>& a,
                         const std::vector<absl::string_view>& b) {
  const size_t words = (a.size() + 63) / 64;
  absl::flat_hash_map<absl::string_view, std::vector<uint64_t>> places;
  for (const absl::string_view token : b) places.try_emplace(token);
  for (size_t i = 0; i < a.size(); ++i) {
    const auto at = places.find(a[i]);
    if (at == places.end()) continue;
    // Only tokens of `b` that `a` has too get a row of bits; others match nowhere.
    at->second.resize(words);
    at->second[i / 64] |= uint64_t{1} << (i % 64);
  }
  std::vector<uint64_t> rows(words, ~uint64_t{0});
  for (const absl::string_view token : b) {
    const std::vector<uint64_t>& matches = places.find(token)->second;
    if (matches.empty()) continue;
    uint64_t carry = 0;
    for (size_t word = 0; word < words; ++word) {
      const uint64_t row = rows[word];
      const uint64_t hit = row & matches[word];
      const uint64_t sum = row + hit;
      const uint64_t total = sum + carry;
      // The addition goes over all words of 64 bits: an overflow of either step is the carry.
      carry = (sum < row) | (total < sum);
      rows[word] = total | (row - hit);
    }
  }
  size_t length = 0;
  // Bits beyond the end of `a` are never cleared, because no token matches there.
  for (const uint64_t row : rows) length += static_cast<size_t>(std::popcount(~row));
  return length;
}

}  // namespace

double WordOverlap(const std::string& a, const std::string& b) {
  manifest::FimPair pair;
  pair.prompt = a;
  pair.completion = b;
  const manifest::WordCounts counts = manifest::CountWords(pair);
  return counts.total == 0 ? 1 : static_cast<double>(counts.common) / counts.total;
}

double EditSimilarity(absl::string_view a, absl::string_view b) {
  const std::vector<absl::string_view> tokens_a = LexTokens(a);
  const std::vector<absl::string_view> tokens_b = LexTokens(b);
  const size_t total = tokens_a.size() + tokens_b.size();
  if (total == 0) return 1;
  return 2 * static_cast<double>(CommonSubsequence(tokens_a, tokens_b)) /
         static_cast<double>(total);
}

}  // namespace kernelmill::client
