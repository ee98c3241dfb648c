#include "services/extractor/core/link/cuda/methods.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "services/extractor/core/cuda/words.h"

namespace kernelmill::extractor::cuda {
namespace {

using absl::string_view;

// Returns where the comment right above `begin` starts, and `begin` without one. Between `after`,
// the end of the token before, and `begin` there are only comments and directives.
size_t FindCommentAbove(string_view text, size_t after, size_t begin) {
  size_t found = begin;
  bool open = false;  // lines of a comment lead up to the current one
  for (size_t at = AfterLine(text, after); at < begin;) {
    const string_view rest = text.substr(at, begin - at);
    const string_view line = absl::StripLeadingAsciiWhitespace(rest.substr(0, rest.find('\n')));
    const bool block = absl::StartsWith(line, "/*");
    const bool comment = block || absl::StartsWith(line, "//");
    if (comment && !open) found = at;
    open = comment;
    const size_t end = block ? rest.find("*/") : 0;
    at = AfterLine(text, at + (end == string_view::npos ? 0 : end));
  }
  return open ? found : begin;
}

// Reads the methods of one class.
class Separator {
 public:
  Separator(const Code& code, const Conditionals& conditionals, const LineIndex& lines)
      : code_(code), conditionals_(conditionals), lines_(lines) {}

  // Fills in `method`. Returns false if it cannot be left out.
  bool Read(const Declaration& declaration, Method& method) const {
    uint32_t last = declaration.last;
    if (code_.Is(last + 1, ";")) ++last;  // void f() {};
    method.name = declaration.names[0];
    method.span = {code_.tokens[declaration.first].begin, code_.tokens[last].end};
    const ByteSpan whole = conditionals_.Whole(method.span);
    if (whole.begin != method.span.begin || whole.end != method.span.end) return false;
    return !HoldsDirective(method.span) && FindLines(declaration.first, last, method);
  }

 private:
  // Returns whether the span holds an #include, #define or #undef, which hold for later text too.
  bool HoldsDirective(const ByteSpan& span) const {
    const auto within = [&](const auto& all) {
      const auto first = std::lower_bound(
          all.begin(), all.end(), span.begin,
          [](const auto& directive, uint32_t offset) { return directive.begin < offset; });
      return first != all.end() && first->begin < span.end;
    };
    return within(code_.macros) || within(code_.includes);
  }

  bool FindLines(uint32_t first, uint32_t last, Method& method) const {
    const auto begin = lines_.Begin(lines_.LineAt(method.span.begin));
    const auto end = lines_.End(lines_.LineAt(method.span.end - 1));
    const size_t before = code_.tokens[first - 1].end;
    if (before > begin || last + 1 >= code_.size() || code_.tokens[last + 1].begin < end) {
      return false;
    }
    const string_view indentation = code_.text.substr(begin, method.span.begin - begin);
    if (!absl::StripLeadingAsciiWhitespace(indentation).empty()) return false;
    // A comment that begins on the last line and goes on stays whole.
    const string_view behind = code_.text.substr(method.span.end, end - method.span.end);
    const bool opens = absl::StrContains(behind, "/*") && !absl::StrContains(behind, "*/");
    if (opens || absl::StrContains(behind, '\\')) return false;
    method.lines.begin = static_cast<uint32_t>(FindCommentAbove(code_.text, before, begin));
    method.lines.end = static_cast<uint32_t>(SkipBlankLines(end));
    return true;
  }

  size_t SkipBlankLines(size_t at) const {
    for (;;) {
      const size_t next = AfterLine(code_.text, at);
      const string_view line = code_.text.substr(at, next - at);
      if (next == at || !absl::StripAsciiWhitespace(line).empty()) return at;
      at = next;
    }
  }

  const Code& code_;
  const Conditionals& conditionals_;
  const LineIndex& lines_;
};

}  // namespace

std::vector<Method> FindSeparableMethods(const Code& code, const Brackets& brackets,
                                         const Conditionals& conditionals, const LineIndex& lines,
                                         const Declaration& type) {
  std::vector<Method> methods;
  const Separator separator(code, conditionals, lines);
  for (const Declaration& declaration : FindMethods(code, brackets, type)) {
    Method method;
    if (!NeedsMention(declaration.names[0]) || !separator.Read(declaration, method)) continue;
    methods.push_back(std::move(method));
  }
  return methods;
}

}  // namespace kernelmill::extractor::cuda
