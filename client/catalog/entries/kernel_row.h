#ifndef KERNELMILL_CLIENT_CATALOG_ENTRIES_KERNEL_ROW_H_
#define KERNELMILL_CLIENT_CATALOG_ENTRIES_KERNEL_ROW_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "dataset/rows/row_reader.h"
#include "kernelmill/v1/rows.pb.h"

// Functions over a row of kernels.jsonl that the catalog needs beyond its fields. All texts of a
// row are UTF-8 and are as the repository has them: code that shows one must escape it.

namespace kernelmill::client {

// Returns INVALID_ARGUMENT if the row cannot be shown: its id, which names files of the site, is
// not 32 hexadecimal digits, its source is empty or its lines are not in order.
absl::Status CheckKernelRow(const v1::KernelRow& row);

// Calls visit(kernel, place) for each row of kernels.jsonl in the folder `dataset`, in its order.
// Errors are those of dataset::RowReader and of CheckKernelRow; errors of `visit` end it.
template <typename Visit>
absl::Status ForEachKernel(const std::string& dataset, const Visit& visit) {
  return dataset::ForEachRow<v1::KernelRow>(
      dataset, {}, [&visit](const v1::KernelRow& row, const dataset::RowPlace& place) {
        const absl::Status status = CheckKernelRow(row);
        return status.ok() ? visit(row, place) : status;
      });
}

int CountLines(const v1::KernelRow& row);

bool HasTag(const v1::KernelRow& row, absl::string_view tag);

// Returns the files of tests that launch the kernel, as far as the row says.
std::vector<std::string> ListTestFiles(const v1::KernelRow& row);

// Returns the name and the outcome of each check that has one, in the order of their names.
std::vector<std::pair<std::string, std::string>> ListChecks(const v1::KernelRow& row);

// Returns whether compilers refused the kernel's module for every target that was tried.
bool FailsToCompile(const v1::KernelRow& row);

// Returns what a kernel was compiled with, on one line: "x_ptr: *fp32 (guess:float), BLOCK=64
// (launch)".
std::string ToText(const v1::KernelRow::Compile::Signature& signature);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_ENTRIES_KERNEL_ROW_H_
