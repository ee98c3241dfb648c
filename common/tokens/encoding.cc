#include "common/tokens/encoding.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "common/base/text.h"

namespace kernelmill::bpe {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

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

void Merger::Append(absl::string_view piece, std::vector<uint32_t>& tokens) {
  if (const uint32_t rank = vocabulary_.Rank(piece); rank != kNoRank) {
    tokens.push_back(rank);
    return;
  }
  const auto size = static_cast<uint32_t>(piece.size());
  parts_.resize(size);
  heap_.clear();
  for (uint32_t i = 0; i < size; ++i) parts_[i] = {i == 0 ? kNone : i - 1, i + 1, kNoRank};
  for (uint32_t i = 0; i < size; ++i) Rerank(piece, i);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const auto [rank, at] = heap_.back();
    heap_.pop_back();
    if (parts_[at].rank == rank) Merge(piece, at);
  }
  for (uint32_t at = 0; at < size; at = parts_[at].next) {
    tokens.push_back(vocabulary_.Rank(piece.substr(at, parts_[at].next - at)));
  }
}

// Says anew what the part at `at` and the next one are together.
void Merger::Rerank(absl::string_view piece, uint32_t at) {
  Part& part = parts_[at];
  part.rank = kNoRank;
  if (part.next == piece.size()) return;
  part.rank = vocabulary_.Rank(piece.substr(at, parts_[part.next].next - at));
  if (part.rank == kNoRank) return;
  heap_.emplace_back(part.rank, at);
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void Merger::Merge(absl::string_view piece, uint32_t at) {
  Part& part = parts_[at];
  Part& gone = parts_[part.next];
  part.next = gone.next;
  gone.rank = kNoRank;  // what the heap has of it is stale
  if (part.next < piece.size()) parts_[part.next].previous = at;
  Rerank(piece, at);
  if (part.previous != kNone) Rerank(piece, part.previous);
}

// What is linked in was checked when it was fetched, and by the tests.
const Encoding& NewEncoding(absl::string_view json, Split split) {
  return *new Encoding(*Vocabulary::Parse(json), split);
}

}  // namespace

std::vector<uint32_t> Encoding::Encode(absl::string_view text) const {
  std::string repaired;
  if (!IsUtf8(text)) text = repaired = ToUtf8(text);
  std::vector<uint32_t> tokens;
  Merger merger(vocabulary_);
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = split_(text, begin);
    merger.Append(text.substr(begin, end - begin), tokens);
  }
  return tokens;
}

size_t Encoding::Count(absl::string_view text) const { return Encode(text).size(); }

const Encoding& Cl100kBase() {
  static const Encoding& encoding = NewEncoding(Cl100kBaseText(), SplitCl100kBase);
  return encoding;
}

const Encoding& O200kBase() {
  static const Encoding& encoding = NewEncoding(O200kBaseText(), SplitO200kBase);
  return encoding;
}

}  // namespace kernelmill::bpe
