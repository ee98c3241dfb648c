#include "common/worker/process/worker_process.h"

#include <errno.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "common/base/locks.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/cas/grpc_blob_store.h"
#include "common/rpc/readiness.h"
#include "common/rpc/server.h"
#include "common/rpc/status.h"
#include "common/server_process/server_process.h"
#include "common/worker/work_queue.h"
#include "common/worker/worker.h"
#include "kernelmill/v1/work.grpc.pb.h"

namespace kernelmill::worker {
namespace {

constexpr int kStuckExit = 70;  // EX_SOFTWARE of sysexits.h
// A server that is not there within this time is waited for later.
constexpr absl::Duration kPatience = absl::Seconds(2);

// The process id tells workers of one host apart.
std::string DefaultName() {
  char host[256] = {};
  if (::gethostname(host, sizeof(host) - 1) != 0) return absl::StrCat("worker:", ::getpid());
  return absl::StrCat(host, ":", ::getpid());
}

// Serves and runs tasks until a signal comes.
absl::Status Serve(const flags::ServerFlags& flags, const flags::WorkerFlags& worker_flags,
                   const std::vector<Stage*>& stages, const MakeService& make_service,
                   rpc::TerminationSignal& termination) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ServerProcess> process, ServerProcess::Open(flags));
  const auto& credentials = process->client_credentials();
  const std::shared_ptr<grpc::Channel> to_store = rpc::Connect(worker_flags.store, credentials);
  const std::shared_ptr<grpc::Channel> to_coordinator =
      rpc::ConnectForLargeAnswers(worker_flags.coordinator, credentials);
  const std::unique_ptr<cas::BlobStore> store = cas::NewGrpcBlobStore(to_store, {});
  // A worker may also serve calls of its own, such as Extract.
  const std::unique_ptr<grpc::Service> service = make_service ? make_service(*store) : nullptr;
  std::vector<grpc::Service*> services;
  if (service != nullptr) services.push_back(service.get());
  // Health is served before the peers are checked, so that a probe sees the process early.
  ASSIGN_OR_RETURN(const std::unique_ptr<rpc::Server> server, process->Serve(services));
  RETURN_IF_ERROR(CheckPeers(to_coordinator, to_store, kPatience));
  const rpc::Readiness readiness(*server, [&]() -> absl::Status {
    RETURN_IF_ERROR(rpc::CheckReach(*to_store, absl::StrCat("the store ", worker_flags.store)));
    return rpc::CheckReach(*to_coordinator,
                           absl::StrCat("the coordinator ", worker_flags.coordinator));
  });
  const std::unique_ptr<WorkQueue> queue = NewGrpcWorkQueue(to_coordinator);
  Worker::Options options;
  options.name = worker_flags.name.empty() ? DefaultName() : worker_flags.name;
  options.version = flags.version;
  options.slots = worker_flags.slots;
  options.task_timeout = absl::Seconds(worker_flags.task_timeout_seconds);
  // quick_exit runs no destructors, which would wait for the stuck stage.
  options.on_stuck = [] { std::quick_exit(kStuckExit); };
  Worker worker(options, *queue, *store, stages);
  worker.Start();
  LogInfo("working", {{"name", options.name},
                      {"port", server->port()},
                      {"slots", options.slots},
                      {"coordinator", worker_flags.coordinator},
                      {"store", worker_flags.store}});
  termination.Wait();
  bool finished = false;
  // First readiness ends, so that no new calls come; then the worker drains.
  Drain(*server, absl::Seconds(1),
        [&] { finished = worker.Drain(absl::Seconds(flags.drain_seconds)); });
  if (finished) return absl::OkStatus();
  // A stage does not stop. Its task was handed back, and every blob that it stored is complete, so
  // the process can exit without it.
  LogWarning("exiting while a stage is running");
  std::quick_exit(0);
}

}  // namespace

// The signal mask must be set before any thread starts, so it comes first.
int RunWorkerProcess(const flags::ServerFlags& server_flags, const flags::WorkerFlags& worker_flags,
                     const std::vector<std::unique_ptr<Stage>>& stages,
                     const MakeService& make_service) {
  EndDeadlockSearch();
  rpc::TerminationSignal termination;
  ConfigureLog(absl::StripPrefix(program_invocation_short_name, "kernelmill-"),
               server_flags.log_level);
  std::vector<Stage*> borrowed;
  for (const std::unique_ptr<Stage>& stage : stages) borrowed.push_back(stage.get());
  return ServerExitStatus(Serve(server_flags, worker_flags, borrowed, make_service, termination));
}

namespace {

namespace reapi = build::bazel::remote::execution::v2;

// Keeps only the errors of a wrong server.
absl::Status OnlyWrongServer(const grpc::Status& status) {
  const absl::Status answer = rpc::FromCallStatus(status);
  return absl::IsUnimplemented(answer) || absl::IsFailedPrecondition(answer) ? answer
                                                                             : absl::OkStatus();
}

}  // namespace

// Makes a harmless call to each server (renewing no lease, looking for no blob) and returns an
// error only if the wrong kind of server answers. So swapped addresses end the program at its start
// with a clear message, and not after minutes of retries.
absl::Status CheckPeers(const std::shared_ptr<grpc::Channel>& coordinator,
                        const std::shared_ptr<grpc::Channel>& store, absl::Duration patience) {
  const auto deadline = [patience] { return absl::ToChronoTime(absl::Now() + patience); };
  {
    grpc::ClientContext context;
    context.set_deadline(deadline());
    v1::RenewResponse response;
    RETURN_IF_ERROR(OnlyWrongServer(
        v1::Work::NewStub(coordinator)->Renew(&context, v1::RenewRequest(), &response)));
  }
  grpc::ClientContext context;
  context.set_deadline(deadline());
  reapi::FindMissingBlobsResponse response;
  return OnlyWrongServer(reapi::ContentAddressableStorage::NewStub(store)->FindMissingBlobs(
      &context, reapi::FindMissingBlobsRequest(), &response));
}

}  // namespace kernelmill::worker
