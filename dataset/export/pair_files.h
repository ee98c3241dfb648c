#ifndef KERNELMILL_DATASET_EXPORT_PAIR_FILES_H_
#define KERNELMILL_DATASET_EXPORT_PAIR_FILES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/manifest/reviews.h"
#include "dataset/export/dataset_index.h"
#include "dataset/export/fill_rows.h"
#include "dataset/output/files.h"
#include "dataset/output/json.h"
#include "dataset/pairs/parallel_matcher.h"
#include "dataset/parquet/tables.h"
#include "kernelmill/v1/reference.pb.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::dataset {

// Counts of parallel.jsonl.
struct ParallelCounts {
  std::map<std::string, int64_t> by_languages;  // rows: "cuda-triton"
  int64_t groups = 0;
  int64_t across_splits = 0;  // pairs that are left out: the two are of different splits

  Json ToJson() const;
};

// Writes parallel.jsonl, pairs of kernels of two languages that do the same; those of CUDA and
// Triton once more as cuda_triton_pairs.jsonl; and cu2triton_sft.csv, the texts of those that a
// person made or accepted. Candidates are found in each source by itself, as it ends; those of the
// job's list follow at the end in their order, then those that a review accepted. These are no
// candidates, and nor are those that a review rejected. Equal texts, by the SHA-1 that makes
// fim_sft.csv's rows unique, are one row of the examples. Holds what ParallelMatcher does of one
// source, and some hundred bytes a kernel of the list; texts wait in temporary files. Not
// thread-safe, except GetHalf and IsCompared; `index` must outlive it.
class PairFiles {
 public:
  // `tables` must outlive it.
  static absl::StatusOr<PairFiles> Create(const std::string& dir, const DatasetIndex& index,
                                          const manifest::FollowedReviews& reviews,
                                          TableWriter* tables);

  // Says whether a source has kernels to compare: kept ones of two languages. Thread-safe.
  bool IsCompared(int source) const { return compared_[static_cast<size_t>(source)]; }

  // The part of a pair that a kept kernel may give; unset if it gives nothing. Thread-safe.
  struct Half {
    KernelWords words;
    std::string kernel;  // a serialized ParallelRow.Kernel
    std::string text;    // set if the list names the kernel
  };
  // `references` is null if they are not known.
  std::optional<Half> GetHalf(const KeptKernel& kept, const v1::KernelReferences* references) const;

  // Such a half, in any order within its source.
  absl::Status AddHalf(uint32_t number, Half half);
  absl::Status EndSource();
  // Writes the list's pairs. Nothing can be added after.
  absl::Status Close();

  // The candidates in cuda_triton_pairs.jsonl.
  int64_t candidates() const { return candidates_; }
  // The pairs of the list and the accepted ones: all of them; those that repeat the texts of an
  // earlier one and give no second row; those whose prompt has most words of the completion.
  int64_t curated() const { return curated_; }
  int64_t repeats() const { return repeats_; }
  int64_t word_overlaps() const { return word_overlaps_; }
  // Pairs of a CUDA and a Triton kernel of different splits, which are left out.
  int64_t across_splits() const { return across_splits_; }
  const ParallelCounts& parallel() const { return parallel_; }

 private:
  using Pair = std::pair<uint32_t, uint32_t>;
  // A kernel that the list names.
  struct CuratedKernel {
    KernelWords words;
    TempFile::Extent kernel;
    TempFile::Extent text;
  };

  // The files that it writes itself.
  struct Files {
    FileWriter examples;
    TempFile kernels;  // the compared kernels of the source that is walked
    TempFile texts;    // kernels and texts of the list
  };

  PairFiles(const DatasetIndex& index, const manifest::FollowedReviews& reviews,
            TableWriter* tables, Files files);

  absl::string_view GetLanguage(uint32_t number) const;
  // Says whether a pair is one of cuda_triton_pairs.jsonl.
  bool IsCudaTriton(const Pair& pair) const;
  // Returns the source's pairs that become rows, by place.
  std::vector<ParallelPair> TakeCandidates();
  // Counts a pair of two splits; returns whether it is one.
  bool IsAcrossSplits(const Pair& pair);
  absl::Status WriteCurated(const Pair& pair);
  // Returns the score of a listed pair; for two sources only the features that both share.
  ParallelPair ScoreCurated(const Pair& pair);
  // Appends a row of parallel.jsonl that has its kernels.
  absl::Status WriteParallel(const Pair& pair, const ParallelPair& scored, v1::ParallelRow* row);
  v1::PairRow MakeRow(const Pair& pair, const v1::ParallelRow& row) const;

  const DatasetIndex& index_;
  TableWriter& tables_;
  Files files_;
  std::vector<bool> compared_;  // by source
  // The source that is walked.
  ParallelMatcher matcher_;
  absl::flat_hash_map<uint32_t, TempFile::Extent> places_;
  // The whole dataset.
  absl::flat_hash_map<uint32_t, CuratedKernel> curated_kernels_;
  std::vector<Pair> listed_;  // those of the list, then the accepted ones; each once
  absl::flat_hash_set<Pair> curated_pairs_;
  absl::flat_hash_set<Pair> rejected_pairs_;
  absl::flat_hash_map<Pair, ParallelPair> scores_;  // their scores, if both are of one source
  int64_t candidates_ = 0;
  int64_t curated_ = 0;
  absl::flat_hash_set<std::string> rows_;  // by the SHA-1 of their normalized texts
  int64_t repeats_ = 0;
  int64_t word_overlaps_ = 0;
  int64_t across_splits_ = 0;
  ParallelCounts parallel_;
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_PAIR_FILES_H_
