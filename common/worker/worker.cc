#include "common/worker/worker.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/retry_after.h"
#include "common/base/status.h"
#include "common/base/url.h"
#include "common/rpc/status.h"
#include "common/worker/worker_metrics.h"

// The way of a task through a worker:
//
//   leasing thread   LeaseInto: the coordinator grants a lease; LeaseRenewer holds it; Backlog::Add
//   slot's thread    Backlog::Take; TaskRunner::Run (cache, stage, cache); CompletionSender::Put
//   sending thread   Complete, in batches; then the lease is released (Ended)
//   renewing thread  Renew, for every lease that is held, from Hold until Release
//
// A task so always has exactly one owner, and its lease is held all the way. It can leave early in
// two ways: its lease is lost (cancelled, or expired while the coordinator was away), then its
// outcome is dropped; or the worker drains, then it is handed back, and another worker runs it at
// once.
namespace kernelmill::worker {
namespace {

// Replaces an infinite grace, which cannot be added to a time.
constexpr absl::Duration kLongestGrace = absl::Hours(24 * 365);
// The time for a stopped stage to clean up.
constexpr absl::Duration kStopTime = absl::Seconds(2);
// The shortest time between two looks at free memory.
constexpr absl::Duration kMemoryPause = absl::Seconds(2);

// Makes an id of this run of the worker. It must be unique, not secret.
uint64_t NewIncarnation() {
  absl::BitGen random;
  return absl::Uniform<uint64_t>(random, 1, std::numeric_limits<uint64_t>::max());
}

constexpr size_t kMaxWaitsFor = 400;  // bytes, since metadata must be small

// Describes what a task waits for.
std::string WaitsFor(const absl::Status& why) {
  if (why.ok()) return "";
  return absl::StrCat("the store: ", why.message()).substr(0, kMaxWaitsFor);
}

v1::LeaseRef MakeLease(const v1::LeasedTask& task) {
  v1::LeaseRef lease;
  lease.set_task(task.task());
  lease.set_token(task.token());
  return lease;
}

}  // namespace

Worker::Worker(const Options& options, WorkQueue& queue, cas::BlobStore& store,
               const std::vector<Stage*>& stages)
    : options_(options),
      queue_(queue),
      runner_(store, stages, options.unreachable_backoff, options.name),
      log_(options.name),
      leases_(queue, options.name),
      sender_(queue, leases_, options.name, options.unreachable_backoff,
              [this](const v1::Completion& completion, const char* outcome) {
                Ended(completion, outcome);
              }),
      backlog_(options.slots) {
  PrefillWorker(stages);
  AddSlots(options.slots);
  lease_request_.set_worker(options.name);
  lease_request_.set_version(options.version);
  lease_request_.set_slots(options.slots);
  lease_request_.set_incarnation(NewIncarnation());
  lease_request_.set_wait_ms(static_cast<int32_t>(absl::ToInt64Milliseconds(options.poll)));
  for (const Stage* stage : stages) {
    v1::StageName* name = lease_request_.add_stages();
    name->set_stage(std::string(stage->info().name));
    name->set_version(stage->info().version);
  }
}

// Drain closes the backlog, which ends the slots' threads; these and the leasing thread are the
// producers, and the last of them closes the sender.
Worker::~Worker() {
  // A stage that does not stop is waited for here without end.
  if (!AllIdle()) Drain(absl::ZeroDuration());
  for (std::thread& thread : threads_) thread.join();
  AddSlots(-options_.slots);
}

void Worker::Start() {
  {
    absl::MutexLock lock(&mutex_);
    producers_running_ = options_.slots + 1;
    threads_running_ = producers_running_ + 1;
  }
  for (int i = 0; i < options_.slots; ++i) StartThread(Role::kProducer, &Worker::RunTasks);
  StartThread(Role::kProducer, &Worker::LeaseTasks);
  StartThread(Role::kSender, &Worker::SendCompletions);
}

// The sender is closed by the last thread that makes completions, so that none comes after Close.
void Worker::StartThread(Role role, void (Worker::*body)()) {
  threads_.emplace_back([this, role, body] {
    (this->*body)();
    {
      absl::MutexLock lock(&mutex_);
      --threads_running_;
      if (role == Role::kProducer && --producers_running_ == 0) sender_.Close();
    }
    changed_.Notify();
  });
}

bool Worker::AllIdle() const {
  absl::MutexLock lock(&mutex_);
  return threads_running_ == 0;
}

// The order matters. First no task is leased and no waiting one begins; then running tasks get
// their grace; then the leases are given up, which also stops the stages; at last all calls are
// cancelled. The coordinator hears of the tasks before the calls are cancelled, so another worker
// gets them at once and not after the leases' time to live.
bool Worker::Drain(absl::Duration grace) {
  draining_ = true;
  changed_.Notify();
  for (const v1::LeasedTask& task : backlog_.Close()) HandBack(task);
  if (AwaitIdle(std::min(grace, kLongestGrace))) return true;
  HandBackAll(leases_.GiveUp());
  changed_.Notify();
  queue_.Cancel();
  return AwaitIdle(kStopTime);
}

// Reads the generation first and looks again after that, so that a thread's end is not missed.
bool Worker::AwaitIdle(absl::Duration longest) {
  const auto deadline = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(longest);
  while (!AllIdle()) {
    const uint64_t seen = changed_.generation();
    const auto left = deadline - std::chrono::steady_clock::now();
    if (AllIdle() || left <= left.zero()) break;
    changed_.WaitFor(seen, absl::FromChrono(left));
  }
  return AllIdle();
}

// One call outside the sender, which may be stuck in a retry. A failure is only logged: the leases
// then expire.
void Worker::HandBackAll(const std::vector<v1::LeaseRef>& leases) {
  if (leases.empty()) return;
  v1::CompleteRequest request;
  request.set_worker(options_.name);
  for (const v1::LeaseRef& lease : leases) {
    v1::Completion& completion = *request.add_completions();
    *completion.mutable_lease() = lease;
    completion.mutable_handback();
  }
  const absl::Status told = queue_.Complete(request).status();
  LogWarning("drain: handed back tasks", {{"tasks", leases.size()}, {"status", told.ToString()}});
}

// The body of the leasing thread. It also looks for stuck tasks, since it wakes regularly.
void Worker::LeaseTasks() {
  absl::Time returned_memory = absl::InfinitePast();
  int failures = 0;
  const auto set_failures = [&failures](int count) {
    if ((count > 0) != (failures > 0)) AddWaiters(Peer::kCoordinator, count > 0 ? 1 : -1);
    failures = count;
  };
  while (!draining_) {
    CheckStuck();
    if (absl::Now() - returned_memory >= kMemoryPause) {
      ReturnFreeMemory(kKeptBetweenTasks);
      returned_memory = absl::Now();
    }
    const uint64_t seen = changed_.generation();
    const Backlog::Room room = backlog_.AwaitRoom(absl::ToChronoNanoseconds(options_.poll));
    if (room.tasks == 0) continue;
    if (LeaseInto(room)) {
      if (failures > 0) LogInfo("the coordinator answers again", {{"failed_calls", failures}});
      set_failures(0);
    } else if (!draining_) {
      set_failures(std::min(failures + 1, 16));
      changed_.WaitFor(seen, rpc::Backoff(options_.unreachable_backoff, failures));
    }
  }
  set_failures(0);
}

// The lease is held before the task enters the backlog, so that it is renewed while it waits. If
// the backlog was closed meanwhile, the task goes back.
bool Worker::LeaseInto(const Backlog::Room& room) {
  lease_request_.set_max_tasks(room.tasks);
  lease_request_.set_held(room.held);
  const absl::StatusOr<v1::LeaseResponse> leased = queue_.Lease(lease_request_);
  if (!leased.ok()) {
    if (!draining_) LogWarning("cannot lease tasks", {{"error", leased.status().ToString()}});
    return false;
  }
  if (leased->finish_first()) backlog_.FinishFirst();
  for (const v1::LeasedTask& task : leased->tasks()) {
    leases_.Hold(task);
    log_.Leased(task);
    if (!backlog_.Add(task)) HandBack(task);
  }
  return true;
}

// Looks at the task that runs for the longest time.
void Worker::CheckStuck() const {
  if (options_.task_timeout <= absl::ZeroDuration()) return;
  const auto start = backlog_.LongestRunning();
  if (!start.has_value()) return;
  const auto taken = absl::FromChrono(Backlog::Clock::now() - *start);
  if (taken < options_.task_timeout) return;
  LogError("a task exceeded --task-timeout-seconds", {{"seconds", absl::ToDoubleSeconds(taken)}});
  if (options_.on_stuck) options_.on_stuck();
}

// The body of a slot's thread: one task after the other until the backlog is closed.
void Worker::RunTasks() {
  while (std::optional<Backlog::Taken> taken = backlog_.Take()) {
    AddBusySlots(1);
    v1::Completion completion = Work(*taken);
    SetWaiting(*taken, false);
    backlog_.Ran(taken->start);
    AddBusySlots(-1);
    sender_.Put(std::move(completion));
  }
}

// Goes through the sender like a result; the grace of a drain includes it.
void Worker::HandBack(const v1::LeasedTask& task) {
  v1::Completion completion;
  *completion.mutable_lease() = MakeLease(task);
  completion.mutable_handback();
  sender_.Put(std::move(completion));
}

// A completion without an outcome is dropped by the sender.
v1::Completion Worker::Work(Backlog::Taken& taken) {
  const v1::LeasedTask& task = taken.task;
  const v1::LeaseRef lease = MakeLease(task);
  v1::Completion completion;
  *completion.mutable_lease() = lease;
  if (leases_.IsLost(lease)) return completion;  // lost while the task waited for a slot
  log_.Started(task);
  std::optional<TaskRunner::Outcome> outcome = runner_.Run(
      task,
      [&](absl::Duration pause, const absl::Status& why) { return PauseTask(taken, pause, why); },
      leases_.GetStopToken(lease));
  if (!outcome.has_value()) return completion;
  completion.set_cached(outcome->cached);
  *completion.mutable_timing() = outcome->timing;
  completion.mutable_timing()->set_waited_us(
      std::chrono::duration_cast<std::chrono::microseconds>(taken.waited).count());
  if (outcome->result.ok()) {
    *completion.mutable_result() = *std::move(outcome->result);
  } else {
    const absl::Status& failure = outcome->result.status();
    *completion.mutable_error() = rpc::ToProtoStatus(failure);
    // The text gets into reports and datasets.
    completion.mutable_error()->set_message(RedactedText(completion.error().message()));
    // A host asked for a wait; the coordinator leaves the host alone for it.
    if (const std::optional<absl::Duration> wait = GetRetryAfter(failure); wait.has_value()) {
      completion.set_retry_after_ms(absl::ToInt64Milliseconds(*wait));
    }
  }
  return completion;
}

// Called by the sending thread for each completion, sent or dropped.
void Worker::Ended(const v1::Completion& completion, const char* outcome) {
  CountTask(log_.Ended(completion, outcome), outcome);
  backlog_.Finished(1);
}

void Worker::SetWaiting(Backlog::Taken& taken, bool waits) {
  if (backlog_.SetWaiting(waits, &taken)) AddWaiters(Peer::kStore, waits ? 1 : -1);
}

// The generation is read before the lease is looked at, so that a loss in between ends the wait.
bool Worker::PauseTask(Backlog::Taken& taken, absl::Duration pause, const absl::Status& why) {
  const v1::LeaseRef lease = MakeLease(taken.task);
  const uint64_t seen = leases_.lost().generation();
  if (leases_.IsLost(lease)) return false;
  leases_.SetWaiting(lease, WaitsFor(why));
  SetWaiting(taken, !why.ok());
  NoteFull(why);
  if (!why.ok()) leases_.lost().WaitFor(seen, pause);
  return !leases_.IsLost(lease);
}

// A call that waited and then succeeded found room.
void Worker::NoteFull(const absl::Status& why) {
  if (options_.on_full == nullptr) return;
  {
    absl::MutexLock lock(&mutex_);
    if (!absl::IsResourceExhausted(why)) {
      full_since_ = absl::InfiniteFuture();
      return;
    }
    const absl::Time now = absl::Now();
    full_since_ = std::min(full_since_, now);
    if (told_full_ || now - full_since_ < options_.full_patience) return;
    told_full_ = true;
  }
  options_.on_full(why);
}

}  // namespace kernelmill::worker
