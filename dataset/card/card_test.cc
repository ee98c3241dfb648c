#include "dataset/card/card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dataset/rows/row_schema.h"

namespace kernelmill::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// tests/peers/readers_test.py has `datasets` and mlcroissant themselves read real ones.
Json SmallReport() {
  return Json::parse(R"({
    "name": "se\"eds", "dataset": "abc/1", "stages": {"extract": 3, "link": 1},
    "licenses": {"MIT": 6, "Apache-2.0 OR BSD-3-Clause": 1},
    "policies": {"licenses": ["MIT", "Apache-2.0"], "licenses_adapted": "label",
                 "contamination": {"threshold": 0.5, "overlap": 0.25, "structural": 0.85,
                                   "action": "drop"}, "min_adequacy": 0.75},
    "kernels": {"found": 12, "kept": 7, "rejected": 2, "duplicate": 2, "contaminated": 1,
                "by_reason": {"rejected": {"license:GPL-3.0-only": 2},
                              "duplicate": {"near": 2}, "contaminated": {"near:source": 1}}},
    "compile": null, "evidence": null, "history": null, "unmatched": [],
    "contamination": {"items": [{}, {}], "kept": 0, "launchers_withheld": 3},
    "sources": [
      {"repository": "a|b", "commit": "c0ffee", "role": "candidate", "failed": false,
       "kernels": {"kept": 7, "holdout": 0}},
      {"repository": "gone", "commit": null, "role": "candidate", "failed": true,
       "kernels": {"kept": 0, "holdout": 0}},
      {"repository": "bench", "commit": "d", "role": "holdout", "failed": false,
       "files": {"failed": 0}, "kernels": {"kept": 0, "holdout": 9}}]})");
}

std::vector<Table> SmallTables() {
  std::vector<Table> tables;
  for (const RowSchema& schema : RowSchemas()) {
    Table table;
    table.config = std::string(absl::StripSuffix(schema.file, ".jsonl"));
    table.lines = {schema.file, 100, std::string(64, 'a')};
    table.rows = 7;
    table.splits = {
        {"train",
         5,
         80,
         {{absl::StrCat("data/", table.config, "/train-00000.parquet"), 40, std::string(64, 'b')}}},
        {"test",
         2,
         20,
         {{absl::StrCat("data/", table.config, "/test-00000.parquet"), 10, std::string(64, 'c')}}}};
    tables.push_back(std::move(table));
  }
  return tables;
}

TEST(FrontMatter, NamesFilesTypesAndRowsOfEveryTable) {
  const std::string head = FrontMatter(SmallReport(), SmallTables());
  EXPECT_THAT(
      head,
      StartsWith(
          "---\npretty_name: \"se\\\"eds\"\nlicense:\n- apache-2.0\n- bsd-3-clause\n- mit\n"));
  EXPECT_THAT(head, HasSubstr("size_categories:\n- n<1K\n"));
  EXPECT_THAT(head, HasSubstr("- config_name: kernels\n  default: true\n  data_files:\n"
                              "  - split: train\n    path: data/kernels/train-*.parquet\n"
                              "  - split: test\n    path: data/kernels/test-*.parquet\n"
                              "- config_name: "));
  for (const RowSchema& schema : RowSchemas()) {
    EXPECT_THAT(head,
                HasSubstr(absl::StrCat("- config_name: ", absl::StripSuffix(schema.file, ".jsonl"),
                                       "\n  features:\n")));
  }
  EXPECT_THAT(head, HasSubstr("\n  - name: weight\n    dtype: float64\n"));
  EXPECT_THAT(head, HasSubstr("\n  - name: duplicates\n    list: string\n"));
  EXPECT_THAT(head, HasSubstr("\n  - name: tag_rules\n    list:\n    - name: name\n      dtype: "
                              "string\n    - name: rule\n      dtype: string\n"));
  EXPECT_THAT(head, HasSubstr("\n  - name: tokens\n    struct:\n    - name: cl100k_base\n"));
  EXPECT_THAT(head, HasSubstr("  splits:\n  - name: train\n    num_bytes: 80\n    num_examples: 5\n"
                              "  - name: test\n    num_bytes: 20\n    num_examples: 2\n"
                              "  download_size: 50\n  dataset_size: 100\n"));
  EXPECT_THAT(head, Not(HasSubstr("license_name")));
}

TEST(FrontMatter, ATableWithoutRowsIsLeftOut) {
  std::vector<Table> tables = SmallTables();
  tables.front().rows = 0;
  EXPECT_THAT(FrontMatter(SmallReport(), tables), Not(HasSubstr("config_name: kernels")));
  EXPECT_THAT(FrontMatter(SmallReport(), tables), HasSubstr("config_name: ledger"));
  EXPECT_THAT(FrontMatter(SmallReport(), {}), Not(HasSubstr("configs")));
}

