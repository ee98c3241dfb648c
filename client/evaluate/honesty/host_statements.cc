// The statements of the host program: names and their values, in the order in which they run.

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/evaluate/honesty/host_run.h"
#include "common/python/syntax/functions.h"
#include "common/python/syntax/imports.h"

namespace kernelmill::client {

using python::Field;
using python::Kind;
using python::kNoNode;

HostRun::Flow HostRun::RunBlock(NodeId block) {
  for (const NodeId statement : Parts(block)) {
    if (!Step()) return Flow::kNext;
    if (RunStatement(statement) == Flow::kEnd) return Flow::kEnd;
  }
  return Flow::kNext;
}

HostRun::Flow HostRun::RunStatement(NodeId node) {
  const Nesting nesting(depth_);
  if (nesting.too_deep()) return Flow::kNext;
  switch (tree_.GetKind(node)) {
    case Kind::kExpressionStatement:
      for (const NodeId part : Parts(node)) Evaluate(part);
      return Flow::kNext;
    case Kind::kIfStatement:
      return RunIf(node);
    case Kind::kForStatement:
    case Kind::kWhileStatement:
      return RunLoop(node);
    case Kind::kTryStatement:
      return RunTry(node);
    case Kind::kWithStatement:
      return RunWith(node);
    case Kind::kMatchStatement: {
      std::vector<NodeId> branches;
      for (const NodeId clause : tree_.Of(Kind::kCaseClause, node)) branches.push_back(clause);
      return RunBranches(kNoNode, branches);
    }
    case Kind::kReturnStatement: {
      Value result;
      for (const NodeId part : Parts(node)) result = Evaluate(part);
      if (result.empty()) result = Scalar("None");
      AddTo(result, &scopes_[scope_].returned);
      return Flow::kEnd;
    }
    case Kind::kFunctionDefinition:
      Define(node, kNoNode);
      return Flow::kNext;
    case Kind::kClassDefinition:
      DefineClass(node);
      return Flow::kNext;
    case Kind::kDecoratedDefinition: {
      const NodeId definition = tree_.Child(node, Field::kDefinition);
      if (definition == kNoNode) return Flow::kNext;
      const bool is_class = tree_.GetKind(definition) == Kind::kClassDefinition;
      is_class ? DefineClass(definition) : Define(definition, node);
      return Flow::kNext;
    }
    case Kind::kGlobalStatement:
    case Kind::kNonlocalStatement:
      for (const NodeId name : Parts(node)) {
        Scope& scope = scopes_[scope_];
        const bool global = tree_.GetKind(node) == Kind::kGlobalStatement;
        (global ? scope.global : scope.nonlocal).insert(tree_.GetText(name));
      }
      return Flow::kNext;
    case Kind::kBlock:
      return RunBlock(node);
    default:
      if (python::IsImport(tree_.GetKind(node))) RunImport(node);
      return RunOther(node);
  }
}

// Statements that the tree has no kinds for, by their keywords.
HostRun::Flow HostRun::RunOther(NodeId node) {
  const NodeId first = tree_.FirstChild(node);
  const absl::string_view word = first == kNoNode ? tree_.GetText(node) : tree_.GetText(first);
  const bool ends = word == "raise" || word == "break" || word == "continue";
  if (ends) return Flow::kEnd;
  if (word == "assert" || word == "del") {
    for (const NodeId part : Parts(node)) Evaluate(part);
  }
  return Flow::kNext;
}

void HostRun::RunImport(NodeId node) {
  for (const v1::ImportedName& imported : python::ImportedNames(tree_, node)) {
    std::string name(static_cast<size_t>(imported.level()), '.');
    absl::StrAppend(&name, imported.module());
    if (!imported.member().empty()) {
      absl::StrAppend(&name, absl::EndsWith(name, ".") ? "" : ".", imported.member());
    }
    if (imported.name() == "*") continue;
    // `import a.b` binds a; an alias stands for all of it.
    const bool whole = imported.member().empty() && imported.name() != imported.module() &&
                       absl::StartsWith(imported.module(), absl::StrCat(imported.name(), "."));
    if (whole) name = imported.name();
    const Value value = External(std::move(name));
    // The text outlives the names; the message does not.
    for (const NodeId identifier : tree_.Of(Kind::kIdentifier, node)) {
      if (tree_.GetText(identifier) == imported.name()) {
        scopes_[scope_].names[tree_.GetText(identifier)] = value;
      }
    }
  }
}

void HostRun::Define(NodeId node, NodeId decorated) {
  const NodeId name = tree_.Child(node, Field::kName);
  if (name == kNoNode) return;
  Object object;
  object.node = node;
  object.kind = kernels_.contains(node) ? Object::kKernel : Object::kFunction;
  object.scope = scope_;
  const NodeId parameters = tree_.Child(node, Field::kParameters);
  if (parameters != kNoNode && object.kind == Object::kFunction) {
    for (const NodeId parameter : Parts(parameters)) {
      const NodeId value = tree_.Child(parameter, Field::kValue);
      const NodeId bound = python::ParameterName(tree_, parameter);
      if (value == kNoNode || bound == kNoNode) continue;
      object.attributes[absl::StrCat("=", tree_.GetText(bound))] = Evaluate(value);
    }
  }
  const bool kernel = object.kind == Object::kKernel;
  Value defined = {Add(std::move(object))};
  if (decorated != kNoNode && !kernel) defined = Decorate(std::move(defined), decorated);
  scopes_[scope_].names[tree_.GetText(name)] = std::move(defined);
}

// A decorator of the answer's own is called; those of libraries return the function.
Value HostRun::Decorate(Value defined, NodeId decorated) {
  std::vector<NodeId> decorators;
  for (const NodeId part : Parts(decorated)) {
    if (tree_.GetKind(part) == Kind::kDecorator) decorators.push_back(part);
  }
  absl::c_reverse(decorators);
  for (const NodeId decorator : decorators) {
    const std::vector<NodeId> parts = Parts(decorator);
    if (parts.empty()) continue;
    const absl::string_view text = tree_.GetText(parts[0]);
    if (absl::StrContains(text, "lru_cache") || text == "cache" || text == "functools.cache") {
      cached_functions_.insert(defined.begin(), defined.end());
    }
    if (tree_.GetKind(parts[0]) == Kind::kCall) {
      // The name that a custom operator is registered by.
      for (const NodeId string : tree_.Of(Kind::kString, parts[0])) {
        const absl::string_view literal = tree_.GetText(string);
        const size_t at = literal.rfind("::");
        if (at == absl::string_view::npos) continue;
        const absl::string_view name = literal.substr(at + 2);
        operators_[std::string(name.substr(0, name.find_first_of("\"'(")))] = defined;
      }
    }
    const bool call = tree_.GetKind(parts[0]) == Kind::kCall;
    const NodeId name = call ? tree_.Child(parts[0], Field::kFunction) : parts[0];
    if (name == kNoNode || tree_.GetKind(name) != Kind::kIdentifier) continue;
    const bool own = absl::c_any_of(
        Evaluate(name), [&](ObjectId id) { return objects_[id].kind == Object::kFunction; });
    if (!own) continue;
    const Value value = Evaluate(parts[0]);
    Given given;
    given.positional.push_back(defined);
    Value wrapped = Call(value, given, decorator);
    if (!wrapped.empty()) defined = std::move(wrapped);
  }
  return defined;
}

// The names of a class's body are its attributes; its methods see those of the module.
void HostRun::DefineClass(NodeId node) {
  const NodeId name = tree_.Child(node, Field::kName);
  const NodeId body = tree_.Child(node, Field::kBody);
  if (name == kNoNode || body == kNoNode) return;
  const size_t around = scope_;
  scopes_.emplace_back().around = around;
  scope_ = scopes_.size() - 1;
  RunBlock(body);
  Object object;
  object.kind = Object::kClass;
  object.node = node;
  object.scope = around;
  for (const auto& [member, value] : scopes_[scope_].names) {
    object.attributes[std::string(member)] = value;
    for (const ObjectId id : value) {
      if (objects_[id].scope == scope_) objects_[id].scope = around;
    }
  }
  scope_ = around;
  const ObjectId made = Add(std::move(object));
  classes_[node] = made;
  scopes_[scope_].names[tree_.GetText(name)] = {made};
}

HostRun::Flow HostRun::RunIf(NodeId node) {
  NodeId condition = kNoNode;
  std::vector<NodeId> branches;
  bool covered = false;  // one of the branches runs for sure
  for (const NodeId part : Parts(node)) {
    const Kind kind = tree_.GetKind(part);
    if (covered) break;
    if (kind == Kind::kBlock) {
      const std::optional<bool> truth = Truth(condition);
      if (truth != std::optional(false)) branches.push_back(part);
      covered = truth == std::optional(true);
    } else if (kind == Kind::kElifClause) {
      const std::vector<NodeId> parts = Parts(part);
      if (parts.size() < 2) continue;
      const std::optional<bool> truth = Truth(parts[0]);
      if (truth != std::optional(false)) branches.push_back(part);
      covered = truth == std::optional(true);
    } else if (kind == Kind::kElseClause) {
      branches.push_back(part);
      covered = true;
    } else {
      condition = part;
    }
  }
  if (branches.size() == 1 && covered) {
    return RunBlock(FindBlock(branches[0]));
  }
  return RunBranches(covered ? kNoNode : node, branches);
}

// Runs each branch from the same names and joins them; `node`: no branch may run as well.
HostRun::Flow HostRun::RunBranches(NodeId node, const std::vector<NodeId>& branches) {
  if (branches.empty()) return Flow::kNext;
  // The names are copied for each branch.
  steps_ -= static_cast<int>(scopes_[scope_].names.size() / 8);
  const auto before = scopes_[scope_].names;
  auto joined = before;
  bool falls = node != kNoNode;
  if (!falls) joined.clear();
  ++branches_;
  for (const NodeId branch : branches) {
    scopes_[scope_].names = before;
    const Flow flow = RunBlock(FindBlock(branch));
    if (flow == Flow::kEnd) continue;
    falls = true;
    for (const auto& [name, value] : scopes_[scope_].names) AddTo(value, &joined[name]);
  }
  --branches_;
  scopes_[scope_].names = falls ? joined : before;
  return falls ? Flow::kNext : Flow::kEnd;
}

// Returns the block of a clause, or the node itself if it is a block.
python::NodeId HostRun::FindBlock(NodeId clause) const {
  const NodeId block = tree_.Child(clause, Kind::kBlock);
  return block == kNoNode ? clause : block;
}

// Returns whether a loop has nothing to go over: range(0), range(1, 1), an empty list.
bool HostRun::IsEmptyRange(NodeId node, const Value& over) {
  if (over.size() != 1) return false;
  const Object& object = objects_[over[0]];
  if (object.kind == Object::kContainer) {
    return object.items.empty() && object.rest.empty() && object.attributes.empty();
  }
  if (tree_.GetKind(node) != Kind::kCall || text_.calls().At(node).name != "range") return false;
  std::vector<double> bounds;
  for (const python::Argument& argument : python::GetArguments(tree_, node)) {
    double number = 0;
    if (!absl::SimpleAtod(FindLiteral(Evaluate(argument.value)), &number)) return false;
    bounds.push_back(number);
  }
  if (bounds.size() == 1) return bounds[0] <= 0;
  return bounds.size() == 2 && bounds[0] >= bounds[1];
}

// A loop's body runs twice, so that what it does reaches its own beginning.
HostRun::Flow HostRun::RunLoop(NodeId node) {
  const NodeId body = tree_.Child(node, Kind::kBlock);
  if (body == kNoNode) return Flow::kNext;
  const bool is_for = tree_.GetKind(node) == Kind::kForStatement;
  const NodeId left = tree_.Child(node, Field::kLeft);
  const NodeId right = tree_.Child(node, Field::kRight);
  Value items;
  if (is_for && left != kNoNode && right != kNoNode) {
    const Value over = Evaluate(right);
    if (IsEmptyRange(right, over)) return Flow::kNext;
    items = GetItems(over);
  } else if (!is_for && Truth(Parts(node)[0]) == std::optional(false)) {
    return Flow::kNext;
  }
  auto before = scopes_[scope_].names;
  ++branches_;
  // Loops in one another would run too often.
  const int rounds = ++loops_ <= 2 ? 2 : 1;
  for (int round = 0; round < rounds; ++round) {
    if (left != kNoNode && is_for) Assign(left, items);
    RunBlock(body);
  }
  --loops_;
  --branches_;
  for (const auto& [name, value] : before) AddTo(value, &scopes_[scope_].names[name]);
  if (const NodeId last = tree_.Child(node, Kind::kElseClause); last != kNoNode) {
    return RunBlock(FindBlock(last));
  }
  return Flow::kNext;
}

// Returns whether a handler ends by raising.
bool HostRun::HandlerRaises(NodeId clause) const {
  const std::vector<NodeId> parts = Parts(clause);
  if (parts.empty() || tree_.GetKind(parts.back()) != Kind::kBlock) return false;
  const std::vector<NodeId> statements = Parts(parts.back());
  if (statements.empty()) return false;
  const absl::string_view last = tree_.GetText(statements.back());
  return absl::StartsWith(last, "raise") || absl::StartsWith(last, "sys.exit");
}

HostRun::Flow HostRun::RunTry(NodeId node) {
  const NodeId body = tree_.Child(node, Kind::kBlock);
  if (body == kNoNode) return Flow::kNext;
  const size_t before = launches_;
  const auto names = scopes_[scope_].names;
  Flow flow = RunBlock(body);
  const bool launched = launches_ > before;
  for (const NodeId clause : Parts(node)) {
    const Kind kind = tree_.GetKind(clause);
    if (kind == Kind::kElseClause) {
      if (flow == Flow::kNext) flow = RunBlock(FindBlock(clause));
    } else if (kind == Kind::kExceptClause || kind == Kind::kExceptGroupClause) {
      auto after = scopes_[scope_].names;
      for (const auto& [name, value] : names) AddTo(value, &scopes_[scope_].names[name]);
      const size_t here = launches_;
      ++branches_;
      const Flow handled = RunBlock(FindBlock(clause));
      --branches_;
      if (launched && launches_ == here && !HandlerRaises(clause)) {
        Report(kSwallowed, clause, "an error of the launch leads to another result");
      }
      if (handled == Flow::kNext) {
        flow = Flow::kNext;
        for (const auto& [name, value] : after) AddTo(value, &scopes_[scope_].names[name]);
      } else {
        scopes_[scope_].names = std::move(after);
      }
    } else if (kind == Kind::kFinallyClause) {
      if (RunBlock(FindBlock(clause)) == Flow::kEnd) flow = Flow::kEnd;
    }
  }
  return flow;
}

HostRun::Flow HostRun::RunWith(NodeId node) {
  const NodeId body = tree_.Child(node, Kind::kBlock);
  if (body == kNoNode) return Flow::kNext;
  bool suppresses = false;
  for (NodeId at = node + 1; at < body; ++at) {
    const Kind kind = tree_.GetKind(at);
    if (kind == Kind::kCall) {
      const python::Call& call = text_.calls().At(at);
      suppresses |= absl::EndsWith(call.resolved, "contextlib.suppress");
      Evaluate(at);
      const NodeId around = tree_[at].parent;
      if (tree_.GetKind(around) == Kind::kAsPattern) {
        const NodeId target = tree_.Child(around, Kind::kAsPatternTarget);
        if (target != kNoNode && !Parts(target).empty()) {
          Assign(Parts(target)[0], Tensor());
        }
      }
      at = tree_[at].subtree_end - 1;
    }
  }
  const size_t before = launches_;
  const Flow flow = RunBlock(body);
  if (suppresses && launches_ > before) {
    Report(kSwallowed, node, "an error of the launch is suppressed");
  }
  return flow;
}

void HostRun::Assign(NodeId target, const Value& value) {
  target = tree_.StripParentheses(target);
  switch (tree_.GetKind(target)) {
    case Kind::kIdentifier: {
      const absl::string_view name = tree_.GetText(target);
      Scope& scope = scopes_[scope_];
      if (scope.global.contains(name)) {
        // The next call may find the old or the new value.
        AddTo(value, &scopes_[0].names[name]);
      } else if (scope.nonlocal.contains(name)) {
        AddTo(value, &scopes_[scope.around].names[name]);
      } else {
        scope.names[name] = value;
      }
      return;
    }
    case Kind::kAttribute: {
      const NodeId object = tree_.Child(target, Field::kObject);
      const NodeId attribute = tree_.Child(target, Field::kAttribute);
      if (object == kNoNode || attribute == kNoNode) return;
      const std::string name(tree_.GetText(attribute));
      const Value of = Evaluate(object);
      for (const ObjectId id : of) {
        if (objects_[id].kind == Object::kTensor && name == "data") {
          Overwrite({id}, value);
        } else if (of.size() == 1 && branches_ == 0 && objects_[id].kind == Object::kInstance) {
          objects_[id].attributes[name] = value;
        } else {
          AddTo(value, &objects_[id].attributes[name]);
        }
      }
      return;
    }
    case Kind::kSubscript:
      return AssignItem(target, value);
    case Kind::kPatternList:
    case Kind::kTuplePattern:
    case Kind::kListPattern:
    case Kind::kTuple:
    case Kind::kList:
    case Kind::kExpressionList:
      return AssignParts(Parts(target), value);
    case Kind::kListSplatPattern:
      if (!Parts(target).empty()) Assign(Parts(target)[0], value);
      return;
    default:
      return;
  }
}

void HostRun::AssignParts(const std::vector<NodeId>& targets, const Value& value) {
  for (size_t i = 0; i < targets.size(); ++i) {
    Value part;
    for (const ObjectId id : value) {
      const Object& object = objects_[id];
      const bool known = object.kind == Object::kContainer && object.items.size() == targets.size();
      AddTo(known ? object.items[i] : GetItems({id}), &part);
    }
    Assign(targets[i], part);
  }
}

void HostRun::AssignItem(NodeId subscript, const Value& value) {
  const NodeId of = tree_.Child(subscript, Field::kValue);
  if (of == kNoNode) return;
  const Value objects = Evaluate(of);
  std::vector<NodeId> index = Parts(subscript);
  index.erase(index.begin());
  const bool whole = absl::c_all_of(index, [&](NodeId part) {
    const absl::string_view text = tree_.GetText(part);
    return text == ":" || text == "...";
  });
  const std::string key = index.size() == 1 ? FindLiteral(Evaluate(index[0])) : "";
  for (const ObjectId id : objects) {
    if (objects_[id].kind == Object::kContainer) {
      AddTo(value, key.empty() ? &objects_[id].rest : &objects_[id].attributes[key]);
    } else if (objects_[id].kind == Object::kTensor) {
      if (whole) {
        Overwrite({id}, value);
      } else {
        Absorb(FlattenTensors(value), &objects_[id]);
      }
    } else {
      AddTo(value, &objects_[id].rest);
    }
  }
}

// Replaces what is in tensors. Under a condition, or if several are meant, it adds to that.
void HostRun::Overwrite(const Value& tensors, const Value& value) {
  const Value sources = FlattenTensors(value);
  for (const ObjectId id : tensors) {
    Object& object = objects_[id];
    if (object.kind != Object::kTensor) continue;
    if (tensors.size() == 1 && branches_ == 0) {
      object.kernel = object.made = false;
      object.written = 0;
      object.copied = object.computed = kNoNode;
    }
    Absorb(sources, &object);
  }
}

std::optional<bool> HostRun::ValueTruth(const Value& value) const {
  std::optional<bool> truth;
  for (const ObjectId id : value) {
    const Object& object = objects_[id];
    if (object.kind != Object::kScalar || object.name.empty()) return std::nullopt;
    double number = 1;
    const bool numeric = absl::SimpleAtod(object.name, &number);
    const bool is = object.name != "False" && object.name != "None" && object.name != "''" &&
                    (!numeric || number != 0);
    if (truth.has_value() && *truth != is) return std::nullopt;
    truth = is;
  }
  return truth;
}

// Returns what a condition is on a GPU; nullopt if that is not known.
std::optional<bool> HostRun::Truth(NodeId node) {
  const Nesting nesting(depth_);
  if (node == kNoNode || nesting.too_deep() || !Step()) return std::nullopt;
  node = tree_.StripParentheses(node);
  const Kind kind = tree_.GetKind(node);
  const absl::string_view text = tree_.GetText(node);
  if (kind == Kind::kComparisonOperator) return ComparisonTruth(node);
  if (kind == Kind::kOther && !tree_.IsLeaf(node)) {
    const std::vector<NodeId> parts = Parts(node);
    const absl::string_view first = tree_.GetText(tree_.FirstChild(node));
    if (first == "not" && parts.size() == 1) {
      const std::optional<bool> inner = Truth(parts[0]);
      return inner.has_value() ? std::optional(!*inner) : std::nullopt;
    }
    const NodeId sign = tree_.Child(node, Field::kOperator);
    if (sign != kNoNode && parts.size() == 2) {
      const bool decides = tree_.GetText(sign) == "or";
      const std::optional<bool> left = Truth(parts[0]);
      if (left == std::optional(decides)) return decides;
      const std::optional<bool> right = Truth(parts[1]);
      if (right == std::optional(decides)) return decides;
      return left.has_value() && right.has_value() ? std::optional(!decides) : std::nullopt;
    }
  }
  const Value value = Evaluate(node);
  if (kind == Kind::kCall) {
    const python::Call& call = text_.calls().At(node);
    if (call.resolved == "torch.cuda.is_available") return true;
    // Tensors are not empty.
    if (absl::EndsWith(call.name, ".numel") || call.name == "len") {
      if (!value.empty() && ValueTruth(value) == std::nullopt) return true;
    }
  }
  if (kind == Kind::kAttribute && absl::EndsWith(text, ".is_cuda")) return true;
  if (kind == Kind::kAttribute && absl::EndsWith(text, ".is_cpu")) return false;
  return ValueTruth(value);
}

std::optional<bool> HostRun::ComparisonTruth(NodeId node) {
  const std::vector<NodeId> operands = Parts(node);
  if (operands.size() != 2) {
    for (const NodeId operand : operands) Evaluate(operand);
    return std::nullopt;
  }
  const std::string sign(absl::StripAsciiWhitespace(tree_.text().substr(
      tree_[operands[0]].end, tree_[operands[1]].start - tree_[operands[0]].end)));
  const Value left = Evaluate(operands[0]);
  const Value right = Evaluate(operands[1]);
  const std::string a = FindLiteral(left);
  const std::string b = FindLiteral(right);
  if (sign == "is" || sign == "is not" || sign == "==" || sign == "!=") {
    const bool same = sign == "is" || sign == "==";
    // The GPU may be of any vendor: "cuda" stands for what is no CPU.
    const std::string& other = a == "'cuda'" ? b : a;
    const bool vendor = (a == "'cuda'" || b == "'cuda'") && other != "'cuda'" && other != "'cpu'";
    if (!a.empty() && !b.empty() && !vendor) return (a == b) == same;
    if (b == "None" && !left.empty() && absl::c_none_of(left, [&](ObjectId id) {
          const Object& object = objects_[id];
          return object.kind == Object::kScalar || object.unknown;
        })) {
      return !same;
    }
  }
  double first = 0;
  double second = 0;
  if (absl::SimpleAtod(a, &first) && absl::SimpleAtod(b, &second)) {
    if (sign == "<") return first < second;
    if (sign == "<=") return first <= second;
    if (sign == ">") return first > second;
    if (sign == ">=") return first >= second;
  }
  // A size is at least 1.
  const absl::string_view text = tree_.GetText(operands[0]);
  const bool size = absl::EndsWith(text, ".numel()") || absl::StartsWith(text, "len(") ||
                    absl::StrContains(text, ".shape[") || absl::StrContains(text, ".size(");
  double number = 0;
  const bool whole = tree_.GetKind(operands[0]) != Kind::kBinaryOperator;
  if (!size || !whole || !a.empty() || !absl::SimpleAtod(b, &number)) return std::nullopt;
  if ((sign == ">" && number <= 0) || (sign == ">=" && number <= 1)) return true;
  if ((sign == "==" && number == 0) || (sign == "<" && number <= 1) ||
      (sign == "<=" && number <= 0)) {
    return false;
  }
  return sign == "!=" && number == 0 ? std::optional(true) : std::nullopt;
}

}  // namespace kernelmill::client
