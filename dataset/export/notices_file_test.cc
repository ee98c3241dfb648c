#include "dataset/export/notices_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"
#include "dataset/output/json.h"
#include "dataset/parquet/tables.h"
#include "dataset/rows/row_schema.h"

namespace kernelmill::dataset {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::ElementsAre;

TEST(NoticesFile, ALicenceThatHoldsForAKernelGoesAlongThoughOnlyAHeaderNamesIt) {
  v1::SourceTree tree;
  for (const char* const path : {"LICENSE", "NOTICE", "a/COPYING", "b/LICENSE", "pyproject.toml"}) {
    v1::SourceFile& file = *tree.add_license_files();
    file.set_path(path);
    file.set_content(absl::StrCat("text of ", path));
  }
  const absl::StatusOr<TempDir> folder = TempDir::Create();
  ASSERT_THAT(folder, IsOk());
  const std::string path = absl::StrCat(folder->path(), "/notices.jsonl");
  absl::StatusOr<TableWriter> tables = TableWriter::Create(folder->path(), RowSchemas());
  ASSERT_THAT(tables, IsOk());
  Provenance provenance;
  NoticesFile notices(&*tables, &provenance);
  notices.StartSource(SourceEntry(), tree);
  v1::Verdict verdict;
  verdict.mutable_license()->set_evidence("header");
  notices.AddNamedBy(verdict, "a/x/k.py", false);
  ASSERT_THAT(notices.EndSource(), IsOk());
  notices.StartSource(SourceEntry(), tree);
  ASSERT_THAT(notices.EndSource(), IsOk());
  ASSERT_THAT(tables->Finish(/*threads=*/1), IsOk());
  const absl::StatusOr<std::string> text = ReadFile(path, 1 << 20);
  ASSERT_THAT(text, IsOk());
  std::vector<std::string> paths;
  for (const absl::string_view line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
    paths.push_back(Json::parse(line).at("path").get<std::string>());
  }
  EXPECT_THAT(paths, ElementsAre("LICENSE", "a/COPYING"));
}

}  // namespace
}  // namespace kernelmill::dataset
