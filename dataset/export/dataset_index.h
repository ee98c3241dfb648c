#ifndef KERNELMILL_DATASET_EXPORT_DATASET_INDEX_H_
#define KERNELMILL_DATASET_EXPORT_DATASET_INDEX_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/cas/blob_store.h"
#include "common/manifest/curated_pairs.h"
#include "common/manifest/ledger.h"
#include "common/manifest/opt_out_count.h"
#include "common/manifest/unmatched.h"
#include "dataset/analysis/analysis.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

// How many kept kernels pass each check, fail it and are exempt, by its name.
using CheckCounts = std::map<std::string, Outcomes>;

// How many kernels have a fate for a reason, both as the ledger spells them.
using FateCounts = std::map<std::pair<std::string, std::string>, int64_t>;

// Sums over kept kernels.
struct TokenSums {
  v1::TokenCounts source;
  v1::TokenCounts module;
};

void AddTokens(const v1::TokenCounts& more, v1::TokenCounts* sum);

// The counts of a split.
struct SplitCounts {
  int64_t kernels = 0;
  int64_t repositories = 0;  // that it has a kernel of
  TokenSums tokens;
};

// The counts of a source's kernels.
struct SourceCounts {
  FateCounts fates;
  CheckCounts checks;
  CompileCounts compile;                    // the kept kernels'
  std::map<std::string, int64_t> licenses;  // how many kept kernels have an expression
  TokenSums tokens;
  // The same of its whole files, which count nowhere above.
  FateCounts file_fates;
  v1::TokenCounts file_tokens;  // the kept ones'
};

void AddCounts(const SourceCounts& more, SourceCounts* sum);

struct SourceEntry {
  std::string repository;
  std::string url;     // on the web; empty where that is not known
  std::string commit;  // empty where nothing could be had of the source
  int64_t commit_time = 0;
  std::string category;
  int tier = 1;
  double weight = 1;
  bool holdout = false;
  bool evidence = false;  // it has neither kernels nor files that count
  bool failed = false;
  bool hash_computed = false;  // a wheel's, since its index gives none
  int64_t unselected_files = 0;
  manifest::LedgerSums sums;
  SourceCounts counts;
};

// An entry a file and one a kernel: what they have is multiplied by their number, so hashes are
// bytes here, and fields that few have are kept apart.
struct FileEntry {
  int32_t source = 0;
  int32_t lines = 0;
  int64_t size_bytes = 0;
  std::string path;
  std::array<char, 32> sha256_bytes = {};
  int32_t kept = 0;  // kernels
  bool has_triton_jit = false;
  bool opted_out = false;   // it has the text of a kernel that is
  bool kept_whole = false;  // it is a row of files.jsonl

  std::string sha256() const;  // hexadecimal
};

struct KernelEntry {
  uint32_t file = 0;  // in DatasetIndex.files
  int32_t first_line = 0;
  int32_t last_line = 0;
  int32_t column = 0;
  uint8_t language = 0;  // dsl::GetNumber
  uint8_t role = v1::KERNEL_ROLE_UNSPECIFIED;
  uint8_t form = v1::KERNEL_FORM_UNSPECIFIED;
  bool in_json = false;  // it has a pointer
  std::array<char, 16> id_bytes = {};
  std::array<char, 32> sha256_bytes = {};
  std::string name;  // empty for a whole file, as is the next
  std::string qualname;

  std::string id() const;  // hexadecimal, as are hashes
  std::string sha256() const;
};

// All of a dataset but its texts: what stays in memory during an export, some 320 bytes a kernel.
struct DatasetIndex {
  v1::DatasetManifest manifest;
  v1::Clusters clusters;
  std::vector<SourceEntry> sources;  // as in the manifest
  std::vector<FileEntry> files;
  std::vector<KernelEntry> kernels;                          // by number
  absl::flat_hash_map<uint32_t, std::string> json_pointers;  // of kernels that have one
  // By a file's number, why it must not get out as a whole; not of those that may.
  absl::flat_hash_map<uint32_t, std::string> withheld;
  v1::Splits splits;  // by number; none where every row is of train
  // By name; each that the job has, also where it has no kernel.
  std::map<std::string, SplitCounts> by_split;
  // Numbers of the candidates' kernels and whole files, by source, path and line.
  std::vector<uint32_t> candidates;
  // Numbers of kept kernels, each with one of a duplicate of it; sorted.
  std::vector<std::pair<uint32_t, uint32_t>> duplicates;
  manifest::LedgerSums sums;
  std::vector<manifest::CuratedPair> pairs;    // as in the manifest
  std::vector<manifest::OptOutCount> opt_out;  // likewise
  std::vector<manifest::Unmatched> unmatched;
  Analysis analysis;

  const v1::Decision& DecisionOn(uint32_t number) const { return clusters.decisions(number); }
  // Says whether the number is a whole file's.
  bool IsFile(uint32_t number) const { return kernels[number].form == v1::KERNEL_FORM_FILE; }
  // The duplicates of a kept kernel.
  absl::Span<const std::pair<uint32_t, uint32_t>> FindDuplicates(uint32_t number) const;
  // Returns "train", "validation" or "test" for a kept kernel.
  absl::string_view GetSplit(uint32_t number) const;
  const FileEntry& GetFile(uint32_t number) const { return files[kernels[number].file]; }
  const SourceEntry& GetSource(uint32_t number) const { return sources[GetFile(number).source]; }
  // Numbers of the files that MANIFEST.json lists, by source and path: those with a kept kernel,
  // and those that are kept whole, except opted-out ones.
  std::vector<uint32_t> ListedFiles() const;
  // Says whether `a` comes before `b` in the exported files.
  bool Before(uint32_t a, uint32_t b) const;
};

// Walks the dataset once. INTERNAL: its ledger does not add up; DATA_LOSS: it contradicts itself
// otherwise (a decision that leads nowhere, a kernel of a file that is not there, a split for each
// kernel but one).
absl::StatusOr<DatasetIndex> IndexDataset(cas::BlobStore& store, const cas::Digest& dataset,
                                          int threads);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_DATASET_INDEX_H_
