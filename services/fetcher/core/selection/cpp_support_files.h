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

// The selection of C++ files without CUDA functions that go on nonetheless: files that files with
// such functions include, directly or through others, even if no glob names them (Listing.headers);
// and files that include one of these and launch kernels, or instantiate them by macros. The latter
// declare what the included kernels use, so what they include goes on as well.
//
// The basic idea: while each selected file is read, the names in its #include lines are looked up
// among the source's paths. Once all are read, a breadth-first walk from the files with CUDA
// functions meets the wanted files, and fetches headers a level at a time. Nearer files come first,
// then lower paths, until a limit is reached.
class CppSupportFiles {
 public:
  // Keeps a reference to the listing.
  CppSupportFiles(const Listing& listing, const SupportLimits& limits);

  // Adds a file's content; `index` is its index in listing.files. Each file at most once, in order.
  void AddContent(size_t index, absl::string_view content, bool marked);

  // Makes the wanted files of the tree, whose files are listing.files, SHARDED, and adds the wanted
  // headers in the order of their paths. A file that cannot be read is left out. Other errors are
  // the snapshot's.
  absl::Status Mark(Snapshot& snapshot, v1::SourceTree& tree);

 private:
  using Indexes = std::vector<uint32_t>;  // indexes in listing.files followed by listing.headers

  bool IsHeader(uint32_t index) const { return index >= listing_.files.size(); }
  const Entry& EntryAt(uint32_t index) const {
    return IsHeader(index) ? listing_.headers[index - listing_.files.size()]
                           : listing_.files[index];
  }
  void AddIncludes(uint32_t index, absl::string_view content);
  Indexes FindNext(const Indexes& files);
  bool MarkFile(v1::FileEntry& file);
  Indexes MarkUsing(const Indexes& files, v1::SourceTree& tree);
  absl::Status Walk(Indexes near, Snapshot& snapshot, v1::SourceTree& tree);
  absl::Status BringHeaders(Snapshot& snapshot, const Indexes& wanted, v1::SourceTree& tree);
  absl::Status AddHeader(Snapshot& snapshot, uint32_t index, v1::SourceTree& tree);

  const Listing& listing_;
  const SupportLimits limits_;
  const cpp::IncludePaths paths_;
  std::vector<Indexes> includes_;
  Indexes roots_;
  // Files without CUDA functions that launch kernels, and others that instantiate them.
  Indexes launching_;
  Indexes instantiating_;
  std::vector<bool> seen_;
  int64_t root_bytes_ = 0;
  int64_t left_ = 0;
  size_t followed_ = 0;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_CPP_SUPPORT_FILES_H_
