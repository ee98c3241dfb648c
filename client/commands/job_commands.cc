// The commands on jobs. crawl, submit --wait, watch and retry --wait share one path:
//
//   SubmitSpec   submits the job, or finds the earlier one with the same request id
//   FollowJob    shows its progress until it has ended
//   EndJob       exports the dataset if a folder is given, and prints the summary
//
// The exit code comes from the job's last status; an error of the export comes first.

#include <errno.h>
#include <fcntl.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/commands/cluster.h"
#include "client/commands/commands.h"
#include "client/commands/kept_output.h"
#include "client/console/busy_times.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "client/console/json.h"
#include "client/console/output.h"
#include "client/console/progress.h"
#include "client/console/summary.h"
#include "client/console/timeline.h"
#include "client/console/watch.h"
#include "client/embedded/embedded_cluster.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/job/job_file.h"
#include "dataset/export/exporter.h"
#include "dataset/output/output_dir.h"

namespace kernelmill::client {
namespace {

constexpr absl::Duration kStopGrace = absl::Seconds(5);

// Returns a name for a submission, so that a repeated call does not make a second job.
std::string NewRequestId() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 4; ++i) absl::StrAppend(&id, absl::Hex(random(), absl::kZeroPad8));
  return id;
}

constexpr size_t kMostNamedSources = 5;

// "a, b and 7 more".
std::string SourceList(const std::vector<std::string>& sources) {
  std::string text;
  for (size_t i = 0; i < sources.size() && i < kMostNamedSources; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", OneLine(sources[i]));
  }
  if (sources.size() > kMostNamedSources) {
    absl::StrAppend(&text, " and ", sources.size() - kMostNamedSources, " more");
  }
  return text;
}

// Checks that the job's dataset may replace the one in out_dir: a source that failed must not take
// away the kernels that it gave before. ABORTED: it would.
absl::Status CheckReplaces(const FinishedJobResult& job, const ExportTarget& target,
                           const Cluster& cluster) {
  if (target.allow_failed) return absl::OkStatus();
  ASSIGN_OR_RETURN(const LostKernels lost, FindLostKernels(target.out_dir, job));
  // The error names the way out, which differs: a crawl's results are in its data folder, a
  // cluster's job can be exported again.
  if (lost.kernels == 0) return absl::OkStatus();
  const std::string elsewhere = cluster.is_embedded()
                                    ? "run the same command with another --out"
                                    : absl::StrCat("run `kernelmill export ", job.status.job(),
                                                   " --out OTHER_FOLDER", cluster.flags(), "`");
  return absl::AbortedError(absl::StrCat(
      target.out_dir, " was not replaced: ",
      lost.new_is_empty ? "the new dataset is empty" : "inputs failed", ", and it would lose ",
      lost.kernels, lost.kernels == 1 ? " kernel or whole file of " : " kernels or whole files of ",
      SourceList(lost.sources), "; ", elsewhere,
      " to write the new dataset there, or add --allow-failed to replace this one"));
}

// Exports the dataset of a DONE job, and sets the facts of the summary that come from the export.
// The lock and the failures become part of the export, so all of them are read first. ABORTED: the
// folder was not replaced; see CheckReplaces.
absl::Status ExportJob(Cluster& cluster, const v1::JobStatus& status, const ExportTarget& target,
                       Summary& summary, Console& console) {
  dataset::ExportRequest request;
  request.dataset = status.dataset();
  ASSIGN_OR_RETURN(request.lock, cluster.jobs().ReadLock(status.job()));
  ASSIGN_OR_RETURN(request.failures, cluster.jobs().ListFailures(status.job()));
  RETURN_IF_ERROR(CheckReplaces({status, request.lock, request.failures}, target, cluster));
  request.out_dir = target.out_dir;
  request.tree = target.tree;
  request.is_interrupted = [&cluster] { return cluster.is_interrupted(); };
  const absl::StatusOr<EarlierOutput> earlier =
      EarlierOutput::Read(target.out_dir, status.dataset());
  const absl::Time begin = absl::Now();
  absl::StatusOr<dataset::Exported> exported = dataset::ExportDataset(cluster.store(), request);
  if (!exported.ok()) {
    return WithRetryHint(Annotate(exported.status(), "export"), status.job(), cluster.flags());
  }
  summary.out_dir = target.out_dir;
  summary.write_time = absl::Now() - begin;
  for (const std::string& warning : exported->warnings) console.Warn(warning);
  for (const std::string& note : exported->notes) console.Note(note);
  summary.references = std::move(exported->references);
  summary.tasks = std::move(exported->tasks);
  summary.history = std::move(exported->history);
  summary.turns = std::move(exported->turns);
  // The dataset is written; that a damaged earlier one cannot be compared is no error.
  absl::StatusOr<std::vector<LostFromSource>> lost =
      earlier.ok() ? earlier->FindLost(target.out_dir)
                   : absl::StatusOr<std::vector<LostFromSource>>(earlier.status());
  if (!lost.ok()) {
    console.Warn(absl::StrCat("cannot compare with the earlier dataset in ", target.out_dir, ": ",
                              ErrorLine(lost.status())));
  } else {
    summary.lost = *std::move(lost);
  }
  return absl::OkStatus();
}

