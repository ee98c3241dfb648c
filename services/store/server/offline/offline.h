#ifndef KERNELMILL_SERVICES_STORE_SERVER_OFFLINE_OFFLINE_H_
#define KERNELMILL_SERVICES_STORE_SERVER_OFFLINE_OFFLINE_H_

#include <string>

#include "absl/status/status.h"

namespace kernelmill::store {

// What is done to a store's folder while no store runs on it: for the client.

// Makes in `data_dir` the store whose backup is in `backup_dir`. Errors: see RestoreBackup.
absl::Status RestoreStore(const std::string& backup_dir, const std::string& data_dir);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_SERVER_OFFLINE_OFFLINE_H_
