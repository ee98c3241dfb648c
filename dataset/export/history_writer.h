#ifndef KERNELMILL_DATASET_EXPORT_HISTORY_WRITER_H_
#define KERNELMILL_DATASET_EXPORT_HISTORY_WRITER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "dataset/export/conversation_filter.h"
#include "dataset/export/dataset_index.h"
#include "dataset/export/mix_files.h"
#include "dataset/export/reference_guard.h"
#include "dataset/output/json.h"
#include "dataset/parquet/tables.h"

namespace kernelmill::dataset {

// The changes of a dataset's kernels.
struct HistoryCounts {
  bool is_asked = false;         // a source has a history
  Json sources = Json::array();  // the sums of each with a history
  int64_t changes = 0;           // that were found
  int64_t kernels = 0;           // that they change
  int64_t rows = 0;
  int64_t with_claims = 0;                  // rows
  std::map<std::string, int64_t> kinds;     // rows by kind
  std::map<std::string, int64_t> matches;   // rows by match
  std::map<std::string, int64_t> withheld;  // changes without a row, by reason
  // The compilers' results, if the job compiles.
  bool compiles = false;
  int64_t compiled = 0;                    // distinct kernels of versions, withheld ones included
  int64_t judged = 0;                      // rows with both sides judged by a compiler
  std::map<std::string, int64_t> repairs;  // among these, by kind
  std::map<std::string, int64_t> breaks;   // likewise

  // Null if no source has a history.
  Json ToJson() const;
  // The "rows", and the changes that are withheld; nullopt likewise.
  std::optional<std::map<std::string, int64_t>> GetOutcomes() const;
  // The rows that are "judged", "repairs" and "breaks"; nullopt likewise, and if the job does not
  // compile.
  std::optional<std::map<std::string, int64_t>> GetTurns() const;
};

// The parts of an export that changes give something to. All must outlive the call.
struct HistorySinks {
  TableWriter* tables;
  ConversationFilter* conversations;
  MixFiles* mix;
};

// Writes history.jsonl, and the conversations about its changes behind those of instruct.jsonl.
//
// A version of a kernel may get out where a kernel may. So a change is withheld, and counted by its
// reason, if its kernel at the pinned commit is rejected ("rejected") or contaminated
// ("contaminated"); if an entry of the opt-out names a version, or the file of a piece of its
// module ("opt_out"); if a version is like a holdout's text or has opted-out text ("holdout"); if
// it has a secret that the policy rejects
// ("secret"); if the kernel is gone and the source's kernels have more than one licence, or one
// that is not known ("license"); and if the licence rests on a file of the tree that was missing or
// another one at the commit ("license_files"). Errors are those of the store and the tables.
absl::StatusOr<HistoryCounts> WriteHistory(cas::BlobStore& store, const DatasetIndex& index,
                                           const ReferenceGuard& guard, const HistorySinks& sinks);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_HISTORY_WRITER_H_