// A status lists no more failures.
constexpr int kFailuresInStatus = 100;

// Replaces the failures of a status, which has only the first hundred, by all of them.
absl::Status AddAllFailures(Cluster& cluster, v1::JobStatus& status) {
  if (status.failures_size() < kFailuresInStatus) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<v1::Failure> failures,
                   cluster.jobs().ListFailures(status.job()));
  status.mutable_failures()->Assign(failures.begin(), failures.end());
  // A running job may have had more failures meanwhile.
  status.set_failure_count(status.failures_size() -
                           std::count_if(failures.begin(), failures.end(), IsUnmatched));
  return absl::OkStatus();
}

// Adds the missed gates, and what matches nothing, to the failures of a status, which has only the
// first hundred.
absl::Status AddShortfalls(Cluster& cluster, v1::JobStatus& status) {
  if (status.failures_size() < kFailuresInStatus) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<v1::Failure> failures,
                   cluster.jobs().ListFailures(status.job()));
  for (size_t i = static_cast<size_t>(status.failures_size()); i < failures.size(); ++i) {
    if (IsMissedGate(failures[i]) || IsUnmatched(failures[i])) {
      *status.add_failures() = failures[i];
    }
  }
  return absl::OkStatus();
}

// A job with more tasks has a timeline that takes long to read.
constexpr int64_t kMostSpans = 300'000;

// Returns where the job's time went; nullopt if that is not worth its costs, or is not known.
std::optional<BusyTimes> FindBusyTimes(Cluster& cluster, const v1::JobStatus& status) {
  int64_t tasks = 0;
  for (const v1::StageProgress& stage : status.stages()) tasks += stage.total();
  if (tasks > kMostSpans) return std::nullopt;
  const absl::StatusOr<Timeline> timeline = cluster.jobs().GetTimeline(status.job());
  if (!timeline.ok()) return std::nullopt;
  return SumBusyTimes(*timeline);
}

// Exports the dataset of a job that has ended, if it has one and a folder is given, and prints the
// summary. The summary comes also if the folder was not replaced: it says what failed.
absl::StatusOr<int> EndJob(Cluster& cluster, v1::JobStatus status, const ExportTarget& target,
                           Console& console) {
  Summary summary;
  const bool done = status.state() == v1::JOB_STATE_DONE;
  // A job that was cancelled or failed has no dataset to export.
  const bool exports = done && !target.out_dir.empty();
  absl::Status exported =
      exports ? ExportJob(cluster, status, target, summary, console) : absl::OkStatus();
  if (absl::IsCancelled(exported) && !cluster.is_embedded()) {
    return console.Fail(absl::CancelledError(
        absl::StrCat("interrupted; `kernelmill export ", status.job(), " --out ",
                     ShellWord(target.out_dir), cluster.flags(), "` writes the dataset")));
  }
  // ABORTED: the folder was not replaced. The job itself is fine, so its summary is printed before
  // the error.
  if (!exported.ok() && !absl::IsAborted(exported)) return exported;
  if (done) RETURN_IF_ERROR(AddShortfalls(cluster, status));
  summary.busy = FindBusyTimes(cluster, status);
  summary.is_embedded = cluster.is_embedded();
  summary.cluster_flags = cluster.flags();
  summary.status = std::move(status);
  if (console.json()) {
    console.Result(SummaryJson(summary));
  } else {
    console.Result(SummaryLines(summary));
  }
  RETURN_IF_ERROR(exported);
  if (exports && cluster.is_interrupted()) {
    return console.Fail(absl::CancelledError(
        absl::StrCat("interrupted; the dataset was already written to ", target.out_dir)));
  }
  return ToExitCode(summary.status);
}

