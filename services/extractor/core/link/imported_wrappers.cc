#include "services/extractor/core/link/imported_wrappers.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/text.h"
#include "common/dsl/languages.h"
#include "services/extractor/core/link/kernel_shards.h"

namespace kernelmill::extractor {
namespace {

// Bounds on following one name: the files that it may pass through, and the names that are looked
// at, since each file may import '*' from many others.
constexpr int kMaxSteps = 16;
constexpr int kMaxLookups = 256;
constexpr absl::string_view kWildcard = "*";
constexpr absl::string_view kByName = "name:";  // begins found_by

// Returns the language of Triton that the kernel's body calls: Triton's own or Gluon's. A name of
// it that comes from another module is taken at its word; one that is bound by a relative import
// has no module in `calls`.
v1::Dsl FindSpokenDsl(const v1::Kernel& kernel) {
  v1::Dsl spoken = v1::DSL_UNSPECIFIED;
  for (const std::string& call : kernel.calls()) {
    const std::optional<dsl::SaidName> said = dsl::FindSaidName(absl::StrCat(".", call));
    const absl::string_view name = said ? said->resolved : call;
    if (absl::StartsWith(name, "triton.experimental.gluon.")) return v1::DSL_GLUON;
    if (absl::StartsWith(name, "triton.language.")) spoken = v1::DSL_TRITON;
  }
  return spoken;
}

// Splits the dots off that a relative name begins with.
size_t CountDots(absl::string_view dotted) {
  return std::min(dotted.find_first_not_of('.'), dotted.size());
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
    if (name.name() == kWildcard) {
      wildcards_[path].emplace_back(absl::StripSuffix(name.imported(), kWildcard));
    } else {
      v1::JitName& added = names_[{path, name.name()}];
      added = name;
      added.set_path(path);
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
    const v1::JitName* found = Lookup(importer, name, lookups);
    if (found != nullptr && found->dsl() != v1::DSL_UNSPECIFIED) return {found->dsl()};
    if (found != nullptr) {
      importer = found->path();
      name = found->imported();
      continue;
    }
    // utils.triton.jit may be the jit of the `triton` that utils imports.
    const size_t last = name.rfind('.');
    if (last == std::string::npos) return {};
    found = Lookup(importer, absl::string_view(name).substr(0, last), lookups);
    if (found == nullptr || found->imported().empty()) return FindByName(kernel, importer, name);
    importer = found->path();
    name = absl::StrCat(found->imported(), name.substr(last));
    const v1::Dsl dsl = dsl::FindExtractedDsl(name);
    if (dsl != v1::DSL_UNSPECIFIED) return {dsl};
  }
  return {};
}

// A `jit` says less than a `triton.jit`, since other libraries have one: it counts only for a
// function that speaks Triton's language.
ImportedWrappers::Found ImportedWrappers::FindByName(const v1::Kernel& kernel,
                                                     const std::string& importer,
                                                     absl::string_view imported) const {
  if (const auto said = dsl::FindSaidName(imported)) {
    const bool known = HasModule(importer, imported.substr(0, said->module_bytes)) ||
                       HasModule(importer, imported.substr(0, said->word_bytes));
    return known ? Found() : Found{dsl::FindExtractedDsl(said->resolved), true};
  }
  const absl::string_view package = imported.substr(CountDots(imported));
  const size_t last = imported.rfind('.');
  if (LastPart(imported) != "jit" || last == absl::string_view::npos ||
      dsl::IsLibrary(FirstPart(package)) || dsl::IsOtherJit(LastPart(imported.substr(0, last)))) {
    return {};
  }
  const bool relative = CountDots(imported) > last;
  if (HasModule(importer, imported.substr(0, relative ? last + 1 : last))) return {};
  return {FindSpokenDsl(kernel), true};
}

// Returns whether a module, dotted as the file at `importer` imports it, is a file that was read.
bool ImportedWrappers::HasModule(const std::string& importer, absl::string_view dotted) const {
  const size_t dots = CountDots(dotted);
  const std::string path = paths_.Find(importer, static_cast<int>(dots), dotted.substr(dots)).path;
  return !path.empty() && files_.contains(path);
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
  return file.empty() ? nullptr : FindName(file, name, steps);
}

// The first decorator that leads to a DSL decides. Kernels are counted in the first file with their
// path only, since two files of a hostile tree may share one.
int ImportedWrappers::DecideCandidates(v1::KernelShard& shard) const {
  absl::flat_hash_map<std::string, int> decided;  // kernels by path
  for (v1::Candidate& candidate : *shard.mutable_candidates()) {
    for (const std::string& decorator : candidate.decorators()) {
      const Found found = Find(candidate.kernel(), decorator);
      if (found.dsl == v1::DSL_UNSPECIFIED) continue;
      v1::Kernel& kernel = *shard.add_kernels();
      kernel = std::move(*candidate.mutable_kernel());
      kernel.set_dsl(found.dsl);
      kernel.set_form(v1::KERNEL_FORM_WRAPPED);
      kernel.set_found_by(absl::StrCat(found.by_name ? kByName : "",
                                       absl::string_view(decorator).substr(CountDots(decorator))));
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
