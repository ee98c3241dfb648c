#include "services/extractor/core/link/unresolved.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/python/module_paths.h"

namespace kernelmill::extractor {
namespace {

class Collector {
 public:
  Collector(const SourceScope& scope, const Closure& closure)
      : scope_(scope), closure_(closure), has_wildcards_(!closure.Wildcards().empty()) {
    for (const Closure::Missing& missing : closure.missing()) Add(missing.name, missing.reason);
  }

  void AddModulesOf(const v1::Definition& definition) {
    const std::vector<std::string>& absent = scope_.AbsentModulesOf(definition);
    if (absent.empty()) return;
    if (!IsImport(definition) || definition.imported().empty()) {
      for (const std::string& module : absent) AddModule(definition, module);
      return;
    }
    // A statement of the source's own stands there only for names that are listed themselves.
    const TextDefinitions& text = scope_.TextOf(definition.path(), definition.string_begin());
    const bool for_listed = std::any_of(
        definition.imported().begin(), definition.imported().end(),
        [this](const v1::ImportedName& each) { return closure_.IsMissing(each.name()); });
    for (const v1::ImportedName& imported : definition.imported()) {
      if (for_listed && scope_.IsOwn(text, imported)) continue;
      const bool listed =
          imported.name() == "*" ? has_wildcards_ : closure_.IsMissing(imported.name());
      if (listed) continue;
      AddModule(definition, absl::StrCat(std::string(static_cast<size_t>(imported.level()), '.'),
                                         imported.module()));
    }
  }

  const UnresolvedNames& reasons() const { return reasons_; }

 private:
  void Add(const std::string& name, absl::string_view reason) {
    reasons_.try_emplace(name, reason);
  }

  void AddModule(const v1::Definition& definition, const std::string& module) {
    if (IsAtHand(module)) return;
    v1::ImportedName imported;
    const size_t dots = std::min(module.find_first_not_of('.'), module.size());
    imported.set_level(static_cast<int32_t>(dots));
    imported.set_module(module.substr(dots));
    const TextDefinitions& text = scope_.TextOf(definition.path(), definition.string_begin());
    const bool own = dots > 0 || scope_.IsOwn(text, imported);
    Add(module, own ? Closure::kRepositoryImport : Closure::kPackageImport);
  }

  const SourceScope& scope_;
  const Closure& closure_;
  const bool has_wildcards_;
  UnresolvedNames reasons_;
};

}  // namespace

UnresolvedNames FindUnresolvedNames(const SourceScope& scope, const Closure& closure,
                                    const v1::Definition* statement) {
  Collector names(scope, closure);
  if (statement != nullptr) names.AddModulesOf(*statement);
  if (closure.applied() != nullptr) names.AddModulesOf(*closure.applied());
  for (const v1::Definition* definition : closure.imports()) names.AddModulesOf(*definition);
  for (const Closure::Part& part : closure.parts()) {
    if (part.definition != nullptr) names.AddModulesOf(*part.definition);
  }
  return names.reasons();
}

void SetUnresolvedNames(const UnresolvedNames& names, const Closure& closure, v1::Kernel& kernel) {
  kernel.clear_unresolved_names();
  for (const auto& [name, reason] : names) {
    v1::UnresolvedName& unresolved = *kernel.add_unresolved_names();
    unresolved.set_name(name);
    unresolved.set_reason(std::string(reason));
  }
  kernel.set_self_contained(names.empty());
  kernel.clear_free_names();
  for (const Closure::Missing& missing : closure.missing()) kernel.add_free_names(missing.name);
}

}  // namespace kernelmill::extractor
