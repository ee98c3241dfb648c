#include "services/extractor/core/reference/host_module.h"

#include <utility>

#include "services/extractor/core/link/module.h"

namespace kernelmill::extractor {

// A module is made of a kernel's record, and to that a function of the host is like any other.
v1::HostModule HostModules::Make(const HostText& text) {
  v1::Kernel function;
  function.set_path(text.path);
  function.set_name(text.name);
  function.set_qualname(text.name);
  function.set_first_line(text.first_line);
  function.set_last_line(text.last_line);
  function.set_source(text.text);
  for (const std::string& name : text.free_names) function.add_free_names(name);
  MakeModule(scope_, max_bytes_, function);
  v1::HostModule made;
  made.set_module(std::move(*function.mutable_module()));
  made.set_self_contained(function.self_contained());
  *made.mutable_unresolved_names() = std::move(*function.mutable_unresolved_names());
  return made;
}

const v1::HostModule* HostModules::FindAt(const std::string& path, int line) {
  for (const v1::Definition* definition : scope_.GetDefinitions(path, 0).outer) {
    if (definition->first_line() > line) break;
    if (line <= definition->last_line()) return MakeFor(*definition);
  }
  return nullptr;
}

const v1::Definition* HostModules::FindDefinition(const Origin& origin) {
  const Definitions& bindings = SourceScope::GetBindings(origin);
  for (auto at = bindings.rbegin(); at != bindings.rend(); ++at) {
    if (!IsImport(**at)) return *at;
  }
  return nullptr;
}

const v1::HostModule* HostModules::FindFor(const Origin& origin) {
  const v1::Definition* definition = FindDefinition(origin);
  return definition == nullptr ? nullptr : MakeFor(*definition);
}

const v1::HostModule* HostModules::MakeFor(const v1::Definition& definition) {
  const auto [at, added] = modules_.try_emplace(&definition);
  if (!added) return &at->second;
  const std::string name = definition.names_size() > 0 ? definition.names(0) : "";
  v1::HostModule made = Make({definition.path(),
                              name,
                              definition.first_line(),
                              definition.last_line(),
                              definition.text(),
                              {definition.uses().begin(), definition.uses().end()}});
  made.set_path(definition.path());
  made.set_qualname(name);
  made.set_first_line(definition.first_line());
  made.set_last_line(definition.last_line());
  return &(modules_[&definition] = std::move(made));
}

}  // namespace kernelmill::extractor
