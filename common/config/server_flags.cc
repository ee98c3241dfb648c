#include "common/config/server_flags.h"

#include <CLI/CLI.hpp>
#include <map>

namespace kernelmill::config {

void AddServerFlags(CLI::App& app, ServerFlags* flags) {
  static const std::map<std::string, LogLevel> kLevels = {{"debug", LogLevel::kDebug},
                                                          {"info", LogLevel::kInfo},
                                                          {"warning", LogLevel::kWarning},
                                                          {"error", LogLevel::kError}};
  app.set_version_flag("--version", app.get_name() + " " + flags->version);
  app.add_option("--listen", flags->listen, "address to serve gRPC on, host:port")
      ->envname("KERNELMILL_LISTEN")
      ->capture_default_str();
  app.add_option("--metrics", flags->metrics, "address to serve GET /metrics on, host:port")
      ->envname("KERNELMILL_METRICS")
      ->capture_default_str();
  app.add_flag("--reflection", flags->reflection, "serve gRPC reflection")
      ->envname("KERNELMILL_REFLECTION");
  app.add_option("--log-level", flags->log_level, "debug, info, warning or error (default info)")
      ->transform(CLI::CheckedTransformer(kLevels, CLI::ignore_case))
      ->envname("KERNELMILL_LOG_LEVEL");
  app.add_option("--drain-seconds", flags->drain_seconds,
                 "how long running work may take to finish after SIGTERM")
      ->envname("KERNELMILL_DRAIN_SECONDS")
      ->check(CLI::Range(0, 3600))
      ->capture_default_str();
}

void AddWorkerFlags(CLI::App& app, WorkerFlags* flags) {
  app.add_option("--coordinator", flags->coordinator, "the coordinator's gRPC address")
      ->envname("KERNELMILL_COORDINATOR")
      ->capture_default_str();
  app.add_option("--store", flags->store, "the content store's gRPC address (REAPI v2)")
      ->envname("KERNELMILL_STORE")
      ->capture_default_str();
  app.add_option("--name", flags->name, "worker name in logs and reports (default host:pid)")
      ->envname("KERNELMILL_NAME");
  app.add_option(
         "--task-timeout-seconds", flags->task_timeout_seconds,
         "a task that runs longer hangs: the process ends, for its supervisor to start again; "
         "0 for no limit")
      ->envname("KERNELMILL_TASK_TIMEOUT_SECONDS")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--slots", flags->slots, "tasks to run at a time")
      ->envname("KERNELMILL_SLOTS")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
}

std::optional<int> ParseFlags(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {  // how CLI11 reports --help and bad flags alike
    return app.exit(error) == 0 ? 0 : 2;
  }
  return std::nullopt;
}

}  // namespace kernelmill::config
