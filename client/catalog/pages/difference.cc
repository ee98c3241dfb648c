// A side-by-side comparison in three steps: Align finds the longest common subsequence of lines,
// PairUp puts removed and added lines of one change beside each other, and SkipEqual shortens long
// equal parts.
//
// The table of common subsequences has one number for each pair of lines, so time and memory are
// quadratic: kMaxDifferenceLines bounds it to 400 * 400 numbers of two bytes for a page.

#include "client/catalog/pages/difference.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace kernelmill::client {
namespace {

using Kind = DifferenceRow::Kind;
using Lines = std::vector<absl::string_view>;

constexpr int kContext = 3;  // equal lines shown around a difference

// Line ends of other systems do not make lines differ.
Lines SplitLines(absl::string_view text) {
  absl::ConsumeSuffix(&text, "\n");
  Lines lines = absl::StrSplit(text, '\n');
  for (absl::string_view& line : lines) absl::ConsumeSuffix(&line, "\r");
  lines.resize(std::min<size_t>(lines.size(), kMaxDifferenceLines));
  return lines;
}

// The lengths of the longest common subsequences of all pairs of suffixes.
class CommonLengths {
 public:
  CommonLengths(const Lines& left, const Lines& right)
      : width_(right.size() + 1), lengths_((left.size() + 1) * width_, 0) {
    // From the ends to the beginnings, because an entry depends on those of the shorter suffixes.
    for (size_t i = left.size(); i-- > 0;) {
      for (size_t j = right.size(); j-- > 0;) {
        lengths_[i * width_ + j] = left[i] == right[j] ? static_cast<uint16_t>(At(i + 1, j + 1) + 1)
                                                       : std::max(At(i + 1, j), At(i, j + 1));
      }
    }
  }
  uint16_t At(size_t left, size_t right) const { return lengths_[left * width_ + right]; }

 private:
  const size_t width_;
  std::vector<uint16_t> lengths_;
};

// Aligns the lines of two texts. The basic idea: walk both texts from the beginning, and take equal
// lines together; otherwise take the line whose removal keeps the longer common subsequence of the
// rest.
std::vector<DifferenceRow> Align(const Lines& left, const Lines& right) {
  const CommonLengths common(left, right);
  std::vector<DifferenceRow> rows;
  size_t i = 0;
  size_t j = 0;
  while (i < left.size() || j < right.size()) {
    DifferenceRow row;
    const bool same = i < left.size() && j < right.size() && left[i] == right[j];
    // On a tie the left line comes first: a removed line before an added one.
    const bool take_left =
        same ||
        (i < left.size() && (j == right.size() || common.At(i + 1, j) >= common.At(i, j + 1)));
    row.kind = same ? Kind::kSame : take_left ? Kind::kLeftOnly : Kind::kRightOnly;
    if (take_left) {
      row.left = left[i];
      row.left_line = static_cast<int>(++i);
    }
    if (same || !take_left) {
      row.right = right[j];
      row.right_line = static_cast<int>(++j);
    }
    rows.push_back(row);
  }
  return rows;
}

// Puts a removed line and an added line of the same difference into one row.
std::vector<DifferenceRow> PairUp(const std::vector<DifferenceRow>& rows) {
  std::vector<DifferenceRow> paired;
  for (size_t i = 0; i < rows.size();) {
    size_t end = i;
    std::vector<DifferenceRow> lefts;
    std::vector<DifferenceRow> rights;
    // Collect one change: all rows up to the next equal line.
    for (; end < rows.size() && rows[end].kind != Kind::kSame; ++end) {
      (rows[end].kind == Kind::kLeftOnly ? lefts : rights).push_back(rows[end]);
    }
    if (end == i) {
      paired.push_back(rows[i++]);
      continue;
    }
    for (size_t k = 0; k < std::max(lefts.size(), rights.size()); ++k) {
      if (k >= lefts.size()) {
        paired.push_back(rights[k]);
      } else if (k >= rights.size()) {
        paired.push_back(lefts[k]);
      } else {
        paired.push_back({.kind = Kind::kChanged,
                          .left_line = lefts[k].left_line,
                          .right_line = rights[k].right_line,
                          .left = lefts[k].left,
                          .right = rights[k].right});
      }
    }
    i = end;
  }
  return paired;
}

// Replaces runs of equal lines that are far from a difference by one row.
std::vector<DifferenceRow> SkipEqual(const std::vector<DifferenceRow>& rows) {
  std::vector<bool> shown(rows.size(), false);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].kind == Kind::kSame) continue;
    // Show the lines around each difference. Lines in no such window are skipped.
    const size_t first = i < kContext ? 0 : i - kContext;
    const size_t last = std::min(rows.size() - 1, i + kContext);
    for (size_t k = first; k <= last; ++k) shown[k] = true;
  }
  std::vector<DifferenceRow> kept;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (shown[i]) {
      kept.push_back(rows[i]);
    } else if (!kept.empty() && kept.back().kind == Kind::kSkipped) {
      ++kept.back().skipped;
    } else {
      kept.push_back({.kind = Kind::kSkipped, .skipped = 1});
    }
  }
  return kept;
}

}  // namespace

std::vector<DifferenceRow> CompareLines(absl::string_view left, absl::string_view right) {
  return SkipEqual(PairUp(Align(SplitLines(left), SplitLines(right))));
}

}  // namespace kernelmill::client
