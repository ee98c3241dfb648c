// From a snapshot to a SourceTree and shards. Every selected file gets a FileEntry with its fate,
// so that the ledger adds up: SHARDED, SKIPPED with a reason, or FAILED. A file that cannot be read
// fails alone; an error of the snapshot itself fails the source.
//
// Contents are read twice instead of being held: once to describe and hash the tree, once to write
// the shards. A source may have gigabytes of files, and only a few hold kernels. The second read
// compares the hash, so a local file that changed in between is noticed.
#include "services/fetcher/core/assemble.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/base/hash.h"
#include "common/base/path.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/dsl/languages.h"
#include "common/source_files/source_files.h"
#include "common/source_files/whole_files.h"
#include "services/fetcher/core/selection/cpp_support_files.h"
#include "services/fetcher/core/selection/file_policy.h"

namespace kernelmill::fetcher {
namespace {

// Returns the word for an error that fails one file only; empty for an error that fails the source.
absl::string_view FileFailure(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return "missing_object";
    case absl::StatusCode::kDataLoss:
      return "corrupt_object";
    case absl::StatusCode::kPermissionDenied:
      return "unreadable";
    default:
      return "";
  }
}

// Returns why an entry that is not a regular file is skipped. Nothing in a repository is followed:
// neither a link nor a submodule.
absl::string_view KindSkipReason(EntryKind kind) {
  switch (kind) {
    case EntryKind::kFile:
      return "";
    case EntryKind::kSymlink:
      return "symlink";
    case EntryKind::kSubmodule:
      return "submodule";
    case EntryKind::kSpecial:
      return "special_file";
  }
  return "special_file";
}

constexpr int kMaxLinks = 8;
constexpr size_t kMaxLinkBytes = 4096;

// Returns the path from the root to which a link at `path` leads; nothing if that is outside.
std::optional<std::string> ResolveLink(absl::string_view path, absl::string_view link) {
  if (link.empty() || link.size() > kMaxLinkBytes || absl::StartsWith(link, "/")) {
    return std::nullopt;
  }
  std::vector<absl::string_view> parts = absl::StrSplit(ParentFolder(path), '/', absl::SkipEmpty());
  for (const absl::string_view part : absl::StrSplit(link, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
      continue;
    }
    if (parts.empty()) return std::nullopt;
    parts.pop_back();
  }
  return absl::StrJoin(parts, "/");
}

void SetFate(v1::FileEntry& entry, v1::FileFate fate, absl::string_view reason) {
  entry.set_fate(fate);
  entry.set_reason(std::string(reason));
}

// Describes the files of a snapshot one by one. The limits on bytes count over the whole source.
class Describer {
 public:
  Describer(Snapshot& snapshot, const ContentLimits& limits, const TreeOptions& options,
            const dsl::LanguageSet& wanted)
      : snapshot_(snapshot),
        limits_(limits),
        keeps_files_(options.keep == v1::SOURCE_KEEP_FILES),
        has_evidence_(options.role == v1::SOURCE_ROLE_EVIDENCE),
        support_(snapshot.listing().files, limits.support, wanted),
        cpp_support_(snapshot.listing(), limits.support) {}

  // Describes the listing's file of this index.
  absl::Status DescribeFile(size_t index, v1::FileEntry& out) {
    const std::vector<Entry>& files = snapshot_.listing().files;
    const Entry& entry = files[index];
    const bool repeated = index > 0 && entry.path == files[index - 1].path;
    out.set_path(entry.path);
    if (IsUnsafePath(entry.path)) {
      SetFate(out, v1::FILE_FATE_SKIPPED, "unsafe_path");
    } else if (repeated) {
      SetFate(out, v1::FILE_FATE_SKIPPED, "duplicate_path");
    } else if (const absl::string_view reason = KindSkipReason(entry.kind); !reason.empty()) {
      SetFate(out, v1::FILE_FATE_SKIPPED, reason);
    } else {
      absl::Status read = DescribeContent(index, out);
      const absl::string_view failure = FileFailure(read);
      if (failure.empty()) return read;
      SetFate(out, v1::FILE_FATE_FAILED, failure);
    }
    return absl::OkStatus();
  }

  // Adds the licence file. If it cannot be read it is left out, and the validator sees that it is
  // missing.
  absl::Status AddLicense(const Entry& entry, v1::SourceTree& tree) {
    ASSIGN_OR_RETURN(const Entry* const target, FollowLink(entry));
    if (target == nullptr) return absl::OkStatus();
    ASSIGN_OR_RETURN(std::optional<std::string> content, ReadAside(*target, limits_.license_bytes));
    if (!content.has_value()) return absl::OkStatus();
    v1::SourceFile* file = tree.add_license_files();
    file->set_path(entry.path);
    file->set_content(*std::move(content));
    return absl::OkStatus();
  }

