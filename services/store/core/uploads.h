#ifndef KERNELMILL_SERVICES_STORE_CORE_UPLOADS_H_
#define KERNELMILL_SERVICES_STORE_CORE_UPLOADS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "services/store/core/content_store.h"
#include "services/store/core/resource_name.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// Undoes a compression piece by piece. Hands output on in small pieces, so that a sink which
// refuses more than it expects stops an expansion early. Not thread-safe.
class Decoder {
 public:
  virtual ~Decoder() = default;
  // INVALID_ARGUMENT: not well formed; or the sink's error.
  virtual absl::Status Decode(absl::string_view compressed, ByteSink out) = 0;
  // INVALID_ARGUMENT: the input ended in the middle.
  virtual absl::Status Finish() = 0;
};

using DecoderFactory = std::function<std::unique_ptr<Decoder>()>;

// One blob on its way in through a byte stream, kept while its client may want to resume it.
//
// Streams break without the server noticing, so a new stream may find the old one still attached:
// each attaches with a ticket of its own, and only the latest ticket writes. Thread-safe.
class Upload {
 public:
  // `decoder` is null for plain content. At most `max_received` bytes are taken from the wire.
  Upload(std::unique_ptr<BlobWriter> writer, std::unique_ptr<Decoder> decoder,
         int64_t max_received);

  // A ticket for a new stream; it voids the ticket before.
  uint64_t Attach();

  // Takes the bytes that the client sent for `offset`; those that had arrived before are skipped.
  // ABORTED: another stream took over. INVALID_ARGUMENT: the offset leaves a gap, or the content is
  // wrong. An upload that has failed() can only be begun anew.
  absl::Status Append(uint64_t ticket, int64_t offset, absl::string_view bytes);

  // Checks the whole and stores it.
  absl::Status Finish(uint64_t ticket);

  // Bytes received as they came over the wire; never goes down.
  int64_t received() const;
  bool failed() const;

 private:
  absl::Status Check(uint64_t ticket) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Take(absl::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Store() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int64_t max_received_;
  mutable absl::Mutex mutex_;
  const std::unique_ptr<BlobWriter> writer_ ABSL_PT_GUARDED_BY(mutex_);
  const std::unique_ptr<Decoder> decoder_ ABSL_PT_GUARDED_BY(mutex_);
  uint64_t ticket_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t received_ ABSL_GUARDED_BY(mutex_) = 0;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
};

// How far an upload is, in bytes of the wire. Complete: the store has the blob; `committed` is
// then its size, or -1 where the resource is compressed and was there before.
struct UploadState {
  int64_t committed = 0;
  bool complete = false;
};

class UploadStream;

// The uploads in progress by resource name. Their number is bounded, and what one caller may have
// of it, so that nobody fills it alone: where there is no room, the one that was idle longest goes,
// of the caller itself where its own share is used up, and its client begins anew. They live in
// memory; after a restart of the store every upload is unknown. Thread-safe; must outlive its
// streams.
class Uploads {
 public:
  struct Options {
    int max_open = 256;             // each holds up to kChunkBytes
    int max_open_per_caller = 128;  // of them
    // What a caller's open uploads may come to, by the sizes that their digests claim: it takes the
    // disk before anybody has seen the whole. One upload is always taken.
    int64_t max_bytes_per_caller = int64_t{8} << 30;
    absl::Duration max_idle = absl::Minutes(10);
    std::function<absl::Duration()> now;  // monotonic; null: the system's
  };

  // `store` must outlive this.
  Uploads(ContentStore* store, DecoderFactory zstd, Options options);

  // A stream to write `name` with: on the upload of that name, a new one, or, where the store has
  // the blob already, one that is complete. `caller`: whose share it takes. RESOURCE_EXHAUSTED: too
  // many streams are writing, the caller's own or all together.
  absl::StatusOr<std::unique_ptr<UploadStream>> Begin(const ResourceName& name,
                                                      const std::string& caller = "");

  // For metrics.
  struct Open {
    int64_t uploads = 0;
    int64_t bytes = 0;  // by the sizes that their digests claim
  };
  Open open();

  // NOT_FOUND: no such upload, and the store does not have the blob.
  absl::StatusOr<UploadState> Query(const ResourceName& name);

 private:
  friend class UploadStream;
  struct Entry {
    std::shared_ptr<Upload> upload;
    std::string caller;
    int64_t size = 0;  // that its digest claims
    int streams = 0;   // attached now
    absl::Duration last_used;
  };

  absl::StatusOr<bool> IsStored(const BlobId& id);
  absl::StatusOr<std::shared_ptr<Upload>> NewUpload(const ResourceName& name);
  // Drops what was idle for too long.
  void DropIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Drops the one of the caller (null: of all) that was idle longest; false: all are being written.
  bool DropOldest(const std::string* caller) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status MakeRoom(int64_t size, const std::string& caller)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether one more upload is within the caller's share. RESOURCE_EXHAUSTED: which limit it is.
  absl::Status CheckShare(int64_t size, const std::string& caller) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A stream is done with `upload`; `drop` forgets it.
  void Detach(const std::string& key, const Upload* upload, bool drop);

  ContentStore* const store_;
  const DecoderFactory zstd_;
  const Options options_;
  absl::Mutex mutex_;
  std::map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

// One client stream of an upload. Not thread-safe.
class UploadStream {
 public:
  ~UploadStream();
  UploadStream(const UploadStream&) = delete;
  UploadStream& operator=(const UploadStream&) = delete;

  UploadState state() const;

  // The first offset may lie within what has arrived; the others must follow on. Errors as of
  // Upload.
  absl::Status Append(int64_t offset, absl::string_view bytes);
  // The blob is durable once this is OK.
  absl::Status Finish();

 private:
  friend class Uploads;
  UploadStream(Uploads* uploads, std::string key, std::shared_ptr<Upload> upload);
  explicit UploadStream(const UploadState& complete) : state_(complete) {}

  Uploads* uploads_ = nullptr;  // null: complete from the beginning
  std::string key_;
  std::shared_ptr<Upload> upload_;
  uint64_t ticket_ = 0;
  int64_t next_offset_ = -1;  // -1: nothing came yet
  UploadState state_;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_UPLOADS_H_
