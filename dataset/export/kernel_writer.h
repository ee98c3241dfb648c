#ifndef KERNELMILL_DATASET_EXPORT_KERNEL_WRITER_H_
#define KERNELMILL_DATASET_EXPORT_KERNEL_WRITER_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/in_order_queue.h"
#include "common/cas/blob_store.h"
#include "common/manifest/walk.h"
#include "dataset/export/conversation_filter.h"
#include "dataset/export/dataset_index.h"
#include "dataset/export/job_evidence.h"
#include "dataset/export/kernel_rows.h"
#include "dataset/export/mix_files.h"
#include "dataset/export/notices_file.h"
#include "dataset/export/pair_files.h"
#include "dataset/export/report.h"
#include "dataset/output/files.h"
#include "dataset/parquet/tables.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::dataset {

// The parts of an export that kept kernels give something to. All must outlive the KernelWriter.
struct KernelSinks {
  TableWriter* tables;
  PairFiles* pairs;
  NoticesFile* notices;
  MixFiles* mix;
  JobEvidence* evidence;
  const ReferenceGuard* references;
  ConversationFilter* conversations;
};

// Writes the rows of the kept kernels, fim_sft.csv and triton_functions.json.
//
// The basic idea: a shard's kernels become messages where the shard is prepared, on many threads.
// The messages wait, serialized, until their source ends: the first kHeldBytes of them in memory,
// the others in a temporary file. Then they are put in their order, by path and line, and pushed in
// blocks into a queue, whose threads render and write them while the next source is visited. So
// rows of many small sources are made as fast as those of a large one. Not thread-safe, except
// PrepareShard.
class KernelWriter final : public manifest::DatasetVisitor {
 public:
  static constexpr size_t kHeldBytes = 64 << 20;

  // Creates the files in `dir`. `store` and `index` must outlive it.
  static absl::StatusOr<std::unique_ptr<KernelWriter>> Create(cas::BlobStore& store,
                                                              const DatasetIndex& index,
                                                              const std::string& dir,
                                                              const KernelSinks& sinks,
                                                              int threads);

  absl::Status VisitTree(int source, const v1::SourceTree& tree) override;
  absl::StatusOr<std::unique_ptr<manifest::PreparedShard>> PrepareShard(
      const manifest::ShardView& view) override;
  absl::Status VisitShard(const manifest::ShardView& view) override;

  // Ends the last source and the files. Nothing can be visited after.
  absl::Status Close();
  // Ends the lines of the tables of kernels, once others have added their rows to them.
  absl::Status EndTables();

  // Once closed.
  const FimCounts& fim() const { return fim_; }
  // Returns the kernels of references.jsonl by the status of their first row.
  const std::map<std::string, int64_t>& references() const { return references_; }

 private:
  // A kernel whose rows wait. A source may have a million: some 250 bytes each, held rows aside.
  struct Waiting {
    static constexpr uint32_t kSpilled = UINT32_MAX;

    uint32_t number = 0;
    int32_t tier = 0;
    int64_t offset = 0;        // the place of records that are spilled
    uint32_t size = 0;         // the size of the records
    uint32_t held = kSpilled;  // the place of records that are held
    RepeatedRows repeated;
    bool example = false;                // it has the next field
    std::array<char, 20> fim_sha1 = {};  // the identity of its fill-in-the-middle example
    std::vector<InstructKey> instruct;
    std::unique_ptr<RowTokenCounts> tokens;  // if a mix may draw the rows
  };
  // The kernels of a source. Once it has ended, threads render its blocks; the last one frees it.
  struct SourceRows {
    std::deque<Waiting> kernels;    // grows without a second copy of itself
    std::vector<std::string> held;  // records
    size_t held_bytes = 0;          // the size of these
    absl::flat_hash_map<uint32_t, std::vector<TempFile::Extent>> spilled;  // by kernel
    std::optional<TempFile> file;  // the records that are spilled
  };
  // Kernels that are rendered as one piece of work: kernels[begin, end).
  struct Block {
    size_t begin = 0;
    size_t end = 0;
  };

  // The files that it writes itself.
  struct Files {
    std::string dir;  // also for temporary files
    FileWriter fim_csv;
    FileWriter functions;
  };

  KernelWriter(cas::BlobStore& store, const DatasetIndex& index, const KernelSinks& sinks,
               int threads, Files files);

  absl::Status EndSource();
  absl::Status Keep(uint32_t number, int32_t tier, KernelRows& rows);
  // The texts that compilers made of the shard's kernels are more than all their rows: they wait in
  // the temporary file.
  absl::Status KeepIr(const manifest::ShardView& view);
  absl::Status KeepReferences(const manifest::ShardView& view);
  // Lets a record of the kernel wait in the temporary file.
  absl::Status Spill(uint32_t number, const std::string& record);
  absl::StatusOr<TempFile::Extent> AppendToFile(const std::string& records);
  // Counts a kernel once all of the source wait, in their order.
  void Count(Waiting& kernel);
  void CountConversations(Waiting& kernel);
  std::vector<Block> CutBlocks() const;
  static absl::StatusOr<RenderedKernels> Render(SourceRows& rows, const Block& block);
  absl::Status Write(const RenderedKernels& rendered);

  cas::BlobStore& store_;
  const DatasetIndex& index_;
  const KernelSinks sinks_;
  Files files_;
  bool first_function_ = true;
  RowTokens count_tokens_;
  std::shared_ptr<SourceRows> rows_ = std::make_shared<SourceRows>();  // the present source
  absl::flat_hash_set<std::array<char, 20>> examples_;  // only the first of equal ones is a row
  FimCounts fim_;
  std::map<std::string, int64_t> references_;
  InOrderQueue<RenderedKernels> queue_;  // last, since its threads use the others
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_KERNEL_WRITER_H_
