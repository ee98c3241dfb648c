// The commands `backup`, `prune` and `restore` of the groups `store` and `coordinator`.

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/commands/commands.h"
#include "client/program/command_line.h"

namespace kernelmill::client {
namespace {

void AddAddress(CommandLine& line, CLI::App& sub, DataServer server) {
  if (server == DataServer::kStore) return line.AddStoreFlags(sub);
  line.AddCoordinatorFlags(sub);
}

// Adds the flags that choose the backups to drop. `keep` is the name of the flag for their number.
void AddPruneFlags(CLI::App& sub, const char* keep, PruneOptions* options) {
  sub.add_option(keep, options->keep, "keep this many backups and drop older ones")
      ->check(CLI::Range(1, 10000));
  sub.add_option_function<double>(
         "--older-than-days",
         [options](const double& days) { options->max_age = days * absl::Hours(24); },
         "drop backups that are older")
      ->check(CLI::Range(0.001, 36500.0));
}

// A backup can prune older ones in the same call, as a timer needs it.
void AddBackup(CommandLine& line, CLI::App* group, DataServer server) {
  const auto options = std::make_shared<NewBackup>();
  CLI::App* sub = line.AddTo(
      group, "backup",
      absl::StrCat("write a backup into the ", group->get_name(), "'s folder for backups").c_str(),
      [&line, options, server](Console& console) {
        return MakeBackup(server, line.cluster(), *options, line.signal(), console);
      });
  AddAddress(line, *sub, server);
  sub->add_option("NAME", options->name, "the backup's name; an existing backup is updated")
      ->required();
  AddPruneFlags(*sub, "--prune", &options->prune);
}

void AddPrune(CommandLine& line, CLI::App* group, DataServer server) {
  const auto options = std::make_shared<PruneOptions>();
  CLI::App* sub =
      line.AddTo(group, "prune", "drop old backups", [&line, options, server](Console& console) {
        return PruneBackups(server, line.cluster(), *options, line.signal(), console);
      });
  AddAddress(line, *sub, server);
  AddPruneFlags(*sub, "--keep", options.get());
}

// No address: the server must be stopped.
void AddRestore(CommandLine& line, CLI::App* group, DataServer server) {
  struct Options {
    std::string backup_dir;
    std::string data_dir;
  };
  const auto options = std::make_shared<Options>();
  const std::string& name = group->get_name();
  CLI::App* sub = line.AddTo(
      group, "restore",
      absl::StrCat("make a ", name, "'s data folder from a backup, on this machine").c_str(),
      [options, server](Console& console) {
        return Restore(server, options->backup_dir, options->data_dir, console);
      });
  line.AddCommonFlags(*sub);
  TakesFolder(sub->add_option("--from", options->backup_dir, "the backup's folder"))->required();
  TakesFolder(
      sub->add_option("--data", options->data_dir,
                      absl::StrCat("the data folder to make; no ", name, " may be using it")))
      ->required();
}

}  // namespace

void AddBackupCommands(CommandLine& line, CLI::App* group, DataServer server) {
  AddBackup(line, group, server);
  AddPrune(line, group, server);
  AddRestore(line, group, server);
}

void AddCoordinatorCommands(CommandLine& line) {
  CLI::App* group = line.AddGroup("coordinator", "back up a kernelmill-coordinator");
  CLI::App* list =
      line.AddTo(group, "backups", "list the coordinator's backups", [&line](Console& console) {
        return ListCoordinatorBackups(line.cluster(), line.signal(), console);
      });
  line.AddCoordinatorFlags(*list);
  AddBackupCommands(line, group, DataServer::kCoordinator);
}

}  // namespace kernelmill::client
