#ifndef KERNELMILL_SERVICES_CLI_COMMANDS_STORE_COMMANDS_H_
#define KERNELMILL_SERVICES_CLI_COMMANDS_STORE_COMMANDS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/rpc/server.h"
#include "services/cli/commands/console.h"

namespace kernelmill::cli {

// The commands of `kernelmill store`, on the store at `address`. Each answers the exit code, or the
// error that stopped it. CANCELLED: by SIGINT or SIGTERM. UNIMPLEMENTED: a store of another make.

absl::StatusOr<int> StoreStat(const std::string& address, rpc::TerminationSignal& signal,
                              Console& console);
// Exit code 1 if blobs are damaged, also where they were dropped: what they were is gone.
absl::StatusOr<int> StoreVerify(const std::string& address, bool drop_damaged,
                                rpc::TerminationSignal& signal, Console& console);
absl::StatusOr<int> StoreCollectGarbage(const std::string& address, int64_t target_bytes,
                                        rpc::TerminationSignal& signal, Console& console);
absl::StatusOr<int> StoreBackup(const std::string& address, const std::string& name,
                                rpc::TerminationSignal& signal, Console& console);
// Makes a store's data folder of a backup's folder, both on this machine; no store runs on it.
absl::StatusOr<int> StoreRestore(const std::string& backup_dir, const std::string& data_dir,
                                 Console& console);

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_COMMANDS_STORE_COMMANDS_H_