// Follows the job to its end, exports its dataset if a folder is given, and prints the summary. If
// the store lost a part of the dataset, the job runs again, once.
absl::StatusOr<int> FollowJob(Cluster& cluster, const std::string& job,
                              absl::Duration reconnect_timeout, const ExportTarget& target,
                              Console& console) {
  const std::unique_ptr<LiveProgress> printer = console.NewProgressPrinter();
  printer->SetFindHoldUp([&cluster, &job]() -> std::optional<HoldUp> {
    const absl::StatusOr<std::vector<v1::WorkerInfo>> workers = cluster.jobs().ListWorkers();
    if (!workers.ok()) return std::nullopt;
    return FindHoldUp(job, *workers, absl::Now());
  });
  WatchOptions options;
  options.reconnect_timeout = reconnect_timeout;
  options.on_lost = [&](const absl::Status& error) { printer->ShowReconnecting(error); };
  const auto watch = [&](const OnStatus& on_status) {
    return cluster.jobs().Watch(job, on_status);
  };
  const auto show = [&](const v1::JobStatus& now) { printer->Show(now, absl::Now()); };
  ASSIGN_OR_RETURN(v1::JobStatus status, WatchJob(watch, options, show));
  absl::StatusOr<int> code = EndJob(cluster, std::move(status), target, console);
  if (!absl::IsNotFound(code.status()) && !absl::IsDataLoss(code.status())) return code;
  console.Note(absl::StrCat(
      "running job ", job,
      " again, since the store lost a part of its dataset: ", ErrorLine(code.status())));
  RETURN_IF_ERROR(cluster.jobs().RetryJob(job, /*no_cache=*/false).status());
  ASSIGN_OR_RETURN(status, WatchJob(watch, options, show));
  return EndJob(cluster, std::move(status), target, console);
}

// Follows a job on a cluster elsewhere.
absl::StatusOr<int> FollowThere(const ClusterAddress& address, Cluster& cluster,
                                const std::string& job, const ExportTarget& target,
                                Console& console) {
  console.SetInterruptText(absl::StrCat("leaving; job ", job, " continues on the cluster"));
  absl::StatusOr<int> code = FollowJob(cluster, job, address.reconnect_timeout, target, console);
  if (!absl::IsCancelled(code.status())) return code;
  // The signal ended only this command, not the job.
  return absl::CancelledError(
      absl::StrCat("interrupted; job ", job, " continues: `kernelmill watch ", job, cluster.flags(),
                   "` follows it, `kernelmill cancel ", job, cluster.flags(), "` ends it"));
}

// Checks that the request id belongs to this job, and notes that the job may be an earlier one.
absl::Status CheckRepeated(Cluster& cluster, const std::string& job, const v1::JobSpec& spec,
                           const std::string& request_id, Console& console) {
  ASSIGN_OR_RETURN(const v1::JobStatus status, cluster.jobs().GetJob(job));
  if (status.name() != spec.name()) {
    return absl::AlreadyExistsError(
        absl::StrCat("--request-id ", request_id, " belongs to job ", job,
                     ", which is from another job file; nothing was submitted"));
  }
  console.Note(absl::StrCat(
      "request ", request_id, " is job ", job, ", submitted at ",
      absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixMillis(status.submitted_unix_ms()),
                       absl::UTCTimeZone())));
  return absl::OkStatus();
}

