#include "services/extractor/core/reference/cases.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/python/syntax/calls.h"
#include "common/python/syntax/children.h"
#include "services/extractor/core/reference/fixtures.h"

namespace kernelmill::extractor {

using python::Argument;
using python::Arguments;
using python::Call;
using python::Children;
using python::Field;
using python::Kind;
using python::Value;

namespace {

constexpr int kMaxDepth = 16;
constexpr size_t kMaxMade = 64;  // texts that are parsed for one test file's calls elsewhere

bool IsList(Kind kind) {
  return kind == Kind::kList || kind == Kind::kTuple || kind == Kind::kExpressionList;
}

// Returns the names of "a, b" or ["a", "b"].
std::vector<std::string> ReadNames(const std::optional<Value>& value) {
  std::vector<std::string> names;
  if (!value.has_value()) return names;
  if (value->type == Value::Type::kString) {
    for (const absl::string_view part : absl::StrSplit(value->text, ',')) {
      const absl::string_view name = absl::StripAsciiWhitespace(part);
      if (!name.empty()) names.emplace_back(name);
    }
    return names;
  }
  if (!value->IsSequence()) return names;
  for (const Value& item : *value->items) {
    if (item.type == Value::Type::kString) names.push_back(item.text);
  }
  return names;
}

}  // namespace

std::vector<CaseAxis> CaseReader::ReadAxes(TestFile& file, const FunctionBody& test) {
  made_.clear();
  std::vector<CaseAxis> axes;
  const SyntaxTree& tree = file.tree();
  ReadDecorators(file, test.function(), axes);
  NodeId around = tree[test.function()].parent;
  for (int depth = 0; depth < kMaxDepth && around != kNoNode; ++depth) {
    if (tree.GetKind(around) == Kind::kClassDefinition) ReadDecorators(file, around, axes);
    around = tree[around].parent;
  }
  ReadFixtures(file, test, axes);
  ReadBody(file, test, axes);
  return axes;
}

void CaseReader::ReadDecorators(TestFile& file, NodeId definition, std::vector<CaseAxis>& axes) {
  const SyntaxTree& tree = file.tree();
  const NodeId decorated = tree[definition].parent;
  if (decorated == kNoNode || tree.GetKind(decorated) != Kind::kDecoratedDefinition) return;
  for (const NodeId decorator : Children(tree, decorated)) {
    if (tree.GetKind(decorator) != Kind::kDecorator) continue;
    const std::vector<NodeId> inner = Children(tree, decorator);
    if (inner.empty() || tree.GetKind(inner[0]) != Kind::kCall) continue;
    const absl::string_view name = file.view().calls.At(inner[0]).name;
    if (absl::EndsWith(name, "parametrize")) ReadParametrize(file, inner[0], axes);
    if (absl::EndsWith(name, "perf_report")) ReadBenchmark(file, inner[0], axes);
  }
}

// @triton.testing.perf_report(triton.testing.Benchmark(x_names=["M", "N"], x_vals=[...], ...)), or
// a list of such benchmarks, whose first one counts.
void CaseReader::ReadBenchmark(TestFile& file, NodeId report, std::vector<CaseAxis>& axes) {
  const SyntaxTree& tree = file.tree();
  NodeId given = FindArgument(GetArguments(tree, report), "benchmarks", 0);
  if (given == kNoNode) return;
  if (tree.GetKind(given) == Kind::kIdentifier) given = file.FindAssigned(tree.GetText(given));
  if (given == kNoNode) return;
  for (const Call& call : file.view().calls.In(given)) {
    if (!absl::EndsWith(call.name, "Benchmark")) continue;
    const Arguments arguments = GetArguments(tree, call.node);
    AddBenchmarkAxis(file, FindArgument(arguments, "x_names", 0),
                     FindArgument(arguments, "x_vals", 1), axes);
    AddBenchmarkAxis(file, FindArgument(arguments, "line_arg", 2),
                     FindArgument(arguments, "line_vals", 3), axes);
    const NodeId more = FindArgument(arguments, "args", 99);
    if (more == kNoNode) return;
    CaseAxis axis;
    axis.origin = "benchmark";
    axis.rows.emplace_back();
    for (const NodeId pair : tree.Of(Kind::kPair, more)) {
      const NodeId key = tree.Child(pair, Field::kKey);
      const NodeId value = tree.Child(pair, Field::kValue);
      if (key == kNoNode || value == kNoNode || tree[pair].parent != more) continue;
      const CaseAxis::Value name = ReadValue(file, key);
      if (!name.string) continue;
      axis.names.push_back(*name.string);
      axis.rows[0].push_back(ReadValue(file, value));
    }
    if (!axis.names.empty()) axes.push_back(std::move(axis));
    return;
  }
}

// A value that is no tuple is that of all names.
void CaseReader::AddBenchmarkAxis(TestFile& file, NodeId names, NodeId values,
                                  std::vector<CaseAxis>& axes) {
  if (names == kNoNode || values == kNoNode) return;
  CaseAxis axis;
  axis.origin = "benchmark";
  axis.names = ReadNames(file.Evaluate(names));
  const Items items = Expand(file, values, 0);
  for (size_t i = 0; items && i < std::min(items->size(), kMaxRows); ++i) {
    const std::optional<std::vector<Item>> parts = Divide((*items)[i], axis.names.size());
    std::vector<CaseAxis::Value>& row = axis.rows.emplace_back();
    for (size_t n = 0; n < axis.names.size(); ++n) {
      row.push_back(ToValue(parts ? (*parts)[n] : (*items)[i]));
    }
  }
  if (!axis.names.empty() && !axis.rows.empty()) axes.push_back(std::move(axis));
}

// @pytest.mark.parametrize("a, b", [(1, 2), pytest.param(3, 4, marks=...)])
void CaseReader::ReadParametrize(TestFile& file, NodeId call, std::vector<CaseAxis>& axes) {
  const Arguments arguments = GetArguments(file.tree(), call);
  NodeId names = FindArgument(arguments, "argnames", 0);
  NodeId values = FindArgument(arguments, "argvalues", 1);
  if (names != kNoNode && file.tree().GetKind(names) == Kind::kListSplat) {
    // parametrize(*SHAPES), where SHAPES has both.
    const Items both = Expand(file, Children(file.tree(), names)[0], 0);
    if (!both || both->size() != 2 || (*both)[0].file != &file || (*both)[1].file != &file) return;
    names = (*both)[0].node;
    values = (*both)[1].node;
  }
  if (names == kNoNode || values == kNoNode) return;
  CaseAxis axis;
  axis.origin = "parametrize";
  axis.names = ReadNames(file.Evaluate(names));
  const Items items = Expand(file, values, 0);
  if (axis.names.empty() || !items) return;
  for (const Item& item : *items) {
    const std::optional<std::vector<Item>> parts = Divide(item, axis.names.size());
    if (!parts) return;
    std::vector<CaseAxis::Value>& row = axis.rows.emplace_back();
    for (const Item& part : *parts) row.push_back(ToValue(part));
    if (axis.rows.size() >= kMaxRows) break;
  }
  if (!axis.rows.empty()) axes.push_back(std::move(axis));
}

std::optional<std::vector<CaseReader::Item>> CaseReader::Divide(const Item& item, size_t count) {
  if (item.node == kNoNode) {
    if (count == 1) return std::vector<Item>{item};
    if (!item.value->IsSequence() || item.value->items->size() != count) return std::nullopt;
    std::vector<Item> parts;
    for (const Value& part : *item.value->items) parts.push_back({nullptr, kNoNode, part});
    return parts;
  }
  const SyntaxTree& tree = item.file->tree();
  const NodeId node = tree.StripParentheses(item.node);
  std::vector<NodeId> nodes;
  if (tree.GetKind(node) == Kind::kCall &&
      absl::EndsWith(item.file->view().calls.At(node).name, "param")) {
    for (const Argument& argument : GetArguments(tree, node)) {
      if (argument.keyword.empty()) nodes.push_back(argument.value);
    }
  } else if (count == 1) {
    return std::vector<Item>{item};
  } else if (IsList(tree.GetKind(node))) {
    nodes = Children(tree, node);
  } else {
    const std::optional<Value> value = item.file->Evaluate(node);
    return value ? Divide({nullptr, kNoNode, value}, count) : std::nullopt;
  }
  if (nodes.size() != count) return std::nullopt;
  std::vector<Item> parts;
  for (const NodeId part : nodes) parts.push_back({item.file, part, std::nullopt});
  return parts;
}

// The parameters that no parametrize names are fixtures.
void CaseReader::ReadFixtures(TestFile& file, const FunctionBody& test,
                              std::vector<CaseAxis>& axes) {
  const size_t given = axes.size();
  for (const absl::string_view name : test.parameters()) {
    const bool known = std::any_of(axes.begin(), axes.begin() + given, [&](const CaseAxis& axis) {
      return std::find(axis.names.begin(), axis.names.end(), name) != axis.names.end();
    });
    if (known || name == "self") continue;
    const Fixture fixture = FindFixture(files_, file, test.function(), name);
    if (fixture.params == kNoNode) continue;
    const Items items = Expand(*fixture.file, fixture.params, 0);
    if (!items || items->empty()) continue;
    CaseAxis axis;
    axis.origin = "fixture";
    axis.names = {std::string(name)};
    for (const Item& item : *items) {
      const std::optional<std::vector<Item>> parts = Divide(item, 1);
      if (parts) axis.rows.push_back({ToValue((*parts)[0])});
      if (axis.rows.size() >= kMaxRows) break;
    }
    axes.push_back(std::move(axis));
  }
}

// for M, N in [(1, 2), (3, 4)]: and M, N = 1, 2 of the test itself.
void CaseReader::ReadBody(TestFile& file, const FunctionBody& test, std::vector<CaseAxis>& axes) {
  const SyntaxTree& tree = file.tree();
  absl::flat_hash_map<absl::string_view, int> assigned;
  for (const FunctionBody::Statement& statement : test.statements()) {
    for (const absl::string_view name : statement.binds) ++assigned[name];
  }
  size_t literals = 0;
  for (const FunctionBody::Statement& statement : test.statements()) {
    CaseAxis axis;
    if (statement.head && tree.GetKind(statement.node) == Kind::kForStatement) {
      const NodeId left = tree.Child(statement.node, Field::kLeft);
      const NodeId right = tree.Child(statement.node, Field::kRight);
      if (left == kNoNode || right == kNoNode) continue;
      std::vector<NodeId> targets = {left};
      if (tree.GetKind(left) != Kind::kIdentifier) targets = Children(tree, left);
      for (const NodeId target : targets) axis.names.emplace_back(tree.GetText(target));
      axis.origin = "loop";
      const Items items = Expand(file, right, 0);
      for (size_t i = 0; items && i < std::min(items->size(), kMaxRows); ++i) {
        const std::optional<std::vector<Item>> parts = Divide((*items)[i], axis.names.size());
        if (!parts) break;
        std::vector<CaseAxis::Value>& row = axis.rows.emplace_back();
        for (const Item& part : *parts) row.push_back(ToValue(part));
      }
    } else if (!statement.head && statement.around.empty() && literals < kMaxLiterals) {
      axis.origin = "literal";
      axis.rows.emplace_back();
      const int at = static_cast<int>(&statement - test.statements().data());
      for (const absl::string_view name : statement.binds) {
        const NodeId value = test.FindValue(at, name);
        if (value == kNoNode || assigned[name] != 1) continue;
        const std::vector<absl::string_view> free = file.view().bindings.FreeNames(value);
        if (!free.empty() && free != std::vector<absl::string_view>{"torch"}) continue;
        CaseAxis::Value read = ReadValue(file, value);
        if (!read.literal) continue;
        ++literals;
        axis.names.emplace_back(name);
        axis.rows[0].push_back(std::move(read));
      }
      if (axis.names.empty()) axis.rows.clear();
    }
    if (!axis.rows.empty()) axes.push_back(std::move(axis));
  }
}

CaseReader::Items CaseReader::Expand(TestFile& file, NodeId node, int depth) {
  const SyntaxTree& tree = file.tree();
  node = tree.StripParentheses(node);
  if (depth > kMaxDepth) return std::nullopt;
  const Kind kind = tree.GetKind(node);
  if (IsList(kind)) {
    std::vector<Item> items;
    for (const NodeId child : Children(tree, node)) {
      if (items.size() > kMaxRows) break;
      if (tree.GetKind(child) != Kind::kListSplat) {
        items.push_back({&file, child, std::nullopt});
        continue;
      }
      const Items more = Expand(file, Children(tree, child)[0], depth + 1);
      if (!more) return std::nullopt;
      items.insert(items.end(), more->begin(), more->end());
    }
    return items;
  }
  if (kind == Kind::kIdentifier) return ExpandName(file, tree.GetText(node), depth);
  if (kind == Kind::kCall) return ExpandCall(file, node, depth);
  if (kind == Kind::kConditionalExpression) {
    const std::vector<NodeId> parts = Children(tree, node);
    if (parts.size() != 3) return std::nullopt;
    Items a = Expand(file, parts[0], depth + 1);
    Items b = Expand(file, parts[2], depth + 1);
    if (!a || !b) return a ? a : b;
    return b->size() > a->size() ? b : a;
  }
  if (kind == Kind::kBinaryOperator) {
    const NodeId left = tree.Child(node, Field::kLeft);
    const NodeId right = tree.Child(node, Field::kRight);
    const NodeId sign = tree.Child(node, Field::kOperator);
    if (sign != kNoNode && tree.GetText(sign) == "+" && left != kNoNode && right != kNoNode) {
      Items a = Expand(file, left, depth + 1);
      const Items b = Expand(file, right, depth + 1);
      if (a && b) {
        a->insert(a->end(), b->begin(), b->end());
        return a;
      }
    }
  }
  const std::optional<Value> value = file.Evaluate(node);
  if (!value || !value->IsSequence()) return std::nullopt;
  std::vector<Item> items;
  for (const Value& item : *value->items) items.push_back({nullptr, kNoNode, item});
  return items;
}

CaseReader::Items CaseReader::ExpandName(TestFile& file, absl::string_view name, int depth) {
  if (const NodeId value = file.FindAssigned(name); value != kNoNode) {
    return Expand(file, value, depth + 1);
  }
  const TextDefinitions& text = scope_.GetDefinitions(file.path(), 0);
  const Origin* origin = scope_.Find(text, std::string(name));
  if (origin == nullptr || origin->text->path == file.path()) return std::nullopt;
  TestFile* there = files_.Get(origin->text->path);
  return there == nullptr ? std::nullopt : ExpandName(*there, origin->name, depth + 1);
}

CaseReader::Items CaseReader::ExpandCall(TestFile& file, NodeId call, int depth) {
  const SyntaxTree& tree = file.tree();
  const absl::string_view name = file.view().calls.At(call).name;
  const Arguments arguments = GetArguments(tree, call);
  const bool copies = name == "list" || name == "tuple" || name == "sorted" || name == "set";
  if (copies && arguments.size() == 1) {
    if (Items items = Expand(file, arguments[0].value, depth + 1)) return items;
  }
  std::optional<Value> value = file.Evaluate(call);
  if (!value) value = EvaluateElsewhere(file, call);
  if (!value || !value->IsSequence()) return std::nullopt;
  std::vector<Item> items;
  for (const Value& item : *value->items) items.push_back({nullptr, kNoNode, item});
  return items;
}

// Evaluates a call of another file's function at the end of that file.
std::optional<Value> CaseReader::EvaluateElsewhere(TestFile& file, NodeId call) {
  const std::string dotted(file.view().calls.At(call).name);
  if (dotted.empty() || made_.size() >= kMaxMade) return std::nullopt;
  const Origin* origin = scope_.Find(scope_.GetDefinitions(file.path(), 0), dotted);
  if (origin == nullptr || origin->text->path == file.path()) return std::nullopt;
  const std::string* text = files_.GetText(origin->text->path);
  const NodeId arguments = file.tree().Child(call, Field::kArguments);
  if (text == nullptr || arguments == kNoNode) return std::nullopt;
  constexpr absl::string_view kResult = "kernelmill_result_";
  made_.push_back(files_.ParseText(
      origin->text->path,
      absl::StrCat(*text, "\n", kResult, " = ", origin->name, file.GetText(arguments), "\n")));
  if (made_.back() == nullptr) return std::nullopt;
  const NodeId value = made_.back()->FindAssigned(kResult);
  return value == kNoNode ? std::nullopt : made_.back()->Evaluate(value);
}

CaseAxis::Value CaseReader::ReadValue(TestFile& file, NodeId node) {
  return ToValue({&file, node, std::nullopt});
}

CaseAxis::Value CaseReader::ToValue(const Item& item, int depth) {
  CaseAxis::Value value;
  std::optional<Value> known = item.value;
  if (item.node != kNoNode) known = item.file->Evaluate(item.node);
  if (known) {
    const std::optional<std::string> repr = Repr(*known, kMaxText);
    if (repr) {
      value.text = *repr;
      value.literal = true;
      if (known->type == Value::Type::kString) value.string = known->text;
      return value;
    }
  }
  if (item.node == kNoNode) {
    value.text = "...";
    return value;
  }
  const SyntaxTree& tree = item.file->tree();
  const NodeId node = tree.StripParentheses(item.node);
  value.text = std::string(item.file->GetText(node).substr(0, kMaxText));
  const Kind kind = tree.GetKind(node);
  if (kind == Kind::kIdentifier || kind == Kind::kAttribute) {
    value.dotted = DottedExpression(tree, node);
    value.path = item.file->path();
    const std::string resolved = item.file->view().imports.Resolve(value.dotted);
    value.literal =
        absl::StartsWith(resolved, "torch.") || absl::StartsWith(resolved, "jax.numpy.");
    const NodeId assigned =
        kind == Kind::kIdentifier ? item.file->FindAssigned(value.dotted) : kNoNode;
    if (!value.literal && assigned != kNoNode && depth < kMaxDepth) {
      return ToValue({item.file, assigned, std::nullopt}, depth + 1);
    }
  } else if (IsList(kind) && depth < kMaxDepth) {
    std::vector<std::string> parts;
    value.literal = true;
    for (const NodeId child : Children(tree, node)) {
      const CaseAxis::Value part = ToValue({item.file, child, std::nullopt}, depth + 1);
      parts.push_back(part.text);
      value.literal = value.literal && part.literal;
    }
    const bool list = kind == Kind::kList;
    value.text = absl::StrCat(list ? "[" : "(", absl::StrJoin(parts, ", "),
                              !list && parts.size() == 1 ? "," : "", list ? "]" : ")");
    if (value.text.size() > kMaxText) {
      value.text.resize(kMaxText);
      value.literal = false;
    }
  }
  return value;
}

void CaseReader::AddCases(const std::vector<CaseAxis>& axes, v1::TestReference& test) {
  int64_t total = 1;
  for (const CaseAxis& axis : axes) {
    const auto rows = static_cast<int64_t>(axis.rows.size());
    total = total > std::numeric_limits<int32_t>::max() / rows ? std::numeric_limits<int32_t>::max()
                                                               : total * rows;
  }
  test.set_cases_total(axes.empty() ? 0 : total);
  for (const CaseAxis& axis : axes) {
    const size_t count = std::min(axis.rows.size(), kMaxCases);
    for (size_t i = 0; i < count; ++i) {
      v1::ReferenceCase& one = *test.add_cases();
      const std::vector<CaseAxis::Value>& row = axis.rows[i * axis.rows.size() / count];
      for (size_t n = 0; n < axis.names.size(); ++n) {
        v1::ReferenceCase::Value& value = *one.add_values();
        value.set_name(axis.names[n]);
        value.set_value(row[n].text);
        value.set_origin(axis.origin);
        value.set_literal(row[n].literal);
      }
    }
  }
}

}  // namespace kernelmill::extractor
