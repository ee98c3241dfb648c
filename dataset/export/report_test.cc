#include "dataset/export/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "common/base/hash.h"
#include "common/testing/status_matchers.h"
#include "dataset/output/json.h"
#include "dataset/testing/export_fixture.h"

namespace kernelmill::dataset {
namespace {

using ::kernelmill::testing::IsOk;

TEST_F(ExporterTest, TheManifestListsFilesThatHoldKeptKernels) {
  ASSERT_THAT(Export(), IsOk());
  const Json manifest = Json::parse(File("MANIFEST.json"));
  EXPECT_EQ(manifest["created"], "2023-11-14T22:13:20Z");
  EXPECT_EQ(manifest["extraction_dir"], ".");
  EXPECT_EQ(manifest["total_files"], 3);
  int64_t bytes = 0, lines = 0;
  for (const auto& [name, category] : manifest["categories"].items()) {
    for (const Json& file : category["files"]) {
      bytes += file["size_bytes"].get<int64_t>();
      lines += file["lines"].get<int64_t>();
    }
  }
  EXPECT_EQ(manifest["total_size_bytes"], bytes);
  EXPECT_EQ(manifest["total_lines"], lines);
  EXPECT_EQ(manifest["dataset"], cas::ToString(request_.dataset));
  const Json& a = manifest["categories"]["cat-a"];
  EXPECT_EQ(a["total_files"], 2);
  EXPECT_EQ(a["files"][0]["path"], "a.py");
  EXPECT_EQ(a["files"][1]["path"], "z.py");
  EXPECT_EQ(a["files"][1]["has_triton_jit"], true);
  // Its one kernel is on line 9.
  const std::string text = std::string(8, '\n') + MakeKernel(1, "z.py", 9, kDosBody).source();
  EXPECT_EQ(a["files"][1]["hash_sha256"], Sha256Hex(text));
  EXPECT_EQ(a["files"][1]["size_bytes"], text.size());
  EXPECT_EQ(a["files"][1]["lines"], 12);
}

TEST_F(ExporterTest, TheReportAddsUp) {
  v1::Failure failure;
  failure.set_source("https://example.org/gone");
  failure.set_code("NOT_FOUND");
  request_.failures.push_back(failure);
  for (const char* path : {"z.py", "a.py"}) {  // quarantined; in the order in which they ended
    v1::Failure file;
    file.set_source("a");
    file.set_path(path);
    request_.failures.push_back(file);
  }
  v1::Failure unmatched;
  unmatched.set_stage("manifest");
  unmatched.set_path("unmatched.opt_out[0]");
  request_.failures.push_back(unmatched);
  ASSERT_THAT(Export(), IsOk());
  const Json report = Json::parse(File("report.json"));
  EXPECT_EQ(report["unmatched"], Json::array());
  EXPECT_EQ(report["files"]["seen"], 9);
  EXPECT_EQ(report["files"]["extracted"], 6);
  EXPECT_EQ(report["files"]["support"], 1);
  EXPECT_EQ(report["files"]["skipped_by_reason"]["symlink"], 3);
  EXPECT_EQ(report["kernels"]["found"], 6);
  EXPECT_EQ(report["kernels"]["kept"], 3);
  EXPECT_EQ(report["kernels"]["rejected"], 1);
  EXPECT_EQ(report["kernels"]["duplicate"], 1);
  EXPECT_EQ(report["kernels"]["contaminated"], 1);
  EXPECT_EQ(report["kernels"]["holdout"], 1);
  EXPECT_EQ(report["kernels"]["functions_of_other_dsls"], Json({{"cute", 7}}));
  EXPECT_EQ(report["kernels"]["by_reason"]["rejected"]["license:GPL-3.0-only"], 1);
  EXPECT_EQ(report["licenses"], Json({{"MIT", 3}})) << "of the kept alone";
  EXPECT_EQ(report["sources"].size(), 4u);
  EXPECT_EQ(report["sources"][3]["failed"], true);
  EXPECT_EQ(report["categories"]["cat-a"]["checks"]["has_docstring"],
            Json({{"pass", 1}, {"fail", 1}, {"exempt", 0}}));
  EXPECT_EQ(report["checks"]["has_program_id"]["exempt"], 3);
  EXPECT_EQ(report["categories"]["cat-a"]["tokens"]["source"]["cl100k_base"], 20)
      << "of the kept alone";
  EXPECT_EQ(report["tokens"]["module"]["cl100k_base"], 300);
  EXPECT_FALSE(report["categories"].contains("cat-h"));
  ASSERT_EQ(report["failures"].size(), 3u);
  EXPECT_EQ(report["failures"][0]["path"], "a.py");
  EXPECT_EQ(report["failures"][1]["path"], "z.py");
  EXPECT_EQ(report["failures"][2]["code"], "NOT_FOUND");
  EXPECT_EQ(report["failures"][2]["path"], nullptr);
}

TEST_F(ExporterTest, TheReportHasWhatCameOfEachWishAndOfEachGate) {
  manifest_.add_opt_out()->set_repository("https://example.org/a");
  manifest_.mutable_opt_out(0)->set_path("b.py");
  manifest_.add_opt_out()->set_owner("github.com/nobody");
  // The second kernel is named; the fourth is its copy, the fifth would have taken it along.
  for (const int number : {1, 3, 4}) {
    clusters_.mutable_decisions(number)->Clear();
    clusters_.mutable_decisions(number)->set_fate(v1::FATE_REJECTED);
    clusters_.mutable_decisions(number)->set_leader(1);
    clusters_.mutable_decisions(number)->set_similarity(1);
    clusters_.mutable_decisions(number)->set_reason(number == 4 ? "opt_out:module" : "opt_out");
  }
  manifest_.mutable_gates()->set_min_kept(4);
  manifest_.mutable_gates()->set_max_contaminated(0);
  ASSERT_THAT(Export(), IsOk());
  const Json report = Json::parse(File("report.json"));
  ASSERT_EQ(report["opt_out"].size(), 2u);
  const Json& a = report["opt_out"][0];
  EXPECT_EQ(a["path"], "b.py");
  EXPECT_EQ(a["owner"], nullptr);
  EXPECT_EQ(a["sources"], 1);
  EXPECT_EQ(a["kernels"], 1);
  EXPECT_EQ(a["copies"], 1);
  EXPECT_EQ(a["carriers"], 1);
  EXPECT_EQ(report["opt_out"][1]["sources"], 0);
  EXPECT_EQ(report["opt_out"][1]["kernels"], 0);
  ASSERT_EQ(report["unmatched"].size(), 1u);
  EXPECT_EQ(Canonical(report["unmatched"][0]),
            R"({"asked":"github.com/nobody","message":"names no source of the job","paths":[],)"
            R"("source":null,"what":"opt_out","where":"opt_out[1]"})");
  EXPECT_THAT(File("README.md"),
              ::testing::HasSubstr("## Differences between the job and its sources"));
  EXPECT_EQ(report["gates"]["min_kept"], Json({{"bound", 4}, {"value", 3}, {"passed", false}}));
  EXPECT_EQ(report["gates"]["max_contaminated"]["passed"], true);
  EXPECT_EQ(report["gates"].size(), 2u);
  const std::vector<Json> ledger = Lines("ledger.jsonl");
  int of_named = 0;
  for (const Json& row : ledger) of_named += row["of"] == Id(2);
  EXPECT_EQ(of_named, 2) << "the copy and the carrier name it, it names nobody";
  // The copy is in a.py, beside a kernel that is kept.
  const Json manifest = Json::parse(File("MANIFEST.json"));
  EXPECT_EQ(manifest["categories"]["cat-a"]["total_files"], 1);
}

}  // namespace
}  // namespace kernelmill::dataset
