#include "services/fetcher/core/rate_floor.h"

#include "absl/strings/str_cat.h"

namespace kernelmill::fetcher {

// Windows follow one another, so a host that goes silent is noticed after one window at the
// earliest and two at the latest.
absl::Status RateFloor::Check(int64_t arrived, absl::Time now) {
  if (rate_.bytes_per_second == 0 || now - since_ < rate_.window) return absl::OkStatus();
  const double needed = absl::ToDoubleSeconds(now - since_) * rate_.bytes_per_second;
  if (arrived - before_ < needed) {
    return absl::DeadlineExceededError(absl::StrCat("the host sent fewer than ",
                                                    rate_.bytes_per_second, " bytes a second for ",
                                                    absl::FormatDuration(rate_.window)));
  }
  since_ = now;
  before_ = arrived;
  return absl::OkStatus();
}

}  // namespace kernelmill::fetcher
