// kernelmill: the client. `crawl` runs a whole cluster in this process; the other commands speak to
// one elsewhere.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/access/credentials.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/config/server_flags.h"
#include "common/config/settings_file.h"
#include "common/rpc/server.h"
#include "common/version/version.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/console.h"
#include "services/cli/core/exit_code.h"

namespace kernelmill {
namespace {

constexpr char kUsage[] =
    "Turns source repositories into a training-ready dataset of GPU kernels.\n\n"
    "Exit codes: 0 done; 1 finished, but some inputs failed (they are listed), or it could not be\n"
    "finished; 2 the request is wrong; 3 the cluster is out of reach.";

struct Flags {
  bool json = false;
  LogLevel log_level = LogLevel::kError;
  cli::ClusterAddress cluster;
  access::Identity identity;
  cli::CrawlOptions crawl;
  cli::SubmitOptions submit;
  std::string job;
  cli::RetryOptions retry;
  cli::SimilarOptions similar;
  std::string out_dir;
  std::vector<std::string> paths;
  double reconnect_seconds = 60;
  bool drop_damaged = false;
  cli::GarbageOptions garbage;
  std::string backup;  // a name, or for restore a folder
  cli::PruneOptions prune;
  double prune_days = 0;
  std::string data_dir;
};

using Command = std::function<absl::StatusOr<int>(cli::Console&)>;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Where a crawl keeps its results unless it is told.
std::string DefaultDataDir() {
  const std::string data = Environment("KERNELMILL_DATA");
  if (!data.empty()) return data;
  const std::string cache = Environment("XDG_CACHE_HOME");
  if (!cache.empty()) return cache + "/kernelmill";
  const std::string home = Environment("HOME");
  return home.empty() ? "kernelmill.data" : home + "/.cache/kernelmill";
}

void AddCommonFlags(CLI::App& command, Flags* flags) {
  static const std::map<std::string, LogLevel> kLevels = {{"debug", LogLevel::kDebug},
                                                          {"info", LogLevel::kInfo},
                                                          {"warning", LogLevel::kWarning},
                                                          {"error", LogLevel::kError},
                                                          {"none", LogLevel::kNone}};
  command.add_flag("--json", flags->json, "write JSON: results to stdout, events to stderr");
  command
      .add_option("--log-level", flags->log_level,
                  "debug, info, warning, error or none (default error)")
      ->transform(CLI::CheckedTransformer(kLevels, CLI::ignore_case))
      ->option_text("LEVEL (Env:KERNELMILL_LOG_LEVEL)")
      ->envname("KERNELMILL_LOG_LEVEL");
  config::AddSettingsFlag(command);
}

void AddStoreFlags(CLI::App& command, Flags* flags, const char* help) {
  config::AddIdentityFlags(command, &flags->identity);
  command.add_option("--store", flags->cluster.store, help)
      ->envname("KERNELMILL_STORE")
      ->capture_default_str();
}

// For the commands that speak to a cluster elsewhere.
void AddClusterFlags(CLI::App& command, Flags* flags) {
  AddCommonFlags(command, flags);
  command.add_option("--coordinator", flags->cluster.coordinator, "the coordinator, host:port")
      ->envname("KERNELMILL_COORDINATOR")
      ->capture_default_str();
  AddStoreFlags(command, flags, "the content store (REAPI v2), host:port");
  command
      .add_option(
          "--reconnect-seconds", flags->reconnect_seconds,
          "how long to try to reach a coordinator that does not answer; commands that do not\n"
          "wait for a job give up after 10 at the latest")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
}

class Program {
 public:
  explicit Program(rpc::TerminationSignal& signal) : signal_(signal) {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", "kernelmill " + Version());
    AddCrawl();
    AddSubmit();
    AddWatch();
    AddJobs();
    AddReport();
    AddCancel();
    AddRetry();
    AddDelete();
    AddExport();
    AddSimilar();
    AddFiles("extract", "list the kernels in files and folders", cli::ExtractFiles);
    AddFiles("validate", "check the kernels in files and folders; exit code 1 if any is rejected",
             cli::ValidateFiles);
    AddStore();
  }

