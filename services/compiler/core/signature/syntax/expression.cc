#include "services/compiler/core/signature/syntax/expression.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kernelmill::compiler {
namespace {

using Kind = Expression::Kind;

struct Operator {
  absl::string_view text;
  int level;
  Kind kind;
};

// From the weakest to the strongest; `not` binds between `and` and the comparisons.
constexpr Operator kOperators[] = {
    {"or", 1, Kind::kBoolean}, {"and", 2, Kind::kBoolean}, {"<", 4, Kind::kCompare},
    {">", 4, Kind::kCompare},  {"<=", 4, Kind::kCompare},  {">=", 4, Kind::kCompare},
    {"==", 4, Kind::kCompare}, {"!=", 4, Kind::kCompare},  {"is", 4, Kind::kCompare},
    {"in", 4, Kind::kCompare}, {"not", 4, Kind::kCompare}, {"|", 5, Kind::kBinary},
    {"^", 6, Kind::kBinary},   {"&", 7, Kind::kBinary},    {"<<", 8, Kind::kBinary},
    {">>", 8, Kind::kBinary},  {"+", 9, Kind::kBinary},    {"-", 9, Kind::kBinary},
    {"*", 10, Kind::kBinary},  {"/", 10, Kind::kBinary},   {"//", 10, Kind::kBinary},
    {"%", 10, Kind::kBinary},  {"@", 10, Kind::kBinary},   {"**", 12, Kind::kBinary},
};
constexpr int kNotLevel = 3;
constexpr int kCompareLevel = 4;

const Operator* FindOperator(absl::string_view text) {
  const auto* found = std::find_if(std::begin(kOperators), std::end(kOperators),
                                   [&](const Operator& o) { return o.text == text; });
  return found == std::end(kOperators) ? nullptr : found;
}

bool IsKeyword(absl::string_view name) {
  static constexpr absl::string_view kKeywords[] = {"if", "else", "for", "and",   "or",   "in",
                                                    "is", "not",  "as",  "async", "from", "lambda"};
  return std::find(std::begin(kKeywords), std::end(kKeywords), name) != std::end(kKeywords);
}

}  // namespace

bool ExpressionReader::Take(absl::string_view text) {
  if (Peek() != text) return false;
  ++next_;
  return true;
}

const Expression* ExpressionReader::Make(Kind kind, size_t first, absl::string_view name,
                                         std::vector<const Expression*> parts) {
  Expression made;
  made.kind = kind;
  made.name = name;
  made.parts = std::move(parts);
  for (const Expression* part : made.parts) made.height = std::max(made.height, part->height + 1);
  if (made.height > kMaxHeight) {
    made.kind = Kind::kOther;
    made.height = 0;
    made.parts.clear();
  }
  if (first < next_ && next_ <= tokens_.size()) {
    const absl::string_view last = tokens_[next_ - 1].text;
    const char* begin = tokens_[first].text.data();
    made.text = absl::string_view(begin, static_cast<size_t>(last.data() + last.size() - begin));
  }
  arena_.push_back(std::move(made));
  return &arena_.back();
}

const Expression* ExpressionReader::ReadList() {
  const size_t first = next_;
  const Expression* one = Read();
  if (Peek() != ",") return one;
  std::vector<const Expression*> parts = {one};
  while (Take(",")) {
    const absl::string_view next = Peek();
    if (next.empty() || next == "=" || next == ")" || next == ":") break;
    parts.push_back(Read());
  }
  return Make(Kind::kSequence, first, "", std::move(parts));
}

const Expression* ExpressionReader::Read() {
  const size_t first = next_;
  if (++depth_ > kMaxDepth) {
    next_ = tokens_.size();
    --depth_;
    return Make(Kind::kOther, first, "", {});
  }
  const Expression* read = Peek() == "lambda" ? ReadLambda() : ReadBinary(1);
  if (Take("if")) {
    const Expression* condition = ReadBinary(1);
    const Expression* otherwise = Take("else") ? Read() : condition;
    read = Make(Kind::kConditional, first, "", {read, condition, otherwise});
  } else if (Take(":=")) {
    read = Read();
  }
  --depth_;
  return read;
}

