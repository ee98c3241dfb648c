// The basic idea: C's statements are cut at their brackets and semicolons, and its expressions are
// read by precedence, without a symbol table. If only a declaration could tell what a text means,
// the usual meaning is taken: (T)x is a cast if T looks like a type. A statement that cannot
// be read is taken as a call with all its names, which is the same for a copy of it.

#include "services/deduplicator/core/computation/c_reader.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "common/base/word_list.h"
#include "common/code/brackets.h"
#include "common/code/lexer.h"

namespace kernelmill::deduplicator {
namespace {

using absl::string_view;
using code::Token;
using python::Expression;

constexpr int kMaxDepth = 128;             // blocks, or brackets, in each other
constexpr size_t kMaxTemplateTokens = 64;  // between '<' and '>'

constexpr string_view kTypes[] = {
    "int",    "float",  "double",         "char",         "long",  "short",       "unsigned",
    "signed", "bool",   "void",           "half",         "half2", "__half",      "__half2",
    "float2", "float4", "int2",           "int4",         "uint",  "nv_bfloat16", "__nv_bfloat16",
    "bf16",   "T",      "__nv_bfloat162", "nv_bfloat162", "uint2", "uint4",       "float3"};

constexpr string_view kQualifiers[] = {"const",    "constexpr",    "static",       "volatile",
                                       "register", "__shared__",   "__restrict__", "extern",
                                       "inline",   "__constant__", "typename",     "struct"};

// Words that begin a statement which computes nothing here.
constexpr string_view kDeclaring[] = {"using", "typedef",  "template", "static_assert",
                                      "class", "struct",   "enum",     "friend",
                                      "goto",  "namespace"};

constexpr string_view kAssignments[] = {
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};

// The levels of precedence, loosest first.
int GetPrecedence(string_view op) {
  static constexpr string_view kLevels[] = {"||",    "&&",        "|",     "^",   "&",
                                            "== !=", "< > <= >=", "<< >>", "+ -", "* / %"};
  for (int level = 0; level < static_cast<int>(std::size(kLevels)); ++level) {
    string_view ops = kLevels[level];
    while (!ops.empty()) {
      const string_view one = ops.substr(0, ops.find(' '));
      if (one == op) return level;
      ops.remove_prefix(std::min(ops.size(), one.size() + 1));
    }
  }
  return -1;
}

bool IsTypeName(string_view name) { return IsAmong<kTypes>(name) || absl::EndsWith(name, "_t"); }

class CReader {
 public:
  CReader(string_view source, Interpreter* interpreter)
      : source_(source), tokens_(GetTokens(source)), interpreter_(*interpreter) {
    closing_ = code::MatchBrackets(tokens_);
  }

  bool Run(string_view name) {
    end_ = tokens_.size();
    size_t parameters = tokens_.size();
    for (size_t at = 0; at + 1 < tokens_.size() && parameters == tokens_.size(); ++at) {
      if (!Is(at, name)) continue;
      const size_t after = Is(at + 1, "<") ? FindTemplateEnd(at + 1) : at + 1;
      if (Is(after, "(")) parameters = after;
    }
    if (parameters == tokens_.size()) return false;
    const size_t end = closing_[parameters];
    if (end >= tokens_.size()) return false;
    AddParameters(parameters + 1, end);
    const size_t body = code::FindOutsideBrackets(tokens_, end + 1, tokens_.size(), ";");
    size_t open = end + 1;
    while (open < body && !Is(open, "{")) ++open;
    if (open >= tokens_.size() || !Is(open, "{") || closing_[open] >= tokens_.size()) return false;
    RunBlock(open + 1, closing_[open]);
    return !too_deep_;
  }

 private:
  static std::vector<Token> GetTokens(string_view source) {
    std::vector<Token> tokens;
    for (const Token& token : code::Lex(source, code::Language::kC)) {
      if (token.kind != Token::kComment) tokens.push_back(token);
    }
    return tokens;
  }

  bool Is(size_t at, string_view text) const {
    return at < tokens_.size() && tokens_[at].text == text;
  }
  bool IsName(size_t at) const { return at < tokens_.size() && tokens_[at].kind == Token::kName; }

