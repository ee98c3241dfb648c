#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "services/cli/commands/commands.h"
#include "services/cli/program/groups.h"

namespace kernelmill::cli {
namespace {

// A command on a store that runs.
CLI::App* AddOnStore(CommandLine& line, CLI::App* store, const char* name, const char* help,
                     Command command) {
  CLI::App* sub = line.AddTo(store, name, help, std::move(command));
  line.AddStoreFlags(*sub);
  return sub;
}

void AddStat(CommandLine& line, CLI::App* store) {
  AddOnStore(line, store, "stat", "how full it is, and who holds what", [&line](Console& console) {
    return StoreStat(line.cluster(), line.signal(), console);
  });
}

void AddVerify(CommandLine& line, CLI::App* store) {
  const auto drop_damaged = std::make_shared<bool>(false);
  AddOnStore(line, store, "verify", "read every blob; exit code 1 if any is damaged",
             [&line, drop_damaged](Console& console) {
               return StoreVerify(line.cluster(), *drop_damaged, line.signal(), console);
             })
      ->add_flag("--drop-damaged", *drop_damaged,
                 "drop them, so that the stages which need them make them anew");
}

void AddCollectGarbage(CommandLine& line, CLI::App* store) {
  const auto target_bytes = std::make_shared<int64_t>(0);
  AddOnStore(line, store, "gc", "drop what was used least recently and nobody holds",
             [&line, target_bytes](Console& console) {
               return StoreCollectGarbage(line.cluster(), *target_bytes, line.signal(), console);
             })
      ->add_option("--target-bytes", *target_bytes,
                   "until no more content than this is left, e.g. 20GB; 0: all that is not held")
      ->required()
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
      ->check(CLI::NonNegativeNumber);
}

void AddBackup(CommandLine& line, CLI::App* store) {
  const auto name = std::make_shared<std::string>();
  AddOnStore(line, store, "backup", "write a copy into the store's folder for backups",
             [&line, name](Console& console) {
               return StoreBackup(line.cluster(), *name, line.signal(), console);
             })
      ->add_option("NAME", *name, "the copy's name; one that is there is brought up to date")
      ->required();
}

void AddRestore(CommandLine& line, CLI::App* store) {
  struct Options {
    std::string backup_dir;
    std::string data_dir;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* sub =
      line.AddTo(store, "restore", "make a store's data folder of a backup, on this machine",
                 [options](Console& console) {
                   return StoreRestore(options->backup_dir, options->data_dir, console);
                 });
  line.AddCommonFlags(*sub);
  sub->add_option("--from", options->backup_dir, "the backup's folder")->required();
  sub->add_option("--data", options->data_dir, "the folder to make; no store may run on it")
      ->required();
}

}  // namespace

void AddStoreCommands(CommandLine& line) {
  CLI::App* store = line.AddGroup("store", "look after a kernelmill-store");
  AddStat(line, store);
  AddVerify(line, store);
  AddCollectGarbage(line, store);
  AddBackup(line, store);
  AddRestore(line, store);
}

}  // namespace kernelmill::cli
