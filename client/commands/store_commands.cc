// The commands on a store. Most make one call and print the answer. `gc` first makes sure that a
// collection does not drop the dataset of a job: it asks the coordinator for the jobs, and the
// store what is not held.

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/commands/cluster.h"
#include "client/commands/commands.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "client/console/output.h"
#include "client/grpc/store_client.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/manifest/walk.h"
#include "common/rpc/server.h"
#include "common/words/counted.h"
#include "common/words/suggestion.h"
#include "common/worker/stage_table.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/store.pb.h"

namespace kernelmill::client {
namespace {

constexpr size_t kBlobsPerHold = 50'000;  // as in the coordinator
constexpr absl::Duration kHoldFor = absl::Minutes(10);
constexpr size_t kMostNamed = 10;

// A dataset of a job that is DONE.
struct Kept {
  std::string job;
  cas::Digest manifest;
  std::vector<cas::Digest> blobs;
};

// Returns the datasets that the store still has.
absl::StatusOr<std::vector<Kept>> FindKeptDatasets(const std::vector<v1::JobStatus>& jobs,
                                                   cas::BlobStore& blobs) {
  std::vector<Kept> kept;
  for (const v1::JobStatus& job : jobs) {
    if (job.state() != v1::JOB_STATE_DONE || !job.has_dataset()) continue;
    const auto manifest = cas::GetMessage<v1::DatasetManifest>(blobs, job.dataset());
    // The dataset is lost already, so a collection cannot make it worse.
    if (absl::IsNotFound(manifest.status()) || absl::IsDataLoss(manifest.status())) continue;
    RETURN_IF_ERROR(manifest.status());
    kept.push_back({job.job(), job.dataset(), manifest::ListBlobs(*manifest, job.dataset())});
  }
  return kept;
}

// A hold on blobs for the lifetime of the object, or for kHoldFor if this process dies.
class TemporaryHold {
 public:
  explicit TemporaryHold(StoreClient& store)
      : store_(store),
        name_(absl::StrCat("gc-check/", ::getpid(), "-", absl::ToUnixMicros(absl::Now()))) {}
  // Without a release the hold would end by itself after kHoldFor.
  ~TemporaryHold() {
    for (int part = 1; part <= parts_; ++part) store_.Release(Name(part)).IgnoreError();
  }

  absl::Status Add(const std::vector<cas::Digest>& blobs) {
    for (size_t begin = 0; begin < blobs.size(); begin += kBlobsPerHold) {
      const size_t end = std::min(blobs.size(), begin + kBlobsPerHold);
      RETURN_IF_ERROR(
          store_.Hold(Name(++parts_), {blobs.begin() + begin, blobs.begin() + end}, kHoldFor));
    }
    return absl::OkStatus();
  }

 private:
  std::string Name(int part) const { return absl::StrCat(name_, "#", part); }

  StoreClient& store_;
  const std::string name_;
  int parts_ = 0;
};

// Returns the bytes that a collection of everything would drop.
absl::StatusOr<int64_t> CountDroppable(StoreClient& store) {
  ASSIGN_OR_RETURN(const auto answer, store.CollectGarbage(/*target_bytes=*/0, /*dry_run=*/true));
  return answer.dropped_bytes();
}

// Returns how many of these bytes belong to the datasets. A hold on the datasets makes their bytes
// not droppable; the difference of two dry runs is their share.
absl::StatusOr<int64_t> CountLoose(const std::vector<const Kept*>& kept, StoreClient& store) {
  // Count before the hold, then under it. Other clients may write in between, so the difference can
  // be negative.
  ASSIGN_OR_RETURN(const int64_t all, CountDroppable(store));
  TemporaryHold hold(store);
  for (const Kept* one : kept) RETURN_IF_ERROR(hold.Add(one->blobs));
  ASSIGN_OR_RETURN(const int64_t others, CountDroppable(store));
  return std::max<int64_t>(all - others, 0);
}

// A job's dataset that is not completely held, so that a collection may drop a part of it.
struct LooseDataset {
  std::string job;
  cas::Digest manifest;
  int64_t bytes = 0;  // not held; includes the action results that depend on them
};

// Returns the datasets of DONE jobs that are not completely held. It does not trust the names of
// holds: it asks the store what a collection of everything would drop, with and without a hold on
// the datasets. Datasets that the store has lost already are skipped. `blobs` and `store` are the
// same store.
absl::StatusOr<std::vector<LooseDataset>> FindLooseDatasets(const std::vector<v1::JobStatus>& jobs,
                                                            cas::BlobStore& blobs,
                                                            StoreClient& store) {
  ASSIGN_OR_RETURN(const std::vector<Kept> kept, FindKeptDatasets(jobs, blobs));
  std::vector<const Kept*> all;
  for (const Kept& one : kept) all.push_back(&one);
  ASSIGN_OR_RETURN(const int64_t together, CountLoose(all, store));
  std::vector<LooseDataset> loose;
  if (together == 0) return loose;  // the usual case needs one question for all datasets
  for (const Kept* one : all) {
    ASSIGN_OR_RETURN(const int64_t bytes, CountLoose({one}, store));
    if (bytes > 0) loose.push_back({one->job, one->manifest, bytes});
  }
  return loose;
}

// "2 datasets of jobs: triton-000007 (abc/120, 1.5 GiB), ...".
std::string LooseText(const std::vector<LooseDataset>& loose) {
  std::string text = absl::StrCat(Counted(loose.size(), "dataset"), " of jobs: ");
  for (size_t i = 0; i < loose.size() && i < kMostNamed; ++i) {
    absl::StrAppend(&text, i > 0 ? ", " : "", loose[i].job, " (", cas::ToString(loose[i].manifest),
                    ", ", ShortBytes(loose[i].bytes), ")");
  }
  if (loose.size() > kMostNamed) absl::StrAppend(&text, ", ...");
  return text;
}

// A connection to the store. A signal ends its calls.
class Connection {
 public:
  Connection(const ClusterAddress& cluster, rpc::TerminationSignal& signal, Console& console)
      : store_(NewStoreClient(rpc::Connect(cluster.store, cluster.credentials),
                              ReconnectShortly("store", console))),
        on_interrupt_(signal, [this] { store_->Interrupt(); }) {}

