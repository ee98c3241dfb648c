#include "services/extractor/server/extractor_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/testing/status_matchers.h"
#include "common/worker/stage_versions.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::extractor {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

class ExtractorStagesTest : public ::testing::Test {
 protected:
  ExtractorStagesTest() : stages_(NewExtractorStages()) {}

  worker::Stage& extract() { return *stages_[0]; }
  worker::Stage& link() { return *stages_[1]; }

  template <typename Message>
  void AddInput(v1::Action& action, const std::string& name, const Message& message) {
    v1::NamedDigest& input = *action.add_inputs();
    input.set_name(name);
    *input.mutable_digest() = cas::PutMessage(store_, message).value();
  }

  static v1::FileShard Files(const std::string& path) {
    v1::FileShard files;
    v1::SourceFile& file = *files.add_files();
    file.set_path(path);
    file.set_content("import triton\n@triton.jit\ndef a(): pass\n@triton.jit\ndef b(): pass\n");
    return files;
  }

  cas::MemoryBlobStore store_;
  std::vector<std::unique_ptr<worker::Stage>> stages_;
};

TEST_F(ExtractorStagesTest, AreExtractAndLinkInTheirVersions) {
  ASSERT_EQ(stages_.size(), 2u);
  EXPECT_EQ(extract().name(), "extract");
  EXPECT_EQ(extract().version(), worker::kExtractVersion);
  EXPECT_EQ(link().name(), "link");
  EXPECT_EQ(link().version(), worker::kLinkVersion);
}

TEST_F(ExtractorStagesTest, ExtractCountsFilesAndKernels) {
  v1::Action action;
  v1::FileShard files = Files("a.py");
  v1::SourceFile& failing = *files.add_files();
  failing.set_path("b.py");
  failing.set_content("import triton  # jit\n" + std::string(9 << 20, '\n'));
  AddInput(action, "files", files);
  const auto result = extract().Run(action, store_);
  ASSERT_THAT(result, IsOk());
  ASSERT_EQ(result->outputs_size(), 1);
  EXPECT_EQ(result->outputs(0).name(), "kernels");
  EXPECT_EQ(result->outputs(0).items(), 2);
  std::vector<std::string> counters;
  for (const v1::Counter& counter : result->counters()) {
    counters.push_back(counter.name() + "=" + std::to_string(counter.value()));
  }
  EXPECT_THAT(counters, ::testing::ElementsAre("files.extracted=1", "files.failed.too_large=1",
                                               "kernels.found=2"));
}

TEST_F(ExtractorStagesTest, LinkAnswersShardForShardInOrder) {
  v1::Action action;
  v1::SourceTree tree;
  tree.set_repository("repo");
  tree.set_commit("commit");
  AddInput(action, "tree", tree);
  for (const char* path : {"z.py", "a.py"}) {
    v1::Action extraction;
    AddInput(extraction, "files", Files(path));
    const auto extracted = extract().Run(extraction, store_);
    ASSERT_THAT(extracted, IsOk());
    *action.add_inputs() = extracted->outputs(0);
  }
  const auto result = link().Run(action, store_);
  ASSERT_THAT(result, IsOk());
  ASSERT_EQ(result->outputs_size(), 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(result->outputs(i).items(), 2);
    const auto shard = cas::GetMessage<v1::KernelShard>(store_, result->outputs(i).digest());
    ASSERT_THAT(shard, IsOk());
    EXPECT_EQ(shard->kernels(0).path(), i == 0 ? "z.py" : "a.py");
    EXPECT_EQ(shard->kernels(0).id().size(), 32u);
    EXPECT_EQ(shard->definitions_size(), 0);
  }
}

TEST_F(ExtractorStagesTest, TheSameActionGivesTheSameDigests) {
  v1::Action action;
  AddInput(action, "files", Files("a.py"));
  const auto first = extract().Run(action, store_);
  const auto second = extract().Run(action, store_);
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(first->SerializeAsString(), second->SerializeAsString());
}

TEST_F(ExtractorStagesTest, AMissingInputIsRefused) {
  EXPECT_THAT(extract().Run(v1::Action(), store_), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(link().Run(v1::Action(), store_), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::extractor
