// Resolves sources without a job: the same stages as a crawl's, called by threads of this file
// instead of a worker. Nothing is fetched. For each pinned source the action cache is asked for the
// result of its fetch, which is there if an earlier job fetched the same version.

#include "client/embedded/source_resolver.h"

#include <algorithm>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/retry_after.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/job/job_spec.h"
#include "common/job/source_spec.h"
#include "common/rpc/retry.h"
#include "common/worker/source_action.h"
#include "common/worker/stage.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/fetcher/server/sources.h"
#include "services/fetcher/server/store_caches.h"

namespace kernelmill::client {
namespace {

using worker::StageId;

constexpr absl::Duration kPoll = absl::Milliseconds(50);
constexpr rpc::RetryPolicy kBackoff = {.first_backoff = absl::Seconds(1)};

// A queue of numbered tasks and their results. The threads share its ownership: after an
// interrupt they end later than the caller.
struct Tasks {
  absl::Mutex mutex;
  size_t next ABSL_GUARDED_BY(mutex) = 0;
  size_t done ABSL_GUARDED_BY(mutex) = 0;
  bool finished ABSL_GUARDED_BY(mutex) = false;
  bool stopped ABSL_GUARDED_BY(mutex) = false;
  std::vector<ResolvedSource> sources ABSL_GUARDED_BY(mutex);
  // The repositories that the search at this place found.
  std::vector<std::vector<std::string>> found ABSL_GUARDED_BY(mutex);
};

// Does one task: changes the source, and returns what a search found.
using Work = std::function<std::vector<std::string>(ResolvedSource&)>;

void RunTasks(Tasks& tasks, const Work& work) {
  absl::MutexLock lock(&tasks.mutex);
  while (!tasks.stopped && tasks.next < tasks.sources.size()) {
    const size_t at = tasks.next++;
    ResolvedSource source = tasks.sources[at];
    tasks.mutex.Unlock();
    std::vector<std::string> found = work(source);
    tasks.mutex.Lock();
    tasks.sources[at] = std::move(source);
    tasks.found[at] = std::move(found);
    tasks.finished = ++tasks.done == tasks.sources.size();
  }
}

// Does the work for all sources. CANCELLED: on_progress ended it.
absl::StatusOr<std::shared_ptr<Tasks>> RunAll(std::vector<ResolvedSource> sources,
                                              const ResolveOptions& options, const Work& work) {
  auto tasks = std::make_shared<Tasks>();
  const size_t all = sources.size();
  {
    absl::MutexLock lock(&tasks->mutex);
    tasks->sources = std::move(sources);
    tasks->found.resize(all);
  }
  std::vector<std::thread> threads;
  for (size_t i = 0; i < std::min<size_t>(options.threads, all); ++i) {
    threads.emplace_back([tasks, work] { RunTasks(*tasks, work); });
  }
  bool stopped = false;
  for (size_t done = 0; done < all && !stopped;) {
    {
      absl::MutexLock lock(&tasks->mutex);
      tasks->mutex.AwaitWithTimeout(absl::Condition(&tasks->finished), kPoll);
      done = tasks->done;
    }
    stopped = options.on_progress != nullptr && !options.on_progress(done, all);
    absl::MutexLock lock(&tasks->mutex);
    tasks->stopped = stopped && done < all;
  }
  for (std::thread& thread : threads) stopped ? thread.detach() : thread.join();
  if (stopped) return absl::CancelledError("interrupted");
  return tasks;
}

// Runs a stage on one source. Errors that may pass are tried again, after the pause that the host
// asks for if it is short.
absl::StatusOr<v1::StageResult> RunStage(EmbeddedCluster& cluster, const v1::Action& action,
                                         StageId stage, int attempts) {
  for (int attempt = 1;; ++attempt) {
    absl::StatusOr<v1::StageResult> result = cluster.stage(stage).Run(action, cluster.blobs());
    if (result.ok() || attempt >= attempts || !IsRetryable(result.status())) return result;
    const absl::Duration pause =
        GetRetryAfter(result.status()).value_or(rpc::Backoff(kBackoff, attempt));
    if (pause > absl::Seconds(30)) return result;
    absl::SleepFor(pause);
  }
}

// Returns the files that an earlier fetch of the pinned source kept; nothing without one.
std::optional<SourceFiles> FindFetched(const v1::Source& source, cas::BlobStore& blobs) {
  const v1::Action action = worker::SourceAction(StageId::kFetch, source);
  const auto kept = blobs.GetActionResult(worker::ActionDigest(action));
  if (!kept.ok()) return std::nullopt;
  const absl::StatusOr<v1::StageResult> result = worker::DecodeResult(*kept);
  if (!result.ok() || result->outputs().empty()) return std::nullopt;
  const auto tree = cas::GetMessage<v1::SourceTree>(blobs, result->outputs(0).digest());
  if (!tree.ok()) return std::nullopt;
  SourceFiles sum;
  for (const v1::FileEntry& file : tree->files()) {
    if (file.fate() != v1::FILE_FATE_SHARDED || file.support()) continue;
    ++sum.files;
    sum.bytes += file.size_bytes();
  }
  return sum;
}

// Fills where the files of a pinned source would come from, and their sizes.
void LocateFiles(EmbeddedCluster& cluster, ResolvedSource& resolved) {
  const v1::Source& source = resolved.source;
  resolved.files = FindFetched(source, cluster.blobs());
  if (resolved.files.has_value()) {
    resolved.from = FilesFrom::kCache;
  } else if (source.has_path() || source.has_inductor()) {
    resolved.from = FilesFrom::kDisk;
    const absl::StatusOr<fetcher::LocalSize> size = fetcher::MeasureLocal(source);
    if (size.ok()) resolved.files = {size->files, size->bytes};
  } else if (absl::StartsWith(source.git(), "/") || absl::StartsWith(source.git(), "file://")) {
    resolved.from = FilesFrom::kDisk;
  } else if (source.has_git() &&
             !fetcher::StoreFetchCache(cluster.blobs()).FindCommit(source.git()).empty()) {
    resolved.from = FilesFrom::kChanges;
  }
}

// Replaces each search by the repositories that it found, without those that the job has already,
// as the coordinator's plan does.
std::vector<ResolvedSource> Expand(Tasks& tasks) {
  absl::MutexLock lock(&tasks.mutex);
  std::set<std::string> known;
  for (const ResolvedSource& one : tasks.sources) known.insert(one.source.git());
  std::vector<ResolvedSource> expanded;
  for (size_t i = 0; i < tasks.sources.size(); ++i) {
    const ResolvedSource& one = tasks.sources[i];
    if (!one.source.has_discover() || !one.status.ok()) {
      expanded.push_back(one);
      continue;
    }
    for (const std::string& url : tasks.found[i]) {
      if (known.insert(url).second) expanded.push_back({job::FoundSource(one.source, url)});
    }
  }
  return expanded;
}

}  // namespace

absl::StatusOr<std::vector<ResolvedSource>> ResolveSources(EmbeddedCluster& cluster,
                                                           const v1::JobSpec& job,
                                                           const ResolveOptions& options) {
  const v1::JobSpec spec = job::WithDefaults(job);
  std::vector<ResolvedSource> sources;
  for (const v1::Source& source : spec.sources()) sources.push_back({job::AsRead(spec, source)});
  const int attempts = options.attempts;
  const Work search = [&cluster, attempts](ResolvedSource& one) -> std::vector<std::string> {
    if (!one.source.has_discover()) return {};
    const auto found = RunStage(cluster, worker::SourceAction(StageId::kDiscover, one.source),
                                StageId::kDiscover, attempts);
    one.status = found.status();
    if (!found.ok()) return {};
    return {found->found().begin(), found->found().end()};
  };
  ASSIGN_OR_RETURN(const std::shared_ptr<Tasks> searched,
                   RunAll(std::move(sources), options, search));
  const bool require_hashes = spec.require_hashes();
  const Work pin = [&cluster, attempts, require_hashes](ResolvedSource& one) {
    if (one.source.has_discover()) return std::vector<std::string>();
    const auto pinned =
        RunStage(cluster, worker::SourceAction(StageId::kPin, one.source, require_hashes),
                 StageId::kPin, attempts);
    one.status = pinned.status();
    if (pinned.ok()) {
      one.source.set_ref(pinned->pinned().ref());
      one.source.set_sha256(pinned->pinned().sha256());
      one.source.set_hash_computed(pinned->pinned().hash_computed());
      LocateFiles(cluster, one);
    }
    return std::vector<std::string>();
  };
  ASSIGN_OR_RETURN(const std::shared_ptr<Tasks> pinned, RunAll(Expand(*searched), options, pin));
  absl::MutexLock lock(&pinned->mutex);
  return std::move(pinned->sources);
}

}  // namespace kernelmill::client
