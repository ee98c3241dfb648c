#ifndef KERNELMILL_CLIENT_CATALOG_ENTRIES_KERNEL_ROW_H_
#define KERNELMILL_CLIENT_CATALOG_ENTRIES_KERNEL_ROW_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/catalog/entries/catalog_kernel.h"

namespace kernelmill::client {

// A line of kernels.jsonl. Columns that the row has not, as one of an older export, are empty.
// INVALID_ARGUMENT: it is no row of a kernel.
absl::StatusOr<CatalogKernel> ParseKernelRow(absl::string_view line);

// Where a row stands in kernels.jsonl: ReadKernelAt finds it again.
using RowOffset = int64_t;

// Calls visit(kernel, offset) for each row of `dataset`, the folder of an export, in its order; one
// row is in memory at a time. INVALID_ARGUMENT: the folder holds no export, or a line is no row;
// DATA_LOSS: it cannot be read to its end. Errors of `visit` end it.
absl::Status ForEachKernel(
    const std::string& dataset,
    const std::function<absl::Status(const CatalogKernel&, RowOffset)>& visit);

// One row again.
absl::StatusOr<CatalogKernel> ReadKernelAt(const std::string& dataset, RowOffset offset);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_ENTRIES_KERNEL_ROW_H_
