#ifndef KERNELMILL_CLIENT_CATALOG_PAGES_DIFFERENCE_H_
#define KERNELMILL_CLIENT_CATALOG_PAGES_DIFFERENCE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::client {

// A row of two texts side by side. A missing line has the number 0.
struct DifferenceRow {
  enum class Kind { kSame, kChanged, kLeftOnly, kRightOnly, kSkipped };
  Kind kind = Kind::kSame;
  int left_line = 0;  // from 1
  int right_line = 0;
  absl::string_view left;
  absl::string_view right;
  int skipped = 0;  // for kSkipped: the number of equal lines left out
};

// Compares two texts side by side, with as many equal lines beside each other as possible (longest
// common subsequence). Equal lines farther than three from a difference are skipped. Reads at most
// kMaxDifferenceLines of each text. The result refers to both texts.
inline constexpr int kMaxDifferenceLines = 400;
std::vector<DifferenceRow> CompareLines(absl::string_view left, absl::string_view right);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_PAGES_DIFFERENCE_H_
