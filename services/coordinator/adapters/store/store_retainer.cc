// The names of holds:
//
//   job/JOB@OWNER           a run
//   dataset/JOB@OWNER       a dataset: its first 50,000 blobs
//   dataset/JOB@OWNER#N     the N-th 50,000 blobs, from 2
#include "services/coordinator/adapters/store/store_retainer.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/base/status.h"
#include "common/cas/grpc_blob_store.h"
#include "common/manifest/walk.h"
#include "common/rpc/cancellation.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/store.grpc.pb.h"

namespace kernelmill::coordinator {
namespace {

constexpr absl::Duration kCallDeadline = absl::Seconds(30);
constexpr absl::Duration kReadDeadline = absl::Seconds(10);
// Well below the store's limit for one hold, and 4 MiB.
constexpr size_t kBlobsPerHold = 50'000;

class StoreRetainer : public Retainer {
 public:
  StoreRetainer(std::shared_ptr<grpc::Channel> channel, std::unique_ptr<cas::BlobStore> blobs,
                const std::string& owner)
      : stub_(v1::Store::NewStub(std::move(channel))),
        blobs_(std::move(blobs)),
        suffix_("@" + owner) {}

  // Lists the holds of this owner. A dataset is incomplete if one of its parts is missing: an
  // operator released it, or a call was cut off. parts_ may know of more parts than the store
  // lists.
  absl::StatusOr<Held> List() override {
    v1::StatResponse stat;
    RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return stub_->Stat(&context, v1::StatRequest(), &stat);
    }));
    Held held;
    std::map<std::string, int> parts;   // the highest part number
    std::map<std::string, int> listed;  // the number of existing parts
    for (const v1::HoldInfo& hold : stat.holds()) {
      absl::string_view name = hold.name();
      if (absl::ConsumePrefix(&name, "job/") && absl::ConsumeSuffix(&name, suffix_)) {
        held.runs.emplace_back(name);
      } else if (int part = 1; absl::ConsumePrefix(&name, "dataset/") && IsOurs(&name, &part)) {
        int& most = parts[std::string(name)];
        most = std::max(most, part);
        ++listed[std::string(name)];
      }
    }
    absl::MutexLock lock(&mutex_);
    for (auto& [job, most] : parts) {
      const auto known = parts_.find(job);
      if (known != parts_.end()) most = std::max(most, known->second);
      held.datasets.push_back(job);
      if (listed[job] < most) held.incomplete.push_back(job);
    }
    parts_ = std::move(parts);
    return held;
  }

  absl::Status HoldRun(const std::string& job, absl::Duration ttl) override {
    v1::HoldRequest request;
    request.set_name(RunName(job));
    request.set_everything_used_from_now(true);
    request.set_ttl_ms(absl::ToInt64Milliseconds(ttl));
    return Hold(request).status();
  }

  absl::Status ReleaseRun(const std::string& job) override { return Release(RunName(job)); }

  // Reads the manifest and holds all blobs that it names. DATA_LOSS: blobs are missing; the others
  // are held anyway. NOT_FOUND: the manifest is missing.
  absl::Status HoldDataset(const std::string& job, const cas::Digest& digest) override {
    ASSIGN_OR_RETURN(const auto manifest, cas::GetMessage<v1::DatasetManifest>(*blobs_, digest));
    const std::vector<cas::Digest> blobs = manifest::ListBlobs(manifest, digest);
    int64_t missing = 0;
    int part = 0;
    for (size_t begin = 0; begin < blobs.size(); begin += kBlobsPerHold) {
      const size_t end = std::min(blobs.size(), begin + kBlobsPerHold);
      v1::HoldRequest request;
      request.set_name(DatasetName(job, ++part));
      request.mutable_blobs()->Add(blobs.begin() + begin, blobs.begin() + end);
      ASSIGN_OR_RETURN(const v1::HoldResponse response, Hold(request));
      missing += response.missing_size();
    }
    RETURN_IF_ERROR(ReleaseParts(job, part));
    if (missing == 0) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat(missing, " of the ", blobs.size(), " blobs of dataset ",
                                            cas::ToString(digest), " are missing"));
  }

  absl::Status ReleaseDataset(const std::string& job) override { return ReleaseParts(job, 0); }

  void Cancel() override { calls_.CancelAll(); }

 private:
  std::string RunName(const std::string& job) const { return absl::StrCat("job/", job, suffix_); }
  std::string DatasetName(const std::string& job, int part) const {
    const std::string name = absl::StrCat("dataset/", job, suffix_);
    return part == 1 ? name : absl::StrCat(name, "#", part);
  }

  // Parses "JOB@OWNER" or "JOB@OWNER#N" into `name` and `part`. Returns false if the owner is
  // another.
  bool IsOurs(absl::string_view* name, int* part) const {
    const size_t mark = name->rfind('#');
    if (mark != absl::string_view::npos && absl::SimpleAtoi(name->substr(mark + 1), part)) {
      name->remove_suffix(name->size() - mark);
    }
    return absl::ConsumeSuffix(name, suffix_);
  }

  absl::StatusOr<v1::HoldResponse> Hold(const v1::HoldRequest& request) {
    v1::HoldResponse response;
    RETURN_IF_ERROR(Call(
        [&](grpc::ClientContext& context) { return stub_->Hold(&context, request, &response); }));
    return response;
  }

  absl::Status Release(const std::string& name) {
    v1::ReleaseRequest request;
    request.set_name(name);
    v1::ReleaseResponse response;
    return Call(
        [&](grpc::ClientContext& context) { return stub_->Release(&context, request, &response); });
  }

  // Releases the parts of a dataset's hold after the first `kept`.
  absl::Status ReleaseParts(const std::string& job, int kept) {
    int parts = 1;
    {
      absl::MutexLock lock(&mutex_);
      const auto known = parts_.find(job);
      if (known != parts_.end()) parts = known->second;
      parts_[job] = std::max(parts, kept);
    }
    for (int part = kept + 1; part <= parts; ++part) {
      RETURN_IF_ERROR(Release(DatasetName(job, part)));
    }
    absl::MutexLock lock(&mutex_);
    parts_[job] = kept;
    if (kept == 0) parts_.erase(job);
    return absl::OkStatus();
  }

  template <typename Try>
  absl::Status Call(Try&& attempt) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + absl::ToChronoSeconds(kCallDeadline));
    return calls_.Make(context, [&] { return attempt(context); });
  }

  const std::unique_ptr<v1::Store::Stub> stub_;
  const std::unique_ptr<cas::BlobStore> blobs_;
  const std::string suffix_;
  absl::Mutex mutex_;
  // The largest number of parts that each held dataset may have.
  std::map<std::string, int> parts_ ABSL_GUARDED_BY(mutex_);
  rpc::CancellableCalls calls_;
};

}  // namespace

std::unique_ptr<Retainer> NewStoreRetainer(std::shared_ptr<grpc::Channel> channel,
                                           const std::string& owner) {
  cas::GrpcBlobStoreOptions options;
  options.retry.max_attempts = 1;
  options.call_deadline = kReadDeadline;
  std::unique_ptr<cas::BlobStore> blobs = cas::NewGrpcBlobStore(channel, options);
  return NewStoreRetainer(std::move(channel), std::move(blobs), owner);
}

std::unique_ptr<Retainer> NewStoreRetainer(std::shared_ptr<grpc::Channel> channel,
                                           std::unique_ptr<cas::BlobStore> blobs,
                                           const std::string& owner) {
  return std::make_unique<StoreRetainer>(std::move(channel), std::move(blobs), owner);
}

}  // namespace kernelmill::coordinator
