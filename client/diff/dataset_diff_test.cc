#include "client/diff/dataset_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/diff/exported_dataset.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Json = nlohmann::json;

// An export by hand: what a diff reads of one.
class Export {
 public:
  struct Kernel {
    std::string path = {};
    int line = 1;
    std::string text = {};
    std::string name = {};
    std::string fate = "kept";
    std::string reason = {};
    std::string license = "MIT";
    std::string of = {};
    std::string repository = "r";
    std::string module = "m";
    std::string compiles = {};               // empty: the job compiles nothing
    std::vector<std::string> statuses = {};  // of each target
  };

  explicit Export(std::vector<Kernel> kernels, std::string commit = "1")
      : kernels_(std::move(kernels)), commit_(std::move(commit)) {}

  std::map<std::string, int> stages = {{"extract", 11}, {"link", 8}, {"validate", 7}};
  std::string lock =
      "name: \"j\"\nsources:\n  - git: \"r\"\n    ref: \"1\"\ndedup:\n  threshold: 0.7\n";
  std::vector<std::string> repositories = {"r"};
  std::string digest = "d/1";

  static std::string MakeId(const std::string& commit, const Kernel& kernel) {
    return Sha256Hex(absl::StrCat(commit, kernel.repository, kernel.path, kernel.line, kernel.text))
        .substr(0, 32);
  }

  std::string WriteTo(const std::string& dir) const {
    ::mkdir(dir.c_str(), 0700);
    std::string ledger, rows;
    for (const Kernel& kernel : kernels_) {
      Json row = {{"id", MakeId(commit_, kernel)},
                  {"repository", kernel.repository},
                  {"path", kernel.path},
                  {"first_line", kernel.line},
                  {"json_pointer", nullptr},
                  {"sha256", Sha256Hex(kernel.text)},
                  {"dsl", "triton"},
                  {"contamination", {{{"id", "not its own"}, {"path", "elsewhere"}}}},
                  {"fate", kernel.fate},
                  {"reason", kernel.reason.empty() ? Json() : Json(kernel.reason)},
                  {"of", kernel.of.empty() ? Json() : Json(kernel.of)}};
      ledger += row.dump() + "\n";
      if (kernel.fate != "kept") continue;
      row["qualname"] = kernel.name;
      row["module"] = kernel.module;
      row["checks"] = {{"parses", "pass"},
                       {"compiles", kernel.compiles.empty() ? Json() : Json(kernel.compiles)}};
      if (!kernel.compiles.empty()) row["compile"] = CompileJson(kernel);
      row["license"] = {{"expression", kernel.license}, {"found", {{{"expression", "X"}}}}};
      rows += row.dump() + "\n";
    }
    Json report = {{"name", "j"},
                   {"dataset", digest},
                   {"stages", stages},
                   {"kernels", {{"found", kernels_.size()}, {"by_reason", {{"x", 1}}}}},
                   {"sources", Json::array()}};
    for (const std::string& repository : repositories) {
      report["sources"].push_back({{"repository", repository},
                                   {"commit", commit_},
                                   {"failed", false},
                                   {"files", {{"commit", "no"}}}});
    }
    EXPECT_THAT(WriteFile(dir + "/report.json", report.dump(2)), IsOk());
    EXPECT_THAT(WriteFile(dir + "/ledger.jsonl", ledger), IsOk());
    EXPECT_THAT(WriteFile(dir + "/kernels.jsonl", rows), IsOk());
    EXPECT_THAT(WriteFile(dir + "/job.lock.yaml", lock), IsOk());
    return dir;
  }

 private:
  static Json CompileJson(const Kernel& kernel) {
    Json results = Json::array();
    for (size_t i = 0; i < kernel.statuses.size(); ++i) {
      const bool error = kernel.statuses[i] == "error";
      results.push_back({{"toolchain", "t"},
                         {"target", absl::StrCat("cuda:", i)},
                         {"status", kernel.statuses[i]},
                         {"stage", error ? Json("frontend") : Json()},
                         {"registers", 7},
                         {"forms", {{{"form", "ptx"}, {"sha256", "s"}}}}});
    }
    return {{"imports", {{{"toolchain", "t"}, {"status", "no result"}}}},
            {"results", std::move(results)}};
  }

