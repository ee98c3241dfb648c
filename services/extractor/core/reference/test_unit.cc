#include "services/extractor/core/reference/test_unit.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/python/syntax/imports.h"

namespace kernelmill::extractor {

using python::Arguments;
using python::Call;
using python::Field;
using python::Kind;

namespace {

constexpr size_t kMaxFollowed = 4000;  // statements of one trace

bool Contains(const FunctionBody::Names& names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Operators whose function has another name than torch's.
std::vector<std::string> OperatorNames(absl::string_view called, absl::string_view family) {
  if (!family.empty()) return {absl::StrCat(family, "_", called)};
  return {std::string(called), absl::StrCat("native_", called), absl::StrCat("_", called),
          absl::StrCat(called, "_forward")};
}

}  // namespace

TestUnit::TestUnit(SourceScope& scope, const Reach& reach, TestFile& file, NodeId function)
    : scope_(scope),
      reach_(reach),
      file_(file),
      text_(scope.GetDefinitions(file.path(), 0)),
      body_(file.view(), function, file.search_steps()),
      qualname_(QualifiedName(file.tree(), function)) {
  ReadImports();
}

void TestUnit::ReadImports() {
  for (const NodeId node : python::ImportsIn(file_.tree(), body_.function())) {
    for (v1::ImportedName& imported : python::ImportedNames(file_.tree(), node)) {
      imports_[imported.name()] = imported;
    }
  }
}

std::vector<const Origin*> TestUnit::ResolveName(const std::string& dotted) const {
  const size_t dot = dotted.find('.');
  const std::string first = dotted.substr(0, dot);
  if (const auto import = imports_.find(first); import != imports_.end()) {
    const v1::ImportedName& imported = import->second;
    if (const Origin* origin = scope_.FindImported(text_, imported)) return {origin};
    const TextDefinitions* module = scope_.ImportedModule(text_, imported);
    if (module == nullptr || dot == std::string::npos) return {};
    const auto member = scope_.FindMember(*module, absl::string_view(dotted).substr(dot + 1));
    return member ? std::vector<const Origin*>{member->origin} : std::vector<const Origin*>();
  }
  if (body_.Binds(first)) {
    const auto given = parameter_origins.find(first);
    return body_.IsParameter(first) && given != parameter_origins.end()
               ? given->second
               : std::vector<const Origin*>();
  }
  return FindOrigins(scope_, text_, dotted);
}

const std::map<int32_t, KernelUse>& TestUnit::GetUses(int statement) {
  const auto [at, added] = uses_.try_emplace(statement);
  if (added) at->second = FindUses(body_.statements()[statement]);
  return at->second;
}

void TestUnit::AddUse(Reach::Node node, absl::string_view named,
                      std::map<int32_t, KernelUse>& uses) const {
  for (const Reach::Way& way : reach_.WaysFrom(node)) {
    const auto [at, added] = uses.try_emplace(way.kernel);
    const bool better = !added && at->second.gradient && !way.gradient;
    if (added || better) at->second = {node, way.gradient, std::string(named)};
  }
}

void TestUnit::AddOrigin(const Origin& origin, absl::string_view named,
                         std::map<int32_t, KernelUse>& uses) const {
  const Reach::Node node = reach_.Find(origin);
  if (node != Reach::kNone) AddUse(node, named, uses);
}

// A head has the names of its own lines only: those of the statements below it are theirs.
std::map<int32_t, KernelUse> TestUnit::FindUses(const FunctionBody::Statement& statement) const {
  std::map<int32_t, KernelUse> uses;
  const SyntaxTree& tree = file_.tree();
  for (const NodeId identifier : tree.Of(Kind::kIdentifier, statement.node)) {
    if (statement.head && !Contains(statement.reads, tree.GetText(identifier))) continue;
    if (statement.head && file_.view().lines.LineAt(tree[identifier].start) > statement.last_line) {
      break;
    }
    const NodeId node = DottedFrom(tree, identifier);
    if (node == kNoNode) continue;
    const std::string dotted = DottedExpression(tree, node);
    for (const Origin* origin : ResolveName(dotted)) AddOrigin(*origin, dotted, uses);
  }
  if (statement.head) return uses;
  if (!statement.binds.empty()) {
    const std::string local = absl::StrCat(qualname_, ".", statement.binds[0]);
    const int32_t kernel = reach_.FindLocal(file_.path(), local);
    if (kernel >= 0) {
      uses[kernel] = {reach_.FindNode(kernel), false, std::string(statement.binds[0])};
    }
  }
  for (const Call& call : file_.view().calls.In(statement.node)) {
    if (call.name == "getattr") AddMember(call.node, uses);
    absl::string_view name = call.resolved;
    if (absl::ConsumePrefix(&name, "torch.ops.") && !absl::StartsWith(name, "aten.")) {
      const absl::string_view op = OperatorName(name.substr(name.find('.') + 1));
      for (const Reach::Node node : reach_.FindOperator(op)) AddUse(node, call.name, uses);
    }
  }
  if (reach_.has_operators()) AddOperators(statement, uses);
  return uses;
}

// getattr(package, name), where the name is a string or a parameter that is given strings.
void TestUnit::AddMember(NodeId call, std::map<int32_t, KernelUse>& uses) const {
  const SyntaxTree& tree = file_.tree();
  const Arguments arguments = GetArguments(tree, call);
  if (arguments.size() < 2) return;
  const std::string object = DottedExpression(tree, arguments[0].value);
  std::vector<std::string> names;
  const NodeId given = arguments[1].value;
  if (tree.GetKind(given) == Kind::kIdentifier) {
    const auto found = parameter_strings.find(tree.GetText(given));
    if (found != parameter_strings.end()) names = found->second;
  } else if (const auto value = file_.Evaluate(given);
             value && value->type == python::Value::Type::kString) {
    names = {value->text};
  }
  for (const std::string& name : names) {
    const std::string dotted = absl::StrCat(object, ".", name);
    for (const Origin* origin : ResolveName(dotted)) AddOrigin(*origin, dotted, uses);
  }
}

// Returns whether a context manager of the source is around, which may register operators.
bool TestUnit::IsDispatching(const FunctionBody::Statement& statement) const {
  const SyntaxTree& tree = file_.tree();
  for (const int head : statement.around) {
    const FunctionBody::Statement& with = body_.statements()[head];
    if (tree.GetKind(with.node) != Kind::kWithStatement) continue;
    for (const NodeId identifier : tree.Of(Kind::kIdentifier, with.node)) {
      if (file_.view().lines.LineAt(tree[identifier].start) > with.last_line) break;
      const NodeId node = DottedFrom(tree, identifier);
      if (node == kNoNode || tree[node].field != Field::kFunction) continue;
      for (const Origin* origin : ResolveName(DottedExpression(tree, node))) {
        if (!IsTestPath(origin->text->path)) return true;
      }
    }
  }
  return false;
}

// with library.use(): torch.abs(x)
void TestUnit::AddOperators(const FunctionBody::Statement& statement,
                            std::map<int32_t, KernelUse>& uses) const {
  if (!IsDispatching(statement)) return;
  for (const Call& call : file_.view().calls.In(statement.node)) {
    if (call.function == kNoNode) continue;
    absl::string_view called = call.resolved;
    std::string family;  // linalg for torch.linalg.norm
    if (absl::StartsWith(called, "torch.ops.aten.")) {
      called = OperatorName(called.substr(sizeof("torch.ops.aten.") - 1));
    } else if (file_.tree().GetKind(call.function) == Kind::kAttribute) {
      const NodeId attribute = file_.tree().Child(call.function, Field::kAttribute);
      for (const absl::string_view each : {"linalg", "fft", "special"}) {
        if (absl::StartsWith(called, absl::StrCat("torch.", each, "."))) family = std::string(each);
      }
      called = attribute == kNoNode ? absl::string_view() : file_.tree().GetText(attribute);
    } else {
      continue;
    }
    const std::string named = call.name.empty() ? std::string(called) : std::string(call.name);
    for (const std::string& name : OperatorNames(called, family)) {
      const std::vector<Reach::Node>& nodes = reach_.FindOperator(name);
      for (const Reach::Node node : nodes) AddUse(node, named, uses);
      if (!nodes.empty()) break;
    }
  }
}

bool TestUnit::Makes(int statement, int32_t kernel) {
  std::vector<int> pending = {statement};
  absl::flat_hash_set<int> seen = {statement};
  for (size_t i = 0; i < pending.size() && i < kMaxFollowed; ++i) {
    const auto& uses = GetUses(pending[i]);
    if (uses.contains(kernel)) return true;
    for (const absl::string_view name : body_.statements()[pending[i]].callees) {
      if (!body_.Binds(name)) continue;
      for (const int source : body_.FindSources(name, pending[i])) {
        if (seen.insert(source).second) pending.push_back(source);
      }
    }
  }
  return false;
}

// Statements are visited by depth; those at no further step come before the others.
Trace TestUnit::Follow(NodeId expression, int at, int32_t cut) {
  constexpr int kExpression = -1;
  Trace trace;
  FunctionBody::Statement own = body_.Read(expression);
  own.around = body_.statements()[at].around;
  struct Next {
    int statement;
    int depth;
    absl::string_view name;  // the name whose value it gives
  };
  std::deque<Next> pending = {{kExpression, 0, {}}};
  absl::flat_hash_set<int> done;
  const auto add = [&](int statement, int depth, bool near, absl::string_view name) {
    if (cut >= 0 && Makes(statement, cut)) {
      const FunctionBody::Names& names = body_.statements()[statement].binds;
      trace.inputs.insert(names.begin(), names.end());
      return;
    }
    if (near) {
      pending.push_front({statement, depth, name});
    } else {
      pending.push_back({statement, depth + 1, name});
    }
  };
  while (!pending.empty() && done.size() < kMaxFollowed) {
    const auto [current, depth, wanted] = pending.front();
    pending.pop_front();
    if (!done.insert(current).second) continue;
    const bool is_own = current == kExpression;
    const FunctionBody::Statement& statement = is_own ? own : body_.statements()[current];
    const int place = is_own ? at : current;
    if (!is_own) trace.statements.emplace(current, depth);
    trace.gradient |= statement.takes_gradient || statement.backward != kNoNode;
    const std::map<int32_t, KernelUse> found = is_own ? FindUses(own) : GetUses(current);
    for (const auto& [kernel, use] : found)
      trace.hits.try_emplace(kernel, Trace::Hit{depth, use, current});
    for (const absl::string_view name : statement.gradients) {
      const int backward = body_.FindBackward(name, place);
      if (backward >= 0) add(backward, depth, true, name);
    }
    for (const absl::string_view name : statement.reads) {
      if (!body_.Binds(name)) continue;
      // In a.x = b.x = v, a does not come from b.
      if (name != wanted && Contains(statement.targets, name)) continue;
      if (Contains(statement.shapes, name)) {
        trace.inputs.insert(name);
        continue;
      }
      const std::vector<int> sources = body_.FindSources(name, place);
      if (sources.empty()) trace.inputs.insert(name);
      for (const int source : sources) {
        add(source, depth, Contains(statement.callees, name), name);
      }
    }
    for (const int head : is_own ? std::vector<int>() : statement.around) {
      add(head, depth, false, {});
    }
    if (!is_own && statement.clause_of >= 0) add(statement.clause_of, depth, false, {});
  }
  return trace;
}

}  // namespace kernelmill::extractor
