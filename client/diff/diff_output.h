#ifndef KERNELMILL_CLIENT_DIFF_DIFF_OUTPUT_H_
#define KERNELMILL_CLIENT_DIFF_DIFF_OUTPUT_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "client/diff/dataset_diff.h"

namespace kernelmill::client {

// A diff for a person: the two datasets, what is another of their jobs, how many kernels changed
// and why, by repository, and at most `limit` kernels of each kind.
std::string DiffText(const ExportedDataset& a, const ExportedDataset& b, const DatasetDiff& diff,
                     const Texts& texts, size_t limit);

// A diff for a program: a line with all but the kernels, then one for each change of a kernel.
void WriteDiffJson(const ExportedDataset& a, const ExportedDataset& b, const DatasetDiff& diff,
                   const Texts& texts, const std::function<void(absl::string_view)>& write);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_DIFF_DIFF_OUTPUT_H_
