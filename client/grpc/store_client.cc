// The client of the store's own service, over gRPC. A store of another kind implements only the
// remote execution API, and answers UNIMPLEMENTED.

#include "client/grpc/store_client.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/grpc/retrying_caller.h"
#include "common/base/status.h"
#include "kernelmill/v1/store.grpc.pb.h"

namespace kernelmill::client {
namespace {

absl::Status Explain(const absl::Status& status) {
  if (!absl::IsUnimplemented(status)) return status;
  return absl::UnimplementedError(absl::StrCat(status.message(), " Use that store's own tools"));
}

class GrpcStoreClient : public StoreClient {
 public:
  GrpcStoreClient(std::shared_ptr<grpc::Channel> channel, ReconnectOptions reconnect)
      : stub_(v1::Store::NewStub(std::move(channel))), caller_(std::move(reconnect)) {}

  absl::StatusOr<v1::StatResponse> Stat(bool sum_holds) override {
    v1::StatRequest request;
    request.set_sum_holds(sum_holds);
    return Ask<v1::StatResponse>("stat", &v1::Store::Stub::Stat, request);
  }

  absl::StatusOr<v1::VerifyProgress> Verify(
      bool drop_damaged,
      const std::function<void(const v1::VerifyProgress&)>& on_progress) override {
    v1::VerifyRequest request;
    request.set_drop_damaged(drop_damaged);
    v1::VerifyProgress sum;
    std::set<std::string> damaged;  // hashes
    const absl::Status ended = caller_.Stream([&](grpc::ClientContext& context) {
      const auto reader = stub_->Verify(&context, request);
      v1::VerifyProgress progress;
      while (reader->Read(&progress)) {
        // Counters are totals so far; only the damaged blobs come in pieces.
        sum.set_blobs(progress.blobs());
        sum.set_bytes(progress.bytes());
        sum.set_finished(progress.finished());
        // A long list comes in several messages.
        for (auto& digest : *progress.mutable_damaged()) {
          if (damaged.insert(digest.hash()).second) *sum.add_damaged() = std::move(digest);
        }
        on_progress(sum);
      }
      return reader->Finish();
    });
    RETURN_IF_ERROR(Annotate(Explain(ended), "verify"));
    // A store that stops ends the stream as well, so the end of the stream is not the end of the
    // work.
    if (!sum.finished())
      return absl::UnavailableError("verify: the store ended the call too early");
    return sum;
  }

  absl::StatusOr<v1::CollectGarbageResponse> CollectGarbage(int64_t target_bytes,
                                                            bool dry_run) override {
    v1::CollectGarbageRequest request;
    request.set_target_bytes(target_bytes);
    request.set_dry_run(dry_run);
    return Ask<v1::CollectGarbageResponse>("gc", &v1::Store::Stub::CollectGarbage, request);
  }

  absl::StatusOr<v1::ForgetResultsResponse> ForgetResults(
      const v1::ForgetResultsRequest& request) override {
    return Ask<v1::ForgetResultsResponse>("forget", &v1::Store::Stub::ForgetResults, request);
  }

  absl::StatusOr<v1::BackupResponse> Backup(const std::string& name) override {
    return Ask<v1::BackupResponse>("backup", &v1::Store::Stub::Backup, ToBackupRequest(name));
  }

  absl::StatusOr<v1::PruneBackupsResponse> PruneBackups(int keep, absl::Duration max_age) override {
    return Ask<v1::PruneBackupsResponse>("prune", &v1::Store::Stub::PruneBackups,
                                         ToPruneRequest(keep, max_age));
  }

  absl::Status Hold(const std::string& name, const std::vector<cas::Digest>& blobs,
                    absl::Duration ttl) override {
    v1::HoldRequest request;
    request.set_name(name);
    request.mutable_blobs()->Add(blobs.begin(), blobs.end());
    request.set_ttl_ms(absl::ToInt64Milliseconds(ttl));
    return Ask<v1::HoldResponse>("hold", &v1::Store::Stub::Hold, request).status();
  }

  absl::Status Release(const std::string& name) override {
    v1::ReleaseRequest request;
    request.set_name(name);
    return Ask<v1::ReleaseResponse>("release", &v1::Store::Stub::Release, request).status();
  }

  void Interrupt() override { caller_.Interrupt(); }

 private:
  // Makes a call without a deadline: a collection or a backup may take hours.
  template <typename Response, typename Request>
  absl::StatusOr<Response> Ask(absl::string_view what,
                               grpc::Status (v1::Store::Stub::*call)(grpc::ClientContext*,
                                                                     const Request&, Response*),
                               const Request& request) {
    Response response;
    const auto attempt = [&](grpc::ClientContext& context) {
      return ((*stub_).*call)(&context, request, &response);
    };
    RETURN_IF_ERROR(Explain(caller_.Call(what, attempt, absl::InfiniteDuration())));
    return response;
  }

  const std::unique_ptr<v1::Store::Stub> stub_;
  RetryingCaller caller_;
};

}  // namespace

std::unique_ptr<StoreClient> NewStoreClient(std::shared_ptr<grpc::Channel> channel,
                                            ReconnectOptions reconnect) {
  return std::make_unique<GrpcStoreClient>(std::move(channel), std::move(reconnect));
}

}  // namespace kernelmill::client
