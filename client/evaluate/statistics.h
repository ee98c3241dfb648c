#ifndef KERNELMILL_CLIENT_EVALUATE_STATISTICS_H_
#define KERNELMILL_CLIENT_EVALUATE_STATISTICS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace kernelmill::client {

// Returns the unbiased estimator of pass@k (Chen et al. 2021, "Evaluating Large Language Models
// Trained on Code"): 1 - C(n - c, k) / C(n, k). This is the chance that at least one of `k` samples
// passes, drawn without replacement from `n` samples with `c` passes. 1 <= k <= n, 0 <= c <= n.
double PassAtK(int64_t n, int64_t c, int64_t k);

// Returns 0 without values.
double Mean(absl::Span<const double> values);

// All fields are 0 without values.
struct Distribution {
  double mean = 0;
  double min = 0;
  double lower_quartile = 0;
  double median = 0;
  double upper_quartile = 0;
  double max = 0;
};
// Interpolates quantiles between two values linearly.
Distribution ComputeDistribution(std::vector<double> values);

inline constexpr int kResamples = 10000;

// The mean of `tuned` minus the mean of `base`, with the 95 % confidence interval of the paired
// bootstrap by percentiles: tasks are drawn with replacement, each with both of its values.
struct Difference {
  double difference = 0;
  double low = 0;
  double high = 0;

  bool excludes_zero() const { return low > 0 || high < 0; }
};
// Entries i of both belong to the same task; there is at least one. The same values and seed give
// the same result on every machine.
Difference BootstrapDifference(absl::Span<const double> base, absl::Span<const double> tuned,
                               uint64_t seed);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_STATISTICS_H_