// Submits a job and returns its name. Reads the request id, the priority and no_cache of the
// options.
absl::StatusOr<std::string> SubmitSpec(Cluster& cluster, const v1::JobSpec& spec,
                                       const SubmitOptions& options, Console& console) {
  const std::string id = options.request_id.empty() ? NewRequestId() : options.request_id;
  ASSIGN_OR_RETURN(std::string job,
                   cluster.jobs().Submit(spec, id, options.priority, options.no_cache));
  // A random id cannot belong to an earlier job.
  if (!options.request_id.empty()) {
    RETURN_IF_ERROR(CheckRepeated(cluster, job, spec, id, console));
  }
  console.Note(absl::StrCat("job ", job));
  return job;
}

void PrintState(const v1::JobStatus& status, Console& console) {
  console.Result(console.json() ? JsonLine("job", JobJson(status)) : StateText(status));
}

// Returns the compilers that the job needs; nullopt if it does not compile.
std::optional<EmbeddedCompilerOptions> GetCompiler(const v1::JobSpec& spec,
                                                   EmbeddedCompilerOptions options) {
  if (!spec.has_compile()) return std::nullopt;
  options.toolchains.assign(spec.compile().toolchains().begin(), spec.compile().toolchains().end());
  return options;
}

// Returns the device that the job needs; nullopt if it runs nothing.
std::optional<EmbeddedRunnerOptions> GetRunner(const v1::JobSpec& spec,
                                               EmbeddedRunnerOptions options) {
  if (!spec.has_run()) return std::nullopt;
  options.device = spec.run().device();
  return options;
}

// Prints the chart; with --json one attempt a line.
void PrintTimeline(const Timeline& timeline, Console& console) {
  if (!console.json()) return console.Result(TimelineText(timeline));
  for (const Span& span : timeline.spans()) {
    console.Result(JsonLine("attempt", {{"task", span.task},
                                        {"stage", timeline.name(span.stage)},
                                        {"source", timeline.name(span.source)},
                                        {"attempt", span.attempt},
                                        {"worker", timeline.name(span.worker)},
                                        {"outcome", timeline.name(span.outcome)},
                                        {"ready_unix_ms", span.ready_ms},
                                        {"leased_unix_ms", span.leased_ms},
                                        {"ended_unix_ms", span.ended_ms},
                                        {"waited_us", span.waited_us},
                                        {"lookup_us", span.lookup_us},
                                        {"run_us", span.run_us},
                                        {"store_us", span.store_us}}));
  }
}

// Writes the trace events to a new or replaced file. Errors name the file.
absl::Status WriteTraceFile(const Timeline& timeline, const std::string& job,
                            const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.is_open()) return ErrnoStatus(errno, path);
  RETURN_IF_ERROR(WriteTrace(
      timeline, job, [&](absl::string_view piece) { return WriteAll(file.get(), piece, path); }));
  return file.Close() == 0 ? absl::OkStatus() : ErrnoStatus(errno, path);
}

}  // namespace

namespace {

// The error of a crawl whose disk is full. Thread-safe.
class FullDisk {
 public:
  // Notes the error, and ends the calls of the cluster's clients.
  void Set(const absl::Status& status) {
    absl::MutexLock lock(&mutex_);
    status_ = status;
    if (jobs_ != nullptr) jobs_->Interrupt();
  }
  // Sets the client whose calls end; null: none.
  void Interrupts(CrawlClient* jobs) {
    absl::MutexLock lock(&mutex_);
    jobs_ = jobs;
    if (jobs_ != nullptr && !status_.ok()) jobs_->Interrupt();
  }
  absl::Status status() const {
    absl::MutexLock lock(&mutex_);
    return status_;
  }

