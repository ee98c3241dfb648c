// The statistics of an evaluation. They use only arithmetic that is the same on all machines, so
// that reports are reproducible.

#include "client/evaluate/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/numeric/int128.h"

namespace kernelmill::client {
namespace {

// SplitMix64. Unlike a standard library's generator, its sequence is the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // Returns a number below `bound`.
  size_t Below(size_t bound) {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    // The high half of the product scales 64 random bits to the bound, without a division. Some
    // numbers are more likely than others by at most bound / 2^64.
    return static_cast<size_t>(absl::Uint128High64(absl::uint128(z ^ (z >> 31)) * bound));
  }

 private:
  uint64_t state_;
};

// Returns the quantile, linear between the two nearest values. `sorted` is not empty.
double Quantile(absl::Span<const double> sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(std::floor(at));
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

double PassAtK(int64_t n, int64_t c, int64_t k) {
  // Fewer than k samples fail, so each choice of k has one that passes.
  if (n - c < k) return 1;
  // C(n - c, k) / C(n, k) as a product of c factors: the binomials themselves exceed a double for
  // large n.
  double none = 1;
  for (int64_t i = n - c + 1; i <= n; ++i) {
    none *= 1 - static_cast<double>(k) / static_cast<double>(i);
  }
  return 1 - none;
}

double Mean(absl::Span<const double> values) {
  if (values.empty()) return 0;
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

Distribution ComputeDistribution(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {Mean(values),          values.front(),         Quantile(values, 0.25),
          Quantile(values, 0.5), Quantile(values, 0.75), values.back()};
}

Difference BootstrapDifference(absl::Span<const double> base, absl::Span<const double> tuned,
                               uint64_t seed) {
  std::vector<double> differences;
  for (size_t i = 0; i < base.size(); ++i) differences.push_back(tuned[i] - base[i]);
  // Each resample draws tasks, not values, so that the two values of a task stay together. The 2.5
  // % and 97.5 % quantiles of the means are the interval.
  Random random(seed);
  std::vector<double> means;
  means.reserve(kResamples);
  for (int resample = 0; resample < kResamples; ++resample) {
    double sum = 0;
    for (size_t i = 0; i < differences.size(); ++i) sum += differences[random.Below(base.size())];
    means.push_back(sum / static_cast<double>(differences.size()));
  }
  std::sort(means.begin(), means.end());
  return {Mean(differences), Quantile(means, 0.025), Quantile(means, 0.975)};
}

}  // namespace kernelmill::client
