// Reads git objects with libgit2's object database only. git_repository_wrap_odb gives a repository
// object without a folder, so that commits and trees can be parsed while no file of the repository
// except its packs is ever read. Sizes are checked from an object's header before the object is
// unpacked.
#include "services/fetcher/adapters/git/object_database.h"

#include <git2/sys/repository.h>

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/base/text.h"

namespace kernelmill::fetcher {
namespace {

constexpr int64_t kMaxTreeBytes = 64 << 20;  // one folder's list of entries
constexpr int64_t kMaxCommitBytes = 16 << 20;

// Returns the error of a libgit2 call with its message. Anything except a missing object counts as
// damage.
absl::Status GitError(int error, absl::string_view context) {
  const git_error* last = git_error_last();
  const std::string message = absl::StrCat(
      context, ": ", last == nullptr || last->message == nullptr ? "" : ToUtf8(last->message));
  return error == GIT_ENOTFOUND ? absl::NotFoundError(message) : absl::DataLossError(message);
}

std::string Hex(const git_oid& id) {
  char text[GIT_OID_HEXSZ + 1];
  git_oid_tostr(text, sizeof(text), &id);
  return text;
}

absl::StatusOr<git_oid> ParseId(const std::string& hex) {
  git_oid id;
  if (hex.size() != GIT_OID_HEXSZ || git_oid_fromstr(&id, hex.c_str()) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("an object id must be 40 hexadecimal digits: ", ToUtf8(hex)));
  }
  return id;
}

// The type bits of an entry's mode, and their values.
constexpr uint32_t kTypeBits = 0170000;
constexpr uint32_t kFolderMode = 0040000;
constexpr uint32_t kFileMode = 0100000;
constexpr uint32_t kSymlinkMode = 0120000;
constexpr uint32_t kSubmoduleMode = 0160000;

// Returns the kind of an entry by the type bits of its mode.
EntryKind ToEntryKind(uint32_t mode) {
  switch (mode & kTypeBits) {
    case kFileMode:
      return EntryKind::kFile;
    case kSymlinkMode:
      return EntryKind::kSymlink;
    case kSubmoduleMode:
      return EntryKind::kSubmodule;
    default:
      return EntryKind::kSpecial;
  }
}

bool IsFolder(uint32_t mode) { return (mode & kTypeBits) == kFolderMode; }

}  // namespace

ObjectDatabase::ObjectDatabase(OdbPtr odb, RepositoryPtr repository)
    : odb_(std::move(odb)), repository_(std::move(repository)) {}

absl::StatusOr<ObjectDatabase> ObjectDatabase::Open(const std::string& objects_folder) {
  static const int initialized = git_libgit2_init();
  if (initialized < 0) return GitError(initialized, "libgit2");
  git_odb* odb = nullptr;
  if (const int error = git_odb_open(&odb, objects_folder.c_str()); error != 0) {
    return GitError(error, objects_folder);
  }
  OdbPtr owned(odb);
  git_repository* repository = nullptr;
  if (const int error = git_repository_wrap_odb(&repository, odb); error != 0) {
    return GitError(error, objects_folder);
  }
  return ObjectDatabase(std::move(owned), RepositoryPtr(repository));
}

bool ObjectDatabase::Has(const std::string& id) const {
  const absl::StatusOr<git_oid> oid = ParseId(id);
  return oid.ok() && git_odb_exists_ext(odb_.get(), &*oid, GIT_ODB_LOOKUP_NO_REFRESH) == 1;
}

absl::Status ObjectDatabase::Refresh() {
  const int error = git_odb_refresh(odb_.get());
  return error == 0 ? absl::OkStatus() : GitError(error, "refresh");
}

// Returns the size in an object's header. DATA_LOSS: the object has another type, or cannot be
// read. NOT_FOUND: it is not in the packs.
absl::StatusOr<int64_t> ObjectDatabase::CheckedSize(const git_oid& id, git_object_t kind) const {
  size_t size = 0;
  git_object_t found = GIT_OBJECT_INVALID;
  if (const int error = git_odb_read_header(&size, &found, odb_.get(), &id); error != 0) {
    return GitError(error, Hex(id));
  }
  if (found != kind) {
    // A ref may name any object, so a commit of another kind is a wrong request; a wrong kind
    // within a tree is damage.
    const auto code = kind == GIT_OBJECT_COMMIT ? absl::StatusCode::kFailedPrecondition
                                                : absl::StatusCode::kDataLoss;
    return absl::Status(code, absl::StrCat(Hex(id), " is a ", git_object_type2string(found),
                                           ", not a ", git_object_type2string(kind)));
  }
  return static_cast<int64_t>(size);
}

absl::StatusOr<int64_t> ObjectDatabase::BlobSize(const std::string& id) const {
  ASSIGN_OR_RETURN(const git_oid oid, ParseId(id));
  return CheckedSize(oid, GIT_OBJECT_BLOB);
}

absl::StatusOr<std::string> ObjectDatabase::ReadBlob(const std::string& id) const {
  ASSIGN_OR_RETURN(const git_oid oid, ParseId(id));
  git_odb_object* object = nullptr;
  if (const int error = git_odb_read(&object, odb_.get(), &oid); error != 0) {
    return GitError(error, id);
  }
  const std::unique_ptr<git_odb_object, Freer<git_odb_object, git_odb_object_free>> owned(object);
  if (git_odb_object_type(object) != GIT_OBJECT_BLOB) {
    return absl::DataLossError(absl::StrCat(id, " is not a blob"));
  }
  return std::string(static_cast<const char*>(git_odb_object_data(object)),
                     git_odb_object_size(object));
}

