#include "client/commands/kept_datasets.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/console/format.h"
#include "common/base/status.h"
#include "common/manifest/walk.h"
#include "kernelmill/v1/dataset.pb.h"

namespace kernelmill::client {
namespace {

constexpr size_t kBlobsPerHold = 50'000;  // as the coordinator's
constexpr absl::Duration kHoldFor = absl::Minutes(10);
constexpr size_t kMostNamed = 10;

struct Kept {
  std::string job;
  cas::Digest manifest;
  std::vector<cas::Digest> blobs;
};

absl::StatusOr<std::vector<Kept>> KeptDatasets(const std::vector<v1::JobStatus>& jobs,
                                               cas::BlobStore& blobs) {
  std::vector<Kept> kept;
  for (const v1::JobStatus& job : jobs) {
    if (job.state() != v1::JOB_STATE_DONE || !job.has_dataset()) continue;
    const auto manifest = cas::GetMessage<v1::DatasetManifest>(blobs, job.dataset());
    if (absl::IsNotFound(manifest.status()) || absl::IsDataLoss(manifest.status())) continue;
    RETURN_IF_ERROR(manifest.status());
    kept.push_back({job.job(), job.dataset(), manifest::ListBlobs(*manifest, job.dataset())});
  }
  return kept;
}

// Holds blobs for as long as it lives, or for kHoldFor if this process ends before.
class TemporaryHold {
 public:
  explicit TemporaryHold(StoreClient& store)
      : store_(store),
        name_(absl::StrCat("gc-check/", ::getpid(), "-", absl::ToUnixMicros(absl::Now()))) {}
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

// What a collection of everything would drop.
absl::StatusOr<int64_t> Droppable(StoreClient& store) {
  ASSIGN_OR_RETURN(const auto told, store.CollectGarbage(/*target_bytes=*/0, /*dry_run=*/true));
  return told.dropped_bytes();
}

// How much of that is these blobs.
absl::StatusOr<int64_t> Loose(const std::vector<const Kept*>& kept, StoreClient& store) {
  ASSIGN_OR_RETURN(const int64_t all, Droppable(store));
  TemporaryHold hold(store);
  for (const Kept* one : kept) RETURN_IF_ERROR(hold.Add(one->blobs));
  ASSIGN_OR_RETURN(const int64_t others, Droppable(store));
  return std::max<int64_t>(all - others, 0);
}

}  // namespace

absl::StatusOr<std::vector<LooseDataset>> LooseDatasets(const std::vector<v1::JobStatus>& jobs,
                                                        cas::BlobStore& blobs, StoreClient& store) {
  ASSIGN_OR_RETURN(const std::vector<Kept> kept, KeptDatasets(jobs, blobs));
  std::vector<const Kept*> all;
  for (const Kept& one : kept) all.push_back(&one);
  ASSIGN_OR_RETURN(const int64_t together, Loose(all, store));
  std::vector<LooseDataset> loose;
  if (together == 0) return loose;  // as it should be: one question for all of them
  for (const Kept* one : all) {
    ASSIGN_OR_RETURN(const int64_t bytes, Loose({one}, store));
    if (bytes > 0) loose.push_back({one->job, one->manifest, bytes});
  }
  return loose;
}

std::string LooseText(const std::vector<LooseDataset>& loose) {
  std::string text =
      absl::StrCat(loose.size(), loose.size() == 1 ? " dataset" : " datasets", " of jobs: ");
  for (size_t i = 0; i < loose.size() && i < kMostNamed; ++i) {
    absl::StrAppend(&text, i > 0 ? ", " : "", loose[i].job, " (", cas::ToString(loose[i].manifest),
                    ", ", ShortBytes(loose[i].bytes), ")");
  }
  if (loose.size() > kMostNamed) absl::StrAppend(&text, ", ...");
  return text;
}

}  // namespace kernelmill::client
