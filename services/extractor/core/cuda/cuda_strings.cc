#include "services/extractor/core/cuda/cuda_strings.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "common/base/text.h"
#include "common/code/bytes.h"
#include "common/code/python.h"
#include "common/dsl/languages.h"
#include "common/python/evaluate/evaluator.h"
#include "common/python/evaluate/statements_by_name.h"
#include "common/python/evaluate/value.h"
#include "common/python/syntax/calls.h"
#include "services/extractor/core/cuda/string_bodies.h"

namespace kernelmill::extractor::cuda {

using absl::string_view;
using python::Field;
using python::Kind;
using python::kNoNode;
using python::NodeId;
using python::SyntaxTree;

namespace {

constexpr int kMaxDepth = 64;  // bounds expressions and names in one another

bool IsSequence(Kind kind) { return kind == Kind::kList || kind == Kind::kTuple; }

bool IsSum(const SyntaxTree& tree, NodeId node) {
  if (tree.GetKind(node) != Kind::kBinaryOperator) return false;
  const NodeId sign = tree.Child(node, Field::kOperator);
  return sign != kNoNode && tree.GetText(sign) == "+";
}

// Returns whether a call, by its function's last name, has the value of its first argument or of
// its object, as far as C++ is concerned.
bool KeepsText(string_view name) {
  static constexpr string_view kNames[] = {"dedent", "cleandoc", "strip", "lstrip",
                                           "rstrip", "encode",   "str",   "bytes"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

string_view CalledName(const SyntaxTree& tree, NodeId call) {
  const NodeId function = tree.Child(call, Field::kFunction);
  if (function == kNoNode) return "";
  const NodeId attribute = tree.Child(function, Field::kAttribute);
  return tree.GetText(attribute == kNoNode ? function : attribute);
}

NodeId CalledObject(const SyntaxTree& tree, NodeId call) {
  const NodeId function = tree.Child(call, Field::kFunction);
  return function == kNoNode ? kNoNode : tree.Child(function, Field::kObject);
}

// Puts together the values of expressions.
class Reader {
 public:
  Reader(const ParsedFile& file, const FileValues& values)
      : file_(file), tree_(file.tree), values_(values), statements_(file.tree) {}

  // Returns the value of the expression; of parts that the file does not show, nothing. A list has
  // its elements, one a line.
  StringText Read(NodeId expression, size_t max_bytes) {
    StringText text(file_.text);
    most_ = max_bytes;
    steps_ = std::max(kLeastSteps, std::min(kStepsOfText, all_steps_));
    all_steps_ -= steps_;
    Append(expression, 0, text);
    all_steps_ += steps_;
    return text;
  }

 private:
  void Append(NodeId expression, int depth, StringText& text) {
    if (depth > kMaxDepth || text.text().size() > most_ || --steps_ < 0) return text.AddUnknown();
    const NodeId node = tree_.StripParentheses(expression);
    const Kind kind = tree_.GetKind(node);
    if (kind == Kind::kString) return AppendLiteral(node, depth, text);
    if (kind == Kind::kConcatenatedString) {
      for (const NodeId part : tree_.Of(Kind::kString, node)) {
        if (tree_[part].parent == node) AppendLiteral(part, depth, text);
      }
    } else if (IsSum(tree_, node)) {
      for (const Field side : {Field::kLeft, Field::kRight}) {
        const NodeId operand = tree_.Child(node, side);
        if (operand != kNoNode) Append(operand, depth + 1, text);
      }
    } else if (IsSequence(kind)) {
      for (NodeId child = tree_.FirstChild(node); child != kNoNode;
           child = tree_.NextSibling(child)) {
        if (IsLayout(tree_.GetKind(child))) continue;
        Append(child, depth + 1, text);
        text.AppendOther("\n");
      }
    } else if (kind == Kind::kCall) {
      AppendCall(node, depth, text);
    } else {
      // A name with several values has none that is certain.
      const std::vector<NodeId> found = values_.Follow(node);
      if (found.size() != 1) return text.AddUnknown();
      Append(found[0], depth + 1, text);
    }
  }

  void AppendCall(NodeId call, int depth, StringText& text) {
    const string_view name = CalledName(tree_, call);
    const NodeId object = CalledObject(tree_, call);
    const python::Arguments arguments = GetArguments(tree_, call);
    if (name == "join" && arguments.size() == 1) return Append(arguments[0].value, depth + 1, text);
    if (!KeepsText(name)) return text.AddUnknown();
    const bool of_module = name == "dedent" || name == "cleandoc";
    if (object != kNoNode && !of_module) return Append(object, depth + 1, text);
    if (!arguments.empty()) Append(arguments[0].value, depth + 1, text);
  }

  void AppendLiteral(NodeId literal, int depth, StringText& text) {
    const NodeId start = tree_.Child(literal, Kind::kStringStart);
    const NodeId end = tree_.Child(literal, Kind::kStringEnd);
    if (start == kNoNode || end == kNoNode || tree_[end].missing) return;
    const string_view quotes = tree_.GetText(start);
    const auto prefix = code::ReadPythonPrefix(quotes.substr(0, quotes.find_first_of("\"'")));
    if (!prefix.has_value()) return;
    size_t at = tree_[start].end;
    text.Open(at);
    for (NodeId child = tree_.FirstChild(literal); child != kNoNode;
         child = tree_.NextSibling(child)) {
      if (tree_.GetKind(child) != Kind::kInterpolation) continue;
      text.AppendContent(at, tree_[child].start, *prefix);
      AppendField(child, depth, text);
      at = tree_[child].end;
    }
    text.AppendContent(at, tree_[end].start, *prefix);
  }

  // Appends the value of a field of an f-string. An unknown value
  // is the field's last name, so that the text around it stays C++.
  void AppendField(NodeId field, int depth, StringText& text) {
    const SyntaxNodeSpan span = {tree_[field].start, tree_[field].end};
    const NodeId expression = FirstExpression(tree_, field);
    const bool is_plain = expression != kNoNode && IsPlainField(field, expression);
    const std::optional<std::string> number = is_plain ? Evaluate(expression) : std::nullopt;
    if (number.has_value()) return text.AppendValue(span.begin, span.end, *number, true);
    StringText inner(file_.text);
    if (is_plain) Append(expression, depth + 1, inner);
    if (!inner.parts().empty()) {
      text.AppendValue(span.begin, span.begin, "", true);
      text.Append(inner);
      return text.Open(span.end);
    }
    const string_view written = expression == kNoNode ? "" : tree_.GetText(expression);
    const string_view last = LastPart(written);
    const bool is_name = !last.empty() && code::IsNameByte(last.front()) &&
                         std::all_of(last.begin(), last.end(), code::IsNameByte);
    text.AppendValue(span.begin, span.end, is_name ? last : "0", false);
  }

  struct SyntaxNodeSpan {
    size_t begin;
    size_t end;
  };

  // Returns whether a field is {expression}, without a conversion or a format.
  bool IsPlainField(NodeId field, NodeId expression) const {
    const string_view written =
        file_.text.substr(tree_[expression].end, tree_[field].end - tree_[expression].end);
    return written.find_first_not_of(" \t}") == string_view::npos;
  }

  // Returns a constant as str() has it.
  std::optional<std::string> Evaluate(NodeId expression) {
    int64_t steps = std::min<int64_t>(kStepsOfField, steps_left_);
    const int64_t given = steps;
    const python::EvaluatedFile evaluated = {file_.text, tree_, file_.imports, statements_};
    const auto value = python::Evaluator(evaluated, expression, steps).Evaluate(expression);
    steps_left_ -= given - steps;
    if (!value.has_value()) return std::nullopt;
    if (value->type == python::Value::Type::kString) {
      // A string with C in it keeps its place in the file.
      if (dsl::MayBeCString(value->text)) return std::nullopt;
      return value->text;
    }
    if (!value->IsNumber()) return std::nullopt;
    constexpr size_t kMostDigits = 64;
    return python::Repr(*value, kMostDigits);
  }

  static constexpr int64_t kStepsOfField = 10'000;
  static constexpr int64_t kStepsOfText = 10'000;
  static constexpr int64_t kLeastSteps = 16;  // a literal alone is always read

  const ParsedFile& file_;
  const SyntaxTree& tree_;
  const FileValues& values_;
  python::StatementsByName statements_;
  int64_t steps_left_ = 1'000'000;  // for all fields
  size_t most_ = 0;
  int64_t steps_ = 0;  // that are left for one text, and for all
  int64_t all_steps_ = 1'000'000;
};

// Finds the literals of a file and the expressions around them; see FindCudaStrings.
class CudaStringFinder {
 public:
  CudaStringFinder(const ParsedFile& file, const FileValues& values, size_t max_bytes)
      : tree_(file.tree),
        reader_(file, values),
        file_(file),
        left_(max_bytes),
        work_left_(2 * max_bytes) {}

  std::vector<CudaString> Find() {
    for (const NodeId node : tree_.Of(Kind::kString)) {
      if (dsl::MayBeCString(tree_.GetText(node)) && IsUsed(node)) AddLiteral(node);
    }
    if (!literals_.empty()) {
      for (const NodeId root : ListRoots()) AddText(root);
    }
    std::vector<CudaString> strings = TakeStrings();
    AddBodies(strings);
    return strings;
  }

 private:
  void AddBodies(std::vector<CudaString>& strings) {
    for (const python::Call& call : file_.calls.In(0)) {
      const dsl::BodyMaker* const maker = dsl::FindBodyMaker(call.resolved);
      if (maker != nullptr) AddBody(*maker, call.node, strings);
    }
    std::stable_sort(strings.begin(), strings.end(), [](const CudaString& a, const CudaString& b) {
      return a.literals[0].begin < b.literals[0].begin;
    });
  }

  // Returns nullopt if the literal is broken, or not of a string.
  std::optional<CudaLiteral> ReadLiteral(NodeId node) const {
    const NodeId start = tree_.Child(node, Kind::kStringStart);
    const NodeId end = tree_.Child(node, Kind::kStringEnd);
    if (start == kNoNode || end == kNoNode || tree_[end].missing) return std::nullopt;
    const string_view quotes = tree_.GetText(start);
    const auto prefix = code::ReadPythonPrefix(quotes.substr(0, quotes.find_first_of("\"'")));
    if (!prefix.has_value() || prefix->is_template_string) return std::nullopt;
    return CudaLiteral{node, tree_[start].end, tree_[end].start,
                       file_.lines.LineAt(tree_[node].start)};
  }

  void AddLiteral(NodeId node) {
    const std::optional<CudaLiteral> literal = ReadLiteral(node);
    if (!literal.has_value()) return;
    by_begin_[literal->begin] = literals_.size();
    literals_.push_back(*literal);
  }

  // Returns the literal whose content begins there.
  std::optional<CudaLiteral> FindLiteral(size_t begin) const {
    const auto& strings = tree_.Of(Kind::kString);
    // A literal in a field of an f-string comes after it.
    auto after = std::partition_point(strings.begin(), strings.end(),
                                      [&](NodeId node) { return tree_[node].start < begin; });
    while (after != strings.begin()) {
      const std::optional<CudaLiteral> literal = ReadLiteral(*--after);
      if (literal.has_value() && literal->begin <= begin) {
        return literal->begin == begin ? literal : std::nullopt;
      }
    }
    return std::nullopt;
  }

  // Returns whether the program uses the literal's value as a value; see FindCudaStrings.
  bool IsUsed(NodeId literal) const {
    bool passed = false;
    NodeId node = literal;
    for (NodeId parent = tree_[node].parent; parent != kNoNode;
         node = parent, parent = tree_[node].parent) {
      switch (tree_.GetKind(parent)) {
        case Kind::kComparisonOperator:
          if (!passed) return false;
          break;
        case Kind::kCall:
        case Kind::kAssignment:
        case Kind::kAugmentedAssignment:
          passed = true;
          break;
        case Kind::kExpressionStatement:
          return passed;
        case Kind::kBlock:
        case Kind::kModule:
        case Kind::kError:
          return !IsStatement(node, "raise") && (passed || !IsStatement(node, "assert"));
        default:
          break;
      }
    }
    return passed;
  }

  // Returns whether a node that is a statement is one of this keyword.
  bool IsStatement(NodeId node, string_view keyword) const {
    return tree_.GetKind(node) == Kind::kOther && absl::StartsWith(tree_.GetText(node), keyword);
  }

  // Returns the expression of strings around a node, which the program uses as one value.
  NodeId FindRoot(NodeId node) const {
    for (int depth = 0; depth < kMaxDepth; ++depth) {
      const NodeId parent = tree_[node].parent;
      const Kind kind = tree_.GetKind(parent);
      const bool joins = kind == Kind::kConcatenatedString || IsSum(tree_, parent) ||
                         kind == Kind::kParenthesizedExpression;
      if (!joins && !(IsSequence(kind) && IsArgument(parent))) return node;
      node = parent;
    }
    return node;
  }

  bool IsArgument(NodeId node) const {
    const Kind kind = tree_.GetKind(tree_[node].parent);
    return kind == Kind::kKeywordArgument || kind == Kind::kArgumentList;
  }

  // Returns the expressions that may hold a literal: those around the literals themselves, and
  // those that put together names. In the order of the text, each once.
  std::vector<NodeId> ListRoots() const {
    std::vector<NodeId> roots;
    for (const CudaLiteral& literal : literals_) roots.push_back(FindRoot(literal.node));
    const size_t own = roots.size();
    for (const Kind kind : {Kind::kBinaryOperator, Kind::kString, Kind::kList, Kind::kTuple}) {
      for (const NodeId node : tree_.Of(kind)) {
        const bool composes = kind == Kind::kBinaryOperator ? IsSum(tree_, node)
                              : kind == Kind::kString
                                  ? !tree_.Of(Kind::kInterpolation, node).empty()
                                  : IsArgument(node);
        if (composes && roots.size() < own + kMaxRoots) roots.push_back(FindRoot(node));
      }
    }
    std::sort(roots.begin(), roots.end());
    roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
    return roots;
  }

  // Reads the text of a root, and takes it for the literals that have no longer one.
  void AddText(NodeId root) {
    StringText text = reader_.Read(root, std::min(left_, work_left_));
    work_left_ -= std::min(work_left_, text.text().size());
    std::vector<size_t> held;
    for (const TextPart& part : text.parts()) {
      const auto literal = by_begin_.find(part.in_file);
      if (part.opens && literal != by_begin_.end()) held.push_back(literal->second);
    }
    if (held.empty() || text.text().size() > left_) return;
    left_ -= text.text().size();
    texts_.push_back(std::move(text));
    for (const size_t i : held) {
      const auto [best, is_new] = best_.try_emplace(i, texts_.size() - 1);
      const size_t known = texts_[best->second].text().size();
      if (!is_new && known < texts_.back().text().size()) best->second = texts_.size() - 1;
    }
  }

  std::vector<CudaString> TakeStrings() {
    std::map<size_t, size_t> places;  // texts, and their places in `strings`
    std::vector<CudaString> strings;
    for (size_t i = 0; i < literals_.size(); ++i) {
      const auto best = best_.find(i);
      if (best == best_.end()) {
        strings.push_back({reader_.Read(literals_[i].node, kMaxAlone), {literals_[i]}});
        continue;
      }
      const auto [place, is_new] = places.try_emplace(best->second, strings.size());
      if (is_new) strings.push_back({std::move(texts_[best->second]), {}});
      strings[place->second].literals.push_back(literals_[i]);
    }
    return strings;
  }

  // Adds the kernel that a call makes of a body, unless another call made one of the same literal.
  void AddBody(const dsl::BodyMaker& maker, NodeId call, std::vector<CudaString>& strings) {
    const python::Arguments arguments = GetArguments(tree_, call);
    const auto read = [&](const dsl::BodyMaker::Argument& argument) {
      const NodeId value = FindArgument(arguments, argument.keyword, argument.place);
      if (value == kNoNode) return StringText(file_.text);
      return reader_.Read(value, std::min(left_, work_left_));
    };
    StringText body = read(maker.body);
    const auto opens = [](const TextPart& part) { return part.opens; };
    const auto first = std::find_if(body.parts().begin(), body.parts().end(), opens);
    if (first == body.parts().end() || !bodies_.insert(first->in_file).second) return;
    const auto literal = FindLiteral(first->in_file);
    if (!literal.has_value()) return;
    CudaString string = {read(maker.preamble), {*literal}};
    const size_t size = string.text.text().size() + body.text().size();
    if (size > std::min(left_, work_left_)) return;
    left_ -= size;
    work_left_ -= size;
    std::vector<std::string> parameters;
    for (const auto& each : maker.parameters) parameters.push_back(read(each.argument).text());
    const BodyFrame frame =
        MakeBodyFrame(maker, MakeName(read(maker.name).text()), parameters, body.text());
    if (!body.is_whole() || std::count_if(body.parts().begin(), body.parts().end(), opens) > 1) {
      string.loss = "not_verbatim";
    } else if (!AddBodyFrame(file_.text, literal->begin, literal->end, frame, body)) {
      string.loss = "shared_line";
    }
    string.text.AppendOther("\n");
    string.text.Append(body);
    strings.push_back(std::move(string));
  }

  // Returns a name of C; a text that the file does not show gives "kernel".
  static std::string MakeName(string_view text) {
    std::string name(text.empty() ? "kernel" : text);
    for (char& c : name) c = code::IsNameByte(c) ? c : '_';
    return name;
  }

  static constexpr size_t kMaxRoots = 4096;
  static constexpr size_t kMaxAlone = 64u << 20;  // no literal is longer

  const SyntaxTree& tree_;
  Reader reader_;
  const ParsedFile& file_;
  size_t left_;
  size_t work_left_;  // for all texts that are read, also those that are not taken
  std::vector<CudaLiteral> literals_;
  absl::flat_hash_map<size_t, size_t> by_begin_;  // indexes of literals_
  std::vector<StringText> texts_;
  std::map<size_t, size_t> best_;  // by literal: its text
  std::set<size_t> bodies_;        // begins of the literals
};

}  // namespace

std::vector<CudaString> FindCudaStrings(const ParsedFile& file, const FileValues& values,
                                        size_t max_bytes) {
  return CudaStringFinder(file, values, max_bytes).Find();
}

}  // namespace kernelmill::extractor::cuda
