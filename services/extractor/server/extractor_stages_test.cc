#include "services/extractor/server/extractor_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/history.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/reference.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/server/extractor_stages_fixture.h"

namespace kernelmill::extractor {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::Pair;

TEST_F(ExtractorStagesTest, AreExtractLinkReferenceAndHistory) {
  ASSERT_EQ(stages_.size(), 4u);
  EXPECT_EQ(stages_[3]->id(), worker::StageId::kHistory);
  EXPECT_EQ(stages_[2]->id(), worker::StageId::kReference);
  EXPECT_EQ(extract().id(), worker::StageId::kExtract);
  EXPECT_EQ(link().id(), worker::StageId::kLink);
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

TEST_F(ExtractorStagesTest, ASourceThatKeepsFilesHasEachAsARecordBeforeItsKernels) {
  v1::FileShard files;
  for (const char* path : {"a.py", "b.md", "c.py"}) {
    v1::SourceFile& file = *files.add_files();
    file.set_path(path);
    file.set_content("@triton.jit\ndef a(): pass\nimport triton\n");
  }
  files.mutable_files(0)->set_content("import triton\n" + files.files(0).content());
  files.mutable_files(1)->set_content("# No code\r\nat all");
  files.mutable_files(2)->set_content("import triton  # jit\n" + std::string(9 << 20, '\n'));
  v1::Action action;
  AddInput(action, "files", files);
  action.mutable_params()->mutable_extract()->set_keep_files(true);
  const auto result = extract().Run(action, store_);
  ASSERT_THAT(result, IsOk());
  const auto shard = cas::GetMessage<v1::KernelShard>(store_, result->outputs(0).digest());
  ASSERT_THAT(shard, IsOk());
  ASSERT_EQ(shard->kernels_size(), 3);  // c.py failed
  EXPECT_EQ(shard->kernels(0).form(), v1::KERNEL_FORM_FILE);
  EXPECT_EQ(shard->kernels(0).source(), files.files(0).content());
  EXPECT_EQ(shard->kernels(1).name(), "a");
  EXPECT_EQ(shard->kernels(2).form(), v1::KERNEL_FORM_FILE);
  EXPECT_EQ(shard->kernels(2).source(), files.files(1).content());
  EXPECT_EQ(shard->kernels(2).last_line(), 2);
  EXPECT_EQ(shard->files(0).kernels(), 1);
  std::vector<std::string> counters;
  for (const v1::Counter& counter : result->counters()) {
    counters.push_back(counter.name() + "=" + std::to_string(counter.value()));
  }
  EXPECT_THAT(counters, ::testing::IsSupersetOf({"kernels.found=1", "training_files.found=2"}));
}

TEST_F(ExtractorStagesTest, WholeFilesOfPiecesAreThoseOfTheShard) {
  v1::FileShard files = Files("a.py");
  *files.add_files() = Files("b.py").files(0);
  std::vector<v1::KernelShard> linked;
  for (const std::vector<int>& counts : {std::vector<int>{0}, std::vector<int>{1, 1}}) {
    v1::Action link_action;
    AddInput(link_action, "tree", v1::SourceTree());
    int first = 0;
    for (const int count : counts) {
      v1::Action action;
      AddInput(action, "files", files);
      v1::ExtractParams& params = *action.mutable_params()->mutable_extract();
      params.set_keep_files(true);
      params.set_first(first);
      params.set_count(count);
      first += count;
      const auto result = extract().Run(action, store_);
      ASSERT_THAT(result, IsOk());
      v1::NamedDigest& input = *link_action.add_inputs();
      input = result->outputs(0);
    }
    if (counts.size() > 1) {
      link_action.mutable_params()->mutable_link()->add_parts(static_cast<int>(counts.size()));
    }
    const auto result = link().Run(link_action, store_);
    ASSERT_THAT(result, IsOk());
    linked.push_back(*cas::GetMessage<v1::KernelShard>(store_, result->outputs(0).digest()));
  }
  EXPECT_EQ(linked[0].SerializeAsString(), linked[1].SerializeAsString());
  ASSERT_EQ(linked[0].kernels_size(), 6);
  for (const int file : {0, 3}) {
    EXPECT_EQ(linked[0].kernels(file).form(), v1::KERNEL_FORM_FILE);
    EXPECT_EQ(linked[0].kernels(file).module(), "");
  }
  EXPECT_NE(linked[0].kernels(1).module(), "");
}

TEST_F(ExtractorStagesTest, AFileThatIsThereForOthersIsNotKeptWhole) {
  v1::Action action;
  AddInput(action, "files", Files("a.h.py"));
  action.mutable_params()->mutable_extract()->set_keep_files(true);
  const auto extracted = extract().Run(action, store_);
  ASSERT_THAT(extracted, IsOk());
  v1::SourceTree tree;
  tree.add_files()->set_path("a.h.py");
  tree.mutable_files(0)->set_support(true);
  v1::Action link_action;
  AddInput(link_action, "tree", tree);
  *link_action.add_inputs() = extracted->outputs(0);
  const auto result = link().Run(link_action, store_);
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->outputs(0).items(), 0);
}

TEST_F(ExtractorStagesTest, ExtractCountsStringsThatItCouldNotRead) {
  v1::Action action;
  v1::FileShard files;
  v1::SourceFile& file = *files.add_files();
  file.set_path("output_code.py");
  file.set_content(
      "a = async_compile.triton('a', f'import triton  # jit')\n"
      "b = async_compile.triton('b', 'import triton  # jit\\n')\n");
  AddInput(action, "files", files);
  const auto result = extract().Run(action, store_);
  ASSERT_THAT(result, IsOk());
  std::vector<std::string> counters;
  for (const v1::Counter& counter : result->counters()) {
    counters.push_back(counter.name() + "=" + std::to_string(counter.value()));
  }
  EXPECT_THAT(counters,
              ::testing::ElementsAre("files.extracted=1", "strings.skipped.not_verbatim=2"));
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
    EXPECT_EQ(shard->kernels(0).id(), "");  // which would tell commits apart
    EXPECT_EQ(shard->definitions_size(), 0);
  }
}

