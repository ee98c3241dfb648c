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

// A streaming decompressor. It passes its output in small pieces, so that a sink can stop a
// decompression bomb early. Not thread-safe.
class Decoder {
 public:
  virtual ~Decoder() = default;
  // Decompresses one piece. INVALID_ARGUMENT: malformed. Also returns the sink's errors.
  virtual absl::Status Decode(absl::string_view compressed, ByteSink out) = 0;
  // Ends the input. INVALID_ARGUMENT: it is incomplete.
  virtual absl::Status Finish() = 0;
};

using DecoderFactory = std::function<std::unique_ptr<Decoder>()>;

// One blob that is uploaded through byte streams. It outlives a broken stream, so that the client
// can resume it. Thread-safe.
//
// A server may not notice that a stream broke, so the old stream can still be attached when the
// next one comes. Each stream attaches with its own ticket, and only the latest ticket may write.
class Upload {
 public:
  // `decoder`: null for plain content. Accepts at most `max_received` bytes from the wire.
  Upload(std::unique_ptr<BlobWriter> writer, std::unique_ptr<Decoder> decoder,
         int64_t max_received);

  // Returns a ticket for a new stream and invalidates the previous ticket.
  uint64_t Attach();

  // Takes the bytes from `offset` on; bytes that arrived before are skipped. ABORTED: another
  // stream took over. INVALID_ARGUMENT: the offset leaves a gap, or the content is wrong. After
  // failed() the client must start a new upload.
  absl::Status Append(uint64_t ticket, int64_t offset, absl::string_view bytes);

  // Checks the whole content and stores it.
  absl::Status Finish(uint64_t ticket);

  // Bytes received from the wire, compressed if the upload is; never decreases.
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

// The progress of an upload.
struct UploadState {
  // Bytes received from the wire. If the blob existed before the upload: its size, or -1 if the
  // resource is compressed.
  int64_t committed = 0;
  bool complete = false;  // true if the store has the blob
};

class UploadStream;

// The uploads in progress, by resource name. Both their number and each caller's share are bounded.
// When a bound is reached, the upload that was idle longest is dropped (the caller's own, if its
// share is used up), and its client starts again. Uploads live in memory and do not survive a
// restart. Must outlive its streams. Thread-safe.
class Uploads {
 public:
  struct Options {
    int max_open = 256;  // each holds up to kChunkBytes in memory
    int max_open_per_caller = 128;
    // The total size of a caller's open uploads, by the sizes that their digests claim. Chunks take
    // disk space before the digest can be checked. One upload is always accepted.
    int64_t max_bytes_per_caller = int64_t{8} << 30;
    absl::Duration max_idle = absl::Minutes(10);
    std::function<absl::Duration()> now;  // monotonic; null: the system's
  };

  // `store` must outlive this.
  Uploads(ContentStore* store, DecoderFactory zstd, Options options);

  // Returns a stream that writes to the upload `name`, which is created if it does not exist. If
  // the store already has the blob, the stream is complete. The upload counts for `caller`'s share.
  // RESOURCE_EXHAUSTED: the caller, or all callers together, have too many active uploads.
  absl::StatusOr<std::unique_ptr<UploadStream>> Begin(const ResourceName& name,
                                                      const std::string& caller = "");

  // Counts of open uploads, for metrics.
  struct Open {
    int64_t uploads = 0;
    int64_t bytes = 0;  // by the sizes that their digests claim
  };
  Open open();

  // Returns the progress of an upload. NOT_FOUND: no such upload, and the store has no such blob.
  absl::StatusOr<UploadState> Query(const ResourceName& name);

 private:
  friend class UploadStream;
  struct Entry {
    std::shared_ptr<Upload> upload;
    std::string caller;
    int64_t size = 0;  // by its digest
    int streams = 0;   // attached streams
    absl::Duration last_used;
  };

  absl::StatusOr<bool> IsStored(const BlobId& id);
  absl::StatusOr<std::shared_ptr<Upload>> NewUpload(const ResourceName& name);
  // Drops the uploads that were idle for longer than max_idle.
  void DropIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Drops the caller's (null: anybody's) upload that was idle longest. Returns false if all have
  // streams.
  bool DropOldest(const std::string* caller) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status MakeRoom(int64_t size, const std::string& caller)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Checks that one more upload is within the caller's share. RESOURCE_EXHAUSTED: it is not.
  absl::Status CheckShare(int64_t size, const std::string& caller) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Detaches a stream from `upload`; `drop` also forgets the upload.
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

  // Takes bytes. The first offset may be within the received bytes; each later one must be the end
  // of the previous bytes. Errors: see Upload::Append.
  absl::Status Append(int64_t offset, absl::string_view bytes);
  // Checks and stores the blob, durably.
  absl::Status Finish();

 private:
  friend class Uploads;
  UploadStream(Uploads* uploads, std::string key, std::shared_ptr<Upload> upload);
  explicit UploadStream(const UploadState& complete) : state_(complete) {}

  Uploads* uploads_ = nullptr;  // null: the blob existed before
  std::string key_;
  std::shared_ptr<Upload> upload_;
  uint64_t ticket_ = 0;
  int64_t next_offset_ = -1;  // -1: no bytes yet
  UploadState state_;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_UPLOADS_H_
