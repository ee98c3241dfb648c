#include "services/store/adapters/rocksdb/database/upgrades.h"

#include <rocksdb/write_batch.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/rocksdb/rocksdb.h"
#include "services/store/adapters/rocksdb/database/records.h"

namespace kernelmill::store {
namespace {

// Returns the total size of the action results.
absl::StatusOr<int64_t> SumResults(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* use) {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> it(db.NewIterator(options, use));
  const std::string prefix = UseKey(ResultItem(""));
  int64_t bytes = 0;
  for (it->Seek(prefix); it->Valid() && absl::StartsWith(ToView(it->key()), prefix); it->Next()) {
    ASSIGN_OR_RETURN(const UseValue value, ParseUse(ToView(it->value())));
    bytes += value.size;
  }
  RETURN_IF_ERROR(FromRocksStatus(it->status(), "reading the uses of results"));
  return bytes;
}

// Format 2 did not count the bytes of results: its counters have four numbers, the first four of
// format 3. The first counter gets the bytes of all results, the others none. One batch.
absl::Status CountResultBytes(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* use) {
  ASSIGN_OR_RETURN(int64_t bytes, SumResults(db, use));
  const std::string none = EncodeUsage(Usage());
  const size_t old_size = none.size() - sizeof(uint64_t);
  const std::unique_ptr<rocksdb::Iterator> it(db.NewIterator(rocksdb::ReadOptions(), use));
  rocksdb::WriteBatch batch;
  for (it->Seek(ToSlice(kCounterPrefix));
       it->Valid() && absl::StartsWith(ToView(it->key()), kCounterPrefix); it->Next()) {
    std::string value = it->value().ToString();
    // A killed step may have written the new size already.
    if (value.size() == old_size) value += none.substr(old_size);
    ASSIGN_OR_RETURN(Usage usage, ParseUsage(value));
    usage.result_bytes = bytes;
    bytes = 0;
    batch.Put(use, it->key(), EncodeUsage(usage));
  }
  RETURN_IF_ERROR(FromRocksStatus(it->status(), "reading the counters"));
  rocksdb::WriteOptions sync;
  sync.sync = true;
  return FromRocksStatus(db.Write(sync, &batch), "writing the counters");
}

}  // namespace

Formats StoreFormats(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* use) {
  return {.key = kFormatKey,
          .oldest = kOldestFormat,
          .steps = {{"count the bytes of action results",
                     [db, use] { return CountResultBytes(*db, use); }}}};
}

}  // namespace kernelmill::store
