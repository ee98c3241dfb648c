#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_COMPUTATION_VARIABLES_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_COMPUTATION_VARIABLES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "services/deduplicator/core/computation/value_graph.h"

namespace kernelmill::deduplicator {

// The values of a kernel's variables. Every branch and loop copies them, so that names are numbered
// once and a copy is an array. Refers to the names. Not thread-safe.
class Variables {
 public:
  // The value of an expression. `exact` differs from `node` for positions: it has their arithmetic,
  // and tells addresses apart. `base` is the parameter that an address begins at, or 0.
  struct Value {
    ValueGraph::Id node = 0;
    ValueGraph::Id exact = 0;
    ValueGraph::Id base = 0;
  };
  // The values at a point of the kernel, by the number of each name.
  struct State {
    std::vector<std::optional<Value>> values;
    size_t bound = 0;  // the number of names that have a value
  };

  // Returns the value of a name; null if it has none. Valid until the next Set().
  const Value* Find(absl::string_view name) const;
  Value* Find(absl::string_view name) {
    return const_cast<Value*>(static_cast<const Variables*>(this)->Find(name));
  }
  void Set(absl::string_view name, const Value& value);

  // The number of names that have a value.
  size_t size() const { return state_.bound; }
  const State& state() const { return state_; }
  // Goes back to a state, and returns the one that it ends.
  State Exchange(State state) { return std::exchange(state_, std::move(state)); }

  // Returns the names that have a value in `state`, and another value or none here; in their order.
  std::vector<absl::string_view> FindChanged(const State& state) const;
  // Returns the value of a name in a state in which it has one.
  const Value& GetValue(const State& state, absl::string_view name) const {
    return *state.values[numbers_.at(name)];
  }

 private:
  absl::flat_hash_map<absl::string_view, uint32_t> numbers_;
  std::vector<absl::string_view> names_;  // by number
  State state_;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_COMPUTATION_VARIABLES_H_
