#include "dataset/parquet/first_lines.h"

#include <algorithm>

namespace kernelmill::dataset {

void FirstLines::Add(const FilledFields& filled, int64_t size) {
  const Line line = {lines_++, bytes_, size};
  bytes_ += size;
  const bool early = lines_ <= kLines && bytes_ <= kBytes;
  for (size_t bit = 0; bit < filled.size(); ++bit) {
    if (!filled[bit]) continue;
    Seen& seen = fields_[bit];
    seen.early = seen.early || early;
    if (seen.lines++ > 0 && seen.smallest.size <= size) continue;
    seen.smallest = line;
    seen.filled = filled;
  }
}

// Chooses for all fields at once and not just for those that the beginning lacks: lines in front
// move the beginning's own out of the reader's sight.
std::vector<FirstLines::Line> FirstLines::Choose() const {
  std::vector<const Seen*> fields;
  for (const Seen& seen : fields_) {
    if (seen.lines > 0) fields.push_back(&seen);
  }
  std::vector<Line> first;
  if (std::all_of(fields.begin(), fields.end(), [](const Seen* seen) { return seen->early; })) {
    return first;
  }
  std::stable_sort(fields.begin(), fields.end(),
                   [](const Seen* a, const Seen* b) { return a->lines < b->lines; });
  FilledFields shown;
  for (const Seen* const seen : fields) {
    if (shown[static_cast<size_t>(seen - fields_.data())]) continue;
    first.push_back(seen->smallest);
    shown |= seen->filled;
  }
  std::sort(first.begin(), first.end(),
            [](const Line& a, const Line& b) { return a.number < b.number; });
  return first;
}

int64_t LineOfRow(const std::vector<int64_t>& first, int64_t row) {
  const auto found = std::lower_bound(first.begin(), first.end(), row);
  if (found != first.end() && *found == row) return found - first.begin();
  return row + (first.end() - found);
}

}  // namespace kernelmill::dataset
