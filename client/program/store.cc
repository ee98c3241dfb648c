// The group `store`: maintenance of a running kernelmill-store. backups.cc adds its backups.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/commands/commands.h"
#include "client/program/command_line.h"
#include "common/worker/stage_table.h"

namespace kernelmill::client {
namespace {

// Adds a command on a running store.
CLI::App* AddOnStore(CommandLine& line, CLI::App* store, const char* name, const char* help,
                     Command command) {
  CLI::App* sub = line.AddTo(store, name, help, std::move(command));
  line.AddStoreFlags(*sub);
  return sub;
}

void AddStat(CommandLine& line, CLI::App* store) {
  AddOnStore(
      line, store, "stat", "show the store's size, its holds and its backups",
      [&line](Console& console) { return StoreStat(line.cluster(), line.signal(), console); });
}

void AddVerify(CommandLine& line, CLI::App* store) {
  const auto drop_damaged = std::make_shared<bool>(false);
  AddOnStore(line, store, "verify", "read every blob; exits 1 if one is damaged",
             [&line, drop_damaged](Console& console) {
               return StoreVerify(line.cluster(), *drop_damaged, line.signal(), console);
             })
      ->add_flag("--drop-damaged", *drop_damaged,
                 "drop the damaged blobs, so that the stages make them again");
}

void AddCollectGarbage(CommandLine& line, CLI::App* store) {
  const auto options = std::make_shared<GarbageOptions>();
  CLI::App* sub =
      line.AddTo(store, "gc", "drop the least recently used content that is not held",
                 [&line, options](Console& console) {
                   return StoreCollectGarbage(line.cluster(), *options, line.signal(), console);
                 });
  line.AddClusterFlags(*sub);  // the coordinator knows which datasets to keep
  sub->add_option(
         "--target-bytes", options->target_bytes,
         "stop when this much content is left, e.g. 20GB; 0: drop everything that is not held")
      ->required()
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
      ->check(CLI::NonNegativeNumber)
      ->option_text("SIZE REQUIRED");
  sub->add_flag(
      "--yes", options->yes,
      "drop content even if a job's dataset is not held, or the coordinator does not answer");
}

// A version without its stage would mean nothing, so --version needs --stage.
void AddForget(CommandLine& line, CLI::App* store) {
  const auto options = std::make_shared<ForgetOptions>();
  CLI::App* sub =
      AddOnStore(line, store, "forget",
                 "drop the results of a stage, a version or a worker, so that they are made again",
                 [&line, options](Console& console) {
                   return StoreForget(line.cluster(), *options, line.signal(), console);
                 });
  std::vector<std::string> stages;
  for (const worker::StageInfo& known : worker::StageTable()) stages.emplace_back(known.name);
  CLI::Option* stage =
      TakesWord(sub->add_option("--stage", options->stage, "results of this stage"), stages);
  sub->add_option("--version", options->version,
                  "results of this version of the stage (default: any)")
      ->needs(stage)
      ->check(CLI::PositiveNumber);
  sub->add_option("--worker", options->worker,
                  "results that this worker wrote: the name in its certificate or token; without "
                  "TLS its own name");
  sub->add_flag("--dry-run", options->dry_run, "count the results without dropping them");
}

}  // namespace

void AddStoreCommands(CommandLine& line) {
  CLI::App* store = line.AddGroup("store", "maintain a kernelmill-store");
  AddStat(line, store);
  AddVerify(line, store);
  AddCollectGarbage(line, store);
  AddForget(line, store);
  AddBackupCommands(line, store, DataServer::kStore);
}

}  // namespace kernelmill::client
