#include "services/extractor/core/describe/launcher.h"

#include <algorithm>
#include <iterator>

#include "common/base/text.h"
#include "common/dsl/languages.h"
#include "common/dsl/names.h"
#include "services/extractor/core/describe/kernels.h"

namespace kernelmill::extractor {

// From launches to launchers:
//
// 1. Finder reads every call. One that launches is noted for each kernel that its expression may
//    be, with the function around it, the host.
// 2. A launch of a parameter is noted for the function. FollowParameters then treats each call of
//    the function as a launch of what it passes, for up to kMaxRounds rounds.
// 3. Choose takes one host for each kernel. Texts are kept within the bounds of the header.

using python::Argument;
using python::Arguments;
using python::Call;
using python::Calls;
using python::Field;
using python::Kind;

namespace {

// Words in the name of a function that launches its argument, or in the name of another argument.
constexpr absl::string_view kLaunchWord[] = {"launch", "Launch", "LAUNCH"};
constexpr absl::string_view kGridWord[] = {"grid", "Grid", "GRID"};
// The most functions that a launched parameter is followed through.
constexpr int kMaxRounds = 8;
// The most launched parameters of one function.
constexpr size_t kMaxParameters = 8;
// Bounds the walk outwards through nested functions.
constexpr int kMaxLauncherDepth = 256;

// Returns the k of k.run(...) or k.warmup(...); kNoNode if it is no launch.
NodeId RunObject(const SyntaxTree& tree, NodeId call, NodeId attribute) {
  const NodeId method = tree.Child(attribute, Field::kAttribute);
  if (method == kNoNode) return kNoNode;
  if (tree.GetText(method) != "run" && tree.GetText(method) != "warmup") return kNoNode;
  const Arguments arguments = GetArguments(tree, call);
  const bool launches =
      std::any_of(arguments.begin(), arguments.end(), [](const Argument& argument) {
        return argument.keyword == "grid" || argument.keyword == "stream";
      });
  return launches ? tree.Child(attribute, Field::kObject) : kNoNode;
}

// Returns whether a name contains a word in lower case, upper case or CamelCase.
bool Says(absl::string_view name, const absl::string_view (&words)[3]) {
  return std::any_of(std::begin(words), std::end(words), [name](absl::string_view word) {
    return name.find(word) != absl::string_view::npos;
  });
}

// Returns the k of k.forall(n), by which Numba chooses the grid; kNoNode for anything else.
NodeId ForAllObject(const SyntaxTree& tree, NodeId call) {
  const NodeId attribute = tree.Child(call, Field::kFunction);
  if (attribute == kNoNode || tree.GetKind(attribute) != Kind::kAttribute) return kNoNode;
  const NodeId method = tree.Child(attribute, Field::kAttribute);
  const bool launches = method != kNoNode && tree.GetText(method) == "forall";
  return launches ? tree.Child(attribute, Field::kObject) : kNoNode;
}

// Returns the k of k(...).launch(...), as languages whose host code is written in them have it;
// kNoNode for anything else.
NodeId LaunchedCallee(const SyntaxTree& tree, NodeId attribute) {
  const NodeId method = tree.Child(attribute, Field::kAttribute);
  const NodeId object = tree.Child(attribute, Field::kObject);
  if (method == kNoNode || object == kNoNode || tree.GetText(method) != "launch") return kNoNode;
  const NodeId bound = tree.StripParentheses(object);
  return tree.GetKind(bound) == Kind::kCall ? tree.Child(bound, Field::kFunction) : kNoNode;
}

// Returns whether a function of a language is code of the host, which may launch kernels.
bool MayLaunch(const JitFunction& function) {
  const dsl::Makers* const makers = dsl::FindMakers(function.found_by);
  return makers != nullptr && makers->role == dsl::MakerRole::kHostOrDevice;
}

// Returns whether a plain call of the function from the host runs it.
bool RunsByCall(const JitFunction& function) {
  const dsl::Language* const language = dsl::FindLanguage(function.dsl);
  return language != nullptr && language->runs_by_call;
}

bool IsName(Kind kind) { return kind == Kind::kIdentifier || kind == Kind::kAttribute; }

// Returns whether a call has an argument called a grid: grid=..., f(k, grid).
bool IsGivenGrid(const SyntaxTree& tree, const Arguments& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [&](const Argument& argument) {
    return Says(argument.keyword, kGridWord) ||
           (IsName(tree.GetKind(argument.value)) && Says(tree.GetText(argument.value), kGridWord));
  });
}

// Returns the position of a parameter among the arguments of a call. A method's first parameter,
// the object, is not counted. nullopt if there is no such parameter.
std::optional<size_t> FindPosition(const SyntaxTree& tree, NodeId function,
                                   absl::string_view name) {
  const NodeId parameters = tree.Child(function, Field::kParameters);
  if (parameters == kNoNode) return std::nullopt;
  size_t position = 0;
  bool bound = false;
  for (NodeId child = tree.FirstChild(parameters); child != kNoNode;
       child = tree.NextSibling(child)) {
    if (IsLayout(tree.GetKind(child))) continue;
    const auto names = tree.Of(Kind::kIdentifier, child);
    if (names.empty()) continue;
    const absl::string_view first = tree.GetText(names.front());
    if (position == 0 && !bound && (first == "self" || first == "cls")) {
      bound = true;
      continue;
    }
    if (first == name) return position;
    ++position;
  }
  return std::nullopt;
}

// Returns the lines of a function, including its decorators.
v1::Launcher GetPlace(const SyntaxTree& tree, const LineIndex& lines, NodeId function) {
  const NodeId parent = tree[function].parent;
  const bool decorated = parent != kNoNode && tree.GetKind(parent) == Kind::kDecoratedDefinition;
  v1::Launcher place;
  place.set_first_line(lines.LineAt(tree[decorated ? parent : function].start));
  place.set_last_line(lines.LineAt(tree[tree.LastToken(function)].end - 1));
  return place;
}

// Sets the qualified name. A statement of the module has none.
void SetName(const SyntaxTree& tree, NodeId host, v1::Launcher& launcher) {
  if (tree.GetKind(host) == Kind::kFunctionDefinition) {
    launcher.set_qualname(QualifiedName(tree, host));
  }
}

absl::string_view TextAt(absl::string_view text, const LineIndex& lines,
                         const v1::Launcher& place) {
  const size_t begin = lines.Begin(place.first_line());
  return text.substr(begin, lines.End(place.last_line()) - begin);
}

}  // namespace

