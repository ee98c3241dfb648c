#include "common/worker/completion_sender.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/log.h"

// One thread sends all results, so that while a call is under way the next results gather into a
// batch: the slower the coordinator, the larger the batches. A result is never dropped because of
// an error, since its work would be lost; it is sent again until the coordinator answers or the
// lease is lost, after which another worker has the task.
namespace kernelmill::worker {
namespace {

constexpr size_t kMaxBatch = 256;
// Keeps a request far below the size limit of messages; a single larger completion goes alone.
constexpr size_t kMaxBatchBytes = 4 << 20;

// Returns the word for metrics and logs.
const char* GetOutcome(const v1::Completion& completion, const google::rpc::Status& status) {
  if (status.code() != 0) return "refused";
  if (completion.has_handback()) return "handed_back";
  if (completion.has_error()) return "error";
  return completion.cached() ? "cached" : "done";
}

}  // namespace

CompletionSender::CompletionSender(WorkQueue& queue, LeaseRenewer& leases, std::string worker,
                                   const rpc::RetryPolicy& backoff,
                                   CompletionSender::Outcome outcome)
    : queue_(queue),
      leases_(leases),
      worker_(std::move(worker)),
      backoff_(backoff),
      outcome_(std::move(outcome)) {}

void CompletionSender::Put(v1::Completion completion) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    waiting_.push_back(std::move(completion));
  }
  changed_.notify_one();
}

void CompletionSender::Close() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
  }
  changed_.notify_one();
}

// The body of the sending thread. Returns once the sender is closed and everything is sent or lost.
void CompletionSender::Run() {
  for (auto batch = AwaitBatch(); !batch.empty(); batch = AwaitBatch()) Send(std::move(batch));
}

// Waits for completions and takes the oldest ones. Empty: the sender is closed and all is sent.
std::vector<v1::Completion> CompletionSender::AwaitBatch() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
  size_t count = 0;
  for (size_t bytes = 0; count < std::min(waiting_.size(), kMaxBatch); ++count) {
    bytes += waiting_[count].ByteSizeLong();
    if (bytes > kMaxBatchBytes && count > 0) break;
  }
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<v1::Completion> batch(std::make_move_iterator(waiting_.begin()),
                                    std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  return batch;
}

void CompletionSender::Send(std::vector<v1::Completion> batch) {
  for (int attempt = 1;; ++attempt) {
    const uint64_t seen = leases_.lost().generation();
    DropLost(batch);
    if (batch.empty()) return;
    if (Answered(batch)) {
      if (attempt > 1) LogInfo("sent the completions", {{"completions", batch.size()}});
      return;
    }
    // Retries after any error, since the next coordinator may accept the batch. Only lost leases
    // end the loop.
    leases_.lost().WaitFor(seen, rpc::Backoff(backoff_, std::min(attempt, 16)));
  }
}

// Sends a batch. Returns whether the coordinator answered; it answers for each completion apart,
// and a refusal (a lease that it does not know) is also an answer.
bool CompletionSender::Answered(const std::vector<v1::Completion>& batch) {
  v1::CompleteRequest request;
  request.set_worker(worker_);
  for (const v1::Completion& completion : batch) *request.add_completions() = completion;
  absl::StatusOr<v1::CompleteResponse> response = queue_.Complete(request);
  if (response.ok() && response->statuses_size() != request.completions_size()) {
    response = absl::InternalError("the number of answers differs from the number of completions");
  }
  if (!response.ok()) {
    LogWarning("cannot send completions; retrying",
               {{"completions", batch.size()}, {"error", response.status().ToString()}});
    return false;
  }
  for (size_t i = 0; i < batch.size(); ++i) {
    End(batch[i], GetOutcome(batch[i], response->statuses(static_cast<int>(i))));
  }
  return true;
}

// Also drops completions without an outcome: their task was stopped because its lease was lost.
void CompletionSender::DropLost(std::vector<v1::Completion>& batch) {
  const auto lost =
      std::stable_partition(batch.begin(), batch.end(), [&](const v1::Completion& completion) {
        return completion.outcome_case() != v1::Completion::OUTCOME_NOT_SET &&
               !leases_.IsLost(completion.lease());
      });
  for (auto at = lost; at != batch.end(); ++at) End(*at, "lost");
  batch.erase(lost, batch.end());
}

void CompletionSender::End(const v1::Completion& completion, const char* outcome) {
  leases_.Release(completion.lease());
  outcome_(completion, outcome);
}

}  // namespace kernelmill::worker
