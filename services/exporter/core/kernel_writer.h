#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_KERNEL_WRITER_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_KERNEL_WRITER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/dataset/walk.h"
#include "kernelmill/v1/source.pb.h"
#include "services/exporter/core/dataset_index.h"
#include "services/exporter/core/kernel_files.h"
#include "services/exporter/core/kernel_rows.h"
#include "services/exporter/core/mix_files.h"
#include "services/exporter/core/notices_file.h"
#include "services/exporter/core/output/files.h"
#include "services/exporter/core/pair_files.h"
#include "services/exporter/core/report.h"

namespace kernelmill::exporter {

// Writes the rows of the kept kernels. They are rendered where a shard is prepared, on many
// threads; they wait in a temporary file till their source ends, and are written in their order, by
// path and line.
class KernelWriter final : public dataset::DatasetVisitor {
 public:
  // All must outlive it.
  KernelWriter(const DatasetIndex& index, TempFile* temp_file, KernelFiles* files, PairFiles* pairs,
               NoticesFile* notices, MixFiles* mix);

  absl::Status VisitTree(int source, const v1::SourceTree& tree) override;
  absl::StatusOr<std::unique_ptr<dataset::PreparedShard>> PrepareShard(
      const dataset::ShardView& view) override;
  absl::Status VisitShard(const dataset::ShardView& view) override;

  // After the last source, too.
  absl::Status EndSource();

  // Once the last source ended.
  const FimCounts& fim() const { return fim_; }
  const InstructCounts& instruct() const { return instruct_; }

 private:
  // Where a kernel's rows wait in the temporary file; of size 0 where it has none.
  struct Waiting {
    uint32_t number = 0;
    std::array<TempFile::Extent, kKernelFileCount> text;
    std::string fim_sha1;
    std::array<std::vector<int64_t>, kKernelFileCount> tokens;  // of rows that a mix draws from
    int32_t tier = 0;
  };

  absl::Status Keep(uint32_t number, int32_t tier, const KernelRows& rows);
  absl::Status Write(const Waiting& kernel);

  const DatasetIndex& index_;
  TempFile& temp_file_;
  KernelFiles& files_;
  PairFiles& pairs_;
  NoticesFile& notices_;
  MixFiles& mix_;
  RowTokens count_tokens_;
  std::vector<Waiting> waiting_;  // of the source
  FimCounts fim_;
  InstructCounts instruct_;
};

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_KERNEL_WRITER_H_