  // A parameter's name is the last one before its default or its bounds.
  void AddParameters(size_t begin, size_t end) {
    string_view name;
    bool named = false;
    int angles = 0;
    for (size_t at = begin; at <= end; ++at) {
      if (Is(at, "<")) ++angles;
      if (Is(at, ">")) --angles;
      if (at == end || (Is(at, ",") && angles <= 0)) {
        if (!name.empty()) interpreter_.AddParameter(name);
        name = "";
        named = false;
        continue;
      }
      if (Is(at, "=") || Is(at, "[")) named = true;
      if (IsName(at) && !named && !IsTypeName(tokens_[at].text)) name = tokens_[at].text;
      if (closing_[at] > at && closing_[at] < end) at = closing_[at];
    }
  }

  // Statements.

  void RunBlock(size_t begin, size_t end) {
    if (++depth_ > kMaxDepth) too_deep_ = true;
    while (begin < end && !too_deep_ && !interpreter_.IsExhausted()) {
      const size_t next = std::min(end, FindEnd(begin, end, 0));
      RunStatement(begin, next);
      begin = std::max(next, begin + 1);
    }
    --depth_;
  }

  // Returns the end of a directive: its line's.
  size_t FindDirectiveEnd(size_t at, size_t end) const {
    size_t line = tokens_[at].text.data() - source_.data();
    while (true) {
      line = source_.find('\n', line);
      if (line == string_view::npos) return end;
      if (source_[line - 1] != '\\') break;
      ++line;
    }
    while (at < end && static_cast<size_t>(tokens_[at].text.data() - source_.data()) < line) ++at;
    return at;
  }

  // Returns the index after the statement at `at`.
  size_t FindEnd(size_t at, size_t end, int depth) {
    if (at >= end) return end;
    if (depth > kMaxDepth) {
      too_deep_ = true;
      return end;
    }
    if (Is(at, "{")) return std::min(end, closing_[at] + 1);
    if (Is(at, "#")) return FindDirectiveEnd(at, end);
    if (Is(at, "if") || Is(at, "for") || Is(at, "while") || Is(at, "switch")) {
      const size_t open = Is(at + 1, "constexpr") ? at + 2 : at + 1;
      if (!Is(open, "(")) return FindSemicolon(at, end);
      const size_t body = FindEnd(std::min(end, closing_[open] + 1), end, depth + 1);
      if (!Is(at, "if") || body >= end || !Is(body, "else")) return body;
      return FindEnd(body + 1, end, depth + 1);
    }
    if (Is(at, "do")) return FindSemicolon(FindEnd(at + 1, end, depth + 1), end);
    if (Is(at, "case") || Is(at, "default")) {
      return std::min(end, code::FindOutsideBrackets(tokens_, at, end, ":") + 1);
    }
    return FindSemicolon(at, end);
  }

  size_t FindSemicolon(size_t at, size_t end) const {
    return std::min(end, code::FindOutsideBrackets(tokens_, std::min(at, end), end, ";") + 1);
  }

  void RunStatement(size_t begin, size_t end) {
    if (Is(begin, "{")) return RunBlock(begin + 1, std::min(end, closing_[begin]));
    if (Is(begin, "#") || Is(begin, ";") || Is(begin, "case") || Is(begin, "default")) return;
    if (Is(begin, "if")) return RunIf(begin, end);
    if (Is(begin, "for")) return RunFor(begin, end);
    if (Is(begin, "while") || Is(begin, "switch")) {
      const size_t body = closing_[std::min(begin + 1, end - 1)] + 1;
      if (Is(begin, "switch")) return RunBlock(body, end);
      const Expression& condition = ReadWhole(begin + 2, std::max(begin + 2, body - 1));
      return interpreter_.LoopWhile(condition, [&] { RunBlock(body, end); });
    }
    if (Is(begin, "do")) {
      const size_t body = FindEnd(begin + 1, end, 0);
      return interpreter_.Loop([&] { RunBlock(begin + 1, body); });
    }
    if (Is(begin, "break") || Is(begin, "continue")) return interpreter_.Leave();
    if (end > begin && Is(end - 1, ";")) --end;
    if (Is(begin, "return")) {
      if (begin + 1 >= end) return interpreter_.Leave();
      return interpreter_.Return(ReadWhole(begin + 1, end));
    }
    if (!IsAmong<kDeclaring>(tokens_[begin].text)) RunSimple(begin, end);
  }

