// A local folder may be written to while it is read, and by someone who wants the fetcher to read
// another file. So every file is opened relative to the root's descriptor, one component at a time
// with O_NOFOLLOW, and the type is checked on the open descriptor. A path is never resolved twice.
#include "services/fetcher/adapters/local/local_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"
#include "common/base/path.h"
#include "common/base/status.h"
#include "common/base/text.h"

namespace kernelmill::fetcher {
namespace {

constexpr int64_t kMaxRead = int64_t{1} << 30;
constexpr size_t kMaxLink = 4096;
constexpr int kOpenFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
// O_NONBLOCK, since opening a FIFO that replaced a file would block.
constexpr int kOpenFile = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

// Returns the error for a name that disappeared or became something else since it was listed.
absl::Status Changed(absl::string_view path) {
  return absl::AbortedError(absl::StrCat(ToUtf8(path), ": changed while it was read"));
}

absl::Status OpenError(int error, absl::string_view path) {
  if (error == ENOENT || error == ENOTDIR || error == ELOOP) return Changed(path);
  return ErrnoStatus(error, ToUtf8(path));
}

// Opens root/path part by part, so that no part can be a symbolic link that leads elsewhere.
absl::StatusOr<FileDescriptor> OpenBelow(int root, absl::string_view path, int flags) {
  FileDescriptor at(::openat(root, ".", kOpenFolder));
  if (at.get() < 0) return OpenError(errno, path);
  const std::vector<std::string> parts = absl::StrSplit(path, '/', absl::SkipEmpty());
  for (size_t i = 0; i < parts.size(); ++i) {
    const int how = i + 1 < parts.size() ? kOpenFolder : flags;
    FileDescriptor next(::openat(at.get(), parts[i].c_str(), how));
    if (next.get() < 0) return OpenError(errno, path);
    at = std::move(next);
  }
  return at;
}

EntryKind ToEntryKind(mode_t mode) {
  if (S_ISREG(mode)) return EntryKind::kFile;
  return S_ISLNK(mode) ? EntryKind::kSymlink : EntryKind::kSpecial;
}

struct Child {
  std::string name;
  mode_t mode;
};

// Lists an open folder, sorted by name.
absl::StatusOr<std::vector<Child>> List(FileDescriptor folder, absl::string_view path,
                                        int64_t max_entries) {
  DIR* dir = ::fdopendir(folder.get());
  if (dir == nullptr) return ErrnoStatus(errno, ToUtf8(path));
  const int fd = folder.Release();  // dir owns it now
  const std::unique_ptr<DIR, int (*)(DIR*)> owned(dir, &::closedir);
  std::vector<Child> children;
  for (errno = 0; const dirent* entry = ::readdir(dir); errno = 0) {
    const absl::string_view name = entry->d_name;
    if (name == "." || name == ".." || name == ".git") continue;
    struct stat info;
    if (::fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) return Changed(path);
    children.push_back({std::string(name), info.st_mode});
    if (static_cast<int64_t>(children.size()) > max_entries) {
      return absl::FailedPreconditionError(
          absl::StrCat("the tree has more than ", max_entries, " entries"));
    }
  }
  if (errno != 0) return ErrnoStatus(errno, ToUtf8(path));
  std::sort(children.begin(), children.end(),
            [](const Child& a, const Child& b) { return a.name < b.name; });
  return children;
}

class LocalTree : public Snapshot {
 public:
  explicit LocalTree(FileDescriptor root) : root_(std::move(root)) {}

  absl::Status Walk(const GlobSet& globs, const TreeLimits& limits);

  const Listing& listing() const override { return listing_; }

  absl::StatusOr<int64_t> Size(const Entry& entry) override {
    ASSIGN_OR_RETURN(const FileDescriptor file, OpenBelow(root_.get(), entry.path, kOpenFile));
    return FileSize(file, entry.path);
  }
  absl::StatusOr<std::string> Read(const Entry& entry) override;

  // The link is read and not followed.
  absl::StatusOr<std::string> ReadLink(const Entry& entry) override {
    ASSIGN_OR_RETURN(const FileDescriptor folder,
                     OpenBelow(root_.get(), ParentFolder(entry.path), kOpenFolder));
    char target[kMaxLink];
    const ssize_t size = ::readlinkat(folder.get(), std::string(BaseName(entry.path)).c_str(),
                                      target, sizeof(target));
    if (size < 0) return OpenError(errno, entry.path);
    return std::string(target, static_cast<size_t>(size));
  }

 private:
  static absl::StatusOr<int64_t> FileSize(const FileDescriptor& file, absl::string_view path) {
    struct stat info;
    if (::fstat(file.get(), &info) != 0) return ErrnoStatus(errno, ToUtf8(path));
    if (!S_ISREG(info.st_mode)) return Changed(path);
    return static_cast<int64_t>(info.st_size);
  }

  const FileDescriptor root_;
  Listing listing_;
};

// Lists the tree without reading files. A folder is opened again by its path when its turn comes,
// so only one descriptor is open at a time.
absl::Status LocalTree::Walk(const GlobSet& globs, const TreeLimits& limits) {
  TreeSelection selection(&globs, limits);
  std::vector<std::pair<std::string, int>> open = {
      {"", 0}};  // a folder's path with its '/', its depth
  while (!open.empty()) {
    const auto [folder, depth] = std::move(open.back());
    open.pop_back();
    ASSIGN_OR_RETURN(FileDescriptor fd, OpenBelow(root_.get(), folder, kOpenFolder));
    ASSIGN_OR_RETURN(const std::vector<Child> children,
                     List(std::move(fd), folder, limits.entries));
    for (const Child& child : children) {
      const std::string path = folder + child.name;
      if (S_ISDIR(child.mode)) {
        RETURN_IF_ERROR(selection.AddFolder(path, depth + 1));
        open.emplace_back(path + "/", depth + 1);
      } else {
        RETURN_IF_ERROR(selection.AddFile(path, ToEntryKind(child.mode), ""));
      }
    }
  }
  selection.Finish(listing_);
  return absl::OkStatus();
}

// Reads as many bytes as the file has now. A file that grows meanwhile cannot keep this busy
// forever, and its hash shows the change.
absl::StatusOr<std::string> LocalTree::Read(const Entry& entry) {
  ASSIGN_OR_RETURN(const FileDescriptor file, OpenBelow(root_.get(), entry.path, kOpenFile));
  ASSIGN_OR_RETURN(const int64_t size, FileSize(file, entry.path));
  if (size > kMaxRead) return Changed(entry.path);
  std::string content(static_cast<size_t>(size), '\0');
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t n = ::read(file.get(), content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, ToUtf8(entry.path));
    if (n == 0) return Changed(entry.path);
    done += static_cast<size_t>(n);
  }
  return content;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Snapshot>> OpenLocalTree(const std::string& folder,
                                                        const GlobSet& globs,
                                                        const TreeLimits& limits) {
  FileDescriptor root(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (root.get() < 0 && errno == ENOTDIR) {
    return absl::FailedPreconditionError(absl::StrCat(ToUtf8(folder), ": must be a folder"));
  }
  if (root.get() < 0) return ErrnoStatus(errno, ToUtf8(folder));
  auto tree = std::make_unique<LocalTree>(std::move(root));
  RETURN_IF_ERROR(Annotate(tree->Walk(globs, limits), ToUtf8(folder)));
  return std::unique_ptr<Snapshot>(std::move(tree));
}

}  // namespace kernelmill::fetcher
