#include "services/deduplicator/core/pair/set_store.h"

#include "common/base/status.h"

namespace kernelmill::deduplicator {

absl::Status SetStore::Add(absl::Span<const uint64_t> set) {
  const uint64_t begin = ends_.empty() ? 0 : ends_.back();
  const bool fits = (shingles_.size() + set.size()) * sizeof(uint64_t) <= limit_;
  if (spill_ == nullptr || (spilled() == 0 && fits)) {
    shingles_.insert(shingles_.end(), set.begin(), set.end());
    ++in_memory_;
  } else {
    RETURN_IF_ERROR(spill_->Append(absl::string_view(reinterpret_cast<const char*>(set.data()),
                                                     set.size() * sizeof(uint64_t))));
  }
  ends_.push_back(begin + set.size());
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<const uint64_t>> SetStore::Get(size_t index,
                                                         std::vector<uint64_t>* buffer) {
  const uint64_t begin = index == 0 ? 0 : ends_[index - 1];
  const size_t size = ends_[index] - begin;
  if (index < in_memory_) return absl::MakeConstSpan(shingles_).subspan(begin, size);
  buffer->resize(size);
  RETURN_IF_ERROR(spill_->Read(
      (begin - shingles_.size()) * sizeof(uint64_t),
      absl::MakeSpan(reinterpret_cast<char*>(buffer->data()), size * sizeof(uint64_t))));
  return absl::MakeConstSpan(*buffer);
}

}  // namespace kernelmill::deduplicator
