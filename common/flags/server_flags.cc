#include "common/flags/server_flags.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/flags/settings_file.h"
#include "common/text/safe_text.h"
#include "common/words/suggestion.h"

// Each setting has an environment variable beside its flag, so that containers need no command
// line. A value on the command line wins over the variable, which wins over the settings file,
// which wins over the default.
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
                 "file with the SHA-256 of each accepted token, one per line")
      ->envname("KERNELMILL_TOKENS")
      ->check(CLI::ExistingFile);
  app.add_flag("--insecure", flags->insecure,
               "allow calls from other machines without TLS: anyone who can reach the address may "
               "do everything")
      ->envname("KERNELMILL_INSECURE");
  app.add_option("--log-level", flags->log_level, "debug, info, warning or error (default info)")
      ->transform(CLI::CheckedTransformer(kLevels, CLI::ignore_case))
      ->envname("KERNELMILL_LOG_LEVEL");
  app.add_option("--drain-seconds", flags->drain_seconds,
                 "time for running work to finish after SIGTERM")
      ->envname("KERNELMILL_DRAIN_SECONDS")
      ->check(CLI::Range(0, 3600))
      ->capture_default_str();
}

void AddIdentityFlags(CLI::App& app, access::Identity* identity) {
  app.add_option("--tls-ca", identity->authority,
                 "PEM file with the authorities that sign peers' certificates; enables TLS")
      ->envname("KERNELMILL_TLS_CA")
      ->check(CLI::ExistingFile);
  app.add_option("--tls-cert", identity->certificate, "PEM file with this program's certificate")
      ->envname("KERNELMILL_TLS_CERT")
      ->check(CLI::ExistingFile);
  app.add_option("--tls-key", identity->key, "PEM file with the certificate's key")
      ->envname("KERNELMILL_TLS_KEY")
      ->check(CLI::ExistingFile);
  app.add_option("--token-file", identity->token,
                 "file with a token, which servers accept instead of a certificate")
      ->envname("KERNELMILL_TOKEN_FILE")
      ->check(CLI::ExistingFile);
}

// Lets an option take sizes such as 10GB, with 1024 as the base.
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
         "if a task runs longer, the process exits and its supervisor must restart it; 0 for no "
         "limit")
      ->envname("KERNELMILL_TASK_TIMEOUT_SECONDS")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--slots", flags->slots, "tasks to run at a time")
      ->envname("KERNELMILL_SLOTS")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
}

// For servers that work for callers directly, such as Extract.
void AddCallFlags(CLI::App& app, CallFlags* flags) {
  app.add_option("--max-calls", flags->max_calls,
                 "unary calls to serve at a time; further calls are refused; 0 for no limit")
      ->envname("KERNELMILL_MAX_CALLS")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--max-calls-per-caller", flags->max_calls_per_caller,
                 "the same limit for one caller")
      ->envname("KERNELMILL_MAX_CALLS_PER_CALLER")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
}

// A word after "--" is no flag, and neither is a negative number.
std::string FindUnknownFlag(const CLI::App& command, int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const absl::string_view word = argv[i];
    if (word == "--") break;
    if (word.size() < 2 || word[0] != '-' || absl::ascii_isdigit(word[1]) || word[1] == '.')
      continue;
    const std::string name(word.substr(0, word.find('=')));
    if (command.get_option_no_throw(name) != nullptr) continue;
    std::vector<std::string> known;
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& long_name : option->get_lnames()) known.push_back("--" + long_name);
    }
    return absl::StrCat(name, ": unknown option", DidYouMean(name, known));
  }
  return "";
}

// Returns the exit status if the program must end now: 0 after --help or --version, 2 after an
// error, as shells do for wrong usage. The settings file is applied first, since it only sets
// defaults.
std::optional<int> ParseFlags(CLI::App& app, int argc, char** argv) {
  AddSettingsFlag(app);
  if (const absl::Status status = ApplySettingsFile(app, argc, argv); !status.ok()) {
    std::fprintf(stderr, "%s\n", SafeText(status.message()).c_str());
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {  // CLI11 reports both --help and bad flags this way
    if (error.get_exit_code() == 0) return app.exit(error);
    const std::string unknown = FindUnknownFlag(app, argc, argv);
    std::fprintf(stderr, "%s\nRun with --help for more information.\n",
                 SafeText(unknown.empty() ? error.what() : unknown).c_str());
    return 2;
  }
  return std::nullopt;
}

// Decides by the text and resolves no name: a name that resolves to this machine today may not
// tomorrow.
bool IsLoopback(absl::string_view address) {
  if (absl::StartsWith(address, "unix:")) return true;
  const absl::string_view host = address.substr(0, address.rfind(':'));
  return host == "localhost" || host == "[::1]" || absl::StartsWith(host, "127.");
}

// INVALID_ARGUMENT: the server would accept calls of other machines without TLS, and the user did
// not ask for that.
absl::Status CheckListen(const ServerFlags& flags) {
  if (flags.insecure || flags.identity.uses_tls() || IsLoopback(flags.listen)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--listen ", flags.listen,
                   " is reachable from other machines: set --tls-cert, --tls-key and --tls-ca, or "
                   "--insecure to allow anyone who can reach it"));
}

void AddBackupFlags(CLI::App& app, std::string* dir, int* max_backups) {
  app.add_option("--backups", *dir, "directory for backups; without it, backups are refused")
      ->envname("KERNELMILL_BACKUPS");
  app.add_option("--max-backups", *max_backups,
                 "largest number of backups; a further one is refused")
      ->envname("KERNELMILL_MAX_BACKUPS")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
}

void AddGrantKeyFlag(CLI::App& app, std::string* path) {
  app.add_option(
         "--grant-key", *path,
         "file with a secret of at least 32 bytes that the coordinator and the store share; "
         "a worker can then write only the results of tasks that it leased")
      ->envname("KERNELMILL_GRANT_KEY");
}

// Returns null if no key is configured: grants are then neither made nor checked.
absl::StatusOr<std::shared_ptr<access::GrantKey>> OpenGrantKey(const std::string& path) {
  if (path.empty()) return std::shared_ptr<access::GrantKey>();
  absl::StatusOr<std::unique_ptr<access::GrantKey>> key = access::GrantKey::Open(path);
  if (key.ok()) return std::shared_ptr<access::GrantKey>(*std::move(key));
  return absl::InvalidArgumentError(absl::StrCat("--grant-key: ", key.status().message()));
}

}  // namespace kernelmill::flags
