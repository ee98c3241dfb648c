#include "services/extractor/core/link/decorators.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/code/brackets.h"
#include "common/code/lexer.h"
#include "common/code/python.h"
#include "services/extractor/core/link/statements.h"

namespace kernelmill::extractor {
namespace {

using absl::string_view;
using code::Token;
using Words = absl::flat_hash_set<std::string>;

// Adds the names that the tokens [begin, end) may read.
void AddWords(const Tokens& tokens, size_t begin, size_t end, Words& words) {
  for (size_t at = begin; at < end; ++at) {
    const Token& token = tokens[at];
    if (token.kind == Token::kString && code::HasFields(token.text)) {
      const Tokens inner = LexCode(code::PythonStringContent(token.text));
      for (const Token& word : inner) {
        if (word.kind == Token::kName) words.emplace(word.text);
      }
    }
    if (token.kind != Token::kName || (at > begin && Is(tokens, at - 1, "."))) continue;
    if (!IsKeyword(tokens, at)) words.emplace(token.text);
  }
}

size_t Offset(string_view text, const char* at) { return static_cast<size_t>(at - text.data()); }

// "\n", "\r" and "\r\n" each end a line, as everywhere in this project.
int CountLineEnds(string_view text) {
  int lines = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool ends = text[at] == '\n' || (text[at] == '\r' && text.substr(at + 1, 1) != "\n");
    lines += ends ? 1 : 0;
  }
  return lines;
}

size_t BeginOfLine(string_view text, size_t at) {
  while (at > 0 && text[at - 1] != '\n' && text[at - 1] != '\r') --at;
  return at;
}

size_t EndOfLine(string_view text, size_t at) {
  while (at < text.size() && text[at] != '\n' && text[at] != '\r') ++at;
  if (text.substr(at, 2) == "\r\n") return at + 2;
  return std::min(at + 1, text.size());
}

// Reads the decorator of tokens [at, end), which begin with '@'. `before` is the one before it,
// from which lines are counted; null for the first.
Decorator ReadDecorator(string_view text, const Tokens& tokens, size_t at, size_t end,
                        const Decorator* before) {
  Decorator decorator;
  const size_t sign = Offset(text, tokens[at].text.data());
  if (at + 1 < end) {
    decorator.begin = Offset(text, tokens[at + 1].text.data());
    const string_view last = tokens[end - 1].text;
    const size_t end_of_last = Offset(text, last.data() + last.size());
    decorator.text = std::string(text.substr(decorator.begin, end_of_last - decorator.begin));
  } else {
    decorator.begin = sign + 1;
  }
  decorator.line_begin = BeginOfLine(text, sign);
  decorator.line_end = EndOfLine(text, decorator.end());
  const size_t counted = before == nullptr ? 0 : before->line_begin;
  decorator.first_line = (before == nullptr ? 0 : before->first_line) +
                         CountLineEnds(text.substr(counted, sign - counted));
  decorator.last_line =
      decorator.first_line + CountLineEnds(text.substr(sign, decorator.end() - sign));
  for (size_t name = at + 1; name < end && tokens[name].kind == Token::kName; name += 2) {
    absl::StrAppend(&decorator.callee, name > at + 1 ? "." : "", tokens[name].text);
    if (!Is(tokens, name + 1, ".")) break;
  }
  AddWords(tokens, at + 1, end, decorator.words);
  return decorator;
}

}  // namespace

// A decorator is a statement for the lexer, so that the text is read statement by statement up to
// its def.
std::optional<DecoratedFunction> ReadDecoratedFunction(string_view function) {
  if (function.find('@') == string_view::npos) return std::nullopt;
  const Tokens tokens = LexCode(function);
  DecoratedFunction parts;
  size_t at = 0;
  while (Is(tokens, at, "@")) {
    const size_t end = EndOfStatement(tokens, at);
    const Decorator* const before = parts.decorators.empty() ? nullptr : &parts.decorators.back();
    parts.decorators.push_back(ReadDecorator(function, tokens, at, end, before));
    at = end;
  }
  if (Is(tokens, at, "async")) ++at;
  const bool is_function = Is(tokens, at, "def") && at + 1 < tokens.size();
  if (parts.decorators.empty() || !is_function) return std::nullopt;
  parts.name = std::string(tokens[at + 1].text);
  AddWords(tokens, at + 2, tokens.size(), parts.words);
  return parts;
}

Words ReadNames(string_view text) {
  const Tokens tokens = LexCode(text);
  Words words;
  AddWords(tokens, 0, tokens.size(), words);
  return words;
}

// The argument is at depth 1, and ends with the comma or the bracket at this depth.
std::string FindKeywordArgument(string_view call, string_view keyword) {
  const Tokens tokens = LexCode(call);
  int depth = 0;
  for (size_t at = 0; at < tokens.size(); ++at) {
    depth += code::BracketDepthChange(tokens[at].text);
    if (depth != 1 || tokens[at].text != keyword || !IsKeyword(tokens, at)) continue;
    const size_t first = at + 2;
    size_t end = first;
    for (; end < tokens.size(); ++end) {
      if (depth == 1 && (Is(tokens, end, ",") || code::IsClosingBracket(tokens[end].text))) break;
      depth += code::BracketDepthChange(tokens[end].text);
    }
    if (end == first || end >= tokens.size()) return "";
    const string_view last = tokens[end - 1].text;
    const char* begin = tokens[first].text.data();
    return std::string(begin, last.data() + last.size());
  }
  return "";
}

std::string ApplyEdits(string_view text, const std::vector<TextEdit>& edits) {
  std::string edited;
  size_t at = 0;
  for (const TextEdit& edit : edits) {
    absl::StrAppend(&edited, text.substr(at, edit.begin - at), edit.replacement);
    at = edit.end;
  }
  absl::StrAppend(&edited, text.substr(at));
  return edited;
}

}  // namespace kernelmill::extractor