absl::StatusOr<ObjectDatabase::CommitPtr> ObjectDatabase::LookupCommit(
    const std::string& id) const {
  ASSIGN_OR_RETURN(const git_oid oid, ParseId(id));
  ASSIGN_OR_RETURN(const int64_t size, CheckedSize(oid, GIT_OBJECT_COMMIT));
  if (size > kMaxCommitBytes)
    return absl::FailedPreconditionError(
        absl::StrCat(id, ": a commit must be at most ", kMaxCommitBytes, " bytes"));
  git_commit* commit = nullptr;
  if (const int error = git_commit_lookup(&commit, repository_.get(), &oid); error != 0) {
    return GitError(error, id);
  }
  return CommitPtr(commit);
}

absl::StatusOr<ObjectDatabase::Commit> ObjectDatabase::ReadCommit(const std::string& id) const {
  ASSIGN_OR_RETURN(const CommitPtr commit, LookupCommit(id));
  return Commit{*git_commit_tree_id(commit.get()), git_commit_time(commit.get())};
}

absl::StatusOr<PastCommit> ObjectDatabase::ReadPastCommit(const std::string& id) const {
  ASSIGN_OR_RETURN(const CommitPtr commit, LookupCommit(id));
  PastCommit out;
  out.tree = Hex(*git_commit_tree_id(commit.get()));
  for (unsigned int i = 0; i < git_commit_parentcount(commit.get()); ++i) {
    out.parents.push_back(Hex(*git_commit_parent_id(commit.get(), i)));
  }
  const git_signature* author = git_commit_author(commit.get());
  out.author_time = author == nullptr ? 0 : author->when.time;
  out.commit_time = git_commit_time(commit.get());
  const char* message = git_commit_message_raw(commit.get());
  out.message = message == nullptr ? "" : message;
  return out;
}

absl::StatusOr<std::vector<PastEntry>> ObjectDatabase::ReadTree(const std::string& id) const {
  ASSIGN_OR_RETURN(const git_oid oid, ParseId(id));
  if (!Has(id)) return absl::NotFoundError(id);
  ASSIGN_OR_RETURN(const TreePtr tree, LookupTree(oid));
  std::vector<PastEntry> entries;
  for (size_t i = 0; i < git_tree_entrycount(tree.get()); ++i) {
    const git_tree_entry* entry = git_tree_entry_byindex(tree.get(), i);
    const uint32_t mode = git_tree_entry_filemode_raw(entry);
    entries.push_back({git_tree_entry_name(entry), Hex(*git_tree_entry_id(entry)), IsFolder(mode),
                       !IsFolder(mode) && ToEntryKind(mode) == EntryKind::kFile});
  }
  return entries;
}

absl::StatusOr<ObjectDatabase::TreePtr> ObjectDatabase::LookupTree(const git_oid& id) const {
  const absl::StatusOr<int64_t> size = CheckedSize(id, GIT_OBJECT_TREE);
  // Without a tree its files are unknown, so a missing tree counts as damage to the source.
  if (absl::IsNotFound(size.status())) {
    return absl::DataLossError(absl::StrCat("tree ", Hex(id), " is missing"));
  }
  RETURN_IF_ERROR(size.status());
  if (*size > kMaxTreeBytes)
    return absl::FailedPreconditionError(
        absl::StrCat(Hex(id), ": a tree must be at most ", kMaxTreeBytes, " bytes"));
  git_tree* tree = nullptr;
  if (const int error = git_tree_lookup(&tree, repository_.get(), &id); error != 0) {
    return GitError(error, Hex(id));
  }
  return TreePtr(tree);
}

// Walks depth first. A tree object may occur in many folders, and is then walked for each of them;
// TreeLimits.entries bounds the work on a tree that repeats itself exponentially ("git bomb").
absl::StatusOr<ObjectDatabase::Walk> ObjectDatabase::WalkTree(const git_oid& root,
                                                              const ObjectDatabase* cached,
                                                              TreeSelection& selection) const {
  Walk walk;
  std::set<std::string> trees = {Hex(root)}, known;
  std::string path;
  std::vector<Frame> stack;
  ASSIGN_OR_RETURN(TreePtr tree, LookupTree(root));
  stack.push_back({std::move(tree), 0, 0});
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.next == git_tree_entrycount(frame.tree.get())) {
      stack.pop_back();
      continue;
    }
    // The path of the current entry is built in one string: each frame knows the length of its
    // folder's part.
    const git_tree_entry* entry = git_tree_entry_byindex(frame.tree.get(), frame.next++);
    const uint32_t mode = git_tree_entry_filemode_raw(entry);
    const git_oid& id = *git_tree_entry_id(entry);
    path.resize(frame.path_length);
    path += git_tree_entry_name(entry);
    std::string hex = Hex(id);
    if (IsFolder(mode)) {
      RETURN_IF_ERROR(selection.AddFolder(path, static_cast<int>(stack.size())));
      ASSIGN_OR_RETURN(TreePtr child, LookupTree(id));
      path += '/';
      stack.push_back({std::move(child), 0, path.size()});
      trees.insert(std::move(hex));
      continue;
    }
    const EntryKind kind = ToEntryKind(mode);
    RETURN_IF_ERROR(selection.AddFile(path, kind, hex));
    if (kind != EntryKind::kFile) continue;
    if (cached != nullptr && cached->Has(hex)) {
      known.insert(std::move(hex));
    } else if (walk.new_blob.empty()) {
      walk.new_blob = std::move(hex);
    }
  }
  walk.trees.assign(trees.begin(), trees.end());
  walk.known.assign(known.begin(), known.end());
  return walk;
}

}  // namespace kernelmill::fetcher