const Expression* ExpressionReader::ReadBinary(int least) {
  const size_t first = next_;
  if (++depth_ > kMaxDepth) next_ = tokens_.size();
  const Expression* left = ReadUnary();
  --depth_;
  for (;;) {
    const Operator* found = FindOperator(Peek());
    if (found == nullptr || found->level < least) return left;
    if (found->text == "not" && (next_ + 1 >= tokens_.size() || tokens_[next_ + 1].text != "in")) {
      return left;
    }
    absl::string_view name = found->text;
    Skip();
    if (name == "not") Skip();
    if (name == "is" && Take("not")) name = "is not";
    if (name == "not") name = "not in";
    // ** binds to the right.
    ++depth_;
    const Expression* right = ReadBinary(name == "**" ? found->level : found->level + 1);
    --depth_;
    if (found->level == kCompareLevel && left->kind == Kind::kCompare && left->parts.size() == 2) {
      const Expression* second = Make(Kind::kCompare, first, name, {left->parts[1], right});
      left = Make(Kind::kBoolean, first, "and", {left, second});
    } else {
      left = Make(found->kind, first, name, {left, right});
    }
  }
}

const Expression* ExpressionReader::ReadUnary() {
  const size_t first = next_;
  const absl::string_view sign = Peek();
  const bool unary = sign == "-" || sign == "+" || sign == "~" || sign == "not" || sign == "*" ||
                     sign == "**" || sign == "await";
  if (!unary) return ReadPostfix();
  if (++depth_ > kMaxDepth) {
    next_ = tokens_.size();
    --depth_;
    return Make(Kind::kOther, first, "", {});
  }
  Skip();
  const Expression* operand = sign == "not" ? ReadBinary(kNotLevel) : ReadUnary();
  // -x ** 2 is -(x ** 2).
  if (sign != "not" && Peek() == "**") {
    Skip();
    operand = Make(Kind::kBinary, first, "**", {operand, ReadUnary()});
  }
  --depth_;
  return Make(Kind::kUnary, first, sign, {operand});
}

const Expression* ExpressionReader::ReadPostfix() {
  const size_t first = next_;
  const Expression* read = ReadAtom();
  for (;;) {
    if (Take(".")) {
      const absl::string_view member = Peek();
      Skip();
      read = Make(Kind::kAttribute, first, member, {read});
    } else if (Take("(")) {
      Expression call;
      call.parts.push_back(read);
      ReadArguments(call);
      read = Make(Kind::kCall, first, "", std::move(call.parts));
    } else if (Take("[")) {
      const Expression* index = ReadIndex();
      read = Make(Kind::kSubscript, first, "", {read, index});
    } else {
      return read;
    }
  }
}

void ExpressionReader::ReadArguments(Expression& call) {
  while (!AtEnd() && !Take(")")) {
    const size_t first = next_;
    if (tokens_[next_].kind == code::Token::kName && next_ + 1 < tokens_.size() &&
        tokens_[next_ + 1].text == "=") {
      const absl::string_view name = Peek();
      next_ += 2;
      const Expression* value = Read();
      call.parts.push_back(Make(Kind::kKeyword, first, name, {value}));
    } else {
      call.parts.push_back(Read());
    }
    if (Take(",")) continue;
    if (!Take(")")) SkipTo(")");
    return;
  }
}

// What stands between [ and ]: slices are others.
const Expression* ExpressionReader::ReadIndex() {
  const size_t first = next_;
  std::vector<const Expression*> parts;
  bool plain = true;
  while (!AtEnd() && Peek() != "]") {
    if (Take(",")) continue;
    if (Take(":")) {
      plain = false;
      continue;
    }
    const size_t before = next_;
    parts.push_back(Read());
    if (next_ == before) break;
  }
  const Expression* index = parts.size() == 1 && plain
                                ? parts.front()
                                : Make(plain ? Kind::kSequence : Kind::kOther, first, "", parts);
  if (!Take("]")) SkipTo("]");
  return index;
}

