#include "services/deduplicator/core/set_store.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace kernelmill::deduplicator {

absl::Status SetStore::Add(absl::Span<const uint64_t> set) {
  const uint64_t begin = ends_.empty() ? 0 : ends_.back();
  const bool fits = (shingles_.size() + set.size()) * sizeof(uint64_t) <= limit_;
  if (spill_ == nullptr || (spilled() == 0 && fits)) {
    shingles_.insert(shingles_.end(), set.begin(), set.end());
    ++in_memory_;
  } else {
    RETURN_IF_ERROR(
        spill_->Put(ends_.size(), absl::string_view(reinterpret_cast<const char*>(set.data()),
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
  RETURN_IF_ERROR(spill_->Get(index, &bytes_));
  if (bytes_.size() != size * sizeof(uint64_t)) {
    return absl::InternalError(absl::StrCat("set ", index, " came back in another size"));
  }
  buffer->resize(size);
  std::memcpy(buffer->data(), bytes_.data(), bytes_.size());
  return absl::MakeConstSpan(*buffer);
}

}  // namespace kernelmill::deduplicator