  StoreClient& store() { return *store_; }

 private:
  const std::unique_ptr<StoreClient> store_;
  const OnInterrupt on_interrupt_;
};

// Checks that a collection drops no part of a job's dataset. FAILED_PRECONDITION: it may, with the
// datasets; or the coordinator does not answer.
absl::Status CheckDatasets(const ClusterAddress& address, StoreClient& store,
                           rpc::TerminationSignal& signal, Console& console) {
  const std::unique_ptr<Cluster> cluster =
      Connect(address, kShortReconnectTimeout, signal, console);
  const absl::StatusOr<std::vector<v1::JobStatus>> jobs = cluster->jobs().ListJobs();
  // The user ended the command; this is not an unreachable coordinator.
  if (absl::IsCancelled(jobs.status())) return jobs.status();
  if (!jobs.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("nothing was dropped: cannot ask the coordinator ", address.coordinator,
                     " which datasets to keep (", ErrorLine(jobs.status()),
                     "); --yes drops unheld content anyway"));
  }
  ASSIGN_OR_RETURN(const std::vector<LooseDataset> loose,
                   FindLooseDatasets(*jobs, cluster->store(), store));
  if (loose.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("nothing was dropped: no hold covers all of ", LooseText(loose),
                   "; start the coordinator with --store to hold them, or drop them with --yes"));
}

}  // namespace

absl::StatusOr<int> StoreStat(const ClusterAddress& cluster, rpc::TerminationSignal& signal,
                              Console& console) {
  Connection connection(cluster, signal, console);
  ASSIGN_OR_RETURN(const v1::StatResponse stat, connection.store().Stat(/*sum_holds=*/true));
  console.Answer("store", stat, StatText(stat));
  return kDone;
}

// The size of the whole store is read first, because the progress refers to it.
absl::StatusOr<int> StoreVerify(const ClusterAddress& cluster, bool drop_damaged,
                                rpc::TerminationSignal& signal, Console& console) {
  Connection connection(cluster, signal, console);
  ASSIGN_OR_RETURN(const v1::StatResponse whole, connection.store().Stat(/*sum_holds=*/false));
  absl::StatusOr<v1::VerifyProgress> last =
      connection.store().Verify(drop_damaged, [&](const v1::VerifyProgress& progress) {
        console.Progress({{"what", "blobs"}, {"done", progress.blobs()}, {"all", whole.blobs()}},
                         VerifyLine(progress, whole));
      });
  console.EndProgress();
  RETURN_IF_ERROR(last.status());
  console.Answer("verified", *last, VerifyText(*last, drop_damaged));
  return last->damaged().empty() ? kDone : kInputsFailed;
}

absl::StatusOr<int> StoreCollectGarbage(const ClusterAddress& cluster,
                                        const GarbageOptions& options,
                                        rpc::TerminationSignal& signal, Console& console) {
  Connection connection(cluster, signal, console);
  if (!options.yes) {
    ASSIGN_OR_RETURN(const v1::CollectGarbageResponse planned,
                     connection.store().CollectGarbage(options.target_bytes, /*dry_run=*/true));
    // A dry run that drops nothing makes the check, and so the coordinator, unnecessary.
    if (planned.dropped_blobs() > 0) {
      RETURN_IF_ERROR(CheckDatasets(cluster, connection.store(), signal, console));
    }
  }
  ASSIGN_OR_RETURN(const v1::CollectGarbageResponse response,
                   connection.store().CollectGarbage(options.target_bytes, /*dry_run=*/false));
  console.Answer("collected", response, GarbageText(response));
  return kDone;
}

// The store checks the request; results that are forgotten are made again by the next job that
// needs them.
absl::StatusOr<int> StoreForget(const ClusterAddress& cluster, const ForgetOptions& options,
                                rpc::TerminationSignal& signal, Console& console) {
  if (!options.stage.empty() && worker::FindStage(options.stage) == nullptr) {
    std::vector<std::string> known;
    for (const worker::StageInfo& stage : worker::StageTable()) known.emplace_back(stage.name);
    return absl::InvalidArgumentError(absl::StrCat(
        "--stage: unknown stage ", JsonString(options.stage), DidYouMean(options.stage, known)));
  }
  v1::ForgetResultsRequest request;
  request.set_stage(options.stage);
  request.set_version(options.version);
  request.set_worker(options.worker);
  request.set_dry_run(options.dry_run);
  Connection connection(cluster, signal, console);
  ASSIGN_OR_RETURN(const v1::ForgetResultsResponse response,
                   connection.store().ForgetResults(request));
  console.Answer("forgotten", response, ForgetText(response, options.dry_run));
  return kDone;
}

}  // namespace kernelmill::client
