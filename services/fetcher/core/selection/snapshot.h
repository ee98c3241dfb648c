#ifndef KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_SNAPSHOT_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_SNAPSHOT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kernelmill::fetcher {

enum class EntryKind { kFile, kSymlink, kSubmodule, kSpecial };

struct Entry {
  std::string path;  // bytes, '/' between folders
  EntryKind kind = EntryKind::kFile;
  std::string id;  // by which the snapshot finds the content: an object id, a member's number
};

// What an adapter found of one source.
struct Listing {
  std::string commit;  // as SourceTree.commit
  int64_t commit_time = 0;
  std::vector<Entry> files;  // that the globs name; sorted by path
  // C++ headers that no glob names, where one names a file of C++; sorted by path. They are brought
  // if files that are taken include them.
  std::vector<Entry> headers;
  std::vector<Entry> licenses;      // sorted by path
  std::vector<Entry> requirements;  // files that state some, the most telling first
  int64_t unselected = 0;           // files that no glob names
  std::vector<std::string> declared_licenses;
  bool unfiltered = false;
  int64_t bytes_received = 0;    // over the network or from another repository
  int64_t objects_received = 0;  // git: in all packs
};

// One source at one moment, and the way to its contents: the port between this core and the
// adapters. Owns what it reads from (a temporary repository, an archive in memory). Not
// thread-safe.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  virtual const Listing& listing() const = 0;

  // Makes headers of listing() ready to be read, where that costs something.
  virtual absl::Status Bring(const std::vector<Entry>&) { return absl::OkStatus(); }

  // An entry's size and content, of those in listing(); of headers once they were brought.
  // NOT_FOUND: the content is not there; DATA_LOSS: it cannot be read as what it claims to be;
  // PERMISSION_DENIED: it may not be read. These fail the one file; any other error fails the
  // source.
  virtual absl::StatusOr<int64_t> Size(const Entry& entry) = 0;
  virtual absl::StatusOr<std::string> Read(const Entry& entry) = 0;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_SNAPSHOT_H_
