// A proxy of the coordinator that falsifies the results of honest workers, as a malicious worker
// would.

#include <grpcpp/client_context.h>
#include <grpcpp/server_context.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/cas/grpc_blob_store.h"
#include "common/rpc/server.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/work.grpc.pb.h"
#include "tests/chaos/client/commands.h"

namespace kernelmill::chaos {
namespace {

// The falsifications; each only changes the results of its stage.
class Liar {
 public:
  Liar(cas::BlobStore* store, Words words)
      : store_(*store), what_(words[0]), words_(std::move(words)) {}

  // Falsifies the stage's result. Returns whether it did.
  absl::StatusOr<bool> Lie(const std::string& stage, v1::StageResult* result) {
    if (what_ == "pin" && stage == "pin") {
      result->mutable_pinned()->set_git(words_[1]);
      result->mutable_pinned()->set_ref(words_.at(2));
      return true;
    }
    if ((what_ == "source" && stage == "extract") || (what_ == "hash" && stage == "link")) {
      bool lied = false;
      for (v1::NamedDigest& output : *result->mutable_outputs()) {
        ASSIGN_OR_RETURN(const bool changed, LieAboutShard(output.mutable_digest()));
        lied |= changed;
      }
      return lied;
    }
    if (what_ == "manifest" && stage == "manifest") return LieAboutDataset(result);
    return false;
  }

 private:
  absl::StatusOr<bool> LieAboutShard(cas::Digest* digest) {
    ASSIGN_OR_RETURN(auto shard, cas::GetMessage<v1::KernelShard>(store_, *digest));
    if (shard.kernels().empty()) return false;
    v1::Kernel& kernel = *shard.mutable_kernels(0);
    if (what_ != "hash") kernel.set_source(words_[1]);
    kernel.set_sha256(Sha256Hex(words_[1]));
    ASSIGN_OR_RETURN(*digest, cas::PutMessage(store_, shard));
    return true;
  }

  absl::StatusOr<bool> LieAboutDataset(v1::StageResult* result) {
    cas::Digest& digest = *result->mutable_outputs(0)->mutable_digest();
    ASSIGN_OR_RETURN(auto manifest, cas::GetMessage<v1::DatasetManifest>(store_, digest));
    ASSIGN_OR_RETURN(const bool lied,
                     LieAboutShard(manifest.mutable_sources(0)->mutable_kernels(0)));
    ASSIGN_OR_RETURN(digest, cas::PutMessage(store_, manifest));
    return lied;
  }

  cas::BlobStore& store_;
  const std::string what_;
  const Words words_;
};

class Forger : public v1::Work::Service {
 public:
  Forger(const std::string& coordinator, Liar* liar)
      : stub_(v1::Work::NewStub(rpc::Connect(coordinator))), liar_(*liar) {}

  grpc::Status Lease(grpc::ServerContext* context, const v1::LeaseRequest* request,
                     v1::LeaseResponse* response) override {
    const auto call = grpc::ClientContext::FromServerContext(*context);
    const grpc::Status status = stub_->Lease(call.get(), *request, response);
    absl::MutexLock lock(&mutex_);
    for (const v1::LeasedTask& task : response->tasks()) {
      stages_[task.task()] = task.action().stage();
    }
    return status;
  }

  grpc::Status Renew(grpc::ServerContext* context, const v1::RenewRequest* request,
                     v1::RenewResponse* response) override {
    const auto call = grpc::ClientContext::FromServerContext(*context);
    return stub_->Renew(call.get(), *request, response);
  }

  grpc::Status Complete(grpc::ServerContext* context, const v1::CompleteRequest* request,
                        v1::CompleteResponse* response) override {
    v1::CompleteRequest forged = *request;
    std::map<int, std::string> lies;  // the stages of falsified completions, by index
    for (int i = 0; i < forged.completions_size(); ++i) {
      v1::Completion& completion = *forged.mutable_completions(i);
      if (!completion.has_result()) continue;
      const std::string stage = GetTaskStage(completion.lease().task());
      const absl::StatusOr<bool> lied = liar_.Lie(stage, completion.mutable_result());
      if (!lied.ok()) std::printf("could not lie: %s\n", lied.status().ToString().c_str());
      if (lied.ok() && *lied) lies[i] = stage;
    }
    const auto call = grpc::ClientContext::FromServerContext(*context);
    const grpc::Status status = stub_->Complete(call.get(), forged, response);
    for (const auto& [i, stage] : lies) {
      if (i >= response->statuses_size()) continue;
      const auto code = static_cast<absl::StatusCode>(response->statuses(i).code());
      std::printf("forged %s %s\n", stage.c_str(), absl::StatusCodeToString(code).c_str());
    }
    return status;
  }

 private:
  std::string GetTaskStage(uint64_t task) {
    absl::MutexLock lock(&mutex_);
    return stages_[task];
  }

  const std::unique_ptr<v1::Work::Stub> stub_;
  Liar& liar_;
  absl::Mutex mutex_;
  std::map<uint64_t, std::string> stages_ ABSL_GUARDED_BY(mutex_);  // the stages of leased tasks
};

}  // namespace

int Forge(const Words& words) {
  rpc::TerminationSignal termination;
  const auto store = cas::NewGrpcBlobStore(rpc::Connect(words[2]), {});
  Liar liar(store.get(), {words.begin() + 3, words.end()});
  Forger forger(words[1], &liar);
  const auto server = rpc::Server::Start({.address = words[0]}, {&forger});
  if (!server.ok()) {
    std::fprintf(stderr, "%s\n", server.status().ToString().c_str());
    return 2;
  }
  std::puts("serving");
  termination.Wait();
  (*server)->Shutdown(absl::Seconds(5));
  return 0;
}

}  // namespace kernelmill::chaos
