#ifndef KERNELMILL_COMMON_ROCKSDB_ROCKSDB_H_
#define KERNELMILL_COMMON_ROCKSDB_ROCKSDB_H_

#include <rocksdb/env.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kernelmill {

// Helpers for every user of RocksDB: conversions of strings and errors, and a logger.

inline rocksdb::Slice ToSlice(absl::string_view s) { return rocksdb::Slice(s.data(), s.size()); }
inline absl::string_view ToView(const rocksdb::Slice& s) {
  return absl::string_view(s.data(), s.size());
}

// Converts a status, with `context` before its message. Corruption is DATA_LOSS, no space is
// RESOURCE_EXHAUSTED, NotFound is NOT_FOUND. Other I/O errors are UNAVAILABLE, since the caller's
// request is not at fault.
absl::Status FromRocksStatus(const rocksdb::Status& status, absl::string_view context);
// Converts the status of opening `dir`: as above, and a held lock is FAILED_PRECONDITION.
absl::Status FromOpenStatus(const rocksdb::Status& status, absl::string_view dir);

// Creates a folder that only its owner may enter (mode 0700), and the missing folders above it: the
// data folder of a crawl is the one above the store's. An existing folder keeps its mode.
absl::Status CreatePrivateFolder(const std::string& dir);

// Makes `dir` ready for DB::Open: CreatePrivateFolder, and a check of its files. DATA_LOSS: it has
// files of a database but no CURRENT, so DB::Open would create a new database and delete them.
absl::Status PrepareDatabaseFolder(const std::string& dir);

// Makes a logger that sends RocksDB's warnings and errors to the process's log. RocksDB's own log
// file would be on the disk that it reports as full; Debian's build, which has assertions enabled,
// aborts when it cannot write it.
std::shared_ptr<rocksdb::Logger> NewProcessLogger();

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_ROCKSDB_ROCKSDB_H_
