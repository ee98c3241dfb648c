#include "services/runner/core/result_source.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "common/base/hash.h"
#include "common/job/source_spec.h"
#include "common/source_files/content_hash.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::runner {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

TEST(ResultSource, IsAFolderWithAllLinesInOrder) {
  const auto source = MakeResultSource("cuda:90", {"b", "a"});
  ASSERT_THAT(source, IsOk());
  ASSERT_EQ(source->shard.files_size(), 1);
  EXPECT_EQ(source->shard.files(0).content(), "a\nb\n");
  ASSERT_EQ(source->tree.files_size(), 1);
  EXPECT_EQ(source->tree.files(0).path(), source->shard.files(0).path());
  EXPECT_EQ(source->tree.files(0).sha256(), Sha256Hex("a\nb\n"));
  EXPECT_EQ(source->tree.files(0).fate(), v1::FILE_FATE_SHARDED);
  EXPECT_EQ(source->sha256, source_files::ContentHash(source->tree));
  EXPECT_EQ(source->tree.commit(), "sha256:" + source->sha256);
  EXPECT_EQ(source->tree.repository(), job::RunSourceName("cuda:90", source->sha256));
}

TEST(ResultSource, OtherResultsAreAnotherSource) {
  EXPECT_NE(MakeResultSource("cpu", {"a"})->sha256, MakeResultSource("cpu", {"b"})->sha256);
}

TEST(ResultSource, MoreThanAFetcherReadsIsRefused) {
  EXPECT_THAT(MakeResultSource("cpu", {std::string(17 << 20, 'x')}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace kernelmill::runner