// Finds the launches among all calls of the text; see the class comment.
class Launches::Finder {
 public:
  Finder(const SyntaxTree& tree, const Calls& calls, const std::vector<JitFunction>& functions,
         const KernelReferences& references, Launches& launches)
      : tree_(tree), calls_(calls), references_(references), launches_(launches) {
    for (const JitFunction& function : functions) {
      // A candidate may turn out to be no jit function, so its launches count.
      if (function.imported_decorators.empty() && !MayLaunch(function)) {
        jit_.insert(function.definition);
      }
      if (!RunsByCall(function)) continue;
      called_.insert(function.definition);
      called_keys_.insert(references.MakeKey(function.definition));
    }
    for (const JitFunction& function : functions) AddPallas(function);
    for (const Call& call : calls.In(0)) {
      if (call.function != kNoNode) AddLaunch(call);
    }
    for (int round = 0; round < kMaxRounds && !new_parameters_.empty(); ++round) FollowParameters();
  }

  // Returns the hosts of each kernel. A kernel that no function launches has statements of the
  // module.
  HostsByKey TakeHosts() {
    for (auto& [key, hosts] : others_) hosts_.try_emplace(key, std::move(hosts));
    for (auto& [key, statements] : statements_) hosts_.try_emplace(key, std::move(statements));
    return std::move(hosts_);
  }

 private:
  using Parameter = std::pair<NodeId, absl::string_view>;

  void AddPallas(const JitFunction& function) {
    if (function.dsl != dsl::kPallas) return;
    const KernelKey key = references_.MakeKey(function.definition);
    pallas_.insert(key);
    const NodeId at = function.applied_by != kNoNode ? function.applied_by : function.decorated;
    // core_map calls the function that it decorates, which often has no name to be called by.
    const bool runs = LastPart(function.found_by) == "core_map" || key.first == "_";
    if (function.applied_by != kNoNode || runs) AddHost(key, at);
  }

