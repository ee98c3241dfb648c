#include "services/extractor/core/link/outline.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/code/lexer.h"
#include "common/code/python.h"
#include "services/extractor/core/link/statements.h"

namespace kernelmill::extractor {
namespace {

using absl::string_view;
using code::Token;

constexpr size_t kMaxSignature = 1000;  // bytes
constexpr size_t kMaxSummary = 120;
constexpr size_t kMaxField = 100;
constexpr size_t kMaxStatement = 400;
constexpr size_t kMaxStatementLines = 8;
constexpr size_t kMaxMembers = 32;

bool Opens(const Token& token) {
  return token.text == "(" || token.text == "[" || token.text == "{";
}

bool Closes(const Token& token) {
  return token.text == ")" || token.text == "]" || token.text == "}";
}

// The colon outside of brackets that ends a function's or class's head.
size_t EndOfHead(const Tokens& tokens, size_t at) {
  int depth = 0;
  for (const size_t end = EndOfStatement(tokens, at); at < end; ++at) {
    if (tokens[at].text == ":" && depth == 0) return at;
    depth += Opens(tokens[at]) ? 1 : Closes(tokens[at]) ? -1 : 0;
  }
  return at;
}

// Tokens [begin, end) on one line: each run of blanks, comments and line ends between them as one
// blank, and none within brackets' ends; no comma after the last parameter.
std::string OnOneLine(const Tokens& tokens, size_t begin, size_t end) {
  std::string line;
  int depth = 0;
  for (size_t at = begin; at < end; ++at) {
    const Token& token = tokens[at];
    const bool closes = Closes(token);
    if (closes && depth == 1 && absl::EndsWith(line, ",")) line.pop_back();
    depth += Opens(token) ? 1 : closes ? -1 : 0;
    const char* before = at > begin ? tokens[at - 1].text.end() : token.text.data();
    const bool opened = at > begin && Opens(tokens[at - 1]);
    if (before < token.text.data() && !opened && !closes) line += ' ';
    absl::StrAppend(&line, token.text);
  }
  return line;
}

std::string Shortened(string_view text, size_t max) {
  if (text.size() <= max) return std::string(text);
  size_t size = max;  // not within a character
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  return absl::StrCat(text.substr(0, size), "...");
}

// The first line of the docstring that begins with tokens[at]; empty if none does.
std::string Summary(const Tokens& tokens, size_t at) {
  if (at >= tokens.size() || tokens[at].kind != Token::kString) return "";
  const std::string content = code::WithUnixLineEnds(code::PythonStringContent(tokens[at].text));
  for (const string_view line : absl::StrSplit(content, '\n')) {
    const string_view words = absl::StripAsciiWhitespace(line);
    if (!words.empty()) return absl::StrCat(" ", Shortened(words, kMaxSummary));
  }
  return "";
}

// The head of the def or class whose name is tokens[name], from that on, under another name.
std::string Head(const Tokens& tokens, size_t name, string_view shown) {
  const size_t colon = EndOfHead(tokens, name);
  std::string rest = OnOneLine(tokens, std::min(name + 1, colon), colon);
  if (rest.size() > kMaxSignature || absl::StrContains(rest, '\n')) rest = "(...)";
  return absl::StrCat(tokens[name - 1].text, " ", shown, rest, ":", Summary(tokens, colon + 1));
}

// Tells how far tokens are from the beginning of their lines, as it comes by them in order.
class Columns {
 public:
  explicit Columns(string_view text) : text_(text), end_(text.find('\n')) {}

  size_t Of(const Token& token) {
    const size_t begin = static_cast<size_t>(token.text.data() - text_.data());
    while (end_ < begin) {
      line_ = end_ + 1;
      end_ = text_.find('\n', line_);
    }
    return begin - line_;
  }

 private:
  const string_view text_;
  size_t line_ = 0;
  size_t end_;  // of that line
};

// Fields and methods of the class whose name is tokens[name].
std::string Members(string_view text, const Tokens& tokens, size_t name) {
  Columns columns(text);
  const size_t class_column = columns.Of(tokens[name - 1]);
  const size_t first = EndOfStatement(tokens, name);
  const size_t column = first < tokens.size() ? columns.Of(tokens[first]) : 0;
  std::string out;
  size_t members = 0;
  for (size_t at = first, end = first; at < tokens.size() && members < kMaxMembers; at = end) {
    end = EndOfStatement(tokens, at);
    const size_t indentation = columns.Of(tokens[at]);
    if (column <= class_column || indentation < column) break;
    if (indentation > column) continue;
    if (Is(tokens, at, "def") && at + 1 < end) {
      absl::StrAppend(&out, "#     ", Head(tokens, at + 1, tokens[at + 1].text), "\n");
      ++members;
    } else if (tokens[at].kind == Token::kName &&
               (Is(tokens, at + 1, ":") || Is(tokens, at + 1, "="))) {
      const std::string field = OnOneLine(tokens, at, end);
      if (field.size() > kMaxField || absl::StrContains(field, '\n')) continue;
      absl::StrAppend(&out, "#     ", field, "\n");
      ++members;
    }
  }
  return out;
}

std::string AsComment(string_view lines) {
  std::string out;
  for (const string_view line : absl::StrSplit(lines, '\n')) {
    const string_view ended = absl::StripTrailingAsciiWhitespace(line);
    if (!ended.empty()) absl::StrAppend(&out, "# ", ended, "\n");
  }
  return out;
}

// A statement that is no def and no class. One that begins with the name begins with what is shown
// for it; after another stands an assignment.
std::string Statement(string_view text, const Tokens& tokens, string_view name, string_view shown) {
  const std::optional<std::string> whole = code::AtModuleLevel(text);
  std::string lines = AsComment(whole ? *whole : text);
  const bool begins = !tokens.empty() && tokens.front().text == name &&
                      absl::StartsWith(lines, absl::StrCat("# ", name));
  if (shown != name && begins) {
    lines = absl::StrCat("# ", shown, string_view(lines).substr(2 + name.size()));
  } else if (shown != name) {
    absl::StrAppend(&lines, "# ", shown, " = ", name, "\n");
  }
  const bool long_lines =
      static_cast<size_t>(std::count(lines.begin(), lines.end(), '\n')) > kMaxStatementLines;
  if (lines.size() > kMaxStatement || long_lines) return absl::StrCat("# ", shown, " = ...\n");
  return lines;
}

}  // namespace

std::string Outline(string_view text, string_view name, string_view shown) {
  const std::string unix = code::WithUnixLineEnds(text);
  const Tokens tokens = LexedCode(unix);
  for (size_t at = 0; at + 1 < tokens.size(); ++at) {
    if (tokens[at + 1].text != name || tokens[at + 1].begins_statement) continue;
    const bool is_class = tokens[at].text == "class";
    if (!is_class && tokens[at].text != "def") continue;
    return absl::StrCat("# ", Head(tokens, at + 1, shown), "\n",
                        is_class ? Members(unix, tokens, at + 1) : "");
  }
  return Statement(unix, tokens, name, shown);
}

}  // namespace kernelmill::extractor
