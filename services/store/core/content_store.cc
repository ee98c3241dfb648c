#include "services/store/core/content_store.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/cas/result_origin.h"

namespace kernelmill::store {
namespace {

constexpr size_t kListAtOnce = 1024;
constexpr size_t kForgetAtOnce = 256;  // bounds how long DeleteResults blocks other calls
constexpr int64_t kBytesPerReport = 64 << 20;

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

// Returns the blobs that a result names: output files, trees and roots of output directories,
// stdout and stderr. A result is served only while all of them exist. INVALID_ARGUMENT: a digest is
// malformed.
absl::StatusOr<std::vector<BlobId>> NamedBlobs(const cas::ActionResult& result) {
  std::vector<BlobId> named;
  const auto add = [&named](const cas::Digest& digest, const std::string& where) -> absl::Status {
    const absl::StatusOr<BlobId> id = ToBlobId(digest);
    if (!id.ok()) return Annotate(id.status(), where);
    named.push_back(*id);
    return absl::OkStatus();
  };
  for (const auto& file : result.output_files()) {
    RETURN_IF_ERROR(add(file.digest(), absl::StrCat("output file ", JsonString(file.path()))));
  }
  for (const auto& directory : result.output_directories()) {
    const std::string where = absl::StrCat("output directory ", JsonString(directory.path()));
    // A client may name the tree, the root, or both.
    if (!directory.has_tree_digest() && !directory.has_root_directory_digest()) {
      return absl::InvalidArgumentError(absl::StrCat(where, ": no digest"));
    }
    if (directory.has_tree_digest()) RETURN_IF_ERROR(add(directory.tree_digest(), where));
    if (directory.has_root_directory_digest()) {
      RETURN_IF_ERROR(add(directory.root_directory_digest(), where));
    }
  }
  if (result.has_stdout_digest()) RETURN_IF_ERROR(add(result.stdout_digest(), "stdout"));
  if (result.has_stderr_digest()) RETURN_IF_ERROR(add(result.stderr_digest(), "stderr"));
  return named;
}

// A filter without stage and worker would match every result; that is more likely an error than a
// wish.
absl::Status CheckFilter(const ResultFilter& filter) {
  if (filter.version < 0) return absl::InvalidArgumentError("version: must not be negative");
  if (filter.version != 0 && filter.stage.empty()) {
    return absl::InvalidArgumentError("version: needs a stage");
  }
  if (filter.stage.empty() && filter.worker.empty()) {
    return absl::InvalidArgumentError("give a stage or a worker");
  }
  return absl::OkStatus();
}

// Returns whether the filter selects this result. Results of an unknown form are left alone. A
// stage also selects its sub-stages ("compile" selects "compile/x").
bool Matches(const ResultFilter& filter, absl::string_view bytes) {
  cas::ActionResult result;
  if (!result.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return false;
  const cas::ResultOrigin origin = cas::ReadOrigin(result);
  const bool of_stage = filter.stage.empty() || origin.stage == filter.stage ||
                        absl::StartsWith(origin.stage, absl::StrCat(filter.stage, "/"));
  return of_stage && (filter.version == 0 || origin.version == filter.version) &&
         (filter.worker.empty() || origin.worker == filter.worker);
}

enum class Condition { kGood, kDamaged, kGone };

// Reads the blob and compares it with its digest.
absl::StatusOr<Condition> Examine(Blobs& blobs, const BlobId& id) {
  Sha256Stream hash;
  int64_t size = 0;
  const absl::Status read = blobs.Read(id, 0, id.size, [&](const Piece& piece) {
    hash.Update(piece.bytes);
    size += static_cast<int64_t>(piece.bytes.size());
    return absl::OkStatus();
  });
  if (absl::IsDataLoss(read)) return Condition::kDamaged;
  if (absl::IsNotFound(read)) return Condition::kGone;
  RETURN_IF_ERROR(read);
  const bool good = size == id.size && hash.FinishHex() == HexHash(id);
  return good ? Condition::kGood : Condition::kDamaged;
}

}  // namespace

// Collects the content in chunks of kChunkBytes. Content of at most one chunk stays in memory and
// is put like a blob of a batch; longer content goes to the storage chunk by chunk, so that memory
// holds one chunk of each upload. Nothing is visible before Finish has compared size and hash.
absl::Status BlobWriter::Append(absl::string_view bytes) {
  if (static_cast<int64_t>(bytes.size()) > id_.size - received_) {
    return absl::InvalidArgumentError(
        absl::StrCat(ToString(id_), ": the content is larger than its digest says"));
  }
  hash_.Update(bytes);
  received_ += static_cast<int64_t>(bytes.size());
  // Reserved at the first bytes, not in the constructor: an upload that sends nothing takes no
  // memory.
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
    ASSIGN_OR_RETURN(staged_, store_->Stage());
  }
  RETURN_IF_ERROR(store_->Append(*staged_, chunk_));
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
  if (id_.size <= kChunkBytes) return store_->Put({{id_, chunk_}});
  if (!chunk_.empty()) RETURN_IF_ERROR(FlushChunk());
  return store_->Commit(*staged_, id_);
}

ContentStore::ContentStore(std::unique_ptr<Storage> storage, const Limits& limits,
                           const RetentionOptions& retention)
    : limits_(limits), lru_(std::move(storage), retention) {}

// The empty blob exists without being stored, as the REAPI demands.
absl::StatusOr<std::vector<bool>> ContentStore::Contains(absl::Span<const BlobId> ids) {
  ASSIGN_OR_RETURN(std::vector<bool> there, lru_.Find(ids));
  int64_t found = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (IsEmptyBlob(ids[i])) there[i] = true;
    found += there[i];
  }
  counters_.blobs_found += found;
  counters_.blobs_missing += static_cast<int64_t>(ids.size()) - found;
  return there;
}

