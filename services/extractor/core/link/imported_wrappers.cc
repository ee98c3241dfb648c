#include "services/extractor/core/link/imported_wrappers.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/text.h"
#include "common/dsl/languages.h"
#include "common/dsl/names.h"
#include "services/extractor/core/detect/functions.h"
#include "services/extractor/core/link/kernel_shards.h"
#include "services/extractor/core/link/source_scope.h"

namespace kernelmill::extractor {
namespace {

// Bounds on following one name: the files that it may pass through, and the names that are looked
// at, since each file may import '*' from many others.
constexpr int kMaxSteps = 16;
constexpr int kMaxLookups = 256;
constexpr absl::string_view kWildcard = "*";

// Returns the language of Triton that the kernel's body calls: Triton's own or Gluon's. A name of
// it that comes from another module is taken at its word; one that is bound by a relative import
// has no module in `calls`.
absl::string_view FindSpokenDsl(const v1::Kernel& kernel) {
  absl::string_view spoken;
  for (const std::string& call : kernel.calls()) {
    const std::optional<dsl::SaidName> said = dsl::FindSaidName(absl::StrCat(".", call));
    const absl::string_view name = said ? said->resolved : call;
    if (absl::StartsWith(name, "triton.experimental.gluon.")) return dsl::kGluon;
    if (absl::StartsWith(name, "triton.language.")) spoken = dsl::kTriton;
  }
  return spoken;
}

// Splits the dots off that a relative name begins with.
size_t CountDots(absl::string_view dotted) {
  return std::min(dotted.find_first_not_of('.'), dotted.size());
}

// Returns the module of a dotted name, with the dots that a relative one begins with; empty for a
// name without one.
absl::string_view ModuleName(absl::string_view dotted) {
  const size_t dots = CountDots(dotted);
  const size_t last = dotted.rfind('.');
  if (last == absl::string_view::npos) return "";
  return dotted.substr(0, std::max(last, dots));
}

}  // namespace

void ImportedWrappers::Add(const v1::KernelShard& shard) { AddNames(shard, ""); }

void ImportedWrappers::AddUsed(size_t used, const v1::KernelShard& shard) {
  AddNames(shard, ImportPaths::MakeUsedPath(used, ""));
}

void ImportedWrappers::AddNames(const v1::KernelShard& shard, absl::string_view folder) {
  for (const v1::ExtractedFile& file : shard.files()) {
    files_.insert(absl::StrCat(folder, file.path()));
  }
  for (const v1::JitName& name : shard.jit_names()) {
    const std::string path = absl::StrCat(folder, name.path());
    if (absl::StartsWith(name.name(), kMadeElsewhere)) {
      made_names_.push_back(name);
      made_names_.back().set_path(path);
    } else if (name.name() == kWildcard) {
      wildcards_[path].emplace_back(absl::StripSuffix(name.imported(), kWildcard));
    } else {
      v1::JitName& added = names_[{path, name.name()}];
      added = name;
      added.set_path(path);
    }
  }
  for (const v1::Definition& definition : shard.definitions()) {
    if (definition.string_begin() > 0) continue;
    const std::string path = absl::StrCat(folder, definition.path());
    if (definition.kind() == v1::Definition::KIND_IMPORT) {
      AddImports(definition, path);
    } else if (wildcards_.contains(path)) {
      for (const std::string& name : definition.names()) defined_.emplace(path, name);
    }
  }
}

// Any import may hand a wrapper on, whatever it is called: `from ._compat import kernel`.
void ImportedWrappers::AddImports(const v1::Definition& definition, const std::string& path) {
  for (const v1::ImportedName& imported : definition.imported()) {
    if (imported.member().empty()) continue;
    const auto [entry, added] = names_.try_emplace({path, imported.name()});
    if (!added) continue;
    entry->second.set_path(path);
    entry->second.set_imported(absl::StrCat(std::string(static_cast<size_t>(imported.level()), '.'),
                                            DottedName(imported)));
    entry->second.set_hidden(absl::StartsWith(imported.name(), "_"));
  }
}

// Each name is followed through the files that import it from one another, to the one that has it.
void ImportedWrappers::ResolveMade() {
  for (const v1::JitName& name : made_names_) {
    std::string importer = name.path();
    std::string imported = name.imported();
    for (int steps = 0; steps < kMaxSteps; ++steps) {
      importer = FindModule(importer, ModuleName(imported));
      if (importer.empty()) break;
      const std::string last(LastPart(imported));
      const auto handed_on = names_.find({importer, last});
      if (handed_on != names_.end() && !handed_on->second.imported().empty()) {
        imported = handed_on->second.imported();
        continue;
      }
      made_.try_emplace({importer, last}, name);
      break;
    }
  }
}

// Follows the name from file to file, until one of them knows its DSL. Each file has what the name
// is imported as there, which is the name to look up in the next file. A name that leads out of the
// sources is taken at its word.
ImportedWrappers::Found ImportedWrappers::Find(const v1::Kernel& kernel,
                                               absl::string_view imported) const {
  std::string importer = kernel.path();
  std::string name(imported);
  int lookups = kMaxLookups;
  for (int steps = 0; steps < kMaxSteps; ++steps) {
    const absl::string_view own = FindOwnMaker(importer, name);
    if (!own.empty()) return {std::string(own)};
    const v1::JitName* found = Lookup(importer, name, lookups);
    if (found != nullptr && !found->dsl().empty()) return {found->dsl()};
    if (found != nullptr) {
      importer = found->path();
      name = found->imported();
      const absl::string_view dsl = dsl::FindMakerDsl(name);
      if (!dsl.empty()) return {std::string(dsl)};
      continue;
    }
    // utils.triton.jit may be the jit of the `triton` that utils imports.
    const size_t last = name.rfind('.');
    if (last == std::string::npos) return FindByWildcard(kernel, importer, name, lookups);
    found = Lookup(importer, absl::string_view(name).substr(0, last), lookups);
    if (found == nullptr || found->imported().empty()) {
      Found said = FindByName(kernel, importer, name);
      if (!said.dsl.empty()) return said;
      return FindBehindWildcard(kernel, importer, name, lookups);
    }
    importer = found->path();
    name = absl::StrCat(found->imported(), name.substr(last));
    const absl::string_view dsl = dsl::FindMakerDsl(name);
    if (!dsl.empty()) return {std::string(dsl)};
  }
  return {};
}

// The name may be one that a file of the sources takes from a module outside them, with all others
// of it: `compat.triton.jit` or `compat.jit`, where compat says `from vllm.utils import *`.
ImportedWrappers::Found ImportedWrappers::FindBehindWildcard(const v1::Kernel& kernel,
                                                             const std::string& importer,
                                                             absl::string_view imported,
                                                             int& steps) const {
  absl::string_view module = imported;
  for (int parts = 0; parts < 2; ++parts) {
    module = ModuleName(module);
    if (module.empty()) break;
    const std::string file = FindModule(importer, module);
    if (file.empty()) continue;
    const absl::string_view rest = imported.substr(module.size());
    return FindByWildcard(kernel, file, absl::StripPrefix(rest, "."), steps);
  }
  return {};
}

// A name that no file of the sources brings may come from a module outside them whose names a file
// takes all: the last such import counts, also that of a file that the name may come through.
ImportedWrappers::Found ImportedWrappers::FindByWildcard(const v1::Kernel& kernel,
                                                         const std::string& path,
                                                         absl::string_view name, int& steps) const {
  const auto wildcards = wildcards_.find(path);
  if (wildcards == wildcards_.end() || --steps < 0 || absl::StartsWith(name, "_") ||
      defined_.contains({path, std::string(FirstPart(name))})) {
    return {};
  }
  for (auto from = wildcards->second.rbegin(); from != wildcards->second.rend(); ++from) {
    const std::string file = FindModule(path, ModuleName(absl::StrCat(*from, kWildcard)));
    const std::string imported = absl::StrCat(*from, name);
    const absl::string_view own = dsl::FindMakerDsl(imported);
    if (!own.empty()) return {std::string(own)};
    const Found found = file.empty() ? FindByName(kernel, path, imported)
                                     : FindByWildcard(kernel, file, name, steps);
    if (!found.dsl.empty()) return found;
  }
  return {};
}

// A `jit` says less than a `triton.jit`, since other libraries have one: it counts only for a
// function that speaks Triton's language.
ImportedWrappers::Found ImportedWrappers::FindByName(const v1::Kernel& kernel,
                                                     const std::string& importer,
                                                     absl::string_view imported) const {
  if (const auto said = dsl::FindSaidName(imported)) {
    const bool known = !FindModule(importer, imported.substr(0, said->module_bytes)).empty() ||
                       !FindModule(importer, imported.substr(0, said->word_bytes)).empty();
    if (known) return {};
    return {std::string(dsl::FindMakerDsl(said->resolved)), std::string(imported)};
  }
  const absl::string_view module = ModuleName(imported);
  if (module.empty() || !FindModule(importer, module).empty()) return {};
  const absl::string_view dsl = dsl::FindSaidDsl(imported);
  if (!dsl.empty()) return {std::string(dsl), std::string(imported)};
  const absl::string_view package = FirstPart(imported.substr(CountDots(imported)));
  if (LastPart(imported) != "jit" || dsl::IsLibrary(package) || dsl::IsOtherJit(LastPart(module))) {
    return {};
  }
  return {std::string(FindSpokenDsl(kernel)), std::string(imported)};
}

// The package may be in any folder of the source, so that any end of the module's path counts.
absl::string_view ImportedWrappers::FindOwnMaker(const std::string& importer,
                                                 absl::string_view imported) const {
  if (CountDots(imported) == 0) return "";
  const std::string path = FindModule(importer, ModuleName(imported));
  absl::string_view module = path;
  if (!absl::ConsumeSuffix(&module, ".py")) return "";
  absl::ConsumeSuffix(&module, "/__init__");
  std::string name = absl::StrCat(module, ".", LastPart(imported));
  std::replace(name.begin(), name.end(), '/', '.');
  for (absl::string_view end = name; !end.empty();) {
    const absl::string_view dsl = dsl::FindMakerDsl(end);
    if (!dsl.empty()) return dsl;
    const size_t dot = end.find('.');
    end.remove_prefix(dot == absl::string_view::npos ? end.size() : dot + 1);
  }
  return "";
}

// Returns the path of a module, dotted as the file at `importer` imports it; empty if it is no file
// that was read.
std::string ImportedWrappers::FindModule(const std::string& importer,
                                         absl::string_view dotted) const {
  const size_t dots = CountDots(dotted);
  std::string path = paths_.Find(importer, static_cast<int>(dots), dotted.substr(dots)).path;
  return files_.contains(path) ? path : "";
}

// Returns the file's own name, or the one that the last import of '*' with that name brings.
const v1::JitName* ImportedWrappers::FindName(const std::string& path, absl::string_view name,
                                              int& steps) const {
  if (--steps < 0) return nullptr;
  const auto found = names_.find({path, std::string(name)});
  if (found != names_.end()) return &found->second;
  const auto wildcards = wildcards_.find(path);
  if (wildcards == wildcards_.end()) return nullptr;
  for (auto from = wildcards->second.rbegin(); from != wildcards->second.rend(); ++from) {
    const v1::JitName* brought = Lookup(path, absl::StrCat(*from, name), steps);
    if (brought != nullptr && !brought->hidden()) return brought;
  }
  return nullptr;
}

// Looks a dotted name up from the file at `path`: the last part is a name in the module that the
// others mean.
const v1::JitName* ImportedWrappers::Lookup(const std::string& path, absl::string_view imported,
                                            int& steps) const {
  const size_t dots = CountDots(imported);
  const absl::string_view dotted = imported.substr(dots);
  const size_t last = dotted.rfind('.');
  const absl::string_view name = last == absl::string_view::npos ? dotted : dotted.substr(last + 1);
  const absl::string_view module = last == absl::string_view::npos ? "" : dotted.substr(0, last);
  if (dots == 0 && module.empty()) return FindName(path, name, steps);
  const std::string file = paths_.Find(path, static_cast<int>(dots), module).path;
  if (!file.empty()) return FindName(file, name, steps);
  // The last two parts may be a class or an instance and its member.
  const size_t before = module.rfind('.');
  const size_t split = before == absl::string_view::npos ? 0 : before + 1;
  if (module.empty() || (dots == 0 && split == 0)) return FindName(path, dotted, steps);
  const absl::string_view outer = module.substr(0, split == 0 ? 0 : before);
  const std::string holder = paths_.Find(path, static_cast<int>(dots), outer).path;
  return holder.empty() ? nullptr : FindName(holder, dotted.substr(split), steps);
}

// The first decorator that leads to a DSL decides. Kernels are counted in the first file with their
// path only, since two files of a hostile tree may share one.
int ImportedWrappers::DecideCandidates(const dsl::LanguageSet& wanted,
                                       v1::KernelShard& shard) const {
  absl::flat_hash_map<std::string, int> decided;  // kernels by path
  for (v1::Candidate& candidate : *shard.mutable_candidates()) {
    for (const std::string& decorator : candidate.decorators()) {
      Found found;
      if (decorator != kMadeElsewhere) {
        found = Find(candidate.kernel(), decorator);
      } else if (const auto made =
                     made_.find({candidate.kernel().path(), candidate.kernel().qualname()});
                 made != made_.end()) {
        found = {made->second.dsl(),
                 std::string(made->second.name().substr(kMadeElsewhere.size()))};
      }
      if (found.dsl.empty()) continue;
      if (!wanted.Has(found.dsl)) break;
      v1::Kernel& kernel = *shard.add_kernels();
      kernel = std::move(*candidate.mutable_kernel());
      kernel.set_dsl(found.dsl);
      if (kernel.form() == v1::KERNEL_FORM_UNSPECIFIED) kernel.set_form(v1::KERNEL_FORM_WRAPPED);
      const absl::string_view name = found.said.empty() ? decorator : found.said;
      const bool by_name = !found.said.empty() && decorator != kMadeElsewhere;
      kernel.set_found_by(absl::StrCat(by_name ? kByName : "", name.substr(CountDots(name))));
      ++decided[kernel.path()];
      break;
    }
  }
  int sum = 0;
  for (v1::ExtractedFile& file : *shard.mutable_files()) {
    const auto found = decided.find(file.path());
    if (found == decided.end()) continue;
    file.set_kernels(file.kernels() + found->second);
    sum += found->second;
    decided.erase(found);  // two files of a hostile tree may share a path
  }
  shard.clear_candidates();
  shard.clear_jit_names();
  SortKernels(shard);
  return sum;
}

}  // namespace kernelmill::extractor
