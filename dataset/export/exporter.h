#ifndef KERNELMILL_DATASET_EXPORT_EXPORTER_H_
#define KERNELMILL_DATASET_EXPORT_EXPORTER_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "kernelmill/v1/crawl.pb.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::dataset {

struct ExportRequest {
  cas::Digest dataset;  // the digest of a DatasetManifest
  v1::JobSpec lock;     // the job with every source pinned
  std::vector<v1::Failure> failures;
  std::string out_dir;
  bool tree = false;  // the source files too, by category, as `tree` (organised_tree.h)
  int threads = 0;    // 0: one for each core that the process may use
  std::function<bool()> is_interrupted;  // asked between the parts of the work; null: never
};

// The facts of an export that a person wants to know, beside the job's counters.
struct Exported {
  // A line each: parts of a mix that read more epochs than they should, or that find nothing; what
  // of the evidence is damaged or unknown, and evidence of other datasets alone.
  std::vector<std::string> warnings;
  // A line each: what a person wants to know of the evidence, and is no fault.
  std::vector<std::string> notes;
  // Kept kernels by `status` of their first row in references.jsonl; nullopt: the job asks for
  // none.
  std::optional<std::map<std::string, int64_t>> references;
  // Kept kernels with evidence by `task` in the ledger; nullopt: the job has no evidence.
  std::optional<std::map<std::string, int64_t>> tasks;
  // The "rows" of history.jsonl, and the changes that are withheld, by reason; nullopt: no source
  // has a history.
  std::optional<std::map<std::string, int64_t>> history;
  // Rows of these: "judged" by a compiler on both sides, "repairs" and "breaks"; nullopt likewise,
  // and if the job does not compile.
  std::optional<std::map<std::string, int64_t>> turns;
};

// Writes a dataset as the files that people and trainers read: kernels.jsonl, fim_sft.csv,
// parallel.jsonl, cuda_triton_pairs.jsonl, cu2triton_sft.csv, triton_functions.json, MANIFEST.json,
// ledger.jsonl, notices.jsonl, files.jsonl, ir.jsonl, tasks.jsonl, report.json, job.lock.yaml; JSON
// lines as Parquet in data/; README.md, croissant.json, which make the folder a dataset that tools
// load as it is; what is in it and where it comes from; on request the source files as a tree. The
// same request gives the same bytes. All of it appears at once, in place of an earlier export, or
// none of it.
//
// The dataset is walked twice. Shards are loaded, checked and rendered on the threads, with two
// more than these in memory at most; an index of about 250 bytes a kernel stays.
// FAILED_PRECONDITION: out_dir holds something else (CheckOutputDir), or is being written;
// INTERNAL: the dataset's ledger does not add up; RESOURCE_EXHAUSTED: the disk is full; CANCELLED:
// it was interrupted; those of the store.
absl::StatusOr<Exported> ExportDataset(cas::BlobStore& store, const ExportRequest& request);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_EXPORTER_H_
