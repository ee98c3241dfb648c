#include "services/extractor/core/describe/launcher.h"

#include <algorithm>

#include "common/base/text.h"
#include "services/extractor/core/syntax/calls.h"

namespace kernelmill::extractor {
namespace {

// The dotted name of what is launched as name[grid] or wrap(name)[grid]; empty if none is.
std::string SubscriptedName(const SyntaxTree& tree, NodeId subscript) {
  NodeId value = tree.Child(subscript, Field::kValue);
  if (value == kNoNode) return "";
  value = tree.StripParentheses(value);
  if (tree.KindOf(value) == Kind::kCall) {
    const Arguments arguments = ArgumentsOf(tree, value);
    if (arguments.size() != 1) return "";
    value = arguments.front().value;
  }
  return DottedExpression(tree, value);
}

// The dotted name of what is launched as name.run(...); empty if nothing is.
std::string RunName(const SyntaxTree& tree, NodeId call, NodeId attribute) {
  const NodeId method = tree.Child(attribute, Field::kAttribute);
  const NodeId object = tree.Child(attribute, Field::kObject);
  if (method == kNoNode || object == kNoNode || tree.TextOf(method) != "run") return "";
  const Arguments arguments = ArgumentsOf(tree, call);
  const bool launches =
      std::any_of(arguments.begin(), arguments.end(), [](const Argument& argument) {
        return argument.keyword == "grid" || argument.keyword == "stream";
      });
  return launches ? DottedExpression(tree, object) : "";
}

std::string LaunchedName(const SyntaxTree& tree, NodeId call) {
  NodeId function = tree.Child(call, Field::kFunction);
  if (function == kNoNode) return "";
  function = tree.StripParentheses(function);
  if (tree.KindOf(function) == Kind::kSubscript) return SubscriptedName(tree, function);
  return tree.KindOf(function) == Kind::kAttribute ? RunName(tree, call, function) : "";
}

// By node: the innermost function that it stands in, kNoNode outside any.
std::vector<NodeId> FunctionsAround(const SyntaxTree& tree) {
  std::vector<NodeId> around(tree.size(), kNoNode);
  for (NodeId node = 1; node < tree.size(); ++node) {
    const NodeId parent = tree[node].parent;
    around[node] = tree.KindOf(parent) == Kind::kFunctionDefinition ? parent : around[parent];
  }
  return around;
}

// The first and last line of a function, its decorators counted in.
v1::Launcher PlaceOf(const SyntaxTree& tree, const LineIndex& lines, NodeId function) {
  const NodeId parent = tree[function].parent;
  const bool decorated = parent != kNoNode && tree.KindOf(parent) == Kind::kDecoratedDefinition;
  v1::Launcher place;
  place.set_first_line(lines.LineOf(tree[decorated ? parent : function].start));
  place.set_last_line(lines.LineOf(tree[tree.LastToken(function)].end - 1));
  return place;
}

absl::string_view TextAt(absl::string_view text, const LineIndex& lines,
                         const v1::Launcher& place) {
  const size_t begin = lines.Begin(place.first_line());
  return text.substr(begin, lines.End(place.last_line()) - begin);
}

// Functions deeper within others than this are not searched to their end.
constexpr int kMaxDepth = 256;

}  // namespace

Launches::Launches(absl::string_view text, const SyntaxTree& tree, const LineIndex& lines,
                   const std::vector<JitFunction>& functions)
    : text_(text), tree_(tree), lines_(lines), around_(FunctionsAround(tree)) {
  for (auto& [key, hosts] : FindHosts(functions)) {
    std::sort(hosts.begin(), hosts.end());
    hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
    choices_[key] = Choose(hosts);
  }
  size_t left = kMaxOverlap * text.size();
  for (const JitFunction& kernel : functions) {
    const Choice* choice = ChoiceFor(kernel.definition);
    if (choice == nullptr || choice->size > std::min(kMaxText, left)) continue;
    left -= choice->size;
    with_text_.insert(kernel.definition);
  }
}

Launches::HostsByKey Launches::FindHosts(const std::vector<JitFunction>& functions) {
  absl::flat_hash_set<NodeId> jit;
  HostsByKey hosts;  // a key for each kernel, before any is launched
  for (const JitFunction& function : functions) {
    jit.insert(function.definition);
    hosts.try_emplace(KeyOf(function.definition));
  }
  for (const NodeId node : tree_.Of(Kind::kCall)) {
    const std::string dotted = LaunchedName(tree_, node);
    if (dotted.empty()) continue;
    const std::string name(LastPart(dotted));
    names_.insert(name);
    const NodeId host = around_[node];
    if (host == kNoNode || jit.contains(host)) continue;
    // The name is that of the innermost function around which has a kernel of it, or the module's.
    NodeId scope = host;
    for (int depth = 0; depth < kMaxDepth && scope != kNoNode; ++depth) {
      if (hosts.contains(Key(name, scope))) break;
      scope = around_[scope];
    }
    const auto found = hosts.find(Key(name, scope));
    if (found != hosts.end()) {
      found->second.push_back(host);
    } else {
      others_.push_back({dotted, host});
    }
  }
  return hosts;
}

Launches::Key Launches::KeyOf(NodeId definition) const {
  const NodeId name = tree_.Child(definition, Field::kName);
  return {name == kNoNode ? "" : std::string(tree_.TextOf(name)), around_[definition]};
}

Launches::Choice Launches::Choose(const std::vector<NodeId>& hosts) const {
  Choice choice;
  choice.count = static_cast<int>(hosts.size());
  for (const NodeId host : hosts) {
    const size_t size = TextAt(text_, lines_, PlaceOf(tree_, lines_, host)).size();
    if (choice.host != kNoNode && size > kMaxText) continue;
    choice.host = host;
    choice.size = size;
    if (size <= kMaxText) break;
  }
  return choice;
}

const Launches::Choice* Launches::ChoiceFor(NodeId definition) const {
  const auto found = choices_.find(KeyOf(definition));
  return found == choices_.end() || found->second.count == 0 ? nullptr : &found->second;
}

v1::Launcher Launches::HostAt(NodeId host) const {
  v1::Launcher launcher = PlaceOf(tree_, lines_, host);
  launcher.set_qualname(QualifiedName(tree_, host));
  const absl::string_view text = TextAt(text_, lines_, launcher);
  if (text.size() <= kMaxText) launcher.set_text(std::string(text));
  return launcher;
}

std::optional<v1::Launcher> Launches::LauncherOf(NodeId definition) const {
  const Choice* choice = ChoiceFor(definition);
  if (choice == nullptr) return std::nullopt;
  v1::Launcher launcher = PlaceOf(tree_, lines_, choice->host);
  launcher.set_qualname(QualifiedName(tree_, choice->host));
  launcher.set_count(choice->count);
  if (with_text_.contains(definition)) {
    launcher.set_text(std::string(TextAt(text_, lines_, launcher)));
  }
  return launcher;
}

}  // namespace kernelmill::extractor