  int Run(int argc, char** argv) {
    if (const absl::Status status = config::ApplySettingsFile(app_, argc, argv); !status.ok()) {
      return cli::Console(flags_.json).Fail(status);
    }
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
      if (e.get_exit_code() == 0) return app_.exit(e);  // --help, --version
      return cli::Console(flags_.json)
          .Fail(absl::InvalidArgumentError(WhatIsWrong(e.what(), argc, argv)));
    }
    ConfigureLog("kernelmill", flags_.log_level);
    flags_.cluster.reconnect_timeout = absl::Seconds(flags_.reconnect_seconds);
    cli::Console console(flags_.json);
    const absl::StatusOr<int> code = RunCommand(console);
    if (!code.ok()) {
      const int exit_code = console.Fail(code.status());
      if (exit_code == cli::kOutOfReach && hint_) console.Note(hint_());
      return exit_code;
    }
    const absl::Status written = console.Flush();
    return written.ok() ? *code : console.Fail(written);
  }

 private:
  absl::StatusOr<int> RunCommand(cli::Console& console) {
    ASSIGN_OR_RETURN(flags_.cluster.credentials, access::ChannelCredentials(flags_.identity));
    return command_(console);
  }

  // What CLI11 found wrong, and where to read what is right.
  std::string WhatIsWrong(const std::string& found, int argc, char** argv) const {
    const std::string first = argc > 1 ? argv[1] : "";
    if (first.empty()) return "no command is given; kernelmill --help lists them";
    if (!commands_.contains(first)) {
      return absl::StrCat(first, first[0] == '-' ? ": no such option" : ": no such command",
                          "; see kernelmill --help");
    }
    if (first == "store" && store_->get_subcommands().empty()) {
      return absl::StrCat(argc > 2 ? argv[2] : "store",
                          argc > 2 ? ": no such command of the store" : ": a command is needed",
                          "; see kernelmill store --help");
    }
    return absl::StrCat(found, "; see kernelmill ", first, " --help");
  }

  // Where a cluster was looked for.
  std::string ClusterHint() const {
    return absl::StrCat("The coordinator was looked for at ", flags_.cluster.coordinator,
                        " (--coordinator, KERNELMILL_COORDINATOR) and the store at ",
                        flags_.cluster.store, " (--store, KERNELMILL_STORE), ", TlsHint(),
                        ". `kernelmill crawl` needs neither.");
  }
  std::string StoreHint() const {
    return absl::StrCat("The store was looked for at ", flags_.cluster.store,
                        " (--store, KERNELMILL_STORE), ", TlsHint(), ".");
  }
  const char* TlsHint() const {
    return flags_.identity.uses_tls()
               ? "over TLS; one that closes the connection has refused this certificate, and its "
                 "log says why"
               : "without TLS (--tls-ca)";
  }

  // The options of commands that speak to a cluster elsewhere.
  void AddCluster(CLI::App& sub) {
    AddClusterFlags(sub, &flags_);
    sub.preparse_callback([this](size_t) { hint_ = [this] { return ClusterHint(); }; });
  }

  CLI::App* Add(const char* name, const char* help, Command command) {
    commands_.insert(name);
    CLI::App* sub = app_.add_subcommand(name, help);
    // At once: else CLI11 would take the environment of every command after the flags of this one.
    sub->immediate_callback();
    sub->callback([this, command = std::move(command)] { command_ = command; });
    return sub;
  }

  void AddCrawl() {
    CLI::App* sub =
        Add("crawl", "run a job in this process and write its dataset",
            [this](cli::Console& console) { return cli::Crawl(flags_.crawl, signal_, console); });
    cli::CrawlOptions& options = flags_.crawl;
    options.data_dir = DefaultDataDir();
    options.workers = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    sub->add_option("JOB.yaml", options.job_file, "the job file")->required();
    sub->add_option("--out", options.out_dir, "the folder to write the dataset to")->required();
    sub->add_option("--data", options.data_dir, "the folder that keeps results for the next run")
        ->envname("KERNELMILL_DATA")
        ->capture_default_str();
    sub->add_option("--workers", options.workers, "tasks to run at a time")
        ->check(CLI::Range(1, 256))
        ->capture_default_str();
    sub->add_option("--package-index", options.package_index,
                    "the index to take Python packages from (default: as pip)")
        ->envname("KERNELMILL_PACKAGE_INDEX");
    sub->add_option("--github-api", options.github_api,
                    "URL of the REST API that searches ask (default: GitHub's own)")
        ->envname("KERNELMILL_GITHUB_API");
    sub->add_option("--github-token-file", options.github_token_file,
                    "file with a token for it; code search needs one (default: none)")
        ->envname("KERNELMILL_GITHUB_TOKEN_FILE")
        ->check(CLI::ExistingFile);
    AddCommonFlags(*sub, &flags_);
  }