 private:
  mutable absl::Mutex mutex_;
  CrawlClient* jobs_ ABSL_GUARDED_BY(mutex_) = nullptr;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

// Returns the error of an interrupted crawl.
absl::Status WhyInterrupted(const FullDisk& disk, const std::string& data_dir) {
  const absl::Status full = disk.status();
  if (full.ok()) {
    return absl::CancelledError(absl::StrCat(
        "interrupted; run the same command again to continue (--data ", data_dir, ")"));
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("--data ", data_dir, ": the disk stayed full for a minute: ", full.message(),
                   "; make room and run the same command again to continue"));
}

}  // namespace

absl::StatusOr<int> Crawl(const CrawlOptions& options, rpc::TerminationSignal& signal,
                          Console& console) {
  ASSIGN_OR_RETURN(const v1::JobSpec spec, job::LoadJobFile(options.job_file));
  if (options.dry_run) return DryRun(options, spec, signal, console);
  // Check the folder now, so that hours of work do not end in an error.
  RETURN_IF_ERROR(dataset::CheckOutputDir(options.target.out_dir));
  FullDisk disk;
  ASSIGN_OR_RETURN(std::unique_ptr<EmbeddedCluster> embedded,
                   EmbeddedCluster::Start({.data_dir = options.data_dir,
                                           .workers = options.workers,
                                           .allow_hosts = options.allow_hosts,
                                           .package_index = options.package_index,
                                           .github_api = options.github_api,
                                           .github_token_file = options.github_token_file,
                                           .on_full = [&](const absl::Status& s) { disk.Set(s); },
                                           .compiler = GetCompiler(spec, options.compiler),
                                           .runner = GetRunner(spec, options.runner)}));
  const auto cluster = Connect(*embedded, signal);
  disk.Interrupts(&cluster->jobs());
  console.SetInterruptText(absl::StrCat(
      "stopping: running tasks get ", absl::FormatDuration(kStopGrace), ", finished work is kept"));
  SubmitOptions submission;
  submission.no_cache = options.no_cache;
  ASSIGN_OR_RETURN(const std::string job, SubmitSpec(*cluster, spec, submission, console));
  absl::StatusOr<int> code = FollowJob(*cluster, job, absl::Seconds(60), options.target, console);
  if (!options.trace.empty()) {
    const absl::StatusOr<Timeline> timeline = cluster->jobs().GetTimeline(job);
    const absl::Status traced =
        timeline.ok() ? WriteTraceFile(*timeline, job, options.trace) : timeline.status();
    // The job's own error is more important than that of the trace.
    if (code.ok() && !traced.ok()) code = traced;
  }
  disk.Interrupts(nullptr);
  if (absl::IsCancelled(code.status())) code = WhyInterrupted(disk, options.data_dir);
  // A stage may still be in a long download. Its memory is freed with the process; the store has
  // every finished result.
  if (!embedded->Stop(kStopGrace)) static_cast<void>(embedded.release());
  return code;
}

// The job file is read, and the folder checked, before anything is sent to the cluster.
absl::StatusOr<int> Submit(const ClusterAddress& address, const SubmitOptions& options,
                           rpc::TerminationSignal& signal, Console& console) {
  ASSIGN_OR_RETURN(const v1::JobSpec spec, job::LoadJobFile(options.job_file));
  if (options.dry_run) {
    console.Note("this machine resolves the sources; the cluster's fetchers may reach other hosts");
    return DryRun({}, spec, signal, console);
  }
  if (!options.target.out_dir.empty())
    RETURN_IF_ERROR(dataset::CheckOutputDir(options.target.out_dir));
  const auto cluster = Connect(address, address.reconnect_timeout, signal, console);
  ASSIGN_OR_RETURN(const std::string job, SubmitSpec(*cluster, spec, options, console));
  if (options.wait || !options.target.out_dir.empty()) {
    return FollowThere(address, *cluster, job, options.target, console);
  }
  console.Result(console.json() ? JsonLine("submitted", {{"job", job}}) : absl::StrCat(job, "\n"));
  return kDone;
}

// An empty target: nothing is exported.
absl::StatusOr<int> Watch(const ClusterAddress& address, const std::string& job,
                          rpc::TerminationSignal& signal, Console& console) {
  const auto cluster = Connect(address, address.reconnect_timeout, signal, console);
  return FollowThere(address, *cluster, job, {}, console);
}

// Commands that do not wait for a job give up early (kShortReconnectTimeout): a person waits for
// the answer.
absl::StatusOr<int> ListJobs(const ClusterAddress& address, rpc::TerminationSignal& signal,
                             Console& console) {
  const auto cluster = Connect(address, kShortReconnectTimeout, signal, console);
  ASSIGN_OR_RETURN(const std::vector<v1::JobStatus> jobs, cluster->jobs().ListJobs());
  if (!console.json()) {
    console.Result(JobsText(jobs));
    return kDone;
  }
  for (const v1::JobStatus& job : jobs) console.Result(JsonLine("job", JobJson(job)));
  return kDone;
}

absl::StatusOr<int> ListWorkers(const ClusterAddress& address, rpc::TerminationSignal& signal,
                                Console& console) {
  const auto cluster = Connect(address, kShortReconnectTimeout, signal, console);
  ASSIGN_OR_RETURN(const std::vector<v1::WorkerInfo> workers, cluster->jobs().ListWorkers());
  if (!console.json()) {
    console.Result(WorkersText(workers, absl::Now()));
    return kDone;
  }
  for (const v1::WorkerInfo& worker : workers)
    console.Result(JsonLine("worker", MessageJson(worker)));
  return kDone;
}

absl::StatusOr<int> Report(const ClusterAddress& address, const ReportOptions& options,
                           rpc::TerminationSignal& signal, Console& console) {
  const auto cluster = Connect(address, kShortReconnectTimeout, signal, console);
  // Both show the same spans, which are read once.
  if (options.timeline || !options.trace.empty()) {
    ASSIGN_OR_RETURN(const Timeline timeline, cluster->jobs().GetTimeline(options.job));
    if (!options.trace.empty()) {
      RETURN_IF_ERROR(WriteTraceFile(timeline, options.job, options.trace));
    }
    if (options.timeline) PrintTimeline(timeline, console);
    return kDone;
  }
  ASSIGN_OR_RETURN(v1::JobStatus status, cluster->jobs().GetJob(options.job));
  RETURN_IF_ERROR(AddAllFailures(*cluster, status));
  console.Result(console.json() ? JsonLine("job", JobJson(status)) : ReportText(status));
  // Failed inputs are part of a report; only a missed gate makes the command fail.
  const bool missed = std::any_of(status.failures().begin(), status.failures().end(), IsMissedGate);
  return missed ? kInputsFailed : kDone;
}

// The job keeps the state in which it ended, if it ended before.
absl::StatusOr<int> Cancel(const ClusterAddress& address, const std::string& job,
                           rpc::TerminationSignal& signal, Console& console) {
  const auto cluster = Connect(address, kShortReconnectTimeout, signal, console);
  ASSIGN_OR_RETURN(const v1::JobStatus status, cluster->jobs().CancelJob(job));
  if (status.state() != v1::JOB_STATE_CANCELLED) {
    console.Note(absl::StrCat("job ", job, " had already ended"));
  }
  PrintState(status, console);
  return kDone;
}

absl::StatusOr<int> Retry(const ClusterAddress& address, const RetryOptions& options,
                          rpc::TerminationSignal& signal, Console& console) {
  if (!options.target.out_dir.empty())
    RETURN_IF_ERROR(dataset::CheckOutputDir(options.target.out_dir));
  const auto cluster = Connect(address, address.reconnect_timeout, signal, console);
  ASSIGN_OR_RETURN(const v1::JobStatus status,
                   cluster->jobs().RetryJob(options.job, options.no_cache));
  if (options.wait || !options.target.out_dir.empty()) {
    return FollowThere(address, *cluster, options.job, options.target, console);
  }
  PrintState(status, console);
  return kDone;
}

absl::StatusOr<int> Delete(const ClusterAddress& address, const std::string& job,
                           rpc::TerminationSignal& signal, Console& console) {
  const auto cluster = Connect(address, kShortReconnectTimeout, signal, console);
  RETURN_IF_ERROR(cluster->jobs().DeleteJob(job));
  console.Result(console.json() ? JsonLine("deleted", {{"job", job}})
                                : absl::StrCat(job, "  deleted\n"));
  return kDone;
}

// The exit code is the job's: an export of a job with failed inputs returns 1, as the crawl did.
absl::StatusOr<int> Export(const ClusterAddress& address, const std::string& job,
                           const ExportTarget& target, rpc::TerminationSignal& signal,
                           Console& console) {
  RETURN_IF_ERROR(dataset::CheckOutputDir(target.out_dir));
  const auto cluster = Connect(address, kShortReconnectTimeout, signal, console);
  ASSIGN_OR_RETURN(v1::JobStatus status, GetFinishedJob(cluster->jobs(), job));
  return EndJob(*cluster, std::move(status), target, console);
}

}  // namespace kernelmill::client
