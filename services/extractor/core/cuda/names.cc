#include "services/extractor/core/cuda/names.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "services/extractor/core/cuda/reserved_words.h"

namespace kernelmill::extractor::cuda {
namespace {

// Beyond these many tokens nothing is looked for backwards: it could be repeated at every token.
constexpr uint32_t kMaxArguments = 256;
constexpr int kMaxParts = 64;
constexpr size_t kMaxName = 512;

// How many template argument lists a token opens (if positive) or closes.
int AngleChange(const Code& code, uint32_t at) {
  const Token& token = code.tokens[at];
  if (token.kind != Token::kPunctuation) return 0;
  if (token.mark != '\0') return token.mark == '<' ? 1 : token.mark == '>' ? -1 : 0;
  return code[at] == ">>" ? -2 : code[at] == ">>>" ? -3 : 0;
}

bool IsOpen(char mark) { return mark == '(' || mark == '[' || mark == '{'; }

// The '<' of the template arguments that end with the token before `end`; kNoToken if none does.
uint32_t AngleBegin(const Code& code, const Brackets& brackets, uint32_t end) {
  const uint32_t stop = end > kMaxArguments ? end - kMaxArguments : 0;
  int depth = 0;
  for (uint32_t at = end; at > stop;) {
    const char mark = code.tokens[--at].mark;
    if (mark == ';' || IsOpen(mark)) return kNoToken;
    const uint32_t match = brackets.match[at];
    if (match != kNoToken) {
      if (match > at) return kNoToken;
      at = match;
      continue;
    }
    depth -= AngleChange(code, at);
    if (depth <= 0) return depth == 0 && mark == '<' ? at : kNoToken;
  }
  return kNoToken;
}

}  // namespace

AngleSearch FindAngleEnd(const Code& code, const Brackets& brackets, uint32_t open, uint32_t most) {
  int depth = 0;
  uint32_t at = open;
  const uint32_t end = most < code.size() - open ? open + most : code.size();
  for (; at < end; ++at) {
    const char mark = code.tokens[at].mark;
    if (mark == ';' || mark == '}' || mark == ')' || mark == ']') break;
    if (IsOpen(mark)) {
      const uint32_t close = brackets.match[at];
      // Braces in arguments make a value, {} mostly; a long block is a body that was run into.
      if (close == kNoToken || (mark == '{' && close > at + 16)) break;
      at = close;
      continue;
    }
    depth += AngleChange(code, at);
    if (depth <= 0) return {at, true};
  }
  return {at, false};
}

uint32_t NameBefore(const Code& code, const Brackets& brackets, uint32_t end) {
  if (end == 0) return kNoToken;
  if (code.IsWord(end - 1)) return end - 1;
  const bool ends_launch = brackets.match[end - 1] != kNoToken;
  if (AngleChange(code, end - 1) >= 0 || ends_launch) return kNoToken;
  const uint32_t open = AngleBegin(code, brackets, end);
  return open != kNoToken && open > 0 && code.IsWord(open - 1) ? open - 1 : kNoToken;
}

uint32_t QualifiedBegin(const Code& code, const Brackets& brackets, uint32_t name) {
  for (int part = 0; part < kMaxParts && name > 0 && code[name - 1] == "::"; ++part) {
    const uint32_t before = NameBefore(code, brackets, name - 1);
    if (before == kNoToken || IsKeyword(code[before])) break;
    name = before;
  }
  return name;
}

std::string JoinedWords(const Code& code, const Brackets& brackets, uint32_t begin, uint32_t end) {
  std::string joined;
  for (uint32_t at = begin; at < end && joined.size() < kMaxName; ++at) {
    if (code[at] == "<") at = FindAngleEnd(code, brackets, at).token;
    if (at < end && code.IsWord(at)) {
      absl::StrAppend(&joined, joined.empty() ? "" : "::", code[at]);
    }
  }
  return joined;
}

bool ClassName(const Code& code, const Brackets& brackets, uint32_t key, uint32_t brace,
               std::string& name) {
  name.clear();
  constexpr uint32_t kMaxHead = 64;
  for (uint32_t at = key + 1; at <= std::min(brace, key + kMaxHead); ++at) {
    const absl::string_view token = code[at];
    if (token == "{" || token == ":" || token == "<" || token == "final") return true;
    if (IsOpen(code.tokens[at].mark)) {  // of an attribute
      if (brackets.match[at] == kNoToken) return false;
      at = brackets.match[at];
    } else if (code.IsWord(at)) {
      const bool nested = at > key + 1 && code[at - 1] == "::";
      name = nested ? absl::StrCat(name, "::", token) : std::string(token);
    } else if (token != "::") {
      return false;
    }
  }
  return false;
}

}  // namespace kernelmill::extractor::cuda