  void AddSubmit() {
    CLI::App* sub = Add("submit", "hand a job to a cluster", [this](cli::Console& console) {
      return cli::Submit(flags_.cluster, flags_.submit, signal_, console);
    });
    sub->add_option("JOB.yaml", flags_.submit.job_file, "the job file")->required();
    sub->add_option(
           "--priority", flags_.submit.priority,
           "of the jobs that wait for workers, those with the highest go first: -100 to 100")
        ->check(CLI::Range(-100, 100))
        ->capture_default_str();
    sub->add_flag("--wait", flags_.submit.wait, "watch the job to its end");
    sub->add_option("--out", flags_.submit.out_dir, "wait, and write the dataset to this folder");
    AddCluster(*sub);
  }

  void AddWatch() {
    CLI::App* sub = Add("watch", "follow a job to its end", [this](cli::Console& console) {
      return cli::Watch(flags_.cluster, flags_.job, signal_, console);
    });
    sub->add_option("JOB", flags_.job, "the job's name, as submit printed it")->required();
    AddCluster(*sub);
  }

  void AddJobs() {
    CLI::App* sub = Add("jobs", "list the jobs, newest first", [this](cli::Console& console) {
      return cli::ListJobs(flags_.cluster, signal_, console);
    });
    AddCluster(*sub);
  }

  void AddReport() {
    AddOnJob("report", "print a job's ledger: every file and kernel by what became of it",
             cli::Report);
  }

  void AddCancel() { AddOnJob("cancel", "end a running job", cli::Cancel); }

  void AddRetry() {
    CLI::App* sub = Add("retry", "run a job that has ended again; only what failed is done anew",
                        [this](cli::Console& console) {
                          return cli::Retry(flags_.cluster, flags_.retry, signal_, console);
                        });
    sub->add_option("JOB", flags_.retry.job, "the job's name")->required();
    sub->add_flag("--wait", flags_.retry.wait, "watch the job to its end");
    sub->add_option("--out", flags_.retry.out_dir, "wait, and write the dataset to this folder");
    AddCluster(*sub);
  }

  void AddDelete() {
    AddOnJob("delete", "forget a job that has ended, and let the store drop its dataset",
             cli::Delete);
  }

  void AddExport() {
    CLI::App* sub =
        Add("export", "write a job's dataset to a folder", [this](cli::Console& console) {
          return cli::Export(flags_.cluster, flags_.job, flags_.out_dir, signal_, console);
        });
    sub->add_option("JOB", flags_.job, "the job's name")->required();
    sub->add_option("--out", flags_.out_dir, "the folder to write to")->required();
    AddCluster(*sub);
  }

  void AddSimilar() {
    CLI::App* sub = Add("similar", "list the kernels of a dataset that are most like a file's",
                        [this](cli::Console& console) {
                          cli::SimilarOptions options = flags_.similar;
                          if (!options.out_dir.empty() && options.data_dir.empty()) {
                            options.data_dir = DefaultDataDir();
                          }
                          return cli::Similar(flags_.cluster, options, signal_, console);
                        });
    cli::SimilarOptions& options = flags_.similar;
    sub->add_option("FILE", options.file,
                    "a file with kernels, or any text, compared as a whole; -: standard input")
        ->required();
    CLI::Option_group* which = sub->add_option_group("dataset", "which dataset; one of");
    which->add_option("--job", options.job, "the job whose dataset it is");
    which->add_option("--dataset", options.dataset, "its digest, hash/size");
    which->add_option("--out", options.out_dir, "the folder that crawl wrote it to");
    which->require_option(1);
    sub->add_option("--data", options.data_dir,
                    "read from a crawl's --data folder, and not from a cluster; with --out\n"
                    "always, by default from crawl's own");
    sub->add_option("--top", options.top, "at most so many for each kernel")
        ->check(CLI::Range(1, 16384))
        ->capture_default_str();
    sub->add_option("--threshold", options.threshold, "how similar at least, over 0 to 1")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    AddCluster(*sub);
  }

  void AddFiles(const char* name, const char* help,
                absl::StatusOr<int> (*run)(const std::vector<std::string>&, cli::Console&)) {
    CLI::App* sub =
        Add(name, help, [this, run](cli::Console& console) { return run(flags_.paths, console); });
    sub->add_option("PATH", flags_.paths, "Python files, or folders of them")->required();
    AddCommonFlags(*sub, &flags_);
  }

  void AddOnJob(const char* name, const char* help,
                absl::StatusOr<int> (*run)(const cli::ClusterAddress&, const std::string&,
                                           rpc::TerminationSignal&, cli::Console&)) {
    CLI::App* sub = Add(name, help, [this, run](cli::Console& console) {
      return run(flags_.cluster, flags_.job, signal_, console);
    });
    sub->add_option("JOB", flags_.job, "the job's name, as submit printed it")->required();
    AddCluster(*sub);
  }

