#include "services/extractor/core/reference/comparisons.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/text.h"
#include "common/python/syntax/children.h"
#include "services/extractor/core/reference/host_module.h"

namespace kernelmill::extractor {

using python::Argument;
using python::Arguments;
using python::Call;
using python::Children;
using python::Field;
using python::Kind;

namespace {

constexpr int kMaxHelpers = 3;  // helpers that call one another
constexpr int kMaxComparisonDepth = 8;

constexpr absl::string_view kTolerances[] = {
    "rtol",      "atol",     "tol",    "rel",       "abs",        "eps",
    "epsilon",   "decimal",  "ratio",  "err_ratio", "threshold",  "max_err",
    "tolerance", "max_diff", "maxtol", "rmstol",    "reduce_dim", "precision"};

bool IsTolerance(absl::string_view name) {
  return std::find(std::begin(kTolerances), std::end(kTolerances), name) != std::end(kTolerances) ||
         absl::EndsWith(name, "_tol") || absl::EndsWith(name, "tolerance");
}

bool IsLiteral(const SyntaxTree& tree, NodeId node) {
  const Kind kind = tree.GetKind(tree.StripParentheses(node));
  if (kind == Kind::kString || kind == Kind::kConcatenatedString || kind == Kind::kNoneLiteral) {
    return true;
  }
  const absl::string_view text = tree.GetText(node);
  if (text == "True" || text == "False") return true;
  return !text.empty() && (absl::ascii_isdigit(text[0]) || text[0] == '.' || text[0] == '-') &&
         text.find_first_not_of("0123456789.eE-+_xX") == absl::string_view::npos;
}

// Returns whether a function's name says that it compares two values.
bool SaysCompares(absl::string_view name) {
  const std::string lower = absl::AsciiStrToLower(name);
  for (const absl::string_view word : {"close", "equal", "almost", "compare", "similar", "match"}) {
    if (absl::StrContains(lower, word)) return true;
  }
  return false;
}

// Returns whether a statement asserts that two values differ.
bool SaysDiffers(absl::string_view statement) {
  return absl::StartsWith(statement, "assert not ") || absl::StartsWith(statement, "assert ~") ||
         absl::StrContains(statement, "assertFalse(") || absl::StrContains(statement, "assertNot");
}

// Returns whether an expression names a measure of likeness, which must be large.
bool SaysLikeness(absl::string_view text) {
  const std::string lower = absl::AsciiStrToLower(text);
  for (const absl::string_view word : {"sim", "cos", "corr", "snr"}) {
    if (absl::StrContains(lower, word)) return true;
  }
  return false;
}

// Returns whether an expression is what a tensor has beside its values: x.shape, x.stride(),
// len(x).
bool IsMetadata(const SyntaxTree& tree, NodeId node) {
  static constexpr absl::string_view kMembers[] = {
      "shape",     "dtype",    "device",        "ndim",          "size",       "stride",
      "dim",       "numel",    "is_contiguous", "layout",        "type",       "len",
      "isnan",     "is_cuda",  "nbytes",        "requires_grad", "isinstance", "getsource",
      "signature", "__name__", "__class__",     "__doc__"};
  node = tree.StripParentheses(node);
  if (tree.GetKind(node) == Kind::kSubscript) node = tree.Child(node, Field::kValue);
  if (tree.GetKind(node) == Kind::kCall) node = tree.Child(node, Field::kFunction);
  if (node == kNoNode) return false;
  const absl::string_view text = tree.GetText(node);
  const absl::string_view member = text.substr(text.rfind('.') + 1);
  return std::find(std::begin(kMembers), std::end(kMembers), member) != std::end(kMembers);
}

// Returns the operands of a - b below an expression; the first in the order of the text.
std::optional<std::pair<NodeId, NodeId>> FindMinus(const SyntaxTree& tree, NodeId node) {
  for (const NodeId binary : tree.Of(Kind::kBinaryOperator, node)) {
    const NodeId sign = tree.Child(binary, Field::kOperator);
    const NodeId left = tree.Child(binary, Field::kLeft);
    const NodeId right = tree.Child(binary, Field::kRight);
    if (sign == kNoNode || tree.GetText(sign) != "-" || left == kNoNode || right == kNoNode) {
      continue;
    }
    if (!IsLiteral(tree, left) && !IsLiteral(tree, right)) return std::pair(left, right);
  }
  return std::nullopt;
}

}  // namespace

std::vector<TestComparison> ComparisonFinder::Find(TestUnit& unit) {
  std::vector<TestComparison> found;
  const auto& statements = unit.body().statements();
  for (size_t i = 0; i < statements.size() && found.size() < kMaxComparisons; ++i) {
    const FunctionBody::Statement& statement = statements[i];
    if (statement.head) continue;
    const Kind kind = unit.file().tree().GetKind(statement.node);
    if (kind == Kind::kFunctionDefinition || kind == Kind::kClassDefinition ||
        kind == Kind::kDecoratedDefinition || SaysDiffers(unit.file().GetText(statement.node))) {
      continue;
    }
    const size_t before = found.size();
    for (const Call& call : unit.file().view().calls.In(statement.node)) {
      ReadCall(unit, static_cast<int>(i), call, found);
      if (found.size() > before) break;  // inner calls say the same
    }
    if (found.size() == before) ReadAssert(unit, static_cast<int>(i), found);
  }
  for (TestComparison& each : found) {
    for (auto& [first, second] : each.pairs) RemoveSameHelper(unit, first, second);
  }
  return found;
}

// Replaces to_numpy(a) and to_numpy(b) by a and b: a function of the source without kernels that
// both sides go through makes neither.
void ComparisonFinder::RemoveSameHelper(const TestUnit& unit, NodeId& first, NodeId& second) const {
  const SyntaxTree& tree = unit.file().tree();
  if (first == kNoNode || second == kNoNode) return;  // a comparison with one side, as with zero
  for (int depth = 0; depth < kMaxComparisonDepth; ++depth) {
    const NodeId calls[] = {tree.StripParentheses(first), tree.StripParentheses(second)};
    std::vector<Argument> arguments[2];
    for (const int side : {0, 1}) {
      if (tree.GetKind(calls[side]) != Kind::kCall) return;
      for (const Argument& each : GetArguments(tree, calls[side])) arguments[side].push_back(each);
    }
    const NodeId function = tree.Child(calls[0], Field::kFunction);
    const NodeId other = tree.Child(calls[1], Field::kFunction);
    if (function == kNoNode || other == kNoNode || arguments[0].empty() ||
        arguments[0].size() != arguments[1].size() ||
        tree.GetText(function) != tree.GetText(other)) {
      return;
    }
    for (size_t i = 0; i < arguments[0].size(); ++i) {
      const bool same = tree.GetText(arguments[0][i].value) == tree.GetText(arguments[1][i].value);
      if (arguments[0][i].keyword != arguments[1][i].keyword || same != (i > 0)) return;
    }
    const auto origins = unit.ResolveName(DottedExpression(tree, function));
    const bool helper = std::all_of(origins.begin(), origins.end(), [&](const Origin* origin) {
      const v1::Definition* definition = HostModules::FindDefinition(*origin);
      const Reach::Node node = reach_.Find(*origin);
      return definition != nullptr && definition->kind() == v1::Definition::KIND_FUNCTION &&
             (node == Reach::kNone || reach_.WaysFrom(node).empty());
    });
    if (origins.empty() || !helper) return;
    first = arguments[0][0].value;
    second = arguments[1][0].value;
  }
}

// Returns the form of a call of an installed package; empty for any other.
absl::string_view ComparisonFinder::FindForm(const TestUnit& unit, const Call& call) const {
  const absl::string_view name = call.resolved;
  const absl::string_view last = LastPart(name);
  const auto from = [name](absl::string_view package) {
    return absl::StartsWith(name, package) && name.size() > package.size() &&
           name[package.size()] == '.';
  };
  if (from("torch.testing") && absl::StartsWith(last, "assert")) return "torch_testing";
  if (from("numpy.testing") && absl::StartsWith(last, "assert")) return "numpy_testing";
  if (from("triton.testing") && (SaysCompares(last))) return "triton_testing";
  if (last == "gradcheck" || last == "gradgradcheck") return "gradcheck";
  const bool package = from("torch") || from("numpy") || from("jax") || from("triton");
  const SyntaxTree& tree = unit.file().tree();
  const bool method =
      call.function != kNoNode && !package && tree.GetKind(call.function) == Kind::kAttribute &&
      FindOrigins(scope_, scope_.GetDefinitions(unit.file().path(), 0), std::string(call.name))
          .empty();
  absl::string_view called = last;
  if (call.name.empty() && method) {
    const NodeId attribute = tree.Child(call.function, Field::kAttribute);
    if (attribute != kNoNode) called = tree.GetText(attribute);
  }
  if (!package && !method) return {};
  if (called == "allclose" || called == "isclose") return "allclose";
  if (called == "equal" || called == "array_equal") return "equal";
  return {};
}

void ComparisonFinder::ReadCall(TestUnit& unit, int statement, const Call& call,
                                std::vector<TestComparison>& found) {
  const SyntaxTree& tree = unit.file().tree();
  TestComparison added;
  added.node = call.node;
  added.statement = statement;
  added.form = FindForm(unit, call);
  if (added.form.empty()) {
    if (!ReadHelper(unit, call, added)) return;
    std::erase_if(added.pairs, [&](const auto& pair) {
      return IsMetadata(tree, pair.first) || IsMetadata(tree, pair.second);
    });
    if (!added.pairs.empty()) found.push_back(std::move(added));
    return;
  }
  const Arguments arguments = GetArguments(tree, call.node);
  std::vector<NodeId> sides;
  for (const absl::string_view keyword :
       {"actual", "input", "x", "expected", "other", "desired", "y"}) {
    const NodeId given = FindArgument(arguments, keyword, 99);
    if (given != kNoNode) sides.push_back(given);
  }
  if (added.form == "gradcheck" && !arguments.empty()) {
    added.pairs.emplace_back(arguments[0].value, kNoNode);
  } else {
    const absl::string_view first = LastPart(call.resolved);
    const bool package =
        absl::StartsWith(call.resolved, "torch.") || absl::StartsWith(call.resolved, "numpy.") ||
        absl::StartsWith(call.resolved, "jax.") || absl::StartsWith(call.resolved, "triton.");
    if (!package && !first.empty() && (added.form == "allclose" || added.form == "equal")) {
      sides.insert(sides.begin(), tree.Child(call.function, Field::kObject));
    } else if (call.name.empty()) {
      sides.insert(sides.begin(), tree.Child(call.function, Field::kObject));
    }
    for (const Argument& argument : arguments) {
      if (argument.keyword.empty()) sides.push_back(argument.value);
    }
    if (sides.size() < 2) return;
    added.pairs.emplace_back(sides[0], sides[1]);
  }
  AddTolerances(unit, call, nullptr, added);
  found.push_back(std::move(added));
}

// Adds the pair that an expression is, or that the name stands for.
bool ComparisonFinder::AddPairs(const TestUnit& unit, int statement, NodeId node,
                                TestComparison& added, int depth) {
  const SyntaxTree& tree = unit.file().tree();
  node = tree.StripParentheses(node);
  if (depth > kMaxComparisonDepth) return false;
  const Kind kind = tree.GetKind(node);
  if (kind == Kind::kConditionalExpression) {
    const std::vector<NodeId> parts = Children(tree, node);
    return !parts.empty() && AddPairs(unit, statement, parts[0], added, depth + 1);
  }
  if (kind == Kind::kIdentifier) {
    const absl::string_view name = tree.GetText(node);
    for (const int source : unit.body().FindSources(name, statement)) {
      const NodeId value = unit.body().FindValue(source, name);
      if (value != kNoNode && AddPairs(unit, source, value, added, depth + 1)) return true;
    }
    return false;
  }
  const std::vector<NodeId> parts = Children(tree, node);
  if (kind != Kind::kTuple || parts.size() != 2) return false;
  added.pairs.emplace_back(parts[0], parts[1]);
  return true;
}

bool ComparisonFinder::ReadHelper(TestUnit& unit, const Call& call, TestComparison& comparison) {
  const SyntaxTree& tree = unit.file().tree();
  if (call.name.empty()) return false;
  comparison.form = "helper";
  std::shared_ptr<const Helper> helper;
  for (const Origin* origin : unit.ResolveName(std::string(call.name))) {
    if (helper = FindHelper(*origin); helper != nullptr) break;
  }
  const absl::string_view last = LastPart(call.name);
  const bool says = SaysCompares(last) &&
                    (absl::StrContains(last, "assert") || absl::StrContains(last, "check") ||
                     absl::StrContains(last, "verify") || absl::StrContains(last, "close"));
  if (helper == nullptr && !says) return false;
  const Arguments arguments = GetArguments(tree, call.node);
  std::vector<NodeId> positional;
  for (const Argument& argument : arguments) {
    if (!argument.keyword.empty() || IsLiteral(tree, argument.value)) continue;
    positional.push_back(argument.value);
  }
  if (helper != nullptr && helper->pairs) {
    for (const NodeId each : positional) AddPairs(unit, comparison.statement, each, comparison);
  } else if (helper != nullptr) {
    const auto given = [&](const std::string& name) {
      const auto at = std::find(helper->parameters.begin(), helper->parameters.end(), name);
      return FindArgument(arguments, name, static_cast<size_t>(at - helper->parameters.begin()));
    };
    const NodeId first = given(helper->first);
    const NodeId second = given(helper->second);
    const bool values = first != kNoNode && second != kNoNode && !IsLiteral(tree, first) &&
                        !IsLiteral(tree, second);
    if (values) comparison.pairs.emplace_back(first, second);
  } else if (positional.size() >= 2) {
    comparison.pairs.emplace_back(positional[0], positional[1]);
  }
  AddTolerances(unit, call, helper.get(), comparison);
  return true;
}

std::shared_ptr<const ComparisonFinder::Helper> ComparisonFinder::FindHelper(const Origin& origin) {
  const std::string key = absl::StrCat(origin.text->path, ":", origin.name);
  const auto [at, added] = helpers_.try_emplace(key, nullptr);
  if (!added || depth_ >= kMaxHelpers) return at->second;
  ++depth_;
  std::shared_ptr<const Helper> helper = ReadHelperBody(origin);
  --depth_;
  helpers_[key] = helper;
  return helper;
}

// A function compares its parameters if a comparison in it has sides that come from one parameter
// each. It is no helper if it calls what it compares.
std::shared_ptr<const ComparisonFinder::Helper> ComparisonFinder::ReadHelperBody(
    const Origin& origin) {
  TestFile* file = files_.Get(origin.text->path);
  if (file == nullptr) return nullptr;
  const NodeId function = file->FindDefinition(origin.name);
  const SyntaxTree& tree = file->tree();
  if (function == kNoNode || tree.GetKind(function) != Kind::kFunctionDefinition) return nullptr;
  TestUnit unit(scope_, reach_, *file, function);
  auto helper = std::make_shared<Helper>();
  helper->file = file;
  helper->function = function;
  helper->parameters = unit.body().parameters();
  absl::flat_hash_set<absl::string_view> called;
  for (const Call& call : file->view().calls.In(function)) {
    if (call.function == kNoNode || tree.GetKind(call.function) != Kind::kIdentifier) continue;
    called.insert(tree.GetText(call.function));
  }
  std::vector<TestComparison> comparisons = Find(unit);
  // An assertion may be about anything; a comparison of values is about the values.
  std::stable_sort(comparisons.begin(), comparisons.end(), [](const auto& a, const auto& b) {
    return (a.form == "equal") < (b.form == "equal");
  });
  for (const TestComparison& comparison : comparisons) {
    for (const auto& [a, b] : comparison.pairs) {
      const auto from = [&](NodeId side) {
        FunctionBody::Names names;
        if (side == kNoNode) return names;
        const Trace trace = unit.Follow(side, comparison.statement);
        for (const absl::string_view name : helper->parameters) {
          if (trace.inputs.contains(name)) names.push_back(name);
        }
        return names;
      };
      const FunctionBody::Names first = from(a);
      const FunctionBody::Names second = from(b);
      for (const absl::string_view x : first) {
        const auto y = std::find_if(second.begin(), second.end(),
                                    [&](absl::string_view name) { return name != x; });
        if (y == second.end() || IsTolerance(x) || IsTolerance(*y)) continue;
        if (called.contains(x) || called.contains(*y)) continue;
        helper->first = std::string(x);
        helper->second = std::string(*y);
        return helper;
      }
    }
    for (const Argument& argument : GetArguments(tree, comparison.node)) {
      if (tree.GetKind(argument.value) == Kind::kListSplat) helper->pairs = true;
    }
  }
  for (const Call& call : file->view().calls.In(function)) {
    if (FindForm(unit, call).empty()) continue;
    const Arguments arguments = GetArguments(tree, call.node);
    if (!arguments.empty() && arguments[0].keyword.empty() &&
        absl::StartsWith(tree.GetText(arguments[0].value), "*")) {
      helper->pairs = true;
    }
  }
  return helper->pairs ? helper : nullptr;
}

// assert ... < x, assert (a == b).all(), self.assertLess(..., x)
void ComparisonFinder::ReadAssert(TestUnit& unit, int statement,
                                  std::vector<TestComparison>& found) {
  const SyntaxTree& tree = unit.file().tree();
  const NodeId node = unit.body().statements()[statement].node;
  TestComparison added;
  added.statement = statement;
  for (const Call& call : unit.file().view().calls.In(node)) {
    if (!absl::StartsWith(LastPart(call.name), "assertLess")) continue;
    const Arguments arguments = GetArguments(tree, call.node);
    if (arguments.size() < 2) continue;
    added.node = call.node;
    added.form = "difference";
    if (!FindDifference(unit, statement, arguments[0].value, added, 0)) continue;
    added.tolerances.push_back({"difference", &unit.file(), arguments[1].value});
    found.push_back(std::move(added));
    return;
  }
  if (!absl::StartsWith(tree.GetText(node), "assert") &&
      !absl::StrContains(tree.GetText(node), "assertTrue")) {
    return;
  }
  for (const NodeId comparison : tree.Of(Kind::kComparisonOperator, node)) {
    if (!ReadOrder(unit, statement, comparison, added)) continue;
    added.node = comparison;
    found.push_back(std::move(added));
    return;
  }
}

// a - b < x, x > a - b, (a == b)
bool ComparisonFinder::ReadOrder(TestUnit& unit, int statement, NodeId comparison,
                                 TestComparison& added) {
  const SyntaxTree& tree = unit.file().tree();
  std::vector<NodeId> sides = Children(tree, comparison);
  if (sides.size() != 2) return false;
  const absl::string_view sign = absl::StripAsciiWhitespace(unit.file().view().text.substr(
      tree[sides[0]].end, tree[sides[1]].start - tree[sides[0]].end));
  if (IsMetadata(tree, sides[0]) || IsMetadata(tree, sides[1])) return false;
  if (sign == "==" && !IsLiteral(tree, sides[0]) && !IsLiteral(tree, sides[1])) {
    added.form = "equal";
    added.pairs.emplace_back(sides[0], sides[1]);
    return true;
  }
  if (sign.empty() || (sign[0] != '<' && sign[0] != '>')) return false;
  added.form = "difference";
  for (int turn = 0; turn < 2; ++turn) {
    // A measure that must be large is a likeness.
    const bool small = (sign[0] == '<') == (turn == 0);
    if ((small || SaysLikeness(tree.GetText(sides[0]))) &&
        FindDifference(unit, statement, sides[0], added, 0)) {
      added.tolerances.push_back({"difference", &unit.file(), sides[1]});
      return true;
    }
    std::swap(sides[0], sides[1]);
  }
  return false;
}

// Finds a - b in the expression, or in what its name stands for; else the two arguments of a call
// that measures how much they differ.
bool ComparisonFinder::FindDifference(TestUnit& unit, int statement, NodeId node,
                                      TestComparison& added, int depth) {
  const SyntaxTree& tree = unit.file().tree();
  if (depth > kMaxComparisonDepth) return false;
  if (const auto minus = FindMinus(tree, node)) {
    added.pairs.push_back(*minus);
    return true;
  }
  for (const Call& call : unit.file().view().calls.In(node)) {
    std::vector<NodeId> sides;
    for (const Argument& argument : GetArguments(tree, call.node)) {
      if (argument.keyword.empty() && !IsLiteral(tree, argument.value)) {
        sides.push_back(argument.value);
      }
    }
    const absl::string_view last = LastPart(call.name);
    if (sides.size() < 2 || last == "max" || last == "min") continue;
    added.pairs.emplace_back(sides[0], sides[1]);
    return true;
  }
  const absl::string_view name = BaseName(tree, node);
  if (name.empty() || !unit.body().Binds(name)) {
    for (const Call& call : unit.file().view().calls.In(node)) {
      for (const Argument& argument : GetArguments(tree, call.node)) {
        if (FindDifference(unit, statement, argument.value, added, depth + 1)) return true;
      }
    }
    return false;
  }
  for (const int source : unit.body().FindSources(name, statement)) {
    const NodeId value = unit.body().FindValue(source, name);
    if (value == kNoNode || !FindDifference(unit, source, value, added, depth + 1)) continue;
    return true;
  }
  return false;
}

// The helper's own defaults count where the call gives nothing.
void ComparisonFinder::AddTolerances(TestUnit& unit, const Call& call, const Helper* helper,
                                     TestComparison& added) const {
  const SyntaxTree& tree = unit.file().tree();
  const Arguments arguments = GetArguments(tree, call.node);
  size_t position = 0;
  const auto has = [&](absl::string_view name) {
    return std::any_of(added.tolerances.begin(), added.tolerances.end(),
                       [name](const auto& each) { return each.name == name; });
  };
  for (const Argument& argument : arguments) {
    std::string name(argument.keyword);
    if (name.empty() && helper != nullptr && !helper->pairs &&
        position < helper->parameters.size()) {
      name = std::string(helper->parameters[position]);
    } else if (name.empty() && helper == nullptr && added.form != "gradcheck" && position >= 2 &&
               position <= 3 && (added.form == "allclose")) {
      name = position == 2 ? "rtol" : "atol";
    }
    if (argument.keyword.empty()) ++position;
    if (IsTolerance(name) && !has(name)) {
      added.tolerances.push_back({name, &unit.file(), argument.value});
    }
  }
  if (helper == nullptr) return;
  const SyntaxTree& theirs = helper->file->tree();
  const NodeId parameters = theirs.Child(helper->function, Field::kParameters);
  for (NodeId child = parameters == kNoNode ? kNoNode : theirs.FirstChild(parameters);
       child != kNoNode; child = theirs.NextSibling(child)) {
    const NodeId value = theirs.Child(child, Field::kValue);
    const NodeId name = theirs.Child(child, Field::kName);
    if (value == kNoNode || name == kNoNode) continue;
    const std::string text(theirs.GetText(name));
    if (IsTolerance(text) && !has(text) && theirs.GetText(value) != "None") {
      added.tolerances.push_back({text, helper->file, value});
    }
  }
}

}  // namespace kernelmill::extractor