TEST(FrontMatter, LicencesHaveTheHubsNames) {
  const auto names = [](const Json& licenses) { return HubLicenses({{"licenses", licenses}}); };
  EXPECT_THAT(names({{"GPL-3.0-or-later WITH GCC-exception-3.1", 1}}), ElementsAre("gpl-3.0"));
  EXPECT_THAT(names({{"MIT AND LicenseRef-x", 1}}), ElementsAre("mit", "other"));
  EXPECT_THAT(names({{"NOASSERTION", 1}}), ElementsAre("unknown"));
  EXPECT_THAT(names(Json::object()), ElementsAre());
  Json report = SmallReport();
  report["licenses"] = {{"LicenseRef-x", 1}};
  EXPECT_THAT(FrontMatter(report, {}), HasSubstr("license:\n- other\nlicense_name: by-row\n"));
}

TEST(SizeCategory, IsTheHubsWord) {
  EXPECT_EQ(SizeCategory(0), "n<1K");
  EXPECT_EQ(SizeCategory(999), "n<1K");
  EXPECT_EQ(SizeCategory(1000), "1K<n<10K");
  EXPECT_EQ(SizeCategory(1'000'000), "1M<n<10M");
  EXPECT_EQ(SizeCategory(int64_t{2'000'000'000}), "n>1B");
}

TEST(DatasetCard, SaysWhatBecameOfEveryKernelAndHowItWasMade) {
  const std::string card = DatasetCard(SmallReport(), SmallTables());
  EXPECT_THAT(card, HasSubstr("\n---\n\n# se\"eds\n\n7 GPU kernels of 1 source, "));
  EXPECT_THAT(card, HasSubstr("| `kernels` | 5 | 0 | 2 | The kept kernels"));
  EXPECT_THAT(card, HasSubstr("| rejected | 2 | `license:GPL-3.0-only` 2 |"));
  EXPECT_THAT(card, HasSubstr("| **found** | 12 |"));
  EXPECT_THAT(card, HasSubstr("| Apache-2.0 OR BSD-3-Clause | 1 |"));
  EXPECT_THAT(card, HasSubstr("extract 3, link 1"));
  EXPECT_THAT(card, HasSubstr("| a\\|b | c0ffee | 7 |"));
  EXPECT_THAT(card, HasSubstr("| gone |  | could not be had |"));
  EXPECT_THAT(card, HasSubstr("`abc/1`"));
}

TEST(DatasetCard, ListsWhatMatchesNothing) {
  Json report = SmallReport();
  EXPECT_THAT(DatasetCard(report, {}), Not(HasSubstr("between the job and its sources")));
  report["unmatched"].push_back({{"what", "include"},
                                 {"where", "sources[0].include[0]"},
                                 {"source", "a|b"},
                                 {"asked", "**/*.cu"},
                                 {"message", "matches none of its 3 files"},
                                 {"paths", {"x", "y"}}});
  EXPECT_THAT(
      DatasetCard(report, {}),
      HasSubstr("## Differences between the job and its sources\n\n| in the job | source | asked "
                "for | found |\n"
                "|---|---|---|---|\n| `sources[0].include[0]` | a\\|b | `**/*.cu` | matches "
                "none of its 3 files: `x`, `y` |\n"));
  for (int i = 0; i < 60; ++i) report["unmatched"].push_back(report["unmatched"][0]);
  EXPECT_THAT(DatasetCard(report, {}), HasSubstr("`report.json` has 11 more."));
}

TEST(DatasetCard, SaysWhatCompilersSaidWhereTheyWereAsked) {
  Json report = SmallReport();
  EXPECT_THAT(DatasetCard(report, SmallTables()), HasSubstr("Nothing was compiled or run."));
  report["compile"] = Json::parse(R"({
    "compiles": 4, "fails": 1, "unknown": 0, "not_attempted": [{"name": "dsl:cuda", "count": 2}],
    "targets": [{"toolchain": "triton-3.5.1", "target": "cuda:90", "ok": 4, "error": 1,
                 "unknown": 0, "errors": [], "missing": []}]})");
  const std::string card = DatasetCard(report, SmallTables());
  EXPECT_THAT(card, HasSubstr("| triton-3.5.1 | cuda:90 | 4 | 1 | 0 |"));
  EXPECT_THAT(card, HasSubstr("Not tried: `dsl:cuda` 2."));
  EXPECT_THAT(card, ::testing::Not(HasSubstr("Nothing was compiled")));
}

TEST(DatasetCard, SaysWhatEvidenceSaysWhereThereIsSome) {
  Json report = SmallReport();
  EXPECT_THAT(DatasetCard(report, {}), ::testing::Not(HasSubstr("## Tasks")));
  report["evidence"] = {{"tasks", 5}, {"verified", 3}};
  EXPECT_THAT(DatasetCard(report, {}),
              HasSubstr("`tasks.jsonl` has 5 kernels with replayed cases; 3 are verified"));
  EXPECT_THAT(DatasetCard(report, {}), HasSubstr("catch at least 0.75 of the mutants"));
}

TEST(DatasetCard, CountsChangesOfKernels) {
  Json report = SmallReport();
  EXPECT_THAT(DatasetCard(report, {}), ::testing::Not(HasSubstr("## History")));
  report["history"] = Json::parse(R"({"changes": 9, "kernels": 5, "rows": 7,
    "kinds": {"fix": 4, "speed": 3}, "withheld": {"license_files": 2}, "compile": null})");
  EXPECT_THAT(DatasetCard(report, {}),
              HasSubstr("Commits make 9 changes of 5 kernels; `history.jsonl` has 7: fix 4, speed "
                        "3. Withheld: license_files 2.\n"));
  EXPECT_THAT(DatasetCard(report, {}), ::testing::Not(HasSubstr("judged both sides")));
  report["history"]["compile"] = Json::parse(
      R"({"versions": 8, "judged": 5, "repairs": {"fix": 2, "unknown": 1}, "breaks": {}})");
  EXPECT_THAT(DatasetCard(report, {}),
              HasSubstr("A compiler judged both sides of 5 changes.\nRepairs, refused before and "
                        "compiled after: fix 2, unknown 1. The reverse: none.\n\n"));
  report["history"] = Json::parse(
      R"({"changes": 2, "kernels": 1, "rows": 0, "kinds": {}, "withheld": {"license": 2},
          "compile": null})");
  EXPECT_THAT(DatasetCard(report, {}),
              HasSubstr("2 changes of 1 kernel; there is no `history.jsonl`. Withheld: "));
}

