// Signals that need only the text: how it is formatted, whether a program wrote it, and the words
// that people wrote about it. Generated code is told by its own statements, not by its look, since
// regular code looks generated too.
#include "services/validator/core/quality/text_signals.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/text.h"
#include "common/code/lexer.h"
#include "common/dsl/languages.h"
#include "common/source_files/whole_files.h"

namespace kernelmill::validator {
namespace {

constexpr size_t kMaxShown = 80;

// Returns whether a word begins at the capital `at`: "aB" and the C of "ABCd".
bool BeginsWord(absl::string_view name, size_t at) {
  if (!absl::ascii_isupper(name[at]) || at == 0) return false;
  if (absl::ascii_islower(name[at - 1])) return true;
  return absl::ascii_isupper(name[at - 1]) && at + 2 < name.size() &&
         absl::ascii_islower(name[at + 1]) && absl::ascii_islower(name[at + 2]);
}

}  // namespace

// Returns the words in small letters: "myKernelV2_test" gives my, kernel, v2, test.
std::vector<std::string> WordsOfName(absl::string_view name) {
  std::vector<std::string> words;
  bool open = false;
  for (size_t i = 0; i < name.size(); ++i) {
    if (!absl::ascii_isalnum(name[i])) {
      open = false;
      continue;
    }
    if (!open || BeginsWord(name, i)) words.emplace_back();
    open = true;
    words.back() += absl::ascii_tolower(name[i]);
  }
  return words;
}

// Returns the words in small letters, with an empty word at the end of each sentence, so that no
// phrase goes on over one.
std::vector<std::string> WordsOfProse(absl::string_view text) {
  std::vector<std::string> words;
  bool open = false;
  for (const char c : text) {
    if (absl::ascii_isalnum(c)) {
      if (!open) words.emplace_back();
      open = true;
      words.back() += absl::ascii_tolower(c);
      continue;
    }
    open = false;
    const bool ends = c == '.' || c == ';' || c == '!' || c == '?';
    if (ends && !words.empty() && !words.back().empty()) words.emplace_back();
  }
  return words;
}

std::vector<absl::string_view> Segments(absl::string_view path) {
  return absl::StrSplit(path, '/', absl::SkipEmpty());
}

std::string RuleText(absl::string_view rule, absl::string_view what) {
  return ToUtf8(absl::StrCat(rule, ":", what.substr(0, kMaxShown)));
}

namespace {

using code::Token;

// Bounds on text that a person formatted. A single long line (a table, a list of arguments) may
// have up to kLongLine bytes; the mean shows text that is dense throughout.
constexpr int kLongLine = 1000;
constexpr double kLongOnAverage = 200;
constexpr size_t kHead = 4096;
constexpr int kLinesAbove = 40;

double RoundedToThousandths(double value) {
  return static_cast<double>(static_cast<int64_t>(value * 1000 + 0.5)) / 1000;
}

// Counts bytes without blanks, so that indentation does not change the shares.
size_t InkedBytes(absl::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](unsigned char c) { return !absl::ascii_isspace(c); }));
}

// Returns whether the text before "auto-generated" in a comment begins a sentence about the file:
// "This file was", "NOTE:".
bool IsAboutTheFile(absl::string_view before) {
  static constexpr absl::string_view kFillers[] = {
      "this", "file",  "is",  "was",    "were",     "has",    "been",    "code",
      "the",  "a",     "an",  "note",   "warning",  "kernel", "kernels", "module",
      "all",  "these", "are", "source", "contents", "header", "below",   "it"};
  const std::vector<std::string> words = WordsOfProse(before.substr(before.rfind('\n') + 1));
  for (size_t i = words.size(); i-- > 0 && !words[i].empty();) {
    if (!absl::c_linear_search(kFillers, words[i])) return false;
  }
  return true;
}

// Returns whether the whole line is a comment, as far as the line itself shows.
bool IsCommentLine(absl::string_view line, bool c) {
  line = absl::StripAsciiWhitespace(line);
  if (!c) return absl::StartsWith(line, "#");
  return absl::StartsWith(line, "//") || absl::StartsWith(line, "/*") ||
         absl::StartsWith(line, "*") || absl::EndsWith(line, "*/");
}

}  // namespace

