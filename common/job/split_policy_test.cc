#include "common/job/split_policy.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "common/job/job_spec.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::job {
namespace {

using ::kernelmill::testing::IsOk;

std::string ErrorOf(const v1::SplitPolicy& policy) {
  v1::JobSpec spec;
  spec.set_name("job");
  spec.add_sources()->set_git("https://example.org/a/b");
  *spec.mutable_splits() = policy;
  return std::string(CheckJobSpec(spec).message());
}

TEST(SplitPolicy, SharesLeaveSomethingForTrain) {
  v1::SplitPolicy policy;
  policy.set_validation(0.05);
  policy.set_test(0.9);
  policy.set_seed("any");
  EXPECT_THAT(CheckSplits(policy), IsOk());
  policy.set_test(0.95);
  EXPECT_EQ(ErrorOf(policy), "splits: validation and test leave nothing for train");
  policy.set_test(1.5);
  EXPECT_EQ(ErrorOf(policy), "splits.test: is not between 0 and 1");
  policy.set_test(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(ErrorOf(policy), "splits.test: is not between 0 and 1");
  policy.set_test(0);
  policy.set_validation(-0.1);
  EXPECT_EQ(ErrorOf(policy), "splits.validation: is not between 0 and 1");
}

TEST(SplitPolicy, ARepositoryIsNamedOnce) {
  v1::SplitPolicy policy;
  policy.add_test_repositories("https://github.com/a/b");
  policy.add_test_repositories("https://github.com/a/c");
  EXPECT_THAT(CheckSplits(policy), IsOk());
  policy.add_validation_repositories("github.com/A/C");
  EXPECT_EQ(ErrorOf(policy),
            "splits.test_repositories[1]: the same repository as validation_repositories[0]");
  policy.set_validation_repositories(0, "");
  EXPECT_EQ(ErrorOf(policy), "splits.validation_repositories[0]: is empty");
  policy.set_validation_repositories(0, "a\n");
  EXPECT_EQ(ErrorOf(policy), "splits.validation_repositories[0]: has a control character");
}

TEST(SplitPolicy, DividesOnlyWithAShareOrAName) {
  v1::SplitPolicy policy;
  EXPECT_FALSE(Divides(policy));
  policy.set_seed("any");
  EXPECT_FALSE(Divides(policy));
  policy.set_test(0.1);
  EXPECT_TRUE(Divides(policy));
  policy.clear_test();
  policy.add_validation_repositories("a");
  EXPECT_TRUE(Divides(policy));
}

}  // namespace
}  // namespace kernelmill::job
