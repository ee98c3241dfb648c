#ifndef KERNELMILL_CLIENT_PROGRAM_COMMAND_LINE_H_
#define KERNELMILL_CLIENT_PROGRAM_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/commands/cluster.h"
#include "client/commands/console.h"
#include "common/access/credentials.h"
#include "common/base/log.h"
#include "common/rpc/server.h"

namespace kernelmill::client {

// What runs once the command line is read.
using Command = std::function<absl::StatusOr<int>(Console&)>;

// The command line of `kernelmill`: groups of commands (groups.h) add theirs to it. It has the
// flags that commands share, and knows which command was asked for. A group's own options live in
// what its commands hold.
class CommandLine {
 public:
  explicit CommandLine(rpc::TerminationSignal& signal);

  // A command without any flags yet.
  CLI::App* Add(const char* name, const char* help, Command command);
  // A group of commands, "store", and one in it.
  CLI::App* AddGroup(const char* name, const char* help);
  CLI::App* AddTo(CLI::App* group, const char* name, const char* help, Command command);

  // --json, --log-level, --config: of every command.
  void AddCommonFlags(CLI::App& command);
  // Those, and where the store is.
  void AddStoreFlags(CLI::App& command);
  // Those, and where the coordinator and the store are.
  void AddClusterFlags(CLI::App& command);

  // Reads the command line; the exit code where the program ends with it, as after --help.
  // INVALID_ARGUMENT: what is wrong, and where to read what is right.
  absl::StatusOr<std::optional<int>> Parse(int argc, char** argv);

  // Runs the command that was asked for. Call after Parse.
  absl::StatusOr<int> Run(Console& console);

  // Where its cluster was looked for; empty if nowhere.
  std::string Hint() const { return hint_ ? hint_() : ""; }
  // Of a command that asks another server than those of its cluster.
  void SetHint(std::string hint) {
    hint_ = [hint = std::move(hint)] { return hint; };
  }

  bool json() const { return json_; }
  const ClusterAddress& cluster() const { return cluster_; }
  rpc::TerminationSignal& signal() { return signal_; }

 private:
  void AddStoreAddress(CLI::App& command, const char* help);
  std::string WhatIsWrong(const std::string& found, int argc, char** argv) const;
  std::string ClusterHint() const;
  std::string StoreHint() const;
  const char* TlsHint() const;

  rpc::TerminationSignal& signal_;
  bool json_ = false;
  LogLevel log_level_ = LogLevel::kError;
  ClusterAddress cluster_;
  access::Identity identity_;
  double reconnect_seconds_ = 60;
  Command command_;                    // the one that was asked for
  std::function<std::string()> hint_;  // what to look at where its cluster is out of reach
  CLI::App app_;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_PROGRAM_COMMAND_LINE_H_
