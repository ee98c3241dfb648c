#ifndef KERNELMILL_SERVICES_STORE_CORE_UPLOAD_H_
#define KERNELMILL_SERVICES_STORE_CORE_UPLOAD_H_

#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "services/store/core/blob_writer.h"
#include "services/store/core/decoder.h"

namespace kernelmill::store {

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

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_UPLOAD_H_
