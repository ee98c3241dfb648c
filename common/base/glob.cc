#include "common/base/glob.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/status.h"
#include "common/base/text.h"

// A glob is compiled in three steps: braces expand to plain patterns; each pattern is cut at
// slashes into components; each component becomes tokens (a byte, a set, any byte, a star).
// Matching works on two levels with one algorithm, MatchStars: ** is the star over the components
// of a path, and * the star over the bytes of one component. So * and ? never cross a slash, and
// the time is at most (components of the pattern x components of the path) times that of a
// component.
//
//   glob      := component ("/" component)*
//   component := "**" | (byte | "\" byte | "?" | "*" | set)+
//   set       := "[" ["!"] member+ "]"        member := byte | byte "-" byte
//   group     := "{" glob ("," glob)* "}"     anywhere, and within each other
namespace kernelmill {
namespace {

// Globs come from job files, so from outside.
constexpr size_t kMaxGlobBytes = 4096;
constexpr size_t kNone = static_cast<size_t>(-1);

// Matches items against steps, some of them stars, in O(steps x items). On a mismatch only the last
// star takes one more item: extending an earlier star cannot match more than extending the last
// one.
template <typename IsStar, typename StepMatches>
bool MatchStars(size_t steps, size_t items, const IsStar& is_star, const StepMatches& matches) {
  size_t step = 0, item = 0, star = kNone, star_item = 0;
  while (item < items) {
    if (step < steps && is_star(step)) {
      star = step++;
      star_item = item;
    } else if (step < steps && matches(step, item)) {
      ++step;
      ++item;
    } else if (star != kNone) {
      step = star + 1;
      item = ++star_item;
    } else {
      return false;
    }
  }
  while (step < steps && is_star(step)) ++step;
  return step == steps;
}

// Parses the set that starts at text[at] == '[' and moves `at` to its ']'.
absl::StatusOr<std::bitset<256>> ParseSet(absl::string_view text, size_t& at) {
  std::bitset<256> set;
  size_t i = at + 1;
  const bool negated = i < text.size() && text[i] == '!';
  if (negated) ++i;
  for (bool first = true; i < text.size() && (first || text[i] != ']'); first = false) {
    const uint8_t low = static_cast<uint8_t>(text[i]);
    uint8_t high = low;
    if (i + 2 < text.size() && text[i + 1] == '-' && text[i + 2] != ']') {
      high = static_cast<uint8_t>(text[i + 2]);
      i += 2;
    }
    if (high < low) return absl::InvalidArgumentError("a range in [...] must not be descending");
    for (int byte = low; byte <= high; ++byte) set.set(byte);
    ++i;
  }
  if (i >= text.size()) return absl::InvalidArgumentError("'[' without ']'");
  at = i;
  if (negated) set.flip();
  // Not even a negated set matches a slash.
  set.reset('/');
  return set;
}

// {a,b}{a,b}... doubles with each group: 20 groups would be a million patterns.
constexpr size_t kMaxPatterns = 1024;
constexpr size_t kMaxBytes = 1 << 18;

// Returns the end of the unit (an escape, a set, or a byte) that starts at `at`.
size_t SkipUnit(absl::string_view glob, size_t at) {
  if (glob[at] == '\\') return std::min(at + 2, glob.size());
  if (glob[at] != '[') return at + 1;
  size_t end = at + 1;
  if (end < glob.size() && glob[end] == '!') ++end;
  if (end < glob.size() && glob[end] == ']') ++end;  // a leading ']' is a member
  while (end < glob.size() && glob[end] != ']') ++end;
  return end < glob.size() ? end + 1 : at + 1;
}

// A group of braces on the outermost level, as places in the glob.
struct Group {
  size_t open = 0;
  size_t close = 0;                                // the index of '}'
  std::vector<std::pair<size_t, size_t>> members;  // [begin, end)
};

// Finds the first outermost group. NOT_FOUND: no group.
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

// Returns the patterns that a glob's braces expand to, in order; the glob itself if it has no
// braces. Braces in [...] and after a backslash are plain bytes. INVALID_ARGUMENT: unbalanced
// braces, or more than kMaxPatterns patterns or kMaxBytes bytes.
//
// Each round replaces the first group of one pattern by its members, depth first. So the patterns
// are in reading order, and the bounds are checked before memory is used.
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
    // Pushed in reverse to the front, so that the first member is expanded next.
    for (auto member = group->members.rbegin(); member != group->members.rend(); ++member) {
      open.push_front(absl::StrCat(pattern.substr(0, group->open),
                                   pattern.substr(member->first, member->second - member->first),
                                   pattern.substr(group->close + 1)));
      bytes += open.front().size();
    }
    if (done.size() + open.size() > kMaxPatterns || bytes > kMaxBytes) {
      return absl::InvalidArgumentError("braces expand to too many patterns");
    }
  }
  return done;
}

}  // namespace

