// Imports are found by searching for the word "import" with memmem and looking at the text before
// it on its line, not by parsing: every Python file of a source goes through this, and most have no
// kernels. `import a.b` is not followed, since kernels use names that are imported from modules.
#include "services/fetcher/core/selection/support_files.h"

#include <string.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "common/dsl/languages.h"
#include "services/fetcher/core/selection/file_policy.h"

namespace kernelmill::fetcher {
namespace {

std::vector<std::string> CollectPaths(const std::vector<Entry>& files, size_t max_bytes) {
  std::vector<std::string> paths;
  size_t bytes = 0;
  for (const Entry& file : files) {
    bytes += file.path.size();
    if (bytes > max_bytes) return {};
    paths.push_back(file.path);
  }
  return paths;
}

constexpr absl::string_view kImport = "import";
// The most bytes between the beginning of a line and its "import".
constexpr size_t kMaxHead = 512;

// Returns the part of the line before `at`; nothing if the line begins too far before it.
std::optional<absl::string_view> HeadOfLine(absl::string_view text, size_t at) {
  const size_t window = std::min(at, kMaxHead);
  const absl::string_view before = text.substr(at - window, window);
  const size_t end_of_last = before.find_last_of("\r\n");
  if (end_of_last != absl::string_view::npos) return before.substr(end_of_last + 1);
  if (window < at) return std::nullopt;
  return before;
}

bool IsDotted(absl::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '.' || (c & 0x80) != 0;
  });
}

// Parses the words before "import": "from ..a.b " is level 2 of a.b. Nothing for other words.
std::optional<ImportedModule> ParseImport(absl::string_view head) {
  head = absl::StripAsciiWhitespace(head);
  if (!absl::ConsumePrefix(&head, "from")) return std::nullopt;
  const absl::string_view rest = absl::StripLeadingAsciiWhitespace(head);
  const size_t dots = std::min(rest.find_first_not_of('.'), rest.size());
  if (rest.size() == head.size() && dots == 0) return std::nullopt;  // one word: "fromx"
  const absl::string_view module = absl::StripLeadingAsciiWhitespace(rest.substr(dots));
  if ((module.empty() && dots == 0) || !IsDotted(module)) return std::nullopt;
  return ImportedModule{static_cast<int>(dots), std::string(module)};
}

}  // namespace

// Support files have no kernels but are imported by files that have some, directly or not. They go
// on to the extractor, which takes the definitions that kernels use from them. Every Python file's
// imports are noted as it is read; Mark then walks from the files with kernels, level by level.
//
// Bounds: the bytes of support files are at most those of the files with kernels (within
// least_bytes and most_bytes), so a source cannot grow beyond twice its size. Nearer files come
// first.
SupportFiles::SupportFiles(const std::vector<Entry>& files, const SupportLimits& limits,
                           const dsl::LanguageSet& wanted)
    : limits_(limits),
      wanted_(wanted),
      files_(files),
      paths_(CollectPaths(files, limits.path_bytes)),
      imports_(files.size()) {
  for (size_t i = 0; i < files.size(); ++i) {
    index_of_.try_emplace(files[i].path, static_cast<uint32_t>(i));
  }
}

void SupportFiles::AddContent(size_t index, absl::string_view content, bool marked) {
  const std::string& path = files_[index].path;
  if (!absl::EndsWith(path, ".py")) return;
  if (marked && wanted_.MayBeIn(content)) {
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

SupportFiles::Indexes SupportFiles::FindNext(const Indexes& files, std::vector<bool>& seen) const {
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

// A file that is over the limits is not walked through either, so that what lies behind it is left
// out too.
void SupportFiles::Mark(v1::SourceTree& tree) const {
  std::vector<bool> seen(files_.size(), false);
  for (const uint32_t root : roots_) seen[root] = true;
  int64_t left = std::min(std::max(root_bytes_, limits_.least_bytes), limits_.most_bytes);
  for (Indexes near = roots_; !near.empty();) {
    Indexes handed_on;
    for (const uint32_t index : FindNext(near, seen)) {
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

// Returns the modules of the first `most` different imports, in the order of the text. An "import"
// in a string or comment counts too; it costs one look-up.
std::vector<ImportedModule> FindImportLines(absl::string_view text, size_t most) {
  std::vector<ImportedModule> found;
  std::set<std::pair<int, std::string>> seen;
  size_t at = 0;
  while (found.size() < most) {
    const void* next = ::memmem(text.data() + at, text.size() - at, kImport.data(), kImport.size());
    if (next == nullptr) break;
    at = static_cast<const char*>(next) - text.data();
    const std::optional<absl::string_view> head = HeadOfLine(text, at);
    std::optional<ImportedModule> module = head ? ParseImport(*head) : std::nullopt;
    if (module && seen.emplace(module->level, module->module).second) {
      found.push_back(*std::move(module));
    }
    at += kImport.size();
  }
  return found;
}

}  // namespace kernelmill::fetcher