absl::Status ContentStore::CheckBatch(absl::Span<const int64_t> sizes) const {
  int64_t room = limits_.max_batch_bytes;
  for (const int64_t size : sizes) {
    if (size > room) {
      return absl::InvalidArgumentError(
          absl::StrCat("the batch is larger than ", limits_.max_batch_bytes, " bytes"));
    }
    room -= std::max<int64_t>(size, 0);
  }
  return absl::OkStatus();
}

// Returns a status for each blob. All good blobs share one write and so one sync.
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
  if (const absl::Status stored = lru_.Put(checked); !stored.ok()) {
    for (const size_t place : places) statuses[place] = stored;
  }
  return statuses;
}

absl::StatusOr<std::unique_ptr<BlobWriter>> ContentStore::NewWriter(const BlobId& id) {
  if (id.size > limits_.max_blob_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(ToString(id), ": larger than the limit of ",
                                                   limits_.max_blob_bytes,
                                                   " bytes (--max-blob-bytes)"));
  }
  return std::make_unique<BlobWriter>(&lru_, id);
}

// OUT_OF_RANGE: the offset is beyond the end. A limit of 0 means no limit.
absl::Status ContentStore::Read(const BlobId& id, int64_t offset, int64_t limit, PieceSink sink) {
  if (limit < 0) return absl::InvalidArgumentError("read_limit: must not be negative");
  if (!IsEmptyBlob(id)) RETURN_IF_ERROR(lru_.Touch(id));
  if (offset < 0 || offset > id.size) {
    return absl::OutOfRangeError(
        absl::StrCat("read offset ", offset, " in a blob of ", id.size, " bytes"));
  }
  const int64_t rest = id.size - offset;
  const int64_t length = limit == 0 ? rest : std::min(limit, rest);
  if (length == 0) return absl::OkStatus();
  return lru_.Read(id, offset, length, sink);
}

absl::StatusOr<std::string> ContentStore::Get(const BlobId& id) {
  std::string bytes;
  if (IsEmptyBlob(id)) return bytes;
  RETURN_IF_ERROR(lru_.Touch(id));
  bytes.reserve(id.size);
  RETURN_IF_ERROR(lru_.Read(id, 0, id.size, [&](const Piece& piece) {
    bytes.append(piece.bytes.data(), piece.bytes.size());
    return absl::OkStatus();
  }));
  return bytes;
}

absl::StatusOr<cas::ActionResult> ContentStore::GetActionResult(absl::string_view instance,
                                                                const BlobId& action) {
  absl::StatusOr<cas::ActionResult> result = FindActionResult(instance, action);
  ++(result.ok() ? counters_.results_found : counters_.results_missing);
  if (!absl::IsDataLoss(result.status())) return result;
  // Answered as a miss: the client then runs the action again, which replaces the damaged result.
  LogError("an action result is damaged", {{"error", result.status().ToString()}});
  return absl::NotFoundError(result.status().message());
}