  std::vector<Kernel> kernels_;
  std::string commit_;
};

class DatasetDiffTest : public ::testing::Test {
 protected:
  void Compare(const Export& a, const Export& b) {
    auto read_a = ReadExport(a.WriteTo(dir_.path() + "/a"), texts_);
    auto read_b = ReadExport(b.WriteTo(dir_.path() + "/b"), texts_);
    ASSERT_THAT(read_a, IsOk());
    ASSERT_THAT(read_b, IsOk());
    a_ = *std::move(read_a);
    b_ = *std::move(read_b);
    diff_ = CompareDatasets(a_, b_, texts_);
  }

  // "came a.py:1 the file is new".
  std::vector<std::string> Changes() const {
    std::vector<std::string> changes;
    for (const KernelChange& change : diff_.changes) {
      const ExportedKernel& kernel =
          change.b == kNoKernel ? a_.kernels[change.a] : b_.kernels[change.b];
      changes.push_back(absl::StrCat(ChangeName(change.kind), " ", texts_.Of(kernel.path), ":",
                                     kernel.first_line, " ", texts_.Of(change.reason)));
    }
    return changes;
  }

  TempDir dir_ = *TempDir::Create();
  Texts texts_;
  ExportedDataset a_, b_;
  DatasetDiff diff_;
};

TEST_F(DatasetDiffTest, TheSameExportHasNoDifference) {
  const Export same({{"a.py", 1, "x", "k"}, {"b.py", 1, "y", "", "rejected", "license:GPL"}});
  Compare(same, same);
  EXPECT_TRUE(diff_.same);
  EXPECT_THAT(Changes(), IsEmpty());
  EXPECT_THAT(diff_.settings, IsEmpty());
  EXPECT_THAT(DiffText(a_, b_, diff_, texts_, 10), HasSubstr("the same dataset\n"));
}

TEST_F(DatasetDiffTest, KernelsThatCameAndWentSayWhy) {
  Export a({{"gone.py", 1, "1", "g"},
            {"kept.py", 1, "2", "k"},
            {"kept.py", 9, "3", "in_file"},
            {"rejected.py", 1, "4", "r"},
            {"duplicate.py", 1, "5", "d"},
            {"was.py", 1, "6", "", "rejected", "license:GPL-3.0-only"},
            {.path = "s.py", .text = "7", .name = "s", .repository = "left"}});
  a.repositories = {"r", "left"};
  Export b({{"kept.py", 1, "2", "k"},
            {"new.py", 1, "8", "n"},
            {"kept.py", 20, "9", "other"},
            {"kept.py", 30, "10", "another"},
            {"rejected.py", 1, "4", "", "rejected", "opt_out"},
            {"duplicate.py", 1, "5", "", "duplicate", "near"},
            {"was.py", 1, "6", "w"},
            {.path = "t.py", .text = "11", .name = "t", .repository = "joined"}},
           "2");
  b.repositories = {"r", "joined"};
  b.digest = "e/1";
  Compare(a, b);
  EXPECT_FALSE(diff_.same);
  EXPECT_THAT(
      Changes(),
      UnorderedElementsAre(
          "came t.py:1 the source is new", "came new.py:1 the file is new, or its first kernel",
          "came kept.py:20 it is new in its file", "came kept.py:30 it is new in its file",
          "came was.py:1 was rejected: license:GPL-3.0-only", "went s.py:1 the source is gone",
          "went gone.py:1 the file is gone, or its first kernel",
          "went kept.py:9 it is gone in its file", "went rejected.py:1 now rejected: opt_out",
          "went duplicate.py:1 now duplicate: near"));
  EXPECT_EQ(diff_.by_repository.at("joined").at(ChangeKind::kCame), 1);
  EXPECT_EQ(diff_.by_repository.at("r").at(ChangeKind::kWent), 4);
  EXPECT_THAT(diff_.sources, ElementsAre("- left at 1", "r: at 1 -> at 2", "+ joined at 2"));
}

