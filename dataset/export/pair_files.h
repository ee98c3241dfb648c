#ifndef KERNELMILL_DATASET_EXPORT_PAIR_FILES_H_
#define KERNELMILL_DATASET_EXPORT_PAIR_FILES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/manifest/reviews.h"
#include "dataset/export/dataset_index.h"
#include "dataset/output/files.h"
#include "dataset/pairs/cuda_triton_matcher.h"
#include "dataset/parquet/tables.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::dataset {

// Writes cuda_triton_pairs.jsonl, the pairs of CUDA kernels and Triton kernels, and
// cu2triton_sft.csv, the texts of those that a person made or accepted. Candidates are found in
// each source by itself, as it ends; those of the job's list follow at the end in their order, then
// those that a review accepted. These are no candidates, and nor are those that a review rejected.
// Equal texts, by the SHA-1 that makes fim_sft.csv's rows unique, are one row of the examples.
// Holds what CudaTritonMatcher does of one source, and some hundred bytes a kernel of the list;
// texts wait in a temporary file. Not thread-safe, except GetHalf; `index` must outlive it.
class PairFiles {
 public:
  // `tables` must outlive it.
  static absl::StatusOr<PairFiles> Create(const std::string& dir, const DatasetIndex& index,
                                          const manifest::FollowedReviews& reviews,
                                          TableWriter* tables);

  // The part of a pair that a kept kernel may give; unset if it gives nothing. Thread-safe.
  struct Half {
    std::string name;
    std::optional<KernelWords> words;  // set if the language is compared
    std::string text;                  // set if the list names the kernel
  };
  std::optional<Half> GetHalf(uint32_t number, const v1::Kernel& kernel) const;

  // Such a half, in any order within its source.
  absl::Status AddHalf(uint32_t number, Half half);
  absl::Status EndSource();
  // Writes the list's pairs. Nothing can be added after.
  absl::Status Close();

  int64_t candidates() const { return candidates_; }
  // The pairs of the list and the accepted ones: all of them; those that repeat the texts of an
  // earlier one and give no second row; those whose prompt has most words of the completion.
  int64_t curated() const { return curated_; }
  int64_t repeats() const { return repeats_; }
  int64_t word_overlaps() const { return word_overlaps_; }
  // Pairs of kernels of different splits, which are left out.
  int64_t across_splits() const { return across_splits_; }

 private:
  // A kernel that the list names.
  struct CuratedKernel {
    std::string name;
    TempFile::Extent text;
  };
  using Pair = std::pair<uint32_t, uint32_t>;

  // Says whether the source of a kernel has kernels to compare it with: kept ones of both
  // languages.
  bool IsCompared(uint32_t number) const;

  PairFiles(const DatasetIndex& index, const manifest::FollowedReviews& reviews,
            TableWriter* tables, FileWriter examples, TempFile texts);

  // Returns a row with the two kernels and nothing that was found of them as a pair.
  v1::PairRow MakeRow(const Pair& pair, const std::string& cuda_name,
                      const std::string& triton_name) const;
  absl::Status WriteCurated(const Pair& pair);

  const DatasetIndex& index_;
  TableWriter& tables_;
  FileWriter examples_;
  TempFile texts_;
  std::vector<bool> compared_;  // by source
  // The source that is walked.
  CudaTritonMatcher matcher_;
  absl::flat_hash_map<uint32_t, std::string> names_;
  // The whole dataset.
  absl::flat_hash_map<uint32_t, CuratedKernel> curated_kernels_;
  std::vector<Pair> listed_;  // those of the list, then the accepted ones; each once
  absl::flat_hash_set<Pair> curated_pairs_;
  absl::flat_hash_set<Pair> rejected_pairs_;
  absl::flat_hash_map<Pair, ScoredPair> scores_;  // their scores, if both are of one source
  int64_t candidates_ = 0;
  int64_t curated_ = 0;
  absl::flat_hash_set<std::string> rows_;  // by the SHA-1 of their normalized texts
  int64_t repeats_ = 0;
  int64_t word_overlaps_ = 0;
  int64_t across_splits_ = 0;
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_PAIR_FILES_H_
