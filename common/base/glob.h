#ifndef KERNELMILL_COMMON_BASE_GLOB_H_
#define KERNELMILL_COMMON_BASE_GLOB_H_

#include <bitset>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill {

// One glob over paths, which are bytes with '/' between folders:
//   *  any bytes but '/'      ?  one byte but '/'      [a-z] [!x]  one byte of a set, or not of it
//   ** as a whole component: any number of folders, none too      \x  the byte x itself
//   {a,b}  either; may be nested and may contain '/'
// Matching takes time at most proportional to the product of the glob's and the path's length.
// Immutable, hence thread-safe.
class Glob {
 public:
  // INVALID_ARGUMENT: not a glob, or braces that stand for more than 1024 patterns.
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

// What a source takes: paths that some include names and no exclude does. Immutable.
class GlobSet {
 public:
  // INVALID_ARGUMENT names the glob at fault. No include takes nothing.
  static absl::StatusOr<GlobSet> Compile(const std::vector<std::string>& include,
                                         const std::vector<std::string>& exclude);
  bool Matches(absl::string_view path) const;
  // Whether an exclude names it.
  bool Excludes(absl::string_view path) const;

 private:
  std::vector<Glob> include_;
  std::vector<Glob> exclude_;
};

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_GLOB_H_
