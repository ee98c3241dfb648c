// The basic idea: a text is a sequence of token hashes, and a shingle is a hash of k consecutive
// ones. The set of all shingles describes the text: two texts are as similar as the Jaccard
// similarity of their sets. The set forgets where a shingle is, so that moved statements still
// match, and a change of one token changes only k shingles.
//
// Structural shingles fold what an author chooses freely. A name's identity cannot be dropped, or a
// + b and a + a would be equal. So within a window a name is replaced by the distance to its
// previous use in the window, or by "new".

#include "services/deduplicator/core/sign/shingles.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/base/hash.h"
#include "services/deduplicator/core/sign/hash_sort.h"

namespace kernelmill::deduplicator {
namespace {

// Hashes cover the bytes of 64-bit numbers in memory, so that stored data depends on byte order.
static_assert(std::endian::native == std::endian::little, "hashes assume little-endian numbers");

// Hashes a sequence of hashes.
uint64_t HashNumbers(absl::Span<const uint64_t> numbers) {
  return StableHash64(absl::string_view(reinterpret_cast<const char*>(numbers.data()),
                                        numbers.size() * sizeof(uint64_t)));
}

// Returns a hash of each window of `width` consecutive hashes, in order.
std::vector<uint64_t> Windows(absl::Span<const uint64_t> hashes, size_t width) {
  std::vector<uint64_t> windows;
  windows.reserve(hashes.size() - width + 1);
  for (size_t i = 0; i + width <= hashes.size(); ++i) {
    windows.push_back(HashNumbers(hashes.subspan(i, width)));
  }
  return windows;
}

// The hashes of folded tokens ("number", "string", "name", "back1" ... in ASCII). No token's own
// hash is likely to equal one.
constexpr uint64_t kNumberHash = 0x6e756d626572;
constexpr uint64_t kStringHash = 0x737472696e67;
constexpr uint64_t kNameHash = 0x6e616d65;
constexpr std::array<uint64_t, kShingleTokens> kBackHashes = {0, 0x6261636b31, 0x6261636b32,
                                                              0x6261636b33, 0x6261636b34};

constexpr size_t kUsualNames = 64;  // local names of a kernel

struct Folded {
  uint64_t hash;
  uint32_t back = 0;  // for a name: tokens since its previous use, 0 if that is out of a shingle
};

// Replaces the content of numbers, strings and local names by the constants above.
std::vector<Folded> Fold(absl::Span<const Token> tokens, absl::Span<const uint64_t> token_hashes,
                         const std::vector<bool>& local) {
  std::vector<Folded> folded;
  folded.reserve(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    Folded& token = folded.emplace_back(Folded{token_hashes[i]});
    if (tokens[i].kind == Token::kNumber) token.hash = kNumberHash;
    if (tokens[i].kind == Token::kString) token.hash = kStringHash;
    if (!local[i]) continue;
    token.hash = kNameHash;
    for (uint32_t back = 1; back < kShingleTokens && back <= i; ++back) {
      if (!local[i - back] || token_hashes[i - back] != token_hashes[i]) continue;
      token.back = back;
      break;
    }
  }
  return folded;
}

}  // namespace

void MakeSet(std::vector<uint64_t>* hashes) {
  SortByHash(absl::MakeSpan(*hashes), [](uint64_t hash) { return hash; });
  hashes->erase(std::unique(hashes->begin(), hashes->end()), hashes->end());
}

std::vector<uint64_t> TokenHashes(absl::Span<const Token> tokens) {
  std::vector<uint64_t> hashes;
  hashes.reserve(tokens.size());
  for (const Token& token : tokens) hashes.push_back(StableHash64(token.text));
  return hashes;
}

std::vector<uint64_t> Shingles(absl::Span<const uint64_t> token_hashes) {
  if (token_hashes.empty()) return {};
  const size_t width = std::min<size_t>(kShingleTokens, token_hashes.size());
  std::vector<uint64_t> shingles = Windows(token_hashes, width);
  MakeSet(&shingles);
  return shingles;
}

std::vector<uint64_t> StructuralShingles(absl::Span<const Token> tokens,
                                         absl::Span<const uint64_t> token_hashes,
                                         const std::vector<bool>& local) {
  const std::vector<Folded> folded = Fold(tokens, token_hashes, local);
  if (folded.empty()) return {};
  const size_t width = std::min<size_t>(kShingleTokens, folded.size());
  std::vector<uint64_t> shingles;
  shingles.reserve(folded.size() - width + 1);
  std::array<uint64_t, kShingleTokens> window;
  for (size_t i = 0; i + width <= folded.size(); ++i) {
    for (size_t k = 0; k < width; ++k) {
      const Folded& token = folded[i + k];
      // A name whose previous use lies before the window counts as new.
      window[k] = token.back > 0 && token.back <= k ? kBackHashes[token.back] : token.hash;
    }
    shingles.push_back(HashNumbers(absl::MakeConstSpan(window).first(width)));
  }
  MakeSet(&shingles);
  return shingles;
}

// Returns a hash of all tokens in order, with local names replaced by the order of their first use.
// So two kernels that differ only by a consistent renaming have the same hash.
uint64_t RenamedHash(absl::Span<const uint64_t> token_hashes, const std::vector<bool>& local) {
  absl::flat_hash_map<uint64_t, uint64_t> numbers;
  numbers.reserve(kUsualNames);
  std::vector<uint64_t> renamed(token_hashes.begin(), token_hashes.end());
  for (size_t i = 0; i < renamed.size(); ++i) {
    if (!local[i]) continue;
    renamed[i] =
        kNameHash ^ (numbers.try_emplace(renamed[i], numbers.size() + 1).first->second << 32);
  }
  return HashNumbers(renamed);
}

// Returns the runs in the order of the text, also repeated ones; none for a text that is shorter
// than one run.
std::vector<uint64_t> Runs(absl::Span<const uint64_t> token_hashes) {
  if (token_hashes.size() < kRunTokens) return {};
  return Windows(token_hashes, kRunTokens);
}

uint64_t SetHash(absl::Span<const uint64_t> shingles) { return HashNumbers(shingles); }

}  // namespace kernelmill::deduplicator
