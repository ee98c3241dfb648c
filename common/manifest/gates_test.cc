#include "common/manifest/gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kernelmill::manifest {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

LedgerSums Sums() {
  LedgerSums sums;
  sums.files_seen = 50;
  sums.files_failed = {{"too_large", 1}};
  sums.kernels_found = 100;
  sums.unknown_license = 5;
  sums.kept = 40;
  sums.rejected = {{"license", 15}, {"quality", 5}};
  sums.duplicates = {{"near", 30}};
  sums.contaminated = {{"exact", 10}};
  return sums;
}

// Those that are missed, as a person reads it.
std::vector<std::string> Missed(const v1::DatasetManifest& manifest, const LedgerSums& sums) {
  std::vector<std::string> missed;
  for (const GateResult& gate : CheckGates(manifest, sums)) {
    if (!gate.passed) missed.push_back(absl::StrCat(gate.name, ": ", GateText(gate)));
  }
  return missed;
}

v1::DatasetManifest With(const v1::Gates& gates) {
  v1::DatasetManifest manifest;
  *manifest.mutable_gates() = gates;
  manifest.add_sources()->set_failed(true);
  manifest.add_sources();
  return manifest;
}

TEST(Gates, ADatasetWithJustTheBoundsPasses) {
  v1::Gates gates;
  gates.set_min_kept(40);
  gates.set_max_rejected(0.2);
  gates.set_max_duplicate(0.3);
  gates.set_max_contaminated(0.1);
  gates.set_max_unknown_license(0.05);
  gates.set_max_failed_sources(1);
  gates.set_max_failed_files(0.02);
  EXPECT_EQ(CheckGates(With(gates), Sums()).size(), 7u);
  EXPECT_THAT(Missed(With(gates), Sums()), IsEmpty());
}

TEST(Gates, EachThatIsMissedSaysItsBoundAndTheValue) {
  v1::Gates gates;
  gates.set_min_kept(500);
  gates.set_max_rejected(0.15);
  gates.set_max_duplicate(0);
  gates.set_max_contaminated(0.05);
  gates.set_max_unknown_license(0);
  gates.set_max_failed_sources(0);
  gates.set_max_failed_files(0.0199999999);
  EXPECT_THAT(Missed(With(gates), Sums()),
              ElementsAre("min_kept: 40, but at least 500 is asked for",
                          "max_rejected: 0.2, but at most 0.15 is asked for",
                          "max_duplicate: 0.3, but at most 0 is asked for",
                          "max_contaminated: 0.1, but at most 0.05 is asked for",
                          "max_unknown_license: 0.05, but at most 0 is asked for",
                          "max_failed_sources: 1, but at most 0 is asked for",
                          "max_failed_files: 0.02, but at most 0.0199999999 is asked for"));
}

TEST(Gates, OnlyThoseThatAreGivenAreChecked) {
  EXPECT_THAT(CheckGates(With({}), Sums()), IsEmpty());
  v1::Gates gates;
  gates.set_max_duplicate(1);
  EXPECT_EQ(CheckGates(With(gates), Sums()).size(), 1u);
}

TEST(Gates, OfNothingEveryShareIsZero) {
  v1::Gates gates;
  gates.set_max_rejected(0);
  gates.set_max_failed_files(0);
  gates.set_min_kept(1);
  EXPECT_THAT(Missed(With(gates), LedgerSums()),
              ElementsAre("min_kept: 0, but at least 1 is asked for"));
}

}  // namespace
}  // namespace kernelmill::manifest