  // Keeps the first Triton requirement that one of the files states.
  absl::Status AddRequirement(const Entry& entry, v1::SourceTree& tree) {
    if (!tree.requires_triton().empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const std::optional<std::string> content,
                     ReadAside(entry, limits_.requirement_bytes));
    if (!content.has_value()) return absl::OkStatus();
    std::string required = source_files::RequiredVersion(entry.path, *content, "triton");
    if (required.empty()) return absl::OkStatus();
    tree.set_requires_triton(std::move(required));
    tree.set_requires_triton_path(entry.path);
    return absl::OkStatus();
  }

  // Marks the files that go on for others, once every file is described.
  absl::Status MarkSupport(v1::SourceTree& tree) {
    support_.Mark(tree);
    return cpp_support_.Mark(snapshot_, tree);
  }

 private:
  // Returns the file that a licence's entry is, or leads to over at most kMaxLinks links within the
  // source; null if it leads nowhere. The listing is asked, so that no link leads out of it.
  absl::StatusOr<const Entry*> FollowLink(const Entry& entry) {
    const Entry* at = &entry;
    for (int links = 0; at->kind == EntryKind::kSymlink; ++links) {
      if (links == kMaxLinks) return nullptr;
      const absl::StatusOr<std::string> link = snapshot_.ReadLink(*at);
      if (!FileFailure(link.status()).empty()) return nullptr;
      RETURN_IF_ERROR(link.status());
      const std::optional<std::string> path = ResolveLink(at->path, *link);
      at = path.has_value() ? FindLicenseOrFile(*path) : nullptr;
      if (at == nullptr) return nullptr;
    }
    return at;
  }

  const Entry* FindLicenseOrFile(const std::string& path) const {
    const Listing& listing = snapshot_.listing();
    for (const std::vector<Entry>* entries : {&listing.licenses, &listing.files}) {
      const auto found = std::lower_bound(
          entries->begin(), entries->end(), path,
          [](const Entry& entry, const std::string& wanted) { return entry.path < wanted; });
      if (found != entries->end() && found->path == path) return &*found;
    }
    return nullptr;
  }

  // Reads a file that the globs do not select; nothing if it cannot be read or is larger than
  // `max_bytes`.
  absl::StatusOr<std::optional<std::string>> ReadAside(const Entry& entry, int64_t max_bytes) {
    const absl::StatusOr<int64_t> size = snapshot_.Size(entry);
    if (!FileFailure(size.status()).empty()) return std::nullopt;
    RETURN_IF_ERROR(size.status());
    if (*size > max_bytes) return std::nullopt;
    absl::StatusOr<std::string> content = snapshot_.Read(entry);
    if (!FileFailure(content.status()).empty()) return std::nullopt;
    RETURN_IF_ERROR(content.status());
    return *std::move(content);
  }

  // Reads and hashes one file. A file without markers is skipped at first; MarkSupport may change
  // that.
  absl::Status DescribeContent(size_t index, v1::FileEntry& out) {
    const Entry& entry = snapshot_.listing().files[index];
    ASSIGN_OR_RETURN(const int64_t size, snapshot_.Size(entry));
    out.set_size_bytes(size);
    if (size > limits_.file_bytes) {
      SetFate(out, v1::FILE_FATE_SKIPPED, "too_large");
      return absl::OkStatus();
    }
    read_bytes_ += size;
    if (read_bytes_ > limits_.total_bytes) {
      return absl::FailedPreconditionError(
          absl::StrCat("the selected files hold more than ", limits_.total_bytes, " bytes"));
    }
    ASSIGN_OR_RETURN(const std::string content, snapshot_.Read(entry));
    out.set_size_bytes(static_cast<int64_t>(content.size()));
    out.set_sha256(Sha256Hex(content));
    absl::string_view reason = ContentSkipReason(content);
    const bool marked = reason.empty();
    if (keeps_files_ && reason == kNoKernelMarker) reason = source_files::WholeFileProblem(content);
    if (has_evidence_ && reason == kNoKernelMarker) reason = content.empty() ? "empty" : "";
    SetFate(out, reason.empty() ? v1::FILE_FATE_SHARDED : v1::FILE_FATE_SKIPPED, reason);
    support_.AddContent(index, content, marked);
    cpp_support_.AddContent(index, content, marked);
    return absl::OkStatus();
  }

  Snapshot& snapshot_;
  const ContentLimits& limits_;
  const bool keeps_files_;
  const bool has_evidence_;
  SupportFiles support_;
  CppSupportFiles cpp_support_;
  int64_t read_bytes_ = 0;
};

}  // namespace

