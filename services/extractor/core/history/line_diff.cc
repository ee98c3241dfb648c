#include "services/extractor/core/history/line_diff.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/text/lines.h"

namespace kernelmill::extractor {
namespace {

constexpr int kContext = 3;
constexpr int kMostEdits = 2000;

// A line of a difference: ' ', '-' or '+', and its number in the texts, from 0.
struct Edit {
  char mark = ' ';
  int before = 0;
  int after = 0;
};

using Lines = std::vector<absl::string_view>;

// Myers's greedy algorithm: furthest[k] is the furthest line of `a` that d edits reach on the
// diagonal k. The trace of all d leads back.
std::vector<Edit> FindEdits(const Lines& a, const Lines& b) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  const int most = std::min(n + m, kMostEdits);
  std::vector<std::vector<int>> trace;
  std::vector<int> furthest(2 * static_cast<size_t>(most) + 3, 0);
  const auto at = [most](int k) { return static_cast<size_t>(k + most + 1); };
  bool reached = false;
  for (int d = 0; d <= most && !reached; ++d) {
    trace.push_back(furthest);
    for (int k = -d; k <= d && !reached; k += 2) {
      const bool down = k == -d || (k != d && furthest[at(k - 1)] < furthest[at(k + 1)]);
      int x = down ? furthest[at(k + 1)] : furthest[at(k - 1)] + 1;
      while (x < n && x - k < m && a[static_cast<size_t>(x)] == b[static_cast<size_t>(x - k)]) ++x;
      furthest[at(k)] = x;
      reached = x >= n && x - k >= m;
    }
  }
  std::vector<Edit> edits;
  if (!reached) {
    for (int i = 0; i < n; ++i) edits.push_back({'-', i, 0});
    for (int i = 0; i < m; ++i) edits.push_back({'+', n, i});
    return edits;
  }
  int x = n, y = m;
  for (int d = static_cast<int>(trace.size()) - 1; d >= 0; --d) {
    const std::vector<int>& before = trace[static_cast<size_t>(d)];
    const int k = x - y;
    const bool down = k == -d || (k != d && before[at(k - 1)] < before[at(k + 1)]);
    const int from_k = down ? k + 1 : k - 1;
    const int from_x = d == 0 ? 0 : before[at(from_k)];
    const int from_y = d == 0 ? 0 : from_x - from_k;
    // The equal lines behind the edit come first on the way back.
    while (x > from_x && y > from_y) {
      --x, --y;
      edits.push_back({' ', x, y});
    }
    if (d == 0) break;
    if (down) {
      edits.push_back({'+', x, --y});
    } else {
      edits.push_back({'-', --x, y});
    }
  }
  std::reverse(edits.begin(), edits.end());
  return edits;
}

void AppendLine(char mark, absl::string_view line, std::string* out) {
  absl::StrAppend(out, absl::string_view(&mark, 1), line);
  if (!absl::EndsWith(line, "\n")) absl::StrAppend(out, "\n\\ No newline at end of file\n");
}

}  // namespace

std::string UnifiedDiff(const DiffSide& before, const DiffSide& after) {
  const Lines a = SplitLines(before.text), b = SplitLines(after.text);
  const std::vector<Edit> edits = FindEdits(a, b);
  std::string out = absl::StrCat("--- a/", before.path, "\n+++ b/", after.path, "\n");
  const int count = static_cast<int>(edits.size());
  for (int at = 0; at < count;) {
    if (edits[static_cast<size_t>(at)].mark == ' ') {
      ++at;
      continue;
    }
    // The hunk ends where more than two contexts of equal lines follow.
    int last = at;
    for (int i = at; i < count && i - last <= 2 * kContext; ++i) {
      if (edits[static_cast<size_t>(i)].mark != ' ') last = i;
    }
    const int begin = std::max(0, at - kContext), end = std::min(count, last + kContext + 1);
    int of_before = 0, of_after = 0;
    std::string lines;
    for (int i = begin; i < end; ++i) {
      const Edit& edit = edits[static_cast<size_t>(i)];
      of_before += edit.mark != '+';
      of_after += edit.mark != '-';
      AppendLine(edit.mark,
                 edit.mark == '+' ? b[static_cast<size_t>(edit.after)]
                                  : a[static_cast<size_t>(edit.before)],
                 &lines);
    }
    // A side without lines has the number of the line before.
    const Edit& first = edits[static_cast<size_t>(begin)];
    absl::StrAppend(&out, "@@ -", before.first_line + first.before - (of_before == 0), ",",
                    of_before, " +", after.first_line + first.after - (of_after == 0), ",",
                    of_after, " @@\n", lines);
    at = end;
  }
  return out;
}

}  // namespace kernelmill::extractor