// Returns the result if all blobs that it names exist. Find records a use of each, so a client that
// got the result has time to read them.
absl::StatusOr<cas::ActionResult> ContentStore::FindActionResult(absl::string_view instance,
                                                                 const BlobId& action) {
  ASSIGN_OR_RETURN(const std::string bytes, lru_.GetResult(instance, action));
  cas::ActionResult result;
  if (!result.ParseFromString(bytes)) {
    return absl::DataLossError(absl::StrCat("the result of ", ToString(action), " is damaged"));
  }
  ASSIGN_OR_RETURN(const std::vector<BlobId> named, NamedBlobs(result));
  ASSIGN_OR_RETURN(const std::vector<bool> there, lru_.Find(named));
  for (size_t i = 0; i < named.size(); ++i) {
    if (!there[i] && !IsEmptyBlob(named[i])) {
      return absl::NotFoundError(absl::StrCat("the result of ", ToString(action), " names ",
                                              ToString(named[i]), ", which no longer exists"));
    }
  }
  return result;
}

// The named blobs are not looked up here: GetActionResult does it, when it matters.
absl::Status ContentStore::PutActionResult(absl::string_view instance, const BlobId& action,
                                           const cas::ActionResult& result) {
  RETURN_IF_ERROR(NamedBlobs(result).status());
  return lru_.PutResult(instance, action, cas::SerializeDeterministically(result));
}

// Walks all results in pages, and deletes the matching ones of a page before it reads the next.
// Results that are written meanwhile may be missed. `go_on` is asked before each page; its error
// ends the walk.
absl::StatusOr<int64_t> ContentStore::ForgetResults(const ResultFilter& filter, bool dry_run,
                                                    absl::FunctionRef<absl::Status()> go_on) {
  RETURN_IF_ERROR(CheckFilter(filter));
  int64_t forgotten = 0;
  std::optional<ResultId> last;
  do {
    RETURN_IF_ERROR(go_on());
    std::vector<ResultId> matching;
    const auto look = [&](const ResultId& id, absl::string_view bytes) {
      if (Matches(filter, bytes)) matching.push_back(id);
    };
    const std::optional<ResultId> after = std::move(last);
    ASSIGN_OR_RETURN(
        last, lru_.blobs().ListResults(after.has_value() ? &*after : nullptr, kForgetAtOnce, look));
    if (dry_run) {
      forgotten += static_cast<int64_t>(matching.size());
    } else if (!matching.empty()) {
      ASSIGN_OR_RETURN(const int64_t deleted, lru_.DeleteResults(matching));
      forgotten += deleted;
    }
  } while (last.has_value());
  return forgotten;
}

// Reads every blob, in the order of their hashes, and reports progress every kBytesPerReport.
// Eviction and writes go on meanwhile; blobs written after their place was passed are not read.
absl::Status ContentStore::Verify(bool delete_damaged,
                                  absl::FunctionRef<absl::Status(const Verified&)> report) {
  Verified progress;
  std::vector<BlobId> damaged;
  int64_t reported = 0;
  BlobId last;
  const BlobId* after = nullptr;
  for (;;) {
    ASSIGN_OR_RETURN(const std::vector<BlobId> ids, lru_.blobs().List(after, kListAtOnce));
    if (ids.empty()) break;
    for (const BlobId& id : ids) {
      ASSIGN_OR_RETURN(const bool is_damaged, VerifyBlob(id, delete_damaged));
      ++progress.blobs;
      progress.bytes += id.size;
      if (is_damaged) damaged.push_back(id);
      if (progress.bytes - reported < kBytesPerReport) continue;
      RETURN_IF_ERROR(report(progress));
      reported = progress.bytes;
    }
    last = ids.back();
    after = &last;
  }
  progress.finished = true;
  progress.damaged = std::move(damaged);
  return report(progress);
}

// Returns whether the blob is damaged.
//
// Two kinds of damage exist. If the storage's checksum does not match, reading fails; MarkDamaged
// confirms that under the blob's lock, since the blob may have been evicted or put again meanwhile.
// If the checksum matches but the digest does not, only a second examination can confirm it.
absl::StatusOr<bool> ContentStore::VerifyBlob(const BlobId& id, bool delete_damaged) {
  ASSIGN_OR_RETURN(Condition condition, Examine(lru_.blobs(), id));
  if (condition == Condition::kGood) return false;

  lru_.MarkDamaged(id, /*confirmed=*/false);
  if (condition == Condition::kDamaged && !absl::IsDataLoss(lru_.Touch(id))) {
    // The checksum matches, the digest does not.
    ASSIGN_OR_RETURN(condition, Examine(lru_.blobs(), id));
    if (condition != Condition::kDamaged) return false;
    lru_.MarkDamaged(id, /*confirmed=*/true);
  }
  if (!absl::IsDataLoss(lru_.Touch(id))) return false;
  if (delete_damaged) RETURN_IF_ERROR(lru_.DeleteDamaged(id));
  return true;
}

}  // namespace kernelmill::store