  // Reads a call in each of the forms that launch; see the table of the class comment.
  void AddLaunch(const Call& call) {
    const NodeId function = tree_.StripParentheses(call.function);
    const Kind kind = tree_.GetKind(function);
    if (kind == Kind::kSubscript) {
      const NodeId launched = tree_.Child(function, Field::kValue);
      if (launched != kNoNode) Add(references_.Follow(launched), call.node);
      return;
    }
    const Arguments arguments = GetArguments(tree_, call.node);
    if (kind == Kind::kCall) {
      const NodeId object = ForAllObject(tree_, function);
      if (object != kNoNode) Add(references_.Follow(object), call.node);
    }
    if (kind == Kind::kAttribute) {
      const NodeId object = RunObject(tree_, call.node, function);
      if (object != kNoNode) Add(references_.Follow(object), call.node);
      const NodeId callee = LaunchedCallee(tree_, function);
      if (callee != kNoNode) Add(references_.Follow(callee), call.node);
    }
    // A kernel that calls another one uses it as a function of the device.
    if (!called_.empty() && !IsInKernel(references_.FunctionAround(call.node))) {
      AddPlainCall(function, call.node);
    }
    if (kind == Kind::kIdentifier) AddBoundLaunch(function, call.node);
    if (kind == Kind::kCall) AddWrappedLaunch(function, call.node);
    if (!pallas_.empty()) AddPallasArguments(arguments, call.node);
    const bool launches = Says(LastPart(call.name), kLaunchWord) || IsGivenGrid(tree_, arguments);
    if (!launches && !dsl::LaunchesArgument(call.resolved)) return;
    // If the text defines the function, FollowParameters knows what it launches.
    if (!references_.FunctionsCalled(call.node).empty()) return;
    for (const Argument& argument : arguments) {
      if (!IsName(tree_.GetKind(argument.value)) && !IsPrepared(argument.value)) continue;
      Add(references_.Follow(argument.value), call.node, launches ? hosts_ : others_);
    }
  }

  // Returns whether an expression is a kernel that a method makes ready: k.replace_hints(...).
  bool IsPrepared(NodeId expression) const {
    const NodeId call = tree_.StripParentheses(expression);
    if (tree_.GetKind(call) != Kind::kCall) return false;
    const NodeId function = tree_.Child(call, Field::kFunction);
    const NodeId method = function == kNoNode ? kNoNode : tree_.Child(function, Field::kAttribute);
    return method != kNoNode && dsl::PreparesKernel(tree_.GetText(method));
  }

  // Reads k(...), f(...) after f = compile(k), and what a method of a compiled kernel runs, of a
  // language whose kernels run by a plain call.
  void AddPlainCall(NodeId function, NodeId call) {
    const bool is_member = tree_.GetKind(function) == Kind::kAttribute;
    const NodeId object = is_member ? tree_.Child(function, Field::kObject) : kNoNode;
    if (is_member && object == kNoNode) return;
    const std::vector<NodeId> definitions = references_.FunctionsCalled(call);
    for (const NodeId definition : definitions) {
      // A method of an unknown object may be another class's.
      if (!called_.contains(definition) || (is_member && definitions.size() > 1)) continue;
      AddHost(references_.MakeKey(definition), call);
    }
    NodeId called = function;
    if (is_member && dsl::RunsKernel(tree_.GetText(tree_.Child(function, Field::kAttribute)))) {
      called = object;
    } else if (is_member && references_.FindClasses(object).empty()) {
      return;  // a function of a module
    }
    KernelReference reference = references_.Follow(called);
    reference.imports.clear();
    const auto runs_otherwise = [this](const KernelKey& key) {
      return !called_keys_.contains(key);
    };
    std::erase_if(reference.kernels, runs_otherwise);
    std::erase_if(reference.overrides, runs_otherwise);
    std::erase_if(reference.ambiguous, runs_otherwise);
    Add(reference, call);
  }

  // Reads check(k[grid])(...): a function is given the bound kernel, and its result is called.
  void AddWrappedLaunch(NodeId wrapping, NodeId call) {
    const NodeId given = FindArgument(GetArguments(tree_, wrapping), "", 0);
    if (given == kNoNode || tree_.GetKind(given) != Kind::kSubscript) return;
    const NodeId kernel = tree_.Child(given, Field::kValue);
    if (kernel == kNoNode) return;
    const KernelReference reference = references_.Follow(kernel);
    if (!reference.looked_up) Add(reference, call);
  }

