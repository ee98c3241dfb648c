#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/access/authorizer.h"
#include "common/base/status.h"
#include "common/rpc/status.h"
#include "services/coordinator/server/services.h"

namespace kernelmill::coordinator {
namespace {

// The shortest time between two statuses of a running job, and the interval of checks for
// disconnected clients.
constexpr std::chrono::milliseconds kPause(200);
// The number of submissions handled at a time: one of 16 MiB needs some 300 MB meanwhile.
constexpr int64_t kSubmits = 3;
constexpr int64_t kSubmitsOfCaller = 2;

// Waits until the job's version differs from `seen` and `not_before` has passed, or the job has
// ended.
absl::Status WaitForChange(Scheduler& scheduler, const grpc::ServerContext& context,
                           const std::string& job, uint64_t seen,
                           std::chrono::steady_clock::time_point not_before) {
  while (true) {
    const uint64_t generation = scheduler.changed().generation();
    if (context.IsCancelled()) return absl::CancelledError("the client disconnected");
    if (scheduler.draining()) return absl::UnavailableError("the coordinator is draining");
    ASSIGN_OR_RETURN(const uint64_t version, scheduler.JobVersion(job));
    const bool rested = std::chrono::steady_clock::now() >= not_before;
    if (version == 0 || (version != seen && rested)) return absl::OkStatus();
    scheduler.changed().WaitFor(generation, absl::FromChrono(kPause));
  }
}

// Calls `write` with the job's status now and after changes, until the job ends or `write` fails.
absl::Status WatchJob(Scheduler& scheduler, const grpc::ServerContext& context,
                      const std::string& job,
                      const std::function<bool(const v1::JobStatus&)>& write) {
  while (true) {
    ASSIGN_OR_RETURN(const uint64_t version, scheduler.JobVersion(job));
    ASSIGN_OR_RETURN(const v1::JobStatus status, scheduler.GetJob(job));
    if (!write(status)) return absl::CancelledError("the client disconnected");
    if (status.state() != v1::JOB_STATE_RUNNING) return absl::OkStatus();
    RETURN_IF_ERROR(
        WaitForChange(scheduler, context, job, version, std::chrono::steady_clock::now() + kPause));
  }
}

// Calls `write` with each page of the job's timeline.
absl::Status WriteTimeline(Scheduler& scheduler, const std::string& job,
                           const std::function<bool(const v1::TimelinePart&)>& write) {
  for (uint32_t first = 1; first != 0;) {
    ASSIGN_OR_RETURN(Scheduler::TimelinePage page, scheduler.Timeline(job, first));
    v1::TimelinePart part;
    for (v1::TaskSpan& span : page.spans) *part.add_spans() = std::move(span);
    if (!write(part)) return absl::CancelledError("the client disconnected");
    first = page.next;
  }
  return absl::OkStatus();
}

// Returns whether the caller may use its own jobs alone.
bool IsTenant(const grpc::ServerContext& context) {
  return access::GetCaller(context).role == access::Role::kClient;
}

}  // namespace

// Each watch occupies a gRPC thread until the job ends, so their number is limited, in all and for
// each caller. Few submissions are handled at a time, since a large job takes several times its
// memory during the submission.
CrawlService::CrawlService(Scheduler& scheduler, const CoordinatorLimits& limits)
    : scheduler_(scheduler),
      watches_({"watches",
                {"max-watches-per-caller", limits.watches_per_caller},
                {"max-watches", limits.watches},
                "end some, or poll with GetJob instead"}),
      submits_({.under_way = {limits.submits_per_caller, limits.submits},
                .at_work = {kSubmitsOfCaller, kSubmits},
                .flag = "max-submits"}) {
  MarkMethodStreamed(rpc::GetMethodIndex("kernelmill.v1.Crawl.Submit"),
                     submits_.NewHandler<v1::SubmitRequest, v1::SubmitResponse>(
                         [this](const grpc::ServerContext& context, auto& request, auto* response) {
                           return TakeJob(context, request, response);
                         }));
}

// Moves the spec out of the request, because a spec may have 16 MiB and a copy would double the
// memory of a submission.
grpc::Status CrawlService::TakeJob(const grpc::ServerContext& context, v1::SubmitRequest& request,
                                   v1::SubmitResponse* response) {
  const std::string name = request.spec().name();
  absl::StatusOr<std::string> job =
      scheduler_.Submit(std::move(*request.mutable_spec()), request.request_id(),
                        request.priority(), access::CallerKey(context), request.no_cache());
  // The request id may be that of an earlier job, and that another client's.
  if (job.ok()) {
    if (const absl::Status mine = CheckOwner(context, *job); !mine.ok()) job = mine;
  }
  if (job.ok()) response->set_job(*job);
  return access::Audited(context, "Submit", job.value_or(name), rpc::ToGrpcStatus(job.status()));
}

// Operators may use every job, and so may everybody where callers are not known.
absl::Status CrawlService::CheckOwner(const grpc::ServerContext& context,
                                      const std::string& job) const {
  if (!IsTenant(context)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string owner, scheduler_.GetOwner(job));
  if (owner == access::CallerKey(context)) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      "job ", job, " belongs to another client; only that client and operators may use it"));
}

template <typename Action>
auto CrawlService::IfOwner(const grpc::ServerContext& context, const std::string& job,
                           Action action) const -> decltype(action()) {
  RETURN_IF_ERROR(CheckOwner(context, job));
  return action();
}