TEST_F(DatasetDiffTest, AKernelIsKnownByItsNameWhereItsTextChanged) {
  Compare(
      Export({{"a.py", 1, "one", "f"}, {"a.py", 9, "two", "g"}, {"a.py", 20, "three", "h"}}),
      Export({{"a.py", 5, "two", "g"}, {"a.py", 9, "ONE", "f"}, {"a.py", 20, "three", "h"}}, "2"));
  EXPECT_THAT(Changes(), ElementsAre("text a.py:9 another commit"));
}

TEST_F(DatasetDiffTest, WhatCompilersSayIsComparedWhereBothJobsAskThem) {
  const auto kernel = [](const std::string& path, const std::string& compiles,
                         std::vector<std::string> statuses) {
    return Export::Kernel{.path = path,
                          .text = path,
                          .name = path,
                          .compiles = compiles,
                          .statuses = std::move(statuses)};
  };
  Compare(Export({kernel("a.py", "pass", {"ok", "ok", "ok"}), kernel("b.py", "pass", {"ok", "ok"}),
                  kernel("c.py", "exempt", {}), kernel("d.py", "pass", {"ok"}),
                  kernel("e.py", "", {})}),
          Export({kernel("a.py", "pass", {"ok", "error", "error"}),
                  kernel("b.py", "pass", {"ok", "ok", "error"}), kernel("c.py", "fail", {"error"}),
                  kernel("d.py", "", {}), kernel("e.py", "pass", {"ok"})}));
  EXPECT_THAT(Changes(), ElementsAre("compile a.py:1 ok -> error, frontend: 2 of 3",
                                     "compile c.py:1 exempt -> fail"))
      << "b.py was not asked for the third target before";
  EXPECT_THAT(DiffText(a_, b_, diff_, texts_, 10), HasSubstr("ok -> error, frontend: 2 of 3"));
}

TEST_F(DatasetDiffTest, WithoutANameAKernelIsKnownByItsOrderInTheFile) {
  Compare(Export({{"a.py", 1, "one", "f"}, {"a.py", 9, "two", "g"}}),
          Export({{"a.py", 2, "ONE", "", "rejected", "license:GPL-3.0-only"},
                  {"a.py", 9, "TWO", "", "rejected", "license:GPL-3.0-only"}},
                 "2"));
  EXPECT_THAT(Changes(),
              ElementsAre("went a.py:2 now rejected: license:GPL-3.0-only; its text changed",
                          "went a.py:9 now rejected: license:GPL-3.0-only; its text changed"));
}

TEST_F(DatasetDiffTest, ATextThatStandsElsewhereHasMoved) {
  Export b({{"sub/a.py", 1, "one", "f"}}, "2");
  Compare(Export({{"a.py", 1, "one", "f"}}), b);
  EXPECT_THAT(Changes(), ElementsAre("moved sub/a.py:1 another path"));
  EXPECT_THAT(DiffText(a_, b_, diff_, texts_, 10), HasSubstr("r sub/a.py:1 f (was r a.py:1 f)"));
}

TEST_F(DatasetDiffTest, LicencesModulesAndFatesOfOthersAreTold) {
  Export a({{"a.py", 1, "one", "f"},
            {"b.py", 1, "two", "g"},
            {"c.py", 1, "three", "", "rejected", "license:GPL-3.0-only"},
            {"d.py", 1, "four", "", "duplicate", "near"}});
  Export b({{.path = "a.py", .text = "one", .name = "f", .license = "Apache-2.0"},
            {.path = "b.py", .text = "two", .name = "g", .module = "n"},
            {"c.py", 1, "three", "", "duplicate", "exact"}});
  b.stages["link"] = 9;
  Compare(a, b);
  EXPECT_THAT(Changes(),
              ElementsAre("module b.py:1 another stage version: link 8 -> 9",
                          "license a.py:1 MIT -> Apache-2.0",
                          "fate c.py:1 rejected: license:GPL-3.0-only -> duplicate: exact",
                          "lost d.py:1 another stage version: link 8 -> 9"));
  EXPECT_THAT(diff_.stages, ElementsAre("link: 8 -> 9"));
}

