#include "services/store/core/garbage_collector.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/status.h"

namespace kernelmill::store {
namespace {

// The pause between two passes while there is work.
constexpr absl::Duration kMoreToDo = absl::Milliseconds(20);

}  // namespace

// One thread runs passes; Collect and WouldCollect run in a caller's thread. pass_ keeps a pass and
// Collect apart.
//
// A pass that finds the database above the high water brings it below the low water:
//
// 1. Reclaim the space of content that is deleted already; that may be enough.
// 2. Evict the least recently used content.
// 3. Reclaim the space of the evicted content.
// 4. Measure again, and let waiting writers go on (Admission).
//
// The collector compares disk space with the limit, not the sum of the contents, because garbage in
// the database's files takes room too.
GarbageCollector::GarbageCollector(LruStore* store, const Options& options)
    : store_(store), options_(options) {}

GarbageCollector::~GarbageCollector() {
  Stop();
  if (thread_.joinable()) thread_.join();
}

void GarbageCollector::Stop() {
  stopping_ = true;
  store_->disk().Stop();
  store_->admission().wake_collector().Notify();
}

void GarbageCollector::Start() {
  thread_ = std::thread([this] { Run(); });
}

// Runs a pass at each interval, and when a writer finds the store above its high water.
void GarbageCollector::Run() {
  const Notifier& wake = store_->admission().wake_collector();
  std::string last_error;
  while (!stopping_) {
    const uint64_t seen = wake.generation();
    const absl::StatusOr<bool> more = Pass();
    const std::string error = more.ok() ? "" : more.status().ToString();
    if (error != last_error && !more.ok() && !stopping_) {  // an error that lasts is logged once
      LogWarning("the garbage collector failed", {{"error", error}});
    }
    last_error = error;
    wake.WaitFor(seen, more.ok() && *more ? kMoreToDo : options_.interval);
    // Waiting writers wake the collector again and again; pause between passes anyway.
    if (wake.generation() != seen && !stopping_) absl::SleepFor(kMoreToDo);
  }
}

// Returns whether more work is left. Abandoned uploads are deleted one at a time before anything
// else is evicted.
absl::StatusOr<bool> GarbageCollector::Pass() {
  absl::MutexLock lock(&pass_);
  RETURN_IF_ERROR(MeasureFree());
  RETURN_IF_ERROR(store_->holds().Expire());
  RETURN_IF_ERROR(store_->holds().SaveChanged());
  ASSIGN_OR_RETURN(const bool uploads_deleted, store_->blobs().DeleteAbandonedUpload());
  if (!uploads_deleted) return true;
  RETURN_IF_ERROR(EnforceLimit());
  return above_;
}

// Measures the free space. It comes first in a pass: on a full disk the rest may fail.
absl::Status GarbageCollector::MeasureFree() {
  const absl::StatusOr<Space> space = store_->disk().Measure();
  if (!space.ok()) return store_->admission().Noted(space.status());
  store_->admission().FreeMeasured(space->free_bytes);
  return absl::OkStatus();
}

absl::StatusOr<int64_t> GarbageCollector::Measure() {
  ASSIGN_OR_RETURN(const Space space, store_->disk().Measure());
  return space.disk_bytes;
}

absl::Status GarbageCollector::EnforceLimit() {
  Admission& admission = store_->admission();
  above_ = false;
  if (admission.limit() == 0) return ReclaimGarbage();
  ASSIGN_OR_RETURN(int64_t disk, Measure());
  if (disk <= admission.limit()) full_since_ = absl::InfiniteDuration();
  if (disk <= admission.high_water()) {
    admission.Measured(disk, absl::OkStatus());
    return absl::OkStatus();
  }
  // Earlier evictions and the log may still take room; reclaiming that may be enough.
  RETURN_IF_ERROR(store_->disk().Reclaim());
  ASSIGN_OR_RETURN(disk, Measure());
  if (disk <= admission.high_water()) {
    admission.Measured(disk, absl::OkStatus());
    return absl::OkStatus();
  }
  // Evictions count content, the limit counts disk: compression and records make them differ. So
  // the share of the disk above the low water is evicted as the same share of the content.
  const double content =
      std::max<double>(static_cast<double>(store_->blobs().usage().blob_bytes), 1);
  const double share = static_cast<double>(disk - admission.low_water()) / disk;
  ASSIGN_OR_RETURN(const Collected evicted,
                   EvictUpTo(std::max<int64_t>(static_cast<int64_t>(share * content), 1)));
  if (evicted.blobs + evicted.results == 0) return ReportFull(disk);
  RETURN_IF_ERROR(store_->disk().Reclaim());
  ASSIGN_OR_RETURN(disk, Measure());
  above_ = disk > admission.high_water();
  admission.Measured(disk, absl::OkStatus());
  return absl::OkStatus();
}

// Without a limit only the garbage is collected: when it is more than 1 GiB and a third of the
// database. Looking takes a measurement, so it happens once a minute.
absl::Status GarbageCollector::ReclaimGarbage() {
  constexpr int64_t kWorthIt = int64_t{1} << 30;
  const absl::Duration now = MonotonicNow();
  if (now - looked_at_ < absl::Minutes(1)) return absl::OkStatus();
  looked_at_ = now;
  ASSIGN_OR_RETURN(const Space space, store_->disk().Measure());
  if (space.garbage_bytes < std::max(kWorthIt, space.disk_bytes / 3)) return absl::OkStatus();
  return store_->disk().Reclaim();
}

// Called when nothing can be evicted. Two things protect content: holds, and recent use. If writers
// are refused because of recent use alone, the epoch advances early, so that content of the last
// two epochs becomes evictable; at most once in each unblock_after, because the content is still in
// use.
//
// A hold of a job's uses holds everything once a use may be lost. In a full store such a job could
// never end, and its hold neither. So after trust_uses_after the recorded uses count again, and the
// hold that a repair made ends: the least recently used content is evicted first, and a job that
// misses a blob begins again.
absl::Status GarbageCollector::ReportFull(int64_t disk_bytes) {
  Admission& admission = store_->admission();
  const bool full = disk_bytes > admission.limit();
  const bool wanted = admission.TakeRefused() > 0 || full;
  admission.Measured(disk_bytes, full ? absl::ResourceExhaustedError(absl::StrCat(
                                            "the store is full: its database takes ", disk_bytes,
                                            " bytes, its limit is ", admission.limit(),
                                            ", and everything in it is held or in use; release "
                                            "holds or raise --limit-bytes"))
                                      : absl::OkStatus());
  const absl::Duration now = MonotonicNow();
  if (full) full_since_ = std::min(full_since_, now);
  if (now - full_since_ >= options_.trust_uses_after && store_->TrustRecordedUses()) {
    LogWarning("the store is full and records of uses were lost; evicts by those that it has", {});
  }
  const bool epoch_helps = store_->IsEvictionPaused() || !store_->HoldsKeepMoreThanRecency();
  if (!wanted || !epoch_helps || now - unblocked_at_ < options_.unblock_after) {
    return absl::OkStatus();
  }
  unblocked_at_ = now;
  return store_->AdvanceEpoch();
}

// Evicts in small steps; each takes the eviction lock on its own, so that readers wait only for one
// step.
absl::StatusOr<Collected> GarbageCollector::EvictUpTo(int64_t bytes) {
  Collected sum;
  while (sum.bytes < bytes && !stopping_) {
    ASSIGN_OR_RETURN(const Evicted step, store_->EvictOldest(bytes - sum.bytes));
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

// Returns the bytes to evict for the target. A target of 0 means everything that may be evicted.
int64_t GarbageCollector::BytesAbove(int64_t target) const {
  if (target == 0) return std::numeric_limits<int64_t>::max();
  return store_->blobs().usage().blob_bytes - target;
}

absl::StatusOr<Collected> GarbageCollector::WouldCollect(int64_t target) {
  if (target < 0) return absl::InvalidArgumentError("target_bytes: must not be negative");
  const int64_t wanted = BytesAbove(target);
  if (wanted <= 0) return Collected();
  ASSIGN_OR_RETURN(const Evictable found, store_->CountEvictable(wanted));
  return Collected{.blobs = found.blobs, .results = found.results, .bytes = found.bytes};
}

// Evicts for an operator, without regard to the high water. A failure to reclaim is no error: the
// content is gone, and the next pass tries again.
absl::StatusOr<Collected> GarbageCollector::Collect(int64_t target) {
  if (target < 0) return absl::InvalidArgumentError("target_bytes: must not be negative");
  absl::MutexLock lock(&pass_);
  // After two epochs, earlier uses protect nothing; uses from here on do.
  RETURN_IF_ERROR(store_->AdvanceEpoch());
  RETURN_IF_ERROR(store_->AdvanceEpoch());
  const int64_t wanted = BytesAbove(target);
  if (wanted <= 0) return Collected();
  ASSIGN_OR_RETURN(const Collected evicted, EvictUpTo(wanted));
  if (evicted.blobs + evicted.results > 0) {
    if (const absl::Status reclaimed = store_->disk().Reclaim(); !reclaimed.ok()) {
      LogWarning("cannot reclaim the disk space of evicted content yet",
                 {{"error", reclaimed.ToString()}});
    }
  }
  return evicted;
}

Collected GarbageCollector::total() const {
  return {.blobs = blobs_.load(), .results = results_.load(), .bytes = bytes_.load()};
}

}  // namespace kernelmill::store
