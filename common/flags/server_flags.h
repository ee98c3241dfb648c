#ifndef KERNELMILL_COMMON_FLAGS_SERVER_FLAGS_H_
#define KERNELMILL_COMMON_FLAGS_SERVER_FLAGS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/access/credentials.h"
#include "common/access/grants.h"
#include "common/base/log.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kernelmill::flags {

// The flags of every server process.
struct ServerFlags {
  std::string version;  // for --version and kernelmill_build_info
  std::string listen;   // the address for gRPC
  std::string metrics;  // the address for GET /metrics; empty: none
  bool reflection = false;
  access::Identity identity;
  bool insecure = false;  // allows non-loopback addresses without TLS
  LogLevel log_level = LogLevel::kInfo;
  int drain_seconds = 30;  // the time from SIGTERM until running work is given up
};

// The additional flags of a worker process.
struct WorkerFlags {
  std::string coordinator = "127.0.0.1:7070";
  std::string store = "127.0.0.1:7071";
  std::string name;                    // default: host name and process id
  int slots = 1;                       // tasks at a time
  double task_timeout_seconds = 1800;  // for one task, then the process exits; 0: no limit
};

// The additional flags of a worker that serves unary calls: limits that leave room for its leased
// tasks. 0: no limit.
struct CallFlags {
  int64_t max_calls = 4;
  int64_t max_calls_per_caller = 2;
};

// Add the flags, and --version. Each flag can also be set by an environment variable, KERNELMILL_
// and its name in capitals, or in the file of --config. The flag takes precedence over the
// variable, and the variable over the file.
void AddServerFlags(CLI::App& app, ServerFlags* flags);
void AddWorkerFlags(CLI::App& app, WorkerFlags* flags);
void AddCallFlags(CLI::App& app, CallFlags* flags);

// Adds the flags of the program's identity: --tls-ca, --tls-cert, --tls-key, --token-file.
void AddIdentityFlags(CLI::App& app, access::Identity* identity);

// Makes the option accept sizes: 10GB, 512MiB, 4096.
CLI::Option* AsBytes(CLI::Option* option);

// Parses the command line. Returns an exit status if the program must exit: 0 after --help or
// --version, 2 after an error, which is printed on stderr.
std::optional<int> ParseFlags(CLI::App& app, int argc, char** argv);

// Returns an error for the first flag that the command does not have, with the flag that may have
// been meant; empty if it has all of them.
std::string FindUnknownFlag(const CLI::App& command, int argc, const char* const* argv);

// Checks the listen address. INVALID_ARGUMENT: it is not a loopback address, and neither TLS nor
// --insecure is set.
absl::Status CheckListen(const ServerFlags& flags);
// Returns whether only this machine can reach the address: loopback or a Unix socket.
bool IsLoopback(absl::string_view address);

// Adds --backups and --max-backups, flags of the coordinator and the store.
void AddBackupFlags(CLI::App& app, std::string* dir, int* max_backups);

// Adds --grant-key, a flag of the coordinator and the store.
void AddGrantKeyFlag(CLI::App& app, std::string* path);
// Opens the grant key; null if `path` is empty. INVALID_ARGUMENT: the file is missing or invalid;
// the message names the flag.
absl::StatusOr<std::shared_ptr<access::GrantKey>> OpenGrantKey(const std::string& path);

}  // namespace kernelmill::flags

#endif  // KERNELMILL_COMMON_FLAGS_SERVER_FLAGS_H_
