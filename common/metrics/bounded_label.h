#ifndef KERNELMILL_COMMON_METRICS_BOUNDED_LABEL_H_
#define KERNELMILL_COMMON_METRICS_BOUNDED_LABEL_H_

#include <cstddef>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace kernelmill::metrics {

// Values of a label that come from outside, as hosts do: the first `limit` of them are themselves,
// all others are "other", so that a million hosts make no million series. Thread-safe.
class BoundedLabel {
 public:
  explicit BoundedLabel(size_t limit) : limit_(limit) {}

  std::string ValueFor(absl::string_view value) {
    if (value.empty()) return "none";
    absl::MutexLock lock(&mutex_);
    std::string text(value.substr(0, kMaxBytes));
    if (known_.count(text) > 0) return text;
    if (known_.size() >= limit_) return "other";
    known_.insert(text);
    return text;
  }

 private:
  static constexpr size_t kMaxBytes = 128;

  const size_t limit_;
  absl::Mutex mutex_;
  std::set<std::string> known_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace kernelmill::metrics

#endif  // KERNELMILL_COMMON_METRICS_BOUNDED_LABEL_H_