// Measures the layout: the longest line, the mean line, and the share of comments and docstring in
// all bytes that are not blank.
void ReadLines(const v1::Kernel& kernel, v1::Quality* quality) {
  const absl::string_view source = kernel.source();
  size_t longest = 0;
  size_t lines = 0;
  size_t bytes = 0;
  for (const absl::string_view line :
       absl::StrSplit(source, absl::ByAnyChar("\r\n"), absl::SkipWhitespace())) {
    longest = std::max(longest, line.size());
    bytes += line.size();
    ++lines;
  }
  size_t comments = InkedBytes(kernel.docstring());
  for (const Token& token : code::Lex(source, source_files::LexedAs(kernel))) {
    if (token.kind == Token::kComment) comments += InkedBytes(token.text);
  }
  const size_t ink = InkedBytes(source);
  quality->set_longest_line(static_cast<int32_t>(longest));
  if (lines > 0) quality->set_mean_line(RoundedToThousandths(static_cast<double>(bytes) / lines));
  if (ink > 0)
    quality->set_comment_ratio(RoundedToThousandths(static_cast<double>(comments) / ink));
}

bool IsMinified(const v1::Quality& quality) {
  return quality.longest_line() > kLongLine || quality.mean_line() > kLongOnAverage;
}

// Only comments and strings of the file's head are searched. Code that writes such a sign into
// other files is not generated itself, but its head rarely has it.
std::string GeneratedSign(const v1::Kernel& kernel, absl::string_view file) {
  static constexpr const char* kSigns[] = {"do not edit", "@generated", "code generated by",
                                           "file was generated", "file is generated"};
  static constexpr const char* kSignsOfFiles[] = {"auto-generated", "autogenerated",
                                                  "auto generated", "automatically generated",
                                                  "generated automatically"};
  if (kernel.has_inductor()) return "inductor";
  for (const Token& token : code::Lex(file.substr(0, kHead), source_files::LexedAs(kernel))) {
    if (token.kind != Token::kComment && token.kind != Token::kString) continue;
    const std::string words = absl::AsciiStrToLower(token.text);
    for (const absl::string_view sign : kSigns) {
      if (absl::StrContains(words, sign)) return std::string(sign);
    }
    for (const absl::string_view sign : kSignsOfFiles) {
      const absl::string_view text = words;
      const size_t at = text.find(sign);
      if (at != absl::string_view::npos && IsAboutTheFile(text.substr(0, at)))
        return std::string(sign);
    }
  }
  return "";
}

// Goes back line by line from the kernel's first byte.
absl::string_view CommentAbove(const v1::Kernel& kernel, absl::string_view file) {
  const int64_t first = kernel.first_byte();
  if (source_files::IsEmbedded(kernel) || first < 0 || first > static_cast<int64_t>(file.size()))
    return "";
  const bool c = dsl::IsC(kernel.dsl());
  const size_t end = static_cast<size_t>(first);
  size_t begin = end;
  for (int lines = 0; lines < kLinesAbove && begin > 0; ++lines) {
    const size_t line_end = begin - 1;
    const size_t newline = line_end == 0 ? absl::string_view::npos : file.rfind('\n', line_end - 1);
    const size_t line = newline == absl::string_view::npos ? 0 : newline + 1;
    if (!IsCommentLine(file.substr(line, line_end - line), c)) break;
    begin = line;
  }
  return file.substr(begin, end - begin);
}

std::string CollectProse(const v1::Kernel& kernel, absl::string_view comment_above) {
  std::string prose = absl::StrCat(comment_above, ".\n", kernel.docstring(), ".\n");
  for (const Token& token : code::Lex(kernel.source(), dsl::GetSyntax(kernel.dsl()))) {
    if (token.kind == Token::kComment) {
      absl::StrAppend(&prose, token.text, "\n");
    } else if (!absl::EndsWith(prose, ".\n")) {
      absl::StrAppend(&prose, ".\n");  // code between two comments separates their sentences
    }
  }
  return prose;
}

}  // namespace kernelmill::validator