TEST_F(ExtractorStagesTest, LinkFindsWrappersInOtherShardsOfTheSource) {
  v1::Action action;
  const std::pair<const char*, const char*> kFiles[] = {
      {"p/kernel.py", "from .util import my_jit  # triton\n@my_jit\ndef k(): pass\n"},
      {"p/util.py", "import triton\ndef my_jit(f): return triton.jit(f)\n"}};
  v1::SourceTree tree;
  for (const auto& [path, content] : kFiles) tree.add_files()->set_path(path);
  AddInput(action, "tree", tree);
  for (const auto& [path, content] : kFiles) {
    v1::FileShard files;
    files.add_files()->set_path(path);
    files.mutable_files(0)->set_content(content);
    v1::Action extraction;
    AddInput(extraction, "files", files);
    const auto extracted = extract().Run(extraction, store_);
    ASSERT_THAT(extracted, IsOk());
    EXPECT_EQ(extracted->outputs(0).items(), 0);
    *action.add_inputs() = extracted->outputs(0);
  }
  const auto result = link().Run(action, store_);
  ASSERT_THAT(result, IsOk());
  ASSERT_EQ(result->outputs_size(), 2);
  EXPECT_EQ(result->outputs(0).items(), 1);
  const auto shard = cas::GetMessage<v1::KernelShard>(store_, result->outputs(0).digest());
  ASSERT_THAT(shard, IsOk());
  EXPECT_EQ(shard->kernels(0).form(), v1::KERNEL_FORM_WRAPPED);
  EXPECT_EQ(shard->kernels(0).found_by(), "util.my_jit");
  EXPECT_EQ(shard->kernels(0).module(),
            "import triton\n\ndef my_jit(f): return triton.jit(f)\n\n@my_jit\ndef k(): pass\n");
  EXPECT_EQ(shard->files(0).kernels(), 1);
}

// Over two shards: a file that holds no kernel, and one that launches another's.
TEST_F(ExtractorStagesTest, LinkTakesHelpersAndLaunchersFromOtherShards) {
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"p/a.py", "import triton\nfrom .b import N\n@triton.jit\ndef k(x): return x + N\n"},
      {"p/b.py", "N = 1\n"},
      {"p/c.py", "import triton\nfrom .a import k\ndef host(x): k[(1,)](x)\n"}};
  v1::Action action;
  v1::SourceTree tree;
  tree.set_requires_triton(">=3.0.0");
  tree.set_requires_triton_path("setup.py");
  for (const auto& [path, text] : texts) tree.add_files()->set_path(path);
  AddInput(action, "tree", tree);
  for (const auto& [path, text] : texts) {
    v1::FileShard files;
    files.add_files()->set_path(path);
    files.mutable_files(0)->set_content(text);
    v1::Action extraction;
    AddInput(extraction, "files", files);
    const auto extracted = extract().Run(extraction, store_);
    ASSERT_THAT(extracted, IsOk());
    *action.add_inputs() = extracted->outputs(0);
  }
  const auto result = link().Run(action, store_);
  ASSERT_THAT(result, IsOk());
  const auto shard = cas::GetMessage<v1::KernelShard>(store_, result->outputs(0).digest());
  ASSERT_THAT(shard, IsOk());
  ASSERT_EQ(shard->kernels_size(), 1);
  const v1::Kernel& kernel = shard->kernels(0);
  EXPECT_EQ(kernel.module(), "import triton\n\nN = 1\n\n@triton.jit\ndef k(x): return x + N\n");
  EXPECT_TRUE(kernel.self_contained());
  EXPECT_EQ(kernel.launcher().path(), "p/c.py");
  EXPECT_EQ(kernel.requires_triton(), ">=3.0.0");
  EXPECT_EQ(kernel.requires_triton_path(), "setup.py");
  for (int i = 0; i < 3; ++i) {
    const auto linked = cas::GetMessage<v1::KernelShard>(store_, result->outputs(i).digest());
    ASSERT_THAT(linked, IsOk());
    EXPECT_EQ(linked->launches_size() + linked->definitions_size(), 0);
    EXPECT_EQ(linked->files_size(), 1);
  }
}

