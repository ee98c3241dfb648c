#include "services/extractor/core/cuda/string_uses.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "common/base/text.h"
#include "common/code/bytes.h"
#include "common/python/syntax/calls.h"

namespace kernelmill::extractor::cuda {

using absl::string_view;
using python::Argument;
using python::Field;
using python::Kind;
using python::kNoNode;
using python::NodeId;

namespace {

constexpr int kMaxUseDepth = 48;  // bounds expressions, names and functions in one another
constexpr size_t kMaxReach = 64;  // literals that one expression leads to
constexpr size_t kMaxUses = 64;   // for one literal

template <size_t kCount>
bool IsOneOf(string_view word, const string_view (&words)[kCount]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// Returns whether a method of a string fills it in.
bool FillsIn(string_view method) {
  static constexpr string_view kMethods[] = {"format", "format_map", "substitute",
                                             "safe_substitute", "render"};
  return IsOneOf(method, kMethods);
}

// Returns whether a method of something made gives a part of it, or prepares it. The call launches
// nothing.
bool GetsPart(string_view method) {
  static constexpr string_view kMethods[] = {
      "get_function", "get_kernel",  "get_global",  "get_texref",        "get_surfref",
      "compile",      "load_binary", "from_source", "get_kernel_object", "prepare"};
  return IsOneOf(method, kMethods);
}

// Returns whether a method of a string, or a function of it, is no maker of anything else.
bool IsOfText(string_view name) {
  static constexpr string_view kNames[] = {
      "dedent", "cleandoc", "strip",  "lstrip",  "rstrip", "encode", "str", "bytes", "join",
      "append", "extend",   "insert", "replace", "print",  "len",    "add", "get",   "list"};
  return IsOneOf(name, kNames);
}

bool SaysLaunch(string_view name) {
  return absl::StrContains(name, "launch") || absl::StrContains(name, "Launch");
}

bool IsSign(const SyntaxTree& tree, NodeId node, string_view wanted) {
  const NodeId sign = tree.Child(node, Field::kOperator);
  return sign != kNoNode && tree.GetText(sign) == wanted;
}

}  // namespace

BoundNames::BoundNames(string_view text) {
  constexpr string_view kBind = ".def(\"";
  for (size_t at = text.find(kBind); at != string_view::npos; at = text.find(kBind, at + 1)) {
    const size_t name = at + kBind.size();
    const size_t name_end = code::EndOfName(text, name);
    size_t begin = text.find_first_not_of("\" \t\r\n,&(", name_end);
    if (begin == string_view::npos) return;
    size_t end = code::EndOfName(text, begin);
    while (absl::StartsWith(text.substr(end), "::")) {
      begin = end + 2;
      end = code::EndOfName(text, begin);
    }
    names_.try_emplace(text.substr(name, name_end - name), text.substr(begin, end - begin));
  }
}

string_view BoundNames::Find(string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? "" : found->second;
}

StringUses::StringUses(const ParsedFile& file, const FileValues& values,
                       const KernelReferences& references, const std::vector<CudaString>& strings)
    : tree_(file.tree), values_(values), references_(references) {
  for (const CudaString& string : strings) {
    for (const CudaLiteral& literal : string.literals) literals_[literal.begin] = literal.end;
  }
  if (literals_.empty()) return;
  for (const NodeId node : tree_.Of(Kind::kBinaryOperator)) {
    const NodeId left = tree_.Child(node, Field::kLeft);
    if (left != kNoNode && IsSign(tree_, node, "%")) AddTemplates(Follow(left));
  }
  for (const python::Call& call : file.calls.In(0)) {
    if (call.function != kNoNode) ReadCall(call);
  }
}

std::string StringUses::FindMaker(const CudaLiteral& literal) const {
  const auto found = makers_.find(literal.begin);
  return found == makers_.end() ? "" : found->second;
}

bool StringUses::IsTemplate(const CudaLiteral& literal) const {
  return templates_.contains(literal.begin);
}

void StringUses::AddTemplates(const Reach& reach) {
  for (const Reached& reached : reach) {
    if (!reached.made) templates_[reached.literal] = true;
  }
}

// Reads what a call does with literals, and with what was made of them.
void StringUses::ReadCall(const python::Call& call) {
  const NodeId callee = tree_.StripParentheses(call.function);
  const NodeId attribute = tree_.Child(callee, Field::kAttribute);
  const string_view method = attribute == kNoNode ? "" : tree_.GetText(attribute);
  const string_view name = attribute == kNoNode ? tree_.GetText(callee) : method;
  if (FillsIn(method)) {
    const NodeId object = tree_.Child(callee, Field::kObject);
    if (object != kNoNode) AddTemplates(Follow(object));
  }
  const bool launches = SaysLaunch(name);
  for (const Argument& argument : GetArguments(tree_, call.node)) {
    const Reach& given = Follow(argument.value);
    if (name == "Template") AddTemplates(given);
    if (launches) AddUses(given, call.node);
    for (const Reached& reached : given) {
      if (!reached.made && !IsOfText(name) && !FillsIn(method)) {
        makers_.try_emplace(reached.literal, std::string(call.resolved));
      }
    }
  }
  if (!GetsPart(method)) AddUses(Follow(callee), call.node);
}

void StringUses::AddUses(const Reach& reach, NodeId call) {
  for (const Reached& reached : reach) {
    std::vector<Use>& uses = uses_[reached.literal];
    if (!reached.made || uses.size() >= kMaxUses) continue;
    NodeId host = references_.FunctionAround(call);
    const bool in_module = host == kNoNode;
    if (in_module) {
      host = call;
      while (tree_[host].parent != 0 && tree_[host].parent != kNoNode) host = tree_[host].parent;
    }
    uses.push_back({host, in_module, reached.name});
  }
}

// Each expression is read once. One that leads to itself leads nowhere.
const StringUses::Reach& StringUses::Follow(NodeId expression) {
  static const auto& none = *new Reach();
  const NodeId node = tree_.StripParentheses(expression);
  const auto known = reached_.find(node);
  if (known != reached_.end()) return known->second;
  if (depth_ >= kMaxUseDepth) return none;
  reached_[node] = {};
  ++depth_;
  Reach reach = Read(node);
  --depth_;
  if (reach.size() > kMaxReach) reach.resize(kMaxReach);
  return reached_[node] = std::move(reach);
}

StringUses::Reach StringUses::Read(NodeId node) {
  Reach reach;
  const auto add = [&](NodeId expression) {
    const Reach& more = Follow(expression);
    reach.insert(reach.end(), more.begin(), more.end());
  };
  const auto add_children = [&] {
    for (NodeId child = tree_.FirstChild(node); child != kNoNode;
         child = tree_.NextSibling(child)) {
      if (!IsLayout(tree_.GetKind(child))) add(child);
    }
  };
  switch (tree_.GetKind(node)) {
    case Kind::kString:
    case Kind::kConcatenatedString:
      AddStrings(node, reach);
      return reach;
    case Kind::kCall:
      AddCall(node, reach);
      return reach;
    case Kind::kBinaryOperator:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kListSplat:
    case Kind::kConditionalExpression:
      add_children();
      return reach;
    case Kind::kDictionary:
      for (const NodeId pair : tree_.Of(Kind::kPair, node)) {
        const NodeId value = tree_.Child(pair, Field::kValue);
        if (tree_[pair].parent == node && value != kNoNode) add(value);
      }
      return reach;
    case Kind::kFunctionDefinition:
    case Kind::kClassDefinition:
    case Kind::kLambda:
      return reach;
    default:
      break;
  }
  for (const NodeId value : values_.Follow(node)) add(value);
  if (!reach.empty()) return reach;
  // A member of something made, or an element of it.
  const bool is_member = tree_.GetKind(node) == Kind::kAttribute;
  const NodeId object = tree_.Child(node, is_member ? Field::kObject : Field::kValue);
  if ((!is_member && tree_.GetKind(node) != Kind::kSubscript) || object == kNoNode) return reach;
  add(object);
  const NodeId member = tree_.Child(node, Field::kAttribute);
  for (Reached& reached : reach) {
    if (is_member && member != kNoNode) reached.name = tree_.GetText(member);
  }
  return reach;
}

// Adds the literals of a string, and those that the fields of an f-string lead to.
void StringUses::AddStrings(NodeId expression, Reach& reach) {
  for (NodeId node = expression; node < tree_[expression].subtree_end; ++node) {
    if (tree_.GetKind(node) == Kind::kStringStart && literals_.contains(tree_[node].end)) {
      reach.push_back({tree_[node].end, false, ""});
    }
    if (tree_.GetKind(node) != Kind::kInterpolation) continue;
    const NodeId field = FirstExpression(tree_, node);
    if (field == kNoNode) continue;
    const Reach& more = Follow(field);
    reach.insert(reach.end(), more.begin(), more.end());
  }
}

// A call has what its function returns, and is made of its object and its arguments.
void StringUses::AddCall(NodeId call, Reach& reach) {
  const NodeId function = tree_.Child(call, Field::kFunction);
  if (function == kNoNode) return;
  const NodeId callee = tree_.StripParentheses(function);
  const NodeId attribute = tree_.Child(callee, Field::kAttribute);
  const NodeId object = tree_.Child(callee, Field::kObject);
  const string_view name = tree_.GetText(attribute == kNoNode ? callee : attribute);
  AddReturned(callee, reach);
  const bool keeps = IsOfText(name) || FillsIn(name);
  const python::Arguments arguments = GetArguments(tree_, call);
  string_view named;  // the first argument that is a name: get_function("k")
  for (const Argument& argument : arguments) {
    if (!named.empty() || argument.keyword == "name") continue;
    named = StringIn(tree_, argument.value);
    if (!std::all_of(named.begin(), named.end(), code::IsNameByte)) named = "";
  }
  const auto add = [&](NodeId expression, bool made) {
    for (Reached reached : Follow(expression)) {
      reached.made |= made;
      if (made && !named.empty()) reached.name = named;
      reach.push_back(reached);
    }
  };
  if (object != kNoNode) add(object, false);
  for (Reached& reached : reach) {
    if (GetsPart(name) && !named.empty()) reached.name = named;
  }
  for (const Argument& argument : arguments) add(argument.value, !keeps);
}

void StringUses::AddReturned(NodeId callee, Reach& reach) {
  for (const NodeId function : values_.Follow(callee)) {
    if (tree_.GetKind(function) != Kind::kFunctionDefinition) continue;
    for (const NodeId statement : tree_.Of(Kind::kReturnStatement, function)) {
      const NodeId value = FirstExpression(tree_, statement);
      if (value == kNoNode || references_.FunctionAround(statement) != function) continue;
      const Reach& more = Follow(value);
      reach.insert(reach.end(), more.begin(), more.end());
    }
  }
}

std::vector<NodeId> StringUses::FindHosts(const CudaLiteral& literal, const v1::Kernel& kernel,
                                          const BoundNames& bound_names,
                                          const std::vector<std::string>& kernels) const {
  const auto found = uses_.find(literal.begin);
  if (found == uses_.end()) return {};
  const auto is_named = [&](string_view name) {
    if (name.empty() || name == kernel.name()) return !name.empty();
    const string_view bound = bound_names.Find(name);
    const auto& launches = kernel.cuda().launches();
    return std::any_of(launches.begin(), launches.end(), [&](const v1::CudaLaunch& launch) {
      string_view host = launch.host_function();
      host.remove_prefix(host.rfind(':') == string_view::npos ? 0 : host.rfind(':') + 1);
      return !host.empty() && (host == name || host == bound);
    });
  };
  std::vector<NodeId> hosts;
  std::vector<NodeId> statements;
  for (const bool by_name : {true, false}) {
    for (const Use& use : found->second) {
      const bool of_other = std::find(kernels.begin(), kernels.end(), use.name) != kernels.end();
      if (by_name ? !is_named(use.name) : of_other) continue;
      (use.in_module ? statements : hosts).push_back(use.host);
    }
    if (!hosts.empty() || !statements.empty()) break;
  }
  if (hosts.empty()) hosts = std::move(statements);
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

}  // namespace kernelmill::extractor::cuda
