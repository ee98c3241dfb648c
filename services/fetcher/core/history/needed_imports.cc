#include "services/fetcher/core/history/needed_imports.h"

#include <utility>

#include "common/python/syntax/bindings.h"
#include "common/python/syntax/imports.h"
#include "services/fetcher/core/history/may_hold_kernel.h"

namespace kernelmill::fetcher {

using python::Bindings;
using python::kNoNode;
using python::NodeId;
using python::SyntaxTree;

NeededImports::NeededImports(const SyntaxTree& tree) {
  const Bindings bindings(tree);
  for (NodeId node = tree.FirstChild(0); node != kNoNode; node = tree.NextSibling(node)) {
    Statement statement;
    for (const NodeId import : python::ImportsIn(tree, node)) {
      for (const v1::ImportedName& name : python::ImportedNames(tree, import)) {
        statement.imports.push_back(name);
      }
    }
    for (const absl::string_view name : bindings.BoundNames(node)) {
      statement.bound.push_back(Intern(name));
    }
    for (const absl::string_view name : bindings.FreeNames(node, /*keep_own=*/true)) {
      statement.read.push_back(Intern(name));
    }
    statement.kernel = !python::IsImport(tree.GetKind(node)) && MayHoldKernel(tree.GetText(node));
    statements_.push_back(std::move(statement));
  }
  binders_.resize(ids_.size());
  for (size_t i = 0; i < statements_.size(); ++i) {
    for (const uint32_t name : statements_[i].bound) binders_[name].push_back(i);
  }
}

uint32_t NeededImports::Intern(absl::string_view name) {
  const auto [found, is_new] = ids_.try_emplace(name, static_cast<uint32_t>(names_.size()));
  if (is_new) names_.emplace_back(name);
  return found->second;
}

Needed NeededImports::OfKernels() const {
  std::vector<size_t> kernels;
  for (size_t i = 0; i < statements_.size(); ++i) {
    if (statements_[i].kernel) kernels.push_back(i);
  }
  return Follow(kernels, {});
}

Needed NeededImports::OfNames(const std::optional<std::set<std::string>>& names) const {
  std::set<uint32_t> known;
  if (!names.has_value()) {
    for (uint32_t id = 0; id < names_.size(); ++id) known.insert(id);
    return Follow({}, std::move(known));
  }
  std::set<std::string> unknown;
  for (const std::string& name : *names) {
    const auto found = ids_.find(name);
    if (found != ids_.end()) {
      known.insert(found->second);
    } else {
      unknown.insert(name);
    }
  }
  Needed needed = Follow({}, std::move(known));
  needed.unbound.merge(unknown);
  return needed;
}

Needed NeededImports::Follow(const std::vector<size_t>& whole, std::set<uint32_t> names) const {
  std::vector<bool> taken(statements_.size(), false);
  std::vector<uint32_t> open(names.begin(), names.end());
  const auto take = [&](size_t statement) {
    if (taken[statement]) return;
    taken[statement] = true;
    for (const uint32_t name : statements_[statement].read) {
      if (names.insert(name).second) open.push_back(name);
    }
  };
  std::vector<bool> all(statements_.size(), false);
  for (const size_t statement : whole) {
    all[statement] = true;
    take(statement);
  }
  while (!open.empty()) {
    const uint32_t name = open.back();
    open.pop_back();
    for (const size_t statement : binders_[name]) take(statement);
  }
  Needed needed;
  for (const uint32_t name : names) {
    if (binders_[name].empty()) needed.unbound.insert(names_[name]);
  }
  for (size_t i = 0; i < statements_.size(); ++i) {
    for (const v1::ImportedName& import : statements_[i].imports) {
      const auto id = ids_.find(import.name());
      const bool named = taken[i] && id != ids_.end() && names.contains(id->second);
      if (all[i] || named || import.name() == "*") needed.imports.push_back(import);
    }
  }
  return needed;
}

}  // namespace kernelmill::fetcher
