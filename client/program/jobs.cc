#include <memory>
#include <string>

#include "client/commands/commands.h"
#include "client/program/groups.h"

namespace kernelmill::client {
namespace {

void AddSubmit(CommandLine& line) {
  const auto options = std::make_shared<SubmitOptions>();
  CLI::App* sub = line.Add("submit", "hand a job to a cluster", [&line, options](Console& console) {
    return Submit(line.cluster(), *options, line.signal(), console);
  });
  sub->add_option("JOB.yaml", options->job_file, "the job file; -: standard input")->required();
  sub->add_option("--priority", options->priority,
                  "of the jobs that wait for workers, those with the highest go first: -100 to 100")
      ->check(CLI::Range(-100, 100))
      ->capture_default_str();
  sub->add_flag("--no-cache", options->no_cache,
                "run every stage anew, whatever the action cache has, and replace what it has");
  sub->add_option("--request-id", options->request_id,
                  "names this submission: once more with the same id makes no second job, and\n"
                  "prints the name of the first")
      ->option_text("ID");
  sub->add_flag("--wait", options->wait, "watch the job to its end");
  sub->add_option("--out", options->target.out_dir, "wait, and write the dataset to this folder");
  AddExportFlags(*sub, options->target);
  line.AddClusterFlags(*sub);
}

void AddCheck(CommandLine& line) {
  const auto job_file = std::make_shared<std::string>();
  CLI::App* sub =
      line.Add("check", "say whether a job file is right, and print the job with its lists read",
               [job_file](Console& console) { return Check(*job_file, console); });
  sub->add_option("JOB.yaml", *job_file, "the job file; -: standard input")->required();
  line.AddCommonFlags(*sub);
}

void AddRetry(CommandLine& line) {
  const auto options = std::make_shared<RetryOptions>();
  CLI::App* sub = line.Add("retry", "run a job that has ended again; only what failed is done anew",
                           [&line, options](Console& console) {
                             return Retry(line.cluster(), *options, line.signal(), console);
                           });
  sub->add_option("JOB", options->job, "the job's name")->required();
  sub->add_flag("--no-cache", options->no_cache,
                "run every stage anew, whatever the action cache has, and replace what it has");
  sub->add_flag("--wait", options->wait, "watch the job to its end");
  sub->add_option("--out", options->target.out_dir, "wait, and write the dataset to this folder");
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
      "workers", "list the workers that the coordinator heard of lately, and what they run",
      [&line](Console& console) { return ListWorkers(line.cluster(), line.signal(), console); });
  line.AddClusterFlags(*sub);
}

void AddReport(CommandLine& line) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* sub =
      line.Add("report", "print a job's ledger: every file and kernel by what became of it",
               [&line, options](Console& console) {
                 return Report(line.cluster(), *options, line.signal(), console);
               });
  sub->add_option("JOB", options->job, "the job's name, as submit printed it")->required();
  sub->add_flag("--timeline", options->timeline,
                "in its place where the job's time went: queue, lookup, run and store by stage");
  AddTrace(*sub, &options->trace);
  line.AddClusterFlags(*sub);
}

// A command whose one argument is a job.
void AddOnJob(CommandLine& line, const char* name, const char* help,
              absl::StatusOr<int> (*run)(const ClusterAddress&, const std::string&,
                                         rpc::TerminationSignal&, Console&)) {
  const auto job = std::make_shared<std::string>();
  CLI::App* sub = line.Add(name, help, [&line, job, run](Console& console) {
    return run(line.cluster(), *job, line.signal(), console);
  });
  sub->add_option("JOB", *job, "the job's name, as submit printed it")->required();
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
  AddOnJob(line, "delete", "forget a job that has ended, and let the store drop its dataset",
           Delete);
}

}  // namespace kernelmill::client
