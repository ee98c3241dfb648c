#include "common/access/caller_limits.h"

#include <prometheus/counter.h>

#include "absl/strings/str_cat.h"
#include "common/metrics/metrics.h"

// Two counters behind one mutex: what each caller has, and what all callers have. A Place returns
// its amount when it is destroyed. The invariant: all_ is the sum of each_, and each_ has no entry
// of 0, so that the map is as large as the number of callers that have something now, and not as
// the number of callers ever seen.
namespace kernelmill::access {
namespace {

prometheus::Counter& Refusals(const Limit& limit) {
  return metrics::Counter(metrics::kLimitRefusals, {{"limit", limit.flag}});
}

// Returns whether has + amount exceeds the limit, without overflow.
bool Exceeds(const Limit& limit, int64_t has, int64_t amount) {
  return limit.value > 0 && (amount > limit.value || has > limit.value - amount);
}

}  // namespace

CallerLimits::CallerLimits(Options options)
    : options_(std::move(options)),
      refused_each_(Refusals(options_.each)),
      refused_all_(Refusals(options_.all)) {}

CallerLimits::Place& CallerLimits::Place::operator=(Place&& other) noexcept {
  if (this == &other) return *this;
  Free();
  limits_ = std::exchange(other.limits_, nullptr);
  caller_ = std::move(other.caller_);
  amount_ = other.amount_;
  return *this;
}

// Returns the amount. Releasing the mutex makes Abseil evaluate the conditions of waiting Await()
// calls again, so nothing needs to be notified.
void CallerLimits::Place::Free() {
  if (limits_ == nullptr) return;
  CallerLimits& limits = *std::exchange(limits_, nullptr);
  absl::MutexLock lock(&limits.mutex_);
  limits.all_ -= amount_;
  const auto at = limits.each_.find(caller_);
  if ((at->second -= amount_) == 0) limits.each_.erase(at);
}

absl::StatusOr<CallerLimits::Place> CallerLimits::Take(const std::string& caller, int64_t amount) {
  absl::MutexLock lock(&mutex_);
  if (absl::Status full = Check(caller, amount); !full.ok()) return full;
  return Add(caller, amount);
}

// Waits for a place up to `patience`. After the wait it checks again, which also counts a refusal
// and makes the error that names the limit.
absl::StatusOr<CallerLimits::Place> CallerLimits::Await(const std::string& caller,
                                                        absl::Duration patience, int64_t amount) {
  absl::MutexLock lock(&mutex_);
  const auto fits = [&] {
    mutex_.AssertHeld();
    return !Exceeds(options_.each, Has(caller), amount) && !Exceeds(options_.all, all_, amount);
  };
  mutex_.AwaitWithTimeout(absl::Condition(&fits), patience);
  if (absl::Status full = Check(caller, amount); !full.ok()) return full;
  return Add(caller, amount);
}

// Takes an amount without a check, for something that exists already and cannot be refused any
// more.
CallerLimits::Place CallerLimits::Keep(const std::string& caller, int64_t amount) {
  absl::MutexLock lock(&mutex_);
  return Add(caller, amount);
}

int64_t CallerLimits::Has(const std::string& caller) const {
  const auto at = each_.find(caller);
  return at == each_.end() ? 0 : at->second;
}

absl::Status CallerLimits::Check(const std::string& caller, int64_t amount) const {
  const int64_t has = Has(caller);
  if (Exceeds(options_.each, has, amount)) {
    refused_each_.Increment();
    return Refusal(options_.each, caller.empty() ? "the caller" : caller, has, amount);
  }
  if (Exceeds(options_.all, all_, amount)) {
    refused_all_.Increment();
    return Refusal(options_.all, "all callers", all_, amount);
  }
  return absl::OkStatus();
}

// The message names the flag and its value, so that operators know what to change.
absl::Status CallerLimits::Refusal(const Limit& limit, absl::string_view who, int64_t has,
                                   int64_t amount) const {
  std::string text =
      absl::StrCat("--", limit.flag, " is ", limit.value, ": ", who,
                   who == "all callers" ? " have " : " has ", has, " ", options_.what);
  if (amount > 1) absl::StrAppend(&text, ", and requests ", amount, " more");
  if (!options_.hint.empty()) absl::StrAppend(&text, "; ", options_.hint);
  return absl::ResourceExhaustedError(text);
}

// An amount of 0 has no entry, which would never be erased.
CallerLimits::Place CallerLimits::Add(const std::string& caller, int64_t amount) {
  if (amount == 0) return {};
  all_ += amount;
  each_[caller] += amount;
  return {this, caller, amount};
}

int64_t CallerLimits::all() const {
  absl::MutexLock lock(&mutex_);
  return all_;
}

size_t CallerLimits::callers() const {
  absl::MutexLock lock(&mutex_);
  return each_.size();
}

}  // namespace kernelmill::access
