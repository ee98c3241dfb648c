#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_SLICES_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_SLICES_H_

#include <rocksdb/slice.h>

#include "absl/strings/string_view.h"

namespace kernelmill::store {

inline rocksdb::Slice ToSlice(absl::string_view s) { return rocksdb::Slice(s.data(), s.size()); }
inline absl::string_view ToView(const rocksdb::Slice& s) {
  return absl::string_view(s.data(), s.size());
}

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_SLICES_H_
