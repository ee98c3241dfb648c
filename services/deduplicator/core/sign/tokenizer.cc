// The basic idea: remove from the tokens everything that does not change what the code does, and
// find the names that its author chose freely. Both work on tokens alone, without a parser, so that
// they work for broken files and need only linear time.

#include "services/deduplicator/core/sign/tokenizer.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "common/base/word_list.h"

namespace kernelmill::deduplicator {

// Returns the tokens without comments and, in Python, without statements that are one string
// (docstrings). Linear; kept tokens move to the front of the same vector.
std::vector<Token> Tokenize(absl::string_view source, Language language) {
  std::vector<Token> tokens = code::Lex(source, language);
  size_t size = 0;       // the number of kept tokens, which move to the front
  size_t statement = 0;  // the first token of the last kept statement
  const auto end_statement = [&] {
    const bool documents = size == statement + 1 && tokens[statement].kind == Token::kString;
    if (documents && language == Language::kPython) size = statement;
    statement = size;
  };
  for (const Token& token : tokens) {
    if (token.kind == Token::kComment) continue;
    if (token.begins_statement) end_statement();
    tokens[size++] = token;
  }
  end_statement();
  tokens.resize(size);
  return tokens;
}

namespace {

using absl::string_view;
using Names = absl::flat_hash_set<string_view>;

// The tokens for which a list of parameters or of a loop's targets is followed. The limit keeps the
// time linear for text such as "for for for".
constexpr size_t kReach = 1024;

bool IsName(const Token& token) { return token.kind == Token::kName; }

bool Is(const Token& token, string_view text) { return token.text == text; }

int DepthChange(const Token& token) {
  if (token.kind != Token::kOperator) return 0;
  if (Is(token, "(") || Is(token, "[") || Is(token, "{")) return 1;
  return Is(token, ")") || Is(token, "]") || Is(token, "}") ? -1 : 0;
}

// Returns true for "=", "+=", ":=" and the like, but not for comparisons.
bool IsAssignment(const Token& token) {
  if (token.kind != Token::kOperator || token.text.back() != '=') return false;
  return !Is(token, "==") && !Is(token, "!=") && !Is(token, "<=") && !Is(token, ">=");
}

// Returns true for a word that begins a block: its ':' ends the header and is no annotation.
constexpr string_view kBlockWords[] = {"if",    "elif",  "else",   "for",     "while",
                                       "with",  "try",   "except", "finally", "def",
                                       "class", "async", "match",  "case"};
bool LeadsBlock(string_view word) { return IsAmong<kBlockWords>(word); }

// A single pass over the tokens of Python code that collects the names it binds. An assignment is
// known only at its '=', so that the pass remembers where the current statement's targets begin.
class PythonLocals {
 public:
  explicit PythonLocals(absl::Span<const Token> tokens) : tokens_(tokens) {}

  Names Run() {
    for (size_t i = 0; i < tokens_.size(); ++i) Step(i);
    return std::move(names_);
  }

 private:
  void Step(size_t i) {
    const Token& token = tokens_[i];
    if (token.begins_statement) BeginStatement(i);
    depth_ += DepthChange(token);
    if (IsName(token)) {
      Keyword(i);
    } else if (Is(token, ":=")) {
      AddNames(i > 0 ? i - 1 : 0, i);
    } else if (depth_ == 0 && IsAssignment(token)) {
      AddNames(targets_, i);
      assigned_ = true;
      targets_ = i + 1;
    } else if (depth_ == 0 && Is(token, ":")) {
      if (leads_block_) {
        BeginStatement(i + 1);
      } else if (!assigned_) {  // x: int = 1
        AddNames(targets_, i);
        assigned_ = true;
        targets_ = tokens_.size();
      }
    }
  }

  void BeginStatement(size_t first) {
    targets_ = first;
    assigned_ = false;
    depth_ = 0;
    leads_block_ = first < tokens_.size() && LeadsBlock(tokens_[first].text);
  }

  void Keyword(size_t i) {
    const string_view word = tokens_[i].text;
    if (word == "def") {
      AddNames(i + 1, i + 2);
      AddParameters(i + 2, 1, ")");
    } else if (word == "class" || word == "as") {
      AddNames(i + 1, i + 2);
    } else if (word == "lambda") {
      AddParameters(i, 0, ":");
    } else if (word == "for") {
      size_t end = i + 1;
      const size_t limit = std::min(tokens_.size(), i + kReach);
      while (end < limit && !Is(tokens_[end], "in") && !tokens_[end].begins_statement) ++end;
      AddNames(i + 1, end);
    }
  }

