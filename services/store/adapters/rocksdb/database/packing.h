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

// Content as a record: compressed where that pays, with a checksum of its own. The log, the write
// buffer and the blob files then all handle the smaller bytes, by the thread that brought them, and
// reading checks them faster than RocksDB's checksum does. Borrows the content. Not thread-safe.
class PackedRecord {
 public:
  explicit PackedRecord(absl::string_view content);
  PackedRecord(const PackedRecord&) = delete;
  PackedRecord& operator=(const PackedRecord&) = delete;

  void Put(rocksdb::ColumnFamilyHandle* family, absl::string_view key,
           rocksdb::WriteBatch* batch) const;

 private:
  std::string compressed_;
  absl::string_view payload_;  // of compressed_, or the content
  std::string head_;
};

// The `size` bytes of content in a packed record: borrowed from it, or from `buffer`. DATA_LOSS: it
// is damaged.
absl::StatusOr<absl::string_view> Unpack(absl::string_view record, int64_t size,
                                         std::string* buffer);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_PACKING_H_
