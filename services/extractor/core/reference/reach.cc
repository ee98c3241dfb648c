#include "services/extractor/core/reference/reach.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace kernelmill::extractor {
namespace {

// A constant that names more functions than this is a table.
constexpr size_t kMaxOfConstant = 8;
// Bounds the memory: some 32 bytes a way. Real sources have some 100,000.
constexpr size_t kMaxWays = 4'000'000;
constexpr size_t kMaxBindings = 8;

// Returns the operators that a definition reads as torch.ops.namespace.name.
std::vector<std::string> ReadOperators(SourceScope& scope, const v1::Definition& definition) {
  std::vector<std::string> names;
  const std::vector<std::string>* chains = scope.GetReads(definition).Find("torch");
  for (size_t i = 0; chains != nullptr && i < chains->size(); ++i) {
    absl::string_view chain = (*chains)[i];
    if (!absl::ConsumePrefix(&chain, "ops.")) continue;
    const size_t dot = chain.find('.');
    if (dot == absl::string_view::npos || absl::StartsWith(chain, "aten.")) continue;
    names.emplace_back(OperatorName(chain.substr(dot + 1)));
  }
  return names;
}

// Returns whether a statement with an import in its blocks binds the name: if x: from .a import f.
bool IsImported(const Origin& origin) {
  const Definitions& bindings = SourceScope::GetBindings(origin);
  return std::any_of(bindings.begin(), bindings.end(), [&](const v1::Definition* definition) {
    return std::any_of(definition->imported().begin(), definition->imported().end(),
                       [&](const auto& each) { return each.name() == origin.name; });
  });
}

}  // namespace

std::vector<const Origin*> FindOrigins(SourceScope& scope, const TextDefinitions& text,
                                       const std::string& dotted) {
  const std::string first = dotted.substr(0, dotted.find('.'));
  for (const std::string& name : {dotted, first}) {
    const Origin* origin = scope.Find(text, name);
    if (origin != nullptr && !IsImported(*origin)) return {origin};
  }
  std::vector<const Origin*> found;
  const auto bindings = text.importable.find(first);
  if (bindings == text.importable.end() || bindings->second.size() > kMaxBindings) return found;
  for (const v1::Definition* definition : bindings->second) {
    for (const v1::ImportedName& imported : definition->imported()) {
      if (imported.name() != first) continue;
      const Origin* origin = scope.FindImported(text, imported);
      if (origin != nullptr && found.size() < kMaxBindings) found.push_back(origin);
    }
  }
  return found;
}

Reach::Reach(SourceScope& scope, const std::vector<std::string>& paths, const SourceFacts& facts)
    : scope_(scope) {
  for (const std::string& path : paths) AddNodes(scope.GetDefinitions(path, 0));
  for (const SourceFacts::Operator& each : facts.operators) {
    const TextDefinitions& text = scope.GetDefinitions(each.path, 0);
    for (const Origin* origin : FindOrigins(scope, text, each.function)) {
      std::vector<Node>& nodes = operators_[each.name];
      const Node node = Find(*origin);
      if (node == kNone || std::find(nodes.begin(), nodes.end(), node) != nodes.end()) continue;
      nodes.push_back(node);
    }
  }
  const auto count = static_cast<Node>(nodes_.size());
  for (Node node = 0; node < count; ++node) AddEdges(facts, node);
}

void Reach::AddNodes(const TextDefinitions& text) {
  for (const v1::Definition* definition : text.outer) {
    if (IsImport(*definition)) continue;
    for (const std::string& name : definition->names()) {
      const auto [at, added] = by_name_.try_emplace(Key(&text, name), nodes_.size());
      if (added)
        nodes_.push_back(
            {.text = &text, .name = name, .users = {}, .for_gradient = {}, .ways = {}});
    }
  }
}

void Reach::AddEdges(const SourceFacts& facts, Node node) {
  const TextDefinitions& text = *nodes_[node].text;
  const std::string name = nodes_[node].name;
  const auto gradient = facts.gradient_names.find({text.path, name});
  size_t used = 0;
  bool constant = true;
  const auto bindings = text.by_name.find(name);
  if (bindings == text.by_name.end()) return;
  for (const v1::Definition* definition : bindings->second) {
    if (IsImport(*definition)) continue;
    constant = constant && definition->kind() == v1::Definition::KIND_CONSTANT;
    for (const std::string& use : scope_.GetUses(text, *definition)) {
      const bool for_gradient = gradient != facts.gradient_names.end() &&
                                (gradient->second.contains(use.substr(0, use.find('.'))) ||
                                 gradient->second.contains(use));
      for (const Origin* origin : FindOrigins(scope_, text, use)) {
        const Node there = Find(*origin);
        if (there == kNone || there == node) continue;
        AddEdge(node, there, for_gradient);
        ++used;
      }
    }
    for (const std::string& op : ReadOperators(scope_, *definition)) {
      for (const Node there : FindOperator(op)) {
        if (there != node) AddEdge(node, there, false);
      }
    }
  }
  nodes_[node].passable = !constant || used <= kMaxOfConstant;
}

