#include "services/deduplicator/core/shingles.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "common/base/hash.h"

namespace kernelmill::deduplicator {
namespace {

// Hashes are taken over the bytes of 64-bit numbers in memory; stored data depends on their order.
static_assert(std::endian::native == std::endian::little, "hashes assume little-endian numbers");

uint64_t HashNumbers(absl::Span<const uint64_t> numbers) {
  return StableHash64(absl::string_view(reinterpret_cast<const char*>(numbers.data()),
                                        numbers.size() * sizeof(uint64_t)));
}

}  // namespace

std::vector<uint64_t> Shingles(absl::Span<const absl::string_view> tokens) {
  if (tokens.empty()) return {};
  std::vector<uint64_t> hashes;
  hashes.reserve(tokens.size());
  for (const absl::string_view token : tokens) hashes.push_back(StableHash64(token));

  const size_t width = std::min<size_t>(kShingleTokens, hashes.size());
  std::vector<uint64_t> shingles;
  shingles.reserve(hashes.size() - width + 1);
  for (size_t i = 0; i + width <= hashes.size(); ++i) {
    shingles.push_back(HashNumbers(absl::MakeConstSpan(hashes).subspan(i, width)));
  }
  std::sort(shingles.begin(), shingles.end());
  shingles.erase(std::unique(shingles.begin(), shingles.end()), shingles.end());
  return shingles;
}

uint64_t SetHash(absl::Span<const uint64_t> shingles) { return HashNumbers(shingles); }

}  // namespace kernelmill::deduplicator
