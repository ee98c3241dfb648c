// The basic idea: operands are made before the values that need them, so that one pass over the
// nodes in their order hashes them all. Names and unused parameters never enter a hash; the ranks
// that do are found over the nodes that a sink reaches.

#include "services/deduplicator/core/computation/value_graph.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/base/hash.h"

namespace kernelmill::deduplicator {
namespace {

constexpr size_t kUsualValues = 256;  // a kernel has

uint64_t HashNumbers(const std::vector<uint64_t>& numbers) {
  return StableHash64(absl::string_view(reinterpret_cast<const char*>(numbers.data()),
                                        numbers.size() * sizeof(uint64_t)));
}

}  // namespace

ValueGraph::ValueGraph() {
  known_.reserve(kUsualValues);
  nodes_.reserve(kUsualValues);
  AddLeaf("", Class::kUniform);
}

// A full graph answers with its first value, so that its user needs no check at each step.
ValueGraph::Id ValueGraph::Add(Kind kind, absl::string_view op, Class value_class,
                               absl::Span<const Id> operands, uint32_t number) {
  if (IsFull()) return 0;
  const uint64_t op_hash = StableHash64(op);
  flat_.clear();
  for (const Id operand : operands) {
    const Node& node = nodes_[operand];
    const bool joins = kind == Kind::kChain && node.kind == kind && node.op == op_hash &&
                       node.operands + operands.size() <= kMaxChain;
    if (joins) {
      const absl::Span<const Id> inner = Operands(operand);
      flat_.insert(flat_.end(), inner.begin(), inner.end());
    } else {
      flat_.push_back(operand);
    }
  }
  key_.assign({static_cast<uint64_t>(kind), op_hash, number, static_cast<uint64_t>(value_class)});
  for (const Id operand : flat_) key_.push_back(nodes_[operand].identity);
  const uint64_t identity = HashNumbers(key_);
  const auto [known, is_new] = known_.try_emplace(identity, static_cast<Id>(nodes_.size()));
  if (!is_new) return known->second;
  Node node{kind, value_class, false, number, 1, op_hash, identity};
  node.first_operand = static_cast<uint32_t>(operands_.size());
  node.operands = static_cast<uint32_t>(flat_.size());
  for (const Id operand : flat_) {
    node.marked |= nodes_[operand].marked;
    node.weight = std::min(node.weight + nodes_[operand].weight, uint32_t{1} << 24);
  }
  operands_.insert(operands_.end(), flat_.begin(), flat_.end());
  nodes_.push_back(node);
  return known->second;
}

bool ValueGraph::Is(Id id, absl::string_view op) const { return nodes_[id].op == StableHash64(op); }

// An address is not part of what is computed: its own operands are not reached by it.
std::vector<bool> ValueGraph::FindReached() const {
  std::vector<bool> reached(nodes_.size());
  for (const Id sink : sinks_) reached[sink] = true;
  for (size_t id = nodes_.size(); id-- > 0;) {
    if (!reached[id]) continue;
    const absl::Span<const Id> operands = Operands(static_cast<Id>(id));
    for (size_t i = 0; i < operands.size(); ++i) {
      if (nodes_[id].kind != Kind::kLoad || i != 1) reached[operands[i]] = true;
    }
  }
  return reached;
}

// A parameter that is read through is of another kind than one that is a value itself.
std::vector<uint32_t> ValueGraph::RankParameters(const std::vector<bool>& reached) const {
  std::vector<bool> is_memory(nodes_.size());
  for (Id id = 0; id < nodes_.size(); ++id) {
    if (reached[id] && nodes_[id].kind == Kind::kLoad) is_memory[Operands(id)[0]] = true;
  }
  std::vector<std::pair<uint32_t, Id>> parameters;
  for (Id id = 0; id < nodes_.size(); ++id) {
    if (reached[id] && nodes_[id].kind == Kind::kParameter) {
      parameters.emplace_back(nodes_[id].number, id);
    }
  }
  std::sort(parameters.begin(), parameters.end());
  std::vector<uint32_t> ranks(nodes_.size());
  uint32_t memory = 0;
  uint32_t values = 0;
  for (const auto& [number, id] : parameters) {
    ranks[id] = is_memory[id] ? 2 * memory++ : 2 * values++ + 1;
  }
  return ranks;
}

// Loads from one place are ranked by their addresses, the simplest first: neither the order of the
// statements nor how an address is written changes that, as a rule.
std::vector<uint32_t> ValueGraph::RankLoads(const std::vector<bool>& reached) const {
  using Address = std::pair<uint32_t, uint64_t>;  // its weight and its identity
  const auto get_address = [&](Id load) {
    const Node& address = nodes_[Operands(load)[1]];
    return Address{address.weight, address.identity};
  };
  std::map<Id, std::vector<Address>> addresses;  // by what is read
  for (Id id = 0; id < nodes_.size(); ++id) {
    if (!reached[id] || nodes_[id].kind != Kind::kLoad) continue;
    addresses[Operands(id)[0]].push_back(get_address(id));
  }
  for (auto& [base, all] : addresses) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }
  std::vector<uint32_t> ranks(nodes_.size());
  for (Id id = 0; id < nodes_.size(); ++id) {
    if (!reached[id] || nodes_[id].kind != Kind::kLoad) continue;
    const std::vector<Address>& all = addresses[Operands(id)[0]];
    const auto place = std::lower_bound(all.begin(), all.end(), get_address(id));
    ranks[id] = static_cast<uint32_t>(place - all.begin());
  }
  return ranks;
}

bool ValueGraph::OnlyMoves() const {
  const std::vector<bool> reached = FindReached();
  const uint64_t cast = StableHash64("cast");
  std::vector<bool> is_sink(nodes_.size());
  for (const Id sink : sinks_) is_sink[sink] = true;
  for (size_t id = 0; id < nodes_.size(); ++id) {
    const Node& node = nodes_[id];
    const bool moves = node.kind == Kind::kLoad || node.op == cast || node.operands == 0;
    if (reached[id] && !is_sink[id] && !moves) return false;
  }
  return true;
}

std::vector<uint64_t> ValueGraph::HashSinks() const {
  const std::vector<bool> reached = FindReached();
  const std::vector<uint32_t> parameters = RankParameters(reached);
  const std::vector<uint32_t> loads = RankLoads(reached);
  std::vector<uint64_t> hashes(nodes_.size());
  std::vector<uint64_t> all;
  for (Id id = 0; id < nodes_.size(); ++id) {
    if (!reached[id]) continue;
    const Node& node = nodes_[id];
    const absl::Span<const Id> operands = Operands(id);
    all.clear();
    for (size_t i = 0; i < operands.size(); ++i) {
      if (node.kind != Kind::kLoad || i != 1) all.push_back(hashes[operands[i]]);
    }
    uint64_t op = node.op;
    if (node.kind == Kind::kSorted || node.kind == Kind::kChain) std::sort(all.begin(), all.end());
    if (node.kind == Kind::kLess && all[0] != all[1]) op = node.number;
    if (node.kind == Kind::kParameter) op = parameters[id] + 1;
    if (node.kind == Kind::kLoad) op += loads[id];
    all.push_back(op);
    all.push_back(static_cast<uint64_t>(node.kind));
    hashes[id] = HashNumbers(all);
  }
  std::vector<uint64_t> sinks;
  sinks.reserve(sinks_.size());
  for (const Id sink : sinks_) sinks.push_back(hashes[sink]);
  std::sort(sinks.begin(), sinks.end());
  return sinks;
}

}  // namespace kernelmill::deduplicator
