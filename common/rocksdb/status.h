#ifndef KERNELMILL_COMMON_ROCKSDB_STATUS_H_
#define KERNELMILL_COMMON_ROCKSDB_STATUS_H_

#include <rocksdb/status.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kernelmill {

// Corruption -> DATA_LOSS; no space -> RESOURCE_EXHAUSTED; other I/O errors -> UNAVAILABLE, since
// the caller's request is not to blame; NotFound -> NOT_FOUND.
absl::Status FromRocksStatus(const rocksdb::Status& status, absl::string_view context);

// As above for the opening of `dir`: a lock that is held -> FAILED_PRECONDITION.
absl::Status FromOpenStatus(const rocksdb::Status& status, absl::string_view dir);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_ROCKSDB_STATUS_H_
