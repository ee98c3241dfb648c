#ifndef KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_STORE_OWNER_NAME_H_
#define KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_STORE_OWNER_NAME_H_

#include <string>

#include "absl/status/statusor.h"

namespace kernelmill::coordinator {

// What tells this coordinator's holds from those of others that use the same store: eight random
// hexadecimal digits, made once and kept in the file `owner` of its data folder, which must exist.
// DATA_LOSS: the file holds something else; errors of files.
absl::StatusOr<std::string> OwnerName(const std::string& data_dir);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_STORE_OWNER_NAME_H_
