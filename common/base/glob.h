#ifndef KERNELMILL_COMMON_BASE_GLOB_H_
#define KERNELMILL_COMMON_BASE_GLOB_H_

#include <bitset>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill {

// A compiled glob over paths, which are bytes with '/' between folders. Immutable, so thread-safe.
// Matching takes at most O(length of the glob x length of the path).
//
// clang-format off
//   *           any bytes except '/'
//   ?           one byte except '/'
//   [a-z] [!x]  one byte that is in the set, or that is not
//   **          as a whole component: any number of folders, also zero
//   \x          the byte x itself
//   {a,b}       either; may be nested and may contain '/'
// clang-format on
class Glob {
 public:
  // Compiles a glob. INVALID_ARGUMENT: it is malformed, or its braces expand to more than 1024
  // patterns.
  static absl::StatusOr<Glob> Compile(absl::string_view text);
  bool Matches(absl::string_view path) const;

 private:
  enum class TokenKind { kByte, kAnyByte, kSet, kStar };
  struct Token {
    TokenKind kind;
    char byte = 0;
    std::bitset<256> set;
  };
  struct Component {
    bool any_folders = false;  // **
    std::vector<Token> tokens;
  };
  using Pattern = std::vector<Component>;

  static absl::StatusOr<Pattern> CompilePattern(absl::string_view text);
  static absl::StatusOr<Component> CompileComponent(absl::string_view text);
  static bool ComponentMatches(const Component& component, absl::string_view name);
  static bool PatternMatches(const Pattern& pattern, const std::vector<absl::string_view>& path);

  std::vector<Pattern> alternatives_;
};

// The globs of a source: a path matches if an include matches and no exclude does. Immutable.
class GlobSet {
 public:
  // Compiles all globs. INVALID_ARGUMENT: one is malformed; the message names it. Without an
  // include nothing matches.
  static absl::StatusOr<GlobSet> Compile(const std::vector<std::string>& include,
                                         const std::vector<std::string>& exclude);
  bool Matches(absl::string_view path) const;
  // Returns whether an exclude matches.
  bool Excludes(absl::string_view path) const;

 private:
  std::vector<Glob> include_;
  std::vector<Glob> exclude_;
};

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_GLOB_H_
