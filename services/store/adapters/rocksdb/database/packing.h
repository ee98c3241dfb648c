#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_PACKING_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_PACKING_H_

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::store {

// Content as a record: compressed if that pays, with its own checksum. The writer's thread
// compresses, so the log, the write buffer and the blob files all handle fewer bytes. Checking this
// checksum is faster than checking RocksDB's. Borrows the content. Not thread-safe.
class PackedRecord {
 public:
  explicit PackedRecord(absl::string_view content);
  PackedRecord(const PackedRecord&) = delete;
  PackedRecord& operator=(const PackedRecord&) = delete;

  void Put(rocksdb::ColumnFamilyHandle* family, absl::string_view key,
           rocksdb::WriteBatch* batch) const;

 private:
  std::string compressed_;
  absl::string_view payload_;  // compressed_ or the content
  std::string head_;
};

// Returns the content of a packed record, which must have `size` bytes. It is borrowed from the
// record or from `buffer`. DATA_LOSS: the record is damaged.
absl::StatusOr<absl::string_view> Unpack(absl::string_view record, int64_t size,
                                         std::string* buffer);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_PACKING_H_
