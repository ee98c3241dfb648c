#ifndef KERNELMILL_CLIENT_PROGRAM_COMMAND_LINE_H_
#define KERNELMILL_CLIENT_PROGRAM_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/commands/cluster.h"
#include "client/commands/commands.h"
#include "client/commands/console.h"
#include "client/console/style.h"
#include "client/program/command_table.h"
#include "common/base/log.h"
#include "common/rpc/server.h"

namespace kernelmill::client {

// A command, called after the command line is read. Returns the exit code.
using Command = std::function<absl::StatusOr<int>(Console&)>;

// The command line of `kernelmill`. The groups below add their commands to it. It owns the flags
// that commands share, and knows the chosen command. Not thread-safe.
class CommandLine {
 public:
  explicit CommandLine(rpc::TerminationSignal& signal);

  // Adds a command without flags.
  CLI::App* Add(const char* name, const char* help, Command command);
  // Adds a group of commands, such as "store", and a command in a group.
  CLI::App* AddGroup(const char* name, const char* help);
  CLI::App* AddTo(CLI::App* group, const char* name, const char* help, Command command);

  // Adds --json, --color, --log-level and --config, which every command has.
  void AddCommonFlags(CLI::App& command);
  // Adds the common flags and the store's address.
  void AddStoreFlags(CLI::App& command);
  // Adds the common flags and the coordinator's address.
  void AddCoordinatorFlags(CLI::App& command);
  // Adds the common flags and the addresses of the coordinator and the store.
  void AddClusterFlags(CLI::App& command);

  // Reads the command line. Returns an exit code if the program ends here, as after --help.
  // INVALID_ARGUMENT: the command line is wrong; the message names the right help.
  absl::StatusOr<std::optional<int>> Parse(int argc, char** argv);

  // Runs the chosen command. Call after Parse.
  absl::StatusOr<int> Run(Console& console);

  // Returns the addresses that the command called, for a person who cannot reach them; or nothing.
  std::string Hint() const { return hint_ ? hint_() : ""; }
  // Sets the hint of a command that calls a server outside of its cluster.
  void SetHint(std::string hint) {
    hint_ = [hint = std::move(hint)] { return hint; };
  }

  // Returns the table of all commands.
  std::vector<CommandEntry> Table() const { return ListCommands(app_); }
  // Returns the help of a command, given by its words; without words that of the program.
  // INVALID_ARGUMENT: no such command.
  absl::StatusOr<std::string> HelpFor(const std::vector<std::string>& words) const;
  // Returns what the program does, and its exit codes.
  static std::string Description();

  bool json() const { return json_; }
  ColorChoice color() const { return color_; }
  const ClusterAddress& cluster() const { return cluster_; }
  // Returns the signal, for a command that ends by itself when one comes. Others are ended.
  rpc::TerminationSignal& signal() {
    heeds_signal_ = true;
    return signal_;
  }
  bool heeds_signal() const { return heeds_signal_; }

 private:
  void AddStoreAddress(CLI::App& command, const char* help);
  void AddCoordinatorAddress(CLI::App& command);
  std::string ExplainParseError(const std::string& found, int argc, char** argv) const;
  std::string ClusterHint() const;
  std::string StoreHint() const;
  std::string CoordinatorHint() const;
  const char* TlsHint() const;

  rpc::TerminationSignal& signal_;
  std::atomic<bool> heeds_signal_{false};
  bool json_ = false;
  ColorChoice color_ = ColorChoice::kAuto;
  LogLevel log_level_ = LogLevel::kError;
  ClusterAddress cluster_;
  double reconnect_seconds_ = 60;
  Command command_;                    // the chosen one
  std::function<std::string()> hint_;  // for an error that the cluster is out of reach
  CLI::App app_;
};

// The groups of commands. Each function adds its commands with their options. The commands own
// their options, so that no two commands share one by accident.

void AddCrawl(CommandLine& line);            // crawl.cc: crawl
void AddJobCommands(CommandLine& line);      // jobs.cc: check, submit, watch, workers, report, ...
void AddDatasetCommands(CommandLine& line);  // dataset.cc: export, diff, similar, ...
void AddFileCommands(CommandLine& line);     // files.cc: init, extract, validate, cache, ...
void AddStoreCommands(CommandLine& line);    // store.cc: store stat, verify, gc, ...
void AddDevCommands(CommandLine& line);      // dev.cc: dev, page
void AddCoordinatorCommands(CommandLine& line);  // backups.cc: coordinator backup, ...

// Adds backup, prune and restore to the group of a server (backups.cc).
void AddBackupCommands(CommandLine& line, CLI::App* group, DataServer server);
void AddHelpCommands(CommandLine& line);  // help.cc: help, completion

// Adds the flags of a fetcher in this process: --allow-hosts, --package-index and so on (crawl.cc).
void AddHostFlags(CLI::App& command, HostOptions& options);

// Adds --trace, for commands that can write a job's timeline (crawl.cc).
void AddTrace(CLI::App& command, std::string* file);

// Adds --tree and --allow-failed, for commands that export (dataset.cc). They require --out.
void AddExportFlags(CLI::App& command, ExportTarget& target);

// Adds --toolchains and --unsafe-no-sandbox, for commands that compile in this process (crawl.cc).
void AddCompilerFlags(CLI::App& command, EmbeddedCompilerOptions& options);

// Returns the folder in which a crawl keeps its results by default (crawl.cc).
std::string DefaultDataDir();

// Runs `kernelmill`: reads the command line, runs its command, and returns the exit code.
int RunProgram(int argc, char** argv, rpc::TerminationSignal& signal);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_PROGRAM_COMMAND_LINE_H_
