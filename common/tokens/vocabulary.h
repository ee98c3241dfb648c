#ifndef KERNELMILL_COMMON_TOKENS_VOCABULARY_H_
#define KERNELMILL_COMMON_TOKENS_VOCABULARY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::bpe {

constexpr uint32_t kNoRank = UINT32_MAX;

// The tokens of a byte-pair encoding with their ranks. A rank is a token's id, and gives the order
// of merges. Immutable, and so thread-safe.
class Vocabulary {
 public:
  // Parses a file of the npm package tiktoken: "bpe_ranks" has runs of "! FIRST_RANK TOKEN...",
  // with tokens in base64. Returns INVALID_ARGUMENT for a malformed file, or if a single byte is
  // missing.
  static absl::StatusOr<Vocabulary> Parse(absl::string_view json);

  // Returns kNoRank if `bytes` is not a token.
  uint32_t Rank(absl::string_view bytes) const {
    if (bytes.size() > longest_) return kNoRank;
    const auto found = ranks_.find(bytes);
    return found == ranks_.end() ? kNoRank : found->second;
  }

  size_t size() const { return ranks_.size(); }

 private:
  void Add(const std::string& token, uint32_t rank) {
    longest_ = std::max(longest_, token.size());
    ranks_.emplace(token, rank);
  }

  absl::flat_hash_map<std::string, uint32_t> ranks_;
  size_t longest_ = 0;  // bytes of the longest token
};

// Return files of the npm package tiktoken, which the assembler links in.
absl::string_view Cl100kBaseText();
absl::string_view O200kBaseText();

}  // namespace kernelmill::bpe

#endif  // KERNELMILL_COMMON_TOKENS_VOCABULARY_H_
