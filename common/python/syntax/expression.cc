#include "common/python/syntax/expression.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "common/python/syntax/children.h"

namespace kernelmill::python {

// Rules ask for few things, so that an expression has a kind, a name, its parts and its text, and
// nothing else. Comments, parentheses, annotations, the target of a walrus and the clauses of
// comprehensions are left out. A form that no rule reads becomes kOther with its text.

namespace {

constexpr int kMaxPartDepth = 60;

const Expression* FindPartWithin(const Expression& expression,
                                 absl::FunctionRef<bool(const Expression&)> fits, int levels) {
  if (levels < 0) return nullptr;
  if (fits(expression)) return &expression;
  for (const Expression* part : expression.parts) {
    if (const Expression* found = FindPartWithin(*part, fits, levels - 1)) return found;
  }
  return nullptr;
}

// Clauses of comprehensions and annotations are not operands: no rule reads them.
bool IsClause(Kind kind) { return kind == Kind::kForInClause || kind == Kind::kType; }

bool IsNumber(absl::string_view text) {
  const size_t first = absl::StartsWith(text, ".") ? 1 : 0;
  return text.size() > first && absl::ascii_isdigit(static_cast<unsigned char>(text[first]));
}

// The operator between two operands of a comparison as rules name it, whatever blanks are in it.
absl::string_view ComparisonName(const SyntaxTree& tree, NodeId left, NodeId right) {
  absl::string_view first;
  absl::string_view last;
  for (NodeId at = tree.NextSibling(left); at != right; at = tree.NextSibling(at)) {
    if (tree.GetKind(at) != Kind::kToken) continue;
    last = tree.GetText(at);
    if (first.empty()) first = last;
  }
  if (absl::StartsWith(first, "not")) return "not in";
  if (absl::StartsWith(first, "is") && absl::EndsWith(last, "not")) return "is not";
  return first;
}

bool IsSlice(const SyntaxTree& tree, NodeId node) {
  if (tree.GetKind(node) != Kind::kOther) return false;
  for (NodeId child = tree.FirstChild(node); child != kNoNode; child = tree.NextSibling(child)) {
    if (tree.GetKind(child) == Kind::kToken && tree.GetText(child) == ":") return true;
  }
  return false;
}

}  // namespace

// `made_` has the expressions of the subtree by the distance from its root.
const Expression* ExpressionMaker::Make(NodeId node) {
  root_ = node;
  made_.assign(tree_[node].subtree_end - node, nullptr);
  for (NodeId at = tree_[node].subtree_end; at-- > node;) {
    if (!IsLayout(tree_.GetKind(at))) made_[at - node] = FromNode(at);
  }
  const Expression* made = At(node);
  return made == nullptr ? MakeOther(tree_.GetText(node)) : made;
}

const Expression* ExpressionMaker::MakeList(const std::vector<NodeId>& nodes) {
  if (nodes.empty()) return MakeOther("");
  Parts parts;
  parts.reserve(nodes.size());
  for (const NodeId node : nodes) parts.push_back(Make(node));
  if (parts.size() == 1) return parts.front();
  const absl::string_view text = TextBetween(tree_[nodes.front()].start, tree_[nodes.back()].end);
  return Add(Expression::kSequence, text, "", std::move(parts));
}

// The value of an augmented assignment: a + b for a += b. It is written nowhere, so that it has the
// text of its target.
const Expression* ExpressionMaker::MakeBinary(const Expression& left, absl::string_view name,
                                              const Expression& right) {
  return Add(Expression::kBinary, left.text, name, {&left, &right});
}

const Expression* ExpressionMaker::MakeOther(absl::string_view text) {
  return Add(Expression::kOther, text, "", {});
}

// All expressions are made here. One that is higher than kMaxHeight becomes a kOther without parts,
// so that rules may recurse.
const Expression* ExpressionMaker::Add(Expression::Kind kind, absl::string_view text,
                                       absl::string_view name, Parts parts) {
  Expression& made = arena_.emplace_back();
  made.kind = kind;
  made.text = text;
  made.name = name;
  made.parts = std::move(parts);
  for (const Expression* part : made.parts) made.height = std::max(made.height, part->height + 1);
  if (made.height > kMaxHeight) {
    made.kind = Expression::kOther;
    made.height = 0;
    made.parts.clear();
  }
  return &made;
}

absl::string_view ExpressionMaker::TextBetween(size_t begin, size_t end) const {
  return tree_.text().substr(begin, end - begin);
}

ExpressionMaker::Parts ExpressionMaker::Operands(NodeId node) const {
  Parts parts;
  for (const NodeId operand : Children(tree_, node)) {
    if (!IsClause(tree_.GetKind(operand))) parts.push_back(At(operand));
  }
  return parts;
}

// The children by these edges; none if one is missing.
ExpressionMaker::Parts ExpressionMaker::FieldParts(NodeId node, Field first, Field second) const {
  Parts parts;
  for (const Field field : {first, second}) {
    if (field == Field::kNone) continue;
    const NodeId child = tree_.Child(node, field);
    if (child == kNoNode || At(child) == nullptr) return {};
    parts.push_back(At(child));
  }
  return parts;
}

// Makes the expression of one node; those of its children are made already. Broken code, in which
// an operand or a name is missing, becomes a kOther.
const Expression* ExpressionMaker::FromNode(NodeId node) {
  const absl::string_view text = tree_.GetText(node);
  switch (tree_.GetKind(node)) {
    case Kind::kIdentifier:
      return Add(Expression::kName, text, text, {});
    case Kind::kNoneLiteral:
      return Add(Expression::kConstant, text, text, {});
    case Kind::kString:
    case Kind::kConcatenatedString:
      return Add(Expression::kString, text, "", {});
    case Kind::kAttribute: {
      Parts parts = FieldParts(node, Field::kObject);
      const NodeId name = tree_.Child(node, Field::kAttribute);
      if (parts.empty() || name == kNoNode) return MakeOther(text);
      return Add(Expression::kAttribute, text, tree_.GetText(name), std::move(parts));
    }
    case Kind::kBinaryOperator: {
      Parts parts = FieldParts(node, Field::kLeft, Field::kRight);
      const NodeId sign = tree_.Child(node, Field::kOperator);
      if (parts.empty() || sign == kNoNode) return MakeOther(text);
      return Add(Expression::kBinary, text, tree_.GetText(sign), std::move(parts));
    }
    case Kind::kConditionalExpression: {
      Parts parts = Operands(node);
      if (parts.size() != 3) return MakeOther(text);
      return Add(Expression::kConditional, text, "", std::move(parts));
    }
    // (x) is x itself.
    case Kind::kParenthesizedExpression: {
      const Parts parts = Operands(node);
      return parts.size() == 1 ? parts.front() : MakeOther(text);
    }
    // The value of x := y is y.
    case Kind::kNamedExpression: {
      const Parts parts = FieldParts(node, Field::kValue);
      return parts.empty() ? MakeOther(text) : parts.front();
    }
    case Kind::kTuple:
    case Kind::kList:
    case Kind::kExpressionList:
    case Kind::kPatternList:
    case Kind::kTuplePattern:
    case Kind::kListPattern:
      return Add(Expression::kSequence, text, "", Operands(node));
    case Kind::kListSplat:
    case Kind::kListSplatPattern: {
      Parts parts = Operands(node);
      return parts.size() == 1 ? Add(Expression::kUnary, text, "*", std::move(parts))
                               : MakeOther(text);
    }
    case Kind::kLambda: {
      Parts parts = FieldParts(node, Field::kBody);
      return parts.empty() ? MakeOther(text) : Add(Expression::kLambda, text, "", std::move(parts));
    }
    case Kind::kKeywordArgument: {
      Parts parts = FieldParts(node, Field::kValue);
      const NodeId name = tree_.Child(node, Field::kName);
      if (parts.empty() || name == kNoNode) return MakeOther(text);
      return Add(Expression::kKeyword, text, tree_.GetText(name), std::move(parts));
    }
    case Kind::kComparisonOperator:
      return FromComparison(node);
    case Kind::kCall:
      return FromCall(node);
    case Kind::kSubscript:
      return FromSubscript(node);
    case Kind::kDictionary:
      return FromDictionary(node);
    case Kind::kListComprehension:
    case Kind::kSetComprehension:
    case Kind::kDictionaryComprehension:
    case Kind::kGeneratorExpression:
      return FromComprehension(node);
    case Kind::kAsPattern: {  // in a with statement
      const Parts parts = Operands(node);
      return parts.empty() ? MakeOther(text) : parts.front();
    }
    case Kind::kOther:
      return tree_.IsLeaf(node) ? FromLeaf(node) : FromOther(node);
    default:
      return MakeOther(text);
  }
}

// Literals that the tree has no kinds for.
const Expression* ExpressionMaker::FromLeaf(NodeId node) {
  const absl::string_view text = tree_.GetText(node);
  if (text == "True" || text == "False") return Add(Expression::kConstant, text, text, {});
  return IsNumber(text) ? Add(Expression::kNumber, text, "", {}) : MakeOther(text);
}

// Expressions that the tree has no kinds for, by their tokens: boolean, unary and `not` operators,
// await, sets, slices and **x.
const Expression* ExpressionMaker::FromOther(NodeId node) {
  const absl::string_view text = tree_.GetText(node);
  Parts parts = Operands(node);
  const NodeId first = tree_.FirstChild(node);
  const absl::string_view head = tree_.GetKind(first) == Kind::kToken ? tree_.GetText(first) : "";
  if (head == "{") return Add(Expression::kSequence, text, "", std::move(parts));
  if (const NodeId sign = tree_.Child(node, Field::kOperator); sign != kNoNode) {
    const absl::string_view name = tree_.GetText(sign);
    if (parts.size() == 2) return Add(Expression::kBoolean, text, name, std::move(parts));
    if (parts.size() == 1) return Add(Expression::kUnary, text, name, std::move(parts));
    return MakeOther(text);
  }
  const bool unary = head == "not" || head == "await" || head == "**";
  if (unary && parts.size() == 1) return Add(Expression::kUnary, text, head, std::move(parts));
  return Add(Expression::kOther, text, "", std::move(parts));
}

// a < b < c becomes (a < b) and (b < c).
const Expression* ExpressionMaker::FromComparison(NodeId node) {
  const std::vector<NodeId> operands = Children(tree_, node);
  const Expression* made = nullptr;
  for (size_t i = 1; i < operands.size(); ++i) {
    const absl::string_view name = ComparisonName(tree_, operands[i - 1], operands[i]);
    const absl::string_view text = TextBetween(tree_[node].start, tree_[operands[i]].end);
    const Expression* one =
        Add(Expression::kCompare, text, name, {At(operands[i - 1]), At(operands[i])});
    made = made == nullptr ? one : Add(Expression::kBoolean, text, "and", {made, one});
  }
  return made == nullptr ? MakeOther(tree_.GetText(node)) : made;
}

// The first part is the function; the arguments follow in their order.
const Expression* ExpressionMaker::FromCall(NodeId node) {
  Parts parts = FieldParts(node, Field::kFunction);
  const NodeId arguments = tree_.Child(node, Field::kArguments);
  if (parts.empty() || arguments == kNoNode) return MakeOther(tree_.GetText(node));
  if (tree_.GetKind(arguments) == Kind::kGeneratorExpression) {  // f(x for x in y)
    const Parts given = FieldParts(arguments, Field::kBody);
    parts.insert(parts.end(), given.begin(), given.end());
  } else {
    const Parts given = Operands(arguments);
    parts.insert(parts.end(), given.begin(), given.end());
  }
  return Add(Expression::kCall, tree_.GetText(node), "", std::move(parts));
}

// An index of several places is a kSequence; one with slices is a kOther with the parts of these.
const Expression* ExpressionMaker::FromSubscript(NodeId node) {
  const absl::string_view text = tree_.GetText(node);
  const NodeId value = tree_.Child(node, Field::kValue);
  if (value == kNoNode || At(value) == nullptr) return MakeOther(text);
  Parts parts;
  bool plain = true;
  size_t begin = tree_[value].end;
  size_t end = tree_[node].end;
  for (NodeId child = tree_.NextSibling(value); child != kNoNode;
       child = tree_.NextSibling(child)) {
    if (IsLayout(tree_.GetKind(child))) {
      if (tree_.GetText(child) == "[") begin = tree_[child].end;
      if (tree_.GetText(child) == "]") end = tree_[child].start;
      continue;
    }
    // The bounds of a slice are parts of the index.
    if (IsSlice(tree_, child)) {
      plain = false;
      parts.insert(parts.end(), At(child)->parts.begin(), At(child)->parts.end());
    } else {
      parts.push_back(At(child));
    }
  }
  const Expression* index =
      parts.size() == 1 && plain
          ? parts.front()
          : Add(plain ? Expression::kSequence : Expression::kOther,
                absl::StripAsciiWhitespace(TextBetween(begin, end)), "", parts);
  return Add(Expression::kSubscript, text, "", {At(value), index});
}

// The parts are keys and values in turn. An entry that is no pair, **x, is there twice to keep the
// order.
const Expression* ExpressionMaker::FromDictionary(NodeId node) {
  Parts parts;
  for (const NodeId entry : Children(tree_, node)) {
    const Parts pair = tree_.GetKind(entry) == Kind::kPair
                           ? FieldParts(entry, Field::kKey, Field::kValue)
                           : Parts{At(entry), At(entry)};
    parts.insert(parts.end(), pair.begin(), pair.end());
  }
  const auto kind = parts.empty() ? Expression::kSequence : Expression::kDictionary;
  return Add(kind, tree_.GetText(node), "", std::move(parts));
}

// The clauses say what the names in it are: rules look at the element alone.
const Expression* ExpressionMaker::FromComprehension(NodeId node) {
  const NodeId body = tree_.Child(node, Field::kBody);
  Parts parts;
  if (body != kNoNode && tree_.GetKind(body) == Kind::kPair) {
    parts = FieldParts(body, Field::kKey, Field::kValue);
  } else if (body != kNoNode && At(body) != nullptr) {
    parts = {At(body)};
  }
  return Add(Expression::kOther, tree_.GetText(node), "", std::move(parts));
}

absl::string_view LastName(const Expression& expression) {
  const Expression& called =
      expression.kind == Expression::kCall ? *expression.parts[0] : expression;
  const bool named = called.kind == Expression::kName || called.kind == Expression::kAttribute;
  return named ? called.name : absl::string_view();
}

// The keyword wins over the position. *x counts as one positional argument.
const Expression* FindArgument(const Expression& call, absl::string_view keyword, size_t position) {
  size_t at = 0;
  const Expression* positional = nullptr;
  for (size_t i = 1; i < call.parts.size(); ++i) {
    const Expression* part = call.parts[i];
    if (part->kind == Expression::kKeyword) {
      if (part->name == keyword) return part->parts[0];
    } else if (at++ == position) {
      positional = part;
    }
  }
  return positional;
}

const Expression* FindPart(const Expression& expression,
                           absl::FunctionRef<bool(const Expression&)> fits) {
  return FindPartWithin(expression, fits, kMaxPartDepth);
}

}  // namespace kernelmill::python
