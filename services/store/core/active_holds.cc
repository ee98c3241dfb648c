#include "services/store/core/active_holds.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace kernelmill::store {
namespace {

// A year: far below the overflow of durations.
constexpr int64_t kMaxTtlMs = int64_t{366} * 24 * 3600 * 1000;

// std::map's heterogeneous lookup does not accept absl::string_view.
std::string Key(absl::string_view name) { return std::string(name); }

}  // namespace

// All holds in memory; the blobs that they name are only in the database, where eviction looks them
// up. A hold that "holds uses" has the epoch of its beginning: content used since then is not
// evicted. Expiry counts from the load, since the monotonic clock does not survive a restart.
ActiveHolds::ActiveHolds(Holds* records, std::function<absl::Duration()> now)
    : records_(records), now_(std::move(now)) {}

absl::Duration ActiveHolds::Expiry(int64_t ttl_ms) const {
  return ttl_ms == 0 ? absl::InfiniteDuration() : now_() + absl::Milliseconds(ttl_ms);
}

absl::Status ActiveHolds::Load() {
  ASSIGN_OR_RETURN(std::vector<HoldRecord> records, records_->List());
  absl::MutexLock lock(&mutex_);
  for (HoldRecord& record : records) {
    blobs_ += record.blobs;
    const std::string name = record.name;
    const absl::Duration expires = Expiry(record.ttl_ms);
    entries_[name] = {.record = std::move(record), .expires = expires};
  }
  return absl::OkStatus();
}

// A replaced hold gives back its blobs, so a client may renew a hold at the limit.
absl::Status ActiveHolds::Check(const HoldRequest& request) const {
  if (request.name.empty() || request.name.size() > limits_.name_bytes ||
      !std::all_of(request.name.begin(), request.name.end(), absl::ascii_isgraph)) {
    return absl::InvalidArgumentError(absl::StrCat("name: must be 1 to ", limits_.name_bytes,
                                                   " printable ASCII characters without blanks"));
  }
  if (request.blobs.size() > limits_.blobs) {
    return absl::InvalidArgumentError(
        absl::StrCat("blobs: a hold can name at most ", limits_.blobs));
  }
  if (request.ttl_ms < 0 || request.ttl_ms > kMaxTtlMs) {
    return absl::InvalidArgumentError("ttl_ms: must be 0 (no end) to one year");
  }
  const auto before = entries_.find(request.name);
  if (before == entries_.end() && entries_.size() >= limits_.holds) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the limit of ", limits_.holds, " holds is reached; release some"));
  }
  const int64_t released = before == entries_.end() ? 0 : before->second.record.blobs;
  if (blobs_ - released + static_cast<int64_t>(request.blobs.size()) > limits_.all_blobs) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the holds name ", blobs_, " blobs, the limit is ", limits_.all_blobs, "; release some"));
  }
  return absl::OkStatus();
}

// The changes below write the record first, without mutex_, and change memory afterwards. changes_
// keeps two changes of one hold in order.

absl::Status ActiveHolds::Hold(const HoldRequest& request, Epoch now) {
  absl::MutexLock changes(&changes_);
  HoldRecord record{.name = request.name,
                    .blobs = static_cast<int64_t>(request.blobs.size()),
                    .holds_uses = request.everything_used_from_now,
                    .since = now,
                    .ttl_ms = request.ttl_ms};
  {
    absl::MutexLock lock(&mutex_);
    // A renewed hold keeps its beginning; otherwise each renewal would release older uses.
    RETURN_IF_ERROR(Check(request));
    const auto before = entries_.find(request.name);
    if (before != entries_.end() && before->second.record.holds_uses && record.holds_uses) {
      record.since = before->second.record.since;
    }
  }
  RETURN_IF_ERROR(records_->Save(record, request.blobs));
  absl::MutexLock lock(&mutex_);
  Entry& entry = entries_[request.name];
  blobs_ += record.blobs - entry.record.blobs;
  const bool unsaved = entry.unsaved && record.holds_uses;
  entry = {.record = std::move(record), .expires = Expiry(request.ttl_ms), .unsaved = unsaved};
  if (unsaved) entry.record.since = 0;
  return absl::OkStatus();
}

absl::Status ActiveHolds::Release(absl::string_view name) {
  absl::MutexLock changes(&changes_);
  {
    absl::MutexLock lock(&mutex_);
    if (entries_.count(Key(name)) == 0) return absl::OkStatus();
  }
  RETURN_IF_ERROR(records_->Delete(name));
  absl::MutexLock lock(&mutex_);
  const auto at = entries_.find(Key(name));
  if (at == entries_.end()) return absl::OkStatus();
  blobs_ -= at->second.record.blobs;
  entries_.erase(at);
  return absl::OkStatus();
}

absl::Status ActiveHolds::Expire() {
  absl::MutexLock changes(&changes_);
  std::vector<std::string> over;
  {
    absl::MutexLock lock(&mutex_);
    const absl::Duration now = now_();
    for (const auto& [name, entry] : entries_) {
      if (entry.expires <= now) over.push_back(name);
    }
  }
  for (const std::string& name : over) {
    RETURN_IF_ERROR(records_->Delete(name));
    absl::MutexLock lock(&mutex_);
    blobs_ -= entries_[name].record.blobs;
    entries_.erase(name);
  }
  return absl::OkStatus();
}

// Returns the earliest beginning of the holds of uses; kNoEpoch, the largest epoch, if there are no
// such holds.
Epoch ActiveHolds::HeldSince() const {
  absl::MutexLock lock(&mutex_);
  Epoch since = kNoEpoch;
  for (const auto& [name, entry] : entries_) {
    if (entry.record.holds_uses) since = std::min(since, entry.record.since);
  }
  return since;
}

// Moves the beginning of the holds of uses to 0, because lost uses may have been later than their
// beginnings. SaveChanged stores it.
void ActiveHolds::HoldAllUses() {
  absl::MutexLock lock(&mutex_);
  for (auto& [name, entry] : entries_) {
    if (!entry.record.holds_uses || entry.record.since == 0) continue;
    entry.record.since = 0;
    entry.unsaved = true;
  }
}

bool ActiveHolds::TrustUses(Epoch since) {
  absl::MutexLock lock(&mutex_);
  bool changed = false;
  for (auto& [name, entry] : entries_) {
    if (!entry.record.holds_uses || entry.record.since != 0) continue;
    entry.record.since = since;
    entry.unsaved = changed = true;
    // Coordinators have made their holds again by now, and no job would ever end this one.
    if (name == kRepairHold) entry.expires = now_();
  }
  return changed;
}

absl::Status ActiveHolds::SaveChanged() {
  absl::MutexLock changes(&changes_);
  std::vector<HoldRecord> changed;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [name, entry] : entries_) {
      if (entry.unsaved) changed.push_back(entry.record);
    }
  }
  for (const HoldRecord& record : changed) {
    RETURN_IF_ERROR(records_->Update(record));
    absl::MutexLock lock(&mutex_);
    entries_[record.name].unsaved = false;
  }
  return absl::OkStatus();
}

std::vector<HoldState> ActiveHolds::List() const {
  absl::MutexLock lock(&mutex_);
  std::vector<HoldState> states;
  const absl::Duration now = now_();
  for (const auto& [name, entry] : entries_) {
    states.push_back(
        {.record = entry.record, .left = std::max(entry.expires - now, absl::ZeroDuration())});
  }
  return states;
}

size_t ActiveHolds::size() const {
  absl::MutexLock lock(&mutex_);
  return entries_.size();
}

}  // namespace kernelmill::store
