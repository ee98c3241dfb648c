// The commands on jobs of a cluster. Each is a thin layer: it names the flags, and client/commands
// does the work.

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "client/commands/commands.h"
#include "client/program/command_line.h"

namespace kernelmill::client {
namespace {

// The callbacks own the options by shared_ptr: CLI11 keeps pointers to their fields until the line
// is read, and the command reads them after that.
void AddSubmit(CommandLine& line) {
  const auto options = std::make_shared<SubmitOptions>();
  CLI::App* sub =
      line.Add("submit", "submit a job to a cluster", [&line, options](Console& console) {
        return Submit(line.cluster(), *options, line.signal(), console);
      });
  TakesFile(sub->add_option("JOB.yaml", options->job_file, "job file; -: standard input"))
      ->required();
  sub->add_option("--priority", options->priority,
                  "-100 to 100; among waiting jobs the highest priority runs first")
      ->check(CLI::Range(-100, 100))
      ->capture_default_str();
  sub->add_flag("--dry-run", options->dry_run,
                "resolve the sources on this machine, without its cache; submit nothing");
  sub->add_flag("--no-cache", options->no_cache,
                "run every stage again and replace its results in the action cache");
  sub->add_option("--request-id", options->request_id,
                  "name of this submission; resubmitting with the same ID returns the existing job")
      ->option_text("ID");
  sub->add_flag("--wait", options->wait, "follow the job to its end");
  TakesFolder(sub->add_option("--out", options->target.out_dir,
                              "folder to write the dataset to; implies --wait"));
  AddExportFlags(*sub, options->target);
  line.AddClusterFlags(*sub);
}

// Needs no cluster: a job file is checked on this machine.
void AddCheck(CommandLine& line) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* sub = line.Add(
      "check", "check a job file, and print the job with its lists resolved",
      [&line, options](Console& console) { return Check(*options, line.signal(), console); });
  TakesFile(sub->add_option("JOB.yaml", options->job_file, "job file; -: standard input"))
      ->required();
  sub->add_flag("--online", options->online,
                "also ask the hosts if each repository, ref and package exists");
  sub->add_option_function<double>(
         "--timeout-seconds",
         [options](const double& seconds) { options->timeout = absl::Seconds(seconds); },
         "with --online: the longest wait for a host")
      ->check(CLI::Range(0.1, 3600.0))
      ->default_str("30");
  AddHostFlags(*sub, *options);
  line.AddCommonFlags(*sub);
}

// The export's folder can be named here too: a retry ends like a submission.
void AddRetry(CommandLine& line) {
  const auto options = std::make_shared<RetryOptions>();
  CLI::App* sub = line.Add("retry", "run an ended job again; finished work comes from the cache",
                           [&line, options](Console& console) {
                             return Retry(line.cluster(), *options, line.signal(), console);
                           });
  sub->add_option("JOB", options->job, "the job's name")->required();
  sub->add_flag("--no-cache", options->no_cache,
                "run every stage again and replace its results in the action cache");
  sub->add_flag("--wait", options->wait, "follow the job to its end");
  TakesFolder(sub->add_option("--out", options->target.out_dir,
                              "folder to write the dataset to; implies --wait"));
  AddExportFlags(*sub, options->target);
  line.AddClusterFlags(*sub);
}

void AddJobs(CommandLine& line) {
  CLI::App* sub = line.Add("jobs", "list the jobs, newest first", [&line](Console& console) {
    return ListJobs(line.cluster(), line.signal(), console);
  });
  line.AddClusterFlags(*sub);
}

void AddWorkers(CommandLine& line) {
  CLI::App* sub = line.Add(
      "workers", "list the workers that the coordinator heard from recently, and their tasks",
      [&line](Console& console) { return ListWorkers(line.cluster(), line.signal(), console); });
  line.AddClusterFlags(*sub);
}

// The ledger is the default; --timeline and --trace show the times of the attempts instead.
void AddReport(CommandLine& line) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* sub = line.Add("report", "print a job's ledger: the outcome of every file and kernel",
                           [&line, options](Console& console) {
                             return Report(line.cluster(), *options, line.signal(), console);
                           });
  sub->add_option("JOB", options->job, "the job's name, as printed by submit")->required();
  sub->add_flag(
      "--timeline", options->timeline,
      "show where time was spent instead of the ledger: queue, lookup, run and store by stage");
  AddTrace(*sub, &options->trace);
  line.AddClusterFlags(*sub);
}

// Adds a command with a job as its only argument.
void AddOnJob(CommandLine& line, const char* name, const char* help,
              absl::StatusOr<int> (*run)(const ClusterAddress&, const std::string&,
                                         rpc::TerminationSignal&, Console&)) {
  const auto job = std::make_shared<std::string>();
  CLI::App* sub = line.Add(name, help, [&line, job, run](Console& console) {
    return run(line.cluster(), *job, line.signal(), console);
  });
  sub->add_option("JOB", *job, "the job's name, as printed by submit")->required();
  line.AddClusterFlags(*sub);
}

}  // namespace

void AddJobCommands(CommandLine& line) {
  AddCheck(line);
  AddSubmit(line);
  AddOnJob(line, "watch", "follow a job to its end", Watch);
  AddJobs(line);
  AddWorkers(line);
  AddReport(line);
  AddOnJob(line, "cancel", "end a running job", Cancel);
  AddRetry(line);
  AddOnJob(line, "delete", "forget an ended job, and let the store drop its dataset", Delete);
}

}  // namespace kernelmill::client