TEST_F(ExtractorStagesTest, ReferenceAnswersShardForShardAndCountsEveryKernel) {
  v1::FileShard tests;
  v1::SourceFile& test = *tests.add_files();
  test.set_path("tests/test_a.py");
  test.set_content(
      "import torch\nfrom a import run\n\ndef test_run():\n    x = torch.ones(1)\n"
      "    assert torch.equal(run(x), x + 1)\n");
  v1::FileShard files = Files("a.py");
  files.mutable_files(0)->mutable_content()->append("def run(x):\n    a[(1,)](x)\n");
  v1::SourceTree tree;
  tree.add_files()->set_path("a.py");
  tree.add_files()->set_path("tests/test_a.py");
  v1::Action linking;
  AddInput(linking, "tree", tree);
  for (const v1::FileShard& shard : {files, tests}) {
    v1::Action extracting;
    AddInput(extracting, "files", shard);
    const auto extracted = extract().Run(extracting, store_);
    ASSERT_THAT(extracted, IsOk());
    *linking.add_inputs() = extracted->outputs(0);
  }
  const auto linked = link().Run(linking, store_);
  ASSERT_THAT(linked, IsOk());
  v1::Action action;
  AddInput(action, "tree", tree);
  AddInput(action, "files", files);
  AddInput(action, "files", tests);
  for (const v1::NamedDigest& output : linked->outputs()) *action.add_inputs() = output;
  const auto result = stages_[2]->Run(action, store_);
  ASSERT_THAT(result, IsOk());
  ASSERT_EQ(result->outputs_size(), 2);
  EXPECT_EQ(result->outputs(0).name(), "references");
  EXPECT_EQ(result->outputs(0).items(), 2);
  EXPECT_EQ(result->outputs(1).items(), 0);
  const auto shard = cas::GetMessage<v1::ReferenceShard>(store_, result->outputs(0).digest());
  ASSERT_THAT(shard, IsOk());
  EXPECT_EQ(shard->kernels(0).tests(0).reference().text(), "def reference(x):\n    return x + 1\n");
  EXPECT_EQ(shard->kernels(1).reason(), "no_test");
  ASSERT_EQ(result->counters_size(), 2);
  EXPECT_EQ(result->counters(0).name(), "references.kernels.no_test");
  EXPECT_EQ(result->counters(1).name(), "references.kernels.reference");
  const auto again = stages_[2]->Run(action, store_);
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->outputs(0).digest().hash(), result->outputs(0).digest().hash());
}

TEST_F(ExtractorStagesTest, HistoryAnswersWithChangesAndSums) {
  v1::HistoryIndex index;
  index.set_commits_seen(9);
  v1::HistoryCommit& commit = *index.add_commits();
  commit.set_commit("c");
  commit.set_message("Fix a");
  v1::HistoryFile& file = *commit.add_files();
  file.set_path("a.py");
  file.set_before_path("a.py");
  file.set_before("1");
  file.set_after("2");
  v1::VersionShard versions;
  for (const std::string id : {"1", "2"}) {
    v1::FileVersion& version = *versions.add_versions();
    version.set_id(id);
    version.set_path("a.py");
    version.set_content(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef a(x):\n"
        "    tl.store(x + tl.program_id(0), " +
        id + ")\n");
  }
  v1::SourceTree tree;
  tree.set_repository("r");
  v1::Action action;
  AddInput(action, "tree", tree);
  AddInput(action, "history", index);
  AddInput(action, "versions", versions);
  action.mutable_params()->mutable_compile()->add_toolchains()->set_name("triton-3.5.1");
  action.mutable_params()->mutable_compile()->add_targets("cuda:90");
  const auto result = stages_[3]->Run(action, store_);
  ASSERT_THAT(result, IsOk());
  ASSERT_EQ(result->outputs_size(), 2);
  EXPECT_EQ(result->outputs(0).name(), "changes");
  EXPECT_EQ(result->outputs(0).items(), 1);
  EXPECT_EQ(result->outputs(1).name(), "version_kernels");
  EXPECT_EQ(result->outputs(1).items(), 2);
  const auto shard = cas::GetMessage<v1::ChangeShard>(store_, result->outputs(0).digest());
  ASSERT_THAT(shard, IsOk());
  EXPECT_EQ(shard->sums().commits_seen(), 9);
  EXPECT_EQ(shard->changes(0).kind(), "fix");
  EXPECT_FALSE(shard->changes(0).has_head()) << "no linked kernel has the name";
  EXPECT_EQ(shard->sums().kernels(), 1);
  std::map<std::string, int64_t> counters;
  for (const v1::Counter& counter : result->counters()) counters[counter.name()] = counter.value();
  EXPECT_THAT(counters,
              ElementsAre(Pair("history.changes.fix", 1), Pair("history.commits_with_changes", 1),
                          Pair("history.kernels", 1), Pair("history.sources", 1),
                          Pair("history.version_kernels", 2)));
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