// Describes the files in their order, then the files that support them, then the licence files and
// requirements.
absl::StatusOr<v1::SourceTree> DescribeTree(Snapshot& snapshot, absl::string_view repository,
                                            const ContentLimits& limits,
                                            const TreeOptions& options) {
  ASSIGN_OR_RETURN(const dsl::LanguageSet wanted, dsl::LanguageSet::Make(options.languages));
  const Listing& listing = snapshot.listing();
  v1::SourceTree tree;
  tree.set_repository(std::string(repository));
  tree.set_commit(listing.commit);
  tree.set_commit_time(listing.commit_time);
  tree.set_unselected_files(listing.unselected);
  *tree.mutable_unasked_files() = {listing.unasked.begin(), listing.unasked.end()};
  for (const std::string& declared : listing.declared_licenses) {
    tree.add_declared_licenses(declared);
  }
  for (const std::string& language : options.languages) tree.add_languages(language);
  Describer describer(snapshot, limits, options, wanted);
  for (size_t i = 0; i < listing.files.size(); ++i) {
    const absl::Status described = describer.DescribeFile(i, *tree.add_files());
    RETURN_IF_ERROR(Annotate(described, ToUtf8(listing.files[i].path)));
  }
  RETURN_IF_ERROR(describer.MarkSupport(tree));
  for (const Entry& license : listing.licenses) {
    RETURN_IF_ERROR(Annotate(describer.AddLicense(license, tree), ToUtf8(license.path)));
  }
  for (const Entry& entry : listing.requirements) {
    RETURN_IF_ERROR(Annotate(describer.AddRequirement(entry, tree), ToUtf8(entry.path)));
  }
  return tree;
}

// Returns the shards as indexes of the tree's files, those with the fate SHARDED.
std::vector<std::vector<size_t>> ListShards(const v1::SourceTree& tree, const ShardLimits& limits) {
  std::vector<ShardItem> items;
  std::vector<size_t> indexes;
  for (int i = 0; i < tree.files_size(); ++i) {
    if (tree.files(i).fate() != v1::FILE_FATE_SHARDED) continue;
    items.push_back({tree.files(i).path(), tree.files(i).size_bytes()});
    indexes.push_back(i);
  }
  std::vector<std::vector<size_t>> shards = CutShards(items, limits);
  for (std::vector<size_t>& shard : shards) {
    for (size_t& file : shard) file = indexes[file];
  }
  return shards;
}

namespace {

// Finds the entry with this path. If several files have it, the first one goes on.
const Entry* FindEntry(const Listing& listing, const std::string& path) {
  for (const std::vector<Entry>* entries : {&listing.files, &listing.headers}) {
    const auto found = std::lower_bound(
        entries->begin(), entries->end(), path,
        [](const Entry& entry, const std::string& wanted) { return entry.path < wanted; });
    if (found != entries->end() && found->path == path) return &*found;
  }
  return nullptr;
}

}  // namespace

// The hash of each file is compared with the tree's. For git and wheels it cannot differ; a local
// folder may have changed.
absl::StatusOr<v1::FileShard> ReadShard(Snapshot& snapshot, const v1::SourceTree& tree,
                                        const std::vector<size_t>& files) {
  v1::FileShard shard;
  for (const size_t file : files) {
    const v1::FileEntry& described = tree.files(static_cast<int>(file));
    const Entry* entry = FindEntry(snapshot.listing(), described.path());
    absl::StatusOr<std::string> content =
        entry == nullptr ? absl::NotFoundError("") : snapshot.Read(*entry);
    if (!content.ok() || Sha256Hex(*content) != described.sha256()) {
      return absl::AbortedError(
          absl::StrCat(ToUtf8(described.path()), ": changed while it was read"));
    }
    v1::SourceFile* out = shard.add_files();
    out->set_path(described.path());
    out->set_content(*std::move(content));
  }
  return shard;
}

// Counts each file once, so that the counters below files.* add up to files.seen (files.support is
// a part of files.sharded).
std::map<std::string, int64_t> CountFiles(const v1::SourceTree& tree) {
  std::map<std::string, int64_t> counters;
  for (const v1::FileEntry& file : tree.files()) {
    ++counters["files.seen"];
    if (file.fate() == v1::FILE_FATE_SHARDED) {
      ++counters["files.sharded"];
      if (file.support()) ++counters["files.support"];
    } else if (file.fate() == v1::FILE_FATE_SKIPPED) {
      ++counters[absl::StrCat("files.skipped.", file.reason())];
    } else {
      ++counters[absl::StrCat("files.failed.", file.reason())];
    }
  }
  return counters;
}

}  // namespace kernelmill::fetcher
