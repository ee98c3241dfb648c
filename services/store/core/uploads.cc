#include "services/store/core/uploads.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/status.h"

namespace kernelmill::store {
namespace {

bool IsCompressed(const ResourceName& name) { return name.compression == Compression::kZstd; }

std::string MakeKey(const ResourceName& name) {
  // The instance may contain slashes, so it comes last.
  return absl::StrCat(name.upload, "/", ToString(name.blob), IsCompressed(name) ? "/zstd/" : "/",
                      name.instance);
}

// The REAPI reports -1 as the committed size of a compressed upload whose blob exists already.
UploadState StoredBefore(const ResourceName& name) {
  return {.committed = IsCompressed(name) ? -1 : name.blob.size, .complete = true};
}

// Returns a bound on the compressed size of content of this size. It ends endless streams of empty
// frames, which never exceed the declared size.
int64_t MaxCompressed(int64_t size) { return size + size / 8 + (64 << 10); }

}  // namespace

Upload::Upload(std::unique_ptr<BlobWriter> writer, std::unique_ptr<Decoder> decoder,
               int64_t max_received)
    : max_received_(max_received), writer_(std::move(writer)), decoder_(std::move(decoder)) {}

// A stream that attaches takes over the upload: the ticket of the stream before becomes invalid,
// and its next call fails with ABORTED. A client whose connection broke can resume at once, without
// waiting until the server notices.
uint64_t Upload::Attach() {
  absl::MutexLock lock(&mutex_);
  return ++ticket_;
}

// The first failure is final, since the writer may have taken a part of the bytes. The caller holds
// mutex_.
absl::Status Upload::Check(uint64_t ticket) const {
  if (ticket != ticket_) return absl::AbortedError("another stream took over this upload");
  if (finished_) return absl::AbortedError("this upload is finished");
  return failure_;
}

// Skips bytes that have arrived before, since a client may resume at any earlier offset.
// INVALID_ARGUMENT: the offset leaves a gap.
absl::Status Upload::Append(uint64_t ticket, int64_t offset, absl::string_view bytes) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(Check(ticket));
  if (offset < 0 || offset > received_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "write_offset ", offset, ": must be at most the ", received_, " bytes received"));
  }
  bytes.remove_prefix(std::min<int64_t>(received_ - offset, bytes.size()));
  failure_ = Take(bytes);
  return failure_;
}

absl::Status Upload::Take(absl::string_view bytes) {
  if (static_cast<int64_t>(bytes.size()) > max_received_ - received_) {
    return absl::InvalidArgumentError(
        absl::StrCat("received more than ", max_received_, " bytes for this blob"));
  }
  if (decoder_ == nullptr) {
    RETURN_IF_ERROR(writer_->Append(bytes));
  } else {
    BlobWriter& writer = *writer_;
    RETURN_IF_ERROR(decoder_->Decode(
        bytes, [&writer](absl::string_view piece) { return writer.Append(piece); }));
  }
  received_ += static_cast<int64_t>(bytes.size());
  return absl::OkStatus();
}

absl::Status Upload::Finish(uint64_t ticket) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(Check(ticket));
  failure_ = Store();
  finished_ = failure_.ok();
  return failure_;
}

absl::Status Upload::Store() {
  if (decoder_ != nullptr) RETURN_IF_ERROR(decoder_->Finish());
  return writer_->Finish();
}

int64_t Upload::received() const {
  absl::MutexLock lock(&mutex_);
  return received_;
}

bool Upload::failed() const {
  absl::MutexLock lock(&mutex_);
  return !failure_.ok();
}

Uploads::Uploads(ContentStore* store, DecoderFactory zstd, Options options)
    : store_(store), zstd_(std::move(zstd)), options_([&options] {
        if (!options.now) options.now = MonotonicNow;
        return std::move(options);
      }()) {}

absl::StatusOr<bool> Uploads::IsStored(const BlobId& id) {
  ASSIGN_OR_RETURN(const std::vector<bool> there, store_->Contains({id}));
  return there.front();
}

absl::StatusOr<std::shared_ptr<Upload>> Uploads::NewUpload(const ResourceName& name) {
  ASSIGN_OR_RETURN(std::unique_ptr<BlobWriter> writer, store_->NewWriter(name.blob));
  if (!IsCompressed(name)) {
    return std::make_shared<Upload>(std::move(writer), nullptr, name.blob.size);
  }
  return std::make_shared<Upload>(std::move(writer), zstd_(), MaxCompressed(name.blob.size));
}

// Begins or resumes an upload. If the blob exists, the stream is complete from the start.
absl::StatusOr<std::unique_ptr<UploadStream>> Uploads::Begin(const ResourceName& name,
                                                             const std::string& caller) {
  ASSIGN_OR_RETURN(const bool stored, IsStored(name.blob));
  if (stored) return std::unique_ptr<UploadStream>(new UploadStream(StoredBefore(name)));
  const std::string key = MakeKey(name);
  absl::MutexLock lock(&mutex_);
  auto at = entries_.find(key);
  if (at == entries_.end()) {
    RETURN_IF_ERROR(MakeRoom(name.blob.size, caller));
    ASSIGN_OR_RETURN(std::shared_ptr<Upload> upload, NewUpload(name));
    Entry entry{.upload = std::move(upload), .caller = caller, .size = name.blob.size};
    at = entries_.emplace(key, std::move(entry)).first;
  }
  at->second.streams += 1;
  at->second.last_used = options_.now();
  return std::unique_ptr<UploadStream>(new UploadStream(this, key, at->second.upload));
}