void Reach::AddEdge(Node user, Node used, bool gradient) {
  Entry& entry = nodes_[used];
  (gradient ? entry.for_gradient : entry.users).push_back(user);
}

void Reach::AddKernel(int32_t kernel, const std::string& path, const std::string& qualname) {
  const size_t dot = qualname.find('.');
  const std::string name = qualname.substr(0, dot);
  const TextDefinitions& text = scope_.GetDefinitions(path, 0);
  const auto found = by_name_.find(Key(&text, name));
  if (found == by_name_.end()) return;
  kernels_.emplace_back(kernel, found->second);
  node_of_[kernel] = found->second;
  if (dot == std::string::npos) {
    kernel_nodes_.insert(found->second);
  } else {
    locals_[{path, qualname}] = kernel;
  }
}

int32_t Reach::FindLocal(const std::string& path, const std::string& qualname) const {
  const auto found = locals_.find({path, qualname});
  return found == locals_.end() ? -1 : found->second;
}

Reach::Node Reach::FindNode(int32_t kernel) const {
  const auto found = node_of_.find(kernel);
  return found == node_of_.end() ? kNone : found->second;
}

Reach::Node Reach::FindUser(int32_t kernel) const {
  const auto found = node_of_.find(kernel);
  if (found == node_of_.end()) return kNone;
  Node best = kNone;
  const auto rank = [this](Node node) {
    return std::tuple(IsTestPath(GetPath(node)), GetPath(node), GetName(node));
  };
  const Entry& entry = nodes_[found->second];
  for (const std::vector<Node>* users : {&entry.users, &entry.for_gradient}) {
    for (const Node user : *users) {
      const Definitions& bindings = nodes_[user].text->by_name.at(nodes_[user].name);
      const bool callable = std::any_of(bindings.begin(), bindings.end(), [](const auto* each) {
        return each->kind() == v1::Definition::KIND_FUNCTION ||
               each->kind() == v1::Definition::KIND_CLASS;
      });
      if (!callable || kernel_nodes_.contains(user)) continue;
      if (best == kNone || rank(user) < rank(best)) best = user;
    }
  }
  return best;
}

// Shorter ways come first; of the ways to a node of one length those not for gradients alone, since
// the search takes them first.
void Reach::FindWays() {
  for (const auto& [kernel, node] : kernels_) Search(kernel, node);
  for (Entry& entry : nodes_) {
    if (entry.ways.size() > kMaxKernels) entry.ways.clear();
  }
}

// First all ways without a step through `backward`, then the others.
void Reach::Search(int32_t kernel, Node from) {
  absl::flat_hash_set<Node> seen = {from};
  std::vector<Node> order = {from};
  nodes_[from].ways.push_back({kernel, kNone, 0, false});
  const auto length_of = [&](Node node) { return nodes_[node].ways.back().length; };
  const auto go = [&](Node at, Node user, bool gradient) {
    if (!nodes_[user].passable || length_of(at) >= kMaxLength || ways_ >= kMaxWays) return;
    if (!seen.insert(user).second) return;
    ++ways_;
    nodes_[user].ways.push_back({kernel, at, static_cast<int16_t>(length_of(at) + 1), gradient});
    order.push_back(user);
  };
  for (size_t next = 0; next < order.size();) {
    const Node at = order[next++];
    if (!nodes_[at].passable) continue;
    for (const Node user : nodes_[at].users) go(at, user, false);
  }
  const size_t plain = order.size();
  for (size_t i = 0; i < order.size(); ++i) {
    const Node at = order[i];
    if (!nodes_[at].passable) continue;
    for (const Node user : nodes_[at].for_gradient) go(at, user, true);
    if (i < plain) continue;
    for (const Node user : nodes_[at].users) go(at, user, true);
  }
}

Reach::Node Reach::Find(const Origin& origin) const {
  const auto found = by_name_.find(Key(origin.text, origin.name));
  return found == by_name_.end() ? kNone : found->second;
}

const std::vector<Reach::Node>& Reach::FindOperator(absl::string_view name) const {
  static const auto& none = *new std::vector<Node>();
  const auto found = operators_.find(name);
  return found == operators_.end() ? none : found->second;
}

const std::vector<Reach::Way>& Reach::WaysFrom(Node node) const { return nodes_[node].ways; }

const Reach::Way* Reach::FindWay(Node node, int32_t kernel) const {
  const std::vector<Way>& ways = nodes_[node].ways;
  const auto at = std::find_if(ways.begin(), ways.end(),
                               [kernel](const Way& way) { return way.kernel == kernel; });
  return at == ways.end() ? nullptr : &*at;
}

}  // namespace kernelmill::extractor
