#include "services/extractor/core/reference/reference_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kernelmill::extractor {

using python::Field;
using python::Kind;

namespace {

constexpr int kMaxDepth = 24;
constexpr size_t kMaxText = 64u << 10;

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

std::vector<NodeId> Children(const SyntaxTree& tree, NodeId node) {
  std::vector<NodeId> children;
  for (NodeId child = tree.FirstChild(node); child != kNoNode; child = tree.NextSibling(child)) {
    if (!IsLayout(tree.GetKind(child))) children.push_back(child);
  }
  return children;
}

class CalleeFinder {
 public:
  explicit CalleeFinder(const TestUnit& unit) : unit_(unit), tree_(unit.file().tree()) {}

  ReferenceCallee FindIn(NodeId node, int at, int depth) const {
    node = tree_.StripParentheses(node);
    if (depth > kMaxDepth) return {};
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
        return FindIn(tree_.Child(node, Field::kObject), at, depth + 1);
      }
      case Kind::kSubscript:
        return FindIn(tree_.Child(node, Field::kValue), at, depth + 1);
      case Kind::kConditionalExpression: {
        const std::vector<NodeId> parts = Children(tree_, node);
        return parts.empty() ? ReferenceCallee() : FindIn(parts[0], at, depth + 1);
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
    for (const int source : unit_.body().FindSources(name, at)) {
      const NodeId value = unit_.body().FindValue(source, name);
      if (value != kNoNode) return FindIn(value, source, depth + 1);
    }
    return {};
  }

  ReferenceCallee FindByCall(NodeId call, int at, int depth) const {
    const NodeId function = tree_.StripParentheses(tree_.Child(call, Field::kFunction));
    if (function == kNoNode) return {};
    const Kind kind = tree_.GetKind(function);
    if (kind == Kind::kCall) return FindByCall(function, at, depth + 1);  // Layer()(x)
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
      if (of_object) {
        std::erase_if(callee.origins, [](const Origin* origin) {
          return HostModules::FindDefinition(*origin)->kind() != v1::Definition::KIND_CLASS;
        });
        callee.local = -1;
      }
      return callee;
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
  if (made.text.size() > kMaxText) return std::nullopt;
  const std::unique_ptr<TestFile> parsed = files.ParseText(made.path, made.text);
  const NodeId function = parsed == nullptr ? kNoNode : parsed->FindDefinition("reference");
  if (function == kNoNode) return std::nullopt;
  for (const absl::string_view name : parsed->view().bindings.FreeNames(function)) {
    made.free_names.emplace_back(name);
  }
  return made;
}

}  // namespace kernelmill::extractor
