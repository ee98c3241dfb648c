#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_TOKENS_MERGE_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_TOKENS_MERGE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "services/validator/core/tokens/vocabulary.h"

namespace kernelmill::validator::bpe {

// Merges the bytes of pieces into tokens; keeps its buffers between them. Not thread-safe.
class Merger {
 public:
  explicit Merger(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  // Of all neighbours that together are a token, those of the lowest rank are merged first, the
  // leftmost of equal ones; until there are none. Takes n log n for n bytes. Appends the tokens'
  // ids.
  void Append(absl::string_view piece, std::vector<uint32_t>& tokens);

 private:
  // A part of the piece, by the offset of its first byte.
  struct Part {
    uint32_t previous;
    uint32_t next;  // where it ends; the piece's size for the last
    uint32_t rank;  // of this and the next part together
  };

  void Rerank(absl::string_view piece, uint32_t at);
  void Merge(absl::string_view piece, uint32_t at);

  const Vocabulary& vocabulary_;
  std::vector<Part> parts_;
  std::vector<std::pair<uint32_t, uint32_t>> heap_;  // (rank, offset), lowest first; some are stale
};

}  // namespace kernelmill::validator::bpe

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_TOKENS_MERGE_H_