template <typename Action>
auto CrawlService::ReadIfOwner(const grpc::ServerContext& context, absl::string_view call,
                               const std::string& job, Action action) const -> decltype(action()) {
  absl::Status mine = CheckOwner(context, job);
  if (mine.ok()) return action();
  if (absl::IsPermissionDenied(mine)) {
    access::Audited(context, call, job, rpc::ToGrpcStatus(mine));
  }
  return mine;
}

grpc::Status CrawlService::Watch(grpc::ServerContext* context, const v1::WatchRequest* request,
                                 grpc::ServerWriter<v1::JobStatus>* writer) {
  const auto place = watches_.Take(access::CallerKey(*context));
  if (!place.ok()) return rpc::ToGrpcStatus(place.status());
  return rpc::ToGrpcStatus(ReadIfOwner(*context, "Watch", request->job(), [&] {
    return WatchJob(scheduler_, *context, request->job(),
                    [&](const v1::JobStatus& status) { return writer->Write(status); });
  }));
}

grpc::Status CrawlService::GetJob(grpc::ServerContext* context, const v1::GetJobRequest* request,
                                  v1::JobStatus* response) {
  absl::StatusOr<v1::JobStatus> status = ReadIfOwner(
      *context, "GetJob", request->job(), [&] { return scheduler_.GetJob(request->job()); });
  if (!status.ok()) return rpc::ToGrpcStatus(status.status());
  *response = std::move(*status);
  return grpc::Status::OK;
}

grpc::Status CrawlService::ListFailures(grpc::ServerContext* context,
                                        const v1::ListFailuresRequest* request,
                                        v1::ListFailuresResponse* response) {
  absl::StatusOr<v1::ListFailuresResponse> page = ReadIfOwner(
      *context, "ListFailures", request->job(), [&] { return scheduler_.ListFailures(*request); });
  if (!page.ok()) return rpc::ToGrpcStatus(page.status());
  *response = *std::move(page);
  return grpc::Status::OK;
}

grpc::Status CrawlService::ReadLock(grpc::ServerContext* context,
                                    const v1::ReadLockRequest* request,
                                    grpc::ServerWriter<v1::JobSpec>* writer) {
  return rpc::ToGrpcStatus(ReadIfOwner(*context, "ReadLock", request->job(), [&] {
    return scheduler_.ReadLock(request->job(),
                               [&](const v1::JobSpec& part) { return writer->Write(part); });
  }));
}

grpc::Status CrawlService::ListJobs(grpc::ServerContext* context,
                                    const v1::ListJobsRequest* request,
                                    v1::ListJobsResponse* response) {
  const bool own_only = IsTenant(*context);
  const std::string caller = access::CallerKey(*context);
  for (v1::JobStatus& status : scheduler_.ListJobs()) {
    if (!own_only || status.owner() == caller) *response->add_jobs() = std::move(status);
  }
  return grpc::Status::OK;
}

grpc::Status CrawlService::Cancel(grpc::ServerContext* context, const v1::CancelRequest* request,
                                  v1::JobStatus* response) {
  absl::StatusOr<v1::JobStatus> status =
      IfOwner(*context, request->job(), [&] { return scheduler_.Cancel(request->job()); });
  const grpc::Status answer = rpc::ToGrpcStatus(status.status());
  if (status.ok()) *response = *std::move(status);
  return access::Audited(*context, "Cancel", request->job(), answer);
}

grpc::Status CrawlService::Retry(grpc::ServerContext* context, const v1::RetryRequest* request,
                                 v1::JobStatus* response) {
  absl::StatusOr<v1::JobStatus> status = IfOwner(*context, request->job(), [&] {
    return scheduler_.Retry(request->job(), access::CallerKey(*context), request->no_cache());
  });
  const grpc::Status answer = rpc::ToGrpcStatus(status.status());
  if (status.ok()) *response = *std::move(status);
  return access::Audited(*context, "Retry", request->job(), answer);
}

grpc::Status CrawlService::Delete(grpc::ServerContext* context, const v1::DeleteRequest* request,
                                  v1::DeleteResponse* response) {
  const absl::Status status =
      IfOwner(*context, request->job(), [&] { return scheduler_.Delete(request->job()); });
  return access::Audited(*context, "Delete", request->job(), rpc::ToGrpcStatus(status));
}

grpc::Status CrawlService::ListWorkers(grpc::ServerContext* context,
                                       const v1::ListWorkersRequest* request,
                                       v1::ListWorkersResponse* response) {
  const bool tenant = IsTenant(*context);
  for (v1::WorkerInfo& worker : scheduler_.ListWorkers()) {
    for (v1::RunningTask& task : *worker.mutable_running()) {
      if (!tenant || CheckOwner(*context, task.job()).ok()) continue;
      task.clear_job();
      task.clear_task();
      task.clear_source();
    }
    *response->add_workers() = std::move(worker);
  }
  return grpc::Status::OK;
}

grpc::Status CrawlService::Timeline(grpc::ServerContext* context,
                                    const v1::TimelineRequest* request,
                                    grpc::ServerWriter<v1::TimelinePart>* writer) {
  return rpc::ToGrpcStatus(ReadIfOwner(*context, "Timeline", request->job(), [&] {
    return WriteTimeline(scheduler_, request->job(),
                         [&](const v1::TimelinePart& part) { return writer->Write(part); });
  }));
}

}  // namespace kernelmill::coordinator
