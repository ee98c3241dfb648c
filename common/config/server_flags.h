#ifndef KERNELMILL_COMMON_CONFIG_SERVER_FLAGS_H_
#define KERNELMILL_COMMON_CONFIG_SERVER_FLAGS_H_

#include <optional>
#include <string>

#include "common/base/log.h"

namespace CLI {
class App;
}

namespace kernelmill::config {

// What every server process takes on its command line.
struct ServerFlags {
  std::string version;  // what --version and kernelmill_build_info say
  std::string listen;   // gRPC
  std::string metrics;  // Prometheus, GET /metrics; empty serves none
  bool reflection = false;
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

// Each flag may also be set by an environment variable, KERNELMILL_ and its name in capitals. Adds
// --version too.
void AddServerFlags(CLI::App& app, ServerFlags* flags);
void AddWorkerFlags(CLI::App& app, WorkerFlags* flags);

// Reads the command line. Answers the exit status where the program ends with it: 0 after --help or
// --version, 2 where a flag is wrong, which is said on stderr.
std::optional<int> ParseFlags(CLI::App& app, int argc, char** argv);

}  // namespace kernelmill::config

#endif  // KERNELMILL_COMMON_CONFIG_SERVER_FLAGS_H_
