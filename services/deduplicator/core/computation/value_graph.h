#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_COMPUTATION_VALUE_GRAPH_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_COMPUTATION_VALUE_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kernelmill::deduplicator {

// A graph of the values that a kernel computes, each made once, and the sinks that they flow into:
// stores, atomics, returned values. Two kernels compute the same if their sinks have the same
// hashes. A hash depends on neither names nor the order of statements:
//
//   - a parameter is known by its place among the parameters of its kind that the sinks reach;
//   - a load is known by its parameter, and by its place among the loads from there;
//   - operands whose order does not matter are sorted.
//
// It holds a bounded number of values. Not thread-safe.
class ValueGraph {
 public:
  using Id = uint32_t;

  // The things that a value depends on; later ones include earlier ones.
  enum class Class : uint8_t {
    kUniform,   // constants and parameters
    kPosition,  // the place of a program, a thread or an element
    kData,      // what is loaded
  };
  enum class Kind : uint8_t {
    kOrdered,
    kSorted,     // the order of the operands does not matter
    kChain,      // nor do brackets: a + (b + c)
    kLess,       // a < b; `number` is 1 for a <= b. `op` counts only for two equal operands
    kParameter,  // `number` is its place in the signature
    kLoad,       // operands: what is read, the address, and further ones
  };

  ValueGraph();

  // Returns the value; equal arguments give the same value.
  Id Add(Kind kind, absl::string_view op, Class value_class, absl::Span<const Id> operands,
         uint32_t number = 0);
  // Returns a value without operands.
  Id AddLeaf(absl::string_view op, Class value_class) {
    return Add(Kind::kOrdered, op, value_class, {});
  }

  Class GetClass(Id id) const { return nodes_[id].value_class; }
  // Returns true for a value that Mark() was called for, or that has such an operand.
  bool IsMarked(Id id) const { return nodes_[id].marked; }
  void Mark(Id id) { nodes_[id].marked = true; }
  // Valid until the next Add().
  absl::Span<const Id> Operands(Id id) const {
    const Node& node = nodes_[id];
    return absl::MakeConstSpan(operands_).subspan(node.first_operand, node.operands);
  }
  bool Is(Id id, absl::string_view op) const;
  bool IsLoad(Id id) const { return nodes_[id].kind == Kind::kLoad; }

  size_t sinks() const { return sinks_.size(); }
  void AddSink(Id id) { sinks_.push_back(id); }
  // Drops the sinks from number `first` on.
  void DropSinks(size_t first) { sinks_.resize(first); }

  // Returns true once the graph has no room for another value. Its hashes then say nothing.
  bool IsFull() const { return nodes_.size() >= kMaxValues; }

  // Returns the hashes of the sinks, sorted.
  std::vector<uint64_t> HashSinks() const;
  // Returns true if what the sinks reach is only moved: loaded, cast and stored.
  bool OnlyMoves() const;

 private:
  static constexpr size_t kMaxValues = size_t{1} << 17;
  static constexpr size_t kMaxChain = 16;

  struct Node {
    Kind kind;
    Class value_class;
    bool marked = false;
    uint32_t number = 0;
    uint32_t weight = 1;  // how many values it is made of
    uint64_t op;          // a hash of it
    uint64_t identity;    // a hash of all that it was made of
    uint32_t first_operand = 0;
    uint32_t operands = 0;
  };

  std::vector<bool> FindReached() const;
  std::vector<uint32_t> RankParameters(const std::vector<bool>& reached) const;
  std::vector<uint32_t> RankLoads(const std::vector<bool>& reached) const;

  std::vector<Node> nodes_;
  std::vector<Id> operands_;                 // all nodes', one after another
  absl::flat_hash_map<uint64_t, Id> known_;  // by identity
  std::vector<Id> sinks_;
  std::vector<Id> flat_;       // the operands of the value that is being added
  std::vector<uint64_t> key_;  // the input of its identity hash
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_COMPUTATION_VALUE_GRAPH_H_
