#include "services/fetcher/core/history/imported_files.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/path.h"
#include "common/base/status.h"

namespace kernelmill::fetcher {
namespace {

constexpr int kMostLevels = 32;
constexpr size_t kMostAsked = 4096;     // questions to files, of one walk
constexpr size_t kMostIncludes = 1024;  // of a file

bool IsLost(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsDataLoss(status);
}

}  // namespace

bool ImportedFiles::MayBe(absl::string_view path) {
  return absl::EndsWith(path, ".py") || cpp::IsCppPath(path);
}

ImportedFiles::ImportedFiles(PastObjects& objects, std::map<std::string, std::string> head,
                             const std::vector<HistoryStep>& steps, const SupportLimits& limits)
    : objects_(objects), head_(std::move(head)), limits_(limits), turns_(steps.size()) {
  for (size_t i = 0; i < steps.size(); ++i) {
    for (const ChangedFile& file : steps[i].files) {
      if (!MayBe(file.path)) continue;
      before_[file.path].emplace_back(i, file.before);
      if (file.before.empty() != file.after.empty()) {
        turns_[i].push_back({file.path, !file.before.empty()});
      }
    }
  }
}

absl::Status ImportedFiles::Bring(const std::vector<Version>& versions, int64_t bytes) {
  for (const Version& version : versions) here_.insert(version.id);
  left_ = std::min(std::max(bytes, limits_.least_bytes), limits_.most_bytes);
  for (int level = 0; level < kMostLevels; ++level) {
    GoToHead();
    std::vector<Walked> walks;
    std::vector<PathAndId> lacking;
    absl::flat_hash_set<std::string> seen;
    for (const Version& version : versions) {
      ASSIGN_OR_RETURN(Walked walked, Walk(version));
      for (PathAndId& one : walked.lacking) {
        if (seen.insert(one.second).second) lacking.push_back(std::move(one));
      }
      walks.push_back(std::move(walked));
    }
    SetPlaces(versions, walks);
    if (lacking.empty()) break;
    RETURN_IF_ERROR(BringLacking(lacking));
  }
  return absl::OkStatus();
}

const std::vector<int32_t>& ImportedFiles::GetPlaces(const std::string& path, size_t side) const {
  static const auto& none = *new std::vector<int32_t>;
  const auto found = places_.find({path, side});
  return found == places_.end() ? none : found->second;
}

std::string ImportedFiles::FindId(const std::string& path, size_t side) const {
  const auto changes = before_.find(path);
  if (changes != before_.end()) {
    // The oldest of the changes that are newer than the side.
    auto change = std::lower_bound(changes->second.begin(), changes->second.end(),
                                   std::make_pair(side, std::string()));
    if (change != changes->second.begin()) return (--change)->second;
  }
  const auto at_head = head_.find(path);
  return at_head == head_.end() ? "" : at_head->second;
}

void ImportedFiles::GoToHead() {
  side_ = 0;
  paths_.clear();
  for (const auto& [path, id] : head_) paths_.insert(path);
  module_paths_.reset();
  include_paths_.reset();
}

void ImportedFiles::GoTo(size_t side) {
  for (; side_ < side; ++side_) {
    for (const Turn& turn : turns_[side_]) {
      if (turn.was_there) {
        paths_.insert(turn.path);
      } else {
        paths_.erase(turn.path);
      }
      module_paths_.reset();
      include_paths_.reset();
    }
  }
}

const python::ModulePaths& ImportedFiles::GetModulePaths() {
  if (!module_paths_) {
    std::vector<std::string> paths;
    for (const std::string& path : paths_) {
      if (absl::EndsWith(path, ".py")) paths.push_back(path);
    }
    module_paths_.emplace(paths);
  }
  return *module_paths_;
}

const cpp::IncludePaths& ImportedFiles::GetIncludePaths() {
  if (!include_paths_) {
    include_names_.clear();
    for (const std::string& path : paths_) {
      if (cpp::IsCppPath(path)) include_names_.push_back(path);
    }
    include_paths_.emplace(include_names_);
  }
  return *include_paths_;
}

absl::StatusOr<const std::vector<cpp::IncludeName>*> ImportedFiles::ReadIncludes(
    const std::string& id) {
  const auto known = includes_.find(id);
  if (known != includes_.end()) return known->second.get();
  if (!here_.contains(id)) return nullptr;
  ASSIGN_OR_RETURN(const std::string text, objects_.ReadBlob(id));
  auto read = std::make_unique<const std::vector<cpp::IncludeName>>(
      cpp::FindIncludeLines(text, kMostIncludes));
  return (includes_[id] = std::move(read)).get();
}

absl::StatusOr<std::optional<const NeededImports*>> ImportedFiles::Read(const std::string& id) {
  const auto known = read_.find(id);
  if (known != read_.end()) return known->second.get();
  if (!here_.contains(id)) return std::nullopt;
  std::unique_ptr<NeededImports>& read = read_[id];
  ASSIGN_OR_RETURN(const std::string text, objects_.ReadBlob(id));
  const absl::StatusOr<python::SyntaxTree> tree = parser_.Parse(text);
  if (tree.ok()) {
    read = std::make_unique<NeededImports>(*tree);
  } else if (!absl::IsResourceExhausted(tree.status())) {
    return tree.status();
  }
  return read.get();
}

absl::StatusOr<ImportedFiles::Walked> ImportedFiles::Walk(const Version& version) {
  if (cpp::IsCppPath(version.path)) return WalkIncludes(version);
  Walked walked;
  if (!absl::EndsWith(version.path, ".py")) return walked;
  GoTo(version.side);
  Asked asked;
  std::vector<std::string> open;
  ASSIGN_OR_RETURN(const auto begin, Read(version.id));
  if (begin.has_value() && *begin != nullptr) {
    Follow(version.path, (*begin)->OfKernels(), asked, open);
  }
  for (size_t i = 0; i < open.size() && i < kMostAsked; ++i) {
    const std::string path = open[i];
    const std::string id = path == version.path ? version.id : FindId(path, version.side);
    if (id.empty() || left_out_.contains(id)) continue;
    if (path != version.path) walked.files.emplace(path, id);
    ASSIGN_OR_RETURN(const auto read, Read(id));
    if (!read.has_value()) {
      walked.lacking.emplace_back(path, id);
    } else if (*read != nullptr) {
      Follow(path, (*read)->OfNames(asked[path]), asked, open);
    }
  }
  AddPackages(version, walked.files);
  return walked;
}

absl::StatusOr<ImportedFiles::Walked> ImportedFiles::WalkIncludes(const Version& version) {
  GoTo(version.side);
  Walked walked;
  std::vector<std::string> open = {version.path};
  absl::flat_hash_set<std::string> seen = {version.path};
  for (size_t i = 0; i < open.size() && i < kMostAsked; ++i) {
    const std::string path = open[i];
    const std::string id = i == 0 ? version.id : FindId(path, version.side);
    if (id.empty() || left_out_.contains(id)) continue;
    if (i > 0) walked.files.emplace(path, id);
    ASSIGN_OR_RETURN(const auto* const includes, ReadIncludes(id));
    if (includes == nullptr) {
      walked.lacking.emplace_back(path, id);
      continue;
    }
    for (const cpp::IncludeName& include : *includes) {
      const std::optional<uint32_t> found =
          GetIncludePaths().Find(path, include.path, include.angled);
      if (found.has_value() && seen.insert(include_names_[*found]).second) {
        open.push_back(include_names_[*found]);
      }
    }
  }
  return walked;
}

void ImportedFiles::Follow(const std::string& importer, const Needed& needed, Asked& asked,
                           std::vector<std::string>& open) {
  const auto ask = [&](const std::string& path, const Names& names) {
    if (path.empty() || (names.has_value() && names->empty())) return;
    const auto [found, is_new] = asked.try_emplace(path, names);
    bool more = is_new;
    if (!is_new && found->second.has_value()) {
      const size_t known = found->second->size();
      if (names.has_value()) {
        found->second->insert(names->begin(), names->end());
        more = found->second->size() > known;
      } else {
        found->second.reset();
        more = true;
      }
    }
    if (more) open.push_back(path);
  };
  for (const v1::ImportedName& import : needed.imports) {
    const auto find = [&](const std::string& module) {
      return GetModulePaths().Find(importer, import.level(), module).path;
    };
    const std::string& member = import.member();
    if (import.name() == "*") {
      ask(find(import.module()), needed.unbound);
    } else if (member.empty()) {
      ask(find(import.module()), std::nullopt);
    } else {
      ask(find(import.module()), std::set<std::string>{member});
      const absl::string_view dot = import.module().empty() ? "" : ".";
      ask(find(absl::StrCat(import.module(), dot, member)), std::nullopt);
    }
  }
}

void ImportedFiles::AddPackages(const Version& version, std::set<PathAndId>& files) const {
  std::set<std::string> folders;
  std::set<std::string> known = {version.path};
  for (const auto& [path, id] : files) known.insert(path);
  for (const std::string& path : known) {
    for (absl::string_view at = ParentFolder(path); !at.empty() && folders.emplace(at).second;) {
      at = ParentFolder(at);
    }
  }
  for (const std::string& folder : folders) {
    const std::string path = absl::StrCat(folder, "/__init__.py");
    if (paths_.contains(path) && !known.contains(path)) files.emplace(path, "");
  }
}

// Blobs of versions are here already, and cost nothing.
absl::Status ImportedFiles::BringLacking(const std::vector<PathAndId>& lacking) {
  // The versions of a file together, so that the server can send them as deltas of each other.
  std::vector<PathAndId> by_path = lacking;
  std::stable_sort(by_path.begin(), by_path.end(),
                   [](const PathAndId& a, const PathAndId& b) { return a.first < b.first; });
  std::vector<std::string> ids;
  for (const auto& [path, id] : by_path) ids.push_back(id);
  RETURN_IF_ERROR(objects_.BringBlobs(ids));
  for (const auto& [path, id] : lacking) {
    const absl::StatusOr<int64_t> size = objects_.BlobSize(id);
    if (!size.ok() && !IsLost(size.status())) return size.status();
    bool takes = size.ok() && *size <= std::min(left_, limits_.file_bytes);
    if (takes) {
      const absl::StatusOr<std::string> text = objects_.ReadBlob(id);
      if (!text.ok() && !IsLost(text.status())) return text.status();
      takes = text.ok();
    }
    if (!takes) {
      left_out_.insert(id);
      continue;
    }
    left_ -= *size;
    here_.insert(id);
    blobs_[id] = {path, *size};
  }
  return absl::OkStatus();
}

void ImportedFiles::SetPlaces(const std::vector<Version>& versions,
                              const std::vector<Walked>& walks) {
  std::map<PathAndId, int32_t> all;
  for (const Walked& walked : walks) {
    for (const PathAndId& file : walked.files) all[file] = 0;
  }
  files_.clear();
  for (auto& [file, place] : all) {
    place = static_cast<int32_t>(files_.size());
    v1::ImportedFile& out = files_.emplace_back();
    out.set_path(file.first);
    out.set_id(file.second);
  }
  for (size_t i = 0; i < versions.size(); ++i) {
    std::vector<int32_t>& places = places_[{versions[i].path, versions[i].side}];
    places.clear();
    for (const PathAndId& file : walks[i].files) places.push_back(all.at(file));
  }
}

}  // namespace kernelmill::fetcher
