#ifndef KERNELMILL_DATASET_EXPORT_KERNEL_ROWS_H_
#define KERNELMILL_DATASET_EXPORT_KERNEL_ROWS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "dataset/export/dataset_index.h"
#include "dataset/parquet/tables.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::dataset {

// The files of rows to which kept kernels and whole files give rows.
enum KernelFile : uint8_t {
  kKernelRows,    // kernels.jsonl
  kFimRows,       // fim.jsonl, and as CSV fim_sft.csv
  kInstructRows,  // instruct.jsonl
  kFileRows,      // files.jsonl: of whole files, which give rows to no other
  kIrRows,        // ir.jsonl: which KernelRows has not (ir_rows.h)
  kKernelFileCount
};

// Tokens (cl100k_base) of a kernel's rows in each file, in their order.
using RowTokenCounts = std::array<std::vector<int64_t>, kKernelFileCount>;

// The rows of one kept kernel.
struct KernelRows {
  std::string records;   // serialized rows (AppendRecord)
  std::string fim_sha1;  // the identity of its fill-in-the-middle example; empty without one
  absl::string_view fim_excluded;            // why there is none
  std::vector<absl::string_view> templates;  // of each row of instruct.jsonl
  RowTokenCounts tokens;                     // of those files that RowTokens names
};

// Appends a row to those that wait: the file, the size in 32 bits, the serialized message.
void AppendRecord(KernelFile file, const google::protobuf::Message& row, std::string* records);

// The files whose rows' tokens are counted. Counting takes as long as all the rest.
using RowTokens = std::array<bool, kKernelFileCount>;

// Makes the rows of a kept kernel, its texts as they may be seen (Redacted). A function of its
// arguments; thread-safe.
KernelRows MakeKernelRows(const DatasetIndex& index, uint32_t number, const v1::Kernel& kernel,
                          const v1::Verdict& verdict, const RowTokens& count);

// The same of a kept whole file, which holds the kept kernels of those ids.
KernelRows MakeFileRows(const DatasetIndex& index, uint32_t number, const v1::Kernel& file,
                        const v1::Verdict& verdict, const std::vector<std::string>& kernels);

// Text that some kernels give to the files, in the kernels' order.
struct RenderedKernels {
  std::array<RenderedRows, kKernelFileCount> rows;
  std::string fim_csv;    // lines of fim_sft.csv
  std::string functions;  // elements of triton_functions.json, a comma and a newline before each
};

// Renders rows that have waited. Not thread-safe.
class KernelRenderer {
 public:
  // Adds the records of a kernel. If its example is `repeated`, an equal one is in the files
  // already and this one is left out. DATA_LOSS: they are not records.
  absl::Status Add(absl::string_view records, bool repeated, RenderedKernels* out);

 private:
  absl::Status AddRow(KernelFile file, absl::string_view serialized, bool repeated,
                      RenderedKernels* out);

  // Reused, since they keep their memory.
  v1::KernelRow kernel_;
  v1::FimRow fim_;
  v1::InstructRow instruct_;
  v1::FileRow file_;
  v1::IrRow ir_;
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_KERNEL_ROWS_H_
