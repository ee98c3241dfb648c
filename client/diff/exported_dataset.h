#ifndef KERNELMILL_CLIENT_DIFF_EXPORTED_DATASET_H_
#define KERNELMILL_CLIENT_DIFF_EXPORTED_DATASET_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::client {

// Texts as numbers, equal for equal ones; 0 is the empty text. Shared by two datasets, which have
// most texts in common. Not thread-safe.
class Texts {
 public:
  Texts() { Number(""); }
  uint32_t Number(absl::string_view text);
  const std::string& Of(uint32_t number) const { return *texts_[number]; }

 private:
  absl::node_hash_map<std::string, uint32_t> numbers_;
  std::vector<const std::string*> texts_;
};

// A row of a ledger, and what the row of kernels.jsonl adds where it was kept. 128 bytes, for
// ledgers of millions of rows; texts are numbers.
struct ExportedKernel {
  std::array<char, 16> id{};
  std::array<char, 16> of{};  // the kernel that it goes by; zeros: none
  std::array<char, 32> sha256{};
  uint64_t module = 0;  // a hash of its text, good within this process
  uint32_t repository = 0;
  uint32_t path = 0;
  uint32_t json_pointer = 0;
  uint32_t dsl = 0;
  uint32_t fate = 0;
  uint32_t reason = 0;
  uint32_t qualname = 0;  // of a kept one
  uint32_t license = 0;   // likewise
  // Likewise: "pass", "fail" or "exempt" of the check that it compiles; the empty text where the
  // job compiles nothing.
  uint32_t compiles = 0;
  uint32_t compiled = 0;  // likewise: a line a compiler and target, "triton-3.5.1, cuda:90: ok"
  int32_t first_line = 0;
  bool kept = false;
};

struct ExportedSource {
  std::string commit;
  bool failed = false;
};

// A dataset as a folder that an export wrote describes it, without the texts.
struct ExportedDataset {
  std::string folder;  // as the caller names it
  std::string name;    // the job's
  std::string digest;
  std::map<std::string, int64_t> stages;          // versions
  std::map<std::string, ExportedSource> sources;  // by repository
  std::map<std::string, int64_t> sums;            // "found", "kept", "rejected" and so on
  std::vector<ExportedKernel> kernels;            // in the ledger's order
  std::vector<uint32_t> by_id;                    // their places, sorted by id
  // The lock file without the sources, as "dedup.threshold: 0.7"; and what each source of it takes,
  // without its pin. Sorted, each once.
  std::vector<std::string> settings;
  std::map<std::string, std::string> source_settings;

  // Finds a kernel by its id; null if the ledger has no such kernel, as for a holdout's.
  const ExportedKernel* Find(const std::array<char, 16>& id) const;
};

// Reads report.json, ledger.jsonl, kernels.jsonl and job.lock.yaml of the folder, a row at a time;
// a version that was published without JSON lines by its Parquet files (published_rows.h).
// INVALID_ARGUMENT: it holds no export, or one with a row that is none; else as the file system
// has it.
absl::StatusOr<ExportedDataset> ReadExport(const std::string& dir, Texts& texts);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_DIFF_EXPORTED_DATASET_H_
