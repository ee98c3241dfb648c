#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/server/extractor_stages_fixture.h"

namespace kernelmill::extractor {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

// Every kind of file that extraction tells apart, in no order; two share a path, as in a hostile
// tree.
v1::FileShard MixedFiles() {
  std::string nested;  // beyond the limit on kernels within kernels
  for (int depth = 0; depth < 40; ++depth) {
    const std::string indent(depth, ' ');
    nested += indent + "@triton.jit\n" + indent + "def k():\n";
  }
  const std::pair<const char*, std::string> kFiles[] = {
      {"f.py",
       "import triton\nN = 2\n@triton.jit\ndef f(): return N\n"
       "async_compile.triton('g', '''\nimport triton as t\n@t.jit\ndef g(): pass\n''')\n"},
      {"b.py", "# nothing here\n"},
      {"a.py", "import triton\n\n\n@triton.jit\ndef late(): pass\n"},
      {"e.py", "import triton\n" + nested + std::string(40, ' ') + "pass\n"},
      {"a.py", "import triton\nM = 1\n@triton.jit\ndef early(): return M\n"},
      {"d.py", "import triton\nx = (\n@triton.jit\ndef d(): pass\n"},
      {"c.py", "import triton\n@triton.jit\ndef c1(): pass\n@triton.jit\ndef c2(): c1()\n"}};
  v1::FileShard files;
  for (const auto& [path, content] : kFiles) {
    v1::SourceFile& file = *files.add_files();
    file.set_path(path);
    file.set_content(content);
  }
  return files;
}

class PiecesTest : public ExtractorStagesTest {
 protected:
  PiecesTest() : files_(MixedFiles()) {
    v1::SourceTree tree;
    tree.set_repository("repo");
    tree.set_commit("commit");
    AddInput(linking_, "tree", tree);
  }

  v1::Action MakePiece(int first, int count, const std::string& quarantine_reason = "") {
    v1::Action action;
    AddInput(action, "files", files_);
    v1::ExtractParams& params = *action.mutable_params()->mutable_extract();
    params.set_first(first);
    params.set_count(count);
    params.set_quarantine_reason(quarantine_reason);
    return action;
  }
  v1::StageResult Extracted(const v1::Action& action) {
    const auto result = extract().Run(action, store_);
    EXPECT_THAT(result, IsOk());
    return result.ok() ? *result : v1::StageResult();
  }
  v1::StageResult ExtractedWhole() {
    v1::Action action;
    AddInput(action, "files", files_);
    return Extracted(action);
  }
  // Links one shard made of `pieces`, between two shards that came whole.
  absl::StatusOr<v1::StageResult> Link(const std::vector<v1::NamedDigest>& pieces) {
    v1::Action action = linking_;
    const v1::NamedDigest whole = ExtractedWhole().outputs(0);
    v1::LinkParams& params = *action.mutable_params()->mutable_link();
    *action.add_inputs() = whole;
    params.add_parts(1);
    for (const v1::NamedDigest& piece : pieces) *action.add_inputs() = piece;
    params.add_parts(static_cast<int>(pieces.size()));
    *action.add_inputs() = whole;
    params.add_parts(1);
    return link().Run(action, store_);
  }

