#ifndef KERNELMILL_COMMON_FLAGS_SERVER_FLAGS_H_
#define KERNELMILL_COMMON_FLAGS_SERVER_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/access/credentials.h"
#include "common/base/log.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kernelmill::flags {

// What every server process takes on its command line.
struct ServerFlags {
  std::string version;  // what --version and kernelmill_build_info say
  std::string listen;   // gRPC
  std::string metrics;  // Prometheus, GET /metrics; empty serves none
  bool reflection = false;
  access::Identity identity;
  bool insecure = false;  // without TLS, and for more than this machine
  LogLevel log_level = LogLevel::kInfo;
  int drain_seconds = 30;  // the time from SIGTERM until what is still running is given up
};

// What a worker process takes besides.
struct WorkerFlags {
  std::string coordinator = "127.0.0.1:7070";
  std::string store = "127.0.0.1:7071";
  std::string name;                    // default: host name and process id
  int slots = 1;                       // tasks at a time
  double task_timeout_seconds = 1800;  // of one task; then the process ends. 0: none
};

// What a worker that serves plain calls takes besides: how many it works on at a time, so that its
// leased tasks go on. 0: no limit.
struct CallFlags {
  int64_t max_calls = 4;
  int64_t max_calls_per_caller = 2;
};

// Each flag may also be set by an environment variable, KERNELMILL_ and its name in capitals, or by
// the file that
// --config names; a flag goes before its variable, and that before the file. Adds --version too.
void AddServerFlags(CLI::App& app, ServerFlags* flags);
void AddWorkerFlags(CLI::App& app, WorkerFlags* flags);
void AddCallFlags(CLI::App& app, CallFlags* flags);

// Who the program is towards the servers that it calls: --tls-ca, --tls-cert, --tls-key,
// --token-file.
void AddIdentityFlags(CLI::App& app, access::Identity* identity);

// Makes a number of bytes of what the option is given: 10GB, 512MiB, 4096.
CLI::Option* AsBytes(CLI::Option* option);

// Reads the command line. Answers the exit status where the program ends with it: 0 after --help or
// --version, 2 where a flag is wrong, which is said on stderr.
std::optional<int> ParseFlags(CLI::App& app, int argc, char** argv);

// INVALID_ARGUMENT: the server would take calls from other machines without TLS, and nobody said
// --insecure.
absl::Status CheckListen(const ServerFlags& flags);
// Whether only this machine reaches the address: a loopback one, a Unix socket.
bool IsLoopback(absl::string_view address);

}  // namespace kernelmill::flags

#endif  // KERNELMILL_COMMON_FLAGS_SERVER_FLAGS_H_
