// cache_forger: what a stranger, or a worker that went bad, tries on an action cache.
//
//   lease COORDINATOR STAGE      takes one task of the stage: "ACTION GRANT", or "none"
//   poison STORE ACTION STAGE [GRANT]
//                                writes a result with a foreign kernel under the action. "CODE
//                                message" for its blob, and for the result
//
// Digests are "hash/size", grants hexadecimal, "-" where there is none. KERNELMILL_TLS_CA, _CERT
// and _KEY give an identity.
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/access/credentials.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/cas/grpc_blob_store.h"
#include "common/cas/result_origin.h"
#include "common/rpc/server.h"
#include "common/rpc/status.h"
#include "common/worker/stage.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/work.grpc.pb.h"

namespace kernelmill {
namespace {

using Words = std::vector<std::string>;

constexpr char kInjected[] = "__import__('os').system('id')";

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(const std::string& address) {
  access::Identity identity;
  identity.authority = Environment("KERNELMILL_TLS_CA");
  identity.certificate = Environment("KERNELMILL_TLS_CERT");
  identity.key = Environment("KERNELMILL_TLS_KEY");
  ASSIGN_OR_RETURN(const auto credentials, access::ChannelCredentials(identity));
  return rpc::Connect(address, credentials);
}

absl::StatusOr<std::unique_ptr<cas::BlobStore>> ConnectStore(const std::string& address) {
  ASSIGN_OR_RETURN(const auto channel, Connect(address));
  return cas::NewGrpcBlobStore(channel, {.retry = {.max_attempts = 1}});
}

absl::Status Lease(const Words& words) {
  ASSIGN_OR_RETURN(const auto channel, Connect(words[1]));
  const worker::StageInfo* const stage = worker::FindStage(words[2]);
  if (stage == nullptr) return absl::InvalidArgumentError("no such stage");
  v1::LeaseRequest request;
  request.set_worker("forger");
  request.set_max_tasks(1);
  request.set_wait_ms(15'000);
  v1::StageName& name = *request.add_stages();
  name.set_stage(std::string(stage->name));
  name.set_version(stage->version);
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(30)));
  v1::LeaseResponse response;
  RETURN_IF_ERROR(
      rpc::FromGrpcStatus(v1::Work::NewStub(channel)->Lease(&context, request, &response)));
  if (response.tasks().empty()) {
    std::puts("none");
    return absl::OkStatus();
  }
  const v1::LeasedTask& task = response.tasks(0);
  const std::string grant = absl::BytesToHexString(task.grant());
  std::printf("%s %s\n", cas::ToString(worker::ActionDigest(task.action())).c_str(),
              grant.empty() ? "-" : grant.c_str());
  return absl::OkStatus();
}

// The kernels of the result that is there, each with a line of ours before its last; else one
// kernel of ours.
v1::KernelShard Foreign(cas::BlobStore& store, const cas::Digest& action) {
  v1::KernelShard shard;
  if (const auto kept = store.GetActionResult(action); kept.ok()) {
    if (const auto result = worker::DecodeResult(*kept); result.ok()) {
      shard = cas::GetMessage<v1::KernelShard>(store, result->outputs(0).digest())
                  .value_or(v1::KernelShard());
    }
  }
  if (shard.kernels().empty()) shard.add_kernels()->set_name("foreign");
  for (v1::Kernel& kernel : *shard.mutable_kernels()) {
    kernel.set_source(absl::StrCat(kernel.source(), "    ", kInjected, "\n"));
  }
  return shard;
}

void Tell(const absl::Status& status) {
  std::printf("%s %s\n", absl::StatusCodeToString(status.code()).c_str(),
              std::string(status.message()).c_str());
}

absl::Status Poison(const Words& words) {
  ASSIGN_OR_RETURN(const auto store, ConnectStore(words[1]));
  ASSIGN_OR_RETURN(const cas::Digest action, cas::ParseDigest(words[2]));
  const v1::KernelShard shard = Foreign(*store, action);
  const std::string bytes = cas::SerializeDeterministically(shard);
  const cas::Digest digest = cas::ComputeDigest(bytes);
  Tell(store->Put({{digest, bytes}}));
  v1::StageResult result;
  worker::AddOutput(result, "kernels", digest, shard.kernels_size());
  worker::AddCounter(result, "kernels.found", shard.kernels_size());
  cas::ActionResult encoded = worker::EncodeResult(result);
  const worker::StageInfo* const stage = worker::FindStage(words[3]);
  if (stage == nullptr) return absl::InvalidArgumentError("no such stage");
  cas::SetStage(std::string(stage->name), stage->version, &encoded);
  cas::SetWorker("a good worker", &encoded);
  const std::string grant =
      words.size() > 4 && words[4] != "-" ? absl::HexStringToBytes(words[4]) : std::string();
  Tell(dynamic_cast<cas::GrantedResults&>(*store).PutGrantedResult(action, encoded, grant));
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  ConfigureLog("cache_forger", LogLevel::kNone);
  const Words words(argv + 1, argv + argc);
  absl::Status status = absl::InvalidArgumentError("see main.cc");
  if (words.size() == 3 && words[0] == "lease") status = Lease(words);
  if ((words.size() == 4 || words.size() == 5) && words[0] == "poison") status = Poison(words);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return absl::IsInvalidArgument(status) ? 2 : 1;
}

}  // namespace
}  // namespace kernelmill

int main(int argc, char** argv) { return kernelmill::Main(argc, argv); }
