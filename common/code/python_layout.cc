#include "common/code/python_layout.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "common/code/lexer.h"

namespace kernelmill::code {
namespace {

using absl::string_view;

size_t BeginOf(const Token& token, string_view text) {
  return static_cast<size_t>(token.text.data() - text.data());
}

size_t EndOf(const Token& token, string_view text) {
  return BeginOf(token, text) + token.text.size();
}

size_t AfterLine(string_view text, size_t at) {
  return std::min(text.find('\n', at), text.size() - 1) + 1;
}

size_t CommonPrefix(string_view a, string_view b) {
  const size_t size = std::min(a.size(), b.size());
  size_t common = 0;
  while (common < size && a[common] == b[common]) ++common;
  return common;
}

bool IsMethodDecorator(string_view name) { return name == "staticmethod" || name == "classmethod"; }

// Where the decorator that begins with tokens[at], an '@', ends: one past its last token.
size_t EndOfDecorator(const std::vector<Token>& tokens, size_t at) {
  do ++at;
  while (at < tokens.size() && !tokens[at].begins_statement);
  return at;
}

std::string WithoutMethodDecorators(string_view text) {
  const std::vector<Token> tokens = Lex(text, Language::kPython);
  std::string out;
  size_t copied = 0;
  for (size_t at = 0; at < tokens.size();) {
    if (tokens[at].kind == Token::kComment) {
      ++at;
      continue;
    }
    if (tokens[at].text != "@") break;
    const size_t end = EndOfDecorator(tokens, at);
    // Comments may follow the name; nothing else.
    const bool plain =
        at + 1 < end && IsMethodDecorator(tokens[at + 1].text) &&
        std::all_of(tokens.begin() + static_cast<std::ptrdiff_t>(at) + 2,
                    tokens.begin() + static_cast<std::ptrdiff_t>(end),
                    [](const Token& token) { return token.kind == Token::kComment; });
    if (plain) {
      const size_t begin = BeginOf(tokens[at], text);
      out.append(text.data() + copied, begin - copied);
      copied = AfterLine(text, EndOf(tokens[at + 1], text));
    }
    at = end;
  }
  out.append(text.data() + copied, text.size() - copied);
  return out;
}

}  // namespace

std::string WithUnixLineEnds(string_view text) {
  if (text.find('\r') == string_view::npos) return std::string(text);
  return absl::StrReplaceAll(text, {{"\r\n", "\n"}, {"\r", "\n"}});
}

std::optional<std::string> DedentPython(string_view text) {
  const size_t column = std::min(text.find_first_not_of(" \t"), text.size());
  if (column == 0) return std::string(text);
  const string_view prefix = text.substr(0, column);
  const std::vector<Token> tokens = Lex(text, Language::kPython);
  std::string out;
  out.reserve(text.size());
  size_t next = 0;  // the first token that ends after the line begins
  for (size_t begin = 0, after = 0; begin < text.size(); begin = after) {
    after = AfterLine(text, begin);
    string_view line = text.substr(begin, after - begin);
    while (next < tokens.size() && EndOf(tokens[next], text) <= begin) ++next;
    const size_t first = next < tokens.size() ? BeginOf(tokens[next], text) : text.size();
    if (first >= begin) {
      const size_t common = CommonPrefix(line, prefix);
      const bool statement = first < after && tokens[next].begins_statement;
      if (statement && common < column) return std::nullopt;
      line.remove_prefix(common);
    }
    out.append(line.data(), line.size());
  }
  return out;
}

std::optional<std::string> AtModuleLevel(string_view statement) {
  absl::ConsumePrefix(&statement, "\xef\xbb\xbf");
  std::string text = WithUnixLineEnds(statement);
  if (text.empty() || text.back() != '\n') text += '\n';
  const std::optional<std::string> dedented = DedentPython(text);
  if (!dedented) return std::nullopt;
  return WithoutMethodDecorators(*dedented);
}

size_t BeginOfLastLines(string_view text, size_t lines) {
  size_t begin = text.size();
  for (; lines > 0 && begin > 0; --lines) {
    const size_t newline = begin < 2 ? string_view::npos : text.rfind('\n', begin - 2);
    begin = newline == string_view::npos ? 0 : newline + 1;
  }
  return begin;
}

}  // namespace kernelmill::code