// A component of "**" matches any number of folders, none included; within other text ** is the
// same as *. Empty components, "." and ".." never match a path of a source and are refused as
// mistakes.
absl::StatusOr<Glob::Component> Glob::CompileComponent(absl::string_view text) {
  Component component;
  if (text == "**") {
    component.any_folders = true;
    return component;
  }
  if (text.empty() || text == "." || text == "..") {
    return absl::InvalidArgumentError("must be relative, without an empty, '.' or '..' component");
  }
  for (size_t at = 0; at < text.size(); ++at) {
    Token token{TokenKind::kByte, text[at], {}};
    if (text[at] == '*') {
      token.kind = TokenKind::kStar;
    } else if (text[at] == '?') {
      token.kind = TokenKind::kAnyByte;
    } else if (text[at] == '[') {
      token.kind = TokenKind::kSet;
      ASSIGN_OR_RETURN(token.set, ParseSet(text, at));
    } else if (text[at] == '\\') {
      if (++at == text.size()) return absl::InvalidArgumentError("must not end with a backslash");
      token.byte = text[at];
    }
    component.tokens.push_back(token);
  }
  return component;
}

absl::StatusOr<Glob::Pattern> Glob::CompilePattern(absl::string_view text) {
  Pattern pattern;
  for (const absl::string_view part : absl::StrSplit(text, '/')) {
    ASSIGN_OR_RETURN(Component component, CompileComponent(part));
    pattern.push_back(std::move(component));
  }
  return pattern;
}

absl::StatusOr<Glob> Glob::Compile(absl::string_view text) {
  if (text.size() > kMaxGlobBytes) return absl::InvalidArgumentError("too long");
  ASSIGN_OR_RETURN(const std::vector<std::string> patterns, ExpandBraces(text));
  Glob glob;
  for (const std::string& pattern : patterns) {
    ASSIGN_OR_RETURN(Pattern compiled, CompilePattern(pattern));
    glob.alternatives_.push_back(std::move(compiled));
  }
  return glob;
}

bool Glob::ComponentMatches(const Component& component, absl::string_view name) {
  const std::vector<Token>& tokens = component.tokens;
  return MatchStars(
      tokens.size(), name.size(), [&](size_t t) { return tokens[t].kind == TokenKind::kStar; },
      [&](size_t t, size_t n) {
        switch (tokens[t].kind) {
          case TokenKind::kByte:
            return tokens[t].byte == name[n];
          case TokenKind::kSet:
            return tokens[t].set.test(static_cast<uint8_t>(name[n]));
          default:
            return true;
        }
      });
}

bool Glob::PatternMatches(const Pattern& pattern, const std::vector<absl::string_view>& path) {
  return MatchStars(
      pattern.size(), path.size(), [&](size_t c) { return pattern[c].any_folders; },
      [&](size_t c, size_t p) { return ComponentMatches(pattern[c], path[p]); });
}

bool Glob::Matches(absl::string_view path) const {
  const std::vector<absl::string_view> parts = absl::StrSplit(path, '/');
  for (const Pattern& pattern : alternatives_) {
    if (PatternMatches(pattern, parts)) return true;
  }
  return false;
}

absl::StatusOr<GlobSet> GlobSet::Compile(const std::vector<std::string>& include,
                                         const std::vector<std::string>& exclude) {
  GlobSet set;
  const auto compile_into = [](const std::vector<std::string>& globs, absl::string_view field,
                               std::vector<Glob>& into) -> absl::Status {
    for (const std::string& text : globs) {
      absl::StatusOr<Glob> glob = Glob::Compile(text);
      if (!glob.ok()) return Annotate(glob.status(), absl::StrCat(field, " ", JsonString(text)));
      into.push_back(*std::move(glob));
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(compile_into(include, "include", set.include_));
  RETURN_IF_ERROR(compile_into(exclude, "exclude", set.exclude_));
  return set;
}

namespace {

bool Names(const std::vector<Glob>& globs, absl::string_view path) {
  return std::any_of(globs.begin(), globs.end(),
                     [path](const Glob& glob) { return glob.Matches(path); });
}

}  // namespace

bool GlobSet::Matches(absl::string_view path) const {
  return Names(include_, path) && !Names(exclude_, path);
}

bool GlobSet::Excludes(absl::string_view path) const { return Names(exclude_, path); }

}  // namespace kernelmill
