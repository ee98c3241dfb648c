#ifndef KERNELMILL_CLIENT_COMMANDS_EXPORTED_KERNELS_H_
#define KERNELMILL_CLIENT_COMMANDS_EXPORTED_KERNELS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/evaluate/kernel_services.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::client {

// Of each of the kernels the most similar row of the split train in the kernels.jsonl of a folder
// that an export wrote, where one is as similar as `threshold`. Of the kernels `source`, `name` and
// `dsl` are read. Compares every row, by what deduplication compares; reads the file twice, and
// holds some hundred rows at a time. INVALID_ARGUMENT: the folder holds no export, or a row is
// none.
absl::StatusOr<std::vector<std::optional<DatasetMatch>>> FindInExport(
    const std::string& folder, const std::vector<v1::Kernel>& kernels, double threshold);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_EXPORTED_KERNELS_H_