  // Adds the names of a target, except attributes and what is inside a subscript.
  void AddNames(size_t begin, size_t end) {
    int subscript = 0;
    for (size_t i = begin; i < end && i < tokens_.size(); ++i) {
      if (Is(tokens_[i], "[")) ++subscript;
      if (Is(tokens_[i], "]")) --subscript;
      const bool is_attribute = i > 0 && Is(tokens_[i - 1], ".");
      const bool has_attribute = i + 1 < tokens_.size() && Is(tokens_[i + 1], ".");
      // A list of targets begins with its bracket; a subscript follows the thing it indexes.
      if (subscript > 0 && !Is(tokens_[begin], "[")) continue;
      if (IsName(tokens_[i]) && !is_attribute && !has_attribute) names_.insert(tokens_[i].text);
    }
  }

  // Adds the names that begin a parameter: those at bracket `depth`, counted from `first`, after
  // the opening bracket or a comma. Stops at the token `end` at that depth.
  void AddParameters(size_t first, int depth, string_view end) {
    int at = 0;
    bool expected = depth == 0;
    const size_t limit = std::min(tokens_.size(), first + kReach);
    for (size_t i = first + (depth == 0 ? 1 : 0); i < limit; ++i) {
      if (at == depth && Is(tokens_[i], end)) return;
      at += DepthChange(tokens_[i]);
      if (at < depth) return;
      if (at != depth) continue;
      if (expected && IsName(tokens_[i])) {
        names_.insert(tokens_[i].text);
        expected = false;
      } else if (Is(tokens_[i], ",") || (at == 1 && Is(tokens_[i], "(") && i == first)) {
        expected = true;
      }
    }
  }

  const absl::Span<const Token> tokens_;
  Names names_;
  size_t targets_ = 0;     // the first token that can be an assignment's target
  bool assigned_ = false;  // the statement had a '=' or the ':' of an annotation
  int depth_ = 0;
  bool leads_block_ = false;
};

// Words that an expression may follow: they are no types.
constexpr string_view kStatementWords[] = {"return", "case",      "goto",     "else",
                                           "throw",  "new",       "delete",   "sizeof",
                                           "using",  "namespace", "operator", "co_return"};

constexpr string_view kTypeWords[] = {"int",   "float",    "double",  "char", "long",
                                      "short", "unsigned", "signed",  "bool", "void",
                                      "auto",  "const",    "volatile"};

// Collects the names that C code declares or assigns, from each word's neighbours alone.
Names CLocals(absl::Span<const Token> tokens) {
  Names names;
  for (size_t i = 1; i + 1 < tokens.size(); ++i) {
    const Token& before = tokens[i - 1];
    const Token& after = tokens[i + 1];
    if (!IsName(tokens[i]) || after.kind != Token::kOperator) continue;
    if (IsAmong<kTypeWords>(tokens[i].text)) continue;
    if (Is(before, ".") || Is(before, "->") || Is(before, "::")) continue;
    const bool declared = (IsName(before) && !IsAmong<kStatementWords>(before.text)) ||
                          Is(before, "*") || Is(before, "&") || Is(before, ">") || Is(before, "&&");
    const bool ends = after.text.size() == 1 && absl::StrContains("=;,)[{:", after.text);
    const bool is_parameter_type = Is(before, "typename") || Is(before, "class");
    if (IsAssignment(after) || (declared && ends) || is_parameter_type)
      names.insert(tokens[i].text);
  }
  return names;
}

// Marks each token that names an argument of a call: f(mask=m), but not def f(mask=None).
std::vector<bool> MarkKeywords(absl::Span<const Token> tokens) {
  std::vector<bool> marks(tokens.size());
  int depth = 0;
  bool in_signature = false;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].begins_statement) depth = 0;
    depth += DepthChange(tokens[i]);
    if (Is(tokens[i], "def")) in_signature = true;
    if (depth == 0 && Is(tokens[i], ")")) in_signature = false;
    if (!in_signature && depth > 0) marks[i] = IsName(tokens[i]) && Is(tokens[i + 1], "=");
  }
  return marks;
}

}  // namespace

// Marks the tokens that are names which the code binds itself. Attributes and keywords of calls are
// part of an interface, so they stay.
std::vector<bool> MarkLocalNames(absl::Span<const Token> tokens, Language language,
                                 string_view kernel_name) {
  Names names = LocalNames(tokens, language);
  names.insert(kernel_name);
  const std::vector<bool> keywords =
      language == Language::kPython ? MarkKeywords(tokens) : std::vector<bool>(tokens.size());
  std::vector<bool> marks(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool is_attribute = i > 0 && (Is(tokens[i - 1], ".") || Is(tokens[i - 1], "->"));
    marks[i] = IsName(tokens[i]) && !is_attribute && !keywords[i] && names.contains(tokens[i].text);
  }
  return marks;
}

Names LocalNames(absl::Span<const Token> tokens, Language language) {
  return language == Language::kC ? CLocals(tokens) : PythonLocals(tokens).Run();
}

}  // namespace kernelmill::deduplicator
