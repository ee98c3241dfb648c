#ifndef KERNELMILL_CLIENT_CATALOG_SEARCH_ROW_FILES_H_
#define KERNELMILL_CLIENT_CATALOG_SEARCH_ROW_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/catalog/entries/temp_records.h"

namespace kernelmill::client {

// Writes what results show of kernels, a line each without a line end, as data/rows/N.js, and
// answers the place of each file's first row in `order`, which has all kernels: what one search
// shows lies in few files.
absl::StatusOr<std::vector<uint32_t>> WriteRowFiles(const std::string& site, TempRecords& rows,
                                                    const std::vector<uint32_t>& order);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_SEARCH_ROW_FILES_H_