  void RunIf(size_t begin, size_t end) {
    const size_t open = Is(begin + 1, "constexpr") ? begin + 2 : begin + 1;
    if (!Is(open, "(")) return;
    const size_t then = closing_[open] + 1;
    const size_t then_end = FindEnd(then, end, 0);
    const Expression& condition = ReadWhole(open + 1, std::min(end, closing_[open]));
    interpreter_.Branch(
        condition, [&] { RunBlock(then, then_end); },
        [&] {
          if (then_end < end && Is(then_end, "else")) RunBlock(then_end + 1, end);
        });
  }

  void RunFor(size_t begin, size_t end) {
    const size_t open = begin + 1;
    if (!Is(open, "(")) return;
    const size_t close = std::min(end, closing_[open]);
    const size_t first = code::FindOutsideBrackets(tokens_, open + 1, close, ";");
    if (first == close) {  // for (auto x : values)
      const size_t colon = code::FindOutsideBrackets(tokens_, open + 1, close, ":");
      if (colon == close || colon == open + 1 || !IsName(colon - 1)) return;
      const Expression& values = ReadWhole(colon + 1, close);
      return interpreter_.LoopOver(MakeName(colon - 1), values, [&] { RunBlock(close + 1, end); });
    }
    const size_t second = code::FindOutsideBrackets(tokens_, first + 1, close, ";");
    if (first > open + 1) RunSimple(open + 1, first);
    interpreter_.LoopWhile(ReadWhole(first + 1, second), [&] {
      RunBlock(close + 1, end);
      for (size_t at = second + 1; at < close;) {
        const size_t next = code::FindOutsideBrackets(tokens_, at, close, ",");
        RunSimple(at, next);
        at = next + 1;
      }
    });
  }

  // Returns the first assignment outside brackets.
  size_t FindAssignment(size_t begin, size_t end) const {
    for (size_t at = begin; at < end; ++at) {
      if (tokens_[at].kind == Token::kOperator && IsAmong<kAssignments>(tokens_[at].text))
        return at;
      if (closing_[at] > at) at = std::min(end, closing_[at]);
    }
    return end;
  }

  // Returns the name that the declaration of [begin, end) binds, by the index of its token; `end`
  // if it is no declaration.
  size_t FindDeclared(size_t begin, size_t end) const {
    size_t at = begin;
    size_t name = end;
    while (at < end) {
      if (IsName(at)) name = at;
      if (Is(at, "[") || Is(at, "{") || Is(at, "(")) break;
      ++at;
    }
    if (name == end || name == begin) return end;
    const bool follows_type = IsName(name - 1) || Is(name - 1, ">");
    const bool follows_mark = (Is(name - 1, "*") || Is(name - 1, "&") || Is(name - 1, "&&") ||
                               Is(name - 1, "__restrict__")) &&
                              name - 1 > begin;
    return follows_type || follows_mark ? name : end;
  }

  // Returns the arithmetic type of a declaration whose name is at `name`; empty for a pointer or a
  // class.
  string_view GetType(size_t begin, size_t name) const {
    string_view type;
    for (size_t at = begin; at < name; ++at) {
      const string_view text = tokens_[at].text;
      if (!IsName(at)) return "";
      if (!IsAmong<kQualifiers>(text)) type = text;
    }
    return type == "auto" ? "" : type;
  }

  // A declaration, an assignment or an expression.
  void RunSimple(size_t begin, size_t end) {
    if (begin >= end) return;
    if (absl::StrContains(tokens_[begin].text, "asm")) return RunUnread(begin, end);
    const size_t assignment = FindAssignment(begin, end);
    const size_t declared = FindDeclared(begin, assignment);
    if (declared != assignment) return RunDeclaration(begin, declared, end);
    if (assignment != end) {
      const Expression* target = Read(begin, assignment);
      const Expression& value = ReadWhole(assignment + 1, end);
      if (target == nullptr) return RunUnread(begin, end);
      string_view op = tokens_[assignment].text;
      if (!absl::ConsumeSuffix(&op, "=")) return;
      if (op.empty()) return interpreter_.Assign(*target, value);
      return interpreter_.Assign(*target, Make(Expression::kBinary, op, {target, &value}));
    }
    const bool before = Is(begin, "++") || Is(begin, "--");
    const bool after = Is(end - 1, "++") || Is(end - 1, "--");
    if (before || after) {
      const Expression* target = Read(begin + before, end - after);
      if (target == nullptr) return;
      const string_view op = tokens_[before ? begin : end - 1].text.substr(0, 1);
      return interpreter_.Assign(*target,
                                 Make(Expression::kBinary, op, {target, &MakeNumber("1")}));
    }
    const Expression* expression = Read(begin, end);
    if (expression == nullptr) return RunUnread(begin, end);
    interpreter_.Execute(*expression);
  }