  // A Pallas kernel made by a decorator is a function like any other, also as an argument:
  // jax.vmap(k)(x).
  void AddPallasArguments(const Arguments& arguments, NodeId call) {
    for (const Argument& argument : arguments) {
      const NodeId name = argument.value;
      if (tree_.GetKind(name) != Kind::kIdentifier) continue;
      for (const NodeId value : references_.names().GetValues(tree_.GetText(name), name)) {
        if (tree_.GetKind(value) != Kind::kFunctionDefinition) continue;
        const KernelKey key = references_.MakeKey(value);
        if (pallas_.contains(key)) AddHost(key, call);
      }
    }
  }

  // Reads f(...) after f = k[grid], or for a Pallas kernel f.
  void AddBoundLaunch(NodeId name, NodeId call) {
    for (const NodeId given : references_.names().GetValues(tree_.GetText(name), name)) {
      const NodeId value = tree_.StripParentheses(given);
      if (tree_.GetKind(value) == Kind::kFunctionDefinition) {
        const KernelKey key = references_.MakeKey(value);
        if (pallas_.contains(key)) AddHost(key, call);
        continue;
      }
      if (tree_.GetKind(value) != Kind::kSubscript) continue;
      const NodeId kernel = tree_.Child(value, Field::kValue);
      if (kernel == kNoNode) continue;
      // If the subscript looks up a table, f is an element of it and no launch.
      const KernelReference reference = references_.Follow(kernel);
      if (!reference.looked_up) Add(reference, call);
    }
  }

  // Adds launches of all kernels that an expression may be. Imported ones are left to the link
  // stage; parameters are followed in the next round.
  void Add(const KernelReference& reference, NodeId call) { Add(reference, call, hosts_); }

  void Add(const KernelReference& reference, NodeId call, HostsByKey& hosts) {
    for (const KernelKey& key : reference.kernels) AddHost(key, call, hosts);
    for (const KernelKey& key : reference.overrides) AddHost(key, call, others_);
    launches_.launched_.insert(reference.ambiguous.begin(), reference.ambiguous.end());
    const NodeId host = references_.FunctionAround(call);
    if (host != kNoNode && !IsInKernel(host)) {
      for (const std::string& dotted : reference.imports) {
        launches_.others_.push_back({dotted, host});
      }
    }
    for (const Parameter& parameter : reference.parameters) {
      if (parameters_.insert(parameter).second) new_parameters_.push_back(parameter);
    }
  }

  void AddHost(const KernelKey& key, NodeId call) { AddHost(key, call, hosts_); }

  void AddHost(const KernelKey& key, NodeId call, HostsByKey& hosts) {
    launches_.launched_.insert(key);
    const NodeId host = references_.FunctionAround(call);
    if (host == kNoNode) {
      statements_[key].push_back(ModuleStatement(call));
    } else if (!IsInKernel(host)) {
      hosts[key].push_back(host);
    }
  }

  // Returns whether a function is a kernel or within one. A launch there has no host.
  bool IsInKernel(NodeId function) const {
    for (int depth = 0; depth < kMaxLauncherDepth && function != kNoNode; ++depth) {
      if (jit_.contains(function)) return true;
      function = references_.FunctionAround(function);
    }
    return false;
  }

  // Returns the statement of the module around a node.
  NodeId ModuleStatement(NodeId node) const {
    while (tree_[node].parent != 0 && tree_[node].parent != kNoNode) node = tree_[node].parent;
    return node;
  }

  // Adds a launch for each call that gives a function an argument which it launches. One pass over
  // all calls serves all parameters that are new in this round.
  void FollowParameters() {
    absl::flat_hash_map<NodeId, std::vector<absl::string_view>> by_function;
    for (const auto& [function, name] : new_parameters_) {
      std::vector<absl::string_view>& names = by_function[function];
      if (names.size() < kMaxParameters) names.push_back(name);
    }
    new_parameters_.clear();
    for (const Call& call : calls_.In(0)) {
      if (call.function == kNoNode) continue;
      for (const NodeId function : references_.FunctionsCalled(call.node)) {
        const auto launched = by_function.find(function);
        if (launched == by_function.end()) continue;
        const Arguments arguments = GetArguments(tree_, call.node);
        for (const absl::string_view name : launched->second) {
          const std::optional<size_t> position = FindPosition(tree_, function, name);
          if (!position.has_value()) continue;
          const NodeId given = FindArgument(arguments, name, *position);
          if (given != kNoNode) Add(references_.Follow(given), call.node);
        }
      }
    }
  }

