#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_DATASET_INDEX_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_DATASET_INDEX_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cas/blob_store.h"
#include "common/dataset/curated_pairs.h"
#include "common/dataset/ledger.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/exporter/core/analysis/analysis.h"
#include "services/exporter/core/opt_out_counts.h"

namespace kernelmill::exporter {

// Of each check, by name: how many kept kernels pass, fail and are exempt, by these words.
using CheckCounts = std::map<std::string, std::map<std::string, int64_t>>;

// How many kernels have a fate for a reason, both as the ledger spells them.
using FateCounts = std::map<std::pair<std::string, std::string>, int64_t>;

// Sums over kept kernels.
struct TokenSums {
  v1::TokenCounts source;
  v1::TokenCounts module;
};

void AddTokens(const v1::TokenCounts& more, v1::TokenCounts* sum);

// What a split has.
struct SplitEntry {
  int64_t kernels = 0;
  int64_t repositories = 0;  // that it has a kernel of
  TokenSums tokens;
};

struct SourceEntry {
  std::string repository;
  std::string url;     // on the web; empty where that is not known
  std::string commit;  // empty where nothing could be had of the source
  int64_t commit_time = 0;
  std::string category;
  int tier = 1;
  double weight = 1;
  bool holdout = false;
  bool failed = false;
  int64_t unselected_files = 0;
  dataset::LedgerSums sums;
  FateCounts fates;
  CheckCounts checks;
  std::map<std::string, int64_t> licenses;  // of kept kernels: how many have an expression
  TokenSums tokens;
  // Of its whole files, which count nowhere above.
  FateCounts file_fates;
  v1::TokenCounts file_tokens;  // of kept ones
};

struct FileEntry {
  int source = 0;
  std::string path;
  int64_t size_bytes = 0;
  int32_t lines = 0;
  std::string sha256;
  bool has_triton_jit = false;
  int64_t kept = 0;         // kernels
  bool opted_out = false;   // it has the text of a kernel that is
  bool kept_whole = false;  // it is a row of files.jsonl
  std::string withheld;     // why it must not get out as a whole; empty where it may
};

struct KernelEntry {
  uint32_t file = 0;  // in DatasetIndex.files
  int32_t first_line = 0;
  int32_t last_line = 0;
  int32_t column = 0;
  v1::Dsl dsl = v1::DSL_UNSPECIFIED;
  v1::KernelRole role = v1::KERNEL_ROLE_UNSPECIFIED;
  v1::KernelForm form = v1::KERNEL_FORM_UNSPECIFIED;
  std::string id;
  std::string sha256;
  std::optional<std::string> json_pointer;
};

// All of a dataset but its texts: what stays in memory during an export, some 250 bytes a kernel.
struct DatasetIndex {
  v1::DatasetManifest manifest;
  v1::Clusters clusters;
  std::vector<SourceEntry> sources;  // as in the manifest
  std::vector<FileEntry> files;
  std::vector<KernelEntry> kernels;  // by number
  // Of each source and shard, the number of its first kernel.
  std::vector<std::vector<uint32_t>> first_numbers;
  v1::Splits splits;  // by number; none where every row is of train
  // By name; each that the job has, also where it has no kernel.
  std::map<std::string, SplitEntry> by_split;
  // Numbers of the candidates' kernels and whole files, by source, path and line.
  std::vector<uint32_t> candidates;
  // Of a kept kernel's number, those of its duplicates.
  std::map<uint32_t, std::vector<uint32_t>> duplicates;
  dataset::LedgerSums sums;
  std::vector<dataset::CuratedPair> pairs;  // as in the manifest
  std::vector<OptOutCount> opt_out;         // likewise
  Analysis analysis;

  const v1::Decision& DecisionOn(uint32_t number) const { return clusters.decisions(number); }
  uint32_t FirstNumber(int source, int shard) const { return first_numbers[source][shard]; }
  // Whether the number is a whole file's.
  bool IsFile(uint32_t number) const { return kernels[number].form == v1::KERNEL_FORM_FILE; }
  // Of a kept kernel: "train", "validation" or "test".
  absl::string_view SplitOf(uint32_t number) const;
  const FileEntry& FileOf(uint32_t number) const { return files[kernels[number].file]; }
  const SourceEntry& SourceOf(uint32_t number) const { return sources[FileOf(number).source]; }
  // Numbers of the files that MANIFEST.json lists, by source and path: those with a kept kernel,
  // and those that are kept whole, but for what is opted out.
  std::vector<uint32_t> ListedFiles() const;
  // Whether `a` comes before `b` in the exported files.
  bool Before(uint32_t a, uint32_t b) const;
};

// Walks the dataset once. INTERNAL: its ledger does not add up; DATA_LOSS: it contradicts itself
// otherwise (a decision that leads nowhere, a kernel of a file that is not there, a split for each
// kernel but one).
absl::StatusOr<DatasetIndex> IndexDataset(cas::BlobStore& store, const cas::Digest& dataset,
                                          int threads);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_DATASET_INDEX_H_