  // Makes the name at `name` a reference, T& x = y[i], or a pointer to a variable, T* x = &y, if
  // that is what is declared. Through a constant one nothing changes.
  bool MakesReference(size_t begin, size_t name, const Expression& value) {
    for (size_t at = begin; at < name; ++at) {
      if (Is(at, "const")) return false;
    }
    const bool takes_address = value.kind == Expression::kUnary && value.name == "&";
    if (Is(name - 1, "*") && takes_address) {
      interpreter_.Refer(tokens_[name].text, *value.parts[0], /*is_pointer=*/true);
      return true;
    }
    const bool is_place = value.kind == Expression::kName || value.kind == Expression::kSubscript ||
                          value.kind == Expression::kAttribute ||
                          (value.kind == Expression::kUnary && value.name == "*");
    if (!Is(name - 1, "&") || !is_place) return false;
    interpreter_.Refer(tokens_[name].text, value, /*is_pointer=*/false);
    return true;
  }

  // float x = 1, *y, z[2] = {0}; the type is that of the first.
  void RunDeclaration(size_t begin, size_t name, size_t end) {
    const string_view type = GetType(begin, name);
    while (true) {
      const Expression& target = MakeName(name);
      interpreter_.Hide(target.name);
      const size_t next = FindNextDeclarator(name + 1, end);
      size_t at = name + 1;
      while (at < next && Is(at, "[")) at = std::min(next, closing_[at] + 1);
      if (at < next && Is(at, "=")) {
        const Expression& value = ReadWhole(at + 1, next);
        if (!MakesReference(begin, name, value)) interpreter_.Assign(target, value, type);
      } else if (at < next && (Is(at, "(") || Is(at, "{"))) {
        interpreter_.Assign(target, ReadWhole(at, next), type);
      } else {
        interpreter_.Declare(target.name, type);
      }
      if (next >= end) return;
      name = next + 1;
      while (name < end && (Is(name, "*") || Is(name, "&"))) ++name;
      if (name >= end) return;
    }
  }

  // Returns the comma before another name that is declared, or `end`. Commas also divide what is
  // between angle brackets.
  size_t FindNextDeclarator(size_t at, size_t end) const {
    for (; at < end; ++at) {
      if (closing_[at] > at) {
        at = std::min(end, closing_[at]);
        continue;
      }
      if (!Is(at, ",")) continue;
      size_t name = at + 1;
      while (name < end && (Is(name, "*") || Is(name, "&"))) ++name;
      if (!IsName(name)) continue;
      const size_t after = name + 1;
      if (after >= end || Is(after, "=") || Is(after, ",") || Is(after, "[")) return at;
    }
    return end;
  }

  // Takes a statement that cannot be read as a call with all its words.
  void RunUnread(size_t begin, size_t end) {
    std::vector<const Expression*> parts = {&Make(Expression::kOther, "", {}, "unread")};
    for (size_t at = begin; at < end; ++at) {
      const bool is_name = IsName(at) && !(at > begin && (Is(at - 1, ".") || Is(at - 1, "->")));
      parts.push_back(is_name ? &MakeName(at)
                              : &Make(Expression::kOther, "", {}, tokens_[at].text));
    }
    interpreter_.Execute(Make(Expression::kCall, "", std::move(parts), "unread"));
  }

  // Expressions.

  const Expression& Make(Expression::Kind kind, string_view name,
                         std::vector<const Expression*> parts, string_view text = "") {
    Expression& made = arena_.emplace_back();
    made.kind = kind;
    made.text = text;
    made.name = name;
    made.parts = std::move(parts);
    return made;
  }
  const Expression& MakeName(size_t at) {
    return Make(Expression::kName, tokens_[at].text, {}, tokens_[at].text);
  }
  const Expression& MakeNumber(string_view text) { return Make(Expression::kNumber, "", {}, text); }

  // Returns the expression of the tokens [begin, end), or null if they cannot be read.
  const Expression* Read(size_t begin, size_t end) {
    at_ = begin;
    end_ = end;
    const Expression* read = ReadTernary(0);
    return read != nullptr && at_ == end ? read : nullptr;
  }

