// Myers' greedy algorithm ("An O(ND) Difference Algorithm and Its Variations", 1986): after d
// edits, furthest[k] is how far in `a` one can be on diagonal k = (at in a) - (at in b). The
// furthest points of every d are kept, so that the way back can be read off them.
#include "services/validator/core/license/text/word_diff.h"

#include <algorithm>

namespace kernelmill::validator {
namespace {

// The furthest points after d edits: diagonal k stands at k + d.
using Furthest = std::vector<int>;

// Whether the best way to diagonal k in d edits ends with a word of b put in (from diagonal k + 1),
// not one of a taken out (from k - 1).
bool PutsIn(const Furthest& before, int d, int k) {
  if (k == -d) return true;
  if (k == d) return false;
  // `before` is of d - 1 edits: its diagonals k - 1 and k + 1 stand at k - 1 + d - 1 and k + d.
  const int out = k - 1 >= -(d - 1) ? before[static_cast<size_t>(k + d - 2)] : -1;
  const int in = k + 1 <= d - 1 ? before[static_cast<size_t>(k + d)] : -1;
  return out < in;
}

int FromBefore(const Furthest& before, int d, int k, bool puts_in) {
  return puts_in ? before[static_cast<size_t>(k + d)] : before[static_cast<size_t>(k + d - 2)] + 1;
}

void ReadBack(const std::vector<Furthest>& history, int k, std::vector<EqualRun>* runs) {
  for (int d = static_cast<int>(history.size()) - 1; d >= 0; --d) {
    const int end = history[static_cast<size_t>(d)][static_cast<size_t>(k + d)];
    int begin = 0;
    int next = k;
    if (d > 0) {
      const Furthest& before = history[static_cast<size_t>(d - 1)];
      const bool puts_in = PutsIn(before, d, k);
      begin = FromBefore(before, d, k, puts_in);
      next = puts_in ? k + 1 : k - 1;
    }
    if (end > begin) {
      runs->push_back({static_cast<size_t>(begin), static_cast<size_t>(begin - k),
                       static_cast<size_t>(end - begin)});
    }
    k = next;
  }
  std::reverse(runs->begin(), runs->end());
}

}  // namespace

bool DiffWords(absl::Span<const uint16_t> a, absl::Span<const uint16_t> b, size_t max_edits,
               size_t max_steps, size_t* steps, std::vector<EqualRun>* runs) {
  const int size_a = static_cast<int>(a.size());
  const int size_b = static_cast<int>(b.size());
  std::vector<Furthest> history;
  for (int d = 0; d <= static_cast<int>(max_edits); ++d) {
    Furthest furthest(static_cast<size_t>(2 * d + 1), -1);
    *steps += furthest.size();
    if (*steps > max_steps) return false;
    for (int k = -d; k <= d; k += 2) {
      int at = 0;
      if (d > 0) {
        const Furthest& before = history.back();
        at = FromBefore(before, d, k, PutsIn(before, d, k));
      }
      const int start = at;
      while (at < size_a && at - k < size_b && at - k >= 0 &&
             a[static_cast<size_t>(at)] == b[static_cast<size_t>(at - k)]) {
        ++at;
      }
      *steps += static_cast<size_t>(at - start);
      furthest[static_cast<size_t>(k + d)] = at;
      if (at >= size_a && at - k >= size_b) {
        history.push_back(std::move(furthest));
        ReadBack(history, k, runs);
        return true;
      }
    }
    history.push_back(std::move(furthest));
  }
  return false;
}

}  // namespace kernelmill::validator
