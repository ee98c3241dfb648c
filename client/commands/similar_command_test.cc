#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/commands/commands.h"
#include "client/commands/testing/command_test.h"
#include "client/console/exit_code.h"
#include "common/base/file.h"
#include "common/rpc/server.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr char kKernel[] = R"(# SPDX-License-Identifier: MIT
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, out_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1, mask=mask)
)";

// Asks about what a crawl of one kernel left.
class SimilarCommandTest : public CommandTest {
 protected:
  SimilarCommandTest() : dir_(*TempDir::Create()) {
    std::filesystem::create_directory(Path("tree"));
    Write("tree/add.py", kKernel);
    Write("job.yaml", "name: j\nsources:\n  - path: ./tree\n    name: tree\n");
    CrawlOptions crawl;
    crawl.job_file = Path("job.yaml");
    crawl.target.out_dir = Path("out");
    crawl.data_dir = Path("data");
    EXPECT_EQ(Run(true, [&](Console& c) { return Crawl(crawl, signal_, c); }).value(), kDone)
        << err_;
    options_.file = Path("query.py");
    options_.out_dir = Path("out");
    options_.data_dir = Path("data");
  }

  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }
  void Write(const std::string& name, const std::string& text) {
    EXPECT_THAT(WriteFile(Path(name), text), IsOk());
  }
  absl::StatusOr<int> RunSimilar(bool json) {
    return Run(json, [this](Console& c) { return Similar({}, options_, signal_, c); });
  }

  rpc::TerminationSignal signal_;
  TempDir dir_;
  SimilarOptions options_;
};

TEST_F(SimilarCommandTest, ListsWhatIsAlikeWithItsPlaceLicenceAndFate) {
  Write("query.py", absl::StrReplaceAll(kKernel, {{"offsets", "at"}, {"BLOCK_SIZE", "SIZE"}}));
  ASSERT_EQ(RunSimilar(false).value(), kDone);
  EXPECT_THAT(out_, HasSubstr("query.py:6-10  add_kernel\n"));
  EXPECT_THAT(out_, HasSubstr("  1.000  structural  tree"));
  EXPECT_THAT(out_, HasSubstr("  add.py:6-10  add_kernel  MIT  kept\n"));
  EXPECT_THAT(err_, HasSubstr("compared with 1 kernel of dataset "));

  ASSERT_EQ(RunSimilar(true).value(), kDone);
  EXPECT_EQ(Json::parse(err_)["type"], "note");
  const Json line = Json::parse(out_);
  EXPECT_EQ(line["path"], options_.file);
  EXPECT_EQ(line["qualname"], "add_kernel");
  ASSERT_EQ(line["similar"].size(), 1u);
  const Json& match = line["similar"][0];
  EXPECT_EQ(match["kind"], "structural");
  EXPECT_EQ(match["similarity"], 1);
  EXPECT_LT(match["near"], 0.7);
  EXPECT_EQ(match["repository"], "tree");
  EXPECT_EQ(match["path"], "add.py");
  EXPECT_EQ(match["first_line"], 6);
  EXPECT_EQ(match["license"], "MIT");
  EXPECT_EQ(match["fate"], "kept");
}

TEST_F(SimilarCommandTest, ThatNothingIsAlikeIsSaid) {
  Write("query.py",
        "import triton\n\n\n@triton.jit\ndef other(a, b, c):\n    return a * b - c / a + b\n");
  ASSERT_EQ(RunSimilar(false).value(), kDone) << err_;
  EXPECT_THAT(out_, HasSubstr("  nothing is similar enough (--threshold)\n"));
}

TEST_F(SimilarCommandTest, ATextWithoutKernelsIsComparedAsAWhole) {
  std::string text = kKernel;
  Write("query.py", text.substr(text.find("def ")));
  ASSERT_EQ(RunSimilar(false).value(), kDone);
  EXPECT_THAT(out_, HasSubstr("query.py:1-4  the whole text\n"));
  EXPECT_THAT(out_, HasSubstr("near        tree"));
  Write("query.py", "");
  EXPECT_THAT(RunSimilar(false), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(SimilarCommandTest, AFolderIsComparedFileByFile) {
  std::filesystem::create_directory(Path("mine"));
  Write("mine/a.py", kKernel);
  Write("mine/b.py", absl::StrReplaceAll(kKernel, {{"add_kernel", "plus"}}));
  Write("mine/none.py", "x = 1\n");
  options_.file = Path("mine");
  ASSERT_EQ(RunSimilar(false).value(), kDone);
  EXPECT_THAT(out_, HasSubstr("mine/a.py:6-10  add_kernel\n"));
  EXPECT_THAT(out_, HasSubstr("mine/b.py:6-10  plus\n"));
  EXPECT_THAT(out_, ::testing::Not(HasSubstr("none.py")));
  EXPECT_THAT(err_, HasSubstr("compared with 1 kernel of dataset "));
  std::filesystem::create_directory(Path("empty"));
  options_.file = Path("empty");
  EXPECT_THAT(RunSimilar(false), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(SimilarCommandTest, TheDatasetMayBeNamedByDigestOrJob) {
  Write("query.py", kKernel);
  std::string report = *ReadFile(Path("out/report.json"), 1 << 20);
  options_.out_dir.clear();
  options_.dataset = Json::parse(report)["dataset"];
  ASSERT_EQ(RunSimilar(true).value(), kDone);
  EXPECT_EQ(Json::parse(out_)["similar"][0]["kind"], "exact");
  const std::string by_digest = out_;
  options_.dataset.clear();
  options_.job = "j-000001";
  ASSERT_EQ(RunSimilar(true).value(), kDone);
  EXPECT_EQ(out_, by_digest);
}

TEST_F(SimilarCommandTest, WhatIsNotThereIsAWrongRequest) {
  EXPECT_THAT(RunSimilar(false), StatusIs(absl::StatusCode::kNotFound));  // query.py
  Write("query.py", kKernel);
  options_.data_dir = Path("nowhere");
  EXPECT_THAT(RunSimilar(false), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_FALSE(std::filesystem::exists(Path("nowhere")));
  options_.data_dir = Path("data");
  options_.out_dir.clear();
  options_.job = "other";
  EXPECT_THAT(RunSimilar(false), StatusIs(absl::StatusCode::kNotFound));
  options_.job.clear();
  options_.dataset = absl::StrCat(std::string(64, 'a'), "/12");
  const absl::Status elsewhere = RunSimilar(false).status();
  EXPECT_THAT(elsewhere, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(elsewhere.message()), HasSubstr("set --data to that of its crawl"));
  options_.dataset = "a";
  EXPECT_THAT(RunSimilar(false), StatusIs(absl::StatusCode::kInvalidArgument));
  options_.dataset.clear();
  options_.out_dir = Path("out");
  Write("out/report.json", "[]");
  EXPECT_THAT(RunSimilar(false), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::client
