#include "services/store/core/collector.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/status.h"

namespace kernelmill::store {
namespace {

constexpr absl::Duration kMoreToDo = absl::Milliseconds(20);

}  // namespace

Collector::Collector(Keeper* keeper, const Options& options) : keeper_(keeper), options_(options) {}

Collector::~Collector() {
  Stop();
  if (thread_.joinable()) thread_.join();
}

void Collector::Stop() {
  stopping_ = true;
  keeper_->storage().Stop();
  keeper_->admission().pressure().Notify();
}

void Collector::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Collector::Run() {
  const Notifier& pressure = keeper_->admission().pressure();
  std::string last_error;
  while (!stopping_) {
    const uint64_t seen = pressure.generation();
    const absl::StatusOr<bool> more = Pass();
    const std::string error = more.ok() ? "" : more.status().ToString();
    if (error != last_error && !more.ok() && !stopping_) {  // each once: a full disk lasts
      LogWarning("the collector could not do its work", {{"error", error}});
    }
    last_error = error;
    pressure.WaitFor(seen, more.ok() && *more ? kMoreToDo : options_.interval);
    // Pressure lasts as long as writers press: a pause between passes either way.
    if (pressure.generation() != seen && !stopping_) absl::SleepFor(kMoreToDo);
  }
}

absl::StatusOr<bool> Collector::Pass() {
  absl::MutexLock lock(&pass_);
  RETURN_IF_ERROR(keeper_->holds().Expire());
  RETURN_IF_ERROR(keeper_->holds().SaveWidened());
  if (!keeper_->settled()) {
    ASSIGN_OR_RETURN(const bool done, keeper_->Settle());
    if (!done) return true;
  }
  RETURN_IF_ERROR(KeepToLimit());
  return above_;
}

absl::StatusOr<int64_t> Collector::Measure() {
  ASSIGN_OR_RETURN(const Space space, keeper_->storage().MeasureSpace());
  return space.disk_bytes;
}

absl::Status Collector::KeepToLimit() {
  Admission& admission = keeper_->admission();
  above_ = false;
  if (admission.limit() == 0) return ReclaimGarbage();
  ASSIGN_OR_RETURN(int64_t disk, Measure());
  if (disk <= admission.high_water()) {
    admission.Measured(disk, absl::OkStatus());
    return absl::OkStatus();
  }
  // Room that was dropped before, or that the log takes, comes back first: it may be enough.
  RETURN_IF_ERROR(keeper_->storage().Reclaim());
  ASSIGN_OR_RETURN(disk, Measure());
  if (disk <= admission.high_water()) {
    admission.Measured(disk, absl::OkStatus());
    return absl::OkStatus();
  }
  // What a blob takes on the disk is not what it holds: it may be compressed, and has records.
  const double content =
      std::max<double>(static_cast<double>(keeper_->storage().usage().blob_bytes), 1);
  const double share = static_cast<double>(disk - admission.low_water()) / disk;
  ASSIGN_OR_RETURN(const Collected dropped,
                   DropUpTo(std::max<int64_t>(static_cast<int64_t>(share * content), 1)));
  if (dropped.blobs + dropped.results == 0) return Stuck(disk);
  RETURN_IF_ERROR(keeper_->storage().Reclaim());
  ASSIGN_OR_RETURN(disk, Measure());
  above_ = disk > admission.high_water();
  admission.Measured(disk, absl::OkStatus());
  return absl::OkStatus();
}

absl::Status Collector::ReclaimGarbage() {
  constexpr int64_t kWorthIt = int64_t{1} << 30;
  const absl::Duration now = MonotonicNow();
  if (now - looked_at_ < absl::Minutes(1)) return absl::OkStatus();
  looked_at_ = now;
  ASSIGN_OR_RETURN(const Space space, keeper_->storage().MeasureSpace());
  if (space.garbage_bytes < std::max(kWorthIt, space.disk_bytes / 3)) return absl::OkStatus();
  return keeper_->storage().Reclaim();
}

absl::Status Collector::Stuck(int64_t disk_bytes) {
  Admission& admission = keeper_->admission();
  const bool full = disk_bytes > admission.limit();
  const bool wanted = admission.TakeRefused() > 0 || full;
  admission.Measured(disk_bytes, full ? absl::ResourceExhaustedError(absl::StrCat(
                                            "the store is full: its database takes ", disk_bytes,
                                            " bytes, its limit is ", admission.limit(),
                                            ", and everything in it is held or was used just now"))
                                      : absl::OkStatus());
  const absl::Duration now = MonotonicNow();
  if (!wanted || keeper_->FenceIsClosed() || now - unblocked_at_ < options_.unblock_after) {
    return absl::OkStatus();
  }
  unblocked_at_ = now;
  return keeper_->AdvanceClock();
}

absl::StatusOr<Collected> Collector::DropUpTo(int64_t bytes) {
  Collected sum;
  while (sum.bytes < bytes && !stopping_) {
    ASSIGN_OR_RETURN(const Dropped step, keeper_->DropOldest(bytes - sum.bytes));
    sum.blobs += static_cast<int64_t>(step.blobs.size());
    sum.results += step.results;
    sum.bytes += step.bytes;
    blobs_ += static_cast<int64_t>(step.blobs.size());
    results_ += step.results;
    bytes_ += step.bytes;
    if (step.finished) break;
  }
  return sum;
}

absl::StatusOr<Collected> Collector::Collect(int64_t target) {
  if (target < 0) return absl::InvalidArgumentError("the target is negative");
  if (!keeper_->settled()) {
    return absl::UnavailableError("the records of an older database are being read; try later");
  }
  absl::MutexLock lock(&pass_);
  // All that was used before this call may go; what is used from here on is safe.
  RETURN_IF_ERROR(keeper_->AdvanceClock());
  RETURN_IF_ERROR(keeper_->AdvanceClock());
  const int64_t above = keeper_->storage().usage().blob_bytes - target;
  if (above <= 0 && target > 0) return Collected();
  ASSIGN_OR_RETURN(const Collected dropped,
                   DropUpTo(target == 0 ? std::numeric_limits<int64_t>::max() : above));
  if (dropped.blobs + dropped.results > 0) {
    if (const absl::Status reclaimed = keeper_->storage().Reclaim(); !reclaimed.ok()) {
      LogWarning("the room of what was dropped comes back later",
                 {{"error", reclaimed.ToString()}});
    }
  }
  return dropped;
}

Collected Collector::total() const {
  return {.blobs = blobs_.load(), .results = results_.load(), .bytes = bytes_.load()};
}

}  // namespace kernelmill::store
