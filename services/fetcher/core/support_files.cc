#include "services/fetcher/core/support_files.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "common/base/text.h"
#include "services/fetcher/core/content_filter.h"
#include "services/fetcher/core/import_lines.h"

namespace kernelmill::fetcher {
namespace {

// Whether a file with a marker may make kernels whose modules others complete.
bool MayMakeKernels(absl::string_view content) {
  return Contains(content, "jit") || Contains(content, "pallas");
}

std::vector<std::string> PathsOf(const std::vector<Entry>& files, size_t max_bytes) {
  std::vector<std::string> paths;
  size_t bytes = 0;
  for (const Entry& file : files) {
    bytes += file.path.size();
    if (bytes > max_bytes) return {};
    paths.push_back(file.path);
  }
  return paths;
}

}  // namespace

SupportFiles::SupportFiles(const std::vector<Entry>& files, const SupportLimits& limits)
    : limits_(limits),
      files_(files),
      paths_(PathsOf(files, limits.path_bytes)),
      imports_(files.size()) {
  for (size_t i = 0; i < files.size(); ++i) {
    index_of_.try_emplace(files[i].path, static_cast<uint32_t>(i));
  }
}

void SupportFiles::AddContent(size_t index, absl::string_view content, bool marked) {
  const std::string& path = files_[index].path;
  if (!absl::EndsWith(path, ".py")) return;
  if (marked && MayMakeKernels(content)) {
    roots_.push_back(static_cast<uint32_t>(index));
    root_bytes_ += static_cast<int64_t>(content.size());
  }
  const size_t most = std::min(limits_.imports_of_file, limits_.imports - followed_);
  const std::vector<ImportedModule> modules = FindImportLines(content, most);
  followed_ += modules.size();
  for (const ImportedModule& module : modules) {
    const std::string loaded = paths_.Find(path, module.level, module.module).path;
    const auto found = index_of_.find(loaded);
    if (!loaded.empty() && found != index_of_.end()) imports_[index].push_back(found->second);
  }
}

SupportFiles::Indexes SupportFiles::NextOf(const Indexes& files, std::vector<bool>& seen) const {
  Indexes next;
  for (const uint32_t file : files) {
    for (const uint32_t imported : imports_[file]) {
      if (seen[imported]) continue;
      seen[imported] = true;
      next.push_back(imported);
    }
  }
  std::sort(next.begin(), next.end());
  return next;
}

void SupportFiles::Mark(v1::SourceTree& tree) const {
  std::vector<bool> seen(files_.size(), false);
  for (const uint32_t root : roots_) seen[root] = true;
  int64_t left = std::min(std::max(root_bytes_, limits_.least_bytes), limits_.most_bytes);
  for (Indexes near = roots_; !near.empty();) {
    Indexes handed_on;
    for (const uint32_t index : NextOf(near, seen)) {
      v1::FileEntry& file = *tree.mutable_files(static_cast<int>(index));
      if (file.fate() == v1::FILE_FATE_SKIPPED) {
        const int64_t size = file.size_bytes();
        if (file.reason() != kNoKernelMarker || size > std::min(left, limits_.file_bytes)) continue;
        left -= size;
        file.set_fate(v1::FILE_FATE_SHARDED);
        file.clear_reason();
        file.set_support(true);
      }
      if (file.fate() == v1::FILE_FATE_SHARDED) handed_on.push_back(index);
    }
    near = std::move(handed_on);
  }
}

}  // namespace kernelmill::fetcher