// This and the functions up to MakeRoom need mutex_. An upload with a stream is never dropped.
void Uploads::DropIdle() {
  const absl::Duration now = options_.now();
  std::erase_if(entries_, [&](const auto& item) {
    const Entry& entry = item.second;
    return entry.streams == 0 && now - entry.last_used > options_.max_idle;
  });
}

// Drops the least recently used upload without a stream; only one of `caller`, if given.
bool Uploads::DropOldest(const std::string* caller) {
  auto oldest = entries_.end();
  for (auto at = entries_.begin(); at != entries_.end(); ++at) {
    if (at->second.streams > 0 || (caller != nullptr && at->second.caller != *caller)) continue;
    if (oldest == entries_.end() || at->second.last_used < oldest->second.last_used) oldest = at;
  }
  if (oldest == entries_.end()) return false;
  entries_.erase(oldest);
  return true;
}

// A caller's first upload may have any size; otherwise a blob above the limit could never be
// uploaded.
absl::Status Uploads::CheckShare(int64_t size, const std::string& caller) const {
  int open = 0;
  int64_t bytes = 0;
  for (const auto& [key, entry] : entries_) {
    if (entry.caller != caller) continue;
    ++open;
    bytes += entry.size;
  }
  if (open >= options_.max_open_per_caller) {
    return absl::ResourceExhaustedError(
        absl::StrCat(caller, " has ", open,
                     " open uploads, the limit is reached (--max-uploads-per-caller); try again "
                     "later"));
  }
  if (open > 0 && size > options_.max_bytes_per_caller - bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the open uploads of ", caller, " have ", bytes, " bytes, the limit is ",
        options_.max_bytes_per_caller, " (--max-upload-bytes-per-caller); try again later"));
  }
  return absl::OkStatus();
}

// Makes room for one more upload: drops uploads that were idle for too long, then the caller's own
// oldest ones, then anyone's oldest. RESOURCE_EXHAUSTED: all remaining uploads (of the caller, or
// of everyone) have a stream.
absl::Status Uploads::MakeRoom(int64_t size, const std::string& caller) {
  DropIdle();
  for (absl::Status share = CheckShare(size, caller); !share.ok();
       share = CheckShare(size, caller)) {
    if (!DropOldest(&caller)) return share;
  }
  if (static_cast<int>(entries_.size()) < options_.max_open || DropOldest(nullptr)) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      options_.max_open, " uploads are active, the limit is reached; try again later"));
}

Uploads::Open Uploads::open() {
  absl::MutexLock lock(&mutex_);
  Open open;
  for (const auto& [key, entry] : entries_) {
    ++open.uploads;
    open.bytes += entry.size;
  }
  return open;
}

// The state of an upload is read without mutex_: its own lock may be held by a write to the disk.
absl::StatusOr<UploadState> Uploads::Query(const ResourceName& name) {
  ASSIGN_OR_RETURN(const bool stored, IsStored(name.blob));
  if (stored) return StoredBefore(name);
  std::shared_ptr<Upload> upload;
  {
    absl::MutexLock lock(&mutex_);
    const auto at = entries_.find(MakeKey(name));
    if (at == entries_.end()) return absl::NotFoundError("no such upload");
    upload = at->second.upload;
  }
  return UploadState{.committed = upload->received(), .complete = false};
}

// Ends a stream's part in the upload. The comparison with `upload` protects an upload that began
// under the same key after this one was dropped.
void Uploads::Detach(const std::string& key, const Upload* upload, bool drop) {
  std::shared_ptr<Upload> dropped;  // destroyed after the lock, since it may delete chunks
  absl::MutexLock lock(&mutex_);
  const auto at = entries_.find(key);
  if (at == entries_.end() || at->second.upload.get() != upload) return;
  at->second.streams -= 1;
  at->second.last_used = options_.now();
  if (!drop) return;
  dropped = std::move(at->second.upload);
  entries_.erase(at);
}

UploadStream::UploadStream(Uploads* uploads, std::string key, std::shared_ptr<Upload> upload)
    : uploads_(uploads),
      key_(std::move(key)),
      upload_(std::move(upload)),
      ticket_(upload_->Attach()) {}

UploadStream::~UploadStream() {
  if (uploads_ == nullptr) return;
  uploads_->Detach(key_, upload_.get(), state_.complete || upload_->failed());
}

UploadState UploadStream::state() const {
  if (state_.complete) return state_;
  return {.committed = upload_->received(), .complete = false};
}

// Only the first message of a stream may begin anywhere; the others must follow each other.
absl::Status UploadStream::Append(int64_t offset, absl::string_view bytes) {
  if (next_offset_ >= 0 && offset != next_offset_) {
    return absl::InvalidArgumentError(
        absl::StrCat("write_offset ", offset, ": must be ", next_offset_));
  }
  RETURN_IF_ERROR(upload_->Append(ticket_, offset, bytes));
  next_offset_ = offset + static_cast<int64_t>(bytes.size());
  return absl::OkStatus();
}

absl::Status UploadStream::Finish() {
  RETURN_IF_ERROR(upload_->Finish(ticket_));
  state_ = {.committed = upload_->received(), .complete = true};
  return absl::OkStatus();
}

}  // namespace kernelmill::store
