// The stages of the fetcher: each decodes its action, calls the core, counts the request for the
// metrics and stores the outputs. Failed files are named in the result for the coordinator's log,
// at most kMaxFailures of them; the tree has them all.
#include "services/fetcher/server/fetcher_stages.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/retry_after.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/cas/digest.h"
#include "common/job/source_spec.h"
#include "common/metrics/metrics.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/fetcher/adapters/github/github_client.h"
#include "services/fetcher/core/discover/discover.h"
#include "services/fetcher/core/history/walk_history.h"
#include "services/fetcher/server/history_output.h"
#include "services/fetcher/server/sources.h"
#include "services/fetcher/server/store_caches.h"

namespace kernelmill::fetcher {
namespace {

// One request to a host for the metrics, whatever calls it takes: to pin a source, to fetch it, or
// to search. Local sources have no host and are not counted.
class HostRequest {
 public:
  explicit HostRequest(const v1::Source& source);

  // Counts the request's result and the bytes that were received.
  void End(const absl::Status& status, int64_t bytes = 0) const;

 private:
  const std::string host_;
  const std::string kind_;
  const std::chrono::steady_clock::time_point start_;
};

// Returns the host as a label of a metric. After 50 different hosts the others share one label, so
// that a search with many hosts cannot grow the metrics without bound.
std::string BoundedHost(const std::string& host) {
  static auto* const hosts = new metrics::BoundedLabel(50);
  return host.empty() ? host : hosts->ValueFor(host);
}

const char* SourceKind(const v1::Source& source) {
  if (source.has_git()) return "git";
  return source.has_package() ? "package" : "search";
}

// Returns the `result` label. A rate limit is told apart from other errors, since it asks for
// patience and not for repair.
const char* ResultWord(const absl::Status& status) {
  if (status.ok()) return "ok";
  if (GetRetryAfter(status).has_value() || absl::IsResourceExhausted(status)) return "rate_limited";
  if (absl::IsNotFound(status)) return "not_found";
  if (absl::IsPermissionDenied(status) || absl::IsUnauthenticated(status)) return "denied";
  return absl::IsDeadlineExceeded(status) ? "timeout" : "error";
}

HostRequest::HostRequest(const v1::Source& source)
    : host_(BoundedHost(job::SourceHost(source))),
      kind_(SourceKind(source)),
      start_(std::chrono::steady_clock::now()) {}

void HostRequest::End(const absl::Status& status, int64_t bytes) const {
  if (host_.empty()) return;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
  metrics::Histogram(metrics::kFetchSeconds, {{"kind", kind_}}).Observe(taken.count());
  // All results of a host, so that Prometheus sees the first of each as an increase.
  metrics::Prefill(metrics::kFetchRequests,
                   {{"host", {host_}},
                    {"kind", {kind_}},
                    {"result", {"ok", "not_found", "denied", "rate_limited", "timeout", "error"}}});
  metrics::Counter(metrics::kFetchRequests,
                   {{"host", host_}, {"kind", kind_}, {"result", ResultWord(status)}})
      .Increment();
  metrics::Counter(metrics::kFetchedBytes, {{"host", host_}}).Increment(static_cast<double>(bytes));
  const std::optional<absl::Duration> wait = GetRetryAfter(status);
  metrics::Counter(metrics::kHostPauseSeconds, {{"host", host_}})
      .Increment(absl::ToDoubleSeconds(wait.value_or(absl::ZeroDuration())));
}

// Makes the series that are known before the first request.
void PrefillFetchMetrics() {
  metrics::Prefill(metrics::kFetchSeconds, {{"kind", {"git", "package", "search"}}});
}

// Lists the repositories of a search. Its result is not cached, since the search asks the world.
class DiscoverStage : public worker::Stage {
 public:
  explicit DiscoverStage(const FetcherOptions& options) : options_(options) {}

