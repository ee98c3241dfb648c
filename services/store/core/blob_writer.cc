#include "services/store/core/blob_writer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace kernelmill::store {

absl::Status BlobWriter::Append(absl::string_view bytes) {
  if (static_cast<int64_t>(bytes.size()) > id_.size - received_) {
    return absl::InvalidArgumentError(
        absl::StrCat(ToString(id_), ": the content is larger than its digest says"));
  }
  hash_.Update(bytes);
  received_ += static_cast<int64_t>(bytes.size());
  if (chunk_.capacity() == std::string().capacity()) {
    chunk_.reserve(std::min(id_.size, kChunkBytes));
  }
  while (!bytes.empty()) {
    const absl::string_view piece = bytes.substr(0, kChunkBytes - chunk_.size());
    chunk_.append(piece.data(), piece.size());
    bytes.remove_prefix(piece.size());
    const bool whole_blob_fits = id_.size <= kChunkBytes;
    if (static_cast<int64_t>(chunk_.size()) == kChunkBytes && !whole_blob_fits) {
      RETURN_IF_ERROR(FlushChunk());
    }
  }
  return absl::OkStatus();
}

absl::Status BlobWriter::FlushChunk() {
  if (staged_ == nullptr) {
    ASSIGN_OR_RETURN(staged_, keeper_->Stage());
  }
  RETURN_IF_ERROR(keeper_->Append(*staged_, chunk_));
  chunk_.clear();
  return absl::OkStatus();
}

absl::Status BlobWriter::Finish() {
  if (received_ != id_.size) {
    return absl::InvalidArgumentError(
        absl::StrCat(ToString(id_), ": the content has ", received_, " bytes"));
  }
  if (const std::string found = hash_.FinishHex(); found != HexHash(id_)) {
    return absl::InvalidArgumentError(
        absl::StrCat(ToString(id_), ": the content's SHA-256 is ", found));
  }
  if (id_.size <= kChunkBytes) return keeper_->Put({{id_, chunk_}});
  if (!chunk_.empty()) RETURN_IF_ERROR(FlushChunk());
  return keeper_->Commit(*staged_, id_);
}

}  // namespace kernelmill::store