  // The same; an expression that cannot be read is one of all its words.
  const Expression& ReadWhole(size_t begin, size_t end) {
    const Expression* read = Read(begin, end);
    if (read != nullptr) return *read;
    std::vector<const Expression*> parts;
    for (size_t at = begin; at < end; ++at) {
      const bool is_name = IsName(at) && !(at > begin && (Is(at - 1, ".") || Is(at - 1, "->")));
      parts.push_back(is_name ? &MakeName(at)
                              : &Make(Expression::kOther, "", {}, tokens_[at].text));
    }
    return Make(Expression::kOther, "", std::move(parts));
  }

  bool Takes(string_view text) {
    if (at_ >= end_ || !Is(at_, text)) return false;
    ++at_;
    return true;
  }

  const Expression* ReadTernary(int depth) {
    const Expression* condition = ReadBinary(0, depth + 1);
    if (condition == nullptr || !Takes("?")) return condition;
    const Expression* then = ReadTernary(depth + 1);
    if (then == nullptr || !Takes(":")) return nullptr;
    const Expression* otherwise = ReadTernary(depth + 1);
    if (otherwise == nullptr) return nullptr;
    return &Make(Expression::kConditional, "", {then, condition, otherwise});
  }

  const Expression* ReadBinary(int level, int depth) {
    if (depth > kMaxDepth) return nullptr;
    const Expression* left = ReadUnary(depth + 1);
    while (left != nullptr && at_ < end_) {
      const string_view op = tokens_[at_].text;
      const int precedence = tokens_[at_].kind == Token::kOperator ? GetPrecedence(op) : -1;
      if (precedence < level) break;
      ++at_;
      const Expression* right = ReadBinary(precedence + 1, depth + 1);
      if (right == nullptr) return nullptr;
      const bool compares = precedence == 5 || precedence == 6;
      left = &Make(compares ? Expression::kCompare : Expression::kBinary, op, {left, right});
    }
    return left;
  }

  const Expression* ReadUnary(int depth) {
    if (depth > kMaxDepth || at_ >= end_) return nullptr;
    for (const string_view op : {"-", "+", "!", "~", "*", "&"}) {
      if (!Takes(op)) continue;
      const Expression* operand = ReadUnary(depth + 1);
      return operand == nullptr ? nullptr : &Make(Expression::kUnary, op, {operand});
    }
    if (Takes("++") || Takes("--")) return ReadUnary(depth + 1);
    if (Is(at_, "(")) {
      const size_t close = closing_[at_];
      if (close >= end_) return nullptr;
      if (IsCast(at_ + 1, close)) {
        const size_t type = at_ + 1;
        at_ = close + 1;
        return MakeCast(type, close, ReadUnary(depth + 1));
      }
    }
    return ReadPostfix(ReadPrimary(depth + 1), depth + 1);
  }

  // Returns true if the tokens between brackets are a type.
  bool IsCast(size_t begin, size_t close) const {
    if (begin >= close || !IsName(begin)) return false;
    bool is_type = Is(close - 1, "*");
    for (size_t at = begin; at < close; ++at) {
      const bool fits = IsName(at) || Is(at, "*") || Is(at, "&") || Is(at, "::");
      if (!fits) return false;
      is_type |= IsName(at) && IsTypeName(tokens_[at].text);
    }
    if (close + 1 >= end_) return false;
    const Token& next = tokens_[close + 1];
    if (is_type) return !Is(close - 1, "*") || next.kind != Token::kNumber;
    return close == begin + 1 && (next.kind == Token::kName || next.kind == Token::kNumber);
  }

  // A cast of a pointer changes how memory is read, not what is computed.
  const Expression* MakeCast(size_t type, size_t end, const Expression* operand) {
    if (operand == nullptr || type >= end || !IsName(end - 1)) return operand;
    const Expression& function = Make(Expression::kName, "cast", {}, "cast");
    return &Make(Expression::kCall, "", {&function, operand, &MakeName(end - 1)}, "cast");
  }

  // Returns the index after the '>' that closes the '<' at `at`; 0 if that is a comparison.
  size_t FindTemplateEnd(size_t at) const {
    int open = 0;
    for (size_t end = at; end < end_ && end < at + kMaxTemplateTokens; ++end) {
      if (Is(end, "<")) ++open;
      if (Is(end, ">")) --open;
      if (Is(end, ">>")) open -= 2;
      if (open <= 0) return end + 1;
      const bool fits = IsName(end) || tokens_[end].kind == Token::kNumber || Is(end, ",") ||
                        Is(end, "::") || Is(end, "*") || Is(end, "&") || Is(end, "<") ||
                        Is(end, ">") || Is(end, "...");
      if (!fits) return 0;
    }
    return 0;
  }