  worker::StageId id() const override { return worker::StageId::kDiscover; }

  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    if (!action.params().has_discover()) {
      return absl::InvalidArgumentError("the action has no parameters of the stage discover");
    }
    GithubOptions github;
    github.api = options_.github_api;
    github.hosts = options_.hosts;
    github.time = options_.command_timeout;
    // Read each time, since tokens are replaced while a fetcher runs.
    ASSIGN_OR_RETURN(github.token, ReadTokenFile(options_.github_token_file));
    StorePageCache pages(store);
    GithubClient client(std::move(github), pages);
    v1::Source search;
    *search.mutable_discover() = action.params().discover().discover();
    const HostRequest request(search);
    const absl::StatusOr<Discovery> found_or = DiscoverRepositories(search.discover(), client);
    request.End(found_or.status());
    RETURN_IF_ERROR(found_or.status());
    const Discovery& found = *found_or;
    v1::StageResult result;
    result.mutable_found()->Add(found.urls.begin(), found.urls.end());
    worker::AddCounter(result, "discover.requests", client.requests());
    worker::AddCounter(result, "discover.not_modified", client.not_modified());
    worker::AddCounter(result, "discover.repositories", static_cast<int64_t>(found.urls.size()));
    worker::AddCounter(result, "discover.incomplete", found.incomplete);
    worker::AddCounter(result, "discover.out_of_reach", found.out_of_reach);
    return result;
  }

 private:
  const FetcherOptions options_;
};

}  // namespace

std::unique_ptr<worker::Stage> NewDiscoverStage(const FetcherOptions& options) {
  return std::make_unique<DiscoverStage>(options);
}

namespace {

constexpr int64_t kBatchBytes = 8 << 20;  // bytes of blobs that are stored in one call
constexpr int kMaxFailures = 100;         // that a result names

// Resolves a source's ref or version.
class PinStage : public worker::Stage {
 public:
  explicit PinStage(std::shared_ptr<Sources> sources) : sources_(std::move(sources)) {}

  worker::StageId id() const override { return worker::StageId::kPin; }

  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore&) override {
    if (!action.params().has_pin())
      return absl::InvalidArgumentError("the action has no parameters of the stage pin");
    const v1::PinParams& params = action.params().pin();
    const v1::Source& source = params.source();
    const HostRequest request(source);
    absl::StatusOr<v1::Source> pinned = sources_->Pin(source, params.require_hashes());
    request.End(pinned.status());
    RETURN_IF_ERROR(pinned.status());
    v1::StageResult result;
    *result.mutable_pinned() = *std::move(pinned);
    return result;
  }

 private:
  const std::shared_ptr<Sources> sources_;
};

// Stores file shards, several in one call, and adds them to a result in order.
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

// Names the first files that failed.
void AddFailures(const v1::SourceTree& tree, v1::StageResult& result) {
  for (const v1::FileEntry& file : tree.files()) {
    if (file.fate() != v1::FILE_FATE_FAILED) continue;
    if (result.failures_size() == kMaxFailures) return;
    v1::FileFailure& failure = *result.add_failures();
    failure.set_path(file.path());
    failure.set_reason(file.reason());
  }
}

// Fetches a pinned source: stores its tree, then its file shards in the tree's order.
class FetchStage : public worker::Stage {
 public:
  FetchStage(std::shared_ptr<Sources> sources, const ShardLimits& limits,
             const HistoryLimits& history)
      : sources_(std::move(sources)), limits_(limits), history_(history) {}

  worker::StageId id() const override { return worker::StageId::kFetch; }

  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    if (!action.params().has_fetch()) {
      return absl::InvalidArgumentError("the action has no parameters of the stage fetch");
    }
    // The cache is a part of the store, so that any worker can go on from the fetch of another one.
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
    for (const std::vector<size_t>& files : ListShards(fetched.tree, limits_)) {
      ASSIGN_OR_RETURN(const v1::FileShard shard,
                       ReadShard(*fetched.snapshot, fetched.tree, files));
      RETURN_IF_ERROR(writer.Add(shard));
    }
    RETURN_IF_ERROR(writer.Flush());
    if (source.has_history()) {
      RETURN_IF_ERROR(
          Annotate(AddHistory(*fetched.snapshot, source, history_, store, result), "history"));
    }
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
  const HistoryLimits history_;
};

}  // namespace

std::vector<std::unique_ptr<worker::Stage>> NewFetcherStages(const FetcherOptions& options) {
  PrefillFetchMetrics();
  const auto sources = std::make_shared<Sources>(options);
  std::vector<std::unique_ptr<worker::Stage>> stages;
  stages.push_back(NewDiscoverStage(options));
  stages.push_back(std::make_unique<PinStage>(sources));
  stages.push_back(std::make_unique<FetchStage>(sources, options.content.shard, HistoryLimits()));
  return stages;
}

}  // namespace kernelmill::fetcher
