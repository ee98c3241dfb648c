#include "services/extractor/core/reference/reference_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/python/syntax/children.h"

namespace kernelmill::extractor {

using python::Call;
using python::Children;
using python::Field;
using python::Kind;

namespace {

constexpr int kMaxTextDepth = 24;
constexpr size_t kMaxReferenceText = 64u << 10;

// Methods that give a tensor another type, place or shape.
bool Converts(absl::string_view method) {
  static constexpr absl::string_view kMethods[] = {
      "to",      "float",     "half",    "bfloat16",   "double",         "cpu",
      "cuda",    "clone",     "detach",  "contiguous", "view",           "reshape",
      "permute", "transpose", "squeeze", "unsqueeze",  "type",           "numpy",
      "item",    "flatten",   "view_as", "type_as",    "requires_grad_", "tolist",
      "xpu",     "eval",      "int",     "long",       "bool",           "t"};
  return std::find(std::begin(kMethods), std::end(kMethods), method) != std::end(kMethods);
}

bool IsIn(absl::string_view name, absl::Span<const absl::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Returns the effect of a call by the name of what it calls.
Effect FindCallEffect(absl::string_view called) {
  static constexpr absl::string_view kRearranging[] = {
      "view",    "reshape",  "permute", "transpose", "squeeze", "unsqueeze", "flatten",
      "view_as", "t",        "chunk",   "split",     "unbind",  "unflatten", "narrow",
      "expand",  "swapaxes", "movedim", "mT",        "stack",   "list",      "tuple"};
  static constexpr absl::string_view kConverting[] = {
      "copy",   "deepcopy", "size", "numel", "stride", "dim",  "len",     "range",
      "device", "dtype",    "type", "print", "zip",    "dict", "no_grad", "enumerate"};
  static constexpr absl::string_view kConstants[] = {
      "tensor",    "zeros", "zeros_like", "ones",      "ones_like",  "full",
      "full_like", "empty", "empty_like", "array",     "from_numpy", "as_tensor",
      "rand",      "randn", "randint",    "rand_like", "randn_like", "arange"};
  if (IsIn(called, kConstants)) return Effect::kConstant;
  if (IsIn(called, kRearranging)) return Effect::kRearranges;
  return Converts(called) || IsIn(called, kConverting) ? Effect::kConverts : Effect::kComputes;
}

class CalleeFinder {
 public:
  explicit CalleeFinder(const TestUnit& unit) : unit_(unit), tree_(unit.file().tree()) {}

  ReferenceCallee FindIn(NodeId node, int at, int depth) const {
    node = tree_.StripParentheses(node);
    if (depth > kMaxTextDepth) return {};
    switch (tree_.GetKind(node)) {
      case Kind::kIdentifier:
        return FindByName(tree_.GetText(node), at, depth);
      case Kind::kAttribute: {
        const absl::string_view base = BaseName(tree_, node);
        const NodeId attribute = tree_.Child(node, Field::kAttribute);
        if (attribute != kNoNode && tree_.GetText(attribute) == "grad") {
          const int backward = unit_.body().FindBackward(base, at);
          if (backward < 0) return {};
          const NodeId object = unit_.body().statements()[backward].backward;
          return FindIn(object, backward, depth + 1);
        }
        ReferenceCallee callee = FindIn(tree_.Child(node, Field::kObject), at, depth + 1);
        const absl::string_view member =
            attribute == kNoNode ? absl::string_view() : tree_.GetText(attribute);
        if (member != "T" && member != "mT" && member != "data") callee.parameter = {};
        return callee;
      }
      case Kind::kSubscript: {
        ReferenceCallee callee = FindIn(tree_.Child(node, Field::kValue), at, depth + 1);
        const std::vector<NodeId> parts = Children(tree_, node);
        const absl::string_view key =
            parts.size() == 2 ? tree_.GetText(parts[1]) : absl::string_view();
        if (!callee.parameter.empty() && IsKey(key))
          callee.elements.emplace(callee.elements.begin(), key);
        return callee;
      }
      case Kind::kConditionalExpression: {
        const std::vector<NodeId> parts = Children(tree_, node);
        return parts.empty() ? ReferenceCallee() : FindIn(parts[0], at, depth + 1);
      }
      case Kind::kBinaryOperator: {
        // Expected values that a fixture makes may be scaled: expected / most.
        const NodeId left = tree_.Child(node, Field::kLeft);
        ReferenceCallee scaled = left == kNoNode ? ReferenceCallee() : FindIn(left, at, depth + 1);
        ReferenceCallee callee;
        callee.parameter = scaled.parameter;
        callee.elements = std::move(scaled.elements);
        return callee;
      }
      case Kind::kCall:
        return FindByCall(node, at, depth);
      default:
        return {};
    }
  }

 private:
  // The nearest statement that gives the name a value counts; one that only changes the object does
  // not make it.
  ReferenceCallee FindByName(absl::string_view name, int at, int depth) const {
    bool changed = false;
    for (const int source : unit_.body().FindSources(name, at)) {
      const NodeId value = unit_.body().FindValue(source, name);
      changed = true;
      if (value == kNoNode) continue;
      ReferenceCallee callee = FindIn(value, source, depth + 1);
      const int place = callee.parameter.empty() ? -1 : unit_.body().FindPlace(source, name);
      if (place >= 0) callee.elements.insert(callee.elements.begin(), absl::StrCat(place));
      return callee;
    }
    ReferenceCallee callee;
    if (!changed && name != "self" && unit_.body().IsParameter(name)) callee.parameter = name;
    return callee;
  }

  // Returns whether a subscript names one element: 0, "key".
  static bool IsKey(absl::string_view text) {
    const bool number = text.find_first_not_of("0123456789") == absl::string_view::npos;
    return !text.empty() && (number || text[0] == '"' || text[0] == '\'');
  }

  // A function is not what it returns: plain = make_plain(2), make_plain(2)(x). The object
  // of a class counts as the class.
  static ReferenceCallee WithoutFunctions(ReferenceCallee callee) {
    std::erase_if(callee.origins, [](const Origin* origin) {
      return HostModules::FindDefinition(*origin)->kind() != v1::Definition::KIND_CLASS;
    });
    callee.local = -1;
    callee.parameter = {};
    return callee;
  }

  ReferenceCallee FindByCall(NodeId call, int at, int depth) const {
    const NodeId function = tree_.StripParentheses(tree_.Child(call, Field::kFunction));
    if (function == kNoNode) return {};
    const Kind kind = tree_.GetKind(function);
    // Layer()(x)
    if (kind == Kind::kCall) return WithoutFunctions(FindByCall(function, at, depth + 1));
    if (kind == Kind::kAttribute) {
      const NodeId method = tree_.Child(function, Field::kAttribute);
      const NodeId object = tree_.Child(function, Field::kObject);
      if (method != kNoNode && Converts(tree_.GetText(method)))
        return FindIn(object, at, depth + 1);
    }
    const bool of_object = kind == Kind::kAttribute;
    const absl::string_view base = BaseName(tree_, function);
    const std::string dotted = DottedExpression(tree_, function);
    if (base.empty()) return {};
    ReferenceCallee callee;
    callee.statement = at;
    if (!dotted.empty()) callee.origins = unit_.ResolveName(dotted);
    std::erase_if(callee.origins, [](const Origin* origin) {
      const v1::Definition* definition = HostModules::FindDefinition(*origin);
      return definition == nullptr;
    });
    if (!callee.origins.empty() || !unit_.body().Binds(base)) return callee;
    callee.unknown =
        !of_object && unit_.body().IsParameter(base) && unit_.body().FindSources(base, at).empty();
    for (const int source : unit_.body().FindSources(base, at)) {
      const Kind statement = tree_.GetKind(unit_.body().statements()[source].node);
      if (statement == Kind::kFunctionDefinition || statement == Kind::kDecoratedDefinition) {
        callee.local = source;
        return callee;
      }
      const NodeId value = unit_.body().FindValue(source, base);
      if (value == kNoNode) continue;
      callee = FindByObject(value, source, depth + 1);
      // A method of what a function returns is the tensor's own.
      const bool called = tree_.GetKind(tree_.StripParentheses(value)) == Kind::kCall;
      return of_object || called ? WithoutFunctions(std::move(callee)) : callee;
    }
    return callee;
  }

  // The called expression may be an object, layer = Layer(...), or a function, f = reference.
  ReferenceCallee FindByObject(NodeId value, int at, int depth) const {
    const NodeId node = tree_.StripParentheses(value);
    const Kind kind = tree_.GetKind(node);
    if (kind == Kind::kIdentifier || kind == Kind::kAttribute) {
      ReferenceCallee callee;
      callee.origins = unit_.ResolveName(DottedExpression(tree_, node));
      if (!callee.origins.empty()) return callee;
    }
    return FindIn(node, at, depth + 1);
  }

  const TestUnit& unit_;
  const SyntaxTree& tree_;
};

// Writes the statements; see WriteReference.
class ReferenceWriter {
 public:
  ReferenceWriter(const TestUnit& unit, const std::set<int>& statements, int at)
      : body_(unit.body()),
        view_(unit.file().view()),
        around_(body_.statements()[at].around),
        chosen_(statements) {}

  // Adds the heads around the chosen statements. Returns false if one of them is the other branch
  // of a condition that is around `at`.
  bool AddHeads() {
    std::vector<int> pending(chosen_.begin(), chosen_.end());
    for (size_t i = 0; i < pending.size(); ++i) {
      const FunctionBody::Statement& statement = body_.statements()[pending[i]];
      std::vector<int> heads = statement.around;
      if (statement.clause_of >= 0 && !IsAround(pending[i])) {
        if (IsAround(statement.clause_of)) return false;
        heads.push_back(statement.clause_of);
      }
      for (const int head : heads) {
        if (chosen_.insert(head).second) pending.push_back(head);
      }
    }
    chosen_.insert(around_.begin(), around_.end());
    return true;
  }

  FunctionBody::Names FindParameters(const std::vector<NodeId>& expected) const {
    absl::flat_hash_set<absl::string_view> bound;
    FunctionBody::Names parameters;
    const auto add = [&](const FunctionBody::Statement& statement) {
      for (const absl::string_view name : statement.reads) {
        const bool known = bound.contains(name) || std::find(parameters.begin(), parameters.end(),
                                                             name) != parameters.end();
        if (!known && body_.Binds(name)) parameters.push_back(name);
      }
      bound.insert(statement.binds.begin(), statement.binds.end());
    };
    for (const int i : chosen_) {
      if (!IsAround(i)) add(body_.statements()[i]);
    }
    for (const NodeId each : expected) add(body_.Read(each));
    return parameters;
  }

  std::string WriteBody() const {
    std::string text;
    int written = 0;
    for (auto at = chosen_.begin(); at != chosen_.end(); ++at) {
      const FunctionBody::Statement& statement = body_.statements()[*at];
      if (IsAround(*at)) {
        absl::StrAppend(&text, GetIndentation(statement.first_line), "if True:\n");
        continue;
      }
      for (int line = std::max(statement.first_line, written + 1); line <= statement.last_line;
           ++line) {
        text += GetLine(line);
      }
      written = std::max(written, statement.last_line);
      const auto next = std::next(at);
      const bool empty = next == chosen_.end() || !IsIn(*next, *at);
      if (statement.head && empty) {
        absl::StrAppend(&text, GetIndentation(statement.first_line), "    pass\n");
      }
    }
    return text;
  }

  std::string GetIndentation(int line) const {
    const std::string text = GetLine(line);
    return text.substr(0, text.find_first_not_of(" \t"));
  }

 private:
  bool IsAround(int statement) const {
    return std::find(around_.begin(), around_.end(), statement) != around_.end();
  }
  bool IsIn(int statement, int head) const {
    const std::vector<int>& around = body_.statements()[statement].around;
    return std::find(around.begin(), around.end(), head) != around.end();
  }
  std::string GetLine(int line) const {
    const size_t begin = view_.lines.Begin(line);
    std::string text(view_.text.substr(begin, view_.lines.End(line) - begin));
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return text + "\n";
  }

  const FunctionBody& body_;
  const ParsedFile& view_;
  const std::vector<int>& around_;
  std::set<int> chosen_;
};

}  // namespace

Effect FindEffect(const TestUnit& unit, const std::set<int>& statements,
                  const std::vector<NodeId>& expected) {
  const SyntaxTree& tree = unit.file().tree();
  Effect effect = Effect::kConverts;
  std::vector<NodeId> nodes = expected;
  for (const int statement : statements) {
    const FunctionBody::Statement& each = unit.body().statements()[statement];
    if (!each.head) nodes.push_back(each.node);
    if (each.head && tree.GetKind(each.node) == Kind::kForStatement) effect = Effect::kComputes;
  }
  for (const NodeId node : nodes) {
    std::vector<std::pair<NodeId, NodeId>> constants;  // operators within make no values
    const auto is_stated = [&constants](NodeId within) {
      return std::any_of(constants.begin(), constants.end(), [within](const auto& each) {
        return each.first < within && within < each.second;
      });
    };
    for (const Call& call : unit.file().view().calls.In(node)) {
      if (is_stated(call.node)) continue;
      absl::string_view called = call.name.substr(call.name.rfind('.') + 1);
      if (called.empty() && call.function != kNoNode) {
        const NodeId attribute = tree.Child(call.function, Field::kAttribute);
        if (attribute != kNoNode) called = tree.GetText(attribute);
      }
      const Effect own = FindCallEffect(called);
      if (own == Effect::kConstant) constants.emplace_back(call.node, tree[call.node].subtree_end);
      effect = std::max(effect, own);
    }
    for (const NodeId subscript : tree.Of(Kind::kSubscript, node)) {
      const std::vector<NodeId> parts = Children(tree, subscript);
      if (parts.size() != 2 || unit.body().Binds(BaseName(tree, parts[1]))) {
        effect = std::max(effect, Effect::kRearranges);
      }
    }
    for (const Kind kind :
         {Kind::kBinaryOperator, Kind::kComparisonOperator, Kind::kAugmentedAssignment}) {
      for (const NodeId computed : tree.Of(kind, node)) {
        if (!is_stated(computed)) effect = Effect::kComputes;
      }
    }
  }
  return effect;
}

FunctionBody::Names FindParameters(const TestUnit& unit, const std::set<int>& statements,
                                   const std::vector<NodeId>& expected, int at) {
  ReferenceWriter writer(unit, statements, at);
  writer.AddHeads();
  return writer.FindParameters(expected);
}

ReferenceCallee FindReferenceCallee(const TestUnit& unit, NodeId expected, int at) {
  return CalleeFinder(unit).FindIn(expected, at, 0);
}

std::optional<HostText> WriteReference(const TestUnit& unit, TestFiles& files,
                                       const std::set<int>& statements,
                                       const std::vector<NodeId>& expected, int at) {
  ReferenceWriter writer(unit, statements, at);
  if (!writer.AddHeads()) return std::nullopt;
  std::vector<std::string> results;
  for (const NodeId each : expected) {
    const absl::string_view text = unit.file().GetText(each);
    results.push_back(absl::StrContains(text, "\n") ? absl::StrCat("(", text, ")")
                                                    : std::string(text));
  }
  const FunctionBody::Statement& place = unit.body().statements()[at];
  HostText made;
  made.path = unit.file().path();
  made.name = "reference";
  made.first_line =
      unit.file().view().lines.LineAt(unit.file().tree()[unit.body().function()].start);
  made.last_line = made.first_line;
  made.text = absl::StrCat("def reference(", absl::StrJoin(writer.FindParameters(expected), ", "),
                           "):\n", writer.WriteBody(), writer.GetIndentation(place.first_line),
                           "return ", absl::StrJoin(results, ", "), "\n");
  if (made.text.size() > kMaxReferenceText) return std::nullopt;
  const std::unique_ptr<TestFile> parsed = files.ParseText(made.path, made.text);
  const NodeId function = parsed == nullptr ? kNoNode : parsed->FindDefinition("reference");
  if (function == kNoNode) return std::nullopt;
  for (const absl::string_view name : parsed->view().bindings.FreeNames(function)) {
    made.free_names.emplace_back(name);
  }
  return made;
}

}  // namespace kernelmill::extractor
