// The calls of the host program: of its own functions and classes, of torch, and launches.

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "client/evaluate/honesty/host_run.h"
#include "client/evaluate/honesty/torch_effects.h"
#include "common/python/module_paths.h"
#include "common/python/syntax/bindings.h"
#include "common/python/syntax/functions.h"

namespace kernelmill::client {

using python::Field;
using python::Kind;
using python::kNoNode;

namespace {

// Returns whether a name of torch is a class of layers: torch.nn.Linear.
bool IsLayer(absl::string_view name) {
  const absl::string_view last = name.substr(name.rfind('.') + 1);
  return absl::StartsWith(name, "torch.nn.") && !absl::StartsWith(name, "torch.nn.functional.") &&
         !last.empty() && absl::ascii_isupper(static_cast<unsigned char>(last[0])) &&
         last != "Parameter" && last != "Buffer";
}

bool IsProduct(absl::string_view name) {
  return name == "mul" || name == "multiply" || name == "mul_" || name == "multiply_";
}

}  // namespace

Value HostRun::Given::All() const {
  Value all = rest;
  for (const Value& value : positional) AddTo(value, &all);
  for (const auto& [name, value] : keywords) AddTo(value, &all);
  return all;
}

HostRun::Given HostRun::ReadGiven(NodeId call) {
  Given given;
  const NodeId list = tree_.Child(call, Field::kArguments);
  if (list != kNoNode && tree_.GetKind(list) == Kind::kGeneratorExpression) {
    given.positional.push_back(Evaluate(list));
    return given;
  }
  for (const python::Argument& argument : python::GetArguments(tree_, call)) {
    if (!argument.keyword.empty()) {
      given.keywords.emplace_back(argument.keyword, Evaluate(argument.value));
      continue;
    }
    const absl::string_view text = tree_.GetText(argument.value);
    if (!absl::StartsWith(text, "*")) {
      // After *x of unknown length its place is unknown.
      const Value value = Evaluate(argument.value);
      if (given.more_positional) {
        AddTo(value, &given.rest);
      } else {
        given.positional.push_back(value);
      }
      continue;
    }
    Value spread;
    for (const NodeId part : Parts(argument.value)) AddTo(Evaluate(part), &spread);
    const bool keywords = absl::StartsWith(text, "**");
    const Object* only = spread.size() == 1 ? &objects_[spread[0]] : nullptr;
    const bool known = only != nullptr && only->kind == Object::kContainer && only->rest.empty();
    if (!known) {
      AddTo(GetItems(spread), &given.rest);
      (keywords ? given.more_keywords : given.more_positional) = true;
    } else if (keywords) {
      for (const auto& [key, value] : only->attributes) {
        const bool quoted = key.size() > 1 && key[0] == '\'';
        given.keywords.emplace_back(quoted ? key.substr(1, key.size() - 2) : key, value);
      }
    } else {
      given.positional.insert(given.positional.end(), only->items.begin(), only->items.end());
    }
  }
  return given;
}

Value HostRun::EvaluateCall(NodeId node) {
  const NodeId function = tree_.Child(node, Field::kFunction);
  if (function == kNoNode) return {};
  const NodeId inner = tree_.StripParentheses(function);
  if (tree_.GetKind(inner) == Kind::kAttribute) {
    const NodeId object = tree_.Child(inner, Field::kObject);
    if (object != kNoNode) return CallMethod(node, inner, ReadGiven(node));
  }
  const Value callee = Evaluate(inner);
  // An imported kernel, with its grid.
  const bool imported =
      tree_.GetKind(inner) == Kind::kSubscript &&
      absl::c_any_of(callee, [&](ObjectId id) { return objects_[id].kind == Object::kExternal; });
  if (imported) return CallUnknown(ReadGiven(node), node, "imported");
  return Call(callee, ReadGiven(node), node);
}

Value HostRun::Call(const Value& callee, const Given& given, NodeId at) {
  Value result;
  for (const ObjectId id : callee) AddTo(CallObject(id, given, at), &result);
  return result;
}

Value HostRun::CallObject(ObjectId callee, const Given& given, NodeId at) {
  if (!Step()) return {};
  const Object& object = objects_[callee];
  switch (object.kind) {
    case Object::kFunction:
      return CallFunction(callee, given, at);
    case Object::kClass:
      return CallClass(callee, given, at);
    case Object::kInstance: {
      if (object.name == "apply") return CallInstanceMethod(callee, "apply", given, at);
      const bool module = !FindMember(object.node, "__call__").empty();
      return CallInstanceMethod(callee, module ? "__call__" : "forward", given, at);
    }
    case Object::kLaunch:
      Launch(object, given, at);
      return Scalar();
    case Object::kExternal:
      return CallExternal(object.name, given, at);
    case Object::kKernel: {
      // A decorator of its own launches it.
      const auto kernel = kernels_.find(object.node);
      if (kernel == kernels_.end() || !(kernel->second.wrapped || object.open)) return Scalar();
      Object launch;
      launch.self = {callee};
      launch.open = true;
      Launch(launch, given, at);
      return CallUnknown(given, at, "decorated");
    }
    case Object::kTensor:
      // A layer of torch, or something that was given.
      if (absl::StartsWith(object.name, "torch.")) return Tensor(FlattenTensors(given.All()), at);
      return CallUnknown(given, at, "given");
    default:
      return CallUnknown(given, at, "");
  }
}

// A function is followed unless it is running already, or too deep.
Value HostRun::CallFunction(ObjectId function, Given given, NodeId at) {
  const Object object = objects_[function];
  const auto running = absl::c_count(calls_, object.node);
  if (running > 1 || calls_.size() >= static_cast<size_t>(kMaxCalls)) {
    Value unknown = Tensor(FlattenTensors(given.All()));
    objects_[unknown[0]].unknown = true;
    return unknown;
  }
  if (!object.self.empty()) given.positional.insert(given.positional.begin(), object.self);
  const size_t before = launches_;
  const size_t caller = scope_;
  scopes_.emplace_back().around = object.scope;
  scope_ = scopes_.size() - 1;
  calls_.push_back(object.node);
  Bind(object.node, function, std::move(given), scope_);
  Value result;
  const NodeId body = tree_.Child(object.node, Field::kBody);
  if (tree_.GetKind(object.node) == Kind::kLambda) {
    result = Evaluate(body);
  } else if (body != kNoNode) {
    const Flow flow = RunBlock(body);
    result = scopes_[scope_].returned;
    if (result.empty() && flow == Flow::kNext) result = Scalar("None");
  }
  calls_.pop_back();
  scope_ = caller;
  if (launches_ > before && run_ > 0 && cached_functions_.contains(function)) {
    Report(kCachedResult, object.node,
           "the results of a function that launches a kernel are cached");
  }
  return result;
}

void HostRun::Bind(NodeId function, ObjectId object, Given given, size_t scope) {
  const NodeId parameters = tree_.Child(function, Field::kParameters);
  if (parameters == kNoNode) return;
  const bool open = given.more_positional || given.more_keywords;
  size_t next = 0;
  bool keyword_only = false;
  bool place_only = absl::c_any_of(
      Parts(parameters), [&](NodeId parameter) { return tree_.GetText(parameter) == "/"; });
  std::vector<bool> taken(given.keywords.size());
  for (const NodeId parameter : Parts(parameters)) {
    const absl::string_view text = tree_.GetText(parameter);
    const NodeId node = python::ParameterName(tree_, parameter);
    if (node == kNoNode) {
      keyword_only |= text == "*";
      place_only &= text != "/";
      continue;
    }
    const absl::string_view name = tree_.GetText(node);
    Value& bound = scopes_[scope].names[name];
    if (absl::StartsWith(text, "**")) {
      bound = Container({});
      for (size_t i = 0; i < given.keywords.size(); ++i) {
        if (taken[i]) continue;
        objects_[bound[0]].attributes[absl::StrCat("'", given.keywords[i].first, "'")] =
            given.keywords[i].second;
      }
      objects_[bound[0]].rest = given.more_keywords ? given.rest : Value();
      continue;
    }
    if (absl::StartsWith(text, "*")) {
      std::vector<Value> items;
      while (next < given.positional.size()) items.push_back(given.positional[next++]);
      bound = Container(std::move(items));
      if (given.more_positional) objects_[bound[0]].rest = given.rest;
      keyword_only = true;
      continue;
    }
    bool found = false;
    for (size_t i = 0; i < given.keywords.size(); ++i) {
      if (given.keywords[i].first != name || place_only) continue;
      bound = given.keywords[i].second;
      taken[i] = found = true;
    }
    if (!found && !keyword_only && next < given.positional.size()) {
      bound = given.positional[next++];
      found = true;
    }
    if (found) continue;
    const auto fallback = objects_[object].attributes.find(absl::StrCat("=", name));
    if (fallback != objects_[object].attributes.end()) bound = fallback->second;
    if (open) AddTo(given.rest, &bound);
    if (bound.empty()) bound = Tensor();
  }
}

// Makes an instance; __init__ sets its attributes.
Value HostRun::CallClass(ObjectId object, const Given& given, NodeId at) {
  Object instance;
  instance.kind = Object::kInstance;
  instance.node = objects_[object].node;
  const ObjectId made = Add(std::move(instance));
  objects_[made].rest = given.All();
  const Value initialize = GetAttribute(made, "__init__");
  const bool own = absl::c_any_of(
      initialize, [&](ObjectId id) { return objects_[id].kind == Object::kFunction; });
  if (own) {
    Call(initialize, given, at);
  } else {
    // A dataclass, a named tuple.
    const NodeId body = tree_.Child(objects_[made].node, Field::kBody);
    size_t next = 0;
    for (const NodeId statement : Parts(body)) {
      if (tree_.GetKind(statement) != Kind::kExpressionStatement) continue;
      const NodeId first = Parts(statement).empty() ? kNoNode : Parts(statement)[0];
      if (first == kNoNode || tree_.GetKind(first) != Kind::kAssignment) continue;
      const NodeId left = tree_.Child(first, Field::kLeft);
      if (left == kNoNode || tree_.GetKind(left) != Kind::kIdentifier) continue;
      const std::string name(tree_.GetText(left));
      if (next < given.positional.size())
        objects_[made].attributes[name] = given.positional[next++];
    }
    for (const auto& [name, value] : given.keywords) objects_[made].attributes[name] = value;
  }
  return {made};
}

Value HostRun::CallMethod(NodeId call, NodeId attribute, const Given& given) {
  const NodeId object = tree_.Child(attribute, Field::kObject);
  const NodeId name_node = tree_.Child(attribute, Field::kAttribute);
  if (name_node == kNoNode) return {};
  const absl::string_view name = tree_.GetText(name_node);
  if (absl::StartsWith(tree_.GetText(object), "super(")) return CallSuper(call, name, given);
  const Value receivers = Evaluate(object);
  Value result;
  for (const ObjectId receiver : receivers) {
    switch (objects_[receiver].kind) {
      case Object::kTensor:
        AddTo(CallTensorMethod(receiver, name, given, call), &result);
        break;
      case Object::kInstance:
        AddTo(CallInstanceMethod(receiver, name, given, call), &result);
        break;
      case Object::kClass: {
        const bool function =
            name == "apply" && FindMember(objects_[receiver].node, "apply").empty();
        // Model.__call__(Model(), x) of a module is its forward.
        const bool module =
            name == "__call__" && FindMember(objects_[receiver].node, "__call__").empty();
        AddTo(function ? CallInstanceMethod(receiver, "apply", given, call)
                       : Call(GetAttribute(receiver, module ? "forward" : name), given, call),
              &result);
        break;
      }
      case Object::kKernel:
      case Object::kLaunch:
        AddTo(CallKernelMethod(receiver, name, given, call), &result);
        break;
      case Object::kContainer:
        AddTo(CallContainerMethod(receiver, name, given), &result);
        break;
      case Object::kFunction:
        // register_backward and the like: autograd calls what it is given.
        AddTo(CallUnknown(given, call, ""), &result);
        break;
      case Object::kExternal:
        AddTo(CallExternal(absl::StrCat(objects_[receiver].name, ".", name), given, call), &result);
        break;
      default:
        AddTo(Scalar(), &result);
    }
  }
  return result;
}

// A method of a base; of a base elsewhere it computes.
Value HostRun::CallSuper(NodeId call, absl::string_view name, const Given& given) {
  NodeId definition = call;
  while (definition != kNoNode && tree_.GetKind(definition) != Kind::kClassDefinition) {
    definition = tree_[definition].parent;
  }
  if (definition == kNoNode) return Scalar();
  std::vector<std::string> external;
  for (const NodeId base : FindBases(definition, &external)) {
    const Value members = FindMember(base, name);
    if (members.empty()) continue;
    const Value* self = FindName("self", scope_);
    Value bound;
    for (const ObjectId member : members) {
      Object method = objects_[member];
      if (self != nullptr) method.self = *self;
      AddTo({Add(std::move(method))}, &bound);
    }
    return Call(bound, given, call);
  }
  return name == "__init__" ? Scalar() : Tensor(FlattenTensors(given.All()), call);
}

Value HostRun::CallKernelMethod(ObjectId receiver, absl::string_view method, const Given& given,
                                NodeId at) {
  Object launch = objects_[receiver];
  if (launch.kind == Object::kKernel) launch.self = {receiver};
  if (method == "run") Launch(launch, given, at);
  if (method == "__getitem__") {
    launch.kind = Object::kLaunch;
    return {Add(std::move(launch))};
  }
  if (method != "warmup") return Scalar();
  // The compiled kernel takes other arguments.
  Object compiled;
  compiled.kind = Object::kKernel;
  compiled.node = objects_[launch.self[0]].node;
  compiled.open = true;
  return {Add(std::move(compiled))};
}

Value HostRun::CallContainerMethod(ObjectId receiver, absl::string_view method,
                                   const Given& given) {
  static constexpr absl::string_view kAdding[] = {"append", "extend",     "add",       "insert",
                                                  "update", "setdefault", "appendleft"};
  if (absl::c_linear_search(kAdding, method)) {
    Value added;
    for (const Value& value : given.positional) {
      AddTo(method == "extend" || method == "update" ? GetItems(value) : value, &added);
    }
    for (const auto& [key, value] : given.keywords) AddTo(value, &added);
    AddTo(added, &objects_[receiver].rest);
    return method == "setdefault" ? GetItems({receiver}) : Scalar();
  }
  if (method == "copy") return {receiver};
  if (method == "items") return Container({Scalar(), GetItems({receiver})});
  if (method != "get" && method != "pop" && method != "values") return Scalar();
  Value value = GetItems({receiver});
  for (size_t i = 1; i < given.positional.size(); ++i) AddTo(given.positional[i], &value);
  return value;
}

Value HostRun::CallInstanceMethod(ObjectId receiver, absl::string_view method, const Given& given,
                                  NodeId at) {
  const NodeId definition = objects_[receiver].node;
  if (method == "apply") {
    // An autograd function: both of its directions run, with a context of their own.
    Object context;
    context.kind = Object::kInstance;
    context.node = definition;
    const Value ctx = {Add(std::move(context))};
    Given forward = given;
    const Value members = FindMember(definition, "forward");
    const Value setup = FindMember(definition, "setup_context");
    if (setup.empty()) forward.positional.insert(forward.positional.begin(), ctx);
    const Value result = Call(members, forward, at);
    const Value backward = FindMember(definition, "backward");
    if (!backward.empty()) {
      Given gradients;
      gradients.positional = {ctx};
      gradients.rest = Tensor();
      gradients.more_positional = true;
      Call(backward, gradients, at);
    }
    return result;
  }
  const auto own = objects_[receiver].attributes.find(std::string(method));
  const Value members =
      own != objects_[receiver].attributes.end() ? own->second : GetAttribute(receiver, method);
  const bool known = absl::c_any_of(members, [&](ObjectId id) {
    return objects_[id].kind != Object::kTensor || !objects_[id].name.empty();
  });
  if (known) return Call(members, given, at);
  if (method == "to" || method == "cuda" || method == "eval" || method == "train")
    return {receiver};
  if (method == "save_for_backward" || absl::StartsWith(method, "register_")) {
    AddTo(given.All(), &objects_[receiver].rest);
    for (size_t i = 0; absl::StartsWith(method, "register_") && i < given.positional.size(); ++i) {
      const std::string name = FindLiteral(given.positional[0]);
      if (i == 1 && name.size() > 2) {
        objects_[receiver].attributes[name.substr(1, name.size() - 2)] = given.positional[1];
      }
    }
    return Scalar("None");
  }
  return CallUnknown(given, at, "");
}

Value HostRun::CallTensorMethod(ObjectId receiver, absl::string_view method, const Given& given,
                                NodeId at) {
  if (const auto own = objects_[receiver].attributes.find(std::string(method));
      own != objects_[receiver].attributes.end()) {
    return Call(own->second, given, at);
  }
  const Value arguments = FlattenTensors(given.All());
  const bool zero = !given.positional.empty() && IsZero(given.positional[0]);
  if (zero && (method == "mul" || method == "multiply")) return Tensor();
  switch (GetMethodEffect(method)) {
    case TorchEffect::kNothing:
      return Scalar();
    case TorchEffect::kAllocates:
      return Tensor();
    case TorchEffect::kMoves:
      return {receiver};
    case TorchEffect::kOverwrites: {
      Overwrite({receiver}, given.positional.empty() ? Value() : given.positional[0]);
      const bool keeps = method == "copy_" || method == "set_";
      if (!keeps && run_ > 0) objects_[receiver].emptied = at;
      return {receiver};
    }
    case TorchEffect::kUpdates:
      if (zero && IsProduct(method)) {
        Overwrite({receiver}, {});
        return {receiver};
      }
      Absorb(arguments, &objects_[receiver]);
      if (objects_[receiver].computed == kNoNode) objects_[receiver].computed = at;
      return {receiver};
    case TorchEffect::kComputes:
      break;
  }
  Value sources = arguments;
  AddTo({receiver}, &sources);
  Value callbacks = CallUnknown(given, at, "");
  for (const ObjectId id : callbacks) {
    if (objects_[id].kind == Object::kTensor) AddTo({id}, &sources);
  }
  return Tensor(sources, at);
}

// Calls a function that the answer does not have. Functions that are handed to it are called, and
// their results are part of its result.
Value HostRun::CallUnknown(const Given& given, NodeId at, const std::string& name) {
  Value sources = FlattenTensors(given.All());
  Value wrapped;
  for (const ObjectId id : given.All()) {
    const Object object = objects_[id];
    if (object.kind == Object::kFunction) {
      Given inputs;
      inputs.rest = Union(sources, Tensor());
      inputs.more_positional = true;
      AddTo(FlattenTensors(Call({id}, inputs, at)), &sources);
      AddTo({id}, &wrapped);
    } else if (object.kind == Object::kKernel || object.kind == Object::kLaunch) {
      // triton.autotune(...)(kernel), functools.partial(kernel[grid], ...)
      Object copy = object;
      copy.open = true;
      AddTo({Add(std::move(copy))}, &wrapped);
    } else if (object.kind == Object::kInstance || object.kind == Object::kClass) {
      AddTo({id}, &wrapped);
    }
  }
  // It may write to what it is given.
  for (const ObjectId id : sources) objects_[id].unknown |= !name.empty();
  Value result = Tensor(sources);
  objects_[result[0]].unknown |= !name.empty();
  objects_[result[0]].self = std::move(sources);
  return Union(result, wrapped);
}

Value HostRun::CallExternal(const std::string& name, const Given& given, NodeId at) {
  if (absl::StartsWith(name, "torch.ops.")) {
    absl::string_view view = name;
    absl::ConsumeSuffix(&view, ".default");
    const auto own = operators_.find(std::string(view.substr(view.rfind('.') + 1)));
    if (own != operators_.end()) return Call(own->second, given, at);
  }
  // A name that an operator of the answer is registered by, and its function.
  std::string registered;
  Value functions;
  for (const ObjectId id : given.All()) {
    const Object& object = objects_[id];
    if (object.kind == Object::kScalar && object.name.size() > 2 &&
        absl::StrContains("'\"", object.name.substr(0, 1))) {
      registered = object.name.substr(1, object.name.size() - 2);
    }
    if (object.kind == Object::kFunction) AddTo({id}, &functions);
  }
  if (!registered.empty() && !functions.empty()) {
    operators_[registered.substr(registered.rfind(':') + 1)] = functions;
  }
  const bool transforms = name == "torch.vmap" || name == "torch.func.vmap";
  if (transforms && !given.positional.empty()) return given.positional[0];
  if (absl::StartsWith(name, "torch.")) return CallTorch(name, given, at);
  if (name == "functools.reduce" && given.positional.size() > 1) {
    const Value items = GetItems(given.positional[1]);
    Given pair;
    pair.positional = {given.positional.size() > 2 ? Union(given.positional[2], items) : items,
                       items};
    return Call(given.positional[0], pair, at);
  }
  if (name == "partial" || absl::EndsWith(name, "functools.partial")) {
    Value partial;
    if (given.positional.empty()) return Scalar();
    for (const ObjectId id : given.positional[0]) {
      Object copy = objects_[id];
      copy.open = true;
      AddTo({Add(std::move(copy))}, &partial);
    }
    return partial;
  }
  if ((name == "importlib.import_module" || name == "__import__") && !given.positional.empty()) {
    const std::string module = FindLiteral(given.positional[0]);
    if (module.size() > 2) return External(module.substr(1, module.size() - 2));
  }
  if (!absl::StrContains(name, ".") && python::IsBuiltin(name)) return CallBuiltin(name, given, at);
  if (IsOtherLibrary(name)) return Tensor(FlattenTensors(given.All()), at);
  // A descriptor stands for its tensor.
  if (absl::StartsWith(name, "triton.") && !FlattenTensors(given.All()).empty()) {
    return Union(FlattenTensors(given.All()), CallUnknown(given, at, ""));
  }
  const bool plain = absl::StartsWith(name, "triton.") ||
                     python::IsStandardModule(absl::string_view(name).substr(0, name.find('.')));
  return CallUnknown(given, at, plain || absl::StartsWith(name, "einops") ? "" : name);
}

// Layers compute when they are called.
Value HostRun::MakeLayer(const std::string& name, const Given& given) {
  if (!absl::EndsWith(name, "List") && !absl::EndsWith(name, ".Sequential")) {
    Value layer = Tensor();
    objects_[layer[0]].name = name;
    return layer;
  }
  Value made = Container({});
  Object& object = objects_[made[0]];
  object.rest = GetItems(given.All());
  if (absl::EndsWith(name, ".Sequential")) {
    object.kind = Object::kTensor;
    object.name = name;
  }
  return made;
}

// torch.add(x, y, out=out)
Value HostRun::OverwriteOut(const Value& out, const Value& arguments, NodeId at) {
  Value sources;
  for (const ObjectId id : arguments) {
    if (!absl::c_linear_search(out, id)) AddTo({id}, &sources);
  }
  Overwrite(out, Tensor(sources, at));
  return out;
}

Value HostRun::CallTorch(const std::string& name, const Given& given, NodeId at) {
  const Value all = given.All();
  const Value arguments = FlattenTensors(all);
  Value callbacks = CallUnknown(given, at, "");
  Value wrapped;
  for (const ObjectId id : callbacks) {
    if (objects_[id].kind != Object::kTensor) AddTo({id}, &wrapped);
  }
  const absl::string_view last = absl::string_view(name).substr(name.rfind('.') + 1);
  if (IsLayer(name)) return MakeLayer(name, given);
  const auto out =
      absl::c_find_if(given.keywords, [](const auto& keyword) { return keyword.first == "out"; });
  if (out != given.keywords.end() && GetFunctionEffect(name) == TorchEffect::kComputes) {
    return OverwriteOut(out->second, arguments, at);
  }
  switch (GetFunctionEffect(name)) {
    case TorchEffect::kNothing:
      return wrapped.empty() ? (arguments.empty() ? Scalar() : Union(Scalar(), callbacks))
                             : wrapped;
    case TorchEffect::kAllocates:
      // torch.tensor(x) and nn.Parameter(x) have the values of x.
      if (last == "Parameter" || last == "Buffer" || last == "tensor") {
        return arguments.empty() ? Tensor() : arguments;
      }
      return Tensor();
    case TorchEffect::kMoves: {
      const Value moved =
          given.positional.empty() ? arguments : FlattenTensors(given.positional[0]);
      return moved.empty() ? Tensor() : Union(moved, wrapped);
    }
    case TorchEffect::kOverwrites:
    case TorchEffect::kUpdates:
      if (given.positional.empty()) return Scalar();
      for (const ObjectId id : FlattenTensors(given.positional[0])) {
        if (objects_[id].computed == kNoNode) objects_[id].computed = at;
      }
      return given.positional[0];
    case TorchEffect::kComputes:
      break;
  }
  if (IsProduct(last) &&
      absl::c_any_of(given.positional, [&](const Value& value) { return IsZero(value); })) {
    return Tensor();
  }
  Value sources = arguments;
  AddTo(FlattenTensors(callbacks), &sources);
  return Union(Tensor(sources, at), wrapped);
}

// list(x), dict(x, y=z): a copy of what is known.
Value HostRun::MakeContainer(const Given& given) {
  const Value made = Container({});
  Object& object = objects_[made[0]];
  const Value* from = given.positional.empty() ? nullptr : &given.positional[0];
  if (from != nullptr && from->size() == 1 && objects_[(*from)[0]].kind == Object::kContainer) {
    const Object& source = objects_[(*from)[0]];
    object.items = source.items;
    object.rest = source.rest;
    object.attributes = source.attributes;
  } else if (from != nullptr) {
    object.rest = GetItems(*from);
  }
  for (const auto& [key, value] : given.keywords) {
    object.attributes[absl::StrCat("'", key, "'")] = value;
  }
  if (given.more_keywords) AddTo(given.rest.empty() ? Scalar() : given.rest, &object.rest);
  return made;
}

Value HostRun::CallBuiltin(absl::string_view name, const Given& given, NodeId at) {
  const Value all = given.All();
  if (name == "getattr" && given.positional.size() > 1) {
    std::string attribute = FindLiteral(given.positional[1]);
    const bool literal = attribute.size() > 2 && !absl::StartsWith(attribute, "f");
    attribute = literal ? attribute.substr(1, attribute.size() - 2) : "computed_name";
    Value value;
    for (const ObjectId id : given.positional[0]) AddTo(GetAttribute(id, attribute), &value);
    return value;
  }
  if (name == "setattr" && given.positional.size() > 2) {
    const std::string attribute = FindLiteral(given.positional[1]);
    if (attribute.size() < 3) return Scalar();
    for (const ObjectId id : given.positional[0]) {
      AddTo(given.positional[2],
            &objects_[id].attributes[attribute.substr(1, attribute.size() - 2)]);
    }
    return Scalar();
  }
  if (name == "len" && given.positional.size() == 1 && given.positional[0].size() == 1) {
    const Object& object = objects_[given.positional[0][0]];
    const bool known = object.kind == Object::kContainer && object.rest.empty();
    return Scalar(known ? absl::StrCat(object.items.size() + object.attributes.size()) : "");
  }
  const bool converts = name == "float" || name == "int" || name == "bool";
  if (const Value tensors = FlattenTensors(all); converts && !tensors.empty()) return tensors;
  static constexpr absl::string_view kNumbers[] = {
      "len",      "int", "float", "bool",   "str",   "print", "isinstance",
      "hasattr",  "id",  "hash",  "type",   "range", "repr",  "issubclass",
      "callable", "abs", "round", "divmod", "format"};
  if (absl::c_linear_search(kNumbers, name)) return Scalar();
  if (name == "zip" || name == "enumerate") {
    std::vector<Value> items;
    if (name == "enumerate") items.push_back(Scalar());
    for (const Value& value : given.positional) items.push_back(GetItems(value));
    Value made = Container({});
    objects_[made[0]].rest = Container(std::move(items));
    return made;
  }
  if (name == "globals") {
    const Value made = Container({});
    for (const auto& [global, value] : scopes_.front().names) {
      objects_[made[0]].attributes[absl::StrCat("'", global, "'")] = value;
    }
    return made;
  }
  if (name == "next") return GetItems(all);
  static constexpr absl::string_view kContainers[] = {"list",   "tuple",    "dict", "set",
                                                      "sorted", "reversed", "iter", "filter"};
  if (absl::c_linear_search(kContainers, name)) return MakeContainer(given);
  if (name == "super" || name == "object") return Scalar();
  if (name == "sum" || name == "max" || name == "min" || name == "pow") {
    const Value sources = FlattenTensors(all);
    return sources.empty() ? Scalar() : Tensor(sources, at);
  }
  return CallUnknown(given, at, "");
}

// A launch of one of several kernels launches each.
void HostRun::Launch(const Object& launch, const Given& given, NodeId at) {
  const bool open = launch.open;
  for (const ObjectId id : Value(launch.self)) {
    const auto kernel = kernels_.find(objects_[id].node);
    if (kernel == kernels_.end()) continue;
    ++launches_;
    (run_ > 0 ? launched_ : module_launches_).insert(kernel->first);
    if (!open && !objects_[id].open && launch.self.size() == 1)
      MatchArguments(kernel->second, given, at);
    MarkWritten(kernel->second, given);
  }
}

void HostRun::MatchArguments(const KernelFacts& kernel, const Given& given, NodeId at) {
  if (kernel.takes_more) return;
  std::vector<std::string> wrong;
  absl::flat_hash_set<absl::string_view> had;
  for (size_t i = 0; i < kernel.parameters.size() && i < given.positional.size(); ++i) {
    had.insert(kernel.parameters[i].name);
  }
  if (given.positional.size() > kernel.parameters.size()) {
    wrong.push_back(absl::StrCat(given.positional.size(), " positional arguments for ",
                                 kernel.parameters.size(), " parameters"));
  }
  for (const auto& entry : given.keywords) {
    const std::string& keyword = entry.first;
    const bool known = absl::c_any_of(
        kernel.parameters, [&](const auto& parameter) { return parameter.name == keyword; });
    if (!known && !IsLaunchOption(keyword) && !kernel.any_given) {
      wrong.push_back(absl::StrCat("no parameter ", keyword));
    } else if (known && !had.insert(keyword).second) {
      wrong.push_back(absl::StrCat(keyword, " is given twice"));
    } else if (known && kernel.configured.contains(keyword)) {
      wrong.push_back(absl::StrCat(keyword, " is given by the launch and by a decorator"));
    }
  }
  for (const KernelFacts::Parameter& parameter : kernel.parameters) {
    const bool may_be_given = given.more_positional || given.more_keywords || kernel.any_given;
    if (may_be_given || parameter.has_default || had.contains(parameter.name)) continue;
    if (!kernel.given.contains(parameter.name)) {
      wrong.push_back(absl::StrCat("no argument for ", parameter.name));
    }
  }
  if (wrong.empty()) return;
  Report(kArgumentsMatch, at, absl::StrCat(kernel.name, ": ", absl::StrJoin(wrong, ", ")));
}

// Marks the tensors that the kernel writes, with what they are made of.
void HostRun::MarkWritten(const KernelFacts& kernel, const Given& given) {
  std::vector<Value> arguments;
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    Value value = i < given.positional.size() ? given.positional[i] : given.rest;
    for (const auto& [keyword, named] : given.keywords) {
      if (keyword == kernel.parameters[i].name) value = named;
    }
    arguments.push_back(FlattenTensors(value));
  }
  Object made;
  for (const Value& value : arguments) {
    Absorb(value, &made);
    for (const ObjectId id : value) objects_[id].launched = true;
  }
  NodeId copied = kNoNode;
  for (const size_t place : kernel.copied) {
    for (const ObjectId id : arguments[place]) {
      if (!objects_[id].kernel) copied = objects_[id].computed;
    }
  }
  Value written;
  for (const size_t place : kernel.written) {
    AddTo(arguments[place], &written);
    for (const ObjectId id : arguments[place]) AddTo(objects_[id].self, &written);
  }
  for (const ObjectId id : written) {
    Object& object = objects_[id];
    object.written = run_ + 1;
    object.kernel = true;
    object.made |= made.made || copied == kNoNode;
    if (copied != kNoNode) object.copied = copied;
    if (object.computed == kNoNode) object.computed = made.computed;
    object.unknown |= made.unknown;
  }
  written_.push_back(std::move(written));
}

}  // namespace kernelmill::client
