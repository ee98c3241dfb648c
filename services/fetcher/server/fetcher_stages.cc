#include "services/fetcher/server/fetcher_stages.h"

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/cas/digest.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/fetcher/server/discover_stage.h"
#include "services/fetcher/server/fetch_metrics.h"
#include "services/fetcher/server/sources.h"
#include "services/fetcher/server/store_caches.h"

namespace kernelmill::fetcher {
namespace {

constexpr int64_t kBatchBytes = 8 << 20;  // of blobs that are stored in one call
constexpr int kMaxFailures = 100;         // that a result names

class PinStage : public worker::Stage {
 public:
  explicit PinStage(std::shared_ptr<Sources> sources) : sources_(std::move(sources)) {}

  worker::StageId id() const override { return worker::StageId::kPin; }

  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore&) override {
    if (!action.params().has_pin()) return absl::InvalidArgumentError("pin without its parameters");
    const v1::Source& source = action.params().pin().source();
    const HostRequest request(source);
    absl::StatusOr<v1::Source> pinned = sources_->Pin(source);
    request.End(pinned.status());
    RETURN_IF_ERROR(pinned.status());
    v1::StageResult result;
    *result.mutable_pinned() = *std::move(pinned);
    return result;
  }

 private:
  const std::shared_ptr<Sources> sources_;
};

// Stores file shards, several in one call, and adds them to a result in the order of their coming.
class ShardWriter {
 public:
  ShardWriter(cas::BlobStore& store, v1::StageResult& result) : store_(store), result_(result) {}

  absl::Status Add(const v1::FileShard& shard) {
    cas::Blob blob;
    blob.bytes = cas::SerializeDeterministically(shard);
    blob.digest = cas::ComputeDigest(blob.bytes);
    worker::AddOutput(result_, "files", blob.digest, shard.files_size());
    bytes_ += blob.digest.size_bytes();
    batch_.push_back(std::move(blob));
    return bytes_ >= kBatchBytes ? Flush() : absl::OkStatus();
  }

  absl::Status Flush() {
    if (batch_.empty()) return absl::OkStatus();
    bytes_ = 0;
    return store_.Put(std::exchange(batch_, {}));
  }

 private:
  cas::BlobStore& store_;
  v1::StageResult& result_;
  std::vector<cas::Blob> batch_;
  int64_t bytes_ = 0;
};

void AddFailures(const v1::SourceTree& tree, v1::StageResult& result) {
  for (const v1::FileEntry& file : tree.files()) {
    if (file.fate() != v1::FILE_FATE_FAILED) continue;
    if (result.failures_size() == kMaxFailures) return;
    v1::FileFailure& failure = *result.add_failures();
    failure.set_path(file.path());
    failure.set_reason(file.reason());
  }
}

class FetchStage : public worker::Stage {
 public:
  FetchStage(std::shared_ptr<Sources> sources, const ShardLimits& limits)
      : sources_(std::move(sources)), limits_(limits) {}

  worker::StageId id() const override { return worker::StageId::kFetch; }

  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    if (!action.params().has_fetch()) {
      return absl::InvalidArgumentError("fetch without its parameters");
    }
    StoreFetchCache cache(store);
    const v1::Source& source = action.params().fetch().source();
    const HostRequest request(source);
    const absl::StatusOr<FetchedSource> fetched_or = sources_->Fetch(source, cache);
    request.End(fetched_or.status(),
                fetched_or.ok() ? fetched_or->snapshot->listing().bytes_received : 0);
    RETURN_IF_ERROR(fetched_or.status());
    const FetchedSource& fetched = *fetched_or;
    v1::StageResult result;
    ASSIGN_OR_RETURN(const cas::Digest tree, cas::PutMessage(store, fetched.tree));
    worker::AddOutput(result, "tree", tree, fetched.tree.files_size());
    ShardWriter writer(store, result);
    for (const std::vector<size_t>& files : ShardsOf(fetched.tree, limits_)) {
      ASSIGN_OR_RETURN(const v1::FileShard shard,
                       ReadShard(*fetched.snapshot, fetched.tree, files));
      RETURN_IF_ERROR(writer.Add(shard));
    }
    RETURN_IF_ERROR(writer.Flush());
    for (const auto& [name, value] : CountFiles(fetched.tree)) {
      worker::AddCounter(result, name, value);
    }
    AddFailures(fetched.tree, result);
    const Listing& listing = fetched.snapshot->listing();
    worker::AddCounter(result, "bytes.received", listing.bytes_received);
    worker::AddCounter(result, "sources.unfiltered", listing.unfiltered ? 1 : 0);
    return result;
  }

 private:
  const std::shared_ptr<Sources> sources_;
  const ShardLimits limits_;
};

}  // namespace

std::vector<std::unique_ptr<worker::Stage>> NewFetcherStages(const FetcherOptions& options) {
  PrefillFetchMetrics();
  const auto sources = std::make_shared<Sources>(options);
  std::vector<std::unique_ptr<worker::Stage>> stages;
  stages.push_back(NewDiscoverStage(options));
  stages.push_back(std::make_unique<PinStage>(sources));
  stages.push_back(std::make_unique<FetchStage>(sources, options.content.shard));
  return stages;
}

}  // namespace kernelmill::fetcher