const Expression* ExpressionReader::ReadLambda() {
  const size_t first = next_;
  Skip();
  while (!AtEnd() && Peek() != ":") Skip();
  Take(":");
  return Make(Kind::kLambda, first, "", {Read()});
}

const Expression* ExpressionReader::ReadBrackets(absl::string_view close, Kind kind) {
  const size_t first = next_ - 1;
  std::vector<const Expression*> parts;
  bool comma = false;
  bool dictionary = false;
  while (!AtEnd() && Peek() != close) {
    if (Take(",")) {
      comma = true;
      continue;
    }
    if (Take(":")) {
      dictionary = true;
      continue;
    }
    const size_t before = next_;
    if (Peek() == "for" || Peek() == "async") {
      SkipTo(close);
      return Make(Kind::kOther, first, "", std::move(parts));
    }
    parts.push_back(Read());
    if (next_ == before) Skip();
  }
  Take(close);
  if (close == ")" && parts.size() == 1 && !comma) return parts.front();
  return Make(dictionary ? Kind::kDictionary : kind, first, "", std::move(parts));
}

const Expression* ExpressionReader::ReadAtom() {
  const size_t first = next_;
  if (AtEnd()) return Make(Kind::kOther, first, "", {});
  const code::Token& token = tokens_[next_];
  const absl::string_view text = token.text;
  switch (token.kind) {
    case code::Token::kNumber:
      Skip();
      return Make(Kind::kNumber, first, "", {});
    case code::Token::kString:
      while (!AtEnd() && tokens_[next_].kind == code::Token::kString) Skip();
      return Make(Kind::kString, first, "", {});
    case code::Token::kName: {
      if (IsKeyword(text)) return Make(Kind::kOther, first, "", {});
      Skip();
      const bool constant = text == "True" || text == "False" || text == "None";
      return Make(constant ? Kind::kConstant : Kind::kName, first, text, {});
    }
    default:
      break;
  }
  if (text == "(" || text == "[" || text == "{") {
    Skip();
    return ReadBrackets(text == "(" ? ")" : text == "[" ? "]" : "}", Kind::kSequence);
  }
  return Make(Kind::kOther, first, "", {});
}

// Behind the bracket that closes the one which is open.
void ExpressionReader::SkipTo(absl::string_view close) {
  int open = 0;
  for (; !AtEnd(); Skip()) {
    const absl::string_view text = Peek();
    if (open == 0 && text == close) return Skip();
    if (text == "(" || text == "[" || text == "{") ++open;
    if (text == ")" || text == "]" || text == "}") {
      if (open == 0) return;
      --open;
    }
  }
}

absl::string_view DottedName(const Expression& expression) {
  const Expression* at = &expression;
  while (at->kind == Kind::kAttribute) at = at->parts[0];
  return at->kind == Kind::kName ? expression.text : absl::string_view();
}

absl::string_view LastName(const Expression& expression) {
  const Expression& called = expression.kind == Kind::kCall ? *expression.parts[0] : expression;
  return called.kind == Kind::kName || called.kind == Kind::kAttribute ? called.name
                                                                       : absl::string_view();
}

const Expression* Argument(const Expression& call, absl::string_view keyword, size_t position) {
  size_t at = 0;
  const Expression* positional = nullptr;
  for (size_t i = 1; i < call.parts.size(); ++i) {
    const Expression* part = call.parts[i];
    if (part->kind == Kind::kKeyword) {
      if (part->name == keyword) return part->parts[0];
    } else if (at++ == position) {
      positional = part;
    }
  }
  return positional;
}

}  // namespace kernelmill::compiler
