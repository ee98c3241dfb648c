#include "services/extractor/core/link/imported_launches.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/dsl/names.h"
#include "common/python/syntax/imports.h"

namespace kernelmill::extractor {

using python::NodeId;
using python::SyntaxTree;

namespace {

constexpr absl::string_view kStar = "*";

// The import of each name of a file; the last one counts.
using ImportsByName = absl::flat_hash_map<std::string, v1::ImportedName>;

ImportsByName AllImports(const SyntaxTree& tree) {
  ImportsByName imports;
  for (const NodeId node : ImportsIn(tree, 0)) {
    auto names = ImportedNames(tree, node);
    for (v1::ImportedName& imported : names) {
      const std::string name = imported.name();
      imports[name] = std::move(imported);
    }
  }
  return imports;
}

// Returns the import of a whole dotted name, given the import of its first part: k of m.sub.k
// becomes a member of the module that m.sub means.
v1::ImportedName Followed(v1::ImportedName imported, absl::string_view dotted) {
  const size_t last = dotted.rfind('.');
  if (last == absl::string_view::npos) return imported;
  const size_t first = dotted.find('.');
  std::string module = imported.module();
  if (!imported.member().empty()) {
    absl::StrAppend(&module, module.empty() ? "" : ".", imported.member());
  }
  absl::StrAppend(&module, dotted.substr(first, last - first));
  imported.set_module(module);
  imported.set_member(std::string(dotted.substr(last + 1)));
  return imported;
}

// Returns whether launcher `a` is preferred: one with a text, then the first by path and line.
bool ComesBefore(const v1::Launcher& a, const v1::Launcher& b) {
  return std::forward_as_tuple(a.text().empty(), a.path(), a.first_line(), a.last_line()) <
         std::forward_as_tuple(b.text().empty(), b.path(), b.first_line(), b.last_line());
}

}  // namespace

// A launched name is kept if an import of the file, or an import of '*', may bind its first part.
// Which kernel it is, only the link stage knows.
std::vector<v1::ImportedLaunch> FindImportedLaunches(const ParsedFile& file,
                                                     const Launches& launches) {
  std::vector<v1::ImportedLaunch> found;
  if (launches.others().empty()) return found;
  const ImportsByName imports = AllImports(file.tree);
  const bool wildcard = imports.contains(kStar);
  std::set<std::pair<NodeId, absl::string_view>> seen;
  size_t left = file.text.size();
  for (const Launches::Other& launch : launches.others()) {
    const absl::string_view dotted = launch.dotted;
    const auto imported = imports.find(dotted.substr(0, dotted.find('.')));
    const bool plain = dotted.find('.') == absl::string_view::npos;
    if (imported == imports.end() && !(wildcard && plain)) continue;
    if (!seen.emplace(launch.host, dotted).second) continue;
    v1::ImportedLaunch& added = found.emplace_back();
    *added.mutable_host() = launches.HostAt(launch.host);
    added.mutable_host()->set_path(std::string(file.path));
    if (added.host().text().size() > left) added.mutable_host()->clear_text();
    left -= added.host().text().size();
    if (imported != imports.end()) {
      *added.mutable_kernel() = Followed(imported->second, dotted);
    } else {
      added.mutable_kernel()->set_name(launch.dotted);
    }
  }
  return found;
}

void ImportedLaunches::Add(v1::ImportedLaunch launch) {
  const size_t size = launch.host().text().size();
  if (size > left_) {
    launch.mutable_host()->clear_text();
  } else {
    left_ -= size;
  }
  launches_.push_back(std::move(launch));
}

void ImportedLaunches::AddUses(const v1::Kernel& kernel) {
  if (kernel.string_begin() > 0 || kernel.has_cuda()) return;
  for (const std::string& name : kernel.free_names()) uses_.emplace(kernel.path(), name);
  for (const std::string& call : kernel.calls()) {
    const bool dotted = call.find('.') != std::string::npos;
    if (dotted && !absl::StartsWith(call, "triton.")) uses_.emplace(kernel.path(), call);
  }
}

// A plain name is looked up in its file. A dotted call is resolved already, so its module is
// imported absolutely.
void ImportedLaunches::ResolveUses(SourceScope& scope) {
  for (const auto& [path, name] : uses_) {
    const size_t last = name.rfind('.');
    const Origin* origin = nullptr;
    if (last == std::string::npos) {
      origin = scope.Find(scope.GetDefinitions(path, 0), name);
    } else {
      TextDefinitions importer;
      importer.path = path;
      v1::ImportedName imported;
      imported.set_module(name.substr(0, last));
      imported.set_member(name.substr(last + 1));
      origin = scope.FindImported(importer, imported);
    }
    if (origin == nullptr || origin->text->path == path) continue;
    used_.emplace(origin->text->path, origin->name);
  }
  uses_.clear();
}

// Finds the kernel that each launch means. Each launching function counts, and the preferred one
// becomes the launcher.
void ImportedLaunches::Resolve(SourceScope& scope) {
  ResolveUses(scope);
  for (v1::ImportedLaunch& launch : launches_) {
    v1::Launcher& host = *launch.mutable_host();
    const v1::ImportedName& kernel = launch.kernel();
    TextDefinitions importer;
    importer.path = host.path();
    const Origin* origin = kernel.member().empty()
                               ? scope.Find(scope.GetDefinitions(host.path(), 0), kernel.name())
                               : scope.FindImported(importer, kernel);
    if (origin == nullptr || origin->text->path == host.path()) continue;
    v1::Launcher& chosen = launchers_[{origin->text->path, origin->name}];
    const int count = chosen.count() + 1;
    if (count == 1 || ComesBefore(host, chosen)) chosen = std::move(host);
    chosen.set_count(count);
  }
  launches_.clear();
}

void ImportedLaunches::FillIn(v1::KernelShard& shard) const {
  // If a file has several kernels with one name, other files see the last.
  absl::flat_hash_map<std::pair<std::string, std::string>, v1::Kernel*> visible;
  for (v1::Kernel& kernel : *shard.mutable_kernels()) {
    if (kernel.string_begin() > 0 || kernel.name() != kernel.qualname()) continue;
    visible[{kernel.path(), kernel.name()}] = &kernel;
  }
  for (const auto& [key, kernel] : visible) {
    if (kernel->has_launcher()) continue;
    const auto found = launchers_.find(key);
    if (found != launchers_.end()) {
      *kernel->mutable_launcher() = found->second;
      kernel->set_role(v1::KERNEL_ROLE_KERNEL);
    } else if (used_.contains(key) && kernel->dsl() != dsl::kPallas) {
      kernel->set_role(v1::KERNEL_ROLE_DEVICE);
    }
  }
}

}  // namespace kernelmill::extractor
