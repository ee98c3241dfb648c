#ifndef KERNELMILL_DATASET_EXPORT_REPORT_H_
#define KERNELMILL_DATASET_EXPORT_REPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/cas/digest.h"
#include "common/manifest/reviews.h"
#include "dataset/export/dataset_index.h"
#include "dataset/output/json.h"
#include "kernelmill/v1/crawl.pb.h"

namespace kernelmill::dataset {

// How many pairs of CUDA and Triton kernels were written.
struct PairCounts {
  int64_t candidates = 0;
  int64_t curated = 0;
  int64_t repeats = 0;        // curated ones with an earlier one's texts
  int64_t word_overlaps = 0;  // of the curated: flagged by kWordOverlapFlag
  int64_t across_splits = 0;  // left out: the two are of different splits
};

// How many rows fim_sft.csv has, and why kept kernels have none there: by FimPair.excluded, or
// "repeat" where an earlier kernel's row is equal.
struct FimCounts {
  int64_t rows = 0;
  std::map<std::string, int64_t> excluded;
};

// How many rows instruct.jsonl has, by template, and why kept kernels have none there: by template
// and reason (NotAsked, or that an earlier row has the question or the answer).
struct InstructCounts {
  std::map<std::string, int64_t> rows;
  std::map<std::string, std::map<std::string, int64_t>> excluded;
};

// Counts of the files that people train on, and of the rows of every file.
struct TrainingCounts {
  std::map<std::string, int64_t> rows;  // rows by config
  FimCounts fim;
  InstructCounts instruct;
  PairCounts pairs;
  Json parallel;    // as ParallelCounts has it
  Json evidence;    // as JobEvidence has it; null without evidence
  Json references;  // kernels by the `status` of their first row; null if the job asks for none
  Json graphs;      // as GraphCounts has it; null if no source keeps graphs
  Json history;     // as HistoryCounts has it; null if no source has a history
};

// The stages that made the dataset: name to version.
Json StagesJson(const v1::DatasetManifest& manifest);

// report.json: how many rows each file has, by config; the ledger's sums over the whole dataset, by
// source and by category, how many kept kernels pass each check, the rows of fim_sft.csv and
// instruct.jsonl, the pairs with those of the list that could not be made, what came of references,
// history, evidence, reviews and each entry of the opt_out, the gates, and the inputs that failed.
Json Report(const DatasetIndex& index, const cas::Digest& dataset, const TrainingCounts& training,
            const manifest::FollowedReviews& reviews, std::vector<v1::Failure> failures);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_REPORT_H_
