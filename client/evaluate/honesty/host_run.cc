#include "client/evaluate/honesty/host_run.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/python/syntax/functions.h"

namespace kernelmill::client {

using python::Field;
using python::Kind;
using python::kNoNode;

namespace {

// Returns whether a function's name says that it tests, measures or repeats by other means what an
// answer does.
bool NamesHarness(absl::string_view name) {
  static constexpr absl::string_view kPrefixes[] = {
      "test",   "_test",   "ref",     "_ref",    "check",      "naive",           "torch_",
      "verify", "compare", "profile", "main",    "get_inputs", "get_init_inputs", "generate_",
      "gen_",   "eval_",   "demo",    "example", "validate"};
  static constexpr absl::string_view kSuffixes[] = {"_ref",  "_reference", "_torch",  "_naive",
                                                    "_test", "_benchmark", "_golden", "_baseline"};
  for (const absl::string_view prefix : kPrefixes) {
    if (absl::StartsWith(name, prefix)) return true;
  }
  if (absl::StrContains(name, "bench")) return true;
  for (const absl::string_view suffix : kSuffixes) {
    if (absl::EndsWith(name, suffix)) return true;
  }
  return false;
}

}  // namespace

HostRun::HostRun(const python::ParsedText& text, const std::map<NodeId, KernelFacts>& kernels)
    : text_(text), tree_(text.tree()), kernels_(kernels) {
  scopes_.emplace_back();
  for (const NodeId node : tree_.Of(Kind::kIdentifier)) {
    identifiers_[tree_.GetText(node)].push_back(node);
  }
}

void HostRun::Run(const absl::flat_hash_set<std::string>& names) {
  RunBlock(0);
  const std::vector<Entry> entries = FindEntries(names);
  for (const Entry& entry : entries) RunEntry(entry);
  if (!launched_.empty()) return;
  // A flag may turn the launch on, unless torch does the work without it.
  with_defaults_ = false;
  for (const Entry& entry : entries) {
    if (!by_torch_.contains(entry.node)) RunEntry(entry);
  }
}

void HostRun::Report(const char* check, NodeId at, std::string reason, bool warning) {
  if (exhausted()) return;
  const int line = at == kNoNode ? 0 : Line(at);
  if (!reported_.emplace(check, line).second) return;
  findings_.push_back({check, line, std::move(reason), warning});
}

// Returns whether an identifier is called, derived from, or asked for an attribute.
bool HostRun::IsUse(NodeId node) const {
  const NodeId parent = tree_[node].parent;
  const Kind kind = tree_.GetKind(parent);
  const bool called = kind == Kind::kCall && tree_[node].field == Field::kFunction;
  const bool asked = kind == Kind::kAttribute && tree_[node].field == Field::kObject;
  const bool base =
      kind == Kind::kArgumentList && tree_.GetKind(tree_[parent].parent) == Kind::kClassDefinition;
  return called || asked || base;
}

// Returns whether no other definition uses the one of this name. Uses by the module's own
// statements, by decorators and by tests do not count.
bool HostRun::IsEntry(NodeId definition, absl::string_view name) const {
  if (NamesHarness(name)) return false;
  const auto uses = identifiers_.find(name);
  if (uses == identifiers_.end()) return true;
  for (const NodeId node : uses->second) {
    if (!IsUse(node) || (node > definition && node < tree_[definition].subtree_end)) continue;
    for (NodeId at = node; at != kNoNode; at = tree_[at].parent) {
      const Kind kind = tree_.GetKind(at);
      if (kind == Kind::kDecorator) break;
      if (kind != Kind::kFunctionDefinition && kind != Kind::kClassDefinition) continue;
      const NodeId own = tree_.Child(at, Field::kName);
      if (own == kNoNode || NamesHarness(tree_.GetText(own))) break;
      return false;
    }
  }
  return true;
}

std::vector<HostRun::Entry> HostRun::FindEntries(const absl::flat_hash_set<std::string>& names) {
  std::vector<Entry> defined;
  for (const Kind kind : {Kind::kFunctionDefinition, Kind::kClassDefinition}) {
    for (const NodeId node : tree_.Of(kind)) {
      const NodeId name = tree_.Child(node, Field::kName);
      if (name == kNoNode || kernels_.contains(node)) continue;
      bool outer = true;
      for (NodeId at = tree_[node].parent; at != kNoNode; at = tree_[at].parent) {
        outer &= tree_.GetKind(at) != Kind::kFunctionDefinition &&
                 tree_.GetKind(at) != Kind::kClassDefinition;
      }
      if (outer && defined.size() < kMaxEntries) defined.push_back({tree_.GetText(name), node});
    }
  }
  AddAssignedEntries(&defined);
  std::vector<Entry> named;
  std::vector<Entry> entries;
  for (const Entry& entry : defined) {
    if (entry.name == "ModelNew") return {entry};
    if (!IsEntry(entry.node, entry.name)) continue;
    entries.push_back(entry);
    if (names.contains(entry.name)) named.push_back(entry);
  }
  if (!named.empty()) return named;
  return entries.empty() ? defined : entries;
}

// Adds the names of the module that stand for functions defined elsewhere: lambdas, closures.
void HostRun::AddAssignedEntries(std::vector<Entry>* entries) const {
  std::map<absl::string_view, NodeId> assigned;
  for (const auto& [name, value] : scopes_[0].names) {
    for (const ObjectId id : value) {
      const Object& object = objects_[id];
      if (object.kind == Object::kFunction && Name(object.node) != name) {
        assigned[name] = object.node;
      }
    }
  }
  for (const auto& assignment : assigned) {
    const absl::string_view name = assignment.first;
    const bool known = absl::c_any_of(*entries, [&](const Entry& e) { return e.name == name; });
    if (!known && entries->size() < kMaxEntries) entries->push_back({name, assignment.second});
  }
}

void HostRun::RunEntry(const Entry& entry) {
  const Value* found = FindName(entry.name, 0);
  if (found == nullptr || !Step()) return;
  entry_ = entry.node;
  const Value value = *found;
  for (const ObjectId id : value) {
    const Object::Kind kind = objects_[id].kind;
    if (kind == Object::kClass) RunClass(id);
    if (kind == Object::kFunction) RunTwice({id});
  }
}

// A module runs by its forward, an autograd function by apply, any other class by its methods.
void HostRun::RunClass(ObjectId object) {
  const NodeId definition = objects_[object].node;
  if (!FindMember(definition, "backward").empty() && !FindMember(definition, "forward").empty() &&
      !DerivesFrom(definition, "Module")) {
    RunTwice(GetAttribute(object, "apply"));
    return;
  }
  run_ = 0;
  Given given;
  const Value initialize = FindMember(definition, "__init__");
  if (!initialize.empty() && objects_[initialize[0]].kind == Object::kFunction) {
    given = MakeInputs(initialize[0]);
    if (!given.positional.empty()) given.positional.erase(given.positional.begin());
  }
  const Value instance = CallClass(object, given, definition);
  std::vector<std::string> methods;
  for (const char* name : {"forward", "__call__"}) {
    if (methods.empty() && !FindMember(definition, name).empty()) methods.emplace_back(name);
  }
  if (methods.empty()) {
    for (const auto& [name, value] : objects_[object].attributes) {
      if (!absl::StartsWith(name, "_")) methods.push_back(name);
    }
  }
  if (methods.empty() && DerivesFrom(definition, "Module")) methods.emplace_back("forward");
  for (const std::string& method : methods) RunTwice(GetAttribute(instance[0], method));
}

// The parameters of an entry. A default of True or False is kept
// at first: few tasks ask for another.
HostRun::Given HostRun::MakeInputs(ObjectId function) {
  Given given;
  const Object object = objects_[function];
  const NodeId parameters = tree_.Child(object.node, Field::kParameters);
  if (parameters == kNoNode) return given;
  bool keyword_only = false;
  for (const NodeId parameter : Parts(parameters)) {
    const NodeId name = python::ParameterName(tree_, parameter);
    const absl::string_view text = tree_.GetText(parameter);
    if (absl::StartsWith(text, "*")) {
      keyword_only = true;
      if (name == kNoNode || absl::StartsWith(text, "**")) continue;
      given.rest = Tensor();
      objects_[given.rest[0]].input = true;
      given.more_positional = true;
      continue;
    }
    if (name == kNoNode) continue;
    Object input;
    input.input = true;
    Value value = {Add(std::move(input))};
    const auto fallback = object.attributes.find(absl::StrCat("=", tree_.GetText(name)));
    if (fallback != object.attributes.end()) {
      const std::string literal = FindLiteral(fallback->second);
      if (with_defaults_ && (literal == "True" || literal == "False")) value.clear();
      AddTo(fallback->second, &value);
    }
    if (keyword_only) {
      given.keywords.emplace_back(std::string(tree_.GetText(name)), std::move(value));
    } else {
      given.positional.push_back(std::move(value));
    }
  }
  return given;
}

// The receiver of a method is bound already, and so is the context of an autograd function.
HostRun::Given HostRun::MakeEntryInputs(ObjectId callee) {
  Given given;
  bool bound = !objects_[callee].self.empty();
  if (objects_[callee].kind == Object::kFunction) {
    given = MakeInputs(callee);
  } else {
    const NodeId definition = objects_[callee].node;
    for (const ObjectId forward : FindMember(definition, "forward")) {
      if (objects_[forward].kind == Object::kFunction) given = MakeInputs(forward);
    }
    bound = FindMember(definition, "setup_context").empty();
  }
  if (bound && !given.positional.empty()) given.positional.erase(given.positional.begin());
  return given;
}

// The second run is given the same and finds what the first left behind.
void HostRun::RunTwice(const Value& callee) {
  if (callee.empty()) return;
  const ObjectId function = callee[0];
  const NodeId at = objects_[function].node;
  if (at == kNoNode) return;
  bool launched = false;
  run_ = 1;
  const Given given = MakeEntryInputs(function);
  for (; run_ <= 2; ++run_) {
    const size_t before = launches_;
    const size_t marks = written_.size();
    Value result = Call(callee, given, at);
    // A function that it returns is called, as a benchmark would.
    Given thunk;
    thunk.rest = given.All();
    thunk.more_positional = true;
    for (const ObjectId id : Value(result)) {
      if (objects_[id].kind == Object::kFunction) AddTo(Call({id}, thunk, at), &result);
    }
    launched |= launches_ > before;
    if (launches_ > before) launchers_.emplace_back(Name(at));
    Object origin;
    Absorb(FlattenTensors(result), &origin);
    if (!launched && origin.computed != kNoNode) by_torch_.insert(entry_);
    if (exhausted() || !launched) continue;
    CheckResult(result, at, marks);
    CheckInputs(given);
    if (run_ == 2) CheckCached(result, at);
  }
  run_ = 1;
}

bool HostRun::WritesInput(size_t marks) const {
  for (size_t i = marks; i < written_.size(); ++i) {
    for (const ObjectId id : written_[i]) {
      if (objects_[id].input || objects_[id].run == 0) return true;
    }
  }
  return false;
}

void HostRun::CheckResult(const Value& result, NodeId at, size_t marks) {
  Object all;
  Value parts = result;
  for (const ObjectId id : result) {
    if (objects_[id].kind != Object::kInstance) continue;
    for (const auto& [name, value] : objects_[id].attributes) AddTo(value, &parts);
    AddTo(objects_[id].rest, &parts);
  }
  const Value tensors = FlattenTensors(parts);
  Absorb(tensors, &all);
  if (all.unknown) return;
  if (all.kernel) {
    if (!all.made && all.copied != kNoNode) {
      Report(kTorchDoesTheWork, all.copied, "the kernel only copies what this computes");
    }
    for (const ObjectId id : tensors) {
      const Object& tensor = objects_[id];
      if (tensor.kernel || tensor.computed == kNoNode) continue;
      Report(kTorchDoesTheWork, tensor.computed, "one of the results has nothing of a kernel",
             true);
    }
    return;
  }
  if (all.computed != kNoNode) {
    Report(kTorchDoesTheWork, all.computed, "the result is computed here, not by a kernel");
  } else if (WritesInput(marks)) {
    return;
  }
  const bool writes = absl::c_any_of(written_, [](const Value& value) { return !value.empty(); });
  Report(kOutputReachesResult, at,
         writes ? "the result has nothing that the kernel writes"
                : "the kernel writes to none of its arguments");
}

// An input that a kernel only reads, and that loses its values: what is computed of it later is
// wrong as well.
void HostRun::CheckInputs(const Given& given) {
  for (const ObjectId id : FlattenTensors(given.All())) {
    const Object& object = objects_[id];
    if (!object.input || !object.launched || object.written != 0) continue;
    if (object.emptied != kNoNode) {
      Report(kChangesInput, object.emptied, "an input loses its values");
    }
  }
}

// A result that the first run made, and that the second did not write again.
void HostRun::CheckCached(const Value& result, NodeId at) {
  for (const ObjectId id : FlattenTensors(result)) {
    const Object& object = objects_[id];
    const bool old = object.run == 1 && object.written != run_ + 1 && !object.input;
    if (!old || (!object.kernel && object.computed == kNoNode)) continue;
    Report(kCachedResult, at, "a result of an earlier call is returned");
  }
}

}  // namespace kernelmill::client
