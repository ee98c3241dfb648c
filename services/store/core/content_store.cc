#include "services/store/core/content_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "services/store/core/completeness.h"

namespace kernelmill::store {
namespace {

absl::Status CheckContent(const NewBlob& blob) {
  if (static_cast<int64_t>(blob.bytes.size()) != blob.id.size) {
    return absl::InvalidArgumentError(
        absl::StrCat(ToString(blob.id), ": the content has ", blob.bytes.size(), " bytes"));
  }
  if (Sha256(blob.bytes) != blob.id.raw_hash()) {
    return absl::InvalidArgumentError(
        absl::StrCat(ToString(blob.id), ": the content's SHA-256 is ", Sha256Hex(blob.bytes)));
  }
  return absl::OkStatus();
}

}  // namespace

ContentStore::ContentStore(std::unique_ptr<Storage> storage, const Limits& limits,
                           const RetentionOptions& retention)
    : limits_(limits), keeper_(std::move(storage), retention) {}

absl::StatusOr<std::vector<bool>> ContentStore::Contains(absl::Span<const BlobId> ids) {
  ASSIGN_OR_RETURN(std::vector<bool> held, keeper_.Find(ids));
  int64_t found = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (IsEmptyBlob(ids[i])) held[i] = true;
    found += held[i];
  }
  counters_.blobs_found += found;
  counters_.blobs_missing += static_cast<int64_t>(ids.size()) - found;
  return held;
}

absl::Status ContentStore::CheckBatch(absl::Span<const int64_t> sizes) const {
  int64_t room = limits_.max_batch_bytes;
  for (const int64_t size : sizes) {
    if (size > room) {
      return absl::InvalidArgumentError(
          absl::StrCat("the batch holds more than ", limits_.max_batch_bytes, " bytes"));
    }
    room -= std::max<int64_t>(size, 0);
  }
  return absl::OkStatus();
}

std::vector<absl::Status> ContentStore::Put(absl::Span<const NewBlob> blobs) {
  std::vector<absl::Status> statuses(blobs.size());
  std::vector<CheckedBlob> checked;
  std::vector<size_t> places;
  for (size_t i = 0; i < blobs.size(); ++i) {
    statuses[i] = blobs[i].id.size > kChunkBytes
                      ? absl::InvalidArgumentError("too large for a batch; use a byte stream")
                      : CheckContent(blobs[i]);
    if (!statuses[i].ok() || IsEmptyBlob(blobs[i].id)) continue;
    checked.push_back({blobs[i].id, blobs[i].bytes});
    places.push_back(i);
  }
  if (checked.empty()) return statuses;
  if (const absl::Status stored = keeper_.Put(checked); !stored.ok()) {
    for (const size_t place : places) statuses[place] = stored;
  }
  return statuses;
}

absl::StatusOr<std::unique_ptr<BlobWriter>> ContentStore::NewWriter(const BlobId& id) {
  if (id.size > limits_.max_blob_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(ToString(id), ": larger than the largest blob, ", limits_.max_blob_bytes));
  }
  return std::make_unique<BlobWriter>(&keeper_, id);
}

absl::Status ContentStore::Read(const BlobId& id, int64_t offset, int64_t limit, ByteSink sink) {
  if (limit < 0) return absl::InvalidArgumentError("read limit: negative");
  if (!IsEmptyBlob(id)) RETURN_IF_ERROR(keeper_.Use(id));
  if (offset < 0 || offset > id.size) {
    return absl::OutOfRangeError(
        absl::StrCat("read offset ", offset, " in a blob of ", id.size, " bytes"));
  }
  const int64_t rest = id.size - offset;
  const int64_t length = limit == 0 ? rest : std::min(limit, rest);
  if (length == 0) return absl::OkStatus();
  return keeper_.Read(id, offset, length, sink);
}

absl::StatusOr<std::string> ContentStore::Get(const BlobId& id) {
  std::string bytes;
  if (IsEmptyBlob(id)) return bytes;
  RETURN_IF_ERROR(keeper_.Use(id));
  bytes.reserve(id.size);
  RETURN_IF_ERROR(keeper_.Read(id, 0, id.size, [&](absl::string_view piece) {
    bytes.append(piece.data(), piece.size());
    return absl::OkStatus();
  }));
  return bytes;
}

absl::StatusOr<cas::ActionResult> ContentStore::GetActionResult(absl::string_view instance,
                                                                const BlobId& action) {
  absl::StatusOr<cas::ActionResult> result = FindActionResult(instance, action);
  ++(result.ok() ? counters_.results_found : counters_.results_missing);
  if (!absl::IsDataLoss(result.status())) return result;
  // A miss: whoever asks makes the result again, which replaces the damaged one.
  LogError("an action result is damaged", {{"error", result.status().ToString()}});
  return absl::NotFoundError(result.status().message());
}

absl::StatusOr<cas::ActionResult> ContentStore::FindActionResult(absl::string_view instance,
                                                                 const BlobId& action) {
  ASSIGN_OR_RETURN(const std::string bytes, keeper_.GetResult(instance, action));
  cas::ActionResult result;
  if (!result.ParseFromString(bytes)) {
    return absl::DataLossError(absl::StrCat("the result of ", ToString(action), " is damaged"));
  }
  ASSIGN_OR_RETURN(const std::vector<BlobId> named, NamedBlobs(result));
  ASSIGN_OR_RETURN(const std::vector<bool> held, keeper_.Find(named));
  for (size_t i = 0; i < named.size(); ++i) {
    if (!held[i] && !IsEmptyBlob(named[i])) {
      return absl::NotFoundError(absl::StrCat("the result of ", ToString(action), " names ",
                                              ToString(named[i]), ", which is gone"));
    }
  }
  return result;
}

absl::Status ContentStore::PutActionResult(absl::string_view instance, const BlobId& action,
                                           const cas::ActionResult& result) {
  RETURN_IF_ERROR(NamedBlobs(result).status());
  return keeper_.PutResult(instance, action, cas::SerializeDeterministically(result));
}

}  // namespace kernelmill::store
