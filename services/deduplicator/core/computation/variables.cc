#include "services/deduplicator/core/computation/variables.h"

#include <algorithm>

namespace kernelmill::deduplicator {

const Variables::Value* Variables::Find(absl::string_view name) const {
  const auto found = numbers_.find(name);
  const bool is_bound = found != numbers_.end() && found->second < state_.values.size() &&
                        state_.values[found->second].has_value();
  return is_bound ? &*state_.values[found->second] : nullptr;
}

void Variables::Set(absl::string_view name, const Value& value) {
  const auto [found, is_new] = numbers_.try_emplace(name, static_cast<uint32_t>(names_.size()));
  if (is_new) names_.push_back(name);
  const uint32_t number = found->second;
  if (number >= state_.values.size()) state_.values.resize(names_.size());
  state_.bound += !state_.values[number].has_value();
  state_.values[number] = value;
}

std::vector<absl::string_view> Variables::FindChanged(const State& state) const {
  std::vector<absl::string_view> changed;
  for (size_t i = 0; i < state.values.size(); ++i) {
    if (!state.values[i].has_value()) continue;
    const bool is_same = i < state_.values.size() && state_.values[i].has_value() &&
                         state_.values[i]->node == state.values[i]->node &&
                         state_.values[i]->exact == state.values[i]->exact;
    if (!is_same) changed.push_back(names_[i]);
  }
  std::sort(changed.begin(), changed.end());
  return changed;
}

}  // namespace kernelmill::deduplicator
