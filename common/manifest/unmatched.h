#ifndef KERNELMILL_COMMON_MANIFEST_UNMATCHED_H_
#define KERNELMILL_COMMON_MANIFEST_UNMATCHED_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/cas/blob_store.h"
#include "common/manifest/ledger.h"
#include "common/manifest/opt_out_count.h"
#include "common/manifest/walk.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/history.pb.h"

namespace kernelmill::manifest {

// Something that a job asks for and that matches nothing. It is no failure: the dataset is as the
// job says, and a person should see it. Texts of repositories and of the job are spelled out where
// a terminal or a page would act on them or hide them.
//
// clang-format off
//   what      where                                   is listed if
//   kept      dataset                                 the dataset has neither kernel nor whole file
//   licenses  licenses.allow                          every kernel is rejected for its licence
//   split     splits.test                             a split that is asked for has no row, or of few
//                                                     repositories more than twice its share, or
//                                                     less than half
//   split     splits.test_repositories[0]             no source has that name
//   holdout   sources[1]                              a holdout has no kernel
//   include   sources[1].include[0]                   no file matches the glob, exclude aside
//   unasked   sources[1].include                      files whose names say that they hold code of
//                                                     some kind, and no include names one of them
//   marker    sources[1]                              files have a language's marker, and no kernel
//                                                     of that language is found in the source
//   source    sources[1]                              no kernel is found in the source's files
//   history   sources[1].history                      no commit of it changes a kernel
//   opt_out   opt_out[3]                              an entry names no kernel
// clang-format on
//
// Sources and entries are counted as in the lock file, where lists and searches are written out. A
// failed source is a failure and is not listed.
struct Unmatched {
  std::string what;
  std::string where;
  std::string source;              // its name in records; empty if it is not about one source
  std::string asked;               // the value that the job gives, or does not give: a glob
  std::string message;             // what was found instead
  std::vector<std::string> paths;  // at most kUnmatchedPaths files as examples
};

inline constexpr size_t kUnmatchedPaths = 3;

// Returns one line without the place: SOURCE: "GLOB" matches none of its 12 files.
std::string UnmatchedText(const Unmatched& one);

// The marker of a kernel language in files of a source.
struct MarkerCount {
  int64_t times = 0;
  int64_t files = 0;
  std::vector<std::string> paths;  // the first files by path
};

// The markers in a shard's files: by DSL and marker. Only of languages without a kernel there.
using MarkerCounts = std::map<std::pair<std::string, std::string>, MarkerCount>;

// Counts markers in the files of a shard, whose contents `view.files` must have.
MarkerCounts CountMarkers(const ShardView& view);

// Finds what matches nothing, on a walk. All arguments must outlive it. Not thread-safe.
class UnmatchedFinder {
 public:
  UnmatchedFinder(const v1::DatasetManifest& manifest, const v1::Clusters& clusters,
                  const v1::Splits& splits);

  absl::Status VisitTree(int source, const v1::SourceTree& tree);
  void VisitShard(const ShardView& view, const MarkerCounts& markers);
  // Reads the sums of the sources' histories. Errors are those of the store.
  absl::Status ReadHistories(cas::BlobStore& store);

  // Returns the list once the walk is over, in the order of the table above. `sums` and `opt_out`
  // are those of the whole dataset.
  std::vector<Unmatched> Find(const LedgerSums& sums,
                              const std::vector<OptOutCount>& opt_out) const;

 private:
  // The facts about a source.
  struct SourceFacts {
    int64_t selected = 0;    // files
    int64_t unselected = 0;  // files
    std::vector<int> idle_includes;
    std::vector<v1::UnaskedFiles> unasked;
    std::map<std::string, int64_t> kernels;  // by language
    int64_t records = 0;                     // kernels and whole files
    MarkerCounts markers;
    v1::HistorySums history;
  };

  void FindKept(const LedgerSums& sums, std::vector<Unmatched>* found) const;
  void FindLicenses(const LedgerSums& sums, std::vector<Unmatched>* found) const;
  void FindSplits(std::vector<Unmatched>* found) const;
  bool MissesShare(int64_t rows, int64_t all, double share) const;
  std::string MissedShareText(int64_t rows, int64_t all) const;
  std::string EmptySplitText(int64_t all) const;
  int64_t CountRepositories() const;
  std::string WhyUneven() const;
  void FindIncludes(int source, std::vector<Unmatched>* found) const;
  void FindUnasked(int source, std::vector<Unmatched>* found) const;
  void FindMarkers(int source, std::vector<Unmatched>* found) const;
  void FindEmptySource(int source, std::vector<Unmatched>* found) const;
  void FindHistory(int source, std::vector<Unmatched>* found) const;
  void FindOptOuts(const std::vector<OptOutCount>& opt_out, std::vector<Unmatched>* found) const;

  const v1::DatasetManifest& manifest_;
  const v1::Clusters& clusters_;
  const v1::Splits& splits_;
  std::vector<SourceFacts> sources_;
  std::map<std::string, int64_t> reasons_;  // why kernels are rejected or contaminated
};

// Failures carry the list from the manifest stage to the client: such a failure's path is this and
// the place, and its message is the JSON of an Unmatched.
inline constexpr absl::string_view kUnmatchedPrefix = "unmatched.";

// Returns true if a failure's path says that it is no failure but something unmatched.
bool IsUnmatched(absl::string_view path);

// Returns an object on one line with the fields of Unmatched, of less than 4 KiB.
std::string ToJson(const Unmatched& one);

// Reads such an object. Any other text becomes the message.
Unmatched ReadUnmatched(absl::string_view json);

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_UNMATCHED_H_