  const SyntaxTree& tree_;
  const Calls& calls_;
  const KernelReferences& references_;
  Launches& launches_;
  absl::flat_hash_set<NodeId> jit_;     // code of the device
  absl::flat_hash_set<NodeId> called_;  // kernels that a plain call runs
  absl::flat_hash_set<KernelKey> called_keys_;
  absl::flat_hash_set<KernelKey> pallas_;
  HostsByKey hosts_;
  HostsByKey others_;  // for kernels without those: tuners, and methods of a base
  HostsByKey statements_;
  absl::flat_hash_set<Parameter> parameters_;  // launched parameters
  std::vector<Parameter> new_parameters_;      // those whose calls were not followed yet
};

// The bound on all texts is spent in the order of the kernels.
Launches::Launches(const ParsedFile& file, const KernelReferences& references,
                   const std::vector<JitFunction>& functions)
    : text_(file.text), tree_(file.tree), lines_(file.lines) {
  absl::flat_hash_map<KernelKey, std::vector<NodeId>> definitions;
  for (const JitFunction& kernel : functions) {
    keys_[kernel.definition] = references.MakeKey(kernel.definition);
    definitions[keys_[kernel.definition]].push_back(kernel.definition);
  }
  for (auto& [key, hosts] : Finder(tree_, file.calls, functions, references, *this).TakeHosts()) {
    std::sort(hosts.begin(), hosts.end());
    hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
    const auto kernels = definitions.find(key);
    if (kernels != definitions.end()) ChooseFor(kernels->second, hosts);
  }
  // Functions that launch many kernels would repeat their text in each record.
  size_t left = kMaxOverlap * text_.size();
  for (const JitFunction& kernel : functions) {
    const Choice* choice = FindChoice(kernel.definition);
    if (choice == nullptr || choice->size > std::min(kMaxText, left)) continue;
    left -= choice->size;
    with_text_.insert(kernel.definition);
  }
}

bool Launches::IsLaunched(NodeId definition) const {
  const auto key = keys_.find(definition);
  return key != keys_.end() && launched_.contains(key->second);
}

// Hosts are in the order of the text. The first one whose text is in bounds is chosen, else the
// first.
Launches::Choice Launches::Choose(const std::vector<NodeId>& hosts) const {
  Choice choice;
  choice.count = static_cast<int>(hosts.size());
  for (const NodeId host : hosts) {
    const size_t size = TextAt(text_, lines_, GetPlace(tree_, lines_, host)).size();
    if (choice.host != kNoNode && size > kMaxText) continue;
    choice.host = host;
    choice.size = size;
    if (size <= kMaxText) break;
  }
  return choice;
}

// If a kernel is defined again, as notebooks do it step by step, those functions count that come
// before the next definition, else all of them.
void Launches::ChooseFor(std::vector<NodeId>& definitions, const std::vector<NodeId>& hosts) {
  std::sort(definitions.begin(), definitions.end());
  for (size_t i = 0; i < definitions.size(); ++i) {
    const NodeId next = i + 1 < definitions.size() ? definitions[i + 1] : kNoNode;
    const auto first = std::upper_bound(hosts.begin(), hosts.end(), definitions[i]);
    const auto last = next == kNoNode ? hosts.end() : std::lower_bound(first, hosts.end(), next);
    const bool one_of_many = definitions.size() > 1 && first != last;
    choices_[definitions[i]] = Choose(one_of_many ? std::vector<NodeId>(first, last) : hosts);
  }
}

const Launches::Choice* Launches::FindChoice(NodeId definition) const {
  const auto found = choices_.find(definition);
  return found == choices_.end() || found->second.count == 0 ? nullptr : &found->second;
}

v1::Launcher Launches::HostAt(NodeId host) const {
  v1::Launcher launcher = GetPlace(tree_, lines_, host);
  SetName(tree_, host, launcher);
  const absl::string_view text = TextAt(text_, lines_, launcher);
  if (text.size() <= kMaxText) launcher.set_text(std::string(text));
  return launcher;
}

// The place and the number of hosts are known even if the text is left out.
std::optional<v1::Launcher> Launches::FindLauncher(NodeId definition) const {
  const Choice* choice = FindChoice(definition);
  if (choice == nullptr) return std::nullopt;
  v1::Launcher launcher = GetPlace(tree_, lines_, choice->host);
  SetName(tree_, choice->host, launcher);
  launcher.set_count(choice->count);
  if (with_text_.contains(definition)) {
    launcher.set_text(std::string(TextAt(text_, lines_, launcher)));
  }
  return launcher;
}

}  // namespace kernelmill::extractor
