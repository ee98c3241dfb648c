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

// The tokens of a byte-pair encoding with their ranks, which are their ids and the order of merges.
class Vocabulary {
 public:
  // `json` is a file of the npm package tiktoken: in "bpe_ranks" runs of "! FIRST_RANK TOKEN...",
  // tokens in base64. INVALID_ARGUMENT: it is not, or some single byte is no token.
  static absl::StatusOr<Vocabulary> Parse(absl::string_view json);

  // kNoRank where `bytes` is no token.
  uint32_t Rank(absl::string_view bytes) const {
    if (bytes.size() > longest_) return kNoRank;
    const auto found = ranks_.find(bytes);
    return found == ranks_.end() ? kNoRank : found->second;
  }

  size_t size() const { return ranks_.size(); }

 private:
  void Add(std::string token, uint32_t rank) {
    longest_ = std::max(longest_, token.size());
    ranks_.emplace(std::move(token), rank);
  }

  absl::flat_hash_map<std::string, uint32_t> ranks_;
  size_t longest_ = 0;  // bytes of the longest token
};

// Files of the npm package tiktoken, linked in by the assembler.
absl::string_view Cl100kBaseText();
absl::string_view O200kBaseText();

}  // namespace kernelmill::bpe

#endif  // KERNELMILL_COMMON_TOKENS_VOCABULARY_H_
