#include "services/extractor/core/tags/code_text.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "common/code/brackets.h"

namespace kernelmill::extractor {
namespace {

using absl::string_view;
using Words = absl::flat_hash_set<string_view>;

// Keywords of both languages in one list: a keyword of one is rarely a name in the other.
const Words& Keywords() {
  static const auto& words = *new Words(
      {"if",     "else",   "elif",   "for",   "while",  "not",      "and",      "or",
       "is",     "in",     "return", "as",    "lambda", "def",      "with",     "None",
       "True",   "False",  "pass",   "break", "assert", "continue", "const",    "static",
       "inline", "auto",   "int",    "float", "double", "unsigned", "void",     "bool",
       "char",   "long",   "short",  "class", "size_t", "template", "typename", "struct",
       "using",  "switch", "catch",  "do",    "case",   "del",      "global",   "nonlocal"});
  return words;
}

// Returns whether a Python statement with this first word has a block.
bool BeginsBlock(string_view word) {
  static const auto& words = *new Words(
      {"if", "else", "elif", "for", "while", "try", "with", "except", "finally", "def", "async"});
  return words.contains(word);
}

}  // namespace

CodeText::CodeText(string_view text, code::Language language)
    : text_(text), language_(language), tokens_(code::Lex(text, language)) {
  std::erase_if(tokens_,
                [](const code::Token& token) { return token.kind == code::Token::kComment; });
  closes_ = code::MatchBrackets(tokens_);
}

bool CodeText::IsName(size_t at) const {
  return tokens_[at].kind == code::Token::kName && !Keywords().contains(tokens_[at].text);
}

size_t CodeText::FindClose(size_t open, size_t end) const {
  return std::min(closes_[open], end > 0 ? end - 1 : 0);
}

// Returns the number of blanks and tabs before the token, which is the first of its line.
size_t CodeText::Column(size_t at) const {
  const size_t place = static_cast<size_t>(tokens_[at].text.data() - text_.data());
  size_t begin = place;
  while (begin > 0 && (text_[begin - 1] == ' ' || text_[begin - 1] == '\t')) --begin;
  return place - begin;
}

// C statements end with ';' outside parentheses and with braces. Python statements begin where the
// lexer says so, and a block's header ends with the first ':' outside brackets.
std::vector<TokenSpan> CodeText::Statements(TokenSpan span) const {
  std::vector<TokenSpan> statements;
  size_t begin = span.begin;
  const auto end_at = [&](size_t end) {
    if (end > begin) statements.push_back({begin, end});
  };
  size_t inner = 0;  // end of the brackets around `at`
  for (size_t at = span.begin; at < span.end; ++at) {
    const string_view token = tokens_[at].text;
    if (is_c()) {
      if (token == "(" || token == "[") inner = std::max(inner, FindClose(at, span.end));
      const bool separates = token == "{" || token == "}" || (token == ";" && at >= inner);
      if (!separates) continue;
      end_at(at);
      begin = at + 1;
      continue;
    }
    if (BeginsStatement(at)) {
      end_at(at);
      begin = token == ";" ? at + 1 : at;
      inner = at;
    }
    if (code::IsOpeningBracket(token)) inner = std::max(inner, FindClose(at, span.end));
    if (token == ":" && at > inner && begin < at && BeginsBlock(tokens_[begin].text)) {
      end_at(at);
      begin = at + 1;
    }
  }
  end_at(span.end);
  return statements;
}

absl::flat_hash_map<string_view, TokenSpan> CodeText::Functions() const {
  absl::flat_hash_map<string_view, TokenSpan> functions;
  if (is_c()) {
    AddCFunctions(functions);
  } else {
    AddPythonFunctions(functions);
  }
  return functions;
}

// A Python function ends at the next statement that is indented no further than its `def`. The
// functions whose end has not come yet are on a stack, the innermost last.
void CodeText::AddPythonFunctions(absl::flat_hash_map<string_view, TokenSpan>& functions) const {
  struct Open {
    size_t column;
    string_view name;
    size_t begin;
  };
  std::vector<Open> open;
  const auto close_to = [&](size_t column, size_t end) {
    for (; !open.empty() && open.back().column >= column; open.pop_back()) {
      functions.try_emplace(open.back().name, TokenSpan{open.back().begin, end});
    }
  };
  for (size_t at = 0; at < tokens_.size(); ++at) {
    if (!BeginsStatement(at) || tokens_[at].text == ";") continue;
    const size_t column = Column(at);
    if (!code::IsClosingBracket(tokens_[at].text)) close_to(column, at);
    size_t def = at;
    if (tokens_[def].text == "async" && def + 1 < tokens_.size()) ++def;
    if (tokens_[def].text != "def" || def + 1 >= tokens_.size()) continue;
    open.push_back({column, tokens_[def + 1].text, def + 2});
  }
  close_to(0, tokens_.size());
}

// A C function is a name, parameters, a few qualifiers such as const, and a body.
void CodeText::AddCFunctions(absl::flat_hash_map<string_view, TokenSpan>& functions) const {
  constexpr size_t kMaxQualifiers = 3;  // between the parameters and the body
  for (size_t at = 0; at + 1 < tokens_.size(); ++at) {
    if (!IsName(at) || tokens_[at + 1].text != "(") continue;
    const size_t close = closes_[at + 1];
    // The qualifiers between the parameters and the body.
    size_t body = close + 1;
    while (body < tokens_.size() && body <= close + kMaxQualifiers &&
           tokens_[body].kind == code::Token::kName) {
      ++body;
    }
    if (body >= tokens_.size() || tokens_[body].text != "{") continue;
    const size_t end = std::min(closes_[body] + 1, tokens_.size());
    functions.try_emplace(tokens_[at].text, TokenSpan{at + 1, end});
    at = end - 1;  // C has no functions in functions
  }
}

// Returns whether the name begins a call with template arguments: name<...>(
bool CodeText::IsTemplateCall(size_t name, size_t end) const {
  // Bounds the look ahead at each `<`, which may be a comparison.
  constexpr size_t kMaxArguments = 40;
  int depth = 0;
  for (size_t at = name + 1; at < std::min(end, name + kMaxArguments); ++at) {
    const string_view token = tokens_[at].text;
    if (token == "<") ++depth;
    if (token == ">") --depth;
    if (token == ">>") depth -= 2;
    if (token == ";" || token == "{") return false;
    if (depth <= 0) return at + 1 < end && tokens_[at + 1].text == "(";
  }
  return false;
}

// Counts names before '(', except names of definitions. In C there may be template arguments
// between. In Python an '@' between two operands is counted as a call of "@".
void CodeText::CountCalls(TokenSpan span, CallCounts& calls) const {
  for (size_t at = span.begin; at + 1 < span.end; ++at) {
    const string_view next = tokens_[at + 1].text;
    if (tokens_[at].text == "@" && at > span.begin && !BeginsStatement(at)) {
      const bool operand = IsName(at - 1) || code::IsClosingBracket(tokens_[at - 1].text);
      if (operand && !is_c()) ++calls["@"];
    } else if (IsName(at) && !(at > span.begin && tokens_[at - 1].text == "def") &&
               (next == "(" || (next == "<" && is_c() && IsTemplateCall(at, span.end)))) {
      ++calls[tokens_[at].text];
    }
  }
}

}  // namespace kernelmill::extractor
