#ifndef KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_CPP_SUPPORT_FILES_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_CPP_SUPPORT_FILES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/cpp/include_paths.h"
#include "kernelmill/v1/source.pb.h"
#include "services/fetcher/core/selection/snapshot.h"
#include "services/fetcher/core/selection/support_files.h"

namespace kernelmill::fetcher {

// Which files that hold no CUDA functions are handed on nonetheless: those that files with such
// functions include, directly or through others, be it that no glob names them (Listing.headers);
// and files that include what is handed on and launch kernels.
//
// The basic idea: while each selected file is read, what its #include lines name is looked up among
// the source's paths; once all are read, a walk from the files with CUDA functions meets those that
// are wanted, and brings headers a level at a time. Nearer files come first, then those with lower
// paths, until a limit.
class CppSupportFiles {
 public:
  // Refers to the listing.
  CppSupportFiles(const Listing& listing, const SupportLimits& limits);

  // `index` counts in listing.files. Each at most once, in their order.
  void AddContent(size_t index, absl::string_view content, bool marked);

  // Makes the wanted ones of the tree's files, which are listing.files, SHARDED; adds the headers
  // that are wanted, so that all are sorted by path again. What cannot be had is left out; other
  // errors are the snapshot's.
  absl::Status Mark(Snapshot& snapshot, v1::SourceTree& tree);

 private:
  using Indexes = std::vector<uint32_t>;  // in listing.files, then in listing.headers

  bool IsHeader(uint32_t index) const { return index >= listing_.files.size(); }
  const Entry& EntryAt(uint32_t index) const {
    return IsHeader(index) ? listing_.headers[index - listing_.files.size()]
                           : listing_.files[index];
  }
  void AddIncludes(uint32_t index, absl::string_view content);
  Indexes NextOf(const Indexes& files);
  bool MarkFile(v1::FileEntry& file);
  void MarkLaunching(v1::SourceTree& tree);
  absl::Status BringHeaders(Snapshot& snapshot, const Indexes& wanted, v1::SourceTree& tree);
  absl::Status AddHeader(Snapshot& snapshot, uint32_t index, v1::SourceTree& tree);

  const Listing& listing_;
  const SupportLimits limits_;
  const cpp::IncludePaths paths_;
  std::vector<Indexes> includes_;
  Indexes roots_;
  Indexes launching_;  // without CUDA functions
  std::vector<bool> seen_;
  int64_t root_bytes_ = 0;
  int64_t left_ = 0;
  size_t followed_ = 0;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_CPP_SUPPORT_FILES_H_
