#ifndef KERNELMILL_DATASET_EXPORT_KERNEL_WRITER_H_
#define KERNELMILL_DATASET_EXPORT_KERNEL_WRITER_H_

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "common/manifest/walk.h"
#include "dataset/export/dataset_index.h"
#include "dataset/export/kernel_files.h"
#include "dataset/export/kernel_rows.h"
#include "dataset/export/mix_files.h"
#include "dataset/export/notices_file.h"
#include "dataset/export/pair_files.h"
#include "dataset/export/report.h"
#include "dataset/output/files.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::dataset {

// Writes the rows of the kept kernels. They are rendered where a shard is prepared, on many
// threads; they wait till their source ends, the first kHeldBytes of them in memory and the others
// in a temporary file, and are written in their order, by path and line, each file by a thread.
class KernelWriter final : public manifest::DatasetVisitor {
 public:
  static constexpr size_t kHeldBytes = 64 << 20;

  // All must outlive it.
  KernelWriter(cas::BlobStore& store, const DatasetIndex& index, TempFile* temp_file,
               KernelFiles* files, PairFiles* pairs, NoticesFile* notices, MixFiles* mix,
               int threads);

  absl::Status VisitTree(int source, const v1::SourceTree& tree) override;
  absl::StatusOr<std::unique_ptr<manifest::PreparedShard>> PrepareShard(
      const manifest::ShardView& view) override;
  absl::Status VisitShard(const manifest::ShardView& view) override;

  // After the last source, too.
  absl::Status EndSource();

  // Once the last source ended.
  const FimCounts& fim() const { return fim_; }
  const InstructCounts& instruct() const { return instruct_; }

 private:
  // A kernel's rows. A source may have a million: some 80 bytes of each, but for held texts.
  struct Waiting {
    static constexpr uint32_t kSpilled = UINT32_MAX;

    uint32_t number = 0;
    int32_t tier = 0;
    int64_t offset = 0;                                 // of a text that is spilled
    uint32_t held = kSpilled;                           // of one that is held: its place
    bool repeat = false;                                // an earlier kernel has an equal example
    bool example = false;                               // it has the next field
    std::array<char, 20> fim_sha1 = {};                 // of its fill-in-the-middle example
    std::array<uint32_t, kKernelFileCount> sizes = {};  // of each file's part of the text
    std::unique_ptr<RowTokenCounts> tokens;             // where a mix may draw them
  };

  absl::Status Keep(uint32_t number, int32_t tier, KernelRows& rows);
  // What compilers made of the shard's kernels is more than all their rows: it waits in the file.
  absl::Status KeepIr(const manifest::ShardView& view);
  // Once all of the source wait, in their order.
  void Count(Waiting& kernel);
  absl::Status WriteRows(KernelFile file);
  absl::Status WriteIr(const Waiting& kernel);
  static bool HasRows(const Waiting& kernel, size_t file);

  cas::BlobStore& store_;
  const DatasetIndex& index_;
  TempFile& temp_file_;
  KernelFiles& files_;
  PairFiles& pairs_;
  NoticesFile& notices_;
  MixFiles& mix_;
  const int threads_;
  RowTokens count_tokens_;
  std::deque<Waiting> waiting_;    // of the source; grows without a second copy of itself
  std::vector<std::string> held_;  // texts: of each file in turn
  size_t held_bytes_ = 0;          // of these
  absl::flat_hash_map<uint32_t, std::vector<TempFile::Extent>> ir_;  // its lines, by kernel
  FimCounts fim_;
  InstructCounts instruct_;
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_KERNEL_WRITER_H_