TEST(DatasetCard, SaysWhatItWasHeldAgainst) {
  Json report = SmallReport();
  EXPECT_THAT(DatasetCard(report, {}), HasSubstr("Held out: `bench` (9 kernels)."));
  EXPECT_THAT(DatasetCard(report, {}), HasSubstr("Matching kernels were dropped: 1."));
  EXPECT_THAT(DatasetCard(report, {}), HasSubstr("2 holdout kernels were matched"));
  report["policies"]["contamination"]["action"] = "label";
  EXPECT_THAT(DatasetCard(report, {}), HasSubstr("are labelled"));
  report["sources"][2]["files"]["failed"] = 2;
  EXPECT_THAT(DatasetCard(report, {}), HasSubstr("`bench` (9 kernels; 2 files could not be read)"));
  report["sources"].erase(2);
  EXPECT_THAT(DatasetCard(report, {}), HasSubstr("The job names no holdouts."));
}

TEST(Croissant, HasEveryFileWithItsHashAndEveryTableAsRecords) {
  const Json json = Croissant(SmallReport(), "2026-01-01T00:00:00Z", SmallTables());
  EXPECT_EQ(json["conformsTo"], "http://mlcommons.org/croissant/1.1");
  EXPECT_EQ(json["license"],
            Json({"https://spdx.org/licenses/Apache-2.0", "https://spdx.org/licenses/BSD-3-Clause",
                  "https://spdx.org/licenses/MIT"}));
  std::map<std::string, std::string> hashes;
  for (const Json& file : json["distribution"]) {
    if (file["@type"] == "cr:FileObject") hashes[file["contentUrl"]] = file["sha256"];
  }
  EXPECT_EQ(hashes.size(), 3 * RowSchemas().size());
  EXPECT_EQ(hashes["kernels.jsonl"], std::string(64, 'a'));
  EXPECT_EQ(hashes["data/kernels/test-00000.parquet"], std::string(64, 'c'));
  EXPECT_EQ(json["recordSet"].size(), RowSchemas().size());
}

Json FindField(const Json& fields, const std::string& id) {
  for (const Json& field : fields) {
    if (field["@id"] == id) return field;
    if (field.contains("subField")) {
      const Json found = FindField(field["subField"], id);
      if (!found.is_null()) return found;
    }
  }
  return nullptr;
}

TEST(Croissant, FieldsSayWhereTheyAreInTheirColumn) {
  const Json json = Croissant(SmallReport(), "2026-01-01T00:00:00Z", SmallTables());
  const Json& fields = json["recordSet"][0]["field"];
  EXPECT_EQ(FindField(fields, "kernels/weight")["dataType"], "sc:Float");
  EXPECT_EQ(FindField(fields, "kernels/tags")["isArray"], true);
  const Json expression = FindField(fields, "kernels/license/expression");
  EXPECT_EQ(expression["source"], Json({{"fileSet", {{"@id", "kernels-files"}}},
                                        {"extract", {{"column", "license"}}},
                                        {"transform", {{"jsonPath", "expression"}}}}));
  EXPECT_TRUE(FindField(fields, "kernels/license/found").is_null()) << "a list in a struct";
  EXPECT_FALSE(FindField(fields, "kernels/tag_rules/rule").is_null());
}

TEST(DatasetInfo, NamesOnlyFilesThatAreWritten) {
  const Json info = DatasetInfo({{"rows", {{"instruct", 0}, {"fim", 2}, {"kernels", 3}}}});
  EXPECT_FALSE(info.contains("kernelmill_instruct"));
  EXPECT_EQ(info["kernelmill_complete"]["file_name"], "fim.jsonl");
  EXPECT_EQ(info["kernelmill_kernels"]["file_name"], "kernels.jsonl");
}

}  // namespace
}  // namespace kernelmill::dataset
