// Hostile text: bounds on work and memory, and no stack that grows with nesting.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/python/parse/python_parser.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/core/extract/extract.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {

using python::StandardParser;

namespace {

using ::kernelmill::testing::StatusIs;

constexpr char kKernel[] = "\n@triton.jit\ndef k(x):\n    return x\n";

std::string Times(int count, absl::string_view text) {
  std::string out;
  for (int i = 0; i < count; ++i) absl::StrAppend(&out, text);
  return out;
}

TEST(StandardParserTest, DeepNestingIsReadWithoutAStack) {
  for (const auto& nested :
       {absl::StrCat(Times(100'000, "("), "1", Times(100'000, ")")),
        absl::StrCat("1", Times(20'000, "+1")), absl::StrCat("a", Times(20'000, ".b")),
        absl::StrCat(Times(20'000, "lambda: "), "1"), absl::StrCat(Times(20'000, "-"), "1")}) {
    const v1::KernelShard shard = Extract(absl::StrCat("import triton\nx = ", nested, kKernel));
    EXPECT_EQ(shard.kernels_size(), 1) << nested.substr(0, 20);
    EXPECT_EQ(shard.files(0).failed(), "");
  }
}

TEST(StandardParserTest, UnclosedBracketsOfAnyNumber) {
  const v1::KernelShard shard =
      Extract(absl::StrCat("import triton\nx = ", Times(100'000, "["), kKernel, kKernel));
  EXPECT_EQ(shard.kernels_size(), 2);
}

TEST(StandardParserTest, MoreThan65535CommentsInARow) {
  const v1::KernelShard shard =
      Extract(absl::StrCat("import triton\nif x:\n    pass\n", Times(70'000, "# c\n"), kKernel));
  EXPECT_EQ(shard.kernels_size(), 1);
}

TEST(StandardParserTest, LongLinesAndStrings) {
  const v1::KernelShard shard =
      Extract(absl::StrCat("import triton\nx = '", std::string(1 << 20, 'a'), "' #",
                           std::string(1 << 20, 'b'), kKernel));
  EXPECT_EQ(shard.kernels_size(), 1);
}

TEST(StandardParserTest, WorkBeyondTheBudgetIsRefusedAndAlwaysTheSameWay) {
  StandardParser::Options options;
  options.plain_first = false;
  options.work = 100;
  options.work_per_byte = 0;
  const StandardParser parser(options);
  for (int i = 0; i < 2; ++i) {
    const auto tree = parser.Parse("x = 1\n" + Times(1000, "y = 2\n"));
    EXPECT_THAT(tree, StatusIs(absl::StatusCode::kResourceExhausted));
    EXPECT_EQ(tree.status().message(), "parse_budget");
  }
  EXPECT_TRUE(StandardParser().Parse("x = 1\n").ok());
}

TEST(StandardParserTest, TextReadAgainAndAgainRunsIntoTheBudget) {
  // The scanner looks through all of these lines for every one of them.
  const std::string text = absl::StrCat("import triton  # jit\n", Times(100'000, "\\\n"), kKernel);
  StandardParser::Options options;
  options.work = 100'000;
  EXPECT_EQ(StandardParser(options).Parse(text).status().message(), "parse_budget");
}

// rows 29 and 30
TEST(StandardParserTest, MillionsOfLineContinuationsEndAtOnceWithAReason) {
  const std::string text =
      absl::StrCat("import triton  # jit\n", Times(3'500'000, "\\\n"), kKernel);
  const v1::KernelShard shard = Extract(text);
  EXPECT_EQ(shard.files(0).failed(), "parse_budget");
  EXPECT_EQ(shard.kernels_size(), 0);
}

TEST(StandardParserTest, LineContinuationsThatPeopleWriteAreRead) {
  const v1::KernelShard shard =
      Extract(absl::StrCat("import triton\nx = 1", Times(500, " \\\n + 1"), "\ny = `1`", kKernel));
  EXPECT_EQ(shard.files(0).failed(), "");
  EXPECT_EQ(shard.kernels_size(), 1);
}

TEST(StandardParserTest, TreesBeyondTheLimitAreRefused) {
  StandardParser::Options options;
  options.max_nodes = 50;
  const auto tree = StandardParser(options).Parse(Times(100, "y = 2\n"));
  EXPECT_EQ(tree.status().message(), "too_many_nodes");
}

TEST(StandardParserTest, FilesThatFailAreListedWithTheReason) {
  v1::FileShard files;
  v1::SourceFile& file = *files.add_files();
  file.set_path("big.py");
  file.set_content(absl::StrCat("import triton  # jit\n", std::string(2000, '\n')));
  v1::SourceFile& good = *files.add_files();
  good.set_path("good.py");
  good.set_content(absl::StrCat("import triton\n", kKernel));
  ExtractOptions options;
  options.max_file_bytes = 1000;
  const auto shard = ExtractKernels(files, StandardParser(), options);
  ASSERT_TRUE(shard.ok());
  EXPECT_EQ(shard->files(0).failed(), "too_large");
  EXPECT_EQ(shard->files(1).failed(), "");
  EXPECT_EQ(shard->kernels_size(), 1);
}

TEST(StandardParserTest, KernelsWithinKernelsAreBounded) {
  std::string text = "from triton import jit\n";
  for (int depth = 0; depth < 100; ++depth) {
    const std::string indent(static_cast<size_t>(depth), ' ');
    absl::StrAppend(&text, indent, "@jit\n", indent, "def f():\n");
  }
  absl::StrAppend(&text, std::string(100, ' '), "pass\n");
  const v1::KernelShard shard = Extract(text);
  EXPECT_EQ(shard.files(0).failed(), "nested_kernels");
  EXPECT_EQ(shard.kernels_size(), 0);
}

}  // namespace
}  // namespace kernelmill::extractor
