#include "common/flags/server_flags.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/flags/settings_file.h"

namespace kernelmill::flags {

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
  AddIdentityFlags(app, &flags->identity);
  app.add_option("--tokens", flags->identity.tokens,
                 "file with the SHA-256 of each token that callers may have, one a line")
      ->envname("KERNELMILL_TOKENS")
      ->check(CLI::ExistingFile);
  app.add_flag("--insecure", flags->insecure,
               "take calls from other machines without TLS: whoever reaches the address may do "
               "everything")
      ->envname("KERNELMILL_INSECURE");
  app.add_option("--log-level", flags->log_level, "debug, info, warning or error (default info)")
      ->transform(CLI::CheckedTransformer(kLevels, CLI::ignore_case))
      ->envname("KERNELMILL_LOG_LEVEL");
  app.add_option("--drain-seconds", flags->drain_seconds,
                 "how long running work may take to finish after SIGTERM")
      ->envname("KERNELMILL_DRAIN_SECONDS")
      ->check(CLI::Range(0, 3600))
      ->capture_default_str();
}

void AddIdentityFlags(CLI::App& app, access::Identity* identity) {
  app.add_option("--tls-ca", identity->authority,
                 "PEM file with the authorities that sign the others' certificates; TLS is used "
                 "where this is given")
      ->envname("KERNELMILL_TLS_CA")
      ->check(CLI::ExistingFile);
  app.add_option("--tls-cert", identity->certificate, "PEM file with this program's certificate")
      ->envname("KERNELMILL_TLS_CERT")
      ->check(CLI::ExistingFile);
  app.add_option("--tls-key", identity->key, "PEM file with the certificate's key")
      ->envname("KERNELMILL_TLS_KEY")
      ->check(CLI::ExistingFile);
  app.add_option("--token-file", identity->token,
                 "file with a token, which stands for a certificate towards servers")
      ->envname("KERNELMILL_TOKEN_FILE")
      ->check(CLI::ExistingFile);
}

CLI::Option* AsBytes(CLI::Option* option) {
  return option->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))->check(CLI::NonNegativeNumber);
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

void AddCallFlags(CLI::App& app, CallFlags* flags) {
  app.add_option("--max-calls", flags->max_calls,
                 "plain calls to work on at a time; a further one is refused; 0 for no limit")
      ->envname("KERNELMILL_MAX_CALLS")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--max-calls-per-caller", flags->max_calls_per_caller, "likewise, of one caller")
      ->envname("KERNELMILL_MAX_CALLS_PER_CALLER")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
}

std::optional<int> ParseFlags(CLI::App& app, int argc, char** argv) {
  AddSettingsFlag(app);
  if (const absl::Status status = ApplySettingsFile(app, argc, argv); !status.ok()) {
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {  // how CLI11 reports --help and bad flags alike
    return app.exit(error) == 0 ? 0 : 2;
  }
  return std::nullopt;
}

bool IsLoopback(absl::string_view address) {
  if (absl::StartsWith(address, "unix:")) return true;
  const absl::string_view host = address.substr(0, address.rfind(':'));
  return host == "localhost" || host == "[::1]" || absl::StartsWith(host, "127.");
}

absl::Status CheckListen(const ServerFlags& flags) {
  if (flags.insecure || flags.identity.uses_tls() || IsLoopback(flags.listen)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--listen ", flags.listen,
                   " is open to other machines: give --tls-cert, --tls-key and --tls-ca, or say "
                   "--insecure to let everyone in who reaches it"));
}

}  // namespace kernelmill::flags