  void AddStore() {
    commands_.insert("store");
    CLI::App* store = store_ = app_.add_subcommand("store", "look after a kernelmill-store");
    store->require_subcommand(1);
    AddOnStore(store, "stat", "how full it is, and who holds what",
               [this](auto& console) { return cli::StoreStat(flags_.cluster, signal_, console); });
    AddOnStore(store, "verify", "read every blob; exit code 1 if any is damaged",
               [this](auto& console) {
                 return cli::StoreVerify(flags_.cluster, flags_.drop_damaged, signal_, console);
               })
        ->add_flag("--drop-damaged", flags_.drop_damaged,
                   "drop them, so that the stages which need them make them anew");
    CLI::App* gc = AddOnStore(
        store, "gc", "drop what was used least recently and nobody holds", [this](auto& console) {
          return cli::StoreCollectGarbage(flags_.cluster, flags_.garbage, signal_, console);
        });
    gc->add_option("--target-bytes", flags_.garbage.target_bytes,
                   "until no more content than this is left, e.g. 20GB; 0: all that is not held")
        ->required()
        ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
        ->check(CLI::NonNegativeNumber);
    gc->add_option("--coordinator", flags_.cluster.coordinator,
                   "whose jobs' datasets are looked for first, host:port")
        ->envname("KERNELMILL_COORDINATOR")
        ->capture_default_str();
    gc->add_flag("--yes", flags_.garbage.yes,
                 "also where nobody holds all of a job's dataset, or the coordinator does not say");
    CLI::App* backup = AddOnStore(
        store, "backup", "write a copy into the store's folder for backups", [this](auto& console) {
          SetPruneAge();
          return cli::StoreBackup(flags_.cluster, flags_.backup, flags_.prune, signal_, console);
        });
    backup
        ->add_option("NAME", flags_.backup,
                     "the copy's name; one that is there is brought up to date")
        ->required();
    AddPruneFlags(*backup, "--prune", "drop the oldest afterwards, until this many are left");
    CLI::App* prune = AddOnStore(store, "prune", "drop old backups", [this](auto& console) {
      SetPruneAge();
      return cli::StorePrune(flags_.cluster, flags_.prune, signal_, console);
    });
    AddPruneFlags(*prune, "--keep", "drop the oldest, until this many are left");
    CLI::App* restore =
        AddStoreCommand(store, "restore", "make a store's data folder of a backup, on this machine",
                        [this](cli::Console& console) {
                          return cli::StoreRestore(flags_.backup, flags_.data_dir, console);
                        });
    restore->add_option("--from", flags_.backup, "the backup's folder")->required();
    restore->add_option("--data", flags_.data_dir, "the folder to make; no store may run on it")
        ->required();
  }

  void AddPruneFlags(CLI::App& sub, const char* keep, const char* help) {
    sub.add_option(keep, flags_.prune.keep, help)->check(CLI::Range(1, 10000));
    sub.add_option("--older-than-days", flags_.prune_days, "drop those that are older")
        ->check(CLI::Range(0.001, 36500.0));
  }
  void SetPruneAge() { flags_.prune.max_age = absl::Hours(24) * flags_.prune_days; }

  CLI::App* AddStoreCommand(CLI::App* store, const char* name, const char* help, Command command) {
    CLI::App* sub = store->add_subcommand(name, help);
    sub->immediate_callback();
    sub->callback([this, command = std::move(command)] { command_ = command; });
    AddCommonFlags(*sub, &flags_);
    return sub;
  }

  CLI::App* AddOnStore(CLI::App* store, const char* name, const char* help, Command command) {
    CLI::App* sub = AddStoreCommand(store, name, help, std::move(command));
    AddStoreFlags(*sub, &flags_, "the store, host:port");
    sub->preparse_callback([this](size_t) { hint_ = [this] { return StoreHint(); }; });
    return sub;
  }

  rpc::TerminationSignal& signal_;
  Flags flags_;
  Command command_;                    // the one that was asked for
  std::function<std::string()> hint_;  // what to look at where its cluster is out of reach
  std::set<std::string> commands_;
  CLI::App app_{kUsage, "kernelmill"};
  CLI::App* store_ = nullptr;
};

}  // namespace
}  // namespace kernelmill

int main(int argc, char** argv) {
  kernelmill::rpc::TerminationSignal signal;
  const int code = kernelmill::Program(signal).Run(argc, argv);
  // Not exit(): after an interrupt a stage of `crawl` may still run, and would meet destroyed
  // statics.
  std::fflush(nullptr);
  std::_Exit(code);
}
