#include "common/worker/worker_metrics.h"

#include <gtest/gtest.h>
#include <prometheus/counter.h>

#include <string>

#include "common/metrics/metrics.h"
#include "common/worker/stage.h"

namespace kernelmill::worker {
namespace {

double Files(const std::string& result, const std::string& reason) {
  return metrics::Counter(metrics::kFetchedFiles, {{"result", result}, {"reason", reason}}).Value();
}

double Kernels(const std::string& fate, const std::string& rule) {
  return metrics::Counter(metrics::kDatasetKernels, {{"fate", fate}, {"rule", rule}}).Value();
}

TEST(StageMetricsTest, CountersOfTheStageAreCountedByFateAndReason) {
  v1::StageResult result;
  AddCounter(result, "files.seen", 9);
  AddCounter(result, "files.sharded", 4);
  AddCounter(result, "files.skipped.suffix", 3);
  AddCounter(result, "files.failed.too large", 2);
  AddCounter(result, "kernels.accepted", 7);
  CountStage(StageId::kFetch, result);
  EXPECT_EQ(Files("selected", "none"), 4);
  EXPECT_EQ(Files("skipped", "suffix"), 3);
  EXPECT_EQ(Files("failed", "too large"), 2);
  EXPECT_EQ(
      metrics::Counter(metrics::kValidatedKernels, {{"verdict", "accepted"}, {"rule", "none"}})
          .Value(),
      0);  // another stage's
}

TEST(StageMetricsTest, FatesOfADatasetAreCountedAndItsOtherSumsAreNot) {
  v1::StageResult result;
  AddCounter(result, "dataset.kernels", 10);
  AddCounter(result, "dataset.kept", 6);
  AddCounter(result, "dataset.keptX", 100);
  AddCounter(result, "dataset.rejected.license.unknown", 4);
  CountDataset(StageId::kResolve, result);
  EXPECT_EQ(Kernels("kept", "none"), 6);
  EXPECT_EQ(Kernels("rejected", "license.unknown"), 4);
}

}  // namespace
}  // namespace kernelmill::worker
