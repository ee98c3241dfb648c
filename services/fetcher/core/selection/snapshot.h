#ifndef KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_SNAPSHOT_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_SNAPSHOT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::fetcher {

class PastObjects;  // services/fetcher/core/history

enum class EntryKind { kFile, kSymlink, kSubmodule, kSpecial };

// A file of a source.
struct Entry {
  std::string path;  // bytes, '/' between folders
  EntryKind kind = EntryKind::kFile;
  std::string id;  // by which the snapshot finds the content: an object id, a member's number
};

// The files that an adapter found in one source.
struct Listing {
  std::string commit;  // as SourceTree.commit
  int64_t commit_time = 0;
  std::vector<Entry> files;  // selected by the globs; sorted by path
  // C++ headers that no glob selects, if a glob selects a C++ file; sorted by path. A header is
  // fetched if a selected file includes it.
  std::vector<Entry> headers;
  std::vector<Entry> licenses;      // sorted by path; also symbolic links with such names
  std::vector<Entry> requirements;  // files that state requirements, the most reliable first
  int64_t unselected = 0;           // files that no glob selects
  std::vector<v1::UnaskedFiles> unasked;
  std::vector<std::string> declared_licenses;
  bool unfiltered = false;
  int64_t bytes_received = 0;    // over the network or from another repository
  int64_t objects_received = 0;  // git only: in all packs
};

// One source at one moment, and access to its contents: the port between this core and the
// adapters. Owns what it reads from (a temporary repository, an archive in memory). Not
// thread-safe.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  virtual const Listing& listing() const = 0;

  // Makes headers of listing() ready to be read, if that takes a transfer.
  virtual absl::Status Bring(const std::vector<Entry>&) { return absl::OkStatus(); }

  // Return the size and the content of an entry of listing(); for a header, only after Bring.
  // NOT_FOUND: the content does not exist; DATA_LOSS: it is damaged; PERMISSION_DENIED: it may not
  // be read. These fail the one file; any other error fails the source.
  virtual absl::StatusOr<int64_t> Size(const Entry& entry) = 0;
  virtual absl::StatusOr<std::string> Read(const Entry& entry) = 0;

  // Returns where a symbolic link of listing().licenses leads, as it is written. Errors as of Read.
  virtual absl::StatusOr<std::string> ReadLink(const Entry& entry) { return Read(entry); }

  // Returns the objects before the pinned commit; null for a source without commits.
  virtual PastObjects* past() { return nullptr; }
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_SNAPSHOT_H_
