#include "client/catalog/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "client/catalog/testing/catalog_rows.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::nlohmann::operator""_json;

namespace fs = std::filesystem;

class CatalogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto temp = TempDir::Create();
    ASSERT_THAT(temp, IsOk());
    temp_ = std::make_unique<TempDir>(std::move(*temp));
    dataset_ = temp_->path() + "/dataset";
    site_ = temp_->path() + "/site";
    fs::create_directories(dataset_);
    testing::WriteKernels(dataset_, {testing::NumberedRow(1), testing::NumberedRow(2)});
    std::ofstream(dataset_ + "/notices.jsonl")
        << R"({"repository": "a/kernels", "path": "LICENSE", "url": null, "text": "MIT License"})"
        << "\n";
  }

  absl::StatusOr<CatalogSums> Write(const std::string& site) {
    return WriteCatalog(dataset_, site, [](int64_t, int64_t) { return true; });
  }

  // All files of a site and their bytes.
  static std::map<std::string, std::string> ReadFiles(const std::string& site) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(site)) {
      if (!entry.is_regular_file()) continue;
      files[entry.path().lexically_relative(site).string()] =
          *ReadFile(entry.path().string(), 1 << 24);
    }
    return files;
  }

  std::unique_ptr<TempDir> temp_;
  std::string dataset_;
  std::string site_;
};

TEST_F(CatalogTest, HasAPageForEachKernelAndAllThatTheyNeed) {
  const auto sums = Write(site_);
  ASSERT_THAT(sums, IsOk());
  EXPECT_EQ(sums->kernels, 2);
  EXPECT_GT(sums->covered, 0);
  const auto files = ReadFiles(site_);
  for (const char* name :
       {"index.html", "learn.html", "coverage.html", "coverage.json", "TRITON_INDEX.md",
        "assets/site.css", "assets/kernel.js", "kernels/01/0123456789abcdef0123456789000001.html",
        "kernels/01/0123456789abcdef0123456789000002.html"}) {
    EXPECT_THAT(files, Contains(Key(name)));
  }
  const std::string& page = files.at("kernels/01/0123456789abcdef0123456789000001.html");
  EXPECT_THAT(page, HasSubstr("../../kernels/01/0123456789abcdef0123456789000002.html"));
  EXPECT_THAT(page, HasSubstr("../../notices/"));
}

TEST_F(CatalogTest, AKernelThatRanSaysSoOnItsPage) {
  std::ofstream(dataset_ + "/tasks.jsonl")
      << R"({"text": "", "id": "0123456789abcdef0123456789000002", "cases_total": 1, "verified": true,
             "outcomes": [{"device": "cuda:90", "exact": 1}]})"_json.dump()
      << "\n";
  ASSERT_THAT(Write(site_), IsOk());
  const auto files = ReadFiles(site_);
  const char* const words = "NVIDIA GPU (cuda:90): exact on 1 of 1 case";
  EXPECT_THAT(files.at("kernels/01/0123456789abcdef0123456789000002.html"), HasSubstr(words));
  EXPECT_THAT(files.at("kernels/01/0123456789abcdef0123456789000001.html"), Not(HasSubstr(words)));
}

TEST_F(CatalogTest, FacetsTellWhatRanAndWhatATestReaches) {
  std::ofstream(dataset_ + "/tasks.jsonl")
      << R"({"text": "", "id": "0123456789abcdef0123456789000002",
             "outcomes": [{"device": "cpu", "exact": 3, "close": 1},
                          {"device": "cuda:90", "exact": 3, "different": 1}]})"_json.dump()
      << "\n";
  std::ofstream(dataset_ + "/references.jsonl")
      << R"({"kernel_id": "0123456789abcdef0123456789000001", "status": "reference",
             "test": {"path": "tests/test_softmax.py", "qualname": "test_softmax"}})"_json.dump()
      << "\n"
      << R"({"kernel_id": "0123456789abcdef0123456789000002", "status": "benchmark",
             "test": {"path": "bench/softmax.py", "qualname": "run"}})"_json.dump()
      << "\n";
  ASSERT_THAT(Write(site_), IsOk());
  const std::string meta = ReadFiles(site_).at("data/meta.js");
  EXPECT_THAT(meta, HasSubstr(R"("values":2,"top":[["cpu · close",1],["cuda:90 · different",1]])"));
  EXPECT_THAT(meta, HasSubstr(R"("values":1,"top":[["yes",1]]})"));
}

TEST_F(CatalogTest, EqualDatasetsGiveEqualBytesAndTheNewSiteTakesTheOldOnesPlace) {
  ASSERT_THAT(Write(site_), IsOk());
  ASSERT_THAT(Write(site_ + "2"), IsOk());
  EXPECT_EQ(ReadFiles(site_), ReadFiles(site_ + "2"));
  testing::WriteKernels(dataset_, {testing::NumberedRow(3)});
  ASSERT_THAT(Write(site_), IsOk());
  EXPECT_FALSE(fs::exists(site_ + "/kernels/01/0123456789abcdef0123456789000001.html"));
  EXPECT_TRUE(fs::exists(site_ + "/kernels/01/0123456789abcdef0123456789000003.html"));
}

TEST_F(CatalogTest, AFolderWithAnythingElseIsLeftAlone) {
  ASSERT_THAT(Write(site_), IsOk());
  std::ofstream(site_ + "/mine.txt") << "mine";
  EXPECT_THAT(Write(site_), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_TRUE(fs::exists(site_ + "/mine.txt"));
  EXPECT_THAT(Write(dataset_), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(CatalogTest, OfWhatIsNoExportNothingIsWritten) {
  fs::remove(dataset_ + "/kernels.jsonl");
  EXPECT_THAT(Write(site_), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_FALSE(fs::exists(site_));
}

TEST_F(CatalogTest, IsCancelledBetweenKernels) {
  EXPECT_THAT(WriteCatalog(dataset_, site_, [](int64_t, int64_t) { return false; }),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_FALSE(fs::exists(site_));
}

TEST_F(CatalogTest, WhatIsWantedIsNamedForASearch) {
  const auto wanted = ReadWanted(dataset_, 5);
  ASSERT_THAT(wanted, IsOk());
  EXPECT_EQ(wanted->size(), 5u);
  EXPECT_THAT((*wanted)[0], HasSubstr("triton.jit"));
}

}  // namespace
}  // namespace kernelmill::client
