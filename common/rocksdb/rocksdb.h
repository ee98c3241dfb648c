#ifndef KERNELMILL_COMMON_ROCKSDB_ROCKSDB_H_
#define KERNELMILL_COMMON_ROCKSDB_ROCKSDB_H_

#include <rocksdb/env.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kernelmill {

// What every user of RocksDB needs: its strings as ours, its errors as statuses, its log in ours.

inline rocksdb::Slice ToSlice(absl::string_view s) { return rocksdb::Slice(s.data(), s.size()); }
inline absl::string_view ToView(const rocksdb::Slice& s) {
  return absl::string_view(s.data(), s.size());
}

// Corruption -> DATA_LOSS; no space -> RESOURCE_EXHAUSTED; other I/O errors -> UNAVAILABLE, since
// the caller's request is not to blame; NotFound -> NOT_FOUND.
absl::Status FromRocksStatus(const rocksdb::Status& status, absl::string_view context);
// As above for the opening of `dir`: a lock that is held -> FAILED_PRECONDITION.
absl::Status FromOpenStatus(const rocksdb::Status& status, absl::string_view dir);

// Sends RocksDB's warnings and errors to the log of the process. RocksDB's own text log would stand
// on the very disk that it reports to be full; Debian's build, which has its assertions on, aborts
// there.
std::shared_ptr<rocksdb::Logger> NewProcessLogger();

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_ROCKSDB_ROCKSDB_H_
