#include "services/extractor/core/link/jit_names.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "services/extractor/core/link/kernel_shards.h"

namespace kernelmill::extractor {
namespace {

// Names that files import from one another further than this are not followed to their end.
constexpr int kMaxSteps = 16;
// Nor are more names than this looked at for one: files may import '*' from many.
constexpr int kMaxLookups = 256;
constexpr absl::string_view kWildcard = "*";
// Longer ends of a path than this many folders are not told apart.
constexpr int kMaxFolders = 32;

// "a/b" of a/b.py and of a/b/__init__.py.
absl::string_view ModuleOf(absl::string_view path) {
  if (!absl::ConsumeSuffix(&path, "/__init__.py")) absl::ConsumeSuffix(&path, ".py");
  return path;
}

// How many bytes two paths share that are whole folders.
size_t SharedFolders(absl::string_view a, absl::string_view b) {
  size_t shared = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i) {
    if (a[i] == '/') shared = i + 1;
  }
  return shared;
}

absl::string_view FolderOf(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? "" : path.substr(0, slash);
}

}  // namespace

void JitNames::Add(const v1::KernelShard& shard) {
  for (const v1::JitName& name : shard.jit_names()) {
    if (name.name() == kWildcard) {
      wildcards_[name.path()].emplace_back(absl::StripSuffix(name.imported(), kWildcard));
    } else {
      names_[{name.path(), name.name()}] = name;
    }
    absl::string_view end = ModuleOf(name.path());
    for (int folders = 0; folders < kMaxFolders; ++folders) {
      paths_[std::string(end)].insert(name.path());
      const size_t slash = end.find('/');
      if (slash == absl::string_view::npos) break;
      end.remove_prefix(slash + 1);
    }
  }
}

v1::Dsl JitNames::Find(absl::string_view path, absl::string_view imported) const {
  std::string importer(path);
  std::string name(imported);
  int lookups = kMaxLookups;
  for (int steps = 0; steps < kMaxSteps; ++steps) {
    const v1::JitName* found = Lookup(importer, name, lookups);
    if (found == nullptr) return v1::DSL_UNSPECIFIED;
    if (found->dsl() != v1::DSL_UNSPECIFIED) return found->dsl();
    importer = found->path();
    name = found->imported();
  }
  return v1::DSL_UNSPECIFIED;
}

// The file's own, or what the last of its imports of '*' brings that has it.
const v1::JitName* JitNames::Named(const std::string& path, absl::string_view name,
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

const v1::JitName* JitNames::Lookup(const std::string& path, absl::string_view imported,
                                    int& steps) const {
  const size_t dots = std::min(imported.find_first_not_of('.'), imported.size());
  const absl::string_view dotted = imported.substr(dots);
  const size_t last = dotted.rfind('.');
  const absl::string_view name = last == absl::string_view::npos ? dotted : dotted.substr(last + 1);
  const absl::string_view module = last == absl::string_view::npos ? "" : dotted.substr(0, last);
  std::string end = absl::StrReplaceAll(module, {{".", "/"}});
  if (dots > 0) {
    absl::string_view folder = FolderOf(path);
    for (size_t up = 1; up < dots; ++up) folder = FolderOf(folder);
    end = absl::StrCat(folder, folder.empty() || end.empty() ? "" : "/", end);
    for (const char* file : {".py", "/__init__.py"}) {
      const v1::JitName* found = Named(absl::StrCat(end, file), name, steps);
      if (found != nullptr) return found;
    }
    return end.empty() ? Named("__init__.py", name, steps) : nullptr;
  }
  if (end.empty()) return Named(path, name, steps);
  const auto paths = paths_.find(end);
  if (paths == paths_.end()) return nullptr;
  const v1::JitName* nearest = nullptr;
  for (const std::string& candidate : paths->second) {
    const v1::JitName* found = candidate == path ? nullptr : Named(candidate, name, steps);
    if (found == nullptr) continue;
    if (nearest == nullptr ||
        SharedFolders(path, candidate) > SharedFolders(path, nearest->path())) {
      nearest = found;
    }
  }
  return nearest;
}

int DecideCandidates(const JitNames& names, v1::KernelShard& shard) {
  absl::flat_hash_map<std::string, int> decided;  // kernels by path
  for (v1::Candidate& candidate : *shard.mutable_candidates()) {
    for (const std::string& decorator : candidate.decorators()) {
      const v1::Dsl dsl = names.Find(candidate.kernel().path(), decorator);
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