  v1::FileShard files_;
  v1::Action linking_;
};

TEST_F(PiecesTest, HoldTogetherWhatTheWholeShardDoesHoweverItIsSplit) {
  const v1::StageResult whole = ExtractedWhole();
  ASSERT_EQ(whole.outputs(0).items(), 7);
  v1::Action action = linking_;
  *action.add_inputs() = whole.outputs(0);
  const auto linked = link().Run(action, store_);
  ASSERT_THAT(linked, IsOk());
  const int size = files_.files_size();
  // A bit for each place between two files where the shard may be cut.
  for (int cuts = 0; cuts < 1 << (size - 1); ++cuts) {
    v1::StageResult sum;
    std::vector<v1::NamedDigest> pieces;
    for (int first = 0, end = 1; end <= size; ++end) {
      if (end < size && (cuts >> (end - 1) & 1) == 0) continue;
      const v1::StageResult piece = Extracted(MakePiece(first, end - first));
      pieces.push_back(piece.outputs(0));
      for (const v1::Counter& counter : piece.counters()) {
        worker::AddCounter(sum, counter.name(), counter.value());
      }
      first = end;
    }
    const auto joined = Link(pieces);
    ASSERT_THAT(joined, IsOk());
    ASSERT_EQ(joined->outputs_size(), 3);
    for (const v1::NamedDigest& output : joined->outputs()) {
      EXPECT_EQ(output.SerializeAsString(), linked->outputs(0).SerializeAsString()) << cuts;
    }
    v1::StageResult expected;
    *expected.mutable_counters() = whole.counters();
    EXPECT_EQ(sum.DebugString(), expected.DebugString()) << cuts;
  }
}

TEST_F(PiecesTest, AQuarantinedFileIsListedAndTheRestGoesOn) {
  const v1::StageResult aside = Extracted(MakePiece(3, 1, "killed_worker"));
  ASSERT_EQ(aside.failures_size(), 1);
  EXPECT_EQ(aside.failures(0).path(), "c.py");
  EXPECT_EQ(aside.failures(0).reason(), "killed_worker");
  ASSERT_EQ(aside.counters_size(), 1);
  EXPECT_EQ(aside.counters(0).name(), "files.failed.killed_worker");
  EXPECT_EQ(aside.counters(0).value(), 1);
  const v1::StageResult before = Extracted(MakePiece(0, 3));
  const v1::StageResult after = Extracted(MakePiece(4, 3));
  EXPECT_EQ(before.failures_size() + after.failures_size(), 0);
  const auto linked = Link({before.outputs(0), aside.outputs(0), after.outputs(0)});
  ASSERT_THAT(linked, IsOk());
  const auto shard = cas::GetMessage<v1::KernelShard>(store_, linked->outputs(1).digest());
  const auto whole = cas::GetMessage<v1::KernelShard>(store_, linked->outputs(0).digest());
  ASSERT_THAT(shard, IsOk());
  ASSERT_THAT(whole, IsOk());
  EXPECT_EQ(shard->kernels_size(), whole->kernels_size() - 2);
  ASSERT_EQ(shard->files_size(), whole->files_size());
  for (int i = 0; i < shard->files_size(); ++i) {
    v1::ExtractedFile expected = whole->files(i);
    if (i == 3) {
      expected.set_failed("killed_worker");
      expected.clear_kernels();
      expected.clear_lines();
      expected.clear_has_triton_jit();
    }
    EXPECT_EQ(shard->files(i).DebugString(), expected.DebugString());
  }
}

TEST_F(PiecesTest, OnesThatAreNotInTheShardAreRefused) {
  const int size = files_.files_size();
  const std::pair<int, int> kWrong[] = {{0, 0},  {-1, 2},        {0, size + 1},         {size, 1},
                                        {2, -1}, {1, INT32_MAX}, {INT32_MAX, INT32_MAX}};
  for (const auto& [first, count] : kWrong) {
    for (const char* aside : {"", "killed_worker"}) {
      EXPECT_THAT(extract().Run(MakePiece(first, count, aside), store_),
                  StatusIs(absl::StatusCode::kInvalidArgument))
          << first << " " << count;
    }
  }
  EXPECT_THAT(extract().Run(MakePiece(0, 1, "no word"), store_),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(PiecesTest, LinkRefusesCountsThatDoNotMatchItsInputs) {
  const v1::NamedDigest whole = ExtractedWhole().outputs(0);
  for (const std::vector<int>& pieces :
       {std::vector<int>{1}, {3}, {2, 1}, {2, 0}, {3, -1}, {INT32_MAX, INT32_MAX}}) {
    v1::Action action = linking_;
    *action.add_inputs() = whole;
    *action.add_inputs() = whole;
    for (const int count : pieces) action.mutable_params()->mutable_link()->add_parts(count);
    EXPECT_THAT(link().Run(action, store_), StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

}  // namespace
}  // namespace kernelmill::extractor
