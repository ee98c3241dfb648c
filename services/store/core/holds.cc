#include "services/store/core/holds.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace kernelmill::store {
namespace {

// A year: far from where durations overflow.
constexpr int64_t kMaxTtlMs = int64_t{366} * 24 * 3600 * 1000;

// std::map's comparison knows std::string alone.
std::string Key(absl::string_view name) { return std::string(name); }

}  // namespace

Holds::Holds(Storage* storage, std::function<absl::Duration()> now)
    : storage_(storage), now_(std::move(now)) {}

absl::Duration Holds::Expiry(int64_t ttl_ms) const {
  return ttl_ms == 0 ? absl::InfiniteDuration() : now_() + absl::Milliseconds(ttl_ms);
}

absl::Status Holds::Load() {
  ASSIGN_OR_RETURN(std::vector<HoldRecord> records, storage_->Holds());
  absl::MutexLock lock(&mutex_);
  for (HoldRecord& record : records) {
    blobs_ += record.blobs;
    const std::string name = record.name;
    entries_[name] = {.record = std::move(record), .expires = Expiry(record.ttl_ms)};
  }
  return absl::OkStatus();
}

absl::Status Holds::Check(const HoldWish& wish) const {
  if (wish.name.empty() || wish.name.size() > limits_.name_bytes ||
      !std::all_of(wish.name.begin(), wish.name.end(), absl::ascii_isgraph)) {
    return absl::InvalidArgumentError(absl::StrCat("a hold's name has 1 to ", limits_.name_bytes,
                                                   " printable ASCII characters, no blanks"));
  }
  if (wish.blobs.size() > limits_.blobs) {
    return absl::InvalidArgumentError(
        absl::StrCat("a hold names at most ", limits_.blobs, " blobs"));
  }
  if (wish.ttl_ms < 0 || wish.ttl_ms > kMaxTtlMs) {
    return absl::InvalidArgumentError("a hold's time is 0 (for ever) to a year");
  }
  const auto before = entries_.find(wish.name);
  if (before == entries_.end() && entries_.size() >= limits_.holds) {
    return absl::ResourceExhaustedError(absl::StrCat("there are ", limits_.holds, " holds"));
  }
  const int64_t released = before == entries_.end() ? 0 : before->second.record.blobs;
  if (blobs_ - released + static_cast<int64_t>(wish.blobs.size()) > limits_.all_blobs) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the holds name ", blobs_, " blobs; there is no room for more"));
  }
  return absl::OkStatus();
}

absl::Status Holds::Hold(const HoldWish& wish, Tick tick) {
  absl::MutexLock changes(&changes_);
  HoldRecord record{.name = wish.name,
                    .blobs = static_cast<int64_t>(wish.blobs.size()),
                    .fenced = wish.everything_used_from_now,
                    .fence = tick,
                    .ttl_ms = wish.ttl_ms};
  {
    absl::MutexLock lock(&mutex_);
    RETURN_IF_ERROR(Check(wish));
    const auto before = entries_.find(wish.name);
    if (before != entries_.end() && before->second.record.fenced && record.fenced) {
      record.fence = before->second.record.fence;
    }
  }
  RETURN_IF_ERROR(storage_->SaveHold(record, wish.blobs));
  absl::MutexLock lock(&mutex_);
  Entry& entry = entries_[wish.name];
  blobs_ += record.blobs - entry.record.blobs;
  const bool widened = entry.widened && record.fenced;
  entry = {.record = std::move(record), .expires = Expiry(wish.ttl_ms), .widened = widened};
  if (widened) entry.record.fence = 0;
  return absl::OkStatus();
}

absl::Status Holds::Release(absl::string_view name) {
  absl::MutexLock changes(&changes_);
  {
    absl::MutexLock lock(&mutex_);
    if (entries_.count(Key(name)) == 0) return absl::OkStatus();
  }
  RETURN_IF_ERROR(storage_->DeleteHold(name));
  absl::MutexLock lock(&mutex_);
  const auto at = entries_.find(Key(name));
  if (at == entries_.end()) return absl::OkStatus();
  blobs_ -= at->second.record.blobs;
  entries_.erase(at);
  return absl::OkStatus();
}

absl::Status Holds::Expire() {
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
    RETURN_IF_ERROR(storage_->DeleteHold(name));
    absl::MutexLock lock(&mutex_);
    blobs_ -= entries_[name].record.blobs;
    entries_.erase(name);
  }
  return absl::OkStatus();
}

Tick Holds::Fence() const {
  absl::MutexLock lock(&mutex_);
  Tick fence = kNotHeld;
  for (const auto& [name, entry] : entries_) {
    if (entry.record.fenced) fence = std::min(fence, entry.record.fence);
  }
  return fence;
}

void Holds::WidenFences() {
  absl::MutexLock lock(&mutex_);
  for (auto& [name, entry] : entries_) {
    if (!entry.record.fenced || entry.record.fence == 0) continue;
    entry.record.fence = 0;
    entry.widened = true;
  }
}

absl::Status Holds::SaveWidened() {
  absl::MutexLock changes(&changes_);
  std::vector<HoldRecord> widened;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [name, entry] : entries_) {
      if (entry.widened) widened.push_back(entry.record);
    }
  }
  for (const HoldRecord& record : widened) {
    RETURN_IF_ERROR(storage_->SaveFence(record));
    absl::MutexLock lock(&mutex_);
    entries_[record.name].widened = false;
  }
  return absl::OkStatus();
}

std::vector<HoldState> Holds::List() const {
  absl::MutexLock lock(&mutex_);
  std::vector<HoldState> states;
  const absl::Duration now = now_();
  for (const auto& [name, entry] : entries_) {
    states.push_back(
        {.record = entry.record, .left = std::max(entry.expires - now, absl::ZeroDuration())});
  }
  return states;
}

size_t Holds::size() const {
  absl::MutexLock lock(&mutex_);
  return entries_.size();
}

}  // namespace kernelmill::store
