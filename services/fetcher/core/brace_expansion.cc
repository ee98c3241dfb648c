#include "services/fetcher/core/brace_expansion.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace kernelmill::fetcher {
namespace {

constexpr size_t kMaxPatterns = 1024;
constexpr size_t kMaxBytes = 1 << 18;

// The first byte after the plain unit (an escape, a set, or a byte) that begins at `at`.
size_t SkipUnit(absl::string_view glob, size_t at) {
  if (glob[at] == '\\') return std::min(at + 2, glob.size());
  if (glob[at] != '[') return at + 1;
  size_t end = at + 1;
  if (end < glob.size() && glob[end] == '!') ++end;
  if (end < glob.size() && glob[end] == ']') ++end;  // a ']' that comes first is a member
  while (end < glob.size() && glob[end] != ']') ++end;
  return end < glob.size() ? end + 1 : at + 1;
}

struct Group {
  size_t open = 0;
  size_t close = 0;                                // the index of '}'
  std::vector<std::pair<size_t, size_t>> members;  // [begin, end)
};

// The first outermost group. NOT_FOUND: there is none.
absl::StatusOr<Group> FirstGroup(absl::string_view glob) {
  Group group;
  int depth = 0;
  size_t begin = 0;
  for (size_t at = 0; at < glob.size();) {
    const char c = glob[at];
    if (c == '{' && depth++ == 0) {
      group.open = at;
      begin = at + 1;
    } else if (c == '}' && depth == 0) {
      return absl::InvalidArgumentError("'}' without '{'");
    } else if ((c == '}' && depth == 1) || (c == ',' && depth == 1)) {
      group.members.emplace_back(begin, at);
      begin = at + 1;
      if (c == '}') {
        group.close = at;
        return group;
      }
    } else if (c == '}') {
      --depth;
    }
    at = (c == '{' || c == '}') ? at + 1 : SkipUnit(glob, at);
  }
  if (depth > 0) return absl::InvalidArgumentError("'{' without '}'");
  return absl::NotFoundError("no braces");
}

}  // namespace

// Each round replaces the first group of one pattern by its members, depth-first, so that the order
// is that of reading and the bounds are met before memory is spent.
absl::StatusOr<std::vector<std::string>> ExpandBraces(absl::string_view glob) {
  std::vector<std::string> done;
  std::deque<std::string> open = {std::string(glob)};
  size_t bytes = glob.size();
  while (!open.empty()) {
    const std::string pattern = std::move(open.front());
    open.pop_front();
    const absl::StatusOr<Group> group = FirstGroup(pattern);
    if (absl::IsNotFound(group.status())) {
      done.push_back(pattern);
      continue;
    }
    RETURN_IF_ERROR(group.status());
    for (auto member = group->members.rbegin(); member != group->members.rend(); ++member) {
      open.push_front(absl::StrCat(pattern.substr(0, group->open),
                                   pattern.substr(member->first, member->second - member->first),
                                   pattern.substr(group->close + 1)));
      bytes += open.front().size();
    }
    if (done.size() + open.size() > kMaxPatterns || bytes > kMaxBytes) {
      return absl::InvalidArgumentError("braces stand for too many patterns");
    }
  }
  return done;
}

}  // namespace kernelmill::fetcher
