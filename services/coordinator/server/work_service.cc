#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/access/authorizer.h"
#include "common/base/status.h"
#include "common/cas/digest.h"
#include "common/rpc/status.h"
#include "common/worker/stage.h"
#include "common/worker/stage_table.h"
#include "common/worker/work_queue.h"
#include "services/coordinator/server/coordinator_metrics.h"
#include "services/coordinator/server/services.h"

namespace kernelmill::coordinator {
namespace {

// Bounds on a worker's request. A worker that wants more asks again.
constexpr int kMaxTasks = 64;
constexpr int kMaxWaitMs = 30'000;
constexpr int kMaxBatch = 4096;
constexpr size_t kMaxName = 256;
// The interval at which a waiting call checks for a disconnected client.
constexpr absl::Duration kGlance = absl::Milliseconds(200);

absl::Status CheckLease(const v1::LeaseRequest& request) {
  if (request.stages().empty()) return absl::InvalidArgumentError("stages: must not be empty");
  if (request.stages_size() > kMaxBatch) {
    return absl::InvalidArgumentError(absl::StrCat("stages: at most ", kMaxBatch));
  }
  if (request.max_tasks() < 1 || request.max_tasks() > kMaxTasks) {
    return absl::InvalidArgumentError(absl::StrCat("max_tasks: must be 1 to ", kMaxTasks));
  }
  if (request.worker().size() > kMaxName) {
    return absl::InvalidArgumentError(
        absl::StrCat("worker: must have at most ", kMaxName, " bytes"));
  }
  if (request.version().size() > kMaxName) {
    return absl::InvalidArgumentError(
        absl::StrCat("version: must have at most ", kMaxName, " bytes"));
  }
  if (request.slots() < 0) return absl::InvalidArgumentError("slots: must not be negative");
  if (request.held() < 0) return absl::InvalidArgumentError("held: must not be negative");
  if (request.wait_ms() < 0 || request.wait_ms() > kMaxWaitMs) {
    return absl::InvalidArgumentError(absl::StrCat("wait_ms: must be 0 to ", kMaxWaitMs));
  }
  return absl::OkStatus();
}

absl::Status CheckBatch(int size) {
  if (size <= kMaxBatch) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the request has more than ", kMaxBatch, " items"));
}

// Returns the worker's stages whose version is this build's. A worker of another build gets no
// tasks of stages with a different version.
StageSet GetStages(const v1::LeaseRequest& request) {
  StageSet stages;
  for (const v1::StageName& name : request.stages()) {
    const worker::StageInfo* const stage = worker::FindStage(name.stage());
    if (stage != nullptr && stage->version == name.version()) {
      stages.set(static_cast<size_t>(stage->id));
    }
  }
  return stages;
}

// Returns the worker's versions of the known stages; of several versions of a stage the one that
// this build uses.
StageVersions GetVersions(const v1::LeaseRequest& request) {
  StageVersions versions{};
  for (const v1::StageName& name : request.stages()) {
    const worker::StageInfo* const stage = worker::FindStage(name.stage());
    if (stage == nullptr) continue;
    int32_t& version = versions[static_cast<size_t>(stage->id)];
    if (version != stage->version) version = name.version();
  }
  return versions;
}

// Returns what the renewed tasks wait for, as their worker says.
std::string WaitsFor(const grpc::ServerContext& context) {
  const auto found = context.client_metadata().find(worker::kWaitsForMetadata);
  if (found == context.client_metadata().end()) return "";
  return std::string(found->second.data(), found->second.size());
}

// The caller's name is authenticated (CallerName), the rest is what the worker says about itself.
LeaseQuery MakeQuery(const v1::LeaseRequest& request, const grpc::ServerContext& context) {
  return {.stages = GetStages(request),
          .max_tasks = request.max_tasks(),
          .held = request.held(),
          .worker = {access::CallerName(context), request.worker()},
          .facts = {.incarnation = request.incarnation(),
                    .version = request.version(),
                    .slots = request.slots(),
                    .stages = GetVersions(request)}};
}

// Waits for tasks; returns no tasks when the time is up. Each waiting call takes a thread and a
// place in `waiting`; a call that finds a task at once needs no place.
absl::StatusOr<Leases> WaitForTasks(Scheduler& scheduler, access::CallerLimits& waiting,
                                    const grpc::ServerContext& context,
                                    const v1::LeaseRequest& request) {
  const LeaseQuery query = MakeQuery(request, context);
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(request.wait_ms());
  std::optional<access::CallerLimits::Place> place;
  while (true) {
    // Checked before leasing; otherwise tasks would be leased to a disconnected worker.
    if (context.IsCancelled()) return absl::CancelledError("the worker disconnected");
    const uint64_t seen = scheduler.ready().generation();
    ASSIGN_OR_RETURN(Leases leases, scheduler.Lease(query));
    const auto left = deadline - std::chrono::steady_clock::now();
    if (!leases.tasks.empty() || leases.finish_first || left <= left.zero()) return leases;
    if (!place.has_value()) {
      ASSIGN_OR_RETURN(place, waiting.Take(access::CallerKey(context)));
    }
    scheduler.ready().WaitFor(seen, std::min(kGlance, absl::FromChrono(left)));
  }
}

// Answers with a status for each completion, in the request's order. An error of the whole call
// means that the state is not stored: the worker must send all completions again.
absl::StatusOr<v1::CompleteResponse> CompleteAll(Scheduler& scheduler,
                                                 const v1::CompleteRequest& request,
                                                 const WorkerId& worker) {
  RETURN_IF_ERROR(CheckBatch(request.completions_size()));
  const std::vector<v1::Completion> completions(request.completions().begin(),
                                                request.completions().end());
  ASSIGN_OR_RETURN(const std::vector<absl::Status> statuses,
                   scheduler.Complete(completions, worker));
  v1::CompleteResponse response;
  for (size_t i = 0; i < statuses.size(); ++i) {
    *response.add_statuses() = rpc::ToProtoStatus(statuses[i]);
    CountCompletion(completions[i], statuses[i]);
  }
  return response;
}

}  // namespace

WorkService::WorkService(Scheduler& scheduler, const CoordinatorLimits& limits,
                         std::shared_ptr<access::GrantKey> grants)
    : scheduler_(scheduler),
      waiting_({"waiting lease calls",
                {"max-waiting-leases-per-caller", limits.waiting_leases_per_caller},
                {"max-waiting-leases", limits.waiting_leases},
                "try again later"}),
      grants_(std::move(grants)) {}

grpc::Status WorkService::Lease(grpc::ServerContext* context, const v1::LeaseRequest* request,
                                v1::LeaseResponse* response) {
  if (const absl::Status bad = CheckLease(*request); !bad.ok()) return rpc::ToGrpcStatus(bad);
  absl::StatusOr<Leases> leases = WaitForTasks(scheduler_, waiting_, *context, *request);
  if (!leases.ok()) return rpc::ToGrpcStatus(leases.status());
  CountLeases(leases->tasks.size());
  const std::string caller = access::CallerName(*context);
  for (v1::LeasedTask& task : leases->tasks) {
    AddGrant(caller, task);
    *response->add_tasks() = std::move(task);
  }
  response->set_finish_first(leases->finish_first);
  return grpc::Status::OK;
}

// Adds a signed permission to write the result of this action into the action cache. A worker
// without the lease cannot make one, so it cannot plant results of other actions in the store.
void WorkService::AddGrant(const std::string& caller, v1::LeasedTask& task) const {
  if (grants_ == nullptr) return;
  const v1::Action& action = task.action();
  task.set_grant(grants_->Sign({.action = cas::ToString(worker::ActionDigest(action)),
                                .stage = action.stage(),
                                .version = action.stage_version(),
                                .caller = caller,
                                .expiry = absl::Now() + access::kGrantLife}));
}

grpc::Status WorkService::Renew(grpc::ServerContext* context, const v1::RenewRequest* request,
                                v1::RenewResponse* response) {
  const absl::Status bad = CheckBatch(request->leases_size());
  if (!bad.ok()) return rpc::ToGrpcStatus(bad);
  const auto lost =
      scheduler_.Renew({request->leases().begin(), request->leases().end()},
                       {access::CallerName(*context), request->worker()}, WaitsFor(*context));
  if (!lost.ok()) return rpc::ToGrpcStatus(lost.status());
  for (const v1::LeaseRef& lease : *lost) *response->add_lost() = lease;
  return grpc::Status::OK;
}

grpc::Status WorkService::Complete(grpc::ServerContext* context, const v1::CompleteRequest* request,
                                   v1::CompleteResponse* response) {
  absl::StatusOr<v1::CompleteResponse> answer =
      CompleteAll(scheduler_, *request, {access::CallerName(*context), request->worker()});
  if (!answer.ok()) return rpc::ToGrpcStatus(answer.status());
  *response = std::move(*answer);
  return grpc::Status::OK;
}

}  // namespace kernelmill::coordinator
