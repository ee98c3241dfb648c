#ifndef KERNELMILL_CLIENT_EVALUATE_STATISTICS_H_
#define KERNELMILL_CLIENT_EVALUATE_STATISTICS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace kernelmill::client {

// The chance that one of `k` samples passes that are drawn without replacement from `n` of which
// `c` pass: 1 - C(n - c, k) / C(n, k), the unbiased estimator of pass@k (Chen et al. 2021,
// "Evaluating Large Language Models Trained on Code"). 1 <= k <= n, 0 <= c <= n.
double PassAtK(int64_t n, int64_t c, int64_t k);

// Of no values all are 0.
double Mean(absl::Span<const double> values);

struct Distribution {
  double mean = 0;
  double min = 0;
  double lower_quartile = 0;
  double median = 0;
  double upper_quartile = 0;
  double max = 0;
};
// Quantiles between two values are interpolated linearly.
Distribution DistributionOf(std::vector<double> values);

inline constexpr int kResamples = 10000;

// How much higher `tuned` is than `base` in the mean, with the 95 % confidence interval of the
// paired bootstrap by percentiles: tasks are drawn with replacement, each with both of its values.
// Entry i of both is the same task's; there is at least one.
struct Difference {
  double difference = 0;
  double low = 0;
  double high = 0;

  bool excludes_zero() const { return low > 0 || high < 0; }
};
// The same for the same values and seed, on every machine.
Difference BootstrapDifference(absl::Span<const double> base, absl::Span<const double> tuned,
                               uint64_t seed);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_STATISTICS_H_
