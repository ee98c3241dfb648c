#include "dataset/analysis/provenance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace kernelmill::dataset {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::License MakeLicense(const std::string& expression, const std::string& copyright) {
  v1::License license;
  license.set_expression(expression);
  license.add_copyrights(copyright);
  return license;
}

v1::SourceFile MakeFile(const std::string& path, const std::string& content) {
  v1::SourceFile file;
  file.set_path(path);
  file.set_content(content);
  return file;
}

Provenance TwoSources() {
  Provenance provenance;
  provenance.StartSource({"https://example.org/a", "https://example.org/a", std::string(40, 'a'),
                          1'700'000'000, "tutorials", false});
  provenance.AddKernel(MakeLicense("MIT", "Copyright (c) 2024 A <a@b>"), 300);
  provenance.AddKernel(MakeLicense("MIT", "Copyright (c) 2024 A <a@b>"), 300);
  provenance.AddText(MakeFile("LICENSE", "MIT\n```\n"), "https://example.org/a/LICENSE");
  provenance.StartSource({"b", "", "sha256:12", 0, "other", false});
  provenance.AddKernel(MakeLicense("Apache-2.0", "Copyright B"), 200);
  provenance.AddText(MakeFile("x/LICENSE", "MIT\n```\n"), "");
  provenance.StartSource({"h", "", "sha256:34", 0, "bench", true});
  return provenance;
}

TEST(Provenance, EverySourceHasItsShare) {
  const std::string page = TwoSources().Markdown("seeds", "abc/1");
  EXPECT_THAT(page,
              HasSubstr("| [https&#58;//example.org/a](https://example.org/a) | `aaaaaaaaaaaa` | "
                        "2023-11-14 | tutorials | 2 | 66.67 % | 600 | 75.00 % | MIT (2) |"));
  EXPECT_THAT(page, HasSubstr("| b | `sha256:12` |  | other | 1 | 33.33 % | 200 | 25.00 % |"));
  EXPECT_THAT(page, HasSubstr("| h | `sha256:34` |  | bench | holdout |"));
}

TEST(Provenance, ATextStandsOnceAndHoldersOnceASource) {
  const std::string page = TwoSources().Markdown("seeds", "abc/1");
  const size_t text = page.find("````text\nMIT\n```\n````\n");
  EXPECT_NE(text, std::string::npos);
  EXPECT_EQ(page.find("````text", text + 1), std::string::npos);
  EXPECT_THAT(page, HasSubstr("- Copyright (c) 2024 A &lt;a&#64;b>\n\nLicences"));
  EXPECT_THAT(page, HasSubstr("- x/LICENSE: [text-"));
}

TEST(Provenance, ASourceThatGaveWholeFilesAloneHasItsHolders) {
  Provenance provenance = TwoSources();
  provenance.StartSource({"f", "", "sha256:56", 0, "generators", false});
  provenance.AddWholeFile(MakeLicense("BSD-3-Clause", "Copyright F"));
  const std::string page = provenance.Markdown("seeds", "abc/1");
  EXPECT_THAT(page, HasSubstr("| f | `sha256:56` |  | generators | 0 | 0.00 % | 0 | 0.00 % |  |"));
  EXPECT_THAT(page, HasSubstr("Whole files, by licence: BSD-3-Clause (1).\n"));
  EXPECT_THAT(page, HasSubstr("- Copyright F\n"));
}

TEST(Provenance, AHashThatNobodyVouchesForIsNamed) {
  Provenance provenance = TwoSources();
  EXPECT_THAT(provenance.Markdown("seeds", "abc/1"), Not(HasSubstr("gave no hash")));
  provenance.StartSource(
      {.repository = "waves==1.0", .commit = "sha256:78", .hash_computed = true});
  provenance.AddKernel(MakeLicense("MIT", "A"), 1);
  EXPECT_THAT(provenance.Markdown("seeds", "abc/1"),
              HasSubstr("Commit `sha256:78`.\n\nThe package index gave no hash for this wheel"));
}

TEST(Provenance, NotMoreThanSoManyTextsAreHeld) {
  Provenance provenance;
  provenance.StartSource({"a", "", "c", 0, "x", false});
  provenance.AddKernel(MakeLicense("MIT", "A"), 1);
  for (size_t i = 0; i <= Provenance::kMaxTexts; ++i) {
    provenance.AddText(MakeFile(absl::StrCat("LICENSE", i), absl::StrCat("text ", i)), "");
  }
  const std::string page = provenance.Markdown("n", "abc/1");
  EXPECT_THAT(page,
              HasSubstr(absl::StrCat("- LICENSE", Provenance::kMaxTexts, ": in notices.jsonl")));
  EXPECT_THAT(page, Not(HasSubstr(absl::StrCat("text ", Provenance::kMaxTexts, "\n"))));
}

}  // namespace
}  // namespace kernelmill::dataset
