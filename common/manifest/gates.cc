#include "common/manifest/gates.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace kernelmill::manifest {
namespace {

double Share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

GateResult Most(absl::string_view name, bool is_share, double bound, double value) {
  return {name, is_share, bound, value, value <= bound};
}

// A share to so many digits that value and bound are told apart.
std::string Text(const GateResult& gate, double number) {
  if (!gate.is_share) return absl::StrCat(static_cast<int64_t>(number));
  const bool alike = absl::StrCat(gate.value) == absl::StrCat(gate.bound);
  if (!alike) return absl::StrCat(number);
  char digits[64];
  return std::string(digits, std::to_chars(digits, digits + sizeof(digits), number).ptr);
}

}  // namespace

std::vector<GateResult> CheckGates(const v1::DatasetManifest& manifest, const LedgerSums& sums) {
  const v1::Gates& gates = manifest.gates();
  const int64_t found = sums.kernels_found;
  std::vector<GateResult> results;
  if (gates.min_kept() > 0) {
    results.push_back({"min_kept", false, static_cast<double>(gates.min_kept()),
                       static_cast<double>(sums.kept), sums.kept >= gates.min_kept()});
  }
  const auto share = [&](bool given, absl::string_view name, double bound, int64_t part,
                         int64_t whole) {
    if (given) results.push_back(Most(name, true, bound, Share(part, whole)));
  };
  share(gates.has_max_rejected(), "max_rejected", gates.max_rejected(), Total(sums.rejected),
        found);
  share(gates.has_max_duplicate(), "max_duplicate", gates.max_duplicate(), Total(sums.duplicates),
        found);
  share(gates.has_max_contaminated(), "max_contaminated", gates.max_contaminated(),
        Total(sums.contaminated), found);
  share(gates.has_max_unknown_license(), "max_unknown_license", gates.max_unknown_license(),
        sums.unknown_license, found);
  if (gates.has_max_failed_sources()) {
    const auto failed =
        std::count_if(manifest.sources().begin(), manifest.sources().end(),
                      [](const v1::ManifestSource& source) { return source.failed(); });
    results.push_back(Most("max_failed_sources", false,
                           static_cast<double>(gates.max_failed_sources()),
                           static_cast<double>(failed)));
  }
  share(gates.has_max_failed_files(), "max_failed_files", gates.max_failed_files(),
        Total(sums.files_failed), sums.files_seen);
  return results;
}

std::string GateText(const GateResult& gate) {
  const bool least = gate.name == "min_kept";
  return absl::StrCat(Text(gate, gate.value), ", but at ", least ? "least " : "most ",
                      Text(gate, gate.bound), " is asked for");
}

}  // namespace kernelmill::manifest
