#include "services/extractor/core/link/imported_wrappers.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/dsl/languages.h"
#include "services/extractor/core/link/kernel_shards.h"

namespace kernelmill::extractor {
namespace {

// Bounds on following one name: the files that it may pass through, and the names that are looked
// at, since each file may import '*' from many others.
constexpr int kMaxSteps = 16;
constexpr int kMaxLookups = 256;
constexpr absl::string_view kWildcard = "*";

}  // namespace

void ImportedWrappers::Add(const v1::KernelShard& shard) {
  for (const v1::JitName& name : shard.jit_names()) {
    if (name.name() == kWildcard) {
      wildcards_[name.path()].emplace_back(absl::StripSuffix(name.imported(), kWildcard));
    } else {
      names_[{name.path(), name.name()}] = name;
    }
  }
}

// Follows the name from file to file, until one of them knows its DSL. Each file has what the name
// is imported as there, which is the name to look up in the next file.
v1::Dsl ImportedWrappers::Find(absl::string_view path, absl::string_view imported) const {
  std::string importer(path);
  std::string name(imported);
  int lookups = kMaxLookups;
  for (int steps = 0; steps < kMaxSteps; ++steps) {
    const v1::JitName* found = Lookup(importer, name, lookups);
    if (found != nullptr && found->dsl() != v1::DSL_UNSPECIFIED) return found->dsl();
    if (found != nullptr) {
      importer = found->path();
      name = found->imported();
      continue;
    }
    // utils.triton.jit may be the jit of the `triton` that utils imports.
    const size_t last = name.rfind('.');
    if (last == std::string::npos) return v1::DSL_UNSPECIFIED;
    found = Lookup(importer, absl::string_view(name).substr(0, last), lookups);
    if (found == nullptr || found->imported().empty()) return v1::DSL_UNSPECIFIED;
    importer = found->path();
    name = absl::StrCat(found->imported(), name.substr(last));
    const v1::Dsl dsl = dsl::FindExtractedDsl(name);
    if (dsl != v1::DSL_UNSPECIFIED) return dsl;
  }
  return v1::DSL_UNSPECIFIED;
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
  const size_t dots = std::min(imported.find_first_not_of('.'), imported.size());
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
      const v1::Dsl dsl = Find(candidate.kernel().path(), decorator);
      if (dsl == v1::DSL_UNSPECIFIED) continue;
      v1::Kernel& kernel = *shard.add_kernels();
      kernel = std::move(*candidate.mutable_kernel());
      kernel.set_dsl(dsl);
      kernel.set_form(v1::KERNEL_FORM_WRAPPED);
      kernel.set_found_by(decorator.substr(decorator.find_first_not_of('.')));
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
