#include "common/worker/task_log.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/log.h"
#include "common/rpc/status.h"

namespace kernelmill::worker {
namespace {

int64_t Ms(int64_t us) { return us / 1000; }

}  // namespace

// A completion carries only task and token; job, stage and attempt are remembered here until it
// ends.
void TaskLog::Leased(const v1::LeasedTask& task) {
  absl::MutexLock lock(&mutex_);
  names_[task.token()] = {task.job(), task.action().stage(), task.attempt()};
}

void TaskLog::Started(const v1::LeasedTask& task) {
  LogInfo("task started", {{"job", task.job()},
                           {"task", task.task()},
                           {"stage", task.action().stage()},
                           {"worker", worker_},
                           {"attempt", task.attempt()}});
}

TaskLog::Name TaskLog::Take(const v1::LeaseRef& lease) {
  absl::MutexLock lock(&mutex_);
  const auto at = names_.find(lease.token());
  if (at == names_.end()) return {};
  Name name = std::move(at->second);
  names_.erase(at);
  return name;
}

// Writes the line about a task's end and forgets the task. Returns its stage. A failed task is a
// warning, since the coordinator tries it again.
std::string TaskLog::Ended(const v1::Completion& completion, const char* outcome) {
  const Name name = Take(completion.lease());
  const bool failed = completion.has_error();
  const v1::TaskTiming& timing = completion.timing();
  Log(failed ? LogLevel::kWarning : LogLevel::kInfo, failed ? "task failed" : "task ended",
      {{"job", name.job},
       {"task", completion.lease().task()},
       {"stage", name.stage},
       {"worker", worker_},
       {"attempt", name.attempt},
       {"outcome", outcome},
       {"waited_ms", Ms(timing.waited_us())},
       {"run_ms", Ms(timing.lookup_us() + timing.run_us() + timing.store_us())},
       {"error", failed ? rpc::FromProtoStatus(completion.error()).ToString() : ""}});
  return name.stage;
}

}  // namespace kernelmill::worker
