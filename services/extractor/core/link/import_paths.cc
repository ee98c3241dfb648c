#include "services/extractor/core/link/import_paths.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace kernelmill::extractor {

// Files of used sources share one space of paths with the source's own. "/2/a/b.py" is a/b.py of
// the used source number 2; no path of a source begins with a slash.
std::vector<std::string> ListPaths(const v1::SourceTree& tree) {
  std::vector<std::string> paths;
  for (const v1::FileEntry& file : tree.files()) paths.push_back(file.path());
  return paths;
}

ImportPaths::ImportPaths(const v1::SourceTree& tree) : own_(ListPaths(tree)) {}

void ImportPaths::AddUsed(const std::string& name, const v1::SourceTree& tree) {
  used_.push_back({name, python::ModulePaths(ListPaths(tree))});
}

std::string ImportPaths::MakeUsedPath(size_t used, absl::string_view path) {
  return absl::StrCat("/", used, "/", path);
}

// Returns the number of the used source and cuts the prefix from `path`; npos, and leaves `path`
// alone, for a file of the source itself.
size_t ImportPaths::SplitUsed(absl::string_view& path) const {
  absl::string_view rest = path;
  size_t used = 0;
  if (!absl::ConsumePrefix(&rest, "/")) return absl::string_view::npos;
  const size_t slash = rest.find('/');
  const bool is_used = slash != absl::string_view::npos &&
                       absl::SimpleAtoi(rest.substr(0, slash), &used) && used < used_.size();
  if (!is_used) return absl::string_view::npos;
  path = rest.substr(slash + 1);
  return used;
}

ImportPaths::Place ImportPaths::FindPlace(const std::string& path) const {
  absl::string_view there = path;
  const size_t used = SplitUsed(there);
  if (used == absl::string_view::npos) return {"", path};
  return {used_[used].name, std::string(there)};
}

// A file of a used source is looked up in its own source only. For a file of the source, used
// sources come last, and never for relative imports and installed modules.
ImportPaths::Found ImportPaths::Find(absl::string_view importer, int level,
                                     absl::string_view module) const {
  absl::string_view there = importer;
  const size_t of = SplitUsed(there);
  const python::ModulePaths& paths = of == absl::string_view::npos ? own_ : used_[of].paths;
  python::ModulePaths::Found found = paths.Find(there, level, module);
  if (of != absl::string_view::npos) {
    if (!found.path.empty()) found.path = MakeUsedPath(of, found.path);
    return {found.in_source, std::move(found.path)};
  }
  if (found.in_source || level > 0 || python::IsInstalledModule(module)) {
    return {found.in_source, std::move(found.path)};
  }
  for (size_t used = 0; used < used_.size(); ++used) {
    found = used_[used].paths.Find("", 0, module);
    if (!found.path.empty()) return {true, MakeUsedPath(used, found.path)};
  }
  return {};
}

}  // namespace kernelmill::extractor
