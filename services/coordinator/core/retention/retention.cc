#include "services/coordinator/core/retention/retention.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/rpc/retry.h"

namespace kernelmill::coordinator {
namespace {

// Calls `release` for every job in `held` that is not in `wanted`, and removes it from `held`.
template <typename Held, typename Release>
absl::Status ReleaseUnwanted(const std::set<std::string>& wanted, Held& held, Release release) {
  for (auto at = held.begin(); at != held.end();) {
    if (wanted.contains(at->first)) {
      ++at;
      continue;
    }
    RETURN_IF_ERROR(release(at->first));
    at = held.erase(at);
  }
  return absl::OkStatus();
}

// Makes the keys of `known` equal to `listed`; new keys get `value`.
template <typename Value>
void KeepListed(const std::vector<std::string>& listed, const Value& value,
                std::map<std::string, Value>& known) {
  std::map<std::string, Value> kept;
  for (const std::string& job : listed) {
    const auto before = known.find(job);
    kept[job] = before == known.end() ? value : before->second;
  }
  known = std::move(kept);
}

}  // namespace

// runs_ and datasets_ are this object's memory of the store's holds. Holds of runs have a time to
// live, so the blobs of a coordinator that never comes back are released in the end; holds of
// datasets last until their job is deleted. The store is asked again after an error and every
// read_holds_every, so that holds that an operator released are made again.
//
// An error ends the step; the next one begins after a pause that grows. Runs in the retention
// thread only.
absl::Duration Retention::Step() {
  if (unsupported_) return absl::InfiniteDuration();
  const Clock::Time now = clock_.Now();
  if (now < not_before_) return absl::FromChrono(not_before_ - now);
  const absl::Status status = Reconcile();
  if (status.ok()) {
    if (std::exchange(failures_, 0) > 0) LogInfo("the store accepts holds again");
    return options_.look_every;
  }
  if (absl::IsUnimplemented(status)) {
    unsupported_ = true;
    LogWarning("the store does not support holds; it may evict blobs that jobs need",
               {{"error", status.message()}});
    return absl::InfiniteDuration();
  }
  // The thread is being stopped.
  if (absl::IsCancelled(status)) return absl::InfiniteDuration();
  if (++failures_ == 1) {
    LogWarning("cannot update holds in the store; retrying", {{"error", status.ToString()}});
  }
  const absl::Duration pause = rpc::Backoff(
      {.first_backoff = options_.first_backoff, .max_backoff = options_.max_backoff}, failures_);
  not_before_ = clock_.Now() + absl::ToChronoNanoseconds(pause);
  return pause;
}

// New holds come before releases: when a job ends, its dataset is held before the hold of its run
// goes, so that the dataset's blobs are never without a hold.
absl::Status Retention::Reconcile() {
  RETURN_IF_ERROR(ReadHolds());
  const HeldJobs jobs = jobs_();
  RETURN_IF_ERROR(HoldRuns(jobs));
  RETURN_IF_ERROR(HoldDatasets(jobs));
  return ReleaseRest(jobs);
}

absl::Status Retention::ReadHolds() {
  if (failures_ == 0 && clock_.Now() < read_holds_at_) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Retainer::Held held, retainer_.List());
  KeepListed(held.runs, clock_.Now(), runs_);
  KeepListed(held.datasets, cas::Digest(), datasets_);
  for (const std::string& job : held.incomplete) datasets_[job] = cas::Digest();  // hold again
  read_holds_at_ = clock_.Now() + absl::ToChronoNanoseconds(options_.read_holds_every);
  return absl::OkStatus();
}

// Returns the errors that concern the store as a whole and end the step; logs and drops errors that
// concern only one job.
absl::Status Retention::StatusAfter(const absl::Status& status, const std::string& job) const {
  if (status.ok() || IsRetryable(status) || absl::IsUnimplemented(status) ||
      absl::IsCancelled(status)) {
    return status;
  }
  // A final error for this job; the holds of other jobs continue.
  LogWarning("cannot hold the blobs of a job", {{"job", job}, {"error", status.ToString()}});
  return absl::OkStatus();
}

// unholdable_ has datasets with a final error (for example a lost manifest): they are not tried
// again at each step.
bool Retention::IsHeldOrLost(const HeldJobs::Dataset& dataset) const {
  for (const auto* known : {&datasets_, &unholdable_}) {
    const auto at = known->find(dataset.job);
    if (at != known->end() && cas::SameDigest(at->second, dataset.manifest)) return true;
  }
  return false;
}

// The run of a job that is done keeps its hold until its dataset is held.
absl::Status Retention::HoldRuns(const HeldJobs& jobs) {
  std::vector<std::string> needed = jobs.running;
  for (const HeldJobs::Dataset& dataset : jobs.datasets) {
    if (!IsHeldOrLost(dataset) && runs_.contains(dataset.job)) needed.push_back(dataset.job);
  }
  for (const std::string& job : needed) {
    const auto held = runs_.find(job);
    if (held != runs_.end() && clock_.Now() < held->second) continue;
    RETURN_IF_ERROR(StatusAfter(retainer_.HoldRun(job, options_.run_ttl), job));
    runs_[job] = clock_.Now() + absl::ToChronoNanoseconds(options_.renew_every);
  }
  return absl::OkStatus();
}

absl::Status Retention::HoldDatasets(const HeldJobs& jobs) {
  for (const HeldJobs::Dataset& dataset : jobs.datasets) {
    if (IsHeldOrLost(dataset)) continue;
    const absl::Status status = retainer_.HoldDataset(dataset.job, dataset.manifest);
    RETURN_IF_ERROR(StatusAfter(status, dataset.job));
    (status.ok() ? datasets_ : unholdable_)[dataset.job] = dataset.manifest;
  }
  return absl::OkStatus();
}

absl::Status Retention::ReleaseRest(const HeldJobs& jobs) {
  std::set<std::string> wanted(jobs.running.begin(), jobs.running.end());
  RETURN_IF_ERROR(ReleaseUnwanted(wanted, runs_, [this](const std::string& job) {
    return StatusAfter(retainer_.ReleaseRun(job), job);
  }));
  for (const HeldJobs::Dataset& dataset : jobs.datasets) wanted.insert(dataset.job);
  std::erase_if(unholdable_, [&](const auto& dataset) { return !wanted.contains(dataset.first); });
  return ReleaseUnwanted(wanted, datasets_, [this](const std::string& job) {
    return StatusAfter(retainer_.ReleaseDataset(job), job);
  });
}

RetentionThread::RetentionThread(Retention& retention)
    : retention_(retention), thread_([this] { Run(); }) {}

RetentionThread::~RetentionThread() {
  stopping_ = true;
  retention_.Cancel();
  changed_.Notify();
  thread_.join();
}

void RetentionThread::Run() {
  while (true) {
    const uint64_t seen = changed_.generation();
    if (stopping_) return;
    changed_.WaitFor(seen, retention_.Step());
  }
}

}  // namespace kernelmill::coordinator