  const Expression* ReadPrimary(int depth) {
    if (at_ >= end_) return nullptr;
    const Token& token = tokens_[at_];
    if (token.kind == Token::kNumber) {
      ++at_;
      return &MakeNumber(token.text);
    }
    if (token.kind == Token::kString) {
      ++at_;
      return &Make(Expression::kString, "", {}, token.text);
    }
    if (Is(at_, "(") || Is(at_, "{")) return ReadList(depth);
    if (Is(at_, "::")) ++at_;
    if (!IsName(at_)) return nullptr;
    return ReadQualifiedName(depth);
  }

  // (a), {a, b}; a comma between round brackets has the last value.
  const Expression* ReadList(int depth) {
    const bool is_round = Is(at_, "(");
    const size_t close = closing_[at_];
    std::vector<const Expression*> parts = ReadArguments(depth);
    if (at_ != close + 1) return nullptr;
    if (!is_round) return &Make(Expression::kSequence, "", std::move(parts));
    return parts.empty() ? nullptr : parts.back();
  }

  // Reads what is between brackets, up to after the closing one; stops before that on an error.
  std::vector<const Expression*> ReadArguments(int depth) {
    const size_t close = closing_[at_];
    std::vector<const Expression*> parts;
    ++at_;
    if (close >= end_) return parts;
    while (at_ < close) {
      const Expression* part = ReadTernary(depth + 1);
      if (part == nullptr || (at_ != close && !Takes(","))) {
        at_ = tokens_.size();
        return {};
      }
      parts.push_back(part);
    }
    ++at_;
    return parts;
  }

  // a::b<c>: the name is the last one. Casts that are written as calls are casts.
  const Expression* ReadQualifiedName(int depth) {
    const Expression* name = &MakeName(at_);
    ++at_;
    while (at_ < end_) {
      if (Is(at_, "::") && IsName(at_ + 1)) {
        name = &Make(Expression::kAttribute, tokens_[at_ + 1].text, {name});
        at_ += 2;
        continue;
      }
      const size_t end = Is(at_, "<") ? FindTemplateEnd(at_) : 0;
      if (end == 0 || !(Is(end, "(") || Is(end, "::") || Is(end, "{"))) break;
      if (absl::EndsWith(name->name, "_cast") && Is(end, "(")) {
        const size_t type = at_ + 1;
        const size_t type_end = end - 1;
        at_ = end;
        return MakeCast(type, type_end, ReadList(depth));
      }
      at_ = end;
    }
    if (at_ < end_ && Is(at_, "(") && name->parts.empty() && IsTypeName(name->name)) {
      const size_t type = at_ - 1;
      return MakeCast(type, type + 1, ReadList(depth));
    }
    return name;
  }

  const Expression* ReadPostfix(const Expression* value, int depth) {
    while (value != nullptr && at_ < end_) {
      if (Is(at_, "(")) {
        const size_t close = closing_[at_];
        std::vector<const Expression*> parts = ReadArguments(depth);
        if (at_ != close + 1) return nullptr;
        parts.insert(parts.begin(), value);
        value = &Make(Expression::kCall, "", std::move(parts));
      } else if (Is(at_, "[")) {
        const size_t close = closing_[at_];
        const std::vector<const Expression*> parts = ReadArguments(depth);
        if (at_ != close + 1 || parts.empty()) return nullptr;
        value = &Make(Expression::kSubscript, "", {value, parts.back()});
      } else if ((Is(at_, ".") || Is(at_, "->")) && at_ + 1 < end_ && IsName(at_ + 1)) {
        value = &Make(Expression::kAttribute, tokens_[at_ + 1].text, {value});
        at_ += 2;
      } else if (!Takes("++") && !Takes("--")) {
        break;
      }
    }
    return value;
  }

  const string_view source_;
  const std::vector<Token> tokens_;
  std::vector<size_t> closing_;
  python::ExpressionArena arena_;
  Interpreter& interpreter_;
  size_t at_ = 0;   // the expression that is read: its next token
  size_t end_ = 0;  // and its end
  int depth_ = 0;
  bool too_deep_ = false;
};

}  // namespace

bool ReadC(string_view source, string_view name, Interpreter* interpreter) {
  return CReader(source, interpreter).Run(name);
}

}  // namespace kernelmill::deduplicator
