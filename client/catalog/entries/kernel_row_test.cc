#include "client/catalog/entries/kernel_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "client/catalog/testing/catalog_rows.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(KernelRow, HasWhatTheExportSays) {
  const auto kernel = ParseKernelRow(testing::SoftmaxRow().dump());
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ(kernel->qualname, "softmax_kernel");
  EXPECT_EQ(kernel->lines(), 7);
  EXPECT_EQ(kernel->requires_triton, ">=2.1.0");
  EXPECT_EQ(kernel->tokens, 120);
  EXPECT_THAT(kernel->tags, ElementsAre("softmax"));
  EXPECT_THAT(kernel->tag_rules, ElementsAre(Pair("softmax", "name:softmax")));
  EXPECT_THAT(kernel->heuristics, ElementsAre("EVEN"));
  EXPECT_EQ(kernel->parameters[1].default_value, "64");
  EXPECT_EQ(kernel->parameters[1].role, "constexpr");
  ASSERT_TRUE(kernel->autotune.has_value());
  EXPECT_THAT(kernel->autotune->configs[0].options, ElementsAre(Pair("num_warps", "4")));
  ASSERT_TRUE(kernel->launcher.has_value());
  EXPECT_EQ(kernel->launcher->count, 2);
  EXPECT_EQ(kernel->license.found[0].path, "LICENSE");
  EXPECT_EQ(kernel->license.adapted_from[0].origin, "b/origin");
  EXPECT_THAT(kernel->check_reasons, ElementsAre(Pair("parses", "a syntax error in line 2")));
  EXPECT_DOUBLE_EQ(kernel->score, 0.82);
  EXPECT_FALSE(kernel->compile.has_value());
}

TEST(KernelRow, OfACompiledKernelHasWhatTheCompilersSaid) {
  nlohmann::json row = testing::SoftmaxRow();
  row["compile"] = nlohmann::json::parse(R"json({
    "not_attempted": null, "imports": [{"toolchain": "triton-3.5", "ok": true, "error": null,
    "line": null}], "signatures": [{"attempt": 1, "arguments": [{"name": "x", "type": "*fp32",
    "rule": "guess:float", "divisible_by_16": true}, {"name": "n", "type": "i32", "rule": "annotation",
    "divisible_by_16": false}], "constexprs": [{"name": "B", "value": "64", "rule": "launch"}],
    "options": [{"name": "num_warps", "value": "4", "rule": "autotune"}]}], "results": [{"toolchain": "triton-3.5",
    "target": "cuda:90", "status": "ok", "stage": null, "message": null, "line": null,
    "missing": null, "registers": 32, "shared_bytes": 0, "spill_bytes": null, "instructions": 200,
    "forms": []}]})json");
  const auto kernel = ParseKernelRow(row.dump());
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  ASSERT_TRUE(kernel->compile.has_value());
  EXPECT_TRUE(kernel->compile->imports[0].ok);
  EXPECT_THAT(kernel->compile->signatures,
              ElementsAre("x: *fp32 (guess:float), n: i32 (annotation), B=64 (launch), "
                          "num_warps=4 (autotune)"));
  EXPECT_EQ(kernel->compile->results[0].registers, 32);
  EXPECT_EQ(kernel->compile->results[0].spill_bytes, std::nullopt);
}

TEST(KernelRow, WhoseLauncherIsATestHasATest) {
  nlohmann::json row = testing::SoftmaxRow();
  EXPECT_THAT(ParseKernelRow(row.dump())->tests, ElementsAre());
  row["launcher"]["path"] = "python/tests/test_softmax.py";
  EXPECT_THAT(ParseKernelRow(row.dump())->tests, ElementsAre("python/tests/test_softmax.py"));
  row["launcher"]["path"] = "python/latest/contest.py";
  EXPECT_THAT(ParseKernelRow(row.dump())->tests, ElementsAre());
}

TEST(KernelRow, WhoseIdCouldNameAnotherFileIsRefused) {
  nlohmann::json row = testing::SoftmaxRow();
  row["id"] = "../../../../../../../etc/passwd0";
  EXPECT_THAT(ParseKernelRow(row.dump()), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(KernelRow, OfNoObjectIsRefused) {
  EXPECT_THAT(ParseKernelRow("[1, 2"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ParseKernelRow("\"text\""), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(KernelRows, AreVisitedInOrderAndFoundAgainByTheirOffsets) {
  const auto folder = TempDir::Create();
  ASSERT_TRUE(folder.ok());
  testing::WriteKernels(folder->path(), {testing::NumberedRow(1), testing::NumberedRow(2)});
  std::vector<std::pair<std::string, RowOffset>> seen;
  ASSERT_TRUE(ForEachKernel(folder->path(), [&](const CatalogKernel& kernel, RowOffset offset) {
                seen.emplace_back(kernel.id, offset);
                return absl::OkStatus();
              }).ok());
  ASSERT_EQ(seen.size(), 2u);
  for (const auto& [id, offset] : seen) {
    const auto again = ReadKernelAt(folder->path(), offset);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->id, id);
  }
}

TEST(KernelRows, OfAFolderWithoutThemAreRefusedByName) {
  const auto folder = TempDir::Create();
  ASSERT_TRUE(folder.ok());
  const auto nothing = [](const CatalogKernel&, RowOffset) { return absl::OkStatus(); };
  const absl::Status missing = ForEachKernel(folder->path(), nothing);
  EXPECT_THAT(missing, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(missing.message(), HasSubstr("is it of an export?"));
  std::ofstream(folder->path() + "/kernels.jsonl") << "{}\n";
  const absl::Status no_row = ForEachKernel(folder->path(), nothing);
  EXPECT_THAT(no_row, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(no_row.message(), HasSubstr("kernels.jsonl:1"));
}

}  // namespace
}  // namespace kernelmill::client
