#include "services/extractor/core/cuda/conditionals.h"

#include <algorithm>
#include <cstddef>

namespace kernelmill::extractor::cuda {
namespace {

// Bounds the walk from a place outwards: a hostile text could nest conditionals without end.
constexpr uint32_t kMaxConditionDepth = 64;

// Returns whether the first and the last directive enclose the whole text: #ifndef X, #define X ...
// #endif.
bool HasIncludeGuard(const Code& code) {
  if (code.directives.size() < 2 || code.macros.empty()) return false;
  const Directive& first = code.directives.front();
  const Directive& last = code.directives.back();
  const bool around = first.kind == Directive::kIf && first.before == 0 &&
                      last.kind == Directive::kEndif && last.before == code.size();
  if (!around || !first.condition.of_definition || !first.condition.negated) return false;
  int depth = 0;
  for (size_t i = 0; i + 1 < code.directives.size(); ++i) {
    const Directive::Kind kind = code.directives[i].kind;
    depth += kind == Directive::kIf ? 1 : kind == Directive::kEndif ? -1 : 0;
    if (depth == 0 || (depth == 1 && kind != Directive::kIf && kind != Directive::kEndif)) {
      return false;
    }
  }
  const Macro& guard = code.macros.front();
  return guard.name == first.condition.expression && guard.begin > first.begin;
}

}  // namespace

Conditionals::Conditionals(const Code& code) {
  const bool guarded = HasIncludeGuard(code);
  const size_t end = code.directives.size() - (guarded ? 1 : 0);
  Place place;
  // Each directive changes the place of all that follows it. The changes are in the order of the
  // text, so that At() is a binary search.
  for (size_t i = guarded ? 1 : 0; i < end; ++i) {
    const Directive& directive = code.directives[i];
    if (directive.kind == Directive::kIf) {
      const auto self = static_cast<uint32_t>(all_.size());
      all_.push_back(
          {place, {{directive.begin, directive.end}}, static_cast<uint32_t>(code.text.size())});
      place = {self, 0};
    } else if (place.conditional == kNone) {
      continue;
    } else if (directive.kind == Directive::kEndif) {
      all_[place.conditional].end = directive.end;
      place = all_[place.conditional].around;
    } else {
      all_[place.conditional].lines.push_back({directive.begin, directive.end});
      ++place.branch;
    }
    changes_.push_back({directive.end, place});
  }
}

Conditionals::Place Conditionals::At(uint32_t offset) const {
  const auto after =
      std::upper_bound(changes_.begin(), changes_.end(), offset,
                       [](uint32_t at, const Change& change) { return at < change.offset; });
  return after == changes_.begin() ? Place() : (after - 1)->place;
}

std::vector<ByteSpan> Conditionals::Lines(const Place& place) const {
  constexpr size_t kMaxBranches = 16;  // a longer chain is cut to its first lines and the last one
  const std::vector<ByteSpan>& lines = all_[place.conditional].lines;
  const size_t count = std::min<size_t>(place.branch + 1, kMaxBranches);
  std::vector<ByteSpan> led(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(count));
  if (count < place.branch + 1) led.back() = lines[place.branch];
  return led;
}

uint32_t Conditionals::CountDepth(Place place) const {
  uint32_t depth = 0;
  for (; place.conditional != kNone && depth < kMaxConditionDepth; place = Around(place)) ++depth;
  return depth;
}

// Leaves conditionals at both ends until both are in the same branch, the deeper end first, and
// widens the span by each conditional that it leaves.
ByteSpan Conditionals::Whole(ByteSpan span) const {
  Place begin = At(span.begin);
  Place end = At(span.end);
  uint32_t begin_depth = CountDepth(begin);
  uint32_t end_depth = CountDepth(end);
  const auto leave = [&](Place& place, uint32_t& depth) {
    const Conditional& left = all_[place.conditional];
    span.begin = std::min(span.begin, left.lines[0].begin);
    span.end = std::max(span.end, left.end);
    place = left.around;
    --depth;
  };
  while (begin_depth > end_depth) leave(begin, begin_depth);
  while (end_depth > begin_depth) leave(end, end_depth);
  while (!(begin == end) && begin_depth > 0) {
    leave(begin, begin_depth);
    if (end_depth > 0) leave(end, end_depth);
  }
  return span;
}

}  // namespace kernelmill::extractor::cuda
