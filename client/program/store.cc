#include <memory>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "client/commands/commands.h"
#include "client/program/groups.h"

namespace kernelmill::client {
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
  const auto options = std::make_shared<GarbageOptions>();
  CLI::App* sub =
      line.AddTo(store, "gc", "drop what was used least recently and nobody holds",
                 [&line, options](Console& console) {
                   return StoreCollectGarbage(line.cluster(), *options, line.signal(), console);
                 });
  line.AddClusterFlags(*sub);  // the coordinator knows which datasets are kept
  sub->add_option("--target-bytes", options->target_bytes,
                  "until no more content than this is left, e.g. 20GB; 0: all that is not held")
      ->required()
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
      ->check(CLI::NonNegativeNumber);
  sub->add_flag("--yes", options->yes,
                "also where nobody holds all of a job's dataset, or the coordinator does not say");
}

// Which backups to drop. `keep` is the flag that says how many are left.
void AddPruneFlags(CLI::App& sub, const char* keep, PruneOptions* options) {
  sub.add_option(keep, options->keep, "drop the oldest backups, until this many are left")
      ->check(CLI::Range(1, 10000));
  sub.add_option_function<double>(
         "--older-than-days",
         [options](const double& days) { options->max_age = days * absl::Hours(24); },
         "drop the backups that are older")
      ->check(CLI::Range(0.001, 36500.0));
}

void AddForget(CommandLine& line, CLI::App* store) {
  const auto options = std::make_shared<ForgetOptions>();
  CLI::App* sub =
      AddOnStore(line, store, "forget",
                 "drop the results of a stage, a version or a worker; they are made anew",
                 [&line, options](Console& console) {
                   return StoreForget(line.cluster(), *options, line.signal(), console);
                 });
  CLI::Option* stage = sub->add_option("--stage", options->stage, "of this stage, e.g. extract");
  sub->add_option("--version", options->version, "of this version of the stage; default: any")
      ->needs(stage)
      ->check(CLI::PositiveNumber);
  sub->add_option(
      "--worker", options->worker,
      "that this worker wrote: by certificate or token; without TLS as it calls itself");
  sub->add_flag("--dry-run", options->dry_run, "count them, and drop none");
}

void AddBackup(CommandLine& line, CLI::App* store) {
  struct Options {
    std::string name;
    PruneOptions prune;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* sub = AddOnStore(
      line, store, "backup", "write a copy into the store's folder for backups",
      [&line, options](Console& console) {
        return StoreBackup(line.cluster(), options->name, options->prune, line.signal(), console);
      });
  sub->add_option("NAME", options->name, "the copy's name; one that is there is brought up to date")
      ->required();
  AddPruneFlags(*sub, "--prune", &options->prune);
}

void AddPrune(CommandLine& line, CLI::App* store) {
  const auto options = std::make_shared<PruneOptions>();
  CLI::App* sub =
      AddOnStore(line, store, "prune", "drop old backups", [&line, options](Console& console) {
        return StorePrune(line.cluster(), *options, line.signal(), console);
      });
  AddPruneFlags(*sub, "--keep", options.get());
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
  AddForget(line, store);
  AddBackup(line, store);
  AddPrune(line, store);
  AddRestore(line, store);
}

}  // namespace kernelmill::client