TEST_F(DatasetDiffTest, NamesTheKernelThatADuplicateGoesBy) {
  const Export::Kernel leader = {"lead.py", 7, "lead", "l"};
  Export b({leader,
            {.path = "a.py",
             .text = "one",
             .fate = "duplicate",
             .reason = "near",
             .of = Export::MakeId("1", leader)}});
  Compare(Export({leader, {"a.py", 1, "one", "f"}}), b);
  EXPECT_THAT(DiffText(a_, b_, diff_, texts_, 10),
              HasSubstr("r a.py:1: now duplicate: near, of r lead.py:7 l\n"));
}

TEST_F(DatasetDiffTest, SettingsOfTheLockAreCompared) {
  const Export a({{"a.py", 1, "one", "f"}});
  Export b = a;
  b.lock =
      "name: \"j\"\nsources:\n  - git: \"r\"\n    ref: \"2\"\n    include:\n      - \"**/*.cu\"\n"
      "dedup:\n  threshold: 0.8\n  contamination:\n    overlap: 0.5\nopt_out:\n"
      "  - owner: \"github.com/x\"\n    path: \"y\"\n";
  b.digest = "e/1";
  Compare(a, b);
  EXPECT_FALSE(diff_.same) << "the digests differ";
  EXPECT_THAT(Changes(), IsEmpty());
  EXPECT_THAT(diff_.settings,
              ElementsAre("r: git: r -> git: r, include[]: **/*.cu", "- dedup.threshold: 0.7",
                          "+ dedup.contamination.overlap: 0.5", "+ dedup.threshold: 0.8",
                          "+ opt_out[]: owner: github.com/x, path: y"));
}

TEST_F(DatasetDiffTest, EveryChangeIsALineOfJson) {
  Compare(Export({{"a.py", 1, "one", "f"}}), Export({{"b.py", 1, "two", "g"}}, "2"));
  std::string out;
  WriteDiffJson(a_, b_, diff_, texts_,
                [&](absl::string_view line) { absl::StrAppend(&out, line); });
  const std::vector<std::string> lines = absl::StrSplit(out, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 3u);
  const Json head = Json::parse(lines[0]);
  EXPECT_EQ(head["same"], false);
  EXPECT_EQ(head["changes"].size(), 2u);
  const Json came = Json::parse(lines[1]);
  EXPECT_EQ(came["change"], "came");
  EXPECT_EQ(came["a"], nullptr);
  EXPECT_EQ(came["b"]["qualname"], "g");
  EXPECT_EQ(came["b"]["license"], "MIT");
  EXPECT_EQ(Json::parse(lines[2])["a"]["path"], "a.py");
}

TEST_F(DatasetDiffTest, AFolderWithoutAnExportIsRefused) {
  EXPECT_THAT(ReadExport(dir_.path(), texts_).status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
  const std::string dir = Export({{"a.py", 1, "one", "f"}}).WriteTo(dir_.path() + "/a");
  for (const char* row : {"{\"id\": \"short\"}\n", "[]\n", "{\n", "\n"}) {
    ASSERT_THAT(WriteFile(dir + "/ledger.jsonl", row), IsOk());
    EXPECT_THAT(ReadExport(dir, texts_).status(), StatusIs(absl::StatusCode::kInvalidArgument));
  }
  ASSERT_THAT(WriteFile(dir + "/ledger.jsonl", ""), IsOk());
  EXPECT_THAT(ReadExport(dir, texts_).status(), StatusIs(absl::StatusCode::kInvalidArgument))
      << "a kernel that the ledger has not";
}

}  // namespace
}  // namespace kernelmill::client
